"""Routes of administrators."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from msgspec import UNSET

from mailkeep.app import App
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
from mailkeep.features.access.admins.model import Admin, AdminChanges, NewAdmin
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


def _current_password(body: wire.AdminCreate | wire.AdminPatch | wire.AdminDelete) -> str | None:
    return None if body.current_password is UNSET else body.current_password


def _without_duplicates(ids: Iterable[UUID]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(ids))


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
    email = rules.parse_email(body.email)
    password_hash = await service.hash_password(check_password(body.password, email.text))
    new = NewAdmin(email, password_hash, body.role, _without_duplicates(body.domain_ids))
    async with app.db.tx() as conn:
        admin = await service.create(conn, who, app.clock(), new)
    return _detail(who, admin)


async def _change(app: App, call: Call) -> HttpResponse:
    who, body, admin_id = call.caller(), call.body, call.id()
    if app.settings.auth.confirm_admin_changes and admin_id != who.admin_id:
        await call.require_recent_sign_in(app.clock(), _current_password(body), "admin.update")
    changes_own = admin_id == who.admin_id and (body.email, body.password) != (UNSET, UNSET)
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
        if_match=call.if_match,
    )
    async with app.db.tx() as conn:
        admin = await service.change(conn, who, app.clock(), admin_id, changes)
    return _detail(who, admin)


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
        description=("All other super_admins get mail about a new admin or super_admin. " + _CONFIRMATION),
        tag="Administrators",
        versioned=True,
        body=wire.AdminCreate,
        data=wire.AdminRecord,
        status=201,
        recover=audit.answer_from_audit(_get),
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
            "A new password or role ends the administrator's sessions, except the caller's own. To change their own "
            "email or password, callers need a session (with an API key FORBIDDEN) and `current_password` (missing: "
            "MISSING_FIELDS; wrong: INVALID_CREDENTIALS, which counts as a failed login). All super_admins get mail "
            "about a new role, email or password of another admin or super_admin. " + _CONFIRMATION
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
        method="DELETE",
        path="/admins/{id}",
        handler=_delete,
        action="admin.write",
        summary="Delete an administrator",
        description=(
            "Ends its sessions and revokes its keys. The last super_admin can't be deleted. All super_admins, and the "
            "address of the account, get mail about a deleted admin or super_admin. " + _CONFIRMATION
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
