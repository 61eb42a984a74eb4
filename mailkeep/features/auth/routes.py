"""Paths of logins and sessions."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.clock import iso
from mailkeep.core.errors import InvalidCredentials, NotFound, WeakPassword
from mailkeep.features.auth import rules, service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, Reply


async def _login(app: App, call: Call) -> Reply:
    made = await service.login(app, call, call.body.email, call.body.password)
    data = wire.LoggedIn(wire.account(made.admin), made.session.id, iso(made.session.expires_at))
    return Reply(data, cookies=[made.cookie])


async def _me(app: App, call: Call) -> Reply:
    async with app.db.autocommit() as conn:
        return Reply(wire.account(await service.me(conn, call.caller())))


async def _logout(app: App, call: Call) -> Reply:
    who = call.caller()
    assert who.session_id is not None  # the action is barred for keys
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), who.session_id, "auth.logout")
    return Reply(wire.Done("You are logged out."), cookies=[rules.clear_cookie()])


async def _logout_all(app: App, call: Call) -> Reply:
    async with app.db.tx() as conn:
        ended = await service.end_all_sessions(conn, call.caller(), app.clock())
    return Reply(wire.SessionsEnded("All your sessions were ended.", ended), cookies=[rules.clear_cookie()])


async def _sessions(app: App, call: Call) -> Reply:
    who = call.caller()
    async with app.db.autocommit() as conn:
        found = await service.list_sessions(conn, who, app.clock())
    return Reply([wire.session(session, who.session_id) for session in found])


async def _end_session(app: App, call: Call) -> Reply:
    who, session_id = call.caller(), call.id()
    async with app.db.tx() as conn:
        await service.end_session(conn, who, app.clock(), session_id, "session.delete")
    cookies = [rules.clear_cookie()] if session_id == who.session_id else []
    return Reply(wire.SessionEnded("The session was ended.", session_id), cookies=cookies)


async def _password(app: App, call: Call) -> Reply:
    ended = await service.change_password(app, call, call.body.current_password, call.body.new_password)
    return Reply(wire.SessionsEnded("Your password was changed.", ended))


_TAG = "Authentication"

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/auth/login",
        handler=_login,
        action=None,
        summary="Log in",
        description=(
            "Sets the cookie `svc_session`; a session shown with the call is replaced. After 10 failures of an account "
            "in 15 minutes, sources that never logged into it have to wait."
        ),
        tag=_TAG,
        body=wire.Login,
        data=wire.LoggedIn,
        login=True,
        refusals=(InvalidCredentials,),
        examples=(Example(body={"email": "sue@example.test", "password": "correct horse battery staple"}),),
    ),
    Endpoint(
        method="GET",
        path="/auth/me",
        handler=_me,
        action="account.read",
        summary="Show who calls",
        description="With an API key: its owner.",
        tag=_TAG,
        data=wire.Account,
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/auth/logout",
        handler=_logout,
        action="account.change",
        summary="Log out",
        tag=_TAG,
        data=wire.Done,
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
        data=wire.SessionsEnded,
        audit="auth.logout_all",
        resource="admin",
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/auth/sessions",
        handler=_sessions,
        action="account.read",
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
        data=wire.SessionEnded,
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
        data=wire.SessionsEnded,
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
