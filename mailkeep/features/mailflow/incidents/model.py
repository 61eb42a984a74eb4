"""Incidents, their actions and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta

from mailkeep.features.record.alerts.model import Alert, AlertChange
from mailkeep.features.record.events.model import EventPayload, Kind

SubjectType = Literal["mailbox", "api_key", "admin"]
IncidentAction = Literal[
    "suspend",
    "disable_sign_in",
    "disable_keys",
    "disable_app_passwords",
    "block_app_passwords",
    "disable_forwards",
    "disable_sieve",
    "end_sessions",
    "hold_queue",
    "delete_queue",
]
"""In the order in which they are carried out: what lets mail in or out is closed first."""

ActionResult = Literal["pending", "done", "unchanged", "failed"]
"""`pending`: not carried out yet; `unchanged`: it was so before."""

UndoResult = Literal["restored", "unchanged", "changed_since", "not_restorable", "failed"]


@dataclass(frozen=True, slots=True)
class NewIncident:
    """An incident to open. The actions are in their order, each once."""

    subject_type: SubjectType
    subject_id: UUID
    actions: Sequence[IncidentAction]
    note: str


@dataclass(frozen=True, slots=True)
class IncidentSubject:
    """What an incident is about: its address, name or email, and the domain of a mailbox."""

    label: str
    domain_id: UUID | None
    domain_name: str | None


@dataclass(frozen=True, slots=True)
class ActionState:
    """An action, its result, and that of its undo. `affected`: how many objects (see the action); `error`: code,
    message and details of its refusal, or of that of its undo.
    """

    action: IncidentAction
    result: ActionResult
    affected: int = 0
    error: Mapping[str, Any] | None = None
    undo: UndoResult | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident. `subject` is the address, name or email that the subject had then; ranks are of those who opened
    and undid it.
    """

    id: UUID
    domain_id: UUID | None
    domain_name: str | None
    subject_type: SubjectType
    subject_id: UUID
    subject: str
    note: str
    by_label: str
    by_rank: int
    created_at: datetime
    undone_at: datetime | None
    undone_by: str | None
    undone_rank: int | None
    actions: tuple[ActionState, ...] = ()


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """Filters of the list; `domains` are those that the caller may see, None for all."""

    domains: list[UUID] | None
    domain_id: UUID | None = None
    subject_id: UUID | None = None
    state: Literal["open", "undone"] | None = None


@dataclass(frozen=True, slots=True)
class AlertResolution:
    """How to resolve an alert about abuse: what to do about the mailbox that it is about."""

    change: AlertChange
    unsuspend: bool
    revoke_app_passwords: bool
    purge_queue: bool

    @property
    def acts(self) -> bool:
        """Whether anything is to be done about the sender."""
        return self.unsuspend or self.revoke_app_passwords or self.purge_queue


@dataclass(frozen=True, slots=True)
class ResolvedAlert:
    """A resolved alert, and what was done about the sender: how many app passwords were revoked, and messages deleted
    from the queue.
    """

    alert: Alert
    unsuspended: bool
    revoked_app_passwords: int
    deleted_messages: int


class SystemIncident(EventPayload, frozen=True, kw_only=True):
    """An administrator opened an incident about a mailbox, an API key or an account, or has undone one."""

    kind: ClassVar[Kind] = "system.incident"
    example: ClassVar[Mapping[str, Any]] = {
        "incident_id": "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37",
        "state": "open",
        "subject_type": "mailbox",
        "subject": "shop@example.com",
        "actions": ["suspend", "end_sessions"],
        "note": "compromised password",
    }

    incident_id: Annotated[str, Meta(description="GET /abuse/incidents/{id} has the results.")]
    state: Annotated[str, Meta(description="`open` or `undone`.")]
    subject_type: Annotated[str, Meta(description="`mailbox`, `api_key` or `admin`.")]
    subject: Annotated[str, Meta(description="The address of the mailbox, name of the key, or email of the account.")]
    actions: Annotated[list[str], Meta(description="The actions that were requested.")]
    note: Annotated[str, Meta(description="The note of whoever opened it.")]
