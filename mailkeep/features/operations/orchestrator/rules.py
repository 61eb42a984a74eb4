"""Which operations are possible."""

from __future__ import annotations

from collections.abc import Collection

from mailkeep.core.errors import Conflict, NotFound
from mailkeep.features.operations.orchestrator.model import ServiceAction

DATABASE = "database"
OWN_PROCESS = "mailkeep"
"""The embedded profile's one process."""
_NEEDED_BY_API = (DATABASE, OWN_PROCESS, "prefork", "node", "api")
_RELOADABLE = ("rspamd", "dovecot", "postfix")
_ALWAYS_RUNNING = (DATABASE, OWN_PROCESS)


def list_actions(service: str) -> list[ServiceAction]:
    """What can be done with a service."""
    if service in _ALWAYS_RUNNING:
        return []
    actions: list[ServiceAction] = ["restart"] if service in _NEEDED_BY_API else ["start", "stop", "restart"]
    return [*actions, "reload"] if service in _RELOADABLE else actions


def require_possible(service: str, action: ServiceAction, services: Collection[str]) -> None:
    """NOT_FOUND without such a service; CONFLICT `needed_by_api` if the API would not answer any more, or
    `not_supported`.
    """
    if service not in services:
        raise NotFound
    if action in list_actions(service):
        return
    if action == "stop":
        text = f"{service} can't be stopped here, because the API needs it. Stop the whole instance instead."
        raise Conflict(text, reason="needed_by_api")
    raise Conflict(f"{service} has no {action}.", reason="not_supported")
