"""Warnings of full mailboxes; folders and recalculation in the embedded profile."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.directory.mailbox_usage import service
from mailkeep.features.directory.mailboxes.model import maildir_of
from mailkeep.features.record.system_mail import texts
from mailkeep.features.record.system_mail.model import SystemMail
from mailkeep.mail.mailbox import maildir
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

ALICE = f"alice@{EXAMPLE}"
QUOTA = 1000


async def use(api: Api, mailbox_id: UUID, used: int) -> list[int]:
    """Set the usage; the levels of the warnings that follow."""
    await api.sql("DELETE FROM events")
    await api.sql("UPDATE mailboxes SET used_bytes = %(used)s WHERE id = %(id)s", used=used, id=mailbox_id)
    warned = await service.warn_owners(api.app)
    events = await api.sql("SELECT data, domain_id FROM events WHERE kind = 'mailbox.quota' ORDER BY id")
    assert len(events) == warned
    assert {event["domain_id"] for event in events} <= {DOMAIN_IDS[EXAMPLE]}
    return [event["data"]["level"] for event in events]


async def test_each_level_is_reported_once_until_the_usage_is_lower(api: Api):
    mailbox_id = await api.mailbox(ALICE, quota_bytes=QUOTA)
    steps = [
        (799, []), (800, [80]), (949, []), (950, [95]), (1200, []), (901, []), (899, []), (950, [95]), (760, []),
        (800, []), (749, []), (800, [80]), (0, []), (999, [95]), (0, []),
    ]  # fmt: skip
    assert [(used, await use(api, mailbox_id, used)) for used, _ in steps] == steps


async def test_the_event_and_the_mail_say_what_is_used(api: Api):
    mailbox_id = await api.mailbox(f"Alice@{EXAMPLE}", quota_bytes=5 << 30)
    await use(api, mailbox_id, 4 << 30)
    [event] = await api.sql("SELECT data FROM events WHERE kind = 'mailbox.quota'")
    assert event["data"] == {
        "mailbox_id": str(mailbox_id),
        "address": ALICE,
        "domain": EXAMPLE,
        "level": 80,
        "used_bytes": 4 << 30,
        "quota_bytes": 5 << 30,
    }
    [mail] = await api.sql("SELECT id, kind, recipient, items, item_count, created_at, claims FROM system_mail")
    assert (mail["kind"], mail["recipient"]) == ("quota_warning", ALICE)
    text = texts.write(SystemMail(**mail), "mail.example.test")
    assert text.subject == "Your mailbox is almost full"
    assert f"{ALICE}: 4.0 GB of 5.0 GB are used, more than 80 percent" in text.body
    assert "super administrators" not in text.body


@pytest.mark.parametrize(
    "columns", [{"quota_bytes": 0}, {"quota_bytes": QUOTA, "active": False}, {"quota_bytes": QUOTA, "deleted_at": True}]
)
async def test_mailboxes_without_a_limit_or_not_in_use_are_not_reported(api: Api, columns: dict[str, Any]):
    if "deleted_at" in columns:
        columns = columns | {"deleted_at": api.clock()}
    assert await use(api, await api.mailbox(ALICE, **columns), 2**52) == []
    assert await api.sql("SELECT FROM system_mail") == []


async def test_a_smaller_quota_is_reported_too(api: Api):
    mailbox_id = await api.mailbox(ALICE, quota_bytes=QUOTA, used_bytes=500)
    assert await use(api, mailbox_id, 500) == []
    await api.adam.patch(f"/mailboxes/{mailbox_id}", {"quota_bytes": 510})
    assert await service.warn_owners(api.app) == 1
    await api.adam.patch(f"/mailboxes/{mailbox_id}", {"quota_bytes": 0})
    assert await service.warn_owners(api.app) == 0
    await api.adam.patch(f"/mailboxes/{mailbox_id}", {"quota_bytes": 510})
    assert await service.warn_owners(api.app) == 1


async def test_two_processes_warn_once(api: Api):
    for number in range(130):  # more than a batch
        await api.mailbox(f"u{number}@{EXAMPLE}", quota_bytes=QUOTA)
    await api.sql("UPDATE mailboxes SET used_bytes = 990")
    assert sum(await asyncio.gather(*(service.warn_owners(api.app) for _ in range(3)))) == 130
    assert (await api.sql("SELECT count(*) AS n FROM events WHERE kind = 'mailbox.quota'"))[0]["n"] == 130
    assert (await api.sql("SELECT count(DISTINCT recipient) AS n FROM system_mail"))[0]["n"] == 130


async def test_folders_and_recalculation_read_the_maildir(api: Api):
    mailbox_id = await api.mailbox(ALICE, used_bytes=17, message_count=5, quota_bytes=100)
    assert (await api.dora.get(f"/mailboxes/{mailbox_id}/folders")).data == [
        {"name": "INBOX", "messages": 0, "unseen": 0, "bytes": 0}
    ]
    folder = maildir_of(api.app.data_dir, mailbox_id)
    for name in ("a", "b", "c"):
        maildir.deliver(folder, [b"x" * 30], delivery_id=name)
    [read, *_] = (folder / "new").iterdir()
    read.rename(folder / "cur" / f"{read.name}:2,FS")
    [flagged, *_] = (folder / "new").iterdir()
    flagged.rename(folder / "cur" / f"{flagged.name}:2,F")
    [inbox] = (await api.dora.get(f"/mailboxes/{mailbox_id}/folders")).data
    assert inbox == {"name": "INBOX", "messages": 3, "unseen": 2, "bytes": 90}
    answer = await api.dora.post(f"/mailboxes/{mailbox_id}/recalculate")
    assert answer.data == {"used_bytes": 90, "message_count": 3}
    shown = (await api.dora.get(f"/mailboxes/{mailbox_id}")).data
    assert (shown["used_bytes"], shown["message_count"]) == (90, 3)
    assert await service.warn_owners(api.app) == 1
    [entry] = await api.audit_entries("mailbox.recalculate")
    assert entry["details"] == {"used_bytes": 90, "message_count": 3}
    assert (await api.otto.get(f"/mailboxes/{mailbox_id}/folders")).code == "FORBIDDEN"
    assert (await api.otto.post(f"/mailboxes/{mailbox_id}/recalculate")).code == "FORBIDDEN"
