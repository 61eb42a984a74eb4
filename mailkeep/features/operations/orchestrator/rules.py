"""Which operations are possible."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from mailkeep.core.clock import iso
from mailkeep.core.errors import Conflict, NotFound
from mailkeep.features.operations.orchestrator.model import (
    Adoption,
    ApplyRefusal,
    ApplyRequest,
    ConfigurationPlan,
    Operation,
    PlannedAction,
    ServiceAction,
)

DATABASE = "database"
OWN_PROCESS = "mailkeep"
"""The embedded profile's one process."""
_NEEDED_BY_API = (DATABASE, OWN_PROCESS, "prefork", "node", "api")
_RELOADABLE = ("rspamd", "dovecot", "postfix", "nginx")
_ALWAYS_RUNNING = (DATABASE, OWN_PROCESS)
_ENDS = {
    "dovecot": "IMAP, POP3 and ManageSieve sessions end.",
    "postfix": "SMTP sessions end.",
    "nginx": "Requests and event streams over HTTPS end.",
    "prefork": "All of Mailkeep's own processes are started again.",
}
"""What ends when a service stops."""
_WITHOUT = {
    "unbound": "Mail to other servers waits in the queue.",
    "redis": "The spam filter works without its statistics.",
    "clamd": "Incoming mail is accepted without a scan for viruses, or waits at the sending servers "
    "(filter.antivirus_on_failure).",
    "php-fpm": "The webmail does not answer.",
    "webmail": "The webmail can't reach mailboxes.",
    "freshclam": "Virus signatures are not updated.",
    "rspamd": "Incoming mail waits at the sending servers, and mail programs get a temporary error when they send.",
    "dovecot": "Mail programs can't sign in, and incoming mail waits in the queue.",
    "postfix": "Mail is neither received nor delivered. Other servers try again.",
    "nginx": "The API and the dashboard do not answer over HTTPS.",
    "prefork": "The dashboard does not answer.",
    "api": "The API and the dashboard do not answer.",
    "node": "The queue and the services can't be seen or changed.",
    "worker": "Webhooks wait.",
    "lmtp": "Incoming mail waits in the queue.",
    "logs": "The history shows delivery outcomes later.",
    "policy": "Mail programs and other servers are asked to try again later.",
    "milter": "Mail programs get a temporary error when they send.",
    "relay": "Mail for relays waits in the queue.",
    "reinjection": "Forwards and replies of Sieve scripts wait.",
    "sendmail": "Programs on this machine can't send with the sendmail command.",
    "keys": "Outgoing mail waits, because it can't be signed.",
    "usage": "The shown mailbox usage and last logins may be out of date.",
}
"""What users notice while a service does not run."""
_RELOADS = {
    "postfix": "Deliveries that are under way are tried again.",
    "dovecot": "New sessions use the new configuration.",
    "rspamd": "New mail is checked with the new configuration.",
    "nginx": "New connections use the new configuration.",
}
_UNTIL = {
    "stop": "This lasts until the service is started again, or until the next start of Mailkeep.",
    "restart": "This lasts a few seconds.",
}


PLAN_LIFETIME = timedelta(minutes=15)
_PLAN_STALE = "The configuration has changed since this plan was made. Look at the new plan."
_CHECK_FAILED = "A daemon's own check rejects the new configuration. Nothing was changed."


def identify_plan(digest: str, expires_at: datetime) -> str:
    """The ID of a plan: a digest of what it is made from, and when it expires, in milliseconds since 1970."""
    return f"{digest}-{int(expires_at.timestamp() * 1000)}"


def _read_plan_id(plan_id: str) -> tuple[str, datetime | None]:
    """The digest in the ID of a plan, and when the plan expires; None: not an ID."""
    digest, _, milliseconds = plan_id.partition("-")
    if not milliseconds.isascii() or not milliseconds.isdigit() or len(milliseconds) > 13:
        return digest, None
    return digest, datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def refuse(plan: ConfigurationPlan, request: ApplyRequest, at: datetime) -> ApplyRefusal | None:
    """Why a plan can't be applied as requested; None if it can. `plan` is as of `at`."""
    if refusal := refuse_stale(plan, request, at):
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


def refuse_stale(plan: ConfigurationPlan, request: ApplyRequest, at: datetime) -> ApplyRefusal | None:
    """Why this is not the plan of the request, or not of these edits by hand, or the request's has expired; None if it
    is.
    """
    digest, expires_at = _read_plan_id(request.plan_id)
    if expires_at is None or digest != _read_plan_id(plan.id)[0]:
        return ApplyRefusal("plan_stale", _PLAN_STALE, plan)
    if at >= expires_at:
        text = (
            f"This plan expired at {iso(expires_at)}, 15 minutes after it was made. Make a new plan and apply that one."
        )
        return ApplyRefusal("plan_stale", text, plan)
    edited = {f"{file.service}/{file.path}" for file in plan.files if file.change == "drifted"}
    if unknown := sorted({*request.overwrite_drift, *request.adopt_drift} - edited):
        text = (
            f"Not edited by hand: {', '.join(unknown)}. A file is named as service/path, such as postfix/main.cf; "
            f"edited by hand: {', '.join(sorted(edited)) or 'none'}."
        )
        return ApplyRefusal("plan_stale", text, plan)
    return None


def refuse_confirmation(running: Operation | None) -> Conflict:
    """Why the running operation was not confirmed."""
    if not (running and running.awaited_until and running.confirm_url):
        return Conflict("No operation waits for a confirmation.", reason="nothing_to_confirm")
    text = "The HTTPS listener changes: confirm it over the new one, to show that it can be reached. "
    text += f"Sign in at {running.confirm_url}, or send this request there."
    return Conflict(text, reason="other_listener", url=running.confirm_url)


def refuse_adoption(adoptions: Mapping[str, Adoption]) -> ApplyRefusal | None:
    """Why edits by hand (by `service/path`) can't be adopted; None if they can."""
    refused = [f"{name}: {reason}" for name, adoption in adoptions.items() for reason in adoption.refused]
    if not refused:
        return None
    text = f"These edits can't be adopted, and nothing was changed: {'; '.join(refused)}."
    return ApplyRefusal("not_adoptable", text, lines=refused)


def refuse_embedded(plan: ConfigurationPlan, request: ApplyRequest, at: datetime) -> ApplyRefusal | None:
    """Why a plan can't be applied in the embedded profile, where settings wait for the next start."""
    if refusal := refuse_stale(plan, request, at):
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


def describe_consequence(service: str, action: ServiceAction) -> str:
    """What users notice of an action, in sentences."""
    if action == "start":
        return "Users notice only that it works again."
    if action == "reload":
        return _RELOADS.get(service, "It reads its configuration again.")
    without = _WITHOUT.get(service, "What this service does is not available.")
    return " ".join(filter(None, (_ENDS.get(service), without, _UNTIL[action])))
