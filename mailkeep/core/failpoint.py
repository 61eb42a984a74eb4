"""Named places on the path of a message, at which the tests end the process to see what is kept.

The names stand where something has just become true: `send.attempt_written`, `submit.dot_sent`. Reaching one does
nothing. No setting, environment variable, signal or request changes that; only the tests' own program
(`tests/crash/program.py`) puts another function in the place of `reach` before it starts the product.
"""

from __future__ import annotations


def reach(name: str) -> None:
    """Say that the place `name` is reached. Call it as `failpoint.reach(…)`, so that it can be replaced."""
