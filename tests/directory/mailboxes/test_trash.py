from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from mailkeep.features.directory.mailboxes import jobs
from mailkeep.features.directory.mailboxes.model import mail_folder
from tests.support.builders import DOMAIN_ID, create_mailbox, list_audit_entries
from tests.support.client import Api


def mail_of(api: Api, mailbox_id: str) -> Path:
    """The mailbox's directory, with a message."""
    folder = mail_folder(api.app.data_dir, UUID(mailbox_id))
    (folder / "new").mkdir(parents=True)
    (folder / "new" / "1.host").write_bytes(b"mail")
    return folder


async def test_a_deleted_mailbox_lies_in_the_trash_and_frees_its_address(api: Api):
    box = await create_mailbox(api, "alice")
    folder = mail_of(api, box["id"])
    answer = await api.dora.delete(f"/mailboxes/{box['id']}")
    assert answer.data["purged"] is False
    assert answer.data["kept_until"].startswith("2026-03-31T12:00")
    assert folder.exists()
    for method, suffix in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/suspend")):
        body = {} if method == "PATCH" or suffix else None
        assert (await api.dora(method, f"/mailboxes/{box['id']}{suffix}", body)).code == "NOT_FOUND"
    again = await create_mailbox(api, "alice")
    answer = await api.dora.post(f"/mailboxes/{box['id']}/restore")
    assert (answer.status, answer.json["error"]["details"]["reason"]) == (409, "address_taken")
    await api.dora.delete(f"/mailboxes/{again['id']}?purge=true")
    restored = (await api.dora.post(f"/mailboxes/{box['id']}/restore")).data
    assert restored == box | {"updated_at": restored["updated_at"]}
    assert [row[0] for row in await list_audit_entries(api)][-4:] == [
        "mailbox.create", "mailbox.restore", "mailbox.purge", "mailbox.restore",
    ]  # fmt: skip


async def test_restore_keeps_the_domains_rules(api: Api):
    box = await create_mailbox(api, "alice")
    answer = await api.dora.post(f"/mailboxes/{box['id']}/restore")
    assert answer.json["error"]["details"]["reason"] == "not_trashed"
    await api.dora.delete(f"/mailboxes/{box['id']}")
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"max_mailboxes": 0})
    answer = await api.dora.post(f"/mailboxes/{box['id']}/restore")
    assert answer.json["error"]["details"]["reason"] == "limit_reached"
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"active": False})
    assert (await api.dora.post(f"/mailboxes/{box['id']}/restore")).code == "DOMAIN_INACTIVE"


@pytest.mark.parametrize("trashed", [False, True])
async def test_a_purged_mailbox_is_gone_with_its_mail(api: Api, trashed: bool):
    box, other = await create_mailbox(api, "alice"), await create_mailbox(api, "bob")
    folder, kept = mail_of(api, box["id"]), mail_of(api, other["id"])
    if trashed:
        await api.dora.delete(f"/mailboxes/{box['id']}")
    answer = await api.dora.delete(f"/mailboxes/{box['id']}?purge=true")
    assert (answer.data["purged"], answer.data["kept_until"]) == (True, None)
    assert answer.data["message"] == "The mailbox and its mail are deleted."
    assert not folder.exists()
    assert kept.exists()
    assert await api.sql("SELECT FROM mail_removals") == []
    assert (await api.dora.post(f"/mailboxes/{box['id']}/restore")).code == "NOT_FOUND"


async def test_the_trash_is_emptied_after_30_days(api: Api):
    old = await create_mailbox(api, "old")
    folder = mail_of(api, old["id"])
    await api.dora.delete(f"/mailboxes/{old['id']}")
    api.clock.advance(days=29)
    young = await create_mailbox(api, "young")
    await api.dora.delete(f"/mailboxes/{young['id']}")
    assert await jobs.purge_trash(api.app) == 0
    assert folder.exists()
    api.clock.advance(days=1, hours=1)
    assert await jobs.purge_trash(api.app) == 0  # a second check, a day later
    api.clock.advance(days=1)
    assert await jobs.purge_trash(api.app) == 1
    assert not folder.exists()
    assert [str(row["id"]) for row in await api.sql("SELECT id FROM mailboxes")] == [young["id"]]
    [*_, (action, outcome, details)] = await list_audit_entries(api)
    assert (action, outcome, details["before"]["address"]) == ("mailbox.purge", "success", "old@example.test")


async def test_two_who_empty_the_trash_at_once_end_each_mailbox_once(api: Api):
    for number in range(7):
        box = await create_mailbox(api, f"box{number}")
        await api.dora.delete(f"/mailboxes/{box['id']}")
    api.clock.advance(days=31)
    await jobs.purge_trash(api.app)
    api.clock.advance(days=1)
    ended = await asyncio.gather(*(jobs.purge_trash(api.app) for _ in range(3)))
    assert sum(ended) == 7
    assert [row[0] for row in await list_audit_entries(api)].count("mailbox.purge") == 7


async def test_mail_left_by_a_crash_is_removed_the_next_time(api: Api):
    box = await create_mailbox(api, "alice")
    folder = mail_of(api, box["id"])
    await api.dora.delete(f"/mailboxes/{box['id']}")
    await api.adam.delete(f"/domains/{DOMAIN_ID}")
    assert folder.exists()
    assert await jobs.remove_mail(api.app) == 1
    assert not folder.exists()
    assert await jobs.remove_mail(api.app) == 0


async def test_mail_of_an_interrupted_removal_is_removed_although_the_mailbox_was_restored(api: Api):
    box = await create_mailbox(api, "alice")
    folder = mail_of(api, box["id"])
    left = folder.with_name(folder.name + jobs.REMOVED_SUFFIX)
    (left / "cur").mkdir(parents=True)
    assert await jobs.remove_mail(api.app) == 0
    assert not left.exists()
    assert folder.exists()


async def test_a_folder_that_can_not_be_removed_is_tried_again(api: Api, monkeypatch: pytest.MonkeyPatch):
    box = await create_mailbox(api, "alice")
    folder = mail_of(api, box["id"])

    def broken(_: Path) -> None:
        raise OSError("disk on fire")

    with monkeypatch.context() as patched:
        patched.setattr(jobs.shutil, "rmtree", broken)
        answer = await api.dora.delete(f"/mailboxes/{box['id']}?purge=true")
        assert answer.data["message"] == "The mailbox is deleted. Its mail will follow."
        assert await jobs.remove_mail(api.app) == 0
    assert folder.exists()
    assert await jobs.remove_mail(api.app) == 1
    assert not folder.exists()
