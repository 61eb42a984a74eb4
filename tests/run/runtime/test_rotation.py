"""Logs that rotate while they are written: no line is lost; old logs are compressed, then removed."""

from __future__ import annotations

import asyncio
import gzip
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.db.logged_process import LoggedProcess
from mailkeep.run.runtime import log_rotation
from mailkeep.run.runtime.log_rotation import Rotation, RotationLimits

BOUNDS = RotationLimits(size_bytes=1 << 20, keep_seconds=14 * 86_400.0)
# Both write until they were rotated, and compressed, three times.
PRINTS = """
import sys
from pathlib import Path
n = 0
while n < 20_000 or len(list(Path(sys.argv[1]).parent.glob('*.gz'))) < 3:
    for n in range(n, n + 1000): print('line', n, 'x' * 80, flush=True)
    n += 1
"""
WRITES = """
import asyncio, sys
from pathlib import Path
from mailkeep.run.runtime import logs
logs._CHECK_SECONDS = 0.01
async def main():
    task = asyncio.create_task(logs.keep_open(Path(sys.argv[1])))
    n = 0
    while n < 20_000 or len(list(Path(sys.argv[1]).parent.glob('*.gz'))) < 3:
        for n in range(n, n + 100): print('line', n, 'x' * 80, file=sys.stderr, flush=True)
        n += 1
        await asyncio.sleep(0.002)
asyncio.run(main())
"""


def lines_of(folder: Path, name: str) -> list[str]:
    """All lines of a log, oldest first, whether rotated, compressed or current."""
    found: list[str] = []
    rotated = sorted(path for path in folder.glob(f"{name}.*"))
    for path in (*rotated, folder / name):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found += content.decode().splitlines()
    return found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log" / "daemon.log"
    path.parent.mkdir()
    return path


def rotate_while_it_runs(process: subprocess.Popen[bytes], log: Path) -> None:
    """Rotate and compress again and again, each time as if a second had passed."""
    rotating = Rotation(log.parent, lambda: replace(BOUNDS, size_bytes=50_000), {}, {})
    began = time.time()
    for number in range(100_000):
        asyncio.run(rotating.run_once(began + number))
        if process.poll() is not None:
            break
        time.sleep(0.01)
    assert process.wait() == 0


@pytest.mark.parametrize("how", ["captured", "reopened"])
def test_logs_rotate_while_the_server_runs_and_lose_no_line(log: Path, how: str) -> None:
    if how == "captured":
        process: subprocess.Popen[bytes] = LoggedProcess([sys.executable, "-c", PRINTS, str(log)], log)
    else:
        with log.open("ab") as output:
            process = subprocess.Popen([sys.executable, "-c", WRITES, str(log)], stdout=output, stderr=output)
    rotate_while_it_runs(process, log)
    found = [int(line.split()[1]) for line in lines_of(log.parent, log.name)]
    assert len(found) >= 20_000
    assert found == list(range(len(found)))


def test_a_log_rotates_once_a_day_and_is_kept_for_fourteen_days(log: Path) -> None:
    rotating = Rotation(log.parent, lambda: BOUNDS, {}, {})
    now = time.time()
    asyncio.run(rotating.run_once(now))
    for day in range(20):
        log.write_text(f"day {day}\n")
        log.chmod(0o640)
        at = now + day * 86_400 + 60
        os.utime(log, (at, at))
        asyncio.run(rotating.run_once(at + 3600))
        asyncio.run(rotating.run_once(now + (day + 1) * 86_400))
    kept = lines_of(log.parent, log.name)
    assert kept == [f"day {day}" for day in range(6, 20)]
    assert {path.stat().st_mode & 0o777 for path in log.parent.glob("daemon.log*")} == {0o640}


def test_a_killed_rotation_is_completed(log: Path) -> None:
    rotating = Rotation(log.parent, lambda: replace(BOUNDS, size_bytes=1), {}, {})
    log.write_text("first\n")
    # Killed between the link and the new file: both names are one file, which is still being written.
    os.link(log, log.with_name("daemon.log.20260101-000000"))
    # Killed during a compression, and between a compression and the removal of the original.
    log.with_name(".daemon.log.20250101-000000.part").write_bytes(b"\x1f\x8b half")
    whole = log.with_name("daemon.log.20250101-000000")
    whole.write_text("zeroth\n")
    whole.with_name(whole.name + ".gz").write_bytes(gzip.compress(b"zeroth\n"))
    asyncio.run(rotating.run_once(time.time()))
    assert lines_of(log.parent, log.name) == ["zeroth", "first"]
    assert not list(log.parent.glob(".*.part"))


def test_a_file_that_is_open_or_not_read_yet_is_not_compressed(log: Path) -> None:
    read: set[str] = set()

    async def is_read(path: Path) -> bool:
        return path.name in read

    rotating = Rotation(log.parent, lambda: replace(BOUNDS, size_bytes=1), {}, {}, is_read)
    with log.open("w") as writing:
        writing.write("first\n")
        writing.flush()
        asyncio.run(rotating.run_once(time.time()))
        [old] = log.parent.glob("daemon.log.*")
        read.add(old.name)
        asyncio.run(rotating.compress())
        assert old.exists()
        writing.write("late\n")
    read.clear()
    asyncio.run(rotating.compress())
    assert old.exists()
    read.add(old.name)
    asyncio.run(rotating.compress())
    assert lines_of(log.parent, log.name) == ["first", "late"]
    assert not old.exists()


def test_on_a_full_disk_the_uncompressed_log_is_kept(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write_text("first\n")
    old = log_rotation.rotate(log, time.time())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failure, match="No space left"):
        log_rotation.compress(old)
    assert old.read_text() == "first\n"
    assert not list(log.parent.glob("*.gz"))
