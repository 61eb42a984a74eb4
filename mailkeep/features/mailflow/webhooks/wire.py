"""JSON of webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.mailflow.webhooks.model import (
    ReplayResult,
    State,
    Webhook,
    WebhookAttempt,
    WebhookChanges,
    WebhookDelivery,
)
from mailkeep.features.record.events.model import MailKind, SystemKind
from mailkeep.web.fields import OWN_CODE, Body, Patch, Query, Timestamp

Url = Annotated[str, Meta(description="https only", extra=OWN_CODE)]
Subscription = Literal[MailKind, SystemKind, "*"]
Events = Annotated[
    list[Subscription],
    Meta(min_length=1, max_length=100, description="`*`: all kinds but those that begin with system."),
]


class WebhookRecord(Struct, frozen=True):
    """A webhook; `domain_id` null: of all domains. `rotating_until`: until then the secret before signs too.
    `failing_since`: no try has succeeded since; `disabled_at`: it was made inactive for that.
    """

    id: UUID
    url: str
    events: list[str]
    domain_id: UUID | None
    active: bool
    rotating_until: Timestamp | None
    failing_since: Timestamp | None
    disabled_at: Timestamp | None
    created_by: UUID
    created_at: Timestamp
    updated_at: Timestamp


class WebhookWithSecret(WebhookRecord, frozen=True):
    """A webhook with its secret, which is shown this once: null when the answer is repeated for an Idempotency-Key."""

    secret: str | None


class WebhookCreate(Body, frozen=True):
    """A webhook to make; without `domain_id` it is told of all domains."""

    url: Url
    events: Events
    domain_id: UUID | None = None


class WebhookChange(Patch, frozen=True):
    """What to change of a webhook."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class WebhookDeleteResponse(Struct, frozen=True):
    """A webhook was deleted."""

    message: str
    id: UUID


class WebhookAttemptResponse(Struct, frozen=True):
    """A try of a delivery: the answer, or in `error` why there is none. All but `at` is null while it is under way."""

    at: Timestamp
    status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None


class DeliveryRecord(Struct, frozen=True):
    """An event on its way to a webhook. `event` is its kind; of the tries the last 20 are shown, the newest last."""

    id: UUID
    event_id: UUID
    event: str
    state: State
    attempts: list[WebhookAttemptResponse]
    next_attempt_at: Timestamp | None
    created_at: Timestamp


class DeliveryQuery(Query, frozen=True):
    """Filters of the list."""

    state: State | None = None
    event: Literal[MailKind, SystemKind] | None = None


class ReplayRequest(Body, frozen=True):
    """Events from `since` to before `until` (now, where it is left out)."""

    since: datetime
    until: datetime | UnsetType = UNSET
    only_failed: bool = False


class ReplayResponse(Struct, frozen=True):
    """How many deliveries begin anew. `next_since`: there is more than one call takes; ask again from there."""

    queued: int
    next_since: Timestamp | None


class TestResult(Struct, frozen=True):
    """What came of a test: the answer, or in `error` why there is none."""

    delivered: bool
    event_id: UUID
    at: Timestamp
    status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None


def record(webhook: Webhook) -> WebhookRecord:
    """A webhook as it is answered."""
    return WebhookRecord(**_fields(webhook))


def with_secret(webhook: Webhook, secret: str | None) -> WebhookWithSecret:
    """A webhook as its creation or rotation answers it."""
    return WebhookWithSecret(**_fields(webhook), secret=secret)


def _fields(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "domain_id": webhook.domain_id,
        "active": webhook.active,
        "rotating_until": iso_or_none(webhook.rotating_until),
        "failing_since": iso_or_none(webhook.failing_since),
        "disabled_at": iso_or_none(webhook.disabled_at),
        "created_by": webhook.created_by,
        "created_at": iso(webhook.created_at),
        "updated_at": iso(webhook.updated_at),
    }


def audit_fields(webhook: Webhook) -> dict[str, Any]:
    """What the audit log keeps of a webhook."""
    return msgspec.to_builtins(record(webhook))


def changes(given: WebhookChange) -> WebhookChanges:
    """What a PATCH asks for."""
    return WebhookChanges(
        url=None if given.url is UNSET else given.url,
        events=None if given.events is UNSET else given.events,
        active=None if given.active is UNSET else given.active,
    )


def delivery(found: WebhookDelivery) -> DeliveryRecord:
    """A delivery as it is answered: with the try that is under way, whose lease is nobody's business."""
    attempts = [msgspec.convert(each, WebhookAttemptResponse) for each in found.attempts]
    if found.claimed_at is not None:
        attempts.append(WebhookAttemptResponse(iso(found.claimed_at), None, None, None, None))
    return DeliveryRecord(
        id=found.id,
        event_id=found.event_id,
        event=found.kind,
        state=found.state,
        attempts=attempts,
        next_attempt_at=None if found.claimed_at else iso_or_none(found.next_attempt_at),
        created_at=iso(found.created_at),
    )


def replay_result(done: ReplayResult) -> ReplayResponse:
    """What a replay of a span answers."""
    return ReplayResponse(done.queued, iso_or_none(done.next_since))


def test_result(event_id: UUID, attempt: WebhookAttempt) -> TestResult:
    """What a test answers."""
    return TestResult(
        delivered=attempt.is_success,
        event_id=event_id,
        at=attempt.at,
        status=attempt.status,
        duration_ms=attempt.duration_ms,
        error=attempt.error,
        response_excerpt=attempt.response_excerpt,
    )
