"""Which components are problems."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from mailkeep.features.operations.health.model import Component
from mailkeep.features.record.alerts.model import AlertProblem

_DEGRADED_AFTER = timedelta(minutes=5)
_DOWN_AFTER = timedelta(minutes=2)


def find_problems(components: Sequence[Component], at: datetime) -> tuple[list[str], list[AlertProblem]]:
    """The kinds of alerts about which something can be said, and the problems. Nothing is said about a component that
    is not in order since a moment ago.
    """
    kinds: list[str] = []
    problems: list[AlertProblem] = []
    for each in components:
        kind, lasted = f"health_{each.name}", at - (each.since or at)
        if each.status in ("ok", "disabled"):
            kinds.append(kind)
        elif lasted >= (_DOWN_AFTER if each.status == "down" else _DEGRADED_AFTER):
            kinds.append(kind)
            severity = "critical" if each.status == "down" else "warning"
            reason = each.advice or f"The component is {each.status}."
            problems.append(AlertProblem(kind, each.name, None, severity, reason))
    return kinds, problems
