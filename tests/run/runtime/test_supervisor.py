"""The supervisor, with small programs in place of daemons."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.runtime import child
from mailkeep.run.runtime.child import Child, Command, spawn
from mailkeep.run.runtime.supervisor import Service, Supervisor, tolerate

SLEEP = ("sleep", "60")


@pytest.fixture
async def supervisor(tmp_path: Path) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(tmp_path)
    yield supervisor
    await supervisor.stop()


async def _yes() -> bool:
    return True


def make_service(
    folder: Path,
    name: str = "one",
    argv: tuple[str, ...] = SLEEP,
    wave: int = 1,
    *,
    ready: Callable[[], Awaitable[bool]] = _yes,
    alive: Callable[[], Awaitable[bool]] | None = None,
) -> Service:
    log = folder / f"{name}.log"

    async def launch() -> Child:
        return spawn(Command(argv, log))

    return Service(name, wave, launch, log, ready, is_alive=alive, stop_seconds=1.0)


async def until(look: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_a_killed_service_is_restarted(supervisor: Supervisor, tmp_path: Path):
    await supervisor.start(make_service(tmp_path))
    running = supervisor.running["one"]
    first = running.process.pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: running.restarts == 1)
    assert running.process.pid != first
    assert running.process.poll() is None


async def test_a_service_that_is_off_starts_when_it_is_needed(supervisor: Supervisor, tmp_path: Path):
    needed = False
    await supervisor.start_all([replace(make_service(tmp_path), is_on=lambda: needed)])
    assert supervisor.state() == {}
    assert [each.state for each in supervisor.describe()] == ["stopped"]
    with pytest.raises(Failure, match="one is off"):
        await supervisor.start_again("one")
    await supervisor.restart("one")
    await supervisor.stop_one("one")
    assert supervisor.state() == {}
    needed = True
    await supervisor.start_again("one")
    assert supervisor.state() == {"one": True}
    await supervisor.stop_one("one")
    assert supervisor.state() == {"one": None}  # an administrator's decision
    needed = False
    assert supervisor.state() == {}


async def test_the_state_shows_a_service_that_is_down(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("mailkeep.run.runtime.supervisor._FIRST_PAUSE", 0.5)
    monkeypatch.setattr("mailkeep.run.runtime.supervisor._LONGEST_PAUSE", 0.5)
    await supervisor.start(make_service(tmp_path))
    assert supervisor.state() == {"one": True}
    os.kill(supervisor.running["one"].process.pid, signal.SIGKILL)
    await until(lambda: supervisor.state() == {"one": False})
    await until(lambda: supervisor.state() == {"one": True})


async def test_a_service_that_hangs_is_restarted(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("mailkeep.run.runtime.supervisor._ALIVE_CHECK_SECONDS", 0.05)
    hung: set[int] = set()

    async def alive() -> bool:
        return supervisor.running["one"].process.pid not in hung

    await supervisor.start(make_service(tmp_path, alive=alive))
    running = supervisor.running["one"]
    hung.add(running.process.pid)
    await until(lambda: running.process.pid not in hung)


async def test_a_short_silence_is_tolerated(monkeypatch: pytest.MonkeyPatch):
    now = 1000.0
    silences = ((1005, 1060), (1070, 1200))

    async def answers() -> bool:
        return not any(begun <= now <= ended for begun, ended in silences)

    monkeypatch.setattr("mailkeep.run.runtime.supervisor.monotonic", lambda: now)
    is_alive = tolerate(answers, 60)
    found: dict[float, bool] = {}
    for at in (1000, 1005, 1060, 1062, 1070, 1129, 1130, 1135):
        now = at
        found[at] = await is_alive()
    assert [at for at, was_alive in found.items() if not was_alive] == [1130]


async def test_waves_start_in_order_and_stop_in_reverse(supervisor: Supervisor, tmp_path: Path):
    order: list[str] = []

    def recording(name: str, wave: int) -> Service:
        async def ready() -> bool:
            order.append(name)
            return True

        return make_service(tmp_path, name, wave=wave, ready=ready)

    await supervisor.start_all([recording("last", 3), recording("first", 1), recording("second", 2)])
    assert order == ["first", "second", "last"]
    pids = {name: running.process.pid for name, running in supervisor.running.items()}
    await supervisor.stop()
    assert not any(child.list_session(pid) for pid in pids.values())
    assert list(tmp_path.glob("*.pid")) == []


async def test_a_failed_start_reports_the_end_of_the_log(supervisor: Supervisor, tmp_path: Path):
    async def never() -> bool:
        return False

    dying = make_service(tmp_path, argv=("sh", "-c", "echo no such folder; exit 3"), ready=never)
    with pytest.raises(Failure, match="one did not start: no such folder"):
        await supervisor.start(dying)


async def test_after_a_failed_start_the_rest_of_the_wave_can_be_stopped(supervisor: Supervisor, tmp_path: Path):
    async def never() -> bool:
        return False

    good = make_service(tmp_path, "good")
    bad = make_service(tmp_path, "bad", argv=("false",), ready=never)
    with pytest.raises(Failure, match="bad did not start"):
        await supervisor.start_all([good, bad])
    pid = supervisor.running["good"].process.pid
    await supervisor.stop()
    assert child.list_session(pid) == []


async def test_leftover_processes_of_an_earlier_run_are_stopped(tmp_path: Path):
    # A leader that is killed, as by kill -9, leaves its child in its session.
    script = "import subprocess, time; subprocess.Popen(['sleep', '60']); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True) as left:
        assert left.stdout
        assert left.stdout.readline()
        child.write_pid(tmp_path / "one.pid", left.pid)
        left.kill()
        left.wait()
        assert len(child.list_session(left.pid)) == 1
        await Supervisor(tmp_path).end_leftovers(["one"])
        assert child.list_session(left.pid) == []


async def test_a_reused_process_id_is_left_alone(tmp_path: Path):
    with subprocess.Popen(SLEEP, start_new_session=True) as other:
        (tmp_path / "one.pid").write_text(f"{other.pid} 1\n")  # of one that started long before
        await Supervisor(tmp_path).end_leftovers(["one"])
        assert other.poll() is None
        other.kill()


async def test_a_service_that_ignores_sigterm_is_killed(supervisor: Supervisor, tmp_path: Path):
    ready = tmp_path / "deaf"

    async def is_deaf() -> bool:
        return ready.exists()

    argv = ("sh", "-c", f"trap '' TERM; touch {ready}; while true; do sleep 0.1; done")
    await supervisor.start(make_service(tmp_path, argv=argv, ready=is_deaf))
    began = time.monotonic()
    await supervisor.stop()
    assert time.monotonic() - began < 30
