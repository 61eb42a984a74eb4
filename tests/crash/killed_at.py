"""`mailkeep` that is killed at the failpoint that the first argument names: `python -m … NAME COMMAND …`."""

from __future__ import annotations

import os
import signal
import sys

from mailkeep.core import failpoint


def main() -> None:
    name = sys.argv.pop(1)

    def reach(reached: str) -> None:
        if reached == name:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoint.reach = reach
    from mailkeep.run.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
