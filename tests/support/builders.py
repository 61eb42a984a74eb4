"""Domains and mailboxes created over HTTP, and the audit log as tests read it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mailkeep.features.directory.routing import service as routing
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client

NOWHERE = "01890000-0000-7000-8000-000000000000"
DOMAIN_ID = str(DOMAIN_IDS[EXAMPLE])


async def create_domain(api: Api, name: str, **more: Any) -> str:
    """The id of a new domain."""
    answer = await api.sue.post("/domains", {"name": name, **more})
    assert answer.status == 201, answer.json
    return answer.data["id"]


async def create_mailbox(api: Api, local_part: str, **more: Any) -> dict[str, Any]:
    """The response for a new mailbox (in example.test)."""
    body = {"domain_id": DOMAIN_ID, "local_part": local_part, "password_hash": "{SHA}x"}
    answer = await api.sue.post("/mailboxes", body | more)
    assert answer.status == 201, answer.json
    return answer.data


async def all_callers(api: Api) -> dict[str, Client]:
    """All test users and keys by name, and `stray`: a key of Adam's that is scoped to other.test."""
    stray, _ = await api.key(api.adam, scoped_domain_ids=[DOMAIN_IDS[OTHER]])
    return api.callers | {"stray": stray}


async def list_audit_entries(api: Api) -> list[tuple[str, str, dict[str, Any]]]:
    """Action, outcome and details of the audit log, oldest first."""
    rows = await api.sql("SELECT action, outcome, details FROM audit_entries ORDER BY id")
    return [(row["action"], row["outcome"], row["details"]) for row in rows]


async def require_app_passwords(api: Api, value: bool) -> None:
    """Set `auth.require_app_passwords`."""
    settings = api.app.settings
    api.app.settings = replace(settings, auth=replace(settings.auth, require_app_passwords=value))
    async with api.app.db.tx() as conn:
        await routing.apply_settings(conn, api.app.settings, api.clock())
