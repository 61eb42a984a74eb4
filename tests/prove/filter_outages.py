"""`make prove-filter-outages`: each part of the filter killed and stopped under mail.

Rspamd, the processes `keys`, `policy` and `learner`, clamd and the DNS server are each killed, killed while nobody
restarts them, and stopped (SIGSTOP). A stream brings mail of several kinds, tries again after temporary refusals, and
moves mail to Junk. It takes about 20 minutes and needs root.
ARGS="--parts keys dns --faults killed --seconds 15 --pace 2.5 --back-within 30".
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import get_args

from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.outage_mail import KINDS
from tests.stack.outages import PARTS, Fault, Report, World, start

FAULTS = get_args(Fault)
# Nobody restarts the DNS server here, the learner is restarted after seconds, and clamd only after three minutes.
_LEFT_OUT = {("dns", "killed"), *((part, "stopped for good") for part in ("learner", "clamd", "dns"))}
_DESIGNED = {
    "rspamd": "all mail waits at its senders (4xx)",
    "keys": "accepted; spam is not refused but in Junk, and not forwarded; forwarded mail is not sealed",
    "policy": "all mail waits at its senders (4xx)",
    "learner": "moves to Junk succeed, and teach nothing",
    "clamd": "mail waits at its senders (4xx; filter.antivirus_on_failure = defer)",
    "dns": "accepted without the scores of DNS lists; an author who can't be proved waits (4xx) if a list decides",
}


def _print_report(report: Report, checks: Checks, back_within: float) -> None:
    away = f", away for {report.away:.0f} s" if report.fault != "killed" else " and restarted by the supervisor"
    print(f"\n{report.part} {report.fault}{away}, load {os.getloadavg()[0]:.1f}")
    print(f"        designed: {_DESIGNED[report.part]}")
    counts = Counter[str]()
    for text, times in report.replies.items():
        counts[text.rpartition(" ")[2]] += times
    if report.replies:
        print(
            f"        replies meanwhile: {', '.join(f'{code} {times} times' for code, times in sorted(counts.items()))}"
        )
        for code in sorted(counts):
            kinds = sorted({text.rpartition(":")[0] for text in report.replies if text.endswith(f" {code}")})
            print(f"          {code}: {', '.join(kinds)}")
    if report.waiting:
        print(f"        {report.waiting} deliveries that were begun meanwhile got their reply afterwards")
    if report.longest_move:
        print(f"        the longest move took {report.longest_move:.1f} s")
    if report.restarted:
        print("        the supervisor ended the process that hung, and started another")
    if report.alert is not None:
        recovered = f"{report.ok:.0f} s after the return" if report.ok is not None else "not"
        component = f", component {report.component}" if report.component else ""
        print(f"        alert after {report.alert:.0f} s{component}; recovered {recovered}")
    times = f"{report.back:.1f} s" + (f", all copies in place {report.settled:.1f} s later" if report.settled else "")
    is_back = report.back <= back_within and not report.wrong
    checks.check("normal operation after the return", is_back, "; ".join([times, *report.wrong]))
    unexpected = find_unexpected(report)
    checks.check("replies as designed", not unexpected, ", ".join(unexpected))


def find_unexpected(report: Report) -> list[str]:
    """The replies while a part was away that are not as designed."""
    wrong: list[str] = []
    for kind in KINDS:
        codes = {int(text.rpartition(" ")[2]) for text in report.replies
                 if text.startswith(f"{kind.name}: ") and not text.endswith("lost")}  # fmt: skip
        is_refused = "5xx" in kind.normal
        right = 5 if is_refused and report.part not in kind.during else 2
        is_mixed = report.fault == "killed"  # until it is restarted
        for code in codes:
            if code // 100 == 4 and report.part in kind.deferred:
                continue
            if code // 100 == right and (is_mixed or report.part not in kind.deferred):
                continue
            wrong.append(f"{kind.name} {code}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--faults", nargs="+", default=FAULTS, choices=FAULTS)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--pace", type=float, default=2.5)
    parser.add_argument("--back-within", type=float, default=30.0)
    asked = parser.parse_args()
    print(circumstances(f"parts of the filter away; of each of {len(KINDS)} kinds a message every {asked.pace:g} s"))
    folder, checks = Path(tempfile.mkdtemp(prefix="mailkeep-prove-")), Checks()
    folder.chmod(0o755)
    try:
        start(folder)
        world = World(folder, asked.pace, movers=1 + len(PARTS) * len(FAULTS))
        try:
            with world.stream.flowing(), world.movers.moving():
                world.wait_until_normal()
                for part in asked.parts:
                    for fault in asked.faults:
                        if (part, fault) in _LEFT_OUT:
                            continue
                        seconds = 0.5 if fault == "killed" else asked.seconds
                        report = world.inflict(part, fault, seconds, alert=fault != "killed")
                        _print_report(report, checks, asked.back_within)
            print()
            print(f"  {world.stream.ledger}\n  {world.movers.ledger}")
            wrong = world.compare()
            checks.check("every message is where it belongs, once", not wrong)
            for each in wrong:
                print(f"        {each}")
        finally:
            world.close()
    finally:
        harness.stop(folder)
        if not checks.failed:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
