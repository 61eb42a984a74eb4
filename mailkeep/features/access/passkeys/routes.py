"""Routes of passkeys."""

from __future__ import annotations

from typing import Any

from mailkeep.app import App
from mailkeep.core.errors import Conflict, InvalidCredentials, NotFound, RateLimitExceeded, SessionInvalid, Unavailable
from mailkeep.features.access.accounts.model import AccountKind
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.passkeys import service, wire
from mailkeep.web.areas import ACCOUNT, OWN_MAILBOX, Area
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse
from mailkeep.web.fields import CurrentPasswordRequest


async def _begin_registration(app: App, call: Call) -> HttpResponse:
    challenge, owner = await service.begin_registration(app, call, call.body.current_password or None)
    return HttpResponse(wire.to_registration_options(challenge, owner))


async def _register(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_registration(await service.register(app, call, call.body.name, call.body.credential)))


async def _list(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse([wire.to_record(passkey) for passkey in await service.list_own(conn, call.caller())])


async def _rename(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_record(await service.rename(app, call.caller(), call.id(), call.body.name)))


async def _delete(app: App, call: Call) -> HttpResponse:
    passkey = await service.delete(app, call, call.id(), call.body.current_password or None)
    return HttpResponse(wire.PasskeyDeletion(f"The passkey {passkey.name} was deleted.", passkey.id))


async def _renew_recovery_codes(app: App, call: Call) -> HttpResponse:
    codes = await service.renew_recovery_codes(app, call, call.body.current_password or None)
    return HttpResponse(wire.PasskeyRecoveryCodes("Your previous recovery codes no longer work.", codes))


async def _begin_login(app: App, call: Call) -> HttpResponse:
    return await _login_options(app, call, "admin")


async def _begin_own_login(app: App, call: Call) -> HttpResponse:
    return await _login_options(app, call, "mailbox")


async def _login_options(app: App, call: Call, kind: AccountKind) -> HttpResponse:
    token = call.body.totp_session or None
    challenge = await service.begin_login(app, call, kind, token)
    return HttpResponse(wire.to_login_options(challenge, alone=token is None))


async def _login(app: App, call: Call) -> HttpResponse:
    result = await service.login(app, call, "admin", call.body.credential, call.body.totp_session or None)
    return logins.to_response(app, result)


def _credential(prefix: str, **members: str) -> dict[str, Any]:
    """A credential of an example; its values are placeholders (`web/openapi_examples`): `{PREFIX_id}` and so on."""
    response = {name: f"{{{prefix}_{placeholder}}}" for name, placeholder in members.items()}
    return {"id": f"{{{prefix}_id}}", "rawId": f"{{{prefix}_id}}", "type": "public-key", "response": response}


_NEW_CREDENTIAL = _credential("registration", clientDataJSON="client_data", attestationObject="attestation")
_ASSERTION = _credential(
    "login", clientDataJSON="client_data", authenticatorData="data", signature="signature", userHandle="handle"
)

_PASSWORD_REFUSALS = (InvalidCredentials, RateLimitExceeded)
_PASSWORD_NOTE = "A session older than 15 minutes must send `current_password` (else FORBIDDEN `login_again`)."


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            method="POST",
            path=f"{area.prefix}/passkeys/register/options",
            handler=_begin_registration,
            action=area.action("factor.enrol"),
            summary="Begin to register a passkey",
            description="Returns the options for `navigator.credentials.create()`, valid once, for 5 minutes. "
            f"{_PASSWORD_NOTE} UNAVAILABLE (`public_url`) unless `http.public_url` is https with a host name or "
            "localhost.",
            tag=area.tag,
            body=CurrentPasswordRequest,
            data=wire.RegistrationOptionsResponse,
            audit="passkey.setup",
            resource=area.account,
            refusals=(*_PASSWORD_REFUSALS, Conflict, Unavailable),
            examples=(Example(body={"current_password": "correct horse battery staple"}),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/passkeys/register/verify",
            handler=_register,
            action=area.action("factor.enrol"),
            summary="Register a passkey",
            description="With the browser's result. From then on the password alone opens no session. For the "
            "account's first second factor, the response has ten recovery codes. Ends the other sessions.",
            tag=area.tag,
            body=wire.PasskeyRegistration,
            data=wire.PasskeyRegistrationResponse,
            status=201,
            audit="passkey.register",
            resource="passkey",
            refusals=(Conflict, Unavailable),
            examples=(Example(body={"name": "My laptop", "credential": _NEW_CREDENTIAL}),),
        ),
        Endpoint(
            method="GET",
            path=f"{area.prefix}/passkeys",
            handler=_list,
            action=area.action("passkey.list"),
            summary="List own passkeys",
            description="Newest first."
            + ("" if area.is_own_mailbox else " With an API key: the passkeys of its owner."),
            tag=area.tag,
            data=list[wire.PasskeyRecord],
            examples=(Example(),),
        ),
        Endpoint(
            method="PATCH",
            path=f"{area.prefix}/passkeys/{{id}}",
            handler=_rename,
            action=area.action("factor.change"),
            summary="Rename a passkey",
            tag=area.tag,
            body=wire.PasskeyRename,
            data=wire.PasskeyRecord,
            audit="passkey.rename",
            resource="passkey",
            refusals=(NotFound,),
            examples=(Example(path={"id": "{passkey_id}"}, body={"name": "The key on my ring"}),),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/passkeys/{{id}}",
            handler=_delete,
            action=area.action("factor.change"),
            summary="Delete a passkey",
            description="Ends the other sessions. With the last second factor, the recovery codes are deleted. "
            "CONFLICT `last_factor` if the role requires a second factor and this is the last one; `last_way_in` if "
            f"the account has no password, no identity and no other passkey. {_PASSWORD_NOTE}",
            tag=area.tag,
            body=CurrentPasswordRequest,
            data=wire.PasskeyDeletion,
            audit="passkey.delete",
            resource="passkey",
            refusals=(*_PASSWORD_REFUSALS, NotFound, Conflict),
            examples=(Example(path={"id": "{passkey_id}"}, body={"current_password": "correct horse battery staple"}),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/passkeys/recovery-codes",
            handler=_renew_recovery_codes,
            action=area.action("factor.change"),
            summary="Renew the recovery codes of an account with passkeys",
            description=f"The old recovery codes no longer work. Ends the other sessions. {_PASSWORD_NOTE}",
            tag=area.tag,
            body=CurrentPasswordRequest,
            data=wire.PasskeyRecoveryCodes,
            audit="passkey.recovery_codes",
            resource=area.account,
            refusals=(*_PASSWORD_REFUSALS, Conflict),
            examples=(Example(body={"current_password": "correct horse battery staple"}),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/passkeys/login/options",
            handler=_begin_own_login if area.is_own_mailbox else _begin_login,
            action=None,
            summary="Begin to sign in with a passkey",
            description=f"With the passkey alone, or with the `totp_session` of POST {area.prefix}/login as second "
            "factor. Returns the options for `navigator.credentials.get()`, valid once, for 5 minutes.",
            tag=area.tag,
            body=wire.PasskeyLoginStart,
            data=wire.LoginOptionsResponse,
            login=True,
            refusals=(SessionInvalid, Unavailable),
            examples=(Example(body={}),),
        ),
    )


ENDPOINTS = (
    *_endpoints(ACCOUNT),
    Endpoint(
        method="POST",
        path="/auth/passkeys/login/verify",
        handler=_login,
        action=None,
        summary="Sign in with a passkey",
        description="Opens a session, as POST /auth/login does, with the same response and cookie. A passkey alone "
        "requires user verification: PIN, fingerprint or face. INVALID_CREDENTIALS for an unknown passkey or one whose "
        "counter has not increased; SESSION_INVALID for a challenge that is unknown, used or over 5 minutes old.",
        tag=ACCOUNT.tag,
        body=wire.PasskeyLogin,
        data=logins.LoginResponse,
        login=True,
        refusals=(InvalidCredentials, SessionInvalid, Unavailable),
        examples=(Example(body={"credential": _ASSERTION}),),
    ),
)
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
