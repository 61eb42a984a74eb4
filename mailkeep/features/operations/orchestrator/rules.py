"""Which operations are possible."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mailkeep.core.errors import Conflict, NotFound
from mailkeep.features.operations.orchestrator.model import (
    Adoption,
    ApplyRefusal,
    ApplyRequest,
    ConfigurationPlan,
    PlannedAction,
    ServiceAction,
)

DATABASE = "database"
OWN_PROCESS = "mailkeep"
"""The embedded profile's one process."""
_NEEDED_BY_API = (DATABASE, OWN_PROCESS, "prefork", "node", "api")
_RELOADABLE = ("rspamd", "dovecot", "postfix")
_ALWAYS_RUNNING = (DATABASE, OWN_PROCESS)


_PLAN_STALE = "The configuration has changed since this plan was made. Look at the new plan."
_CHECK_FAILED = "A daemon's own check rejects the new configuration. Nothing was changed."


def refuse(plan: ConfigurationPlan, request: ApplyRequest) -> ApplyRefusal | None:
    """Why a plan can't be applied as requested; None if it can."""
    if refusal := refuse_stale(plan, request):
        return refusal
    if failed := [check for check in plan.checks if not check.ok]:
        return ApplyRefusal("check_failed", _CHECK_FAILED, checks=failed)
    changed = {f"{file.service}/{file.path}" for file in plan.files if file.is_edited_and_changed}
    if undecided := sorted(changed - {*request.overwrite_drift, *request.adopt_drift}):
        text = f"Edited by hand, and the plan changes them too: {', '.join(undecided)}."
        return ApplyRefusal("drifted", text, files=undecided)
    return None


def plan_embedded(pending: Sequence[str]) -> list[PlannedAction]:
    """What the embedded profile's one process must do before these settings take effect."""
    if not pending:
        return []
    return [PlannedAction(OWN_PROCESS, "restart", pending, "The API and the SMTP listener do not answer meanwhile.")]


def refuse_stale(plan: ConfigurationPlan, request: ApplyRequest) -> ApplyRefusal | None:
    """Why this is not the plan of the request, or not of these edits by hand; None if it is."""
    if plan.id != request.plan_id:
        return ApplyRefusal("plan_stale", _PLAN_STALE, plan)
    edited = {f"{file.service}/{file.path}" for file in plan.files if file.change == "drifted"}
    if unknown := sorted({*request.overwrite_drift, *request.adopt_drift} - edited):
        text = (
            f"Not edited by hand: {', '.join(unknown)}. A file is named as service/path, such as postfix/main.cf; "
            f"edited by hand: {', '.join(sorted(edited)) or 'none'}."
        )
        return ApplyRefusal("plan_stale", text, plan)
    return None


def refuse_adoption(adoptions: Mapping[str, Adoption]) -> ApplyRefusal | None:
    """Why edits by hand (by `service/path`) can't be adopted; None if they can."""
    refused = [f"{name}: {reason}" for name, adoption in adoptions.items() for reason in adoption.refused]
    if not refused:
        return None
    text = f"These edits can't be adopted, and nothing was changed: {'; '.join(refused)}."
    return ApplyRefusal("not_adoptable", text, lines=refused)


def refuse_embedded(plan: ConfigurationPlan, request: ApplyRequest) -> ApplyRefusal | None:
    """Why a plan can't be applied in the embedded profile, where settings wait for the next start."""
    if refusal := refuse_stale(plan, request):
        return refusal
    if plan.settings:
        text = (
            f"Restart Mailkeep, then these settings take effect: {', '.join(plan.settings)}. It can't restart itself."
        )
        return ApplyRefusal("restart_required", text)
    return None


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
        raise NotFound(f"There is no service {service}. Services: {', '.join(services)}.")
    if action in list_actions(service):
        return
    if action == "stop":
        text = f"{service} can't be stopped here, because the API needs it. Stop the whole instance instead."
        raise Conflict(text, reason="needed_by_api")
    if service == OWN_PROCESS:
        text = (
            f"Mailkeep can't {action} its one process itself: end it and start it again as you started it, for example "
            "with `mailkeep up` or `systemctl restart mailkeep`."
        )
        raise Conflict(text, reason="not_supported")
    possible = ", ".join(list_actions(service)) or "nothing"
    raise Conflict(f"{service} has no {action}. Possible: {possible}.", reason="not_supported")
