"""A webhook, and the delivery of an event to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.features.directory.dkim_rotation.model import DomainDkimDue
from mailkeep.features.directory.dns_checks.model import DomainDnsFailed, DomainDnsRecovered
from mailkeep.features.directory.mailbox_usage.model import MailboxQuota
from mailkeep.features.mailflow.abuse.model import SystemSuspension
from mailkeep.features.mailflow.incidents.model import SystemIncident
from mailkeep.features.mailflow.receiving.model import MailReceivedFull, MailSpam
from mailkeep.features.record.events.model import (
    EventPayload,
    Kind,
    SystemAlert,
    SystemBackupFailed,
    SystemBackupLate,
    SystemBackupUnverified,
    SystemDrift,
)
from mailkeep.features.record.messages.model import (
    MailBounced,
    MailComplained,
    MailDelivered,
    MailFailed,
    MailReceived,
    MailSent,
    MailSuppressed,
)

State = Literal["pending", "waiting_for_retry", "delivered", "abandoned"]

TIMEOUT_SECONDS = 10.0
"""For a whole attempt: DNS look-up, connection, request and response."""
MAX_ANSWER_BYTES = 16 * 1024
ROTATION_OVERLAP = timedelta(hours=24)
"""How long the previous secret also signs after a rotation."""
MAX_REPLAYS = 10_000
TEST_KIND = "system.test"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A subscription to events. `domain_id` None: of all domains.

    `rotating_until`: until then the previous secret also signs. `failing_since`: no attempt has succeeded since;
    `disabled_at`: when it was disabled because of that.
    """

    id: UUID
    url: str
    events: tuple[str, ...]
    domain_id: UUID | None
    domain_name: str | None
    active: bool
    rotating_until: datetime | None
    failing_since: datetime | None
    disabled_at: datetime | None
    created_by: UUID
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook to create."""

    url: str
    events: Sequence[str]
    domain_id: UUID | None


@dataclass(frozen=True, slots=True)
class WebhookChanges:
    """Changes to a webhook; None leaves a field as it is."""

    url: str | None = None
    events: Sequence[str] | None = None
    active: bool | None = None


@dataclass(frozen=True, slots=True)
class WebhookSecrets:
    """The secrets of a webhook, encrypted; `previous` is set while it also signs."""

    secret: bytes
    previous: bytes | None


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """The delivery of an event to a webhook. `claimed_at`: when the attempt in progress began.

    `attempts` are the finished ones, newest last, each a `WebhookAttempt` in JSON.
    """

    id: UUID
    webhook_id: UUID
    event_id: UUID
    kind: str
    state: State
    claimed_at: datetime | None
    next_attempt_at: datetime | None
    attempts: Sequence[dict[str, Any]]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EventContent:
    """The content of an event; `data` is JSON as stored."""

    event_id: UUID
    kind: str
    message_id: UUID | None
    data: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryJob:
    """A delivery that this worker has claimed until `until`; `lease` is the number of the claim.

    `content` is None if the event no longer exists.
    """

    id: UUID
    webhook_id: UUID
    lease: int
    until: datetime
    failures: int
    url: str
    encrypted_secrets: WebhookSecrets
    content: EventContent | None


class WebhookAttempt(Struct, frozen=True):
    """One attempt: the response, or in `error` why there is none (`kind: explanation`)."""

    at: str
    status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None

    @property
    def is_success(self) -> bool:
        """Whether the response was 2xx; a redirect is a failure."""
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class WebhookOutcome:
    """The state of a delivery after an attempt; `next_attempt_at` is None if there is no retry."""

    delivery_id: UUID
    lease: int
    state: State
    failures: int
    next_attempt_at: datetime | None
    attempt: WebhookAttempt


@dataclass(frozen=True, slots=True)
class ReplayPeriod:
    """Replay the events from `since` until before `until`; `only_failed`: only abandoned deliveries."""

    since: datetime
    until: datetime
    only_failed: bool


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """How many deliveries were queued; `next_since` is set if the period has more events than one call takes."""

    queued: int
    next_since: datetime | None


class SystemWebhookDisabled(EventPayload, frozen=True, kw_only=True):
    """A webhook was disabled: no attempt succeeded for `webhooks.disable_after_hours`."""

    kind: ClassVar[Kind] = "system.webhook_disabled"
    example: ClassVar[Mapping[str, Any]] = {
        "webhook_id": "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a38",
        "url": "https://receiver.example/hook",
        "domain": None,
        "failing_since": "2026-03-01T12:00:00.000Z",
        "disabled_at": "2026-03-06T12:00:00.000Z",
    }

    webhook_id: Annotated[str, Meta(description="Its ID.")]
    url: Annotated[str, Meta(description="Its URL.")]
    domain: Annotated[str | None, Meta(description="Its domain; null for all domains.")]
    failing_since: Annotated[str | None, Meta(description="When the first of these attempts failed.")]
    disabled_at: Annotated[str | None, Meta(description="When it was disabled.")]


CATALOGUE: Mapping[Kind, type[EventPayload]] = {
    payload.kind: payload
    for payload in (
        MailSent,
        MailDelivered,
        MailBounced,
        MailFailed,
        MailSuppressed,
        MailComplained,
        MailReceived,
        MailReceivedFull,
        MailSpam,
        MailboxQuota,
        DomainDnsFailed,
        DomainDnsRecovered,
        DomainDkimDue,
        SystemDrift,
        SystemBackupFailed,
        SystemBackupUnverified,
        SystemBackupLate,
        SystemSuspension,
        SystemIncident,
        SystemAlert,
        SystemWebhookDisabled,
    )
}
"""The payload of each kind of event, in the order of the reference."""
