"""The log: JSON lines on standard error, also for libraries."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

import structlog

from mailkeep.db.logged_process import is_rotated

_CHECK_SECONDS = 2.0

_SHARED: list[structlog.typing.Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
]


def configure(level: str) -> None:
    """Log entries of `level` (debug, info, warning, error) and above."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.getLogger().handlers[:] = [handler]
    set_level(level)


def set_level(level: str) -> None:
    """Log entries of `level` and above from now on."""
    root = logging.getLogger()
    root.setLevel(level.upper())
    # During a database outage the pool logs each attempt to connect as WARNING; Mailkeep logs the outage once.
    for name in ("psycopg.pool", "asyncio", "uvicorn"):
        logging.getLogger(name).setLevel(max(logging.ERROR, root.level))
    # psycopg sets its logger's level to WARNING, which would override a higher level here.
    logging.getLogger("psycopg").setLevel(max(logging.WARNING, root.level))


async def keep_open(path: Path) -> None:
    """Redirect standard output and error to the new file at `path` after each rotation, until cancelled."""
    while True:
        await asyncio.sleep(_CHECK_SECONDS)
        with suppress(OSError):  # the disk is full, or the file is being replaced: the old file stays open
            if is_rotated(path, sys.stderr.fileno()):
                descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
                os.dup2(descriptor, sys.stdout.fileno())
                os.dup2(descriptor, sys.stderr.fileno())
                os.close(descriptor)
