"""Rounds of an apply whose process `node`, or the supervisor, is killed (-9) at a step, under a stream of mail.

After each round: the daemons use the old configuration or the new one, complete; the settings, the operation and the
files agree; no journal is left; no process of a dead supervisor is left; mail flows; and no mail was lost or doubled.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import child, generations, journal
from tests.crash.stack import ADMIN, PASSWORD, Stack, Stream, launch, running
from tests.crash.wire import Cut, NeverAsked, call
from tests.support.ports import free_port

Victim = Literal["node", "supervisor"]
Then = Literal["confirm", "kill", "nothing"]
STEPS: dict[str, tuple[str, int, bool]] = {
    "the generation is staged": ("apply.staged", 1, False),
    "it is published": ("apply.published", 1, False),
    "the journal is written": ("apply.journal_written", 1, False),
    "the settings are committed": ("apply.settings_committed", 1, False),
    "the settings are used": ("apply.settings_used", 1, False),
    "Rspamd's link is switched": ("apply.link_switched", 1, False),
    "Rspamd is reloaded": ("apply.service_changed", 1, False),
    "Dovecot's link is switched": ("apply.link_switched", 2, False),
    "Dovecot is reloaded": ("apply.service_changed", 2, False),
    "Postfix's link is switched": ("apply.link_switched", 3, False),
    "Postfix is reloaded": ("apply.service_changed", 3, False),
    "all were watched": ("apply.watched", 1, False),
    "the end is recorded": ("apply.ended", 1, False),
    "after a failure, the settings are restored": ("apply.settings_restored", 1, True),
    "after a failure, Rspamd's link is restored": ("apply.link_switched", 4, True),
    "after a failure, Rspamd is restored": ("apply.service_restored", 1, True),
    "after a failure, Postfix's link is restored": ("apply.link_switched", 6, True),
    "after a failure, Postfix is restored": ("apply.service_restored", 3, True),
    "after a failure, the end is recorded": ("apply.ended", 1, True),
}
"""By the name of a step: its failpoint, at which time it is reached, and whether the apply fails before."""
_CHANGED = ("overlays.dovecot", "overlays.postfix", "overlays.rspamd")
_RECOVERED_WITHIN = 180.0
_FLOWS_WITHIN = 60.0
_RECONCILED_AFTER = 5.0


@dataclass
class Applies:
    """A running instance whose `node` can be trapped."""

    stack: Stack
    program: Sequence[str]
    armed: Path
    number: int = 0
    pop3: int = 0
    outcomes: list[str] = field(default_factory=list[str])
    cookie: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def paths(self) -> InstancePaths:
        return InstancePaths(self.stack.data, run_folder(self.stack.data))

    async def round(self, step: str, victim: Victim) -> str:
        """Apply new settings, kill, let it recover, and check; returns how the operation ended."""
        self.number += 1
        before = self._used()
        await self._change_settings()
        name, nth, fails = STEPS[step]
        lines = [f"{name} {nth} {victim}", *(["apply.service_changed 3 fail"] if fails else [])]
        self.armed.write_text("".join(f"{line}\n" for line in lines))
        old = self._processes() if victim == "supervisor" else {}
        node = self.stack.pid("node")
        stream = Stream(self.stack, a_second=2)
        async with stream.flowing():
            asking = asyncio.create_task(self._ask_for_apply())
            await self._until(lambda: name not in self.armed.read_text(), f"{step} is reached")
            killed_at = time.monotonic()
            if victim == "supervisor":
                await self._restart()
            await asking
            state = await self._recovered()
            await stream.recovery(killed_at, _FLOWS_WITHIN)
        await stream.settle(_RECONCILED_AFTER)
        assert self.stack.pid("node") != node
        left = {name: pid for name, (pid, started) in old.items() if child.started_at(pid) == started}
        assert not left, f"processes of the dead supervisor: {left}"
        await self._check(state, before)
        wrong = [str(each) for each in await stream.balances(far_may_double=victim == "supervisor") if not each.empty]
        assert not wrong, wrong
        assert stream.out.succeeded
        assert stream.inbound.succeeded
        self.outcomes.append(state)
        return state

    async def change_port(self, then: Then) -> str:
        """Move POP3 to a free port; when it greets there, confirm, kill `node`, or do nothing. How the apply ended."""
        old, new = self.pop3, free_port()
        changed = await self._ask("PATCH", "/config", {"changes": {"ports.pop3": new}})
        assert changed["status"] == 200, changed
        plan = (await self._ask("GET", "/orchestrator/plan"))["data"]
        body = {"plan_id": plan["id"], "watch_seconds": 5}
        started = await self._ask("POST", "/orchestrator/apply", body)
        assert started["status"] == 202, started
        deadline = time.monotonic() + _RECOVERED_WITHIN
        while not await self._confirm_until(started["data"]["operation_id"]):
            assert time.monotonic() < deadline, "the apply does not wait for a confirmation"
            await asyncio.sleep(0.1)
        assert (await greets(old), await greets(new)) == (False, True)
        if then == "kill":
            os.kill(self.stack.pid("node"), signal.SIGKILL)
        elif then == "confirm":
            assert (await self._ask("POST", "/orchestrator/confirm"))["status"] == 200
        state = await self._recovered()
        assert (await greets(old), await greets(new)) == (state == "rolled_back" and old != 0, state == "succeeded")
        if state == "succeeded":
            self.pop3 = new
        return state

    async def _confirm_until(self, operation_id: str) -> str | None:
        operation = (await self._ask("GET", f"/orchestrator/operations/{operation_id}"))["data"]
        assert operation["state"] == "running", operation
        until: str | None = operation["confirm_until"]
        return until

    async def _change_settings(self) -> None:
        changes = {
            "overlays.dovecot": f"mail_max_keyword_length = {50 + self.number % 400}",
            "overlays.postfix": f"default_process_limit = {90 + self.number % 400}",
            "overlays.rspamd": {"greylist.conf": f"max_data_len = {10 + self.number % 400}k;"},
        }
        changed = await self._ask("PATCH", "/config", {"changes": changes, "current_password": PASSWORD})
        assert changed["status"] == 200, changed

    async def _ask_for_apply(self) -> None:
        """The answer may get lost with what is killed."""
        with contextlib.suppress(Cut, NeverAsked):
            plan = (await self._ask("GET", "/orchestrator/plan"))["data"]
            assert {each["service"] for each in plan["actions"]} == {"rspamd", "dovecot", "postfix"}, plan
            body = {"plan_id": plan["id"], "watch_seconds": 5}
            answer = await self._ask("POST", "/orchestrator/apply", body)
            assert answer["status"] in (202, 503), answer

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        if not self.cookie:
            login = await call(self.stack.http, "POST", "/auth/login", {"email": ADMIN, "password": PASSWORD})
            self.cookie = {"Cookie": login.headers["set-cookie"].split(";")[0]}
        answer = await call(self.stack.http, method, path, body, self.cookie)
        return answer.body | {"status": answer.status}

    async def _restart(self) -> None:
        """Start the instance again after its supervisor was killed."""
        process = self.stack.process
        assert process is not None
        assert await asyncio.to_thread(process.wait, 30) == -signal.SIGKILL
        deadline = time.monotonic() + 60
        while True:
            try:
                self.stack.process = await launch(self.stack.data, self.program)
                return
            except AssertionError as error:
                # What is left of the dead one may hold a port for a moment.
                if time.monotonic() > deadline or "in use" not in str(error):
                    raise
                await asyncio.sleep(1)

    async def _recovered(self) -> str:
        """Wait until the operation has ended, and no journal is left; its state."""
        deadline = time.monotonic() + _RECOVERED_WITHIN
        while True:
            rows = await self.stack.rows("SELECT state FROM orchestrator_operations ORDER BY id DESC LIMIT 1")
            if rows[0][0] != "running" and not journal.file_of(self.paths).exists():
                return str(rows[0][0])
            assert time.monotonic() < deadline, f"the operation is {rows[0][0]}"
            await asyncio.sleep(0.2)

    async def _check(self, state: str, before: str) -> None:
        assert state in ("succeeded", "rolled_back")
        manifest = generations.find_current(self.paths)
        assert manifest, "the daemons use different generations"
        assert generations.find_drift(self.paths, manifest) == []
        for service in generations.SERVICES:
            n = generations.find_linked(self.paths, service)
            assert n is not None
            assert generations.is_complete(self.paths, n, service)
        plan = (await self._ask("GET", "/orchestrator/plan"))["data"]
        is_new = f"max_data_len = {10 + self.number % 400}k;" in self._used()
        assert is_new or self._used() == before
        assert is_new or state == "rolled_back", "the operation succeeded, and the old configuration is in use"
        # The settings in effect are those of the files: nothing is left to apply, or all that was changed.
        assert set(plan["settings"]) == (set() if is_new else set(_CHANGED)), plan["settings"]
        assert {each["service"] for each in plan["files"]} == (set() if is_new else {"rspamd", "dovecot", "postfix"})
        assert not list(self.paths.generations.glob("*.new"))

    def _used(self) -> str:
        return (self.paths.rspamd_conf / "local.d" / "greylist.conf").read_text()

    def _processes(self) -> dict[str, tuple[int, int]]:
        """The process and its start time of each service."""
        found: dict[str, tuple[int, int]] = {}
        for file in (self.paths.run / "pids").glob("*.pid"):
            pid, started = file.read_text().split()
            found[file.stem] = (int(pid), int(started))
        return found

    async def _until(self, done: Any, what: str) -> None:
        deadline = time.monotonic() + _RECOVERED_WITHIN
        while not done():
            assert time.monotonic() < deadline, f"not within {_RECOVERED_WITHIN:.0f} s: {what}"
            await asyncio.sleep(0.05)


async def greets(port: int) -> bool:
    """Whether POP3 answers on this port."""
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            line = await reader.readline()
            writer.close()
    except (OSError, TimeoutError):
        return False
    return line.startswith(b"+OK")


@contextlib.asynccontextmanager
async def applies() -> AsyncIterator[Applies]:
    """A new full instance."""
    with tempfile.TemporaryDirectory(prefix="mailkeep-applies-") as folder:
        armed = Path(folder) / "armed"
        armed.write_text("")
        program = (sys.executable, str(Path(__file__).with_name("trapped.py")), str(armed))
        async with running(program, {"ports.pop3": 0}) as stack:
            yield Applies(stack, program, armed)
