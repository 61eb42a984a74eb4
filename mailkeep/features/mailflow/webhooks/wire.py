"""JSON of webhooks and deliveries."""

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
from mailkeep.features.record.events.model import Kind
from mailkeep.web.fields import OWN_CODE, Body, Patch, Query, Timestamp

Url = Annotated[str, Meta(description="https only", extra=OWN_CODE)]
Subscription = Literal[Kind, "*"]
Events = Annotated[
    list[Subscription],
    Meta(min_length=1, max_length=100, description="`*`: all kinds except those that begin with `system.`"),
]


class WebhookRecord(Struct, frozen=True):
    """A webhook; `domain_id` is null if it is for all domains. `rotating_until`: until then the previous secret also
    signs. `failing_since`: no attempt has succeeded since; `disabled_at`: when it was disabled because of that.
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
    """A webhook with its secret, which is shown only once: null if the response is repeated for an Idempotency-Key."""

    secret: str | None


class WebhookCreate(Body, frozen=True):
    """A webhook to create; without `domain_id` it receives the events of all domains."""

    url: Url
    events: Events
    domain_id: UUID | None = None


class WebhookChange(Patch, frozen=True):
    """Changes to a webhook."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class WebhookDeleteResponse(Struct, frozen=True):
    """Confirmation of a deletion."""

    message: str
    id: UUID


class WebhookAttemptResponse(Struct, frozen=True):
    """An attempt: the response, or in `error` why there is none. In progress, only `at` is set."""

    at: Timestamp
    status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None


class DeliveryRecord(Struct, frozen=True):
    """The delivery of an event to a webhook. `event` is the kind; `attempts` holds the last 20, newest last."""

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
    event: Kind | None = None


class ReplayRequest(Body, frozen=True):
    """Replay events from `since` until before `until` (default: now); `only_failed`: only abandoned deliveries."""

    since: datetime
    until: datetime | UnsetType = UNSET
    only_failed: bool = False


class ReplayResponse(Struct, frozen=True):
    """How many deliveries were queued. `next_since`: set if events remain; repeat the call with it as `since`."""

    queued: int
    next_since: Timestamp | None


class TestResult(Struct, frozen=True):
    """The result of a test: the response, or in `error` why there is none."""

    delivered: bool
    event_id: UUID
    at: Timestamp
    status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None


def record(webhook: Webhook) -> WebhookRecord:
    """The JSON of a webhook."""
    return WebhookRecord(**_fields(webhook))


def with_secret(webhook: Webhook, secret: str | None) -> WebhookWithSecret:
    """The JSON of a webhook after creation or rotation."""
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
    """The fields of a webhook in the audit log."""
    return msgspec.to_builtins(record(webhook))


def changes(body: WebhookChange) -> WebhookChanges:
    """The changes that a PATCH requests."""
    return WebhookChanges(
        url=None if body.url is UNSET else body.url,
        events=None if body.events is UNSET else body.events,
        active=None if body.active is UNSET else body.active,
    )


def delivery_record(delivery: WebhookDelivery) -> DeliveryRecord:
    """The JSON of a delivery. The attempt in progress is the last of `attempts`; the lease is not shown."""
    attempts = [msgspec.convert(each, WebhookAttemptResponse) for each in delivery.attempts]
    if delivery.claimed_at is not None:
        attempts.append(WebhookAttemptResponse(iso(delivery.claimed_at), None, None, None, None))
    return DeliveryRecord(
        id=delivery.id,
        event_id=delivery.event_id,
        event=delivery.kind,
        state=delivery.state,
        attempts=attempts,
        next_attempt_at=None if delivery.claimed_at else iso_or_none(delivery.next_attempt_at),
        created_at=iso(delivery.created_at),
    )


def replay_result(result: ReplayResult) -> ReplayResponse:
    """The JSON of a replay."""
    return ReplayResponse(result.queued, iso_or_none(result.next_since))


def test_result(event_id: UUID, attempt: WebhookAttempt) -> TestResult:
    """The JSON of a test."""
    return TestResult(delivered=attempt.is_success, event_id=event_id, **msgspec.structs.asdict(attempt))
