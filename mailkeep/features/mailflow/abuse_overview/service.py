"""Read the overview of abuse."""

from __future__ import annotations

from uuid import UUID

from mailkeep.app import App
from mailkeep.core.page import PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.access.sign_in_protection import service as sign_in_protection
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse_overview import store
from mailkeep.features.mailflow.abuse_overview.model import AbuseOverview
from mailkeep.features.mailflow.thresholds import service as thresholds
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertFilter

SHOWN = 50
"""The length of each list."""
NEAR = 0.8
"""The share of a limit from which on a sender or domain is near it."""
_LIMITS = ("sender_per_hour", "domain_per_hour", "forward_per_hour")
_SPIKE = "spike"


async def read(app: App, conn: Conn, who: Principal, domain_id: UUID | None) -> AbuseOverview:
    """The overview of what the caller may see, or of one domain. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if domain_id is not None:
        await domains.get(conn, who, "abuse.read", domain_id)
    seen = who.domains() if domain_id is None else [domain_id]
    at = app.clock()
    effective = await thresholds.effective(app, conn, None, "")
    settings = {name: effective[name].value for name in _LIMITS}
    near_limit, top_senders = await store.list_usage(conn, at, seen, settings, NEAR, SHOWN)
    newest = PageRequest(SHOWN, "created_at", "desc", None)
    spikes = await alerts.page(conn, who, AlertFilter("abuse", seen, "unresolved", _SPIKE, domain_id), newest)
    return AbuseOverview(
        suspended=await abuse.list_newest(conn, seen, SHOWN),
        near_limit=near_limit,
        spikes=spikes.rows,
        top_senders=top_senders,
        failures_by_address=await sign_in_protection.list_failures(conn, at, "source", seen, SHOWN),
        failures_by_account=await sign_in_protection.list_failures(conn, at, "account", seen, SHOWN),
    )
