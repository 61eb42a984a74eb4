"""Report the health as alerts."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.features.operations.health import service as health
from mailkeep.features.operations.health_alerts import rules
from mailkeep.features.record.alerts import service as alerts


async def report(app: App) -> None:
    """Compare the components with the alerts about them. Nothing is done by a process that does not see the daemons, as
    `mailkeep worker` in the full profile.
    """
    if app.settings.is_full_profile and (app.running_services is None or app.node_report is None):
        return
    components = await health.details(app)
    kinds, problems = rules.find_problems(components, app.clock())
    async with app.db.tx() as conn:
        await alerts.report(conn, app.clock(), "health", problems, kinds=kinds)
