"""Routes of the use of an invitation."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import NotFound, Unavailable, WeakPassword
from mailkeep.features.directory.invitation_acceptance import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _lookup(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_record(await service.find_account(app, call, call.body.token)))


async def _accept(app: App, call: Call) -> HttpResponse:
    account = await service.accept(app, call, call.path["token"], call.body.password)
    message = f"The password of {account.address} was set."
    return HttpResponse(wire.InvitationAcceptance(message, account.type, account.address))


_TAG = "Authentication"

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/invitations/lookup",
        handler=_lookup,
        action=None,
        summary="Show an invitation",
        description=(
            "The account whose password the link sets. NOT_FOUND if the link has been used or replaced, or has "
            "expired. The token is in the body, so that no log of a proxy gets it."
        ),
        tag=_TAG,
        body=wire.InvitationLookup,
        data=wire.InvitedAccountRecord,
        login=True,
        refusals=(NotFound, Unavailable),
        examples=(Example(body={"token": "{invitation_token}"}),),
    ),
    Endpoint(
        method="POST",
        path="/invitations/{token}",
        handler=_accept,
        action=None,
        summary="Accept an invitation",
        description=(
            "Sets the password of the account, ends its sessions, and uses up the link; a refused password does not. "
            "It opens no session. NOT_FOUND as for POST /invitations/lookup. For an administrator FORBIDDEN network "
            "outside `auth.allowed_networks`."
        ),
        tag=_TAG,
        body=wire.InvitationPassword,
        data=wire.InvitationAcceptance,
        login=True,
        refusals=(WeakPassword, NotFound),
        examples=(Example(path={"token": "{used_token}"}, body={"password": "seven green bottles"}),),
    ),
)
