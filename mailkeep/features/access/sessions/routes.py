"""Paths of logins and sessions."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.clock import iso
from mailkeep.core.errors import (
    Conflict,
    InvalidCredentials,
    NotFound,
    RateLimitExceeded,
    SessionInvalid,
    TotpInvalid,
    WeakPassword,
)
from mailkeep.features.access.second_factors import service as second_factors
from mailkeep.features.access.second_factors.model import SecondFactorCode
from mailkeep.features.access.sessions import rules, service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse
from mailkeep.web.fields import OneOf


async def _login(app: App, call: Call) -> HttpResponse:
    match call.body:
        case wire.LoginByCode(totp_session=token, totp_code=code):
            done = await service.login_with_code(app, call, token, SecondFactorCode(code))
        case wire.LoginByRecoveryCode(totp_session=token, recovery_code=code):
            done = await service.login_with_code(app, call, token, SecondFactorCode(code, is_recovery=True))
        case given:
            done = await service.login(app, call, given.email, given.password)
    return service.reply(app, done)


async def _me(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(
            wire.to_account(await service.get_own_account(conn, call.caller()), app.settings.auth.require_second_factor)
        )


async def _logout(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    assert who.session_id is not None  # the action is barred for keys
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), who.session_id, "auth.logout")
    return HttpResponse(wire.LogoutResponse("You are logged out."), cookies=[rules.clear_cookie()])


async def _logout_all(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        ended = await service.end_all_sessions(conn, call.caller(), app.clock())
    return HttpResponse(
        wire.SessionsEndResponse("All your sessions were ended.", ended), cookies=[rules.clear_cookie()]
    )


async def _sessions(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        found = await service.list_sessions(conn, who, app.clock())
    return HttpResponse([wire.to_session(session, who.session_id) for session in found])


async def _end_session(app: App, call: Call) -> HttpResponse:
    who, session_id = call.caller(), call.id()
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), session_id, "session.delete")
    cookies = [rules.clear_cookie()] if session_id == who.session_id else []
    return HttpResponse(wire.SessionEndResponse("The session was ended.", session_id), cookies=cookies)


async def _password(app: App, call: Call) -> HttpResponse:
    ended = await service.change_password(app, call, call.body.current_password, call.body.new_password)
    return HttpResponse(wire.SessionsEndResponse("Your password was changed.", ended))


async def _set_up_totp(app: App, call: Call) -> HttpResponse:
    made = await second_factors.begin_setup(app, call.caller())
    return HttpResponse(wire.TotpSetupResponse(made.provisioning_uri, iso(made.expires_at)))


async def _verify_totp(app: App, call: Call) -> HttpResponse:
    codes = await second_factors.enable(app, call.caller(), call.body.code)
    return HttpResponse(wire.RecoveryCodes("Your second factor is enabled. Keep the recovery codes safe.", True, codes))


async def _disable_totp(app: App, call: Call) -> HttpResponse:
    given = call.body
    by_recovery = isinstance(given, wire.RecoveryCodeRequest)
    proof = SecondFactorCode(given.recovery_code, is_recovery=True) if by_recovery else SecondFactorCode(given.code)
    await second_factors.disable(app, call.caller(), proof)
    return HttpResponse(wire.TotpState("Your second factor is disabled.", False))


async def _renew_recovery_codes(app: App, call: Call) -> HttpResponse:
    codes = await second_factors.renew_recovery_codes(app, call.caller(), call.body.code)
    return HttpResponse(wire.RecoveryCodes("The recovery codes that you had no longer work.", True, codes))


_TAG = "Authentication"
_WRONG_CODE = (TotpInvalid, Conflict, RateLimitExceeded)

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/auth/login",
        handler=_login,
        action=None,
        summary="Log in",
        description=(
            "Sets the cookie `svc_session`; a session shown with the call is replaced. An account with a second factor "
            "is asked for it first: the answer has `requires_totp` and `totp_session` and sets no cookie; the same "
            "path then takes `totp_session` with `totp_code` or `recovery_code`, or /auth/passkeys/login/options goes "
            "on with a passkey (`methods` says which of them the account has), for 5 minutes and 5 times at most "
            "(then SESSION_INVALID). After 10 failures of an account in 15 minutes, sources that never logged into it "
            "have to wait; those that did, after 50."
        ),
        tag=_TAG,
        body=OneOf((wire.LoginByPassword, wire.LoginByCode, wire.LoginByRecoveryCode)),
        data=OneOf((wire.LoginResponse, wire.SecondFactorResponse)),
        login=True,
        refusals=(InvalidCredentials, TotpInvalid, SessionInvalid),
        examples=(
            Example(body={"email": "sue@example.test", "password": "correct horse battery staple"}),
            Example(body={"totp_session": "{totp_session}", "totp_code": "{totp_code}"}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/auth/me",
        handler=_me,
        action="account.read",
        summary="Show who calls",
        description="With an API key: its owner.",
        tag=_TAG,
        data=wire.OwnAccount,
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/auth/logout",
        handler=_logout,
        action="session.leave",
        summary="Log out",
        tag=_TAG,
        data=wire.LogoutResponse,
        audit="auth.logout",
        resource="session",
        refusals=(NotFound,),
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/auth/logout-all",
        handler=_logout_all,
        action="account.change",
        summary="End all own sessions",
        description="This one too.",
        tag=_TAG,
        data=wire.SessionsEndResponse,
        audit="auth.logout_all",
        resource="admin",
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/auth/sessions",
        handler=_sessions,
        action="session.list",
        summary="List own sessions",
        description="The active ones, newest first. With an API key: its owner's.",
        tag=_TAG,
        data=list[wire.SessionRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="DELETE",
        path="/auth/sessions/{id}",
        handler=_end_session,
        action="account.change",
        summary="End one of the own sessions",
        tag=_TAG,
        data=wire.SessionEndResponse,
        audit="session.delete",
        resource="session",
        refusals=(NotFound,),
        examples=(Example(path={"id": "{session_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/auth/password",
        handler=_password,
        action="account.change",
        summary="Change the own password",
        description="Ends the other sessions; this one stays.",
        tag=_TAG,
        body=wire.PasswordChange,
        data=wire.SessionsEndResponse,
        audit="admin.password",
        resource="admin",
        refusals=(WeakPassword, InvalidCredentials),
        examples=(
            Example(
                body={
                    "current_password": "correct horse battery staple",
                    "new_password": "incorrect pony charger clip",
                }
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="/auth/totp/setup",
        handler=_set_up_totp,
        action="factor.enrol",
        summary="Begin to enrol a second factor",
        description=(
            "Answers the secret for an authenticator. It is asked for at login only once POST /auth/totp/verify has "
            "shown a first code, within 10 minutes; a setup that waits is replaced."
        ),
        tag=_TAG,
        data=wire.TotpSetupResponse,
        audit="totp.setup",
        resource="admin",
        refusals=(Conflict,),
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/auth/totp/verify",
        handler=_verify_totp,
        action="factor.enrol",
        summary="Enable the second factor",
        description="By a first code. Answers ten recovery codes, shown this once, and ends the other sessions.",
        tag=_TAG,
        body=wire.CodeRequest,
        data=wire.RecoveryCodes,
        audit="totp.enable",
        resource="admin",
        refusals=_WRONG_CODE,
        examples=(Example(body={"code": "{totp_code}"}),),
    ),
    Endpoint(
        method="POST",
        path="/auth/totp/recovery-codes",
        handler=_renew_recovery_codes,
        action="factor.change",
        summary="Renew the recovery codes",
        description="The old ones no longer work. Ends the other sessions.",
        tag=_TAG,
        body=wire.CodeRequest,
        data=wire.RecoveryCodes,
        audit="totp.recovery_codes",
        resource="admin",
        refusals=_WRONG_CODE,
        examples=(Example(body={"code": "{totp_code}"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/auth/totp",
        handler=_disable_totp,
        action="factor.change",
        summary="Disable the second factor",
        description="By a valid code, or by a recovery code where the authenticator is lost. Ends the other sessions.",
        tag=_TAG,
        body=OneOf((wire.CodeRequest, wire.RecoveryCodeRequest)),
        data=wire.TotpState,
        audit="totp.disable",
        resource="admin",
        refusals=_WRONG_CODE,
        examples=(Example(body={"code": "{totp_code}"}),),
    ),
)
