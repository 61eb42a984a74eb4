"""Routes of owners of mailboxes that are not also routes of administrators (`web/areas`)."""

from __future__ import annotations

from typing import Any

from mailkeep.app import App
from mailkeep.core.errors import (
    Conflict,
    InvalidCredentials,
    InvalidPagination,
    RateLimitExceeded,
    SessionInvalid,
    TotpInvalid,
    Unavailable,
    WeakPassword,
)
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.logins.model import CompletedLogin, SecondFactorChallenge
from mailkeep.features.access.passkeys import service as passkeys
from mailkeep.features.access.second_factors import service as second_factors
from mailkeep.features.access.second_factors.model import SecondFactorCode
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.owners import service, wire
from mailkeep.web.areas import OWN_MAILBOX
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing
from mailkeep.web.fields import CurrentPasswordRequest, OneOf


async def _get(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        mailbox, account = await service.get_with_account(conn, who)
    return HttpResponse(wire.to_mailbox(mailbox, account, who), changed_at=mailbox.updated_at)


async def _login(app: App, call: Call) -> HttpResponse:
    match call.body:
        case logins.LoginByCode(totp_session=token, totp_code=code):
            result = await logins.login_with_code(app, call, "mailbox", token, SecondFactorCode(code))
        case logins.LoginByRecoveryCode(totp_session=token, recovery_code=code):
            recovery_code = SecondFactorCode(code, is_recovery=True)
            result = await logins.login_with_code(app, call, "mailbox", token, recovery_code)
        case body:
            result = await logins.login(app, call, "mailbox", body.address, body.password)
    return await _respond(app, call, result)


async def _login_by_passkey(app: App, call: Call) -> HttpResponse:
    body: passkeys.PasskeyLogin = call.body
    result = await passkeys.login(app, call, "mailbox", body.credential, body.totp_session or None)
    return await _respond(app, call, result)


async def _respond(app: App, call: Call, result: CompletedLogin | SecondFactorChallenge) -> HttpResponse:
    if isinstance(result, SecondFactorChallenge):
        return HttpResponse(logins.to_challenge(result))
    mailbox, account, who = await service.finish_login(app, call, result)
    data = wire.to_login(wire.to_mailbox(mailbox, account, who), result.session)
    return HttpResponse(data, cookies=[result.cookie])


async def _change_password(app: App, call: Call) -> HttpResponse:
    body: logins.PasswordChange = call.body
    ended = await logins.change_password(
        app, call, body.current_password, body.new_password, mailboxes.set_own_password
    )
    return HttpResponse(logins.PasswordChangeResponse("Your password was changed.", ended))


async def _set_up_totp(app: App, call: Call) -> HttpResponse:
    await logins.require_recent_login(app, call, call.body.current_password or None, "totp.setup")
    return HttpResponse(second_factors.to_setup(await second_factors.begin_setup(app, call.caller())))


async def _get_forward(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        mailbox = await service.get_own(conn, call.caller())
    return HttpResponse(mailboxes.to_forward(mailbox.forward), changed_at=mailbox.updated_at)


async def _set_forward(app: App, call: Call) -> HttpResponse:
    body: wire.ForwardWrite = call.body
    mailbox = await service.set_forward(
        app, call.caller(), body.destinations, keep_copy=body.keep_copy, if_match=call.if_match
    )
    return HttpResponse(mailboxes.to_forward(mailbox.forward), changed_at=mailbox.updated_at)


async def _list_sign_ins(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.list_sign_ins(app, conn, call.caller(), call.page)
    return HttpResponse([wire.to_sign_in(day) for day in page.rows], page)


async def _list_messages(app: App, call: Call) -> HttpResponse:
    query: wire.OwnMessageQuery = call.query
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.list_messages(app, conn, call.caller(), query.result, query.since, call.page)
    return HttpResponse([wire.to_message(message) for message in page.rows], page)


_PASSWORD = "correct horse battery staple"
_NOTE = "A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`)."
_ASSERTION: dict[str, Any] = {
    "id": "{login_id}",
    "rawId": "{login_id}",
    "type": "public-key",
    "response": {
        "clientDataJSON": "{login_client_data}",
        "authenticatorData": "{login_data}",
        "signature": "{login_signature}",
        "userHandle": "{login_handle}",
    },
}
_TAG = OWN_MAILBOX.tag

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/me",
        handler=_get,
        action="me.read",
        summary="Get the own mailbox",
        tag=_TAG,
        versioned=True,
        data=wire.OwnMailboxRecord,
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/me/login",
        handler=_login,
        action=None,
        summary="Sign in to the own mailbox",
        description=(
            "With the mailbox's address and its own password, not an app password. Sets the cookie `svc_mailbox` and "
            "replaces the session of the call's cookie. The second step is that of POST /auth/login, here or at "
            "/me/passkeys/login/options. FORBIDDEN with `details.reason` self_service if the domain does not allow it. "
            "Failed sign-ins count together with those of mail clients (GET /sign-in-blocks)."
        ),
        tag=_TAG,
        body=OneOf((wire.OwnerLogin, logins.LoginByCode, logins.LoginByRecoveryCode)),
        data=OneOf((wire.OwnerLoginResponse, logins.SecondFactorResponse)),
        login=True,
        refusals=(InvalidCredentials, TotpInvalid, SessionInvalid),
        examples=(Example(body={"address": "alice@example.test", "password": _PASSWORD}),),
    ),
    Endpoint(
        method="POST",
        path="/me/passkeys/login/verify",
        handler=_login_by_passkey,
        action=None,
        summary="Sign in with a passkey",
        description="Opens a session, as POST /me/login does, with the same response and cookie. Refuses what "
        "POST /auth/passkeys/login/verify refuses.",
        tag=_TAG,
        body=passkeys.PasskeyLogin,
        data=wire.OwnerLoginResponse,
        login=True,
        refusals=(InvalidCredentials, SessionInvalid, Unavailable),
        examples=(Example(body={"credential": _ASSERTION}),),
    ),
    Endpoint(
        method="POST",
        path="/me/password",
        handler=_change_password,
        action="me.credentials",
        summary="Change the own password",
        description="Ends the other sessions, and those of mail clients with the old password; not the current one.",
        tag=_TAG,
        body=logins.PasswordChange,
        data=logins.PasswordChangeResponse,
        audit="mailbox.password",
        resource="mailbox",
        refusals=(WeakPassword, InvalidCredentials, RateLimitExceeded),
        examples=(Example(body={"current_password": _PASSWORD, "new_password": "incorrect pony charger clip"}),),
    ),
    Endpoint(
        method="POST",
        path="/me/totp/setup",
        handler=_set_up_totp,
        action="me.credentials",
        summary="Set up an authenticator",
        description=(
            "Returns the secret for an authenticator. Sign-in requires it only after POST /me/totp/verify with a first "
            "code, within 10 minutes; from then on, mail clients need app passwords. A pending setup is replaced. "
            + _NOTE
        ),
        tag=_TAG,
        body=CurrentPasswordRequest,
        data=second_factors.TotpSetupResponse,
        audit="totp.setup",
        resource="mailbox",
        refusals=(Conflict, InvalidCredentials, RateLimitExceeded),
        examples=(Example(body={"current_password": _PASSWORD}),),
    ),
    Endpoint(
        method="GET",
        path="/me/forward",
        handler=_get_forward,
        action="me.read",
        summary="Get the own forward",
        tag=_TAG,
        versioned=True,
        data=mailboxes.ForwardRecord,
        examples=(Example(),),
    ),
    Endpoint(
        method="PUT",
        path="/me/forward",
        handler=_set_forward,
        action="me.write",
        summary="Set the own forward",
        description="At most ten destinations; without any the forward is removed. CONFLICT `alias_loop` if mail would "
        "come back. Its version is that of the mailbox.",
        tag=_TAG,
        versioned=True,
        body=wire.ForwardWrite,
        data=mailboxes.ForwardRecord,
        audit="mailbox.update",
        resource="mailbox",
        refusals=(Conflict,),
        examples=(Example(body={"destinations": ["alice@elsewhere.test"], "keep_copy": True}),),
    ),
    Endpoint(
        method="GET",
        path="/me/logins",
        handler=_list_sign_ins,
        action="me.read",
        summary="List sign-ins to the own mailbox",
        description="By mail clients and with browsers, newest first: one entry for each day (UTC), protocol, address "
        "and program. Kept for `retention.login_days`.",
        tag=_TAG,
        listing=Listing(),
        data=list[wire.SignInRecord],
        refusals=(InvalidPagination,),
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/me/messages",
        handler=_list_messages,
        action="me.read",
        summary="List mail for the own mailbox",
        description="What was received, filed in Junk or rejected, newest first. Not what was sent.",
        tag=_TAG,
        query=wire.OwnMessageQuery,
        listing=Listing(),
        data=list[wire.OwnMessage],
        refusals=(InvalidPagination,),
        examples=(Example(query={"result": "junk"}), Example()),
    ),
)
