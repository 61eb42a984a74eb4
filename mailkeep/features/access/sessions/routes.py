"""Routes of sessions."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import NotFound
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.sessions import rules, service, wire
from mailkeep.web.areas import ACCOUNT, OWN_MAILBOX, Area
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _logout(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    assert who.session_id is not None  # the policy refuses this action with a key
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), who.session_id, "auth.logout")
    return HttpResponse(
        wire.LogoutResponse("You are signed out."), cookies=[rules.clear_cookie(accounts.own(who).kind)]
    )


async def _logout_all(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.tx() as conn:
        ended = await service.end_all_sessions(conn, who, app.clock())
    return HttpResponse(
        wire.SessionsEndResponse("All your sessions were ended.", ended),
        cookies=[rules.clear_cookie(accounts.own(who).kind)],
    )


async def _list_sessions(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        sessions = await service.list_sessions(conn, who, app.clock())
    return HttpResponse([wire.to_session(session, who.session_id) for session in sessions])


async def _end_session(app: App, call: Call) -> HttpResponse:
    who, session_id = call.caller(), call.id()
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), session_id, "session.delete")
    cookies = [rules.clear_cookie(accounts.own(who).kind)] if session_id == who.session_id else []
    return HttpResponse(wire.SessionEndResponse("The session was ended.", session_id), cookies=cookies)


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            method="POST",
            path=f"{area.prefix}/logout",
            handler=_logout,
            action=area.action("session.leave"),
            summary="Sign out",
            tag=area.tag,
            data=wire.LogoutResponse,
            audit="auth.logout",
            resource="session",
            refusals=(NotFound,),
            examples=(Example(),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/logout-all",
            handler=_logout_all,
            action=area.action("account.change"),
            summary="End all own sessions",
            description="Including the current one.",
            tag=area.tag,
            data=wire.SessionsEndResponse,
            audit="auth.logout_all",
            resource=area.account,
            examples=(Example(),),
        ),
        Endpoint(
            method="GET",
            path=f"{area.prefix}/sessions",
            handler=_list_sessions,
            action=area.action("session.list"),
            summary="List own sessions",
            description="Active sessions, newest first."
            + ("" if area.is_own_mailbox else " With an API key: the sessions of its owner."),
            tag=area.tag,
            data=list[wire.SessionRecord],
            examples=(Example(),),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/sessions/{{id}}",
            handler=_end_session,
            action=area.action("account.change"),
            summary="End an own session",
            tag=area.tag,
            data=wire.SessionEndResponse,
            audit="session.delete",
            resource="session",
            refusals=(NotFound,),
            examples=(Example(path={"id": "{session_id}"}),),
        ),
    )


ENDPOINTS = _endpoints(ACCOUNT)
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
