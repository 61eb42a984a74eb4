"""Routes of single sign-on."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import Conflict, NotFound
from mailkeep.features.access.oidc import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse
from mailkeep.web.fields import UNSET


async def _providers(app: App, call: Call) -> HttpResponse:
    return HttpResponse([wire.to_provider(provider) for provider in service.list_providers(app)])


async def _login(app: App, call: Call) -> HttpResponse:
    query = call.query
    next_path = None if query.next is UNSET else query.next
    redirect = await service.begin_login(app, call, call.path["provider"], next_path, link=query.link == 1)
    return _redirect(redirect.location, redirect.cookie)


async def _callback(app: App, call: Call) -> HttpResponse:
    redirect = await service.finish_login(app, call, call.path["provider"])
    return _redirect(redirect.location, redirect.cookie)


async def _disconnect(app: App, call: Call) -> HttpResponse:
    await service.disconnect(app, call)
    return HttpResponse(wire.Disconnected("Your identity is disconnected.", None))


def _redirect(location: str, cookie: str | None) -> HttpResponse:
    return HttpResponse(
        content=b"", content_type="text/plain", headers={"location": location}, cookies=[cookie] if cookie else []
    )


_TAG = "Single sign-on"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/auth/oidc/providers",
        handler=_providers,
        action=None,
        summary="List identity providers",
        description="The settings' `oidc.providers`, in their order.",
        tag=_TAG,
        data=list[wire.ProviderRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/auth/oidc/login/{provider}",
        handler=_login,
        action=None,
        summary="Sign in with an identity provider",
        description=(
            "For browsers: redirects to the provider, which redirects back to the callback. With `link=1` the identity "
            "is linked to the account of the session, which must be at most 15 minutes old. An error redirects to "
            "`/login?error=CODE`."
        ),
        tag=_TAG,
        query=wire.LoginQuery,
        data=str,
        content="text/plain",
        status=302,
        login=True,
        refusals=(NotFound,),
        examples=(Example(path={"provider": "keycloak"}, response=""),),
    ),
    Endpoint(
        method="GET",
        path="/auth/oidc/callback/{provider}",
        handler=_callback,
        action=None,
        summary="Return from an identity provider",
        description=(
            "Sets the cookie `svc_session` and redirects to `/` or to the `next` of the sign-in. For an account with a "
            "second factor it redirects to `/login#totp_session=…&methods=…&next=…`, after an error to "
            "`/login?error=CODE`, with `reason` for FORBIDDEN, CONFLICT and UNAVAILABLE."
        ),
        tag=_TAG,
        query=wire.CallbackQuery,
        any_query=True,
        data=str,
        content="text/plain",
        status=302,
        login=True,
        refusals=(NotFound,),
        examples=(
            Example(
                path={"provider": "keycloak"},
                query={"state": "af0ifjsldkj", "code": "SplxlOBeZQQYbYS6WxSbIA"},
                response="",
            ),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="/auth/oidc/disconnect",
        handler=_disconnect,
        action="account.change",
        summary="Disconnect the own identity",
        description="Ends the other sessions. The only way to sign in can't be removed: CONFLICT `last_way_in`.",
        tag=_TAG,
        data=wire.Disconnected,
        audit="oidc.disconnect",
        resource="admin",
        refusals=(NotFound, Conflict),
        examples=(Example(),),
    ),
)
