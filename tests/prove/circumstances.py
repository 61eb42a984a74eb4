"""What a proof says of itself: of what, when, on what."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

from mailkeep import __version__
from mailkeep.db.postgres_binaries import find_binaries


def circumstances(what: str) -> str:
    """Two lines for the head of a proof."""
    cores = len(os.sched_getaffinity(0))
    return (
        f"Mailkeep {__version__}: {what}\n"
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {cores} cores, Linux {platform.release()}, "
        f"Python {platform.python_version()}, PostgreSQL {find_binaries().major}"
    )
