"""Routes of logging in."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import InvalidCredentials, SessionInvalid, TotpInvalid, WeakPassword
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.logins import service, wire
from mailkeep.features.access.second_factors.model import SecondFactorCode
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse
from mailkeep.web.fields import OneOf


async def _login(app: App, call: Call) -> HttpResponse:
    match call.body:
        case wire.LoginByCode(totp_session=token, totp_code=code):
            result = await service.login_with_code(app, call, "admin", token, SecondFactorCode(code))
        case wire.LoginByRecoveryCode(totp_session=token, recovery_code=code):
            result = await service.login_with_code(app, call, "admin", token, SecondFactorCode(code, is_recovery=True))
        case body:
            result = await service.login(app, call, "admin", body.email, body.password)
    return service.to_response(app, result)


async def _get_own_account(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        admin = await admins.get(conn, who, accounts.own(who).id)
    return HttpResponse(wire.to_account(admin, app.settings.auth.require_second_factor))


async def _change_password(app: App, call: Call) -> HttpResponse:
    sessions_ended = await service.change_own_password(app, call, call.body.current_password, call.body.new_password)
    return HttpResponse(wire.PasswordChangeResponse("Your password was changed.", sessions_ended))


_TAG = "Authentication"

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/auth/login",
        handler=_login,
        action=None,
        summary="Sign in",
        description=(
            "Sets the cookie `svc_session` and replaces the session of the call's cookie. For an account with a second "
            "factor, the response has `requires_totp` and `totp_session` and sets no cookie. Complete the sign-in "
            "within 5 minutes and 5 attempts (then SESSION_INVALID): here with `totp_session` and `totp_code` or "
            "`recovery_code`, or at /auth/passkeys/login/options with a passkey; `methods` lists the account's second "
            "factors. After 10 failures of an account in 15 minutes, further attempts must wait, except from addresses "
            "that have signed in to the account before; after 30 failures with several accounts, an address is blocked "
            "for an hour (GET /sign-in-blocks)."
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
        handler=_get_own_account,
        action="account.read",
        summary="Show the own account",
        description="With an API key: the account of its owner.",
        tag=_TAG,
        data=wire.OwnAccount,
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/auth/password",
        handler=_change_password,
        action="account.password",
        summary="Change the own password",
        description=(
            "Ends the other sessions, not the current one. It ends `must_change_password`, which refuses the current "
            "password as the new one (WEAK_PASSWORD, `details.reason` unchanged)."
        ),
        tag=_TAG,
        body=wire.PasswordChange,
        data=wire.PasswordChangeResponse,
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
)
