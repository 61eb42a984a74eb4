"""Routes of administrators."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.address import Address
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainNotFound,
    Forbidden,
    InvalidCredentials,
    NotFound,
    WeakPassword,
)
from mailkeep.core.password import check_password
from mailkeep.core.principal import Principal
from mailkeep.features.access.admins import rules, service, wire
from mailkeep.features.access.admins.model import NO_PASSWORD, Admin, AdminChanges, NewAdmin
from mailkeep.features.access.invitations import rules as invitation_rules, service as invitations
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_CONFIRMATION = (
    "With the setting `auth.confirm_admin_changes` it needs a session of the last 10 minutes, or `current_password`, "
    "the caller's own; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`."
)


def _record(who: Principal, admin: Admin) -> wire.AdminRecord:
    return wire.to_record(admin, rules.visible_domains(who, admin))


def _detail(who: Principal, admin: Admin) -> HttpResponse:
    return HttpResponse(_record(who, admin), changed_at=admin.updated_at)


def _current_password(body: wire.AdminCreate | wire.AdminPatch | wire.AdminInvite | wire.AdminDelete) -> str | None:
    return None if body.current_password is UNSET else body.current_password


def _invite_to(body: wire.AdminCreate | wire.AdminInvite) -> Address | None:
    return invitation_rules.parse_recipient(None if body.invite_to is UNSET else body.invite_to)


def _without_duplicates(ids: Iterable[UUID]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(ids))


async def _hash(password: str, email: str) -> str:
    return await service.hash_password(check_password(password, email))


async def _list(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        admins = await service.list_visible(conn, who)
    return HttpResponse([_record(who, admin) for admin in admins])


async def _get(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        admin = await service.get(conn, who, call.id())
    return _detail(who, admin)


async def _create(app: App, call: Call) -> HttpResponse:
    who, body = call.caller(), call.body
    if app.settings.auth.confirm_admin_changes:
        await call.require_recent_sign_in(app.clock(), _current_password(body), "admin.create")
    email, invite_to = rules.parse_email(body.email), _invite_to(body)
    password = None if body.password is UNSET else body.password
    invitation_rules.check_request(invite=body.invite, is_mailed=invite_to is not None, has_password=bool(password))
    new = NewAdmin(
        email=email,
        password_hash=NO_PASSWORD if not password else await _hash(password, email.text),
        role=body.role,
        domain_ids=_without_duplicates(body.domain_ids),
        active=body.active,
        must_change_password=body.must_change_password,
    )
    async with app.db.tx() as conn:
        admin, invitation = await service.create(conn, who, app.clock(), new), UNSET
        if body.invite:
            invitation = await service.invite(app, conn, who, app.clock(), admin, invite_to)
    return HttpResponse(wire.to_created(_record(who, admin), invitation), changed_at=admin.updated_at)


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        admin = await service.get(conn, who, call.id())
    created = wire.to_created(_record(who, admin), None if call.body.invite else UNSET)
    return HttpResponse(created, changed_at=admin.updated_at)


async def _change(app: App, call: Call) -> HttpResponse:
    who, body, admin_id = call.caller(), call.body, call.id()
    if app.settings.auth.confirm_admin_changes and admin_id != who.admin_id:
        await call.require_recent_sign_in(app.clock(), _current_password(body), "admin.update")
    changes_own = admin_id == who.admin_id and (body.email, body.password) != (UNSET, UNSET)
    if body.must_change_password is not UNSET:
        rules.refuse_own_password_rule(who, admin_id)
    if changes_own:
        rules.refuse_own_change(who, has_password=body.current_password is not UNSET)
    email = rules.parse_email(body.email) if body.email is not UNSET else None
    password = None
    if body.password is not UNSET:
        async with app.db.autocommit() as conn:
            current = await service.get(conn, who, admin_id)
        password = check_password(body.password, email.text if email else current.email)
    if changes_own:
        await call.verify_password(body.current_password, "admin.update")
    changes = AdminChanges(
        email=email,
        password_hash=await service.hash_password(password) if password is not None else None,
        role=body.role if body.role is not UNSET else None,
        domain_ids=_without_duplicates(body.domain_ids) if body.domain_ids is not UNSET else None,
        active=body.active if body.active is not UNSET else None,
        must_change_password=body.must_change_password if body.must_change_password is not UNSET else None,
        if_match=call.if_match,
    )
    async with app.db.tx() as conn:
        admin = await service.change(conn, who, app.clock(), admin_id, changes)
    return _detail(who, admin)


async def _invite(app: App, call: Call) -> HttpResponse:
    who, admin_id = call.caller(), call.id()
    if app.settings.auth.confirm_admin_changes:
        await call.require_recent_sign_in(app.clock(), _current_password(call.body), "invitation.create")
    invite_to = _invite_to(call.body)
    async with app.db.tx() as conn:
        invitation = await service.replace_invitation(app, conn, who, app.clock(), admin_id, invite_to)
    return HttpResponse(invitations.to_record(invitation))


async def _repeat_invite(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(invitations.to_record(await invitations.find_of_account(conn, call.id())))


async def _delete(app: App, call: Call) -> HttpResponse:
    who, admin_id = call.caller(), call.id()
    if app.settings.auth.confirm_admin_changes and (admin_id != who.admin_id or who.key_id is not None):
        await call.require_recent_sign_in(app.clock(), _current_password(call.body), "admin.delete")
    async with app.db.tx() as conn:
        admin = await service.delete(conn, who, app.clock(), admin_id, call.if_match)
    return HttpResponse(wire.AdminDeletion(f"The administrator {admin.email} was deleted.", admin.id))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/admins",
        handler=_list,
        action="admin.list",
        summary="List administrators",
        description=(
            "Newest first. admin and super_admin see all, a domain_admin its own account and those that share a domain "
            "with it, a scoped API key only its owner."
        ),
        tag="Administrators",
        data=list[wire.AdminRecord],
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/admins",
        handler=_create,
        action="admin.write",
        summary="Create an administrator",
        description=(
            "With `password`, or with `invite`: then the response has a link with which the account's owner sets a "
            "password, or the link is mailed to `invite_to`. "
            + invitations.DESCRIPTION
            + " Until then nobody can sign in "
            "to the account. All other super_admins get mail about a new admin or super_admin. " + _CONFIRMATION
        ),
        tag="Administrators",
        versioned=True,
        body=wire.AdminCreate,
        data=wire.AdminCreated,
        status=201,
        recover=audit.answer_from_audit(_repeat_create),
        secrets=("invitation",),
        audit="admin.create",
        resource="admin",
        refusals=(WeakPassword, InvalidCredentials, DomainNotFound, Conflict, ApiKeyDomainScope),
        examples=(
            Example(
                body={
                    "email": "nora@example.test",
                    "password": "seven green bottles",
                    "role": "domain_admin",
                    "domain_ids": ["{domain_id}"],
                }
            ),
            Example(body={"email": "ivan@example.test", "invite": True}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/admins/{id}",
        handler=_get,
        action="admin.list",
        summary="Show an administrator",
        tag="Administrators",
        versioned=True,
        data=wire.AdminRecord,
        refusals=(NotFound, Forbidden, ApiKeyDomainScope),
        examples=(Example(path={"id": "{admin_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/admins/{id}",
        handler=_change,
        action="admin.write",
        summary="Change an administrator",
        description=(
            "A new password or role ends the administrator's sessions, except the caller's own; `active` false ends "
            "all, and makes the API keys invalid until it is true again. Nobody sets their own "
            "`must_change_password` (FORBIDDEN). To change their own "
            "email or password, callers need a session (with an API key FORBIDDEN) and `current_password` (missing: "
            "MISSING_FIELDS; wrong: INVALID_CREDENTIALS, which counts as a failed login). All super_admins get mail "
            "about a new role, email or password of another admin or super_admin, and when one is disabled or enabled. "
            + _CONFIRMATION
        ),
        tag="Administrators",
        versioned=True,
        body=wire.AdminPatch,
        data=wire.AdminRecord,
        audit="admin.update",
        resource="admin",
        refusals=(WeakPassword, InvalidCredentials, NotFound, DomainNotFound, Conflict, ApiKeyDomainScope),
        examples=(Example(path={"id": "{admin_id}"}, body={"domain_ids": ["{domain_id}"]}),),
    ),
    Endpoint(
        method="POST",
        path="/admins/{id}/invite",
        handler=_invite,
        action="admin.write",
        summary="Invite an administrator again",
        description=(
            "A new link with which the owner of another account sets a password; it is in the response, or mailed to "
            "`invite_to`. The previous link ends. A password that the account has stays valid until the link is used. "
            + invitations.DESCRIPTION
            + " All super_admins get mail about a link for another admin or super_admin. "
            + _CONFIRMATION
        ),
        tag="Administrators",
        body=wire.AdminInvite,
        data=invitations.InvitationRecord,
        status=201,
        recover=audit.answer_from_audit(_repeat_invite),
        secrets=("url",),
        audit="invitation.create",
        resource="admin",
        refusals=(InvalidCredentials, NotFound, Conflict, ApiKeyDomainScope),
        examples=(Example(path={"id": "{admin_id}"}, body={}),),
    ),
    Endpoint(
        method="DELETE",
        path="/admins/{id}",
        handler=_delete,
        action="admin.write",
        summary="Delete an administrator",
        description=(
            "Ends its sessions and revokes its keys. The last active super_admin can't be deleted. All super_admins, "
            "and the address of the account, get mail about a deleted admin or super_admin. " + _CONFIRMATION
        ),
        tag="Administrators",
        versioned=True,
        body=wire.AdminDelete,
        data=wire.AdminDeletion,
        audit="admin.delete",
        resource="admin",
        refusals=(InvalidCredentials, NotFound, Conflict, ApiKeyDomainScope),
        examples=(Example(path={"id": "{admin_id}"}, body={}),),
    ),
)
