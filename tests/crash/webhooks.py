"""Rounds of killing who delivers to webhooks: the instance, or a worker beside it; then every event has arrived.

A sink takes what is posted, and says no to one in eight. The lease is two seconds, and so are retries soon.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from tests.crash.program import ARM, LEASE, NO_WORKER
from tests.crash.wire import Cut, NeverAsked, call
from tests.support import instance as instances
from tests.support.instance import ROOT, Instance, Launch
from tests.support.scratch import new_directory
from tests.support.webhook_sink import ReceivedRequest, Sink, run_sink, trusted_settings

Victim = Literal["instance", "worker"]

# A claim records the attempt: claimed and attempt written are one failpoint.
HEARD = "sink.heard"
PLACES = ("webhook.claimed", "webhook.begun", HEARD, "webhook.answered", "webhook.outcome_written")
LEASE_SECONDS = 2.0
_LOAD_SECONDS, _SETTLED_SECONDS = 90.0, 120.0
_EMAIL, _PASSWORD = "sue@example.test", "correct horse battery staple"


class NotReached(Exception):
    """The load did not reach the failpoint in time."""


@dataclass
class Rounds:
    """An instance with a webhook for every event, and the process to kill."""

    folder: Path
    victim: Victim
    sink: Sink
    running: Instance
    worker: subprocess.Popen[bytes] | None = None
    key: str = ""
    webhook_id: str = ""
    last_event: str | None = None
    events: dict[str, str] = field(default_factory=dict[str, str])  # id -> kind
    sent: set[str] = field(default_factory=set[str])
    published: dict[str, set[str]] = field(default_factory=lambda: {"mail.sent": set(), "mail.delivered": set()})
    interrupted: int = 0
    longest: float = 0.0

    async def killed_at(self, name: str) -> None:
        """A round: load until the victim is killed at the failpoint, restart, compare."""
        process = self.worker or self.running.process
        self._arm(name, process.pid, random.randint(1, 25))
        deadline = time.monotonic() + _LOAD_SECONDS
        while process.poll() is None:
            if time.monotonic() > deadline:
                raise NotReached(name)
            await self._load()
        assert process.returncode == -signal.SIGKILL, self.running.log
        await self._start()
        await self._weigh(name)

    def _arm(self, name: str, pid: int, nth: int) -> None:
        if name == HEARD:
            left = iter(range(nth - 1, -1, -1))

            def heard(_: ReceivedRequest) -> None:
                if next(left, None) == 0:
                    os.kill(pid, signal.SIGKILL)

            self.sink.on_request = heard
            return
        deadline = time.monotonic() + 60  # a worker takes a while to start
        while True:
            try:
                number = os.open(self.folder / f"arm-{self.victim}", os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError as error:  # the reader has not opened it yet
                if error.errno != errno.ENXIO or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        os.write(number, f"{name} {nth}\n".encode())
        os.close(number)

    async def _load(self) -> None:
        """Concurrent sends: each causes an event when accepted and another when delivered."""

        async def send() -> None:
            body = {
                "from": {"email": "shop@example.test"},
                "to": [{"email": "customer@elsewhere.test"}],
                "subject": "x",
                "text_body": "x",
            }
            with contextlib.suppress(Cut, NeverAsked):
                answer = await self._call("POST", "/send", body)
                if answer.status == 200:
                    self.sent.add(answer.body["data"]["id"])

        await asyncio.gather(*(send() for _ in range(6)))
        await asyncio.sleep(0.05)

    async def _weigh(self, after: str) -> None:
        """Exactly the events have arrived, with their IDs; no delivery stays claimed after its lease."""
        self.sink.on_request = lambda _: None
        deadline = time.monotonic() + _SETTLED_SECONDS
        while True:
            await self._read_feed()
            arrived = {posted.id for posted in self.sink.posted}
            missing = self.events.keys() - arrived
            sent, delivered = self.published.values()
            if not missing and self.sent <= sent <= delivered and not await self._open():
                break
            assert time.monotonic() < deadline, f"after {after}: {len(missing)} events have not arrived"
            await asyncio.sleep(0.1)
        await self._read_feed()
        unknown = {posted.id for posted in self.sink.posted} - self.events.keys()
        assert not unknown, f"after {after}: {len(unknown)} ids that are no event"
        bodies: dict[str, set[bytes]] = {}
        for posted in self.sink.posted:
            bodies.setdefault(posted.id, set()).add(posted.body)
            assert posted.json["event_id"] == posted.id
        assert all(len(each) == 1 for each in bodies.values()), f"after {after}: one id, several bodies"
        await self._check_leases(after)

    async def _check_leases(self, after: str) -> None:
        """An interrupted delivery is due when its lease ends, before any later one."""
        rows = (await self._call("GET", f"/webhooks/{self.webhook_id}/deliveries?limit=200")).body["data"]
        assert {row["state"] for row in rows} == {"delivered"}, f"after {after}"
        first_tries = [(_at(row["created_at"]), _at(row["attempts"][0]["at"])) for row in rows]
        for row in rows:
            for broken, following in itertools.pairwise(row["attempts"]):
                if not (broken["error"] or "").startswith("interrupted:"):
                    continue
                begun, again = _at(broken["at"]), _at(following["at"])
                due = begun + timedelta(seconds=LEASE_SECONDS)
                overtaken = [tried for created, tried in first_tries if created > due and tried < again]
                assert not overtaken, f"after {after}: {len(overtaken)} came later and were tried before {row}"
                self.interrupted += 1
                self.longest = max(self.longest, (again - begun).total_seconds())

    async def _open(self) -> bool:
        for state in ("pending", "waiting_for_retry"):
            answer = await self._call("GET", f"/webhooks/{self.webhook_id}/deliveries?state={state}&limit=1")
            if answer.body["data"]:
                return True
        return False

    async def _read_feed(self) -> None:
        while True:
            after = f"&after={self.last_event}" if self.last_event else ""
            rows = (await self._call("GET", f"/events?limit=200{after}")).body["data"]
            for row in rows:
                self.events[row["id"]] = row["kind"]
                self.last_event = row["id"]
                self.published[row["kind"]].add(row["message_id"])
            if len(rows) < 200:
                return

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        return await call(self.running.http, method, path, body, {"Authorization": f"Bearer {self.key}"})

    async def _start(self) -> None:
        if self.victim == "instance":
            self.running = await asyncio.to_thread(_started, self.folder, self.victim)
        else:
            self.worker = await asyncio.to_thread(_worker, self.folder)

    def __str__(self) -> str:
        counts = Counter(posted.id for posted in self.sink.posted)
        twice = sum(1 for count in counts.values() if count > 1)
        return (
            f"{len(self.events)} events, {len(self.sink.posted)} requests, {twice} events posted more than once; "
            f"{self.interrupted} attempts cut off, the longest wait after one {self.longest:.1f} s"
        )


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _settings(folder: Path, arm: str) -> dict[str, str]:
    return {
        "MAILKEEP_ADMIN_EMAIL": _EMAIL,
        "MAILKEEP_ADMIN_PASSWORD": _PASSWORD,
        "MAILKEEP_LOG__LEVEL": "warning",
        "MAILKEEP_ABUSE__SENDER_PER_HOUR": "1000000",
        "MAILKEEP_ABUSE__DOMAIN_PER_HOUR": "1000000",
        "MAILKEEP_WEBHOOKS__ALLOWED_NETWORKS": '["127.0.0.0/8"]',
        "MAILKEEP_WEBHOOKS__EXTRA_CA_FILE": trusted_settings(folder).extra_ca_file,
        "MAILKEEP_WEBHOOKS__RETRY_SECONDS": "[1, 1, 1, 1, 1, 1, 1, 1]",
        LEASE: str(LEASE_SECONDS),
        ARM: str(folder / f"arm-{arm}"),
    }


def _started(folder: Path, victim: Victim) -> Instance:
    environ = _settings(folder, "instance") | ({} if victim == "instance" else {NO_WORKER: "1"})
    launch = Launch((sys.executable, "-m", "tests.crash.program"), environ)
    return instances.start(folder / "data", launch=launch, seconds=90)


def _worker(folder: Path) -> subprocess.Popen[bytes]:
    """The separate worker, once it works."""
    launch = Launch(environ=_settings(folder, "worker") | {"MAILKEEP_LOG__LEVEL": "info"})
    path = folder / "worker.log"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.program", "worker", "--data-dir", str(folder / "data")],
            cwd=ROOT,
            env=launch.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    deadline = time.monotonic() + 60
    while b"the worker has started" not in path.read_bytes():
        assert process.poll() is None, path.read_text()
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.02)
    return process


@asynccontextmanager
async def rounds(victim: Victim) -> AsyncIterator[Rounds]:
    """A new instance, removed at the end."""
    folder = new_directory("mailkeep-webhooks-", 0o755)
    (folder / "data").mkdir(mode=0o711)
    for name in ("instance", "worker"):
        os.mkfifo(folder / f"arm-{name}")
    found: Rounds | None = None
    try:
        async with run_sink() as receiver:
            receiver.chooses = lambda _: 503 if random.random() < 1 / 8 else 200
            found = Rounds(folder, victim, receiver, await asyncio.to_thread(_started, folder, victim))
            await _furnish(found)
            if victim == "worker":
                found.worker = await asyncio.to_thread(_worker, folder)
            yield found
            if found.worker:
                found.worker.terminate()
                assert await asyncio.to_thread(found.worker.wait, 60) == 0, (folder / "worker.log").read_text()
            assert await asyncio.to_thread(found.running.stop) == 0, found.running.log
    finally:
        for process in (found.worker, found.running.process) if found else ():
            if process and process.poll() is None:
                process.kill()
                process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


async def _furnish(found: Rounds) -> None:
    http = found.running.http
    result = await call(http, "POST", "/auth/login", {"email": _EMAIL, "password": _PASSWORD})
    cookie = {"Cookie": result.headers["set-cookie"].partition(";")[0]}
    assert (await call(http, "POST", "/domains", {"name": "example.test"}, cookie)).status == 201
    result = await call(http, "POST", "/api-keys", {"name": "load", "rate_limit": 0}, cookie)
    found.key = result.body["data"]["key"]
    result = await found._call("POST", "/webhooks", {"url": found.sink.url("/hook"), "events": ["*"]})
    assert result.status == 201, result.body
    found.webhook_id = result.body["data"]["id"]
