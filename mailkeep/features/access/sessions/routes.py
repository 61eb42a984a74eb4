"""Routes of sessions."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import NotFound
from mailkeep.features.access.sessions import rules, service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _logout(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    assert who.session_id is not None  # the policy refuses this action with a key
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), who.session_id, "auth.logout")
    return HttpResponse(wire.LogoutResponse("You are signed out."), cookies=[rules.clear_cookie()])


async def _logout_all(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        ended = await service.end_all_sessions(conn, call.caller(), app.clock())
    return HttpResponse(
        wire.SessionsEndResponse("All your sessions were ended.", ended), cookies=[rules.clear_cookie()]
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
    cookies = [rules.clear_cookie()] if session_id == who.session_id else []
    return HttpResponse(wire.SessionEndResponse("The session was ended.", session_id), cookies=cookies)


_TAG = "Authentication"

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/auth/logout",
        handler=_logout,
        action="session.leave",
        summary="Sign out",
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
        description="Including the current one.",
        tag=_TAG,
        data=wire.SessionsEndResponse,
        audit="auth.logout_all",
        resource="admin",
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/auth/sessions",
        handler=_list_sessions,
        action="session.list",
        summary="List own sessions",
        description="Active sessions, newest first. With an API key: the sessions of its owner.",
        tag=_TAG,
        data=list[wire.SessionRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="DELETE",
        path="/auth/sessions/{id}",
        handler=_end_session,
        action="account.change",
        summary="End an own session",
        tag=_TAG,
        data=wire.SessionEndResponse,
        audit="session.delete",
        resource="session",
        refusals=(NotFound,),
        examples=(Example(path={"id": "{session_id}"}),),
    ),
)
