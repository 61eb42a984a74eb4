"""The process between two versions, with shell scripts as `mailkeep`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.run.runtime import upgrade_guard


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for version in ("1.0", "1.1"):
        (tmp_path / f"versions/{version}/bin").mkdir(parents=True)
    (tmp_path / "current").symlink_to("versions/1.0")
    write(tmp_path, "1.0", 'echo "old $$ $*"')
    return tmp_path


def write(prefix: Path, version: str, script: str) -> None:
    program = prefix / f"versions/{version}/bin/mailkeep"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def accept(prefix: Path) -> None:
    (prefix / "draft").symlink_to("versions/1.1")
    (prefix / "draft").replace(prefix / "current")


class Guards:
    def __init__(self, prefix: Path) -> None:
        self.prefix, self.all = prefix, list[subprocess.Popen[str]]()

    def start(self, seconds: float = 60) -> subprocess.Popen[str]:
        versions = [str(self.prefix / "versions" / version) for version in ("1.0", "1.1")]
        command = [
            sys.executable,
            "-I",
            upgrade_guard.__file__,
            *versions,
            str(seconds),
            str(self.prefix),
            '["up", "--profile", "full"]',
        ]
        guard = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.all.append(guard)
        return guard


@pytest.fixture
def guards(prefix: Path) -> Iterator[Guards]:
    made = Guards(prefix)
    yield made
    for guard in made.all:
        guard.kill()
        guard.communicate(timeout=10)


def read_line(guard: subprocess.Popen[str]) -> str:
    assert guard.stdout
    return guard.stdout.readline().strip()


@pytest.mark.parametrize("script", ["exit 3", "exit 0", "kill -9 $$", ""])
def test_the_old_version_continues_in_the_same_process(prefix: Path, guards: Guards, script: str) -> None:
    write(prefix, "1.1", script)
    if not script:
        (prefix / "versions/1.1/bin/mailkeep").unlink()
    (prefix / upgrade_guard.RECORD).write_text('{"old": "1.0"}')
    guard = guards.start()
    lines = guard.communicate(timeout=30)[0].splitlines()
    assert lines[0].endswith("Mailkeep 1.0 starts again.")
    assert lines[1] == f"old {guard.pid} up --profile full"
    noted = json.loads((prefix / upgrade_guard.RECORD).read_text())
    assert noted == {"old": "1.0", "reason": lines[0].removesuffix(": Mailkeep 1.0 starts again.") + "."}


def test_what_is_not_accepted_in_time_is_ended(prefix: Path, guards: Guards) -> None:
    write(prefix, "1.1", 'trap "exit 0" TERM; echo began; while :; do sleep 0.1; done')
    guard = guards.start(0.5)
    assert read_line(guard) == "began"
    assert "was not accepted in time" in read_line(guard)
    assert read_line(guard) == f"old {guard.pid} up --profile full"


def test_what_was_accepted_gets_the_signals_and_decides_the_status(prefix: Path, guards: Guards) -> None:
    write(prefix, "1.1", 'trap "echo reloaded" HUP; trap "exit 7" TERM; echo began; while :; do sleep 0.1; done')
    guard = guards.start(1)
    assert read_line(guard) == "began"
    accept(prefix)
    time.sleep(1.5)
    guard.send_signal(signal.SIGHUP)
    assert read_line(guard) == "reloaded"
    guard.send_signal(signal.SIGTERM)
    assert guard.communicate(timeout=10)[0] == ""
    assert guard.returncode == 7


def test_a_stop_before_is_a_stop(prefix: Path, guards: Guards) -> None:
    write(prefix, "1.1", 'trap "exit 0" TERM; echo began; while :; do sleep 0.1; done')
    guard = guards.start()
    assert read_line(guard) == "began"
    guard.send_signal(signal.SIGTERM)
    assert guard.communicate(timeout=10)[0] == ""
    assert guard.returncode == 0


def test_the_new_version_ends_with_its_guard(prefix: Path, guards: Guards) -> None:
    write(prefix, "1.1", 'trap "echo ended; exit 0" TERM; echo began; while :; do sleep 0.1; done')
    guard = guards.start()
    assert read_line(guard) == "began"
    guard.kill()
    assert read_line(guard) == "ended"


@pytest.mark.parametrize(
    "text", ["", "1.1", "../1.1 {now} 9", "1.1 {now} x", "1.1 0 9", "9.9 {now} 9", "1.1 {later} 9"]
)
def test_a_request_that_is_not_valid_is_dropped(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(sys, "prefix", str(prefix / "versions/1.0"))
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("executed"))
    now = time.monotonic()
    request = tmp_path / upgrade_guard.REQUEST
    request.write_text(text.format(now=now, later=now + 60))
    upgrade_guard.become_guard(tmp_path)
    assert not request.exists()
    upgrade_guard.become_guard(tmp_path)
