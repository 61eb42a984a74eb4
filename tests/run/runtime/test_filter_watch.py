"""What is reported about the virus scanner, from what clamd says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mailkeep.mail.daemons import clamd
from mailkeep.run.runtime.filter_watch import judge_signatures
from mailkeep.settings import no_sources


@pytest.mark.parametrize(
    "version, mirror, problem",
    [
        ("ClamAV 1.4.6/27456/Mon Nov 16 12:00:00 2026", "database.clamav.net", None),
        ("ClamAV 1.4.6/27456/Sun Nov 15 12:00:00 2026", "database.clamav.net", "are 7 days old"),
        ("ClamAV 1.4.6/27456/Sun Nov  1 12:00:00 2026", "", None),
        ("ClamAV 1.4.6", "", None),
        ("ClamAV 1.4.6", "database.clamav.net", "no downloaded signatures yet"),
    ],
)
def test_signatures_are_judged_by_their_age(version: str, mirror: str, problem: str | None):
    settings = no_sources().with_stored({"filter.antivirus_mirror": mirror}).settings
    at = datetime(2026, 11, 22, 13, tzinfo=UTC)
    found = judge_signatures(clamd.parse_version(version), settings, at)
    assert (found is None) if problem is None else (problem in (found or ""))


def test_an_unknown_version_of_the_scanner_is_an_error():
    with pytest.raises(ValueError, match="not a version"):
        clamd.parse_version("UNKNOWN COMMAND")
