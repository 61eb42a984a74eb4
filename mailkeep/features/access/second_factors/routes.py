"""Routes of second factors."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import Conflict, RateLimitExceeded, TotpInvalid
from mailkeep.features.access.second_factors import service, wire
from mailkeep.features.access.second_factors.model import SecondFactorCode
from mailkeep.web.areas import ACCOUNT, OWN_MAILBOX, Area
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse
from mailkeep.web.fields import OneOf


async def _set_up_totp(app: App, call: Call) -> HttpResponse:
    return HttpResponse(service.to_setup(await service.begin_setup(app, call.caller())))


async def _verify_totp(app: App, call: Call) -> HttpResponse:
    codes = await service.enable(app, call.caller(), call.body.code)
    return HttpResponse(wire.RecoveryCodes("Your authenticator is enabled. Keep the recovery codes safe.", True, codes))


async def _disable_totp(app: App, call: Call) -> HttpResponse:
    body = call.body
    is_recovery = isinstance(body, wire.RecoveryCodeRequest)
    code = SecondFactorCode(body.recovery_code if is_recovery else body.code, is_recovery)
    await service.disable(app, call.caller(), code)
    return HttpResponse(wire.TotpState("Your authenticator is disabled.", False))


async def _renew_recovery_codes(app: App, call: Call) -> HttpResponse:
    codes = await service.renew_recovery_codes(app, call.caller(), call.body.code)
    return HttpResponse(wire.RecoveryCodes("Your previous recovery codes no longer work.", True, codes))


_CODE_REFUSALS = (TotpInvalid, Conflict, RateLimitExceeded)

_SETUP = Endpoint(
    method="POST",
    path="/auth/totp/setup",
    handler=_set_up_totp,
    action="factor.enrol",
    summary="Set up an authenticator",
    description=(
        "Returns the secret for an authenticator. Sign-in requires it only after POST /auth/totp/verify with a "
        "first code, within 10 minutes. A pending setup is replaced."
    ),
    tag=ACCOUNT.tag,
    data=wire.TotpSetupResponse,
    audit="totp.setup",
    resource="admin",
    refusals=(Conflict,),
    examples=(Example(),),
)


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            method="POST",
            path=f"{area.prefix}/totp/verify",
            handler=_verify_totp,
            action=area.action("factor.enrol"),
            summary="Enable the authenticator",
            description="With a first code. Returns ten recovery codes, shown only once, and ends the other sessions.",
            tag=area.tag,
            body=wire.CodeRequest,
            data=wire.RecoveryCodes,
            audit="totp.enable",
            resource=area.account,
            refusals=_CODE_REFUSALS,
            examples=(Example(body={"code": "{totp_code}"}),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/totp/recovery-codes",
            handler=_renew_recovery_codes,
            action=area.action("factor.change"),
            summary="Renew the recovery codes of an account with an authenticator",
            description="With a code. The old recovery codes no longer work. Ends the other sessions.",
            tag=area.tag,
            body=wire.CodeRequest,
            data=wire.RecoveryCodes,
            audit="totp.recovery_codes",
            resource=area.account,
            refusals=_CODE_REFUSALS,
            examples=(Example(body={"code": "{totp_code}"}),),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/totp",
            handler=_disable_totp,
            action=area.action("factor.change"),
            summary="Disable the authenticator",
            description="With a code, or with a recovery code if the authenticator is lost. Ends the other sessions.",
            tag=area.tag,
            body=OneOf((wire.CodeRequest, wire.RecoveryCodeRequest)),
            data=wire.TotpState,
            audit="totp.disable",
            resource=area.account,
            refusals=_CODE_REFUSALS,
            examples=(Example(body={"code": "{totp_code}"}),),
        ),
    )


ENDPOINTS = (_SETUP, *_endpoints(ACCOUNT))
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
