"""A full instance on a small disk that fills up and is freed again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime import service_status
from tests.stack import harness
from tests.stack.harness import Stack, eventually
from tests.support.scratch import new_directory

LONGER_THAN_A_RESTART = 25.0  # Postfix was restarted every 20 s


@pytest.fixture(scope="module")
def small(stack_folder: Path) -> Iterator[Stack]:
    """An instance on a disk of 600 MiB, whose Postfix tries deferred mail again after an hour."""
    folder = new_directory("mailkeep-small-", 0o755, programs=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600m,mode=755", "tmpfs", str(folder)], check=True, timeout=60)
    try:
        harness.start(
            folder,
            ("sleep", "900"),
            OUTBOUND__FIRST_RETRY_SECONDS="3600",
            OUTBOUND__LONGEST_RETRY_SECONDS="3600",
            OUTBOUND__GIVE_UP_HOURS="24",
        )
        yield Stack(folder)
    finally:
        harness.stop(folder)
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=60)
        shutil.rmtree(folder)


def pid_of(stack: Stack, name: str) -> int:
    def look() -> int | None:
        parts = service_status.list_services(run_folder(stack.data_dir))
        return next((part.pid for part in parts if part.name == name), None)

    return eventually(look, what=name)


def fill(file: Path) -> None:
    with file.open("wb") as hole, contextlib.suppress(OSError):
        while True:
            hole.write(b"\0" * (1 << 20))
            hole.flush()


def test_a_full_disk_restarts_nothing_and_delays_mail_only_meanwhile(small: Stack) -> None:
    small.make_mailbox(small.make_domain("full.test"), "alice")
    small.deliver("alice@full.test", "Before")
    eventually(lambda: small.mail_of("alice@full.test"), what="mail on an empty disk")
    postfix, agent = pid_of(small, "postfix"), pid_of(small, "lmtp")
    filler = small.folder / "filler"
    os.kill(agent, signal.SIGSTOP)
    try:
        small.deliver("alice@full.test", "Under way")
        fill(filler)
    finally:
        os.kill(agent, signal.SIGCONT)
    eventually(lambda: postfix_queue.list_deferred(small.data_dir / "postfix" / "queue"), what="the deferral")
    # The supervisor's watch needs two looks and its patience; twenty seconds were enough before.
    until = time.monotonic() + LONGER_THAN_A_RESTART
    while time.monotonic() < until:
        fill(filler.with_suffix(f".{time.monotonic_ns()}"))
        assert pid_of(small, "postfix") == postfix
        time.sleep(1)
    for each in small.folder.glob("filler*"):
        each.unlink()
    began = time.monotonic()
    eventually(lambda: "Under way" in subjects(small), 60, "the mail that was under way")
    print(f"delivered {time.monotonic() - began:.1f} s after there was room")
    assert pid_of(small, "postfix") == postfix
    small.deliver("alice@full.test", "After")
    eventually(lambda: "After" in subjects(small), 60, "the mail after it")


def subjects(stack: Stack) -> set[str]:
    with contextlib.suppress(Exception):
        lines = [line for mail in stack.mail_of("alice@full.test") for line in mail.decode().splitlines()]
        return {line.removeprefix("Subject: ") for line in lines if line.startswith("Subject: ")}
    return set()
