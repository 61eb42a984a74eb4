"""Deliveries by Dovecot with the question for a vacation reply, compared with deliveries without it.

Each delivery asks the database for the mailbox's vacation script. The instance runs without the question for the other
side: no `sieve_before2` in its dovecot.conf, and a reload. One LMTP connection to Dovecot delivers messages of 2 KB one
after the other to a mailbox without a vacation; rounds alternate between the sides.

Root only, after `mailkeep install`. `python -m bench.vacation [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import shutil
import signal
import smtplib
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.harness import Stack, letter

_QUESTION = "  sieve_before2 = "


def main() -> None:
    messages, rounds = (int(text) for text in (*sys.argv[1:], *("200", "6")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    times: dict[bool, list[float]] = {True: [], False: []}
    try:
        harness.start(folder)
        stack = Stack(folder)
        mailbox = stack.make_mailbox(stack.make_domain("example.test"), "user")
        for _ in range(rounds):
            for on in (True, False):
                ask_at_deliveries(stack, on=on)
                times[on] += deliver(stack, mailbox["address"], messages)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    asked, plain = (statistics.median(times[on]) * 1000 for on in (True, False))
    print(f"a delivery: {asked:.2f} ms with the question for a vacation, {plain:.2f} without, {asked / plain:.2f} ×")


def deliver(stack: Stack, address: str, count: int) -> list[float]:
    """Seconds that each delivery took."""
    socket = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).dovecot_lmtp
    text = letter(address, "Bench") + "0123456789abcdef " * 100
    times: list[float] = []
    with smtplib.LMTP(str(socket), timeout=60) as client:
        client.sendmail("friend@remote.test", [address], text)
        for _ in range(count):
            began = time.perf_counter()
            client.sendmail("friend@remote.test", [address], text)
            times.append(time.perf_counter() - began)
    return times


def ask_at_deliveries(stack: Stack, *, on: bool) -> None:
    """Set whether Dovecot asks for a vacation script at each delivery, and reload it."""
    paths = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    file = paths.dovecot_conf / "dovecot.conf"
    lines = [
        line.removeprefix("#") if line.removeprefix("#").startswith(_QUESTION) else line
        for line in file.read_text().splitlines()
    ]
    file.write_text("\n".join(line if on or not line.startswith(_QUESTION) else f"#{line}" for line in lines) + "\n")
    subprocess.run(["doveadm", "-c", str(file), "reload"], check=True, timeout=60)
    time.sleep(2)


if __name__ == "__main__":
    main()
