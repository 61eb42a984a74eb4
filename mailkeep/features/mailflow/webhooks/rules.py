"""Validation of webhooks, the body of a delivery, and the state of a delivery after an attempt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from mailkeep.core.clock import iso
from mailkeep.core.errors import Conflict, Forbidden, InvalidUrl, invalid_field
from mailkeep.core.network import Network
from mailkeep.core.principal import Principal, Role
from mailkeep.features.mailflow.webhooks.model import (
    DeliveryJob,
    EventContent,
    ReplayPeriod,
    SystemWebhookDisabled,
    Webhook,
    WebhookAttempt,
    WebhookOutcome,
)
from mailkeep.features.record.events.model import INSTANCE_KINDS
from mailkeep.net.guard import refuse_address
from mailkeep.net.url import MalformedUrl, parse_url

_EXCERPT_CHARACTERS = 1000
# PostgreSQL accepts NUL neither in text nor in JSON.
_NO_NUL = {0: "\ufffd"}
EVENT_GONE, INTERRUPTED, INTERNAL = "event_gone", "interrupted", "internal"
_HTTPS_PORT, _FIRST_UNPRIVILEGED_PORT = 443, 1024
_EXPLANATIONS = {
    EVENT_GONE: "The event is no longer stored (setting retention.event_days).",
    INTERRUPTED: "The worker stopped during the attempt; the attempt is repeated.",
    INTERNAL: "The attempt failed in Mailkeep itself; see its log.",
    "url": "The URL is not allowed.",
    "dns": "The name of the host could not be resolved.",
    "address_refused": "The host has an address that is not allowed (setting webhooks.allowed_networks).",
    "connect": "No connection could be opened.",
    "timeout": "No complete response within 10 seconds.",
    "protocol": "The response is not valid HTTP, or the connection ended before it was complete.",
}
"""Explanations for administrators of attempts without a response; they do not reveal what a name resolves to."""


def check_url(url: str, allowed_networks: Sequence[Network], allowed_ports: Collection[int]) -> None:
    """INVALID_URL unless it is an https URL without userinfo, fragment and control characters, with a valid host; with
    `details.setting` if an IP address or port needs a setting.

    Names are not resolved here: each attempt checks the address to which it connects.
    """
    try:
        target = parse_url(url)
    except MalformedUrl as error:
        raise InvalidUrl(f"The URL {error}.", field="url") from None
    address = target.host.address
    if address is not None and refuse_address(address, allowed_networks):
        raise _needs_setting("webhooks.allowed_networks", f"The URL has a private or special address ({address}).")
    if target.port < _FIRST_UNPRIVILEGED_PORT and target.port != _HTTPS_PORT and target.port not in allowed_ports:
        raise _needs_setting(
            "webhooks.allowed_ports", f"The URL has the port {target.port}: 443 and 1024 to 65535 are allowed."
        )


def _needs_setting(setting: str, problem: str) -> InvalidUrl:
    advice = (
        f"The setting {setting} can allow it. To receive events in a program on your own machine, run "
        "`mailkeep listen --forward URL`: no webhook is needed."
    )
    return InvalidUrl(f"{problem} {advice}", field="url", setting=setting)


def require_allowed_kinds(who: Principal, events: Sequence[str], domain_id: UUID | None) -> None:
    """FORBIDDEN if another role than super_admin names a kind about the whole instance; INVALID_FIELD if the webhook
    has a domain.
    """
    named = sorted(INSTANCE_KINDS & set(events))
    if named and who.role is not Role.SUPER_ADMIN:
        raise Forbidden(f"Only a super_admin may subscribe to {named[0]}.")
    if named and domain_id is not None:
        raise invalid_field("events", f"{named[0]} is about the whole server: the webhook must have no domain")


def unique_kinds(events: Sequence[str]) -> tuple[str, ...]:
    """The kinds without duplicates, in their order; INVALID_FIELD if there is none."""
    if not events:
        raise invalid_field("events", "must not be empty")
    return tuple(dict.fromkeys(events))


def check_period(period: ReplayPeriod) -> None:
    """INVALID_FIELD if the period is empty."""
    if period.since >= period.until:
        raise invalid_field("until", "must be after since (if left out, it is the current time)")


def refuse_inactive(webhook: Webhook) -> None:
    """CONFLICT `webhook_inactive` if the webhook is inactive, since nothing is delivered to it."""
    if not webhook.active:
        raise Conflict("The webhook is inactive: activate it first.", reason="webhook_inactive")


def body(content: EventContent, data: Mapping[str, Any] | msgspec.Raw) -> bytes:
    """The body of a delivery, the same for every attempt; `id` is that of the message, or of the event without one."""
    return msgspec.json.encode(
        {
            "id": content.message_id or content.event_id,
            "event": content.kind,
            "event_id": content.event_id,
            "timestamp": iso(content.created_at),
            "data": data,
        }
    )


def excerpt(answer: bytes) -> str:
    """The beginning of a response as text that PostgreSQL can store."""
    # A character has at most four bytes; one that is cut at the end is beyond the excerpt.
    text = answer[: 4 * _EXCERPT_CHARACTERS + 4].decode("utf-8", "replace")
    return text[:_EXCERPT_CHARACTERS].translate(_NO_NUL)


def attempt_with_answer(at: datetime, status: int, duration_ms: int, answer: bytes) -> WebhookAttempt:
    """An attempt with a response of any status."""
    return WebhookAttempt(iso(at), status, duration_ms, None, excerpt(answer))


def attempt_without_answer(
    at: datetime, error: str, duration_ms: int | None, certificate: str | None = None
) -> WebhookAttempt:
    """An attempt without a response; `certificate` is the problem of the server's certificate, for the kind `tls`."""
    if error == "tls":
        explanation = f"The TLS handshake failed: {(certificate or 'no common version or cipher').rstrip('.')}."
    else:
        explanation = _EXPLANATIONS[error]
    return WebhookAttempt(iso(at), None, duration_ms, f"{error}: {explanation}", None)


def outcome(
    job: DeliveryJob, attempt: WebhookAttempt, ended_at: datetime, retry_seconds: Sequence[int]
) -> WebhookOutcome:
    """The state of a delivery after an attempt: the nth failure is followed by a retry after the nth of
    `retry_seconds`. After the last retry, or without its event, the delivery is abandoned.
    """
    if attempt.is_success:
        return WebhookOutcome(job.id, job.lease, "delivered", job.failures, None, attempt)
    failures = job.failures + 1
    if failures > len(retry_seconds) or job.content is None:
        return WebhookOutcome(job.id, job.lease, "abandoned", failures, None, attempt)
    next_at = ended_at + timedelta(seconds=retry_seconds[failures - 1])
    return WebhookOutcome(job.id, job.lease, "waiting_for_retry", failures, next_at, attempt)


def test_event(webhook: Webhook, event_id: UUID, kind: str, at: datetime) -> EventContent:
    """The event that POST …/test sends."""
    data = msgspec.json.encode({"webhook_id": webhook.id, "message": "A test, requested by an administrator."})
    return EventContent(event_id, kind, None, data.decode(), at)


def disabled_payload(webhook: Webhook) -> SystemWebhookDisabled:
    """The payload of system.webhook_disabled."""
    return SystemWebhookDisabled(
        webhook_id=str(webhook.id),
        url=webhook.url,
        domain=webhook.domain_name,
        failing_since=iso(webhook.failing_since) if webhook.failing_since else None,
        disabled_at=iso(webhook.disabled_at) if webhook.disabled_at else None,
    )
