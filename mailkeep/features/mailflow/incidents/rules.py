"""Which actions apply to what, and who may act on whom."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import Conflict, FieldError, Forbidden, InvalidField, Refusal
from mailkeep.core.principal import Principal, Role
from mailkeep.features.mailflow.incidents.model import (
    ActionState,
    Incident,
    IncidentAction,
    SubjectType,
    SystemIncident,
    UndoResult,
)
from mailkeep.features.mailflow.queue.model import SenderQueue
from mailkeep.features.record.alerts.model import Alert
from mailkeep.features.record.events.model import Event

QUEUE_ACTIONS: frozenset[IncidentAction] = frozenset({"hold_queue", "delete_queue"})
APPLICABLE: Mapping[SubjectType, frozenset[IncidentAction]] = {
    "mailbox": frozenset(get_args(IncidentAction)) - {"disable_keys"},
    "api_key": frozenset[IncidentAction]({"disable_keys", "end_sessions"}) | QUEUE_ACTIONS,
    "admin": frozenset[IncidentAction]({"suspend", "disable_keys", "end_sessions"}) | QUEUE_ACTIONS,
}
_NOT_RESTORABLE: frozenset[IncidentAction] = frozenset({"end_sessions", "delete_queue"})


def order_actions(subject_type: SubjectType, requested: Sequence[IncidentAction]) -> list[IncidentAction]:
    """The requested actions in the order in which they are carried out, each once; INVALID_FIELD names those that do
    not apply to the subject.
    """
    faults: list[FieldError] = [
        {"field": f"actions[{index}]", "reason": f"{action} does not apply to a subject of type {subject_type}"}
        for index, action in enumerate(requested)
        if action not in APPLICABLE[subject_type]
    ]
    if faults:
        raise InvalidField(faults)
    return [action for action in get_args(IncidentAction) if action in requested]


def refuse_account(who: Principal, owner: Role, *, is_own: bool, is_key: bool) -> None:
    """FORBIDDEN to act on an account, or with `is_key` on a key of it, by the ranks."""
    if is_own and not is_key:
        raise Forbidden("An incident can't be about your own account.", reason="own_account")
    if who.role is not Role.SUPER_ADMIN and owner.rank >= who.rank and not is_own:
        raise Forbidden("The account has your rank or a higher one.", reason="higher_rank")


def refuse_resolved(alert: Alert) -> None:
    """CONFLICT `resolved` if the alert has ended."""
    if alert.state == "resolved":
        raise Conflict("The alert is resolved.", reason="resolved")


def find_address(subject: str) -> Address | None:
    """The address that an alert is about; None if it is about something else, such as a domain."""
    try:
        return parse_address(subject)
    except AddressError:
        return None


def refuse_lower_rank(who: Principal, incident: Incident) -> None:
    """FORBIDDEN if somebody of higher rank opened the incident."""
    if who.rank < incident.by_rank:
        raise Forbidden("An administrator of higher rank opened the incident.", reason="higher_rank")


def refuse_undone(incident: Incident) -> None:
    """CONFLICT `undone` if the incident is undone."""
    if incident.undone_at is not None:
        raise Conflict("The incident is undone.", reason="undone")


def refuse_retry(incident: Incident) -> None:
    """CONFLICT if the incident is undone, or its undo has begun."""
    refuse_undone(incident)
    if any(each.undo is not None for each in incident.actions):
        raise Conflict("The undo of the incident has begun: finish it.", reason="undo_begun")


def find_state(incident: Incident, action: IncidentAction) -> ActionState:
    """The state of an action of the incident."""
    return next(each for each in incident.actions if each.action == action)


def is_to_be_done(state: ActionState) -> bool:
    """Whether an action is still to be carried out."""
    return state.result in ("pending", "failed")


def is_to_be_undone(state: ActionState) -> bool:
    """Whether the undo of an action is still to be carried out."""
    return state.undo in (None, "failed")


def undo_result(state: ActionState, ended: int, *, is_restored: bool) -> UndoResult:
    """The result of an undo that ended `ended` restrictions. Not `is_restored`: somebody has changed it since."""
    if state.action in _NOT_RESTORABLE:
        return "not_restorable" if state.result == "done" else "unchanged"
    if ended == 0:
        return "changed_since" if state.result == "done" and state.affected else "unchanged"
    return "restored" if is_restored else "changed_since"


def fail(state: ActionState, refusal: Refusal) -> ActionState:
    """The action after a refusal."""
    return replace(state, result="failed", error=_error(refusal))


def fail_undo(state: ActionState, refusal: Refusal) -> ActionState:
    """The action after a refusal of its undo."""
    return replace(state, undo="failed", error=_error(refusal))


def _error(refusal: Refusal) -> dict[str, Any]:
    return {"code": refusal.code, "message": refusal.message, "details": refusal.details}


def incident_event(incident: Incident, *, is_undone: bool) -> Event:
    """The event of an incident that is opened or undone."""
    payload = SystemIncident(
        incident_id=str(incident.id),
        state="undone" if is_undone else "open",
        subject_type=incident.subject_type,
        subject=incident.subject,
        actions=[each.action for each in incident.actions],
        note=incident.note,
    )
    return Event(incident.domain_id, None, payload)


def keep_messages(group: SenderQueue, queue_ids: Collection[str]) -> SenderQueue:
    """Those of the messages that have one of these queue IDs."""
    return SenderQueue(
        group.sender,
        [each for each in group.waiting if each in queue_ids],
        [each for each in group.on_hold if each in queue_ids],
    )
