"""Routes of app passwords."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, NotFound
from mailkeep.features.directory.app_passwords import service, wire
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _list(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        app_passwords = await service.list_of_mailbox(conn, call.caller(), call.id())
    return HttpResponse([wire.to_record(each) for each in app_passwords])


async def _create(app: App, call: Call) -> HttpResponse:
    at, new = app.clock(), wire.read_new(call.body)
    async with app.db.tx() as conn:
        app_password, password = await service.create(conn, call.caller(), at, call.id(), new)
    return HttpResponse(wire.to_created(app_password, password))


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.to_created(await service.get(conn, call.id()), None))


async def _delete(app: App, call: Call) -> HttpResponse:
    who, at = call.caller(), app.clock()
    async with app.db.tx() as conn:
        deleted = await service.delete(conn, who, at, call.id(), call.id("app_password_id"))
    message = f"The app password {deleted.name} was deleted. Its sessions end now."
    return HttpResponse(wire.AppPasswordDeletion(message, deleted.id))


_TAG = "Mailboxes"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/mailboxes/{id}/app-passwords",
        handler=_list,
        action="mailbox.read",
        summary="List the app passwords of a mailbox",
        description="Newest first, also expired ones. The passwords themselves are never shown again.",
        tag=_TAG,
        data=list[wire.AppPasswordRecord],
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/app-passwords",
        handler=_create,
        action="mailbox.write",
        summary="Create an app password",
        description=(
            "A password for one mail client: for IMAP, POP3, SMTP (submission) and ManageSieve, or some of them. It is "
            "shown only once. A mailbox has at most 50 (CONFLICT, `details.reason` limit_reached). With "
            "`require_app_passwords` (of the mailbox, its domain or the setting), these protocols accept nothing else."
        ),
        tag=_TAG,
        body=wire.AppPasswordCreate,
        data=wire.AppPasswordWithSecret,
        status=201,
        recover=audit.answer_from_audit(_repeat_create),
        secrets=("password",),
        audit="app_password.create",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(
            Example(
                path={"id": "{mailbox_id}"},
                body={"name": "Phone", "protocols": ["imap", "smtp"], "expires_at": "2036-01-01T00:00:00Z"},
            ),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="/mailboxes/{id}/app-passwords/{app_password_id}",
        handler=_delete,
        action="mailbox.write",
        summary="Delete an app password",
        description="It stops working at once, and the sessions that use it end; those of other passwords continue.",
        tag=_TAG,
        data=wire.AppPasswordDeletion,
        audit="app_password.delete",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}", "app_password_id": "{app_password_id}"}),),
    ),
)
