"""`make prove-dkim-rotation`: DKIM keys rotate again and again on a running full profile under mail load.

Every message is verified when it arrives, with the records that DNS has then. Records are published as an administrator
would: those of keys that are not retired, and no others.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time

from tests.prove.checks import Checks
from tests.stack import harness
from tests.stack.harness import Stack
from tests.stack.rotating import Rotating, set_rotation
from tests.support.scratch import new_directory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rotations", type=int, default=12)
    rotations: int = parser.parse_args().rotations
    folder = new_directory("mailkeep-rotation-", 0o755, programs=True)
    checks = Checks()
    try:
        harness.start(folder)
        _prove(checks, Stack(folder), rotations)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


def _prove(checks: Checks, stack: Stack, rotations: int) -> None:
    rotating = Rotating(stack, "rotated.test")
    rotating.set_up()
    set_rotation(stack, 1)
    started = time.monotonic()
    with rotating.load():
        for number in range(rotations):
            rotating.rotate()
            accepted, verified = len(rotating.sent), len(rotating.verified)
            print(f"  rotation {number + 1:2}: {accepted:5} messages accepted, {verified:5} verified", flush=True)
    seconds = time.monotonic() - started
    deferred = sum(recipient.startswith("defer+") for recipient in rotating.sent)
    print(f"  {len(rotating.sent)} messages in {seconds:.0f} s, {deferred} of them delivered by a later attempt")
    checks.check("every accepted message arrived", set(rotating.sent) == set(rotating.verified))
    checks.check("no message was refused", not rotating.refused, str(len(rotating.refused)))
    checks.check(
        "every message has an RSA and an Ed25519 signature, and both verify",
        not rotating.wrong,
        "; ".join(rotating.wrong[:5]),
    )
    checks.check("all keys have signed", len(rotating.selectors) == 2 * (rotations + 1), str(len(rotating.selectors)))
    stages = sorted(key["stage"] for key in rotating.list_keys())
    checks.check("replaced keys are retired", stages == ["active"] * 2 + ["retired"] * 2 * rotations)


if __name__ == "__main__":
    sys.exit(main())
