"""Report problems."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.alerts import rules, store
from mailkeep.features.record.alerts.model import Alert, AlertProblem, Area, Change
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert


async def report(
    conn: Conn,
    at: datetime,
    area: Area,
    problems: Sequence[AlertProblem],
    *,
    kinds: Collection[str],
    subjects: Collection[str] | None = None,
) -> None:
    """Compare the problems seen now with the alerts that have not ended, and report what has changed.

    `kinds` and `subjects` (None: all) say what was looked at: an alert about these without a problem is in order. Run
    it in a transaction, as the last thing: it lets others that report in this area wait.
    """
    await store.lock(conn, area)
    seen = rules.most_severe(problems)
    current = {(each.kind, each.subject): each for each in await store.list_unresolved(conn, area, kinds, subjects)}
    for key in sorted(seen.keys() | current.keys()):
        alert, problem = current.get(key), seen.get(key)
        if alert is None:
            assert problem is not None
            step = rules.open_alert(uuid7(at), area, problem, at)
        elif problem is None:
            step = rules.miss(alert, at)
        else:
            step = rules.see_again(alert, problem, at)
        await store.save(conn, step.alert)
        if step.change:
            await _tell(conn, at, step.alert, step.change)


async def _tell(conn: Conn, at: datetime, alert: Alert, change: Change) -> None:
    name = f"{alert.kind}_recovered" if change == "resolved" else alert.kind
    payload = SystemAlert(alert=name, alert_id=str(alert.id), about=alert.subject, reason=alert.reason)
    await events.emit(conn, at, Event(alert.domain_id, None, payload))
