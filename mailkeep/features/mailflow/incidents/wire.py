"""JSON of incidents."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct, structs

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailboxes import rules as mailbox_rules
from mailkeep.features.mailflow.incidents import rules
from mailkeep.features.mailflow.incidents.model import (
    ActionResult,
    AlertResolution,
    Incident,
    IncidentAction,
    IncidentFilter,
    NewIncident,
    ResolvedAlert,
    SubjectType,
    UndoResult,
)
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertChange
from mailkeep.web.fields import Body, Query, Timestamp


class IncidentSubjectBody(Body, frozen=True):
    """What the incident is about, by its ID."""

    type: SubjectType
    id: UUID


class IncidentCreate(Body, frozen=True):
    """What to do at once, and why. The order of `actions` does not matter."""

    subject: IncidentSubjectBody
    actions: Annotated[list[IncidentAction], Meta(max_length=20)]
    note: Annotated[str, Meta(max_length=500)] = ""


class IncidentQuery(Query, frozen=True):
    """Filters of the list; `subject_id` is the ID of a mailbox, key or administrator."""

    domain_id: UUID | None = None
    subject_id: UUID | None = None
    state: Literal["open", "undone"] | None = None


class IncidentSubjectRecord(Struct, frozen=True):
    """What the incident is about; `label` is the address, name or email that it had then."""

    type: SubjectType
    id: UUID
    label: str


class IncidentActionError(Struct, frozen=True):
    """Why an action, or its undo, has failed."""

    code: str
    message: str
    details: dict[str, Any] | None


class IncidentActionRecord(Struct, frozen=True):
    """An action. `result`: `unchanged` if it was so before, `pending` if it was not begun (retry the incident).
    `affected`: the number of keys, app passwords or messages, 1 for others. `undo`: null until the undo;
    `changed_since` if somebody has changed it since, so that it was left as it is.
    """

    action: IncidentAction
    result: ActionResult
    affected: int
    error: IncidentActionError | None
    undo: UndoResult | None


class IncidentRecord(Struct, frozen=True):
    """An incident. `not_restored` are the actions whose effect the undo left: ended sessions, deleted mail, and what
    somebody has changed since. `by` and `undone_by` are names for callers who see all administrators, otherwise roles.
    """

    id: UUID
    domain_id: UUID | None
    subject: IncidentSubjectRecord
    note: str
    by: str
    actions: list[IncidentActionRecord]
    created_at: Timestamp
    undone_at: Timestamp | None
    undone_by: str | None
    not_restored: list[IncidentAction]


class AlertResolutionBody(alerts.AlertNote, frozen=True):
    """How to resolve an alert: lift the suspension of the sender, delete its app passwords, delete its queued mail."""

    unsuspend: bool = False
    revoke_app_passwords: bool = False
    purge_queue: bool = False


class ResolvedAlertResponse(alerts.AlertResponse, frozen=True, kw_only=True):
    """A resolved alert, and what was done about the sender."""

    unsuspended: bool
    revoked_app_passwords: int
    deleted_messages: int


def read_resolution(alert_id: UUID, body: AlertResolutionBody, if_match: IfMatch) -> AlertResolution:
    """How to resolve an alert."""
    change = AlertChange("abuse", alert_id, body.note, if_match)
    return AlertResolution(change, body.unsuspend, body.revoke_app_passwords, body.purge_queue)


def resolved_alert(resolved: ResolvedAlert) -> ResolvedAlertResponse:
    """The JSON of a resolved alert."""
    return ResolvedAlertResponse(
        **structs.asdict(alerts.to_response(resolved.alert)),
        unsuspended=resolved.unsuspended,
        revoked_app_passwords=resolved.revoked_app_passwords,
        deleted_messages=resolved.deleted_messages,
    )


def read_new(body: IncidentCreate) -> NewIncident:
    """The incident to open; INVALID_FIELD for actions that do not apply to the subject."""
    actions = rules.order_actions(body.subject.type, body.actions)
    return NewIncident(body.subject.type, body.subject.id, actions, body.note)


def read_filter(query: IncidentQuery, domains: list[UUID] | None) -> IncidentFilter:
    """The filter of the list, for a caller who may see these domains."""
    return IncidentFilter(domains, query.domain_id, query.subject_id, query.state)


def to_record(incident: Incident, who: Principal) -> IncidentRecord:
    """The JSON of an incident, for this caller."""
    undone_by = incident.undone_by and mailbox_rules.display_suspender(who, incident.undone_by, incident.undone_rank)
    return IncidentRecord(
        id=incident.id,
        domain_id=incident.domain_id,
        subject=IncidentSubjectRecord(incident.subject_type, incident.subject_id, incident.subject),
        note=incident.note,
        by=mailbox_rules.display_suspender(who, incident.by_label, incident.by_rank),
        actions=[
            IncidentActionRecord(
                each.action,
                each.result,
                each.affected,
                None if each.error is None else IncidentActionError(**each.error),
                each.undo,
            )
            for each in incident.actions
        ],
        created_at=iso(incident.created_at),
        undone_at=iso_or_none(incident.undone_at),
        undone_by=undone_by,
        not_restored=[each.action for each in incident.actions if each.undo in ("not_restorable", "changed_since")],
    )
