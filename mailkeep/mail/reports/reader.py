"""Reads reports in a child process with limits on CPU time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import msgspec

from mailkeep.core.shared_memory import SharedMemory
from mailkeep.mail.message.parse_process import ParseLimits, Parser
from mailkeep.mail.message.parse_worker import WHOLE
from mailkeep.mail.reports.model import Report

REPORT_LIMITS = ParseLimits(
    cpu_seconds=20, seconds=60.0, wait_seconds=60.0, memory=1 << 30, content=64 << 20, children=1
)


class ReportReader(Parser):
    """Reads reports in a child process, one at a time. Starts nothing before the first report; `close` ends the
    child.
    """

    worker = "mailkeep.mail.reports.read"

    def __init__(
        self, folder: Path | None = None, limits: ParseLimits = REPORT_LIMITS, memory: SharedMemory | None = None
    ) -> None:
        super().__init__(folder, limits, memory)

    async def read(self, content: Callable[[], Iterable[bytes]]) -> Report:
        """Read the report that `content` opens. Raises UnparsableMessage (also if it takes too long) and OSError."""
        return await self.run_limited(partial(self._read, content))

    def _read(self, content: Callable[[], Iterable[bytes]]) -> Report:
        _, text = self.ask(content, WHOLE, lambda child, length, deadline: child.read(length, deadline))
        return msgspec.json.decode(text, type=Report)
