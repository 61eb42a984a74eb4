"""Forwarded mail with and without a seal (ARC): the time from the end of a message to its answer, and its ratio.

A client (XCLIENT, a server with SPF) sends messages of 2 KB to an alias with one external destination, one after the
other; the two ways alternate: as it is, and without the field that tells the filter the forwarding domain.

Root only, after `mailkeep install`. `python -m bench.arc [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.milter import use
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.harness import Stack, letter

SENDER, ALIAS, ADDRESS = "ann@author.test", "team@sealed.test", "198.51.100.9"


def main() -> None:
    count, rounds = (int(text) for text in (*sys.argv[1:], *("100", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends child processes too
    try:
        harness.start(folder, ABUSE__FORWARD_PER_HOUR="1000000000")
        compare(Stack(folder), count, rounds)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def compare(stack: Stack, count: int, rounds: int) -> None:
    """Measure both ways and print them."""
    paths = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    domain = stack.make_domain("sealed.test")
    body = {"domain_id": domain, "source_local_part": "team", "destination": "friend@remote.test"}
    stack.do("POST", "/aliases", body)
    stack.publish("author.test", "MX", f'@ TXT "v=spf1 ip4:{ADDRESS} -all"')
    sealing = (paths.postfix_conf / "master.cf").read_text()
    mark = next(line for line in sealing.splitlines() if "policy_context=expanding/" in line)
    ways = {"sealed": sealing, "not sealed": sealing.replace(mark.split("expanding/")[1].split(" ")[0], "")}
    took: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way, services in ways.items():
            use(paths, services)
            times = send(stack, count)
            took[way] += times if number else []  # the first round warms up
    medians = {way: statistics.median(each) * 1000 for way, each in took.items()}
    seals = [b"\r\nARC-Seal:" in each for each in stack.caught("friend@remote.test")]
    print(f"{sum(seals)} of {len(seals)} messages arrived with a seal")
    for way, each in medians.items():
        print(f"{way}: {each:.1f} ms for each message (median), ratio {each / medians['not sealed']:.2f}")
    print(f"a seal takes {medians['sealed'] - medians['not sealed']:.1f} ms")


def send(stack: Stack, count: int) -> list[float]:
    """Send messages; the seconds from the end of each to its answer."""
    times: list[float] = []
    with stack.afar(ADDRESS) as client:
        for number in range(count):
            client.mail(SENDER)
            client.rcpt(ALIAS)
            client.docmd("DATA")
            text = letter(ALIAS, f"Number {number}", body="A line of text.\r\n" * 120, sender=SENDER)
            begun = time.perf_counter()
            client.send(f"{text}.\r\n".encode())  # at once, so that no part waits for an acknowledgement
            code, words = client.getreply()
            times.append(time.perf_counter() - begun)
            assert code == 250, words
    return times


if __name__ == "__main__":
    main()
