"""An instance of the full profile on a small disk that fills up and is freed again."""

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
from tests.stack.probing import copy_environment, run_probe
from tests.support.scratch import new_directory

FULL_SECONDS = 25.0  # regression: Postfix was restarted every 20 s


@pytest.fixture(scope="module")
def small_stack(stack_folder: Path) -> Iterator[Stack]:
    """An instance on a disk of 600 MiB. Postfix retries deferred mail after an hour."""
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


def find_pid(stack: Stack, name: str) -> int:
    def find() -> int | None:
        services = service_status.list_services(run_folder(stack.data_dir))
        return next((service.pid for service in services if service.name == name), None)

    return eventually(find, what=f"the process {name}")


def fill_disk(file: Path) -> None:
    """Write to the file until the disk is full."""
    with file.open("wb") as output, contextlib.suppress(OSError):
        while True:
            output.write(b"\0" * (1 << 20))
            output.flush()


def test_a_full_disk_restarts_nothing_and_only_delays_mail(small_stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    small_stack.make_mailbox(small_stack.make_domain("full.test"), "alice")
    small_stack.deliver("alice@full.test", "Before")
    eventually(lambda: small_stack.mail_of("alice@full.test"), what="mail before the disk is full")
    postfix, lmtp = find_pid(small_stack, "postfix"), find_pid(small_stack, "lmtp")
    filler = small_stack.folder / "filler"
    os.kill(lmtp, signal.SIGSTOP)
    try:
        small_stack.deliver("alice@full.test", "During")
        copy_environment(small_stack, monkeypatch)
        result = run_probe(small_stack, lambda: fill_disk(filler))
    finally:
        os.kill(lmtp, signal.SIGCONT)
    eventually(lambda: postfix_queue.list_deferred(small_stack.data_dir / "postfix" / "queue"), what="the deferral")
    # Meanwhile the supervisor must not restart Postfix.
    deadline = time.monotonic() + FULL_SECONDS
    while time.monotonic() < deadline:
        fill_disk(filler.with_suffix(f".{time.monotonic_ns()}"))
        assert find_pid(small_stack, "postfix") == postfix
        time.sleep(1)
    fill_disk(filler.with_suffix(".last"))
    components = {each["component"]: each for each in small_stack.do("GET", "/health/details")["components"]}
    assert components["disk"]["status"] == "down", components
    assert "Free up disk space: with a full disk no mail is accepted" in components["disk"]["advice"]
    # Dovecot can't open a connection to the database, or Postfix refuses the sender: whichever is tried first.
    assert (result.status, result.stage in ("login", "envelope")) == ("failed", True), result
    for file in small_stack.folder.glob("filler*"):
        file.unlink()
    began = time.monotonic()
    eventually(lambda: "During" in list_subjects(small_stack), 120, "the mail deferred while the disk was full")
    print(f"delivered {time.monotonic() - began:.1f} s after space was freed")
    assert find_pid(small_stack, "postfix") == postfix
    small_stack.deliver("alice@full.test", "After")
    eventually(lambda: "After" in list_subjects(small_stack), 60, "mail after space was freed")


def list_subjects(stack: Stack) -> set[str]:
    with contextlib.suppress(Exception):
        lines = [line for mail in stack.mail_of("alice@full.test") for line in mail.decode().splitlines()]
        return {line.removeprefix("Subject: ") for line in lines if line.startswith("Subject: ")}
    return set()
