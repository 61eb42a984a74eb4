"""Routes of the configuration."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import Forbidden, InvalidCredentials, InvalidPagination, NotFound, PreconditionFailed
from mailkeep.features.operations.configuration import service, wire
from mailkeep.features.operations.configuration.model import ConfigChange
from mailkeep.features.record.settings_revisions import rules as revision_rules, service as revisions
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "Configuration"
_RECENT = (
    "Changes of `auth.*`, `oidc.*`, `cors.*`, `dns.*`, `filter.dns_servers`, `mta.*`, `outbound.relay*`, `overlays.*` "
    "and `webhooks.allowed_networks` need a session of the last 10 minutes, or `current_password`; "
    "otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`."
)


async def _read(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        current = await service.read(conn, app)
    settings = wire.to_settings(current.running, current.newest, current.pending)
    return HttpResponse(settings, headers={"etag": revisions.revision_tag(current.n)})


async def _change(app: App, call: Call) -> HttpResponse:
    body: wire.ConfigPatch = call.body
    changes = wire.read_changes(body)
    if revision_rules.needs_recent_sign_in(changes) and not body.dry_run:
        await call.require_recent_sign_in(app.clock(), _password(body), "config.update")
    changed = await service.change(
        app, call.caller(), changes, comment=body.comment, if_match=call.if_match, dry_run=body.dry_run
    )
    return _result(changed, dry_run=body.dry_run)


async def _revisions(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await revisions.page(conn, call.page)
    return HttpResponse([wire.to_revision(each) for each in page.rows], page)


async def _roll_back(app: App, call: Call) -> HttpResponse:
    body: wire.ConfigRollback = call.body
    n = service.parse_number(call.path["n"])
    if revision_rules.needs_recent_sign_in(await service.list_changes_to(app, n)):
        await call.require_recent_sign_in(app.clock(), _password(body), "config.update")
    changed = await service.roll_back(app, call.caller(), n, comment=body.comment, if_match=call.if_match)
    return _result(changed, dry_run=False)


async def _schema(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.schema())


def _password(body: wire.ConfigPatch | wire.ConfigRollback) -> str | None:
    return None if body.current_password is UNSET else body.current_password


def _result(changed: ConfigChange, *, dry_run: bool) -> HttpResponse:
    return HttpResponse(wire.to_change(changed, dry_run=dry_run), headers={"etag": revisions.revision_tag(changed.n)})


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/config",
        handler=_read,
        action="config.read",
        summary="List all settings",
        description="With their values in running processes. `ETag` is the number of the newest revision.",
        tag=_TAG,
        versioned=True,
        data=list[wire.SettingResponse],
        examples=(Example(),),
    ),
    Endpoint(
        method="PATCH",
        path="/config",
        handler=_change,
        action="config.write",
        summary="Change settings",
        description=(
            "Adds a revision. Settings with effect `none` apply to all processes at once, others with the next apply "
            "or start. INVALID_FIELD names each setting that is not valid, is set by the file or the environment, or "
            "can't be stored. With `If-Match` and another newest revision: PRECONDITION_FAILED, with the settings that "
            "have changed since in `details.changed`. With `dry_run` nothing is stored, and `plan` has the files that "
            "would change and what the services would do; null with a warning if the process `node` does not answer "
            "within 30 seconds. A relay's password is removed if its host, port, encryption or "
            "user name changes, unless it is in the same request. " + _RECENT
        ),
        tag=_TAG,
        versioned=True,
        body=wire.ConfigPatch,
        data=wire.ConfigChangeResponse,
        audit="config.update",
        resource="config",
        refusals=(InvalidCredentials, Forbidden, PreconditionFailed),
        examples=(
            Example(
                body={"changes": {"abuse.sender_per_hour": 500}, "comment": "After Monday's incident"},
                response={
                    "revision": 1,
                    "changes": {"abuse.sender_per_hour": {"before": None, "after": 500}},
                    "needs_restart": [],
                    "dry_run": False,
                    "warnings": [],
                },
            ),
            Example(body={"changes": {"filter.spam_score": 7.5}, "dry_run": True}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/config/revisions",
        handler=_revisions,
        action="config.read",
        summary="List the revisions of the settings",
        tag=_TAG,
        listing=Listing(),
        data=list[wire.RevisionResponse],
        refusals=(InvalidPagination,),
        examples=(Example(query={"limit": "20"}),),
    ),
    Endpoint(
        method="POST",
        path="/config/revisions/{n}/rollback",
        handler=_roll_back,
        action="config.write",
        summary="Roll back to a revision",
        description=(
            "Adds a revision with the stored settings of revision `n` (0: none stored), checked like a change. With "
            "`If-Match` and another newest revision: PRECONDITION_FAILED as for PATCH /config. " + _RECENT
        ),
        tag=_TAG,
        versioned=True,
        body=wire.ConfigRollback,
        data=wire.ConfigChangeResponse,
        audit="config.rollback",
        resource="config",
        refusals=(NotFound, InvalidCredentials, Forbidden, PreconditionFailed),
        examples=(Example(path={"n": "0"}, body={"comment": "Back to the file"}),),
    ),
    Endpoint(
        method="GET",
        path="/config/schema",
        handler=_schema,
        action="config.read",
        summary="Get the JSON Schema of the settings",
        description="An object with a property for each setting that PATCH /config accepts.",
        tag=_TAG,
        data=dict[str, Any],
        examples=(Example(),),
    ),
)
