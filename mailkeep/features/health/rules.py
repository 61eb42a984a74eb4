"""What the parts add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mailkeep.features.health.model import Check, Health, Status

_LEAST_FREE = 0.05
_LEAST_FREE_BYTES = 64 << 20


def overall(checks: Sequence[Check]) -> Health:
    """Down where a part without which nothing goes is down, degraded where any part is not ok."""
    worst: Status = "ok"
    for check in checks:
        if check.status == "down":
            worst = "down"
        elif check.status == "degraded" and worst == "ok":
            worst = "degraded"
    return Health(worst, checks)


def under_supervision(running: Mapping[str, bool]) -> list[Check]:
    """A part that does not run is being started again: what needs it waits."""
    return [Check(name, "ok" if up else "degraded") for name, up in sorted(running.items())]


def disk(free: int, total: int) -> Status:
    """Degraded with less than 5 % free, down with less than 64 MiB: then no mail can be taken."""
    if free < _LEAST_FREE_BYTES:
        return "down"
    return "degraded" if free < total * _LEAST_FREE else "ok"
