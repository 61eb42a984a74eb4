"""Endpoints of webhooks."""

from __future__ import annotations

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, DomainNotFound, InvalidPagination, InvalidUrl, NotFound
from mailkeep.features.mailflow.webhooks import service, wire
from mailkeep.features.mailflow.webhooks.model import CATALOGUE, NewWebhook, ReplayPeriod
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse([wire.record(each) for each in await service.list_visible(conn, call.caller())])


async def _create(app: App, call: Call) -> HttpResponse:
    body = call.body
    new = NewWebhook(body.url, body.events, body.domain_id)
    async with app.db.tx() as conn:
        webhook, secret = await service.create(conn, app, call.caller(), app.clock(), new)
    return HttpResponse(wire.with_secret(webhook, secret), changed_at=webhook.updated_at)


async def _get_created(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.with_secret(await service.get(conn, call.caller(), call.id()), None))


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        webhook = await service.get(conn, call.caller(), call.id())
    return HttpResponse(wire.record(webhook), changed_at=webhook.updated_at)


async def _change(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        changes = wire.changes(call.body)
        webhook = await service.change(conn, app, call.caller(), call.id(), changes, call.if_match)
    return HttpResponse(wire.record(webhook), changed_at=webhook.updated_at)


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        webhook = await service.delete(conn, call.caller(), app.clock(), call.id(), call.if_match)
    return HttpResponse(wire.WebhookDeleteResponse("The webhook was deleted.", webhook.id))


async def _rotate(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        webhook, secret = await service.rotate(conn, app.vault, call.caller(), app.clock(), call.id())
    return HttpResponse(wire.with_secret(webhook, secret), changed_at=webhook.updated_at)


async def _test(app: App, call: Call) -> HttpResponse:
    event_id, attempt = await service.test(app, call.caller(), call.id())
    return HttpResponse(wire.test_result(event_id, attempt))


async def _deliveries(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.list_deliveries(
            conn, call.caller(), call.id(), call.query.state, call.query.event, call.page
        )
    return HttpResponse([wire.delivery_record(each) for each in page.rows], page)


async def _replay(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        delivery = await service.replay(conn, call.caller(), app.clock(), call.id(), call.id("delivery_id"))
    return HttpResponse(wire.delivery_record(delivery))


async def _replay_period(app: App, call: Call) -> HttpResponse:
    body, at = call.body, app.clock()
    period = ReplayPeriod(body.since, at if body.until is UNSET else body.until, body.only_failed)
    async with app.db.tx() as conn:
        result = await service.replay_period(conn, call.caller(), at, call.id(), period)
    return HttpResponse(wire.replay_result(result))


_TAG = "Webhooks"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/webhooks",
        handler=_list,
        action="webhook.list",
        summary="List webhooks",
        description="Newest first. A scoped key sees those of its domains.",
        tag=_TAG,
        data=list[wire.WebhookRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/webhooks",
        handler=_create,
        action="webhook.write",
        summary="Create a webhook",
        description=(
            "Each event is posted to `url` until the response is 2xx within 10 seconds. After the first attempt there "
            "are up to five retries, after 30 seconds, 2 minutes, 15 minutes, 1 hour and 2 hours "
            "(`webhooks.retry_seconds`). The secret that signs events is shown once. Without `domain_id` the webhook "
            "receives the events of all domains. A webhook with a `domain_id` is deleted with its domain."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.WebhookCreate,
        data=wire.WebhookWithSecret,
        status=201,
        recover=audit.answer_from_audit(_get_created),
        secrets=("secret",),
        webhook_payloads={kind: (shape, shape.example) for kind, shape in CATALOGUE.items()},
        audit="webhook.create",
        resource="webhook",
        refusals=(InvalidUrl, DomainNotFound, ApiKeyDomainScope),
        examples=(
            Example(
                body={
                    "url": "https://shop.example/hooks/mail",
                    "events": ["mail.delivered", "mail.bounced"],
                    "domain_id": "{domain_id}",
                }
            ),
            Example(body={"url": "https://ops.example/hooks", "events": ["*", "system.webhook_disabled"]}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/webhooks/{id}",
        handler=_get,
        action="webhook.read",
        summary="Get a webhook",
        tag=_TAG,
        versioned=True,
        data=wire.WebhookRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{webhook_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/webhooks/{id}",
        handler=_change,
        action="webhook.write",
        summary="Change a webhook",
        description=(
            "While a webhook is inactive, nothing is delivered and no new event is queued. Queued deliveries wait, and "
            "missed events can be replayed."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.WebhookChange,
        data=wire.WebhookRecord,
        audit="webhook.update",
        resource="webhook",
        refusals=(InvalidUrl, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{webhook_id}"}, body={"events": ["*"], "active": True}),),
    ),
    Endpoint(
        method="DELETE",
        path="/webhooks/{id}",
        handler=_delete,
        action="webhook.write",
        summary="Delete a webhook",
        description="Its pending deliveries are deleted too.",
        tag=_TAG,
        versioned=True,
        data=wire.WebhookDeleteResponse,
        audit="webhook.delete",
        resource="webhook",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{webhook_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/webhooks/{id}/test",
        handler=_test,
        action="webhook.write",
        summary="Test a webhook",
        description="Posts a signed event of the kind `system.test` once, now, and returns the result.",
        tag=_TAG,
        data=wire.TestResult,
        audit="webhook.test",
        resource="webhook",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{webhook_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/webhooks/{id}/rotate-secret",
        handler=_rotate,
        action="webhook.write",
        summary="Rotate the secret of a webhook",
        description=(
            "The new secret is shown once. For 24 hours deliveries are signed with both secrets: `webhook-signature` "
            "holds two signatures, and `X-Svc-Signature-Previous` is made with the old secret. After a second "
            "rotation within that time, the oldest secret no longer signs."
        ),
        tag=_TAG,
        versioned=True,
        data=wire.WebhookWithSecret,
        audit="webhook.rotate_secret",
        resource="webhook",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{webhook_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/webhooks/{id}/deliveries",
        handler=_deliveries,
        action="webhook.read",
        summary="List a webhook's deliveries",
        description="With their attempts and responses, newest event first. Kept for `retention.event_days` days.",
        tag=_TAG,
        query=wire.DeliveryQuery,
        listing=Listing(("created_at",)),
        data=list[wire.DeliveryRecord],
        refusals=(InvalidPagination, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{webhook_id}"}, query={"state": "pending"}),),
    ),
    Endpoint(
        method="POST",
        path="/webhooks/{id}/deliveries/{delivery_id}/replay",
        handler=_replay,
        action="webhook.write",
        summary="Deliver an event again",
        description=(
            "The event is delivered with the same `webhook-id` and the whole retry schedule, whatever the state of "
            "the delivery. A delivery with an attempt in progress is not changed. CONFLICT (`webhook_inactive`) for "
            "an inactive webhook."
        ),
        tag=_TAG,
        data=wire.DeliveryRecord,
        audit="webhook.replay",
        resource="webhook",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{webhook_id}", "delivery_id": "{delivery_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/webhooks/{id}/replay",
        handler=_replay_period,
        action="webhook.write",
        summary="Deliver the events of a period again",
        description=(
            "All events to which the webhook subscribes, also those from before it was created or while it was "
            "inactive; with `only_failed` only abandoned deliveries. One call takes the oldest 10,000; if `next_since` "
            "is set, continue from there. CONFLICT (`webhook_inactive`) for an inactive webhook."
        ),
        tag=_TAG,
        body=wire.ReplayRequest,
        data=wire.ReplayResponse,
        audit="webhook.replay",
        resource="webhook",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{webhook_id}"}, body={"since": "2026-02-28T00:00:00Z", "only_failed": True}),),
    ),
)
