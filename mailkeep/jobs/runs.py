"""When each background job of this process last succeeded, for the health."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic


@dataclass(frozen=True, slots=True)
class JobRun:
    """A job that is to run again `every_seconds` after it ended. `succeeded_at`: when it was started, if it has not
    succeeded yet.
    """

    job: str
    every_seconds: float
    succeeded_at: datetime


_runs: dict[str, tuple[float, float]] = {}  # of each job: the seconds between its runs, and when it succeeded


def note(job: str, every_seconds: float) -> None:
    """Note that a job begins to be repeated, or has succeeded."""
    _runs[job] = every_seconds, monotonic()


def list_runs(at: datetime) -> list[JobRun]:
    """The jobs of this process, at this time."""
    now = monotonic()
    return [JobRun(job, every, at - timedelta(seconds=now - then)) for job, (every, then) in sorted(_runs.items())]
