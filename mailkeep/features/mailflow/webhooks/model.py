"""A webhook, and an event on its way to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct

State = Literal["pending", "waiting_for_retry", "delivered", "abandoned"]

TIMEOUT_SECONDS = 10.0
"""For all of an attempt: look-up, connection, request, answer."""
MAX_ANSWER_BYTES = 16 * 1024
ROTATION_OVERLAP = timedelta(hours=24)
"""How long the secret before a rotation signs too."""
MAX_REPLAYS = 10_000
TEST_KIND = "system.test"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Who wants to be told of what. `domain_id` None: of all domains; `domain_name` is that domain's.

    `rotating_until`: until then the secret before the last rotation signs too. `failing_since`: no attempt has
    succeeded since; `disabled_at`: it was made inactive for that.
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
    """A webhook to make, as it was asked for."""

    url: str
    events: Sequence[str]
    domain_id: UUID | None


@dataclass(frozen=True, slots=True)
class WebhookChanges:
    """What to change of a webhook; None leaves a thing as it is."""

    url: str | None = None
    events: Sequence[str] | None = None
    active: bool | None = None


@dataclass(frozen=True, slots=True)
class WebhookSecrets:
    """A webhook's secrets as they are stored; `previous` while it signs too."""

    secret: bytes
    previous: bytes | None


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """An event on its way to a webhook, or there. `claimed_at`: when the attempt under way began.

    `attempts` are those that ended, the newest last, as `Attempt` in JSON.
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
    """What an event tells: `data` is JSON as it is stored."""

    event_id: UUID
    kind: str
    message_id: UUID | None
    data: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryJob:
    """A delivery that is this worker's until `until`, by the count `lease`; `content` None where the event is gone."""

    id: UUID
    webhook_id: UUID
    lease: int
    until: datetime
    failures: int
    url: str
    sealed: WebhookSecrets
    content: EventContent | None


class WebhookAttempt(Struct, frozen=True):
    """One try: what was answered, or why nothing was (`error`: what the outbound client names, and its words)."""

    at: str
    status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None

    @property
    def is_success(self) -> bool:
        """Whether the answer was 2xx: a redirect is a failure."""
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class WebhookOutcome:
    """What an attempt has made of a delivery; `next_attempt_at` None where it is settled."""

    delivery_id: UUID
    lease: int
    state: State
    failures: int
    next_attempt_at: datetime | None
    attempt: WebhookAttempt


@dataclass(frozen=True, slots=True)
class ReplayPeriod:
    """Events to deliver again: from `since` to before `until`; `only_failed`: only what was given up."""

    since: datetime
    until: datetime
    only_failed: bool


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """How many deliveries were begun anew; `next_since` where the span goes on beyond what one call takes."""

    queued: int
    next_since: datetime | None
