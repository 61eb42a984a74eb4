"""Routes of API keys."""

from __future__ import annotations

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, NotFound, invalid_field
from mailkeep.features.access.api_keys import rules, service, wire
from mailkeep.features.access.api_keys.model import NewApiKey
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _list(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        keys = await service.list_visible(conn, call.caller())
    return HttpResponse([wire.to_record(key) for key in keys])


async def _create(app: App, call: Call) -> HttpResponse:
    who, body, at = call.caller(), call.body, app.clock()
    assert who.admin_id is not None
    name = body.name.strip()
    if not name:
        raise invalid_field("name", "must not be blank")
    new_key = NewApiKey(
        name=name,
        scoped_domain_ids=tuple(dict.fromkeys(body.scoped_domain_ids)),
        rate_limit=body.rate_limit if body.rate_limit is not UNSET else None,
        expires_at=rules.expiry(at, body.expires_in_days, None if body.expires_at is UNSET else body.expires_at),
        allowed_networks=rules.parse_networks(body.allowed_networks),
        permissions=body.permissions,
    )
    async with app.db.tx() as conn:
        key, raw_key = await service.create(conn, who, who.admin_id, at, new_key)
    return HttpResponse(wire.create_response(raw_key, key, service.submission_server(app.settings, app.smtp_address)))


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        key = await service.get(conn, call.id())
    return HttpResponse(wire.create_response(None, key, service.submission_server(app.settings, app.smtp_address)))


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        key, waiting = await service.revoke(conn, call.caller(), app.clock(), call.id())
    text = f"The API key {key.name} was revoked."
    if waiting:
        text += f" {waiting} messages scheduled with it will not be sent."
    return HttpResponse(wire.ApiKeyDeletion(text, key.id, waiting))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api-keys",
        handler=_list,
        action="api_key.list",
        summary="List API keys",
        description="Newest first. A super_admin sees all keys, others their own, a scoped key only itself.",
        tag="API keys",
        data=list[wire.ApiKeyRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/api-keys",
        handler=_create,
        action="api_key.write",
        summary="Create an API key",
        description=(
            "The key is shown only once, with the settings to send by SMTP. "
            "It has the rights of its owner, restricted by `permissions` and "
            "`scoped_domain_ids`, and works "
            "from `allowed_networks` only (elsewhere FORBIDDEN, `details.reason` network). A key that is created with "
            "another key can't expire later than that one or have a higher rate limit or more networks (FORBIDDEN, "
            "`details.reason` longer_lived, faster or more_networks), and is revoked with it."
        ),
        tag="API keys",
        body=wire.ApiKeyCreate,
        data=wire.ApiKeyCreateResponse,
        status=201,
        recover=audit.answer_from_audit(_repeat_create),
        secrets=("key",),
        audit="api_key.create",
        resource="api_key",
        refusals=(DomainNotFound, ApiKeyDomainScope, NotFound),
        examples=(
            Example(
                body={
                    "name": "newsletter",
                    "scoped_domain_ids": ["{domain_id}"],
                    "rate_limit": 120,
                    "expires_in_days": 365,
                }
            ),
            Example(body={"name": "shop", "permissions": "sending"}),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="/api-keys/{id}",
        handler=_delete,
        action="api_key.write",
        summary="Revoke an API key",
        description="At once, with all keys that were created with it. A super_admin may revoke any key, others their "
        "own. Messages that were scheduled with it fail at their time.",
        tag="API keys",
        data=wire.ApiKeyDeletion,
        audit="api_key.delete",
        resource="api_key",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{key_id}"}),),
    ),
)
