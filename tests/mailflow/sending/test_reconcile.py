"""No accepted message is lost and no `mail.sent` missing or double, whatever breaks between the attempt and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.sandbox import service as sandbox
from mailkeep.features.mailflow.sending import jobs, store, writes
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.settings.tree import MtaSettings
from tests.plugins.post import Post, letter

TO = "customer@elsewhere.test"


class Crash(BaseException):
    """The process ends here."""


@dataclass
class Fault:
    """What goes wrong at the way out: `before` or `after` the MTA has the message; or not at all, with the error."""

    pool: SmtpPool
    before: BaseException | None = None
    after: BaseException | None = None
    then: Any = None

    @property
    def size(self) -> int:
        return self.pool.size

    async def submit(
        self, submission: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool = False
    ) -> AcceptedSubmission:
        if self.before:
            raise self.before
        taken = await self.pool.submit(submission, body, stuffed=stuffed)
        if self.then:
            self.then()
        if self.after:
            raise self.after
        return taken

    async def close(self) -> None:
        await self.pool.close()


@dataclass
class Flaky:
    """The database, away for the next sends to be written down, or for the answers to their commits."""

    away: int = 0
    answers_lost: int = 0

    def strike(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = store.mark_accepted

        async def mark_accepted(*what: Any) -> None:
            if self.away:
                self.away -= 1
                raise Unavailable
            await real(*what)
            if self.answers_lost:
                self.answers_lost -= 1
                raise Unavailable

        monkeypatch.setattr(store, "mark_accepted", mark_accepted)


def break_way_out(post: Post, **how: Any) -> None:
    pool = post.api.app.mta
    assert pool is not None
    post.api.app.mta = Fault(pool, **how)  # type: ignore[assignment]


async def crash(post: Post, **how: Any) -> None:
    """A send during which the process ends; the way out is whole again after it."""
    pool = post.api.app.mta
    break_way_out(post, **how)
    with pytest.raises(Crash):
        await post.send()
    post.api.app.mta = pool


async def status(post: Post) -> tuple[str, list[str]]:
    (row,) = await post.messages(direction="outbound")
    return row["status"], [each["status"] for each in row["recipients"]]


async def kinds(post: Post) -> list[str]:
    return [kind for kind, _ in await post.events()]


async def reconcile(post: Post) -> int:
    post.api.clock.advance(seconds=1)
    return await jobs.reconcile(post.api.app, post.api.clock())


@pytest.mark.parametrize("how", [{"away": 1}, {"answers_lost": 1}])
async def test_a_database_that_blinks_after_the_250_goes_unnoticed(
    post: Post, monkeypatch: pytest.MonkeyPatch, how: dict[str, int]
):
    Flaky(**how).strike(monkeypatch)
    answer = await post.send()
    assert (answer.status, answer.data["status"]) == (200, "queued")
    assert await status(post) == ("queued", ["queued"])
    assert await kinds(post) == ["mail.sent"]
    assert len(await post.api.audit_entries("message.send")) == 1


async def test_a_result_is_recorded_when_the_database_is_back(post: Post, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writes, "_PAUSE", 0.02)
    flaky = Flaky(away=10**9)
    flaky.strike(monkeypatch)
    answer = await post.send()
    assert (answer.status, answer.code) == (503, "UNAVAILABLE")
    (caught,) = await post.caught()
    assert answer.json["error"]["details"] == {"submitted": "yes", "message_ids": [caught["message_id"]]}
    assert await status(post) == ("submitting", ["submitting"])
    assert await kinds(post) == []
    flaky.away = 0
    async with asyncio.timeout(60):
        while await status(post) != ("queued", ["queued"]):
            await asyncio.sleep(0.02)
    assert await kinds(post) == ["mail.sent"]
    assert len(await post.api.audit_entries("message.send")) == 1
    assert await reconcile(post) == 0


async def test_an_attempt_whose_writing_was_not_confirmed_is_ended_while_we_run(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(writes, "_PAUSE", 0.02)
    real = store.begin

    async def unconfirmed(*args: Any) -> None:
        await real(*args)
        raise Unavailable

    monkeypatch.setattr(store, "begin", unconfirmed)
    answer = await post.send()
    assert (answer.status, answer.code) == (503, "UNAVAILABLE")
    async with asyncio.timeout(60):
        while await status(post) != ("lost", ["lost"]):
            await asyncio.sleep(0.02)
    assert (await post.caught(), await kinds(post)) == ([], [])


async def test_a_message_whose_taking_was_not_confirmed_is_taken_once(post: Post, monkeypatch: pytest.MonkeyPatch):
    real, calls = sandbox.store.insert, 0

    async def unconfirmed(conn: Conn, caught: Any) -> None:
        nonlocal calls
        await real(conn, caught)
        calls += 1
        if calls == 1:
            raise Unavailable

    monkeypatch.setattr(sandbox.store, "insert", unconfirmed)
    assert (await post.send()).status == 200
    assert len(await post.caught()) == 1
    assert (calls, await kinds(post)) == (2, ["mail.sent"])


async def test_a_message_that_was_taken_before_a_crash_is_recorded_once(post: Post):
    await crash(post, after=Crash())
    assert await status(post) == ("submitting", ["submitting"])
    assert await reconcile(post) == 1
    assert await status(post) == ("queued", ["queued"])
    assert await reconcile(post) == 0
    await post.run_queue(seconds=10)
    assert await kinds(post) == ["mail.sent", "mail.delivered"]
    (entry,) = await post.api.audit_entries("message.send")
    assert (entry["actor_type"], entry["details"]["succeeded"]) == ("system", 1)
    (row,) = await post.messages()
    assert row["queue_id"] == (await post.caught())[0]["queue_id"]


async def test_sent_stands_before_delivered_whoever_begins_to_write_first(post: Post, monkeypatch: pytest.MonkeyPatch):
    await crash(post, after=Crash())
    real, accepting = sandbox.store.remove_recipient, list[asyncio.Task[int]]()

    async def meanwhile(conn: Conn, caught: UUID, recipient: str) -> bool:
        done = await real(conn, caught, recipient)
        accepting.append(asyncio.create_task(reconcile(post)))
        async with asyncio.timeout(60):
            while not accepting[0].done() and not await post.api.sql("SELECT 1 FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.02)
        return done

    monkeypatch.setattr(sandbox.store, "remove_recipient", meanwhile)
    await post.run_queue(seconds=10)
    await asyncio.wait_for(accepting[0], 60)
    async with asyncio.timeout(60):
        while len(published := (await post.api.sue.get("/events")).data) < 2:
            await asyncio.sleep(0.02)
    assert [event["kind"] for event in published] == ["mail.sent", "mail.delivered"]


async def test_a_message_not_accepted_before_a_crash_is_lost_without_events(post: Post):
    await crash(post, before=Crash())
    assert await reconcile(post) == 1
    assert await status(post) == ("lost", ["lost"])
    assert await kinds(post) == []
    assert await reconcile(post) == 0
    assert await post.caught() == []


async def test_at_a_smarthost_nobody_knows_what_was_taken_before_a_crash(post: Post):
    await crash(post, before=Crash())
    post.api.app.settings = replace(post.api.app.settings, mta=MtaSettings(mode="smtp", host="smart.test"))
    assert await reconcile(post) == 1
    assert await status(post) == ("unknown", ["unknown"])
    assert await reconcile(post) == 0


async def test_an_attempt_that_may_be_under_way_is_left_alone(post: Post):
    await crash(post, after=Crash())
    assert await jobs.reconcile(post.api.app, post.api.clock() - jobs.ABANDONED) == 0
    assert (await status(post))[0] == "submitting"


async def test_what_was_called_unknown_is_found_in_the_sandbox(post: Post):
    break_way_out(post, after=ConnectionLost("closed", "acceptance", "unknown"))
    answer = await post.send()
    assert answer.json["error"]["details"] == {"submitted": "unknown"}
    assert await status(post) == ("unknown", ["unknown"])
    assert await reconcile(post) == 1
    assert await status(post) == ("queued", ["queued"])
    assert await kinds(post) == ["mail.sent"]


async def test_one_message_of_a_batch_that_fails_does_not_affect_the_others(post: Post):
    pool = post.api.app.mta
    assert pool is not None

    class Stumbling(SmtpPool):
        async def submit(
            self, envelope: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool = False
        ) -> AcceptedSubmission:
            if envelope.rcpt_to == ["bad@elsewhere.test"]:
                raise ValueError("what nobody thought of")
            return await super().submit(envelope, body, stuffed=stuffed)

    post.api.app.mta = Stumbling(pool.relay)
    items = [letter(to=[{"email": f"{name}@elsewhere.test"}]) for name in ("one", "bad", "two")]
    answer = await post.api.sue.post("/send/batch", {"messages": items})
    await post.api.app.mta.close()
    assert [each.get("code") for each in answer.data["results"]] == [None, "SEND_FAILED", None]
    assert await kinds(post) == ["mail.sent", "mail.sent"]
    assert sorted(row["status"] for row in await post.messages()) == ["lost", "queued", "queued"]


READ_TO = """
    INSERT INTO mail_logs (name, caught_up_at) VALUES ('postfix', %(at)s)
    ON CONFLICT (name) DO UPDATE SET caught_up_at = excluded.caught_up_at RETURNING name
"""


@pytest.mark.parametrize("before", [Crash(), ConnectionLost("closed", "acceptance", "unknown")])
async def test_an_attempt_at_our_own_mta_is_lost_once_its_log_is_read_beyond_it(post: Post, before: BaseException):
    post.api.app.settings = replace(post.api.app.settings, mta=MtaSettings(mode="postfix"))
    break_way_out(post, before=before)
    with suppress(Crash):
        await post.send()
    began, (first, _) = post.api.clock(), await status(post)
    assert first == ("submitting" if isinstance(before, Crash) else "unknown")
    post.api.clock.advance(hours=3)
    for read_to, expected in ((None, first), (began, first), (post.api.clock(), "lost")):
        if read_to is not None:
            await post.api.sql(READ_TO, at=read_to)
        await jobs.reconcile(post.api.app, post.api.clock() - jobs.ABANDONED)
        assert await status(post) == (expected, [expected])
    assert await kinds(post) == []
