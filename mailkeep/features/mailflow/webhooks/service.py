"""Create, change, delete, test and replay webhooks; post deliveries."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.clock import iso
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import ActorType, Principal, Role, allow_on
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.webhooks import delivery_store, rules, signature, store, wire
from mailkeep.features.mailflow.webhooks.model import (
    MAX_ANSWER_BYTES,
    MAX_REPLAYS,
    ROTATION_OVERLAP,
    TEST_KIND,
    TIMEOUT_SECONDS,
    EventContent,
    NewWebhook,
    ReplayPeriod,
    ReplayResult,
    State,
    Webhook,
    WebhookAttempt,
    WebhookChanges,
    WebhookDelivery,
    WebhookSecrets,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.net.client import OutboundError, OutboundRequest
from mailkeep.settings import parse_networks

log = structlog.get_logger("mailkeep.webhooks")

_READ, _WRITE = "webhook.read", "webhook.write"
# Stands for the domain of a global webhook: no scoped key has it.
_NO_DOMAIN = UUID(int=0)
_PURPOSE = "webhook secret"
_SYSTEM = Principal(None, "webhooks", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def list_visible(conn: Conn, who: Principal) -> list[Webhook]:
    """The webhooks that the caller may see, newest first; a scoped key sees those of its domains."""
    return await store.list_visible(conn, who.domains())


async def get(conn: Conn, who: Principal, webhook_id: UUID) -> Webhook:
    """The webhook with this ID. NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    return _authorize(await store.find(conn, webhook_id), who, _READ)


async def create(conn: Conn, app: App, who: Principal, at: datetime, new: NewWebhook) -> tuple[Webhook, str]:
    """Create a webhook; returns it with its secret, which is shown once.

    INVALID_URL, DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE (also if a scoped key creates a global webhook).
    """
    _check_url(app, new.url)
    domain = await domains.get(conn, who, _WRITE, new.domain_id) if new.domain_id else None
    allow_on(who, _WRITE, domain.id if domain else _NO_DOMAIN)
    rules.require_allowed_kinds(who, new.events, new.domain_id)
    assert who.admin_id is not None
    webhook = Webhook(
        id=uuid7(at),
        url=new.url,
        events=rules.unique_kinds(new.events),
        domain_id=domain.id if domain else None,
        domain_name=domain.name if domain else None,
        active=True,
        rotating_until=None,
        failing_since=None,
        disabled_at=None,
        created_by=who.admin_id,
        created_at=at,
        updated_at=at,
    )
    secret = signature.new_secret()
    await store.insert(conn, webhook, _encrypt(app.vault, webhook.id, secret))
    await audit.record(conn, who, at, AuditAction("webhook.create", _target(webhook), after=wire.audit_fields(webhook)))
    return webhook, secret


async def change(
    conn: Conn,
    app: App,
    who: Principal,
    webhook_id: UUID,
    changes: WebhookChanges,
    if_match: IfMatch = ANY_VERSION,
) -> Webhook:
    """Change a webhook and return it. Activating it resets `failing_since` and `disabled_at`.

    INVALID_URL, NOT_FOUND, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED.
    """
    if changes.url is not None:
        _check_url(app, changes.url)
    before = _authorize(await store.find_for_update(conn, webhook_id), who, _WRITE)
    if_match.check(before.updated_at)
    rules.require_allowed_kinds(who, changes.events or (), before.domain_id)
    at = app.clock()
    after = replace(
        before,
        url=before.url if changes.url is None else changes.url,
        events=before.events if changes.events is None else rules.unique_kinds(changes.events),
        active=before.active if changes.active is None else changes.active,
    )
    if after.active and not before.active:
        after = replace(after, failing_since=None, disabled_at=None)
    if after == before:
        return before
    after = replace(after, updated_at=at)
    await store.update(conn, after)
    states = (wire.audit_fields(before), wire.audit_fields(after))
    await audit.record_change(conn, who, at, "webhook.update", _target(after), states)
    return after


async def delete(
    conn: Conn, who: Principal, at: datetime, webhook_id: UUID, if_match: IfMatch = ANY_VERSION
) -> Webhook:
    """Delete a webhook and its pending deliveries. NOT_FOUND, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED."""
    webhook = _authorize(await store.find_for_update(conn, webhook_id), who, _WRITE)
    if_match.check(webhook.updated_at)
    await store.delete(conn, webhook_id)
    await audit.record(
        conn, who, at, AuditAction("webhook.delete", _target(webhook), before=wire.audit_fields(webhook))
    )
    return webhook


async def rotate(conn: Conn, vault: Vault, who: Principal, at: datetime, webhook_id: UUID) -> tuple[Webhook, str]:
    """Replace the secret of a webhook; the new one is shown once, the old one also signs for 24 hours."""
    webhook = _authorize(await store.find_for_update(conn, webhook_id), who, _WRITE)
    secret = signature.new_secret()
    after = replace(webhook, rotating_until=at + ROTATION_OVERLAP, updated_at=at)
    await store.rotate(conn, webhook_id, _encrypt(vault, webhook_id, secret), at + ROTATION_OVERLAP, at)
    await audit.record(conn, who, at, AuditAction("webhook.rotate_secret", _target(webhook)))
    return after, secret


async def test(app: App, who: Principal, webhook_id: UUID) -> tuple[UUID, WebhookAttempt]:
    """Post a signed test event now, also to an inactive webhook; returns the event ID and the attempt.

    NOT_FOUND, API_KEY_DOMAIN_SCOPE.
    """
    at = app.clock()
    async with app.db.autocommit() as conn:
        webhook = _authorize(await store.find(conn, webhook_id), who, _WRITE)
        encrypted_secrets = await store.secrets(conn, webhook_id, at)
    event_id = uuid7(at)
    content = rules.test_event(webhook, event_id, TEST_KIND, at)
    body = rules.body(content, msgspec.Raw(content.data.encode()))
    attempt = await post(app, webhook_id, webhook.url, encrypted_secrets, content, body)
    details = {"delivered": attempt.is_success, "status": attempt.status, "error": attempt.error}
    async with app.db.tx() as conn:
        await audit.record(conn, who, app.clock(), AuditAction("webhook.test", _target(webhook), details=details))
    return event_id, attempt


async def list_deliveries(
    conn: Conn, who: Principal, webhook_id: UUID, state: State | None, kind: str | None, page_request: PageRequest
) -> Page[WebhookDelivery]:
    """A page of a webhook's deliveries; `state` and `kind` filter. NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    await get(conn, who, webhook_id)
    return await delivery_store.page(conn, webhook_id, state, kind, page_request)


async def replay(conn: Conn, who: Principal, at: datetime, webhook_id: UUID, delivery_id: UUID) -> WebhookDelivery:
    """Start a delivery again, with the whole retry schedule and the same `webhook-id`, and return it.

    NOT_FOUND, API_KEY_DOMAIN_SCOPE, CONFLICT `webhook_inactive`.
    """
    webhook = _authorize(await store.find(conn, webhook_id), who, _WRITE)
    if await delivery_store.find(conn, webhook_id, delivery_id) is None:
        raise NotFound
    rules.refuse_inactive(webhook)
    await delivery_store.replay(conn, delivery_id, at)
    await audit.record(
        conn, who, at, AuditAction("webhook.replay", _target(webhook), details={"delivery_id": str(delivery_id)})
    )
    delivery = await delivery_store.find(conn, webhook_id, delivery_id)
    if delivery is None:
        raise NotFound
    return delivery


async def replay_period(
    conn: Conn, who: Principal, at: datetime, webhook_id: UUID, period: ReplayPeriod
) -> ReplayResult:
    """Deliver the events of a period again, also those from before the webhook was created or while it was inactive.

    NOT_FOUND, API_KEY_DOMAIN_SCOPE, INVALID_FIELD, CONFLICT `webhook_inactive`.
    """
    rules.check_period(period)
    webhook = _authorize(await store.find(conn, webhook_id), who, _WRITE)
    rules.refuse_inactive(webhook)
    if period.only_failed:
        result = await delivery_store.replay_failures(conn, webhook_id, period, at, MAX_REPLAYS)
    else:
        result = await delivery_store.replay_all(conn, webhook, period, at, MAX_REPLAYS)
    details = {
        "since": iso(period.since),
        "until": iso(period.until),
        "only_failed": period.only_failed,
        "queued": result.queued,
    }
    await audit.record(conn, who, at, AuditAction("webhook.replay", _target(webhook), details=details))
    return result


async def disable(conn: Conn, at: datetime, webhook_id: UUID, failing_before: datetime) -> bool:
    """Disable a webhook that has been failing since before `failing_before`, and publish that; else return False."""
    before = await store.find_for_update(conn, webhook_id)
    if before is None or not before.active or before.failing_since is None or before.failing_since > failing_before:
        return False
    after = replace(before, active=False, disabled_at=at, updated_at=at)
    await store.update(conn, after)
    await events.emit(conn, at, Event(after.domain_id, None, rules.disabled_payload(after)))
    states = (wire.audit_fields(before), wire.audit_fields(after))
    await audit.record_change(conn, _SYSTEM, at, "webhook.disable", _target(after), states)
    return True


async def post(
    app: App, webhook_id: UUID, url: str, encrypted_secrets: WebhookSecrets, content: EventContent, body: bytes
) -> WebhookAttempt:
    """Make one attempt to post a signed body. Redirects are not followed. Failures are returned, not raised."""
    at, settings = app.clock(), app.settings.webhooks
    encrypted = (encrypted_secrets.secret, encrypted_secrets.previous)
    secrets = [_decrypt(app.vault, webhook_id, each) for each in encrypted if each is not None]
    request = OutboundRequest(
        method="POST",
        url=url,
        headers=signature.headers(body, content.event_id, content.kind, at, secrets),
        body=body,
        allowed_networks=_networks(settings.allowed_networks),
        extra_ca_file=Path(settings.extra_ca_file) if settings.extra_ca_file else None,
        timeout=TIMEOUT_SECONDS,
        max_answer=MAX_ANSWER_BYTES,
    )
    started = asyncio.get_running_loop().time()
    failpoint.reach("webhook.begun")
    try:
        answer = await app.outbound.send(request)
    except OutboundError as error:
        elapsed = round((asyncio.get_running_loop().time() - started) * 1000)
        log.info("webhook attempt failed", webhook=str(webhook_id), kind=error.kind, detail=error.detail)
        return rules.attempt_without_answer(at, error.kind, elapsed, error.certificate)
    failpoint.reach("webhook.answered")
    return rules.attempt_with_answer(at, answer.status, answer.duration_ms, answer.body)


def _check_url(app: App, url: str) -> None:
    settings = app.settings.webhooks
    rules.check_url(url, _networks(settings.allowed_networks), settings.allowed_ports)


_networks = lru_cache(parse_networks)


def _encrypt(vault: Vault, webhook_id: UUID, secret: str) -> bytes:
    return vault.seal(_PURPOSE, secret.encode(), webhook_id.bytes)


def _decrypt(vault: Vault, webhook_id: UUID, encrypted: bytes) -> str:
    plain = vault.open(_PURPOSE, encrypted, webhook_id.bytes)
    if plain is None:
        raise ValueError(f"the secret of webhook {webhook_id} was encrypted with another master secret")
    return plain.decode()


def _authorize(webhook: Webhook | None, who: Principal, action: str) -> Webhook:
    if webhook is None:
        raise NotFound
    allow_on(who, action, webhook.domain_id or _NO_DOMAIN)
    return webhook


def _target(webhook: Webhook) -> AuditTarget:
    return AuditTarget("webhook", webhook.id, webhook.domain_id, webhook.domain_name)
