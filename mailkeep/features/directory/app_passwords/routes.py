"""Routes of app passwords."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, InvalidCredentials, NotFound, RateLimitExceeded
from mailkeep.features.access.logins import service as logins
from mailkeep.features.directory.app_passwords import service, wire
from mailkeep.features.record.audit import service as audit
from mailkeep.web.areas import MAILBOX, OWN_MAILBOX, Area, mailbox_id
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse
from mailkeep.web.fields import CurrentPasswordRequest


async def _list(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        app_passwords = await service.list_of_mailbox(conn, call.caller(), mailbox_id(call))
    return HttpResponse([wire.to_record(each) for each in app_passwords])


async def _create(app: App, call: Call) -> HttpResponse:
    at, new = app.clock(), wire.read_new(call.body)
    async with app.db.tx() as conn:
        app_password, password = await service.create(conn, call.caller(), at, mailbox_id(call), new)
    return HttpResponse(wire.to_created(app_password, password))


async def _create_own(app: App, call: Call) -> HttpResponse:
    await logins.require_recent_login(app, call, call.body.current_password or None, "app_password.create")
    return await _create(app, call)


async def _delete_own(app: App, call: Call) -> HttpResponse:
    await logins.require_recent_login(app, call, call.body.current_password or None, "app_password.delete")
    return await _delete(app, call)


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.to_created(await service.get(conn, call.id()), None))


async def _delete(app: App, call: Call) -> HttpResponse:
    who, at = call.caller(), app.clock()
    async with app.db.tx() as conn:
        deleted = await service.delete(conn, who, at, mailbox_id(call), call.id("app_password_id"))
    message = f"The app password {deleted.name} was deleted. Its sessions end now."
    return HttpResponse(wire.AppPasswordDeletion(message, deleted.id))


_OWN_NOTE = " A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`)."


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    own = area.is_own_mailbox
    note, refusals = (_OWN_NOTE, (InvalidCredentials, RateLimitExceeded)) if own else ("", ())
    return (
        Endpoint(
            method="GET",
            path=f"{area.prefix}/app-passwords",
            handler=_list,
            action=area.action("mailbox.read"),
            summary="List the app passwords of a mailbox",
            description="Newest first, also expired ones. The passwords themselves are never shown again.",
            tag=area.tag,
            data=list[wire.AppPasswordRecord],
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/app-passwords",
            handler=_create_own if own else _create,
            action=area.action("app_password.write" if own else "mailbox.write"),
            summary="Create an app password",
            description=(
                "A password for one mail client: for IMAP, POP3, SMTP (submission) and ManageSieve, or some of them. "
                "It is shown only once. A mailbox has at most 50 (CONFLICT, `details.reason` limit_reached). With "
                "`require_app_passwords` (of the mailbox, its domain or the setting) or a second factor of its owner, "
                "these protocols accept nothing else." + note
            ),
            tag=area.tag,
            body=wire.OwnAppPasswordCreate if own else wire.AppPasswordCreate,
            data=wire.AppPasswordWithSecret,
            status=201,
            recover=audit.answer_from_audit(_repeat_create),
            secrets=("password",),
            audit="app_password.create",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, Conflict, *refusals),
            examples=(
                Example(
                    path=area.path,
                    body={"name": "Phone", "protocols": ["imap", "smtp"], "expires_at": "2036-01-01T00:00:00Z"},
                ),
            ),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/app-passwords/{{app_password_id}}",
            handler=_delete_own if own else _delete,
            action=area.action("app_password.write" if own else "mailbox.write"),
            summary="Delete an app password",
            description="It stops working at once, and the sessions that use it end; those of other passwords continue."
            + note,
            body=CurrentPasswordRequest if own else None,
            tag=area.tag,
            data=wire.AppPasswordDeletion,
            audit="app_password.delete",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, *refusals),
            examples=(Example(path={**area.path, "app_password_id": "{app_password_id}"}, body={} if own else None),),
        ),
    )


ENDPOINTS = _endpoints(MAILBOX)
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
