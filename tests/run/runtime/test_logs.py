"""The log: one level for ours and the libraries' lines."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.instance import ROOT

SAY = """
import logging, sys
from mailkeep.run.runtime import logs
if sys.argv[2] == "before":
    import psycopg
logs.configure(sys.argv[1])
if sys.argv[2] == "after":
    import psycopg
for level in ("info", "warning", "error"):
    getattr(logging.getLogger("psycopg"), level)("%s", level)
"""


@pytest.mark.parametrize("imported", ["before", "after"])
@pytest.mark.parametrize(
    "level, expected", [("debug", ["warning", "error"]), ("warning", ["warning", "error"]), ("error", ["error"])]
)
def test_the_drivers_log_level_follows_the_setting(level: str, expected: list[str], imported: str):
    done = subprocess.run(
        [sys.executable, "-c", SAY, level, imported], capture_output=True, text=True, cwd=ROOT, timeout=90, check=True
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in lines] == expected
    assert {line["logger"] for line in lines} == {"psycopg"}
