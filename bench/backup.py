"""Backups of a full instance with 1 GB in 10,000 messages: CPU, memory, and what they cost mail that comes and goes.

CPU is that of the process `backup` with its ended children (restic, PostgreSQL's programs), and of PostgreSQL. Rates
are measured while backups run one after the other, and without; the first backup is that of everything.

Root only, after `mailkeep install`. `python -m bench.backup [MESSAGES] [ROUNDS]`: messages of a round.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from bench.full import PEOPLE, SINK, run_smtp_source, wait_for_empty_queue
from bench.inbound import spent
from bench.rig.calls import call_all
from bench.rig.sends import message
from mailkeep.db.instance import run_folder
from mailkeep.features.operations.backups.model import Backup
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import process
from tests.stack import harness
from tests.stack.harness import ADDRESS, Stack
from tests.support.backups import back_up_now
from tests.support.processes import children

MESSAGES, SIZE = 10_000, 100_000


def main() -> None:
    """Print CPU, memory and ratios."""
    count, rounds = (int(text) for text in (*sys.argv[1:], *("300", "3")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        harness.start(
            folder,
            SINK,
            LIMITS__REQUESTS_PER_SECOND="0",
            BACKUP__VERIFY_EVERY="off",
            ABUSE__SENDER_PER_HOUR="1000000000",
            ABUSE__DOMAIN_PER_HOUR="1000000000",
        )
        stack = Stack(folder)
        places = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
        domain = stack.make_domain("example.test")
        for name in PEOPLE:
            stack.make_mailbox(domain, name)
        home = stack.data_dir / "mail" / str(uuid4()) / "Maildir"
        fill(home, MESSAGES)
        measure(stack, places, "everything")
        measure(stack, places, "unchanged")
        fill(home, MESSAGES // 100)
        measure(stack, places, "1 % new")
        compare(stack, places, count, rounds)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def fill(maildir: Path, count: int) -> None:
    """Write messages that can't be compressed."""
    for part in ("cur", "new", "tmp"):
        (maildir / part).mkdir(parents=True, exist_ok=True)
    for _ in range(count):
        name = f"1795000000.{uuid4().hex}.bench,S={SIZE}:2,S"
        head = f"Message-ID: <{uuid4()}@example.test>\r\n\r\n".encode()
        (maildir / "cur" / name).write_bytes(head + os.urandom(SIZE - len(head)))


def measure(stack: Stack, places: InstancePaths, name: str) -> None:
    """Print time, CPU and memory of a backup."""
    pid = process.find_ready_pid(places.run, "backup")
    assert pid
    before, began = spent(stack, places), time.monotonic()
    with watching(pid) as peaks:
        backup: Backup = back_up_now(stack.data_dir)
    seconds, after = time.monotonic() - began, spent(stack, places)
    own, server = (after[each] - before[each] for each in ("backup", "postgresql"))
    print(
        f"{name}: {seconds:.1f} s, CPU {own:.1f} s and {server:.1f} s of PostgreSQL, "
        f"memory {peaks.get('backup', 0) >> 20} MiB and {peaks.get('restic', 0) >> 20} MiB of restic, "
        f"{(backup.added_bytes or 0) / 1e6:.1f} of {(backup.size_bytes or 0) / 1e6:.0f} MB added",
        flush=True,
    )


@contextmanager
def watching(pid: int) -> Generator[dict[str, int]]:
    """The highest resident memory of the process and of its child restic, in bytes."""
    peaks: dict[str, int] = {}
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.1):
            for each in (pid, *children(pid)):
                try:
                    status = Path(f"/proc/{each}/status").read_text()
                except OSError:
                    continue
                fields = dict(line.split(":", 1) for line in status.splitlines())
                name = "restic" if fields["Name"].strip() == "restic" else "backup" if each == pid else ""
                peaks[name] = max(peaks.get(name, 0), int(fields.get("VmRSS", "0").split()[0]) << 10)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        stop.set()
        thread.join()


def compare(stack: Stack, places: InstancePaths, count: int, rounds: int) -> None:
    """Interleaved rounds with and without backups; medians."""
    key = stack.do("POST", "/api-keys", {"name": "bench", "rate_limit": 1_000_000})["key"]
    port, headers = int(stack.api.rpartition(":")[2]), {"authorization": f"Bearer {key}"}
    bodies = [json.dumps(message()).encode()] * count

    def receive() -> None:
        run_smtp_source(f"inet:{ADDRESS}:{stack.ports['smtp']}", f"{PEOPLE[0]}@example.test", count, 4)

    def send() -> None:
        asyncio.run(call_all(port, "POST", "/api/v1/send", headers, bodies, 8))

    for name, work in (("receive", receive), ("send", send)):
        rates: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(rounds):
            for backs_up, found in rates.items():
                with backing_up(stack) if backs_up else nothing():
                    began = time.monotonic()
                    work()
                    found.append(count / (time.monotonic() - began))
                wait_for_empty_queue(places)
        without, during = (statistics.median(found) for found in rates.values())
        print(f"{name}: {during:.0f}/s during backups, {without:.0f}/s without: {during / without:.2f}", flush=True)


@contextmanager
def nothing() -> Generator[None]:
    """Run no backup."""
    yield


@contextmanager
def backing_up(stack: Stack) -> Generator[None]:
    """Run backups one after the other."""
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            back_up_now(stack.data_dir)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.5)
    try:
        yield
    finally:
        stop.set()
        thread.join()


if __name__ == "__main__":
    main()
