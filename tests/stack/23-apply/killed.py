"""Applies a changed spam score in this process, which is killed at a failpoint: `killed.py DATA_DIR FAILPOINT`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from mailkeep.core import failpoint
from tests.stack.applying import apply_settings


def main() -> None:
    data_dir, name = Path(sys.argv[1]), sys.argv[2]

    def reach(reached: str) -> None:
        if reached == name:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoint.reach = reach
    asyncio.run(apply_settings(data_dir, {"filter.spam_score": 4.25}, watch_seconds=1))


if __name__ == "__main__":
    main()
