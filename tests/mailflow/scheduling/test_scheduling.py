"""Scheduled messages: stored, changed, cancelled, and sent once at their time, with what holds then."""

from __future__ import annotations

import asyncio
import base64
import os
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.core.clock import iso
from mailkeep.features.mailflow.scheduling import jobs, service
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.features.mailflow.sending import jobs as sending_jobs
from mailkeep.mail.smtp.client import ConnectionLost, SmtpRefusal
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.run.runtime import tasks
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, START, faults, reason

TO = "customer@elsewhere.test"
HOUR = timedelta(hours=1)


def in_an_hour(post: Post, **changes: Any) -> dict[str, Any]:
    return letter(scheduled_at=iso(post.api.clock() + HOUR), **changes)


async def schedule(post: Post, client: Any = None, **changes: Any) -> str:
    answer: Answer = await (client or post.api.sue).post("/send", in_an_hour(post, **changes))
    assert (answer.status, answer.data["status"]) == (200, "scheduled"), answer.body
    return answer.data["id"]


async def run_due(post: Post, **advance: float) -> None:
    """Advance the clock and send what is due."""
    post.api.clock.advance(**advance)
    worker = ScheduledWorker(post.api.app)
    await worker.drain()


async def status_of(post: Post, message_id: str) -> str:
    return (await post.api.sue.get(f"/messages/{message_id}")).data["status"]


async def jobs_left(post: Post) -> int:
    [row] = await post.api.sql("SELECT count(*) AS jobs FROM scheduled_messages")
    return row["jobs"]


async def kinds(post: Post) -> list[str]:
    return [kind for kind, _ in await post.events()]


async def test_a_scheduled_message_is_stored_sealed_and_sent_at_its_time(post: Post):
    content = os.urandom(3 << 20)
    attachment = {
        "filename": "a.bin", "content_type": "application/octet-stream", "content": base64.b64encode(content).decode(),
    }  # fmt: skip
    answer = await post.api.unscoped.post(
        "/send", in_an_hour(post, subject="A secret subject line", text_body="canary-4711", attachments=[attachment])
    )
    assert (answer.status, answer.data["status"]) == (200, "scheduled")
    assert answer.data["recipients"] == [{"address": TO, "status": "scheduled"}]
    message_id = answer.data["id"]
    shown = (await post.api.sue.get(f"/messages/{message_id}")).data
    assert (shown["status"], shown["scheduled_at"]) == ("scheduled", iso(START + HOUR))
    assert [each["next_attempt_at"] for each in shown["recipients"]] == [iso(START + HOUR)]
    assert [each["id"] for each in await post.messages(status="scheduled")] == [message_id]
    parts = await post.api.sql("SELECT sealed FROM scheduled_contents")
    assert len(parts) == 5
    assert not any(b"canary" in bytes(each["sealed"]) for each in parts)
    assert (await post.events(), await post.caught()) == ([], [])

    await run_due(post, seconds=3599)
    assert (await post.caught(), await status_of(post, message_id)) == ([], "scheduled")
    await run_due(post, seconds=1)
    await run_due(post, hours=2)
    [caught] = await post.caught()
    assert caught["message_id"] == answer.data["message_id"]
    await post.run_queue()
    assert await kinds(post) == ["mail.sent", "mail.delivered"]
    assert (await status_of(post, message_id), await jobs_left(post)) == ("delivered", 0)
    timeline = (await post.api.sue.get(f"/messages/{message_id}/events")).data
    assert [each["kind"] for each in timeline] == ["scheduled", "submitted", "accepted", "delivered"]
    [scheduled] = await post.api.audit_entries("message.schedule")
    [sent] = await post.api.audit_entries("message.send")
    assert (scheduled["details"]["scheduled_at"], sent["actor_type"]) == ([iso(START + HOUR)], "api_key")
    raw = (await post.api.sue.get(f"/messages/{message_id}/raw")).body
    assert base64.b64encode(content)[:60] in raw
    assert b"Date: Sun, 01 Mar 2026 13:00:00 +0000" in raw


async def test_content_is_kept_from_the_day_of_sending(post: Post):
    scheduled_at = iso(START + timedelta(days=29))
    message_id = (await post.send(scheduled_at=scheduled_at)).data["id"]
    await run_due(post, days=29)
    day = post.api.app.data_dir / "content" / "2026-03-30"
    assert [each.name for each in day.iterdir()] == [f"{message_id}.eml"]
    assert (await post.api.sue.get(f"/messages/{message_id}/raw")).status == 200


@pytest.mark.parametrize(
    "scheduled_at, fault",
    [
        ("2026-03-31T12:00:01Z", "at most 30 days ahead"),
        ("2026-03-01T11:58:59Z", "must be in the future"),
        ("2026-03-02T12:00:00", "with an offset"),
        ("tomorrow", ""),
        (12, ""),
    ],
)
async def test_times_that_are_refused(post: Post, scheduled_at: Any, fault: str):
    message_id = await schedule(post)
    batch = {"messages": [letter(scheduled_at=scheduled_at), in_an_hour(post)]}
    for answer in (
        await post.send(scheduled_at=scheduled_at),
        await post.api.sue.patch(f"/messages/{message_id}", {"scheduled_at": scheduled_at}),
    ):
        assert (answer.status, faults(answer)) == (400, ["scheduled_at"])
        assert fault in answer.body.decode()
    results = (await post.api.sue.post("/send/batch", batch)).data["results"]
    assert (results[0]["code"], results[1]["status"]) == ("INVALID_FIELD", "scheduled")


@pytest.mark.parametrize("seconds", [0, -60])
async def test_a_time_that_has_just_passed_means_now(post: Post, seconds: int):
    answer = await post.send(scheduled_at=iso(START + timedelta(seconds=seconds)))
    assert (answer.data["status"], len(await post.caught()), await jobs_left(post)) == ("queued", 1, 0)
    offset = await post.send(scheduled_at="2026-03-01T15:00:00+02:00")
    assert offset.data["status"] == "scheduled"
    shown = (await post.api.sue.get(f"/messages/{offset.data['id']}")).data
    assert shown["scheduled_at"] == "2026-03-01T13:00:00.000Z"


async def test_a_batch_is_sent_and_scheduled_once_with_its_key(post: Post):
    messages = [letter(subject="now"), in_an_hour(post, subject="later"), letter(subject="never", to=[{"email": "x"}])]
    ask = {"headers": {"idempotency-key": "k"}}
    first = await post.api.sue("POST", "/send/batch", {"messages": messages}, **ask)
    assert [each.get("status") or each["code"] for each in first.data["results"]] == [
        "queued", "scheduled", "INVALID_RECIPIENT",
    ]  # fmt: skip
    await run_due(post, hours=2)
    again = await post.api.sue("POST", "/send/batch", {"messages": messages}, **ask)
    assert again.data == first.data
    assert len(await post.caught()) == 2


async def test_being_scheduled_settles_the_idempotency_key(post: Post, monkeypatch: pytest.MonkeyPatch):
    """The process ends after the commit: the repetition gets the same answer, also when the message is sent by then."""

    def crash(name: str) -> None:
        if name == "schedule.committed":
            raise RuntimeError

    body, ask = in_an_hour(post), {"headers": {"idempotency-key": "k"}}
    with monkeypatch.context() as patched:
        patched.setattr(failpoint, "reach", crash)
        assert (await post.api.sue("POST", "/send", body, **ask)).status == 500
    await run_due(post, hours=2)
    again = await post.api.sue("POST", "/send", body, **ask)
    assert (again.status, again.data["status"], again.headers["idempotent-replayed"]) == (200, "scheduled", "true")
    assert len(await post.caught()) == 1


async def test_reschedule_and_cancel_with_a_version(post: Post):
    message_id = await schedule(post)
    path = f"/messages/{message_id}"
    tag = (await post.api.sue.get(path)).headers["etag"]
    post.api.clock.advance(seconds=1)
    later = iso(START + 3 * HOUR)
    moved = await post.api.sue("PATCH", path, {"scheduled_at": later}, headers={"if-match": tag})
    assert (moved.data["scheduled_at"], moved.headers["etag"] != tag) == (later, True)
    await run_due(post, hours=2)
    assert await status_of(post, message_id) == "scheduled"
    stale = await post.api.sue("POST", f"{path}/cancel", headers={"if-match": tag})
    assert (stale.status, stale.json["error"]["code"]) == (412, "PRECONDITION_FAILED")
    cancelled = await post.api.sue("POST", f"{path}/cancel", headers={"if-match": moved.headers["etag"]})
    assert (cancelled.data["status"], cancelled.data["recipients"][0]["status"]) == ("cancelled", "cancelled")
    await run_due(post, hours=2)
    assert (await post.caught(), await post.events(), await jobs_left(post)) == ([], [], 0)
    change = {"scheduled_at": iso(START + 9 * HOUR)}
    for method, url, body in (("POST", f"{path}/cancel", None), ("PATCH", path, change)):
        refused = await post.api.sue(method, url, body)
        details = refused.json["error"]["details"]
        assert (refused.status, details) == (409, {"reason": "not_scheduled", "status": "cancelled"})
    rows = await post.api.sql("SELECT action FROM audit_entries WHERE outcome = 'success' ORDER BY id")
    assert [each["action"] for each in rows] == ["message.schedule", "message.reschedule", "message.cancel"]
    timeline = (await post.api.sue.get(f"{path}/events")).data
    assert [each["kind"] for each in timeline] == ["scheduled", "scheduled", "cancelled"]
    assert [each["id"] for each in await post.messages(status="cancelled")] == [message_id]


@pytest.mark.parametrize("first", ["scheduled.claimed", "scheduled.before_attempt", "scheduled.attempt_written"])
async def test_a_cancellation_at_the_moment_of_sending(post: Post, monkeypatch: pytest.MonkeyPatch, first: str):
    """The worker stops at a point of its way while somebody cancels: one of the two wins, and everything agrees."""
    message_id = await schedule(post)
    post.api.clock.advance(hours=1)
    claim, released = service.scheduled.claim, asyncio.Event()
    reached = asyncio.Event()

    async def pause() -> None:
        reached.set()
        await asyncio.wait_for(released.wait(), 60)

    async def paused_claim(*arguments: Any) -> Any:
        claimed = await claim(*arguments)
        if claimed and first == "scheduled.claimed":
            await pause()
        return claimed

    begin, submit = service.sending.writes.begin_due, post.api.app.mta.submit  # type: ignore[union-attr]

    async def paused_begin(*arguments: Any) -> Any:
        if first == "scheduled.before_attempt":
            await pause()
        return await begin(*arguments)

    async def paused_submit(*arguments: Any, **options: Any) -> Any:
        if first == "scheduled.attempt_written":
            await pause()
        return await submit(*arguments, **options)

    monkeypatch.setattr(service.scheduled, "claim", paused_claim)
    monkeypatch.setattr(service.sending.writes, "begin_due", paused_begin)
    monkeypatch.setattr(post.api.app.mta, "submit", paused_submit)
    worker = asyncio.create_task(ScheduledWorker(post.api.app).drain())
    await asyncio.wait_for(reached.wait(), 60)
    answer = await post.api.sue.post(f"/messages/{message_id}/cancel")
    released.set()
    await asyncio.wait_for(worker, 60)
    await post.run_queue()
    if first == "scheduled.attempt_written":
        assert (answer.status, answer.json["error"]["details"]["status"]) == (409, "submitting")
        assert (await status_of(post, message_id), await kinds(post)) == ("delivered", ["mail.sent", "mail.delivered"])
    else:
        assert answer.status == 200
        assert (await status_of(post, message_id), await kinds(post)) == ("cancelled", [])
    assert (len(await post.caught()), await jobs_left(post)) == (int(answer.status == 409), 0)


async def test_concurrent_workers_and_cancellations_agree(post: Post):
    """Three workers and a cancellation of every message at the same moment."""
    batch = {"messages": [in_an_hour(post, subject=str(number)) for number in range(60)]}
    results = (await post.api.unscoped.post("/send/batch", batch)).data["results"]
    ids = [each["id"] for each in results]
    post.api.clock.advance(hours=1)
    workers = [ScheduledWorker(post.api.app).drain() for _ in range(3)]
    answers = await asyncio.gather(
        *(post.api.sue.post(f"/messages/{each}/cancel") for each in ids), *workers, return_exceptions=True
    )
    await run_due(post)
    cancelled = {each for each, answer in zip(ids, answers, strict=False) if answer.status == 200}  # type: ignore[union-attr]
    sent = {each["id"] for each in await post.messages(status="queued", limit=200)}
    assert sorted(cancelled | sent) == sorted(ids)
    assert not cancelled & sent
    assert len(await post.caught()) == len(sent) == (await kinds(post)).count("mail.sent")
    assert await jobs_left(post) == 0


async def _revoke_key(post: Post) -> None:
    [key] = [each for each in (await post.api.sue.get("/api-keys")).data if each["name"] == "temporary"]
    assert (await post.api.sue.delete(f"/api-keys/{key['id']}")).data["scheduled_messages"] == 1


async def _demote(post: Post) -> None:
    await post.api.sql("UPDATE admins SET role = 'domain_admin' WHERE email = 'adam@example.test'")


async def _disable(post: Post) -> None:
    await post.api.sql("UPDATE admins SET active = false WHERE email = 'adam@example.test'")


async def _deactivate_domain(post: Post) -> None:
    assert (await post.api.sue.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"active": False})).status == 200


async def _stop_sending(post: Post) -> None:
    answer = await post.api.sue.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"sending_enabled": False})
    assert answer.status == 200


async def _delete_domain_row(post: Post) -> None:
    await post.api.sql("DELETE FROM domains WHERE name = 'other.test'")


@pytest.mark.parametrize(
    "change, caller, expected",
    [
        (_revoke_key, "key", "permission"),
        (_demote, "adam", "permission"),
        (_disable, "adam", "permission"),
        (_deactivate_domain, "sue", "domain_inactive"),
        (_stop_sending, "sue", "sending_disabled"),
        (_delete_domain_row, "other", "domain_not_found"),
    ],
)
async def test_what_holds_when_it_is_sent(post: Post, change: Any, caller: str, expected: str):
    client, sender = post.api.sue, f"shop@{EXAMPLE}"
    if caller == "key":
        created = await post.api.sue.post("/api-keys", {"name": "temporary"})
        client = post.api.nobody.with_key(created.data["key"])
    elif caller == "adam":
        client = post.api.session("adam")
    elif caller == "other":
        sender = "shop@other.test"
    message_id = await schedule(post, client, **{"from": {"email": sender}}, cc=[{"email": "second@elsewhere.test"}])
    await change(post)
    await run_due(post, hours=1)
    found = await post.events()
    assert [(kind, data["reason"], data["to"]) for kind, data in found if kind == "mail.failed"] == [
        ("mail.failed", expected, TO), ("mail.failed", expected, "second@elsewhere.test"),
    ]  # fmt: skip
    assert (await status_of(post, message_id), await post.caught(), await jobs_left(post)) == ("failed", [], 0)


async def test_over_a_limit_it_waits_and_suspends_nobody(post: Post):
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, abuse=replace(settings.abuse, sender_per_hour=2))
    ids = [await schedule(post) for _ in range(4)]
    assert await post.api.sql("SELECT FROM send_counts") == []
    await run_due(post, hours=1)
    assert [await status_of(post, each) for each in ids] == ["queued", "queued", "scheduled", "scheduled"]
    assert (await post.api.sql("SELECT FROM suspensions"), await kinds(post)) == ([], ["mail.sent"] * 2)
    waiting = [(await post.api.sue.get(f"/messages/{each}")).data["recipients"][0] for each in ids[2:]]
    assert ["limit of recipients" in each["diagnostic"] for each in waiting] == [True, True]
    assert waiting[0]["next_attempt_at"] == waiting[1]["next_attempt_at"]
    for _ in range(6):
        await run_due(post, minutes=15)
    assert [await status_of(post, each) for each in ids] == ["queued"] * 4
    assert await post.api.sql("SELECT FROM suspensions") == []


async def test_a_suspended_sender_waits_up_to_five_days(post: Post):
    mailbox = await post.api.mailbox(f"shop@{EXAMPLE}")
    message_id = await schedule(post)
    assert (await post.api.sue.post(f"/mailboxes/{mailbox}/suspend", {"reason": "why"})).status == 200
    refused = await post.send(scheduled_at=iso(START + HOUR))
    assert refused.json["error"]["code"] == "MAILBOX_SUSPENDED"
    await run_due(post, hours=1)
    await run_due(post, days=4)
    assert await status_of(post, message_id) == "scheduled"
    await run_due(post, days=1)
    [failed] = [data for kind, data in await post.events() if kind == "mail.failed"]
    assert (failed["reason"], await status_of(post, message_id)) == ("suspended", "failed")


class _Mta:
    """An MTA that fails with each of `failures`, and then accepts."""

    def __init__(self, pool: Any, *failures: Exception) -> None:
        self.pool, self.size, self.failures = pool, pool.size, list(failures)

    async def submit(self, *arguments: Any, **options: Any) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        return await self.pool.submit(*arguments, **options)

    async def close(self) -> None:
        await self.pool.close()


TEMPORARY = SmtpRefusal(SmtpReply(451, "4.3.0", "Try again"), "body")
PERMANENT = SmtpRefusal(SmtpReply(554, "5.7.1", "Not this one"), "body")


@pytest.mark.parametrize("failure", [ConnectionLost("refused", "connect"), TEMPORARY])
async def test_a_failed_submission_is_repeated_and_counted_once(post: Post, failure: Exception):
    message_id = await schedule(post)
    post.api.app.mta = _Mta(post.api.app.mta, failure, failure)  # type: ignore[assignment]
    await run_due(post, hours=1)
    shown = (await post.api.sue.get(f"/messages/{message_id}")).data
    assert (shown["status"], shown["scheduled_at"]) == ("scheduled", iso(START + HOUR))
    assert shown["recipients"][0]["next_attempt_at"] == iso(START + HOUR + timedelta(seconds=5))
    await run_due(post, seconds=4)
    assert len(post.api.app.mta.failures) == 1  # type: ignore[union-attr]
    await run_due(post, seconds=1)
    await run_due(post, seconds=60)
    assert (await status_of(post, message_id), await kinds(post)) == ("queued", ["mail.sent"])
    [row] = await post.api.sql("SELECT sum(recipients) AS counted FROM send_counts WHERE subject LIKE '%%@%%'")
    assert row["counted"] == 1
    timeline = (await post.api.sue.get(f"/messages/{message_id}/events")).data
    assert [each["kind"] for each in timeline] == ["scheduled", "lost", "lost", "submitted", "accepted"]


async def test_refused_for_good_and_given_up(post: Post):
    refused, given_up = await schedule(post), await schedule(post)
    post.api.app.mta = _Mta(post.api.app.mta, PERMANENT, *[TEMPORARY] * 100)  # type: ignore[assignment]
    await run_due(post, hours=1)
    await run_due(post, days=4)
    assert [await status_of(post, each) for each in (refused, given_up)] == ["failed", "scheduled"]
    await run_due(post, days=2)
    assert await status_of(post, given_up) == "failed"
    failed = [data for kind, data in await post.events() if kind == "mail.failed"]
    assert [each["reason"] for each in failed] == ["refused", "not_accepted"]
    assert "554 5.7.1" in failed[0]["diagnostic"]
    assert await jobs_left(post) == 0


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("point", [
    "scheduled.claimed", "scheduled.before_attempt", "scheduled.attempt_written", "submit.dot_sent", "sandbox.queued",
    "submit.accepted", "scheduled.committed",
])  # fmt: skip
@pytest.mark.parametrize("clock_stops", [True, False])
async def test_a_crash_loses_and_doubles_nothing(
    post: Post, monkeypatch: pytest.MonkeyPatch, point: str, clock_stops: bool
):
    """The process ends at each step, and the next one starts, with a clock that stands still or goes on."""
    ids = [await schedule(post) for _ in range(3)]
    post.api.clock.advance(hours=1)

    def crash(name: str) -> None:
        if name == point:
            raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(failpoint, "reach", crash)
        worker = ScheduledWorker(post.api.app)
        tasks_before = asyncio.all_tasks()
        with pytest.raises((Crash, Exception)):
            await asyncio.wait_for(_claim_and_send(worker, post), 30)
        for task in asyncio.all_tasks() - tasks_before:
            task.cancel()
    await worker._liveness.release()
    if not clock_stops:
        post.api.clock.advance(seconds=5)
    await jobs.end_processes(post.api.app, post.api.clock())
    await sending_jobs.reconcile(post.api.app, post.api.clock())
    await tasks.settle_scheduled(post.api.app)
    await run_due(post)
    await run_due(post, seconds=60)
    await run_due(post, hours=1)
    assert [await status_of(post, each) for each in ids] == ["queued"] * 3
    assert (len(await post.caught()), await kinds(post), await jobs_left(post)) == (3, ["mail.sent"] * 3, 0)
    assert sum(len(each["details"]["message_ids"]) for each in await post.api.audit_entries("message.send")) == 3


async def _claim_and_send(worker: ScheduledWorker, post: Post) -> None:
    process = await worker._liveness.hold()
    for group in await service.claim(post.api.app, process, 100, jobs.LEASE):
        await service.send_group(post.api.app, group, lambda: False)
    raise RuntimeError("the failpoint was reached in another task")


async def test_a_claim_of_a_hanging_worker_ends(post: Post):
    """Another worker sends what the first one had claimed; the first one then finds it gone."""
    message_id = await schedule(post)
    post.api.clock.advance(hours=1)
    hanging = ScheduledWorker(post.api.app)
    process = await hanging._liveness.hold()
    [group] = await service.claim(post.api.app, process, 100, jobs.LEASE)
    await run_due(post)
    assert await status_of(post, message_id) == "scheduled"
    await run_due(post, seconds=60)
    assert await status_of(post, message_id) == "queued"
    await service.send_group(post.api.app, group, lambda: False)
    await hanging._liveness.release()
    assert (len(await post.caught()), await kinds(post)) == (1, ["mail.sent"])


async def test_a_domain_with_scheduled_messages(post: Post):
    message_id = await schedule(post, **{"from": {"email": "shop@other.test"}})
    path = f"/domains/{DOMAIN_IDS['other.test']}"
    refused = await post.api.sue.delete(path)
    assert (refused.status, reason(refused)) == (409, "has_dependents")
    assert refused.json["error"]["details"]["scheduled_messages"] == 1
    assert (await post.api.sue.delete(path, cancel_scheduled="true")).status == 200
    assert (await status_of(post, message_id), await jobs_left(post)) == ("cancelled", 0)
    await run_due(post, hours=2)
    assert (await post.caught(), await post.events()) == ([], [])


async def test_a_partition_with_scheduled_messages_stays(post: Post):
    message_id = await schedule(post)
    before = datetime(2027, 1, 1, tzinfo=START.tzinfo)
    await post.api.sql(f"SELECT drop_partitions('{iso(START)}', '{iso(before)}', NULL)")  # type: ignore[arg-type]
    assert await status_of(post, message_id) == "scheduled"
