"""Routes of passkeys."""

from __future__ import annotations

from typing import Any

from mailkeep.app import App
from mailkeep.core.errors import Conflict, InvalidCredentials, NotFound, RateLimitExceeded, SessionInvalid, Unavailable
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.passkeys import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _begin_registration(app: App, call: Call) -> HttpResponse:
    offer, owner = await service.begin_registration(app, call, call.body.current_password or None)
    return HttpResponse(wire.to_registration_options(offer, owner))


async def _register(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_registration(await service.register(app, call, call.body.name, call.body.credential)))


async def _list(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse([wire.to_record(passkey) for passkey in await service.list_own(conn, call.caller())])


async def _rename(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_record(await service.rename(app, call.caller(), call.id(), call.body.name)))


async def _delete(app: App, call: Call) -> HttpResponse:
    gone = await service.delete(app, call, call.id(), call.body.current_password or None)
    return HttpResponse(wire.PasskeyDeletion(f"The passkey {gone.name} was deleted.", gone.id))


async def _renew_recovery_codes(app: App, call: Call) -> HttpResponse:
    codes = await service.renew_recovery_codes(app, call, call.body.current_password or None)
    return HttpResponse(wire.PasskeyRecoveryCodes("The recovery codes that you had no longer work.", codes))


async def _begin_login(app: App, call: Call) -> HttpResponse:
    token = call.body.totp_session or None
    return HttpResponse(wire.to_login_options(await service.begin_login(app, call, token), alone=token is None))


async def _login(app: App, call: Call) -> HttpResponse:
    opened = await service.login(app, call, call.body.credential, call.body.totp_session or None)
    return logins.reply(app, opened)


def _credential(prefix: str, **members: str) -> dict[str, Any]:
    """A credential of an example; its values are placeholders for what an authenticator creates."""
    response = {name: f"{{{prefix}_{sample}}}" for name, sample in members.items()}
    return {"id": f"{{{prefix}_id}}", "rawId": f"{{{prefix}_id}}", "type": "public-key", "response": response}


_MADE = _credential("registration", clientDataJSON="client_data", attestationObject="attestation")
_USED = _credential(
    "login", clientDataJSON="client_data", authenticatorData="data", signature="signature", userHandle="handle"
)

_TAG = "Authentication"
_STALE = (InvalidCredentials, RateLimitExceeded)
_FRESH = "Where the session was opened over 15 minutes ago, `current_password` is needed (FORBIDDEN `login_again`)."

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/auth/passkeys/register/options",
        handler=_begin_registration,
        action="factor.enrol",
        summary="Begin to register a passkey",
        description=f"Returns the options for `navigator.credentials.create()`, valid once, for 5 minutes. {_FRESH} "
        "UNAVAILABLE (`public_url`) unless `http.public_url` is https with a host name, or localhost.",
        tag=_TAG,
        body=wire.CurrentPasswordRequest,
        data=wire.RegistrationOptionsResponse,
        audit="passkey.setup",
        resource="admin",
        refusals=(*_STALE, Conflict, Unavailable),
        examples=(Example(body={"current_password": "correct horse battery staple"}),),
    ),
    Endpoint(
        method="POST",
        path="/auth/passkeys/register/verify",
        handler=_register,
        action="factor.enrol",
        summary="Register a passkey",
        description="With the browser's result. From then on the password alone opens no session. The first second "
        "factor of an account comes with ten recovery codes. Ends the other sessions.",
        tag=_TAG,
        body=wire.PasskeyRegistration,
        data=wire.PasskeyRegistrationResponse,
        status=201,
        audit="passkey.register",
        resource="passkey",
        refusals=(Conflict, Unavailable),
        examples=(Example(body={"name": "My laptop", "credential": _MADE}),),
    ),
    Endpoint(
        method="GET",
        path="/auth/passkeys",
        handler=_list,
        action="passkey.list",
        summary="List own passkeys",
        description="Newest first. With an API key: those of its owner.",
        tag=_TAG,
        data=list[wire.PasskeyRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="PATCH",
        path="/auth/passkeys/{id}",
        handler=_rename,
        action="factor.change",
        summary="Rename a passkey",
        tag=_TAG,
        body=wire.PasskeyRename,
        data=wire.PasskeyRecord,
        audit="passkey.rename",
        resource="passkey",
        refusals=(NotFound,),
        examples=(Example(path={"id": "{passkey_id}"}, body={"name": "The key on my ring"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/auth/passkeys/{id}",
        handler=_delete,
        action="factor.change",
        summary="Delete a passkey",
        description="Ends the other sessions. With the last second factor, the recovery codes are deleted. CONFLICT "
        "`last_factor` if the role requires a second factor and this is the last one; `last_way_in` if the account has "
        f"no password, no identity and no other passkey. {_FRESH}",
        tag=_TAG,
        body=wire.CurrentPasswordRequest,
        data=wire.PasskeyDeletion,
        audit="passkey.delete",
        resource="passkey",
        refusals=(*_STALE, NotFound, Conflict),
        examples=(Example(path={"id": "{passkey_id}"}, body={"current_password": "correct horse battery staple"}),),
    ),
    Endpoint(
        method="POST",
        path="/auth/passkeys/recovery-codes",
        handler=_renew_recovery_codes,
        action="factor.change",
        summary="Renew the recovery codes of an account with passkeys",
        description=f"The old ones no longer work. Ends the other sessions. {_FRESH}",
        tag=_TAG,
        body=wire.CurrentPasswordRequest,
        data=wire.PasskeyRecoveryCodes,
        audit="passkey.recovery_codes",
        resource="admin",
        refusals=(*_STALE, Conflict),
        examples=(Example(body={"current_password": "correct horse battery staple"}),),
    ),
    Endpoint(
        method="POST",
        path="/auth/passkeys/login/options",
        handler=_begin_login,
        action=None,
        summary="Begin to log in with a passkey",
        description="Alone, or as second factor with the `totp_session` of a login whose password was right. "
        "Returns the options for `navigator.credentials.get()`, valid once, for 5 minutes.",
        tag=_TAG,
        body=wire.PasskeyLoginStart,
        data=wire.LoginOptionsResponse,
        login=True,
        refusals=(SessionInvalid, Unavailable),
        examples=(Example(body={}),),
    ),
    Endpoint(
        method="POST",
        path="/auth/passkeys/login/verify",
        handler=_login,
        action=None,
        summary="Log in with a passkey",
        description="Returns and sets the same as POST /auth/login. A passkey alone needs user verification: PIN, "
        "fingerprint or face. INVALID_CREDENTIALS for an unknown passkey, or one whose counter has not increased; "
        "SESSION_INVALID for a challenge that is unknown, used or over 5 minutes old.",
        tag=_TAG,
        body=wire.PasskeyLogin,
        data=logins.LoginResponse,
        login=True,
        refusals=(InvalidCredentials, SessionInvalid, Unavailable),
        examples=(Example(body={"credential": _USED}),),
    ),
)
