"""What the first start after a full restore ends and holds, and its release in both profiles."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from mailkeep.core.address import parse_address
from mailkeep.core.clock import iso
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.features.record.holds import service
from mailkeep.features.record.holds.model import HeldRows, RestoredBackup
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.features.record.system_mail.model import SuperAdminNotice
from mailkeep.mail.daemons import held_mail
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.cli.accounts import cli_principal
from tests.mailflow.queue.stand_in import answering, waiting
from tests.mailflow.webhooks.conftest import Hooks, api_settings, hooks
from tests.plugins.post import Post, letter
from tests.support.client import DOMAIN_IDS, EXAMPLE, START, Api

__all__ = ["api_settings", "hooks"]  # fixtures

HOUR = timedelta(hours=1)
RESTORED = RestoredBackup(UUID(int=7), START - HOUR, START)
ALL = {"action": "release", "filter": {}}
NOTHING = dict.fromkeys(
    ("scheduled_messages", "webhook_deliveries", "system_mails", "sieve_messages", "local_submissions"), 0
)


async def complete(api: Api, restored: RestoredBackup = RESTORED) -> HeldRows | None:
    async with api.app.db.tx() as conn:
        return await service.complete_restore(conn, cli_principal(), api.clock(), restored)


async def complete_signed_in(api: Api) -> HeldRows | None:
    """Complete the restore, and keep the sessions of the test's users."""
    [kept] = await api.sql("SELECT jsonb_agg(s) AS rows FROM sessions s")
    held = await complete(api)
    rows = Jsonb(kept["rows"])
    await api.sql("INSERT INTO sessions SELECT * FROM jsonb_populate_recordset(NULL::sessions, %(rows)s)", rows=rows)
    return held


async def schedule(post: Post) -> str:
    answer = await post.api.sue.post("/send", letter(scheduled_at=iso(post.api.clock() + HOUR)))
    assert answer.status == 200, answer.body
    return answer.data["id"]


async def test_scheduled_messages_wait_for_their_release_and_leave_once(post: Post):
    held, cancelled = await schedule(post), await schedule(post)
    assert await complete_signed_in(post.api) == HeldRows(2, 0)
    later = await schedule(post)
    post.api.clock.advance(hours=2)
    await ScheduledWorker(post.api.app).drain()
    assert len(await post.caught()) == 1
    assert (await post.api.sue.get(f"/messages/{later}")).data["status"] == "queued", "what is new is not held"
    assert (await post.api.sue.get(f"/messages/{held}")).data["status"] == "scheduled"
    assert (await post.api.sue.post(f"/messages/{cancelled}/cancel")).status == 200, "a held message can be cancelled"
    dry = await post.api.sue.post("/queue/actions", ALL | {"dry_run": True})
    rows = NOTHING | {"scheduled_messages": 1}
    assert dry.data == {"affected": 0, "dry_run": True, "released": rows}
    shown = (await post.api.sue.get("/queue/held")).data
    restored = {"backup_id": str(RESTORED.backup_id), "began_at": iso(START - HOUR), "restored_at": iso(START)}
    assert shown == {"restored": restored, "messages": 0} | rows
    assert (await post.api.sue.post("/queue/actions", ALL)).data == dry.data | {"dry_run": False}
    await ScheduledWorker(post.api.app).drain()
    assert len(await post.caught()) == 2
    assert (await post.api.sue.post("/queue/actions", ALL)).data == {"affected": 0, "dry_run": False}
    assert (await post.api.sue.get("/queue/held")).data["restored"] is None
    entries = await post.api.audit_entries("queue.release")
    assert entries[0]["details"] == {"filter": {}, "scheduled_messages": 1}


async def test_deliveries_wait_for_their_release_and_one_can_be_replayed(hooks: Hooks):
    webhook = await hooks.webhook("/200/held")
    for _ in range(3):
        await hooks.emit()
    assert await complete_signed_in(hooks.api) == HeldRows(0, 3)
    await hooks.emit()
    assert await hooks.deliver(60) == 1, "what is new is not held"
    first = (await hooks.deliveries(webhook, state="pending"))[0]
    await hooks.api.sue.post(f"/webhooks/{webhook['id']}/deliveries/{first['id']}/replay")
    assert await hooks.deliver(60) == 1
    released = await hooks.api.sue.post("/queue/actions", ALL)
    assert released.data["released"] == NOTHING | {"webhook_deliveries": 2}
    assert await hooks.deliver(60) == 2
    assert len({each.json["id"] for each in hooks.sink.posted}) == len(hooks.sink.posted) == 4


async def test_mail_of_the_server_waits_and_takes_no_further_items(api: Api):
    """Six changes within an hour: five mails, and one that collects."""
    [found] = await api.sql("SELECT count(*) AS number FROM admins WHERE role = 'super_admin' AND active")
    number_of_admins = found["number"]

    async def change(number: int) -> None:
        async with api.app.db.tx() as conn:
            notice = SuperAdminNotice("settings_changed", {"action": "update", "settings": [f"x.y{number}"]})
            await system_mail.notify_super_admins(conn, cli_principal(), api.clock(), notice)

    async def claim() -> list[int]:
        at = api.clock()
        async with api.app.db.tx() as conn:
            return [
                mail.item_count for mail in await system_mail.claim(conn, at, at + HOUR, 100) if mail.kind != "restore"
            ]

    for number in range(6):
        await change(number)
    assert await complete_signed_in(api) == HeldRows(0, 0, 6 * number_of_admins)
    await change(7)
    api.clock.advance(minutes=30)
    assert await claim() == [1] * number_of_admins, "what is new is not held, and is a mail of its own"
    assert (await api.sue.get("/queue/held")).data["system_mails"] == 6 * number_of_admins
    assert (await api.sue.post("/queue/actions", ALL)).data["released"] == NOTHING | {
        "system_mails": 6 * number_of_admins
    }
    assert await claim() == [1] * 6 * number_of_admins


async def test_the_release_of_the_full_profile_includes_its_queue_and_what_was_stored_apart(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    await complete_signed_in(api)
    data, woken = api.app.data_dir, list[str]()

    async def wake(_conf: Path, service: str, _request: str) -> None:
        woken.append(service)

    monkeypatch.setattr(postfix_queue, "wake_service", wake)
    spool, maildrop, submitted = (data / name for name in ("sieve-spool/new", "postfix/queue/maildrop", "tree"))
    for folder, count in ((spool, 2), (maildrop, 0), (submitted, 1)):
        folder.mkdir(parents=True)
        for number in range(count):
            (folder / f"file{number}").write_text(folder.name)
    held_mail.hold(data, spool, submitted)
    (spool / "file1").write_text("newer")
    stored_apart = {"sieve_messages": 2, "local_submissions": 1}
    async with answering(api.app, monkeypatch, [waiting(1, "hold"), waiting(2, "hold"), waiting(3)]) as mail:
        held = (await api.sue.get("/queue/held")).data
        assert held | stored_apart | {"messages": 2} == held
        answer = (await api.sue.post("/queue/actions", ALL)).data
        assert (answer["affected"], answer["released"]) == (2, NOTHING | {"sieve_messages": 1, "local_submissions": 1})
        assert sorted(each.name for each in spool.iterdir()) == ["file0", "file1"]
        assert (spool / "file1").read_text() == "newer", "nothing is overwritten"
        assert ([each.name for each in maildrop.iterdir()], woken) == (["file0"], ["pickup"])
        assert mail.done == [("release", ["4jW9T1xz0001", "4jW9T1xz0002"])]
        assert (await api.sue.get("/queue/held")).data["messages"] == 0


async def test_sessions_and_invitations_end_once_for_each_restore(api: Api):
    ivan = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "local_part": "ivan", "invite": True}
    created = await api.sue.post("/mailboxes", ivan)
    assert created.status == 201, created.body
    assert await api.sql("SELECT FROM invitations")
    async with api.app.db.tx() as conn:
        await system_mail.send_invitation(conn, api.clock(), parse_address("ivan@far.test"), EXAMPLE, {})
    assert await complete(api) == HeldRows(), "the mail with a link that has ended is not sent"
    assert await api.sql("SELECT FROM sessions") == []
    assert await api.sql("SELECT FROM invitations") == []
    assert await complete(api) is None, "after a crash the next start does nothing again"
    [entry] = await api.sql("SELECT details FROM audit_entries WHERE action = 'backup.restore_all'")
    assert entry["details"]["ended"]["invitations"] == 1
    [mail] = await api.sql("SELECT items, held FROM system_mail WHERE kind = 'restore'")
    assert (mail["items"][0]["step"], mail["held"]) == ("started", False)
    assert await complete(api, RestoredBackup(uuid4(), START, START)) == HeldRows(system_mails=1)
