"""What the filter's decisions cost: CPU of all processes per inbound message, compared with the version before them.

20 connections deliver messages of 2 KB to five mailboxes until the last is delivered; interleaved rounds, medians.
Four instances run: of the checkout BEFORE, and of this one without list entries, with allow entries, and with deny
entries, of which none matches: 100,000 of the server, 10,000 of the domain and 1,000 of each mailbox. With deny entries
of the server each RCPT asks the policy service. Then the time of the reply to RCPT on each.

Root only, after `mailkeep install`. `git worktree add --detach FOLDER 1aafa291`, with the dashboard copied
(`mailkeep/web/dashboard_page`), then `python -m bench.verdict FOLDER [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import json
import os
import smtplib
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.full import PEOPLE, run_smtp_source
from tests.stack.harness import ADDRESS
from tests.support.instance import ROOT

_SIDES = {"before": "none", "no entries": "none", "allow entries": "allow", "deny entries": "deny"}
_QUIET_SECONDS = 4


class Side:
    """An instance in a process of its own (`bench/rig/side.py`)."""

    def __init__(self, checkout: Path, entries: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "bench/rig/side.py"), entries],
            cwd=checkout, env=os.environ | {"PYTHONPATH": str(checkout)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started = self._read()
        self._port, self._postfix_conf = started["ports"]["smtp"], started["postfix_conf"]

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "an instance ended"
        return json.loads(line)

    def spent(self) -> dict[str, float]:
        """Seconds of CPU so far, by service."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._read()

    def deliver(self, count: int) -> None:
        """Send messages to all mailboxes until the last is delivered."""
        where = f"inet:{ADDRESS}:{self._port}"
        with ThreadPoolExecutor(len(PEOPLE)) as pool:
            sends = [
                pool.submit(run_smtp_source, where, f"{who}@example.test", count // len(PEOPLE), 4) for who in PEOPLE
            ]
            for each in sends:
                each.result()
        show = ["postqueue", "-c", self._postfix_conf, "-p"]
        while "is empty" not in subprocess.run(show, capture_output=True, text=True, check=False).stdout:
            time.sleep(0.3)
        time.sleep(_QUIET_SECONDS)  # what is written later

    def connect(self) -> smtplib.SMTP:
        """An SMTP connection after MAIL."""
        client = smtplib.SMTP(ADDRESS, self._port, timeout=60)
        client.ehlo("bench.test")
        client.mail("someone@remote.test")
        return client

    def stop(self) -> None:
        """End the instance."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(120)


def main() -> None:
    """Print all sides and the ratios."""
    before = Path(sys.argv[1]).resolve()
    count, rounds = (int(text) for text in (*sys.argv[2:], *("600", "5")[len(sys.argv) - 2 :]))
    with ExitStack() as ends:
        sides: dict[str, Side] = {}
        for name, entries in _SIDES.items():
            sides[name] = Side(before if name == "before" else ROOT, entries)
            ends.callback(sides[name].stop)
        compare(sides, count, rounds)
        ask(sides)


def compare(sides: dict[str, Side], count: int, rounds: int) -> None:
    """CPU of each message."""
    cpu: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, side in sides.items():
            before = side.spent()
            side.deliver(count if number else count // 3)
            after = side.spent()
            if number:  # the first round warms up
                used = {part: (after[part] - before.get(part, 0.0)) * 1000 / count for part in after}
                cpu[name].append(used)
                print(f"  {name}: {sum(used.values()):.2f} ms, load {os.getloadavg()[0]:.0f}", flush=True)
    for name, found in cpu.items():
        parts = {part: statistics.median(each.get(part, 0.0) for each in found) for part in found[0]}
        costs = ", ".join(
            f"{part} {ms:.2f}" for part, ms in sorted(parts.items(), key=lambda each: -each[1]) if ms > 0.01
        )
        total = statistics.median(sum(each.values()) for each in found)
        ratio = statistics.median(
            sum(each.values()) / sum(base.values()) for each, base in zip(found, cpu["before"], strict=True)
        )
        print(f"{name}: CPU {total:.2f} ms a message, {ratio:.3f} × ({costs})")


def ask(sides: dict[str, Side]) -> None:
    """Time of the reply to RCPT."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(11):
        with ExitStack() as ends:
            clients = {name: ends.enter_context(side.connect()) for name, side in sides.items()}
            for turn in range(90):
                for name, client in clients.items():
                    began = time.perf_counter()
                    code, text = client.rcpt(f"{PEOPLE[turn % len(PEOPLE)]}@example.test")
                    assert code == 250, text
                    if number:  # the first connections warm up
                        took[name].append((time.perf_counter() - began) * 1000)
    base = statistics.median(took["before"])
    for name, found in took.items():
        print(f"{name}: RCPT {statistics.median(found):.2f} ms, {statistics.median(found) / base:.2f} ×")


if __name__ == "__main__":
    main()
