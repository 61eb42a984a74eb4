"""Rounds on one data directory: kill at a failpoint under load, restart, reconcile, compare."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.crash.books import Books
from tests.crash.load import ALICE, INBOUND_A_SECOND, SENDS_A_SECOND, Load, Place
from tests.crash.program import ARM, HALF_WRITTEN
from tests.crash.wire import Cut, NeverAsked, call, deliver
from tests.support import instance as instances
from tests.support.instance import Instance, Launch
from tests.support.processes import children
from tests.support.scratch import new_directory

# Failpoints, and how often per second the load reaches them.
SEND_PLACES = (
    "send.before_attempt",
    "send.attempt_written",
    "submit.connected",
    "submit.recipients_taken",
    "submit.in_data",
    "submit.dot_sent",
    "sandbox.written",
    "sandbox.queued",
    "submit.accepted",
    "send.committed",
    HALF_WRITTEN,
)
INBOUND_PLACES = (
    "inbound.recipient_taken",
    "inbound.data_read",
    "maildir.writing",
    "inbound.delivered",
    "inbound.committed",
)
PLACES = SEND_PLACES + INBOUND_PLACES
BACK_WITHIN = 5.0  # seconds on an idle machine
BACK_IN_THE_SUITE = 30.0
_EMAIL, _PASSWORD = "sue@example.test", "correct horse battery staple"
_SETTINGS = {
    "MAILKEEP_ADMIN_EMAIL": _EMAIL,
    "MAILKEEP_ADMIN_PASSWORD": _PASSWORD,
    "MAILKEEP_LOG__LEVEL": "warning",
    "MAILKEEP_ABUSE__SENDER_PER_HOUR": "1000000",
    "MAILKEEP_ABUSE__DOMAIN_PER_HOUR": "1000000",
}
_LOAD_SECONDS = 90.0


class NotReached(Exception):
    """The load did not reach the failpoint in time: the machine is too busy, or the failpoint is gone."""


@dataclass
class Rounds:
    """A data directory with its running instance, and the load with its ledgers over all rounds."""

    folder: Path
    running: Instance
    place: Place
    load: Load
    books: Books

    async def killed_at(self, name: str) -> None:
        """A round: load until the kill at the failpoint, restart, settle all results, compare."""
        self._arm(name, random.randint(1, _most(name)))
        process = self.running.process
        await self.load.run(lambda: process.poll() is not None, _LOAD_SECONDS)
        self.place.up.clear()
        if process.poll() is None:
            raise NotReached(name)
        assert process.wait() == -signal.SIGKILL, self.running.log
        await self._start()
        await self.weigh(name)

    async def database_killed(self, number: int) -> float:
        """A round: end the database by a signal under load; returns seconds until everything works again."""
        calm = asyncio.create_task(self.load.run(lambda: False, 6.0))
        await asyncio.sleep(1.0 + random.random() / 2)
        killed_at = time.monotonic()
        ended = self._database()
        os.kill(ended, number)
        await self._next_database(ended)
        await self._works()
        back = time.monotonic() - killed_at
        await calm
        await self.weigh(f"signal {number} to the database")
        return back

    async def weigh(self, after: str) -> None:
        """Wait until nothing is open, and compare. AssertionError with the differences."""
        await self.load.finish()
        await asyncio.to_thread(self.books.wait_until_settled)
        wrong = await asyncio.to_thread(self.books.check, self.load)
        assert not wrong, f"after {after}: " + "; ".join(map(str, wrong))
        assert not self.load.oddities, f"after {after}: {self.load.oddities[:3]}"

    async def _start(self) -> None:
        self.running = await asyncio.to_thread(_started, self.folder)
        self.place.http, self.place.smtp = self.running.http, self.running.smtp
        self.place.up.set()

    def _arm(self, name: str, nth: int) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                number = os.open(self.folder / "arm", os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError as error:  # the reader has not opened it yet
                if error.errno != errno.ENXIO or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        os.write(number, f"{name} {nth}\n".encode())
        os.close(number)

    def _database(self) -> int:
        started = children(self.running.process.pid)
        [found] = [child for child in started if Path(f"/proc/{child}/comm").read_text().strip() == "postgres"]
        return found

    async def _next_database(self, before: int) -> None:
        """Wait for a new process: the previous one may respond until it has ended."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(ValueError, OSError):  # none at the moment
                if self._database() != before:
                    return
            await asyncio.sleep(0.02)
        raise AssertionError(f"no other database within 60 s: {self.running.log}")

    async def _works(self) -> None:
        """Wait until a change, a send and an inbound message succeed."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                await asyncio.sleep(0.02)
                if (await self.place("GET", "/domains")).status != 200:
                    continue
                body = {"description": str(time.monotonic())}
                if (await self.place("PATCH", f"/domains/{self.place.domain_id}", body)).status != 200:
                    continue
                # To a mailbox outside of the comparison: a refusal shows that routing works.
                code, step = await deliver(self.running.smtp, "nobody@example.test", b"")
                if (code, step) == (550, "rcpt"):
                    return
            except (Cut, NeverAsked):
                continue
        raise AssertionError("not back after 60 s")

    def __str__(self) -> str:
        ledgers = (self.load.sends, self.load.inbound, self.load.created, self.load.deleted)
        return "\n".join(f"  {ledger}" for ledger in ledgers)


def _most(name: str) -> int:
    """How often a failpoint is reached within about half a second."""
    if name == "submit.in_data":
        return 6
    return max(3, (SENDS_A_SECOND if name in SEND_PLACES else INBOUND_A_SECOND) * 6 // 10)


def _started(folder: Path) -> Instance:
    launch = Launch((sys.executable, "-m", "tests.crash.program"), _SETTINGS | {ARM: str(folder / "arm")})
    return instances.start(folder / "data", launch=launch, seconds=90)


@asynccontextmanager
async def rounds() -> AsyncIterator[Rounds]:
    """A new instance with example.test and Alice's mailbox, removed at the end."""
    folder = new_directory("mailkeep-crash-", 0o755)
    (folder / "data").mkdir(mode=0o711)
    os.mkfifo(folder / "arm")
    found: Rounds | None = None
    try:
        running = await asyncio.to_thread(_started, folder)
        place = Place(running.http, running.smtp)
        found = Rounds(folder, running, place, Load(place), Books(folder / "data"))
        await _furnish(place)
        yield found
        assert await asyncio.to_thread(found.running.stop) == 0, found.running.log
    finally:
        if found:
            await found.load.stop()
        if found and found.running.process.poll() is None:
            found.running.process.kill()
            found.running.process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


async def _furnish(place: Place) -> None:
    result = await call(place.http, "POST", "/auth/login", {"email": _EMAIL, "password": _PASSWORD})
    cookie = {"Cookie": result.headers["set-cookie"].partition(";")[0]}
    result = await call(place.http, "POST", "/domains", {"name": "example.test"}, cookie)
    place.domain_id = result.body["data"]["id"]
    box = {"domain_id": place.domain_id, "local_part": ALICE.partition("@")[0], "password_hash": "{SHA}x"}
    assert (await call(place.http, "POST", "/mailboxes", box, cookie)).status == 201
    result = await call(place.http, "POST", "/api-keys", {"name": "load", "rate_limit": 0}, cookie)
    place.key = result.body["data"]["key"]
    place.up.set()
