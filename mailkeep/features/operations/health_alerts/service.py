"""Report the health as alerts."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.features.operations.health import service as health
from mailkeep.features.operations.health_alerts import rules
from mailkeep.features.record.alerts import service as alerts


async def report(app: App) -> None:
    """Store the state of each component, and compare it with the alerts about it. UNAVAILABLE, OSError.

    Only a process that sees the daemons does this; `mailkeep worker` on another machine does not.
    """
    components = await health.record(app)
    kinds, problems = rules.find_problems(components, app.clock())
    async with app.db.tx() as conn:
        await alerts.report(conn, app.clock(), "health", problems, kinds=kinds)
