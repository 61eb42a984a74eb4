"""Scheduled messages of a running instance that is killed while they are due: some are cancelled at their time.

Every message has a token. It is scheduled with an Idempotency-Key, again and again until the answer is known, and one
in four is cancelled around its time until the answer is known. Afterwards every message is at the sandbox once or is
cancelled, as the answer to its caller says; none left early.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import secrets
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psycopg

from tests.crash.load import Place
from tests.crash.rounds import NotReached, Rounds, rounds
from tests.crash.wire import CallResult, Cut, NeverAsked
from tests.support.ledger import Discrepancies, Ledger, compare

PLACES = (
    "schedule.before_commit",
    "schedule.committed",
    "scheduled.claimed",
    "scheduled.before_attempt",
    "scheduled.attempt_written",
    "submit.connected",
    "submit.dot_sent",
    "sandbox.queued",
    "submit.accepted",
    "scheduled.committed",
)
A_SECOND = 40
_PATIENCE = 90.0
_MOST_OPEN = 80
_LATENESS = """
SELECT extract(epoch FROM s.received_at - m.scheduled_at)::float8 AS seconds
FROM sandbox_messages s JOIN messages m ON m.message_id = s.message_id WHERE m.scheduled_at IS NOT NULL
"""


@dataclass
class ScheduledLoad:
    """Callers that schedule and cancel. `cancelled`: the messages whose cancellation was confirmed."""

    place: Place
    sends: Ledger = field(default_factory=lambda: Ledger("scheduled messages"))
    cancelled: set[str] = field(default_factory=set[str])
    oddities: list[str] = field(default_factory=list[str])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _name: str = field(default_factory=lambda: secrets.token_hex(3))

    async def run(self, seconds: float, ended: asyncio.Event | None = None) -> None:
        """Schedule at a constant rate for a time, or until `ended`."""
        loop = asyncio.get_running_loop()
        began, done = loop.time(), 0
        while loop.time() - began < seconds and not (ended and ended.is_set()):
            while done < (loop.time() - began) * A_SECOND:
                done += 1
                if len(self._tasks) < _MOST_OPEN:
                    task = asyncio.create_task(self._schedule(f"due-{self._name}-{next(self._numbers)}"))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0.01)

    async def finish(self) -> None:
        """Wait until every caller has its answers."""
        async with asyncio.timeout(_PATIENCE + 60):
            while self._tasks:
                await asyncio.gather(*self._tasks)

    async def _schedule(self, token: str) -> None:
        due = datetime.now(UTC) + timedelta(seconds=random.uniform(0.3, 2.0))
        body = {
            "from": {"email": f"s{random.randrange(50)}@example.test"},
            "to": [{"email": f"{token}@elsewhere.test"}],
            "subject": token,
            "text_body": "Hello.\n",
            "scheduled_at": due.isoformat(),
        }
        self.sends.invoke(token, keyed=True)
        answer = await self._ask(token, "POST", "/send", body, token)
        if answer.status >= 300:
            self.sends.fail(token)
            self.oddities.append(f"{token}: {answer.status} {answer.body}")
            return
        self.sends.ok(token)
        if random.random() < 0.25:
            await asyncio.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds() + random.uniform(-0.2, 1.2)))
            await self._cancel(token, answer.body["data"]["id"])

    async def _cancel(self, token: str, message_id: str) -> None:
        answer = await self._ask(token, "POST", f"/messages/{message_id}/cancel")
        status = answer.details.get("status") if answer.status == 409 else answer.body["data"]["status"]
        if status == "cancelled":  # by this call, or by an earlier one whose answer was lost
            self.cancelled.add(token)

    async def _ask(self, token: str, method: str, path: str, body: object = None, key: str = "") -> CallResult:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                answer = await self.place(method, path, body, key)
                if answer.status < 500 and answer.code != "IDEMPOTENCY_IN_PROGRESS":
                    return answer
            except (Cut, NeverAsked):
                self.sends.info(token)
            if time.monotonic() > deadline:
                raise AssertionError(f"{token}: no answer to {method} {path} within {_PATIENCE} s")
            await asyncio.sleep(0.1)
            await self.place.up.wait()


@dataclass
class ScheduledRounds:
    """An instance that is killed under this load, again and again."""

    rounds: Rounds
    load: ScheduledLoad

    async def killed_at(self, name: str) -> None:
        """A round: load until the kill at the failpoint, restart, wait until nothing is open, compare."""
        self.rounds._arm(name, random.randint(1, 3 if name.startswith("scheduled.") else 12))
        process, dead = self.rounds.running.process, asyncio.Event()
        load = asyncio.create_task(self.load.run(90.0, dead))
        deadline = time.monotonic() + 90
        while process.poll() is None and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        dead.set()
        self.rounds.place.up.clear()
        await load
        if process.poll() is None:
            raise NotReached(name)
        assert process.wait() == -signal.SIGKILL, self.rounds.running.log
        await self.rounds._start()
        await self.weigh(name)

    async def database_killed(self, number: int) -> None:
        """A round: the database ends by a signal under load."""
        load = asyncio.create_task(self.load.run(6.0))
        await asyncio.sleep(1.5 + random.random() / 2)
        ended = self.rounds._database()
        os.kill(ended, number)
        await self.rounds._next_database(ended)
        await self.rounds._works()
        await load
        await self.weigh(f"signal {number} to the database")

    async def weigh(self, after: str) -> None:
        """Wait until nothing is open, and compare."""
        await self.load.finish()
        await asyncio.to_thread(self._wait_until_sent)
        await asyncio.to_thread(self.rounds.books.wait_until_settled)
        wrong = [str(each) for each in await asyncio.to_thread(self._compare) if not each.empty]
        assert not wrong, f"after {after}: " + "; ".join(wrong)
        assert not self.load.oddities, f"after {after}: {self.load.oddities[:3]}"

    def lateness(self) -> list[float]:
        """Seconds from the time of each sent message to its acceptance, ascending."""
        with self.rounds.books._connect() as conn:
            return sorted(row[0] for row in conn.execute(_LATENESS).fetchall())

    def _wait_until_sent(self, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        with self.rounds.books._connect() as conn:
            while rows := conn.execute(
                "SELECT m.status, j.due_at, j.process FROM scheduled_messages j JOIN messages m ON m.id = j.message_id"
            ).fetchall():
                assert time.monotonic() < deadline, f"not sent after {seconds} s: {rows[:5]}"
                time.sleep(0.1)

    def _compare(self) -> list[Discrepancies]:
        cancelled = self.load.cancelled
        expected = self.load.sends.succeeded - cancelled
        with self.rounds.books._connect() as conn:
            found = [self._tokens(conn, "SELECT unnest(rcpt_to) FROM sandbox_messages")]
            sent = self._tokens(conn, "SELECT subject FROM messages WHERE accepted_at IS NOT NULL")
            stopped = self._tokens(conn, "SELECT subject FROM messages WHERE status = 'cancelled'")
            events = self._tokens(
                conn, "SELECT m.subject FROM events e JOIN messages m ON m.id = e.message_id WHERE e.kind = 'mail.sent'"
            )
            others = self._tokens(
                conn,
                "SELECT m.subject FROM events e JOIN messages m ON m.id = e.message_id "
                "WHERE e.kind NOT IN ('mail.sent', 'mail.delivered')",
            )
            audited = self._tokens(
                conn,
                "SELECT m.subject FROM audit_entries a, jsonb_array_elements_text(a.details->'message_ids') i (id) "
                "JOIN messages m ON m.message_id = i.id "
                "WHERE a.action = 'message.send' AND a.outcome = 'success' AND m.accepted_at IS NOT NULL",
            )
            early = conn.execute(f"SELECT count(*) FROM ({_LATENESS}) l WHERE seconds < 0").fetchone()
        assert early == (0,), f"{early} were sent early"
        return [
            compare("at the sandbox", expected, found[0]),
            compare("in the history", expected, sent),
            compare("mail.sent", expected, events),
            compare("audit rows", expected, audited),
            compare("cancelled", cancelled, stopped),
            compare("other events", [], others),
        ]

    def _tokens(self, conn: psycopg.Connection, sql: str) -> list[str]:
        return [row[0].partition("@")[0] for row in conn.execute(sql).fetchall()]  # type: ignore[call-overload]


@asynccontextmanager
async def scheduled_rounds() -> AsyncIterator[ScheduledRounds]:
    """A new instance, removed at the end."""
    async with rounds() as found:
        yield ScheduledRounds(found, ScheduledLoad(found.place))
