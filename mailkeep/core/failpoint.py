"""Failpoints: named points in the processing of a message at which crash tests kill the process.

A name says what has just happened: `send.attempt_written`, `submit.dot_sent`. In production a failpoint does nothing,
and no setting, environment variable, signal or request changes that. Only the crash tests' program
(`tests/crash/program.py`) replaces `reach`.
"""

from __future__ import annotations


def reach(name: str) -> None:
    """Mark the failpoint `name`. Call it as `failpoint.reach(…)`, so that tests can replace it."""
