"""Reports are read in a child process; what costs too much fails alone."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.reports.model import DmarcReport
from mailkeep.mail.reports.reader import REPORT_LIMITS, ReportReader
from tests.support.reports import Dmarc, Record


async def test_a_report_that_takes_too_much_is_refused_and_the_next_one_is_read() -> None:
    million = gzip.compress(Dmarc([Record()] * 60_000).xml())
    reader = ReportReader(None, replace(REPORT_LIMITS, cpu_seconds=1, seconds=60.0))
    try:
        with pytest.raises(UnparsableMessage, match="too much time or memory"):
            await reader.read(lambda: [million])
        report = await reader.read(lambda: [Dmarc().xml()])
    finally:
        await reader.close()
    assert isinstance(report, DmarcReport)


async def test_reasons_come_from_the_child() -> None:
    reader = ReportReader(None, replace(REPORT_LIMITS, seconds=60.0))
    try:
        with pytest.raises(UnparsableMessage, match="has a DTD"):
            await reader.read(lambda: [b"<!DOCTYPE f><feedback/>"])
        (pid,) = reader.pids
        assert (await reader.read(lambda: [Dmarc().xml()])).domain == "example.test"
        assert reader.pids == [pid]
    finally:
        await reader.close()
