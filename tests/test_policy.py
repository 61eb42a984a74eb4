"""Permissions: every route × caller × domain of the object. A route of the router without a row in ROWS fails.

A row says how to call the route. The expected result follows from the policy unless the row overrides it: FORBIDDEN for
a role below the action's and for a foreign domain, API_KEY_DOMAIN_SCOPE if only the scope of the key excludes the
domain, NOT_FOUND for unknown objects. Callers and objects are inserted with SQL, so that the calls are independent.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import cbor2
import pytest

from mailkeep.backup import restic
from mailkeep.core import totp
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import POLICY, ActionScope, Principal, Role
from mailkeep.core.secret import token_hash
from mailkeep.features.directory.bulk.jobs import BulkWorker
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.mailflow.unsubscribe.model import UnsubscribeLink
from mailkeep.features.mailflow.unsubscribe.rules import new_token
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.settings.external import AcmeSettings
from mailkeep.web.endpoint import Endpoint
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.plugins.post import Post, letter
from tests.support.authenticator import SoftKey, b64
from tests.support.caller import Answer, Caller
from tests.support.client import (
    DOMAIN_IDS,
    EXAMPLE,
    OTHER,
    PASSWORD,
    PASSWORD_HASH,
    START,
    VAULT,
    Api,
    Client,
    cookie_of,
    insert_row,
)
from tests.support.event_stream import parse
from tests.support.junk import insert_junk
from tests.support.reports import tls_report

OWN, FOREIGN, UNKNOWN, MALFORMED, NONE = "own", "foreign", "unknown", "malformed", "none"
DOMAINS = {OWN: EXAMPLE, FOREIGN: OTHER}
CONTENT_PARTS = ("content", "html", "attachments/{number}")
RECEIVED = (
    b"From: Someone <someone@elsewhere.test>\r\nSubject: Hello\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n"
    b"--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=list.txt\r\n\r\none sofa\r\n"
    b"--b--\r\n"
)
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
NO_DOMAINS = frozenset[UUID]()

Outcome = tuple[int, str | None]
NOT_FOUND: Outcome = (404, "NOT_FOUND")
DOMAIN_NOT_FOUND: Outcome = (404, "DOMAIN_NOT_FOUND")
INVALID_FIELD: Outcome = (400, "INVALID_FIELD")
FORBIDDEN: Outcome = (403, "FORBIDDEN")
OUT_OF_SCOPE: Outcome = (403, "API_KEY_DOMAIN_SCOPE")


@dataclass(frozen=True)
class Actor:
    """A caller. `role` None: no credentials, or the owner of a mailbox in the domain `owns`; `scope`: as in
    `Principal`; `is_key`: with an API key, not a session.
    """

    name: str
    role: Role | None
    assigned: frozenset[UUID] = NO_DOMAINS
    scope: frozenset[UUID] | None = None
    is_key: bool = False
    owns: str | None = None
    permissions: str = "full"  # of its key
    client: Client = field(repr=False, default=None)  # type: ignore[assignment]
    admin_id: UUID | None = None
    own_id: UUID | None = None  # of the session or key
    mailbox_id: UUID | None = None

    @property
    def account(self) -> dict[str, UUID]:
        """The column of the account in tables of what belongs to it; empty without one."""
        ids = {"admin_id": self.admin_id, "mailbox_id": self.mailbox_id}
        return {name: value for name, value in ids.items() if value is not None}

    @property
    def account_id(self) -> UUID | None:
        return self.admin_id or self.mailbox_id

    def sees(self, case: str) -> bool:
        """Whether a list shows this actor objects of the own or the foreign domain."""
        domain = DOMAIN_IDS[DOMAINS[case]]
        by_role = self.role is not Role.DOMAIN_ADMIN or domain in self.assigned
        return by_role and (self.scope is None or domain in self.scope)


_OWN, _FOREIGN = frozenset({DOMAIN_IDS[EXAMPLE]}), frozenset({DOMAIN_IDS[OTHER]})
_SUPER, _ADMIN, _DOMAIN = Role.SUPER_ADMIN, Role.ADMIN, Role.DOMAIN_ADMIN
ACTORS = (
    Actor("nobody", None),
    Actor("owner", None, owns="own"),
    Actor("owner elsewhere", None, owns="foreign"),
    Actor("super", _SUPER),
    Actor("admin", _ADMIN),
    Actor("domain admin", _DOMAIN, _OWN),
    Actor("outsider", _DOMAIN, _FOREIGN),
    Actor("domain admin of nothing", _DOMAIN),
    Actor("super's key", _SUPER, is_key=True),
    Actor("admin's key", _ADMIN, is_key=True),
    Actor("domain admin's key", _DOMAIN, _OWN, is_key=True),
    Actor("domain admin's sending key", _DOMAIN, _OWN, is_key=True, permissions="sending"),
    Actor("super's read key", _SUPER, is_key=True, permissions="read"),
    Actor("super's key to own", _SUPER, scope=_OWN, is_key=True),
    Actor("admin's key to own", _ADMIN, scope=_OWN, is_key=True),
    Actor("domain admin's key to own", _DOMAIN, _OWN, scope=_OWN, is_key=True),
    Actor("super's key to foreign", _SUPER, scope=_FOREIGN, is_key=True),
    Actor("domain admin's key to foreign", _DOMAIN, _OWN, scope=_FOREIGN, is_key=True),
    Actor("super's key to deleted domains", _SUPER, scope=NO_DOMAINS, is_key=True),
    Actor("domain admin's key to deleted domains", _DOMAIN, _OWN, scope=NO_DOMAINS, is_key=True),
)


@dataclass
class ObjectFactory:
    """The application with all routes. Creates callers and objects."""

    post: Post
    api: Api
    counter: Iterator[int] = field(default_factory=itertools.count)
    shared: dict[str, Any] = field(default_factory=dict[str, Any])

    def unique_name(self, prefix: str) -> str:
        return f"{prefix}{next(self.counter)}"

    async def create_actor(self, template: Actor) -> Actor:
        """Create an account like `template`, with a new session or key."""
        if template.owns is not None:
            mailbox_id = await create_mailbox(self, template.owns)
            own_id, cookie = await self.create_owner_session(mailbox_id)
            return replace(template, client=self.api.nobody.with_cookie(cookie), mailbox_id=mailbox_id, own_id=own_id)
        if template.role is None:
            return replace(template, client=self.api.nobody)
        name = self.unique_name("person")
        admin_id = await self.create_account(name, template.role, template.assigned)
        if not template.is_key:
            own_id, cookie = await self.create_session(admin_id, name)
            return replace(template, client=self.api.nobody.with_cookie(cookie), admin_id=admin_id, own_id=own_id)
        own_id, raw = await self.create_key(admin_id, name, template.scope)
        await self.api.sql(
            "UPDATE api_keys SET permissions = %(permissions)s WHERE id = %(id)s",
            permissions=template.permissions,
            id=own_id,
        )
        return replace(template, client=self.api.nobody.with_key(raw), admin_id=admin_id, own_id=own_id)

    async def create_account(self, name: str, role: Role, assigned: frozenset[UUID]) -> UUID:
        admin_id, at = uuid7(START), START
        email = f"{name}@elsewhere.test"
        account = {
            "id": admin_id, "email": email, "email_key": email, "password_hash": PASSWORD_HASH, "role": role.value,
            "created_at": at, "updated_at": at,
        }  # fmt: skip
        await self.insert("admins", account)
        for domain_id in assigned:
            await self.insert("admin_domains", {"admin_id": admin_id, "domain_id": domain_id})
        return admin_id

    async def create_session(self, admin_id: UUID, name: str) -> tuple[UUID, str]:
        session_id, token = uuid7(START), f"{name:_<43}"
        session = {
            "id": session_id, "admin_id": admin_id, "token_hash": token_hash(token), "credentials_epoch": 0,
            "ip_address": "192.0.2.1", "user_agent": "actors", "created_at": START,
            "expires_at": START.replace(year=2036),
        }  # fmt: skip
        await self.insert("sessions", session)
        return session_id, cookie_of(token)

    async def create_owner_session(self, mailbox_id: UUID) -> tuple[UUID, str]:
        session_id = uuid7(START)
        client = await self.api.owner(mailbox_id, id=session_id)
        return session_id, client.headers["cookie"]

    async def create_key(self, admin_id: UUID, name: str, scope: frozenset[UUID] | None) -> tuple[UUID, str]:
        """Create a key. An empty scope results from deleting its only domain with the API."""
        key_id, raw = uuid7(START), f"svc_sk_{name:_<43}"
        key = {
            "id": key_id, "admin_id": admin_id, "name": name, "key_prefix": raw[:12], "token_hash": token_hash(raw),
            "is_scoped": scope is not None, "rate_limit": 0, "created_at": START,
        }  # fmt: skip
        await self.insert("api_keys", key)
        deleted_id = await self.api.domain(f"{self.unique_name('deleted')}.test") if scope == NO_DOMAINS else None
        for domain_id in {deleted_id} if deleted_id else scope or ():
            await self.insert("api_key_domains", {"key_id": key_id, "domain_id": domain_id})
        if deleted_id:
            assert (await self.api.sue.delete(f"/domains/{deleted_id}")).status == 200
        return key_id, raw

    async def insert(self, table: Any, row: dict[str, Any]) -> None:
        async with self.api.app.db.autocommit() as conn:
            await insert_row(conn, table, row)

    async def get_or_create(self, name: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """Create an object at the first use; calls that only read it share it."""
        if name not in self.shared:
            self.shared[name] = await make()
        return self.shared[name]


@dataclass(frozen=True)
class CallArguments:
    """The arguments of a call; `actor`: if not the one of the matrix."""

    path: str | None = None
    query: dict[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    actor: Actor | None = None


@dataclass(frozen=True)
class Row:
    """How to call a route, and the exceptions from the policy.

    `prepare` creates the objects and returns the arguments; `cases`: the domains of its object; `unknown`, `malformed`,
    `success`: the outcomes of these cases; `override` replaces the outcome of the policy; `check` asserts on the
    response of a permitted call.
    """

    prepare: Callable[[ObjectFactory, Actor, str], Awaitable[CallArguments]]
    cases: tuple[str, ...] = (OWN, FOREIGN, UNKNOWN, MALFORMED)
    unknown: Outcome = NOT_FOUND
    malformed: Outcome = NOT_FOUND
    success: Outcome | None = None
    override: Callable[[Actor, str, Outcome], Outcome] | None = None
    check: Callable[[Actor, str, Answer], object] | None = None


def refusal_by_role(actor: Actor, action: str | None) -> Outcome | None:
    """The refusal because of the role or the kind of credential; None if permitted."""
    if action is None:
        return None
    rule = POLICY[action]
    if actor.owns is not None and rule.owners:
        return None
    if actor.role is None or rule.role is None:
        return 401, "AUTH_REQUIRED"
    if actor.role.rank < rule.role.rank or (actor.is_key and rule.scope is ActionScope.CREDENTIALS):
        return FORBIDDEN
    if rule.scope is ActionScope.GLOBAL and actor.scope is not None:
        return OUT_OF_SCOPE
    return None


SENDING_ROUTES = {
    "POST /send", "POST /send/batch", "GET /auth/me", "GET /messages", "GET /messages/{id}", "PATCH /messages/{id}",
    "POST /messages/{id}/cancel",
}  # fmt: skip


def refusal_by_permissions(actor: Actor, endpoint: Endpoint) -> Outcome | None:
    """The refusal because of the permissions of the key: api.md, part 3, Administrators 10."""
    if endpoint.action is None or actor.permissions == "full":
        return None
    allowed = endpoint.method == "GET" if actor.permissions == "read" else route_name(endpoint) in SENDING_ROUTES
    return None if allowed else FORBIDDEN


def refusal_by_domain(actor: Actor, case: str) -> Outcome | None:
    """The refusal because of the object's domain; None if permitted."""
    domain = DOMAIN_IDS[DOMAINS[case]]
    if actor.role is Role.DOMAIN_ADMIN and domain not in actor.assigned:
        return FORBIDDEN
    return None if actor.scope is None or domain in actor.scope else OUT_OF_SCOPE


def expected_outcome(endpoint: Endpoint, row: Row, actor: Actor, case: str) -> Outcome:
    if refusal := refusal_by_role(actor, endpoint.action) or refusal_by_permissions(actor, endpoint):
        return refusal
    success = row.success or (endpoint.status, None)
    if row.override:
        return row.override(actor, case, success)
    match case:
        case "unknown":
            return row.unknown
        case "malformed":
            return row.malformed
        case "none":
            return success
        case _:
            return refusal_by_domain(actor, case) or success


# Arguments of calls

Maker = Callable[[ObjectFactory, str], Awaitable[Any]]


def domain_id_for(case: str) -> str:
    return str(DOMAIN_IDS[DOMAINS[case]]) if case in DOMAINS else {UNKNOWN: UNKNOWN_ID, MALFORMED: "no-id"}[case]


def by_id(make: Maker, body: Any = None) -> Callable[[ObjectFactory, Actor, str], Awaitable[CallArguments]]:
    async def prepare(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        path = str(await make(factory, case)) if case in DOMAINS or case == NONE else domain_id_for(case)
        return CallArguments(path, body=body(factory, case) if callable(body) else body)

    return prepare


def new_report(factory: ObjectFactory, case: str) -> dict[str, Any]:
    domain = {UNKNOWN: "unmanaged.test", MALFORMED: ""}.get(case) or DOMAINS.get(case, "")
    return {"filename": "r.json", "content": b64encode(tls_report(domain)).decode()}


def by_body(
    make: Callable[[ObjectFactory, str], dict[str, Any]],
) -> Callable[[ObjectFactory, Actor, str], Awaitable[CallArguments]]:
    async def prepare(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        return CallArguments(body=make(factory, case))

    return prepare


async def by_query(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(query={"limit": 200} | ({} if case == NONE else {"domain_id": domain_id_for(case)}))


async def by_filter(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """A list without pagination."""
    return CallArguments(query={} if case == NONE else {"domain_id": domain_id_for(case)})


async def by_period(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(query={"period": "7d"} | (await by_filter(factory, actor, case)).query)


async def by_scope(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(query={} if case == NONE else {"scope": "domain", "id": domain_id_for(case)})


def threshold_change(factory: ObjectFactory, case: str) -> dict[str, Any]:
    scope = {"scope": "global"} if case == NONE else {"scope": "domain", "id": domain_id_for(case)}
    return scope | {"values": {"sender_per_hour": 900 - next(factory.counter) % 100}}


async def by_stream(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """The stream with all past events, which ends immediately."""
    arguments = await by_filter(factory, actor, case)
    return CallArguments(query={"duration": 0, "after": UUID(int=0)} | arguments.query)


def hold_action(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"action": "hold", "ids": ["4jW9T1xz0bz1"], "dry_run": True}


async def config_change(objects: ObjectFactory, _actor: Actor, _case: str) -> CallArguments:
    return CallArguments(body={"changes": {"retention.content_days": 1 + next(objects.counter)}})


async def config_rollback(objects: ObjectFactory, _actor: Actor, case: str) -> CallArguments:
    number = {UNKNOWN: "999", MALFORMED: "x"}.get(case, "0")
    return CallArguments(number, body={})


async def create_operation(factory: ObjectFactory, case: str) -> Any:
    rows = await factory.api.sql(
        """
        INSERT INTO orchestrator_operations (id, kind, service, state, author, created_at, steps)
        VALUES (gen_random_uuid(), 'restart', 'dovecot', 'succeeded', 'test', now(), '[]') RETURNING id
        """
    )
    return rows[0]["id"]


async def create_certificate(factory: ObjectFactory, case: str) -> Any:
    name = f"{factory.unique_name('secure')}.test"
    await factory.api.domain(name)
    return await factory.api.certificate(name)


async def create_backup(factory: ObjectFactory, case: str) -> Any:
    await factory.api.sql("DELETE FROM backup_operations")
    mailbox_id = await shared_mailbox(factory, OWN)
    return await factory.api.backup((mailbox_id, f"kept@{EXAMPLE}"))


async def create_failed_backup(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.backup(state="failed", snapshot="")


async def create_running_backup(factory: ObjectFactory, case: str) -> Any:
    await factory.api.sql("DELETE FROM backup_operations")
    return await factory.api.running_backup()


async def without_operations(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    await factory.api.sql("DELETE FROM backup_operations")
    return CallArguments(body={})


def restore_of(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"scope": "domain", "domain_id": str(DOMAIN_IDS[EXAMPLE]), "dry_run": True}


def daily_backups(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"schedule": "daily", "current_password": PASSWORD}


def no_keys(actor: Actor, case: str, success: Outcome) -> Outcome:
    return (403, "FORBIDDEN") if actor.is_key else success


def with_restic(status: int) -> Outcome:
    return (status, None) if restic.find_program() else (503, "UNAVAILABLE")


async def without_acme(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    factory.api.app.settings = replace(factory.api.app.settings, acme=AcmeSettings())
    return CallArguments(body={})


async def acme_token(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(await factory.api.acme_token())


async def create_bulk_operation(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """A finished operation of the actor; NONE: of somebody else."""
    if case in (UNKNOWN, MALFORMED):
        return CallArguments(domain_id_for(case))
    [row] = await factory.api.sql(
        """
        INSERT INTO bulk_operations (id, resource, action, dry_run, state, total, author_id, author, author_role, actor,
                                     key_id, created_at, finished_at, claimed_until)
        VALUES (gen_random_uuid(), 'mailbox', 'create', false, 'succeeded', 0, %(author)s, 'x', 'admin', 'session',
                %(key)s, %(at)s, %(at)s, %(at)s)
        RETURNING id
        """,
        author=actor.admin_id if case == OWN else UUID(UNKNOWN_ID),
        key=actor.own_id if actor.is_key else None,
        at=START,
    )
    return CallArguments(str(row["id"]))


def own_operations(actor: Actor, case: str, success: Outcome) -> Outcome:
    """Results are for the creator and super_admins."""
    if case in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    return success if case != NONE or (actor.role is Role.SUPER_ADMIN and actor.scope is None) else FORBIDDEN


def bulk_deletion() -> Callable[[ObjectFactory, Actor, str], Awaitable[CallArguments]]:
    """Deletes nothing: `test_items_of_bulk_operations_follow_the_policy` shows what items may do."""
    return by_body(lambda _factory, _case: {"action": "delete", "items": [{"id": UNKNOWN_ID}]})


async def name_daemon(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments("dovecot")


async def apply_stale_plan(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(body={"plan_id": "old"})


async def name_generation(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(body={"generation": 1})


async def no_arguments(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments()


async def find_domain(factory: ObjectFactory, case: str) -> Any:
    return DOMAIN_IDS[DOMAINS[case]]


async def create_dkim_key(factory: ObjectFactory, case: str) -> Any:
    """A domain with a pending DKIM key that has the domain's id."""
    domain_id = DOMAIN_IDS[DOMAINS[case]]
    await factory.api.sql("DELETE FROM dkim_keys WHERE id = %(id)s", id=domain_id)
    return await factory.api.dkim_key(domain_id, id=domain_id)


async def create_retired_key(factory: ObjectFactory, case: str) -> Any:
    domain_id = await create_dkim_key(factory, case)
    await factory.api.sql("UPDATE dkim_keys SET stage = 'retired' WHERE id = %(id)s", id=domain_id)
    return domain_id


async def create_domain_with_room(factory: ObjectFactory, case: str) -> Any:
    """A domain whose keys are few enough for one more."""
    domain_id = DOMAIN_IDS[DOMAINS[case]]
    await factory.api.sql("DELETE FROM dkim_keys WHERE domain_id = %(id)s AND stage = 'pending'", id=domain_id)
    return domain_id


async def create_mailbox(factory: ObjectFactory, case: str, **columns: Any) -> Any:
    return await factory.api.mailbox(f"{factory.unique_name('box')}@{DOMAINS[case]}", **columns)


async def shared_mailbox(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"mailbox {case}", lambda: create_mailbox(factory, case))


async def create_vacation(factory: ObjectFactory, case: str) -> Any:
    mailbox_id = await create_mailbox(factory, case)
    await factory.api.vacation(mailbox_id)
    return mailbox_id


async def create_setup_link(factory: ObjectFactory, case: str) -> Any:
    mailbox_id = await create_mailbox(factory, case)
    await factory.api.setup_link(mailbox_id)
    return mailbox_id


async def setup_token(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """The token of a link is all that it needs."""
    return CallArguments(await factory.api.setup_link(await create_mailbox(factory, FOREIGN)))


async def create_trashed_mailbox(factory: ObjectFactory, case: str) -> Any:
    return await create_mailbox(factory, case, deleted_at=START)


async def create_suspended_mailbox(factory: ObjectFactory, case: str) -> Any:
    mailbox_id = await create_mailbox(factory, case)
    by_lowest = {"id": uuid7(START), "reason": "x", "by_kind": "admin", "by_label": "x", "by_rank": 0}
    [row] = await factory.api.sql("SELECT local_part FROM mailboxes WHERE id = %(id)s", id=mailbox_id)
    address = f"{row['local_part']}@{DOMAINS[case]}"
    at = {"domain_id": DOMAIN_IDS[DOMAINS[case]], "address": address, "address_key": address, "created_at": START}
    await factory.insert("suspensions", by_lowest | at)
    return mailbox_id


async def create_app_password(factory: ObjectFactory, case: str) -> Any:
    """A mailbox with an app password that has the mailbox's id."""
    mailbox_id = await create_mailbox(factory, case)
    return await factory.api.app_password(mailbox_id, id=mailbox_id)


async def create_junk(factory: ObjectFactory, case: str) -> Any:
    """A mailbox with a message in Junk that has the mailbox's id."""
    mailbox_id = await create_mailbox(factory, case)
    return (await insert_junk(factory.api, mailbox_id, id=mailbox_id)).id


async def create_suspension(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.suspension(f"{factory.unique_name('noisy')}@{DOMAINS[case]}")


async def create_alert(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.alert(DOMAINS[case])


async def shared_alert(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"alert {case}", lambda: create_alert(factory, case))


async def create_health_alert(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.alert()


async def create_sign_in_block(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.sign_in_block(f"mailbox:{factory.unique_name('guessed')}@{DOMAINS[case]}")


async def create_incident(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.incident(await shared_mailbox(factory, case))


async def shared_incident(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"incident {case}", lambda: create_incident(factory, case))


async def incident_in_body(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """About a mailbox."""
    mailbox_id = (await by_id(shared_mailbox)(factory, actor, case)).path
    return CallArguments(body={"subject": {"type": "mailbox", "id": mailbox_id}, "actions": ["disable_forwards"]})


async def shared_suspension(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"suspension {case}", lambda: create_suspension(factory, case))


async def create_suppression(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.suppression(f"{factory.unique_name('gone')}@elsewhere.test", DOMAINS[case])


async def shared_suppression(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"suppression {case}", lambda: create_suppression(factory, case))


async def create_unsubscribe_group(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.unsubscribe_group(factory.unique_name("group"), DOMAINS[case])


async def shared_unsubscribe_group(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"group {case}", lambda: create_unsubscribe_group(factory, case))


async def suppression_import(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """Each row is judged by itself, so that the call succeeds."""
    item = {"address": "gone@elsewhere.test", "domain_id": str(DOMAIN_IDS[EXAMPLE])}
    return CallArguments(body={"items": [item]})


async def renamed_group(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    arguments = await by_id(create_unsubscribe_group)(factory, actor, case)
    return replace(arguments, body={"name": factory.unique_name("renamed")})


async def unsubscribe_token(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """The token of a link is all that it needs."""
    link = UnsubscribeLink(await shared_unsubscribe_group(factory, FOREIGN), uuid7(START), "a@elsewhere.test")
    return CallArguments(new_token(VAULT, link))


async def create_alias(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.alias(f"{factory.unique_name('alias')}@{DOMAINS[case]}", ["out@elsewhere.test"])


async def shared_alias(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"alias {case}", lambda: create_alias(factory, case))


async def create_webhook(factory: ObjectFactory, case: str) -> Any:
    """`none`: a webhook for all domains."""
    return await factory.api.webhook(DOMAINS.get(case))


async def create_template(factory: ObjectFactory, case: str) -> Any:
    """`none`: a template for all domains."""
    return await factory.api.template(DOMAINS.get(case), published=True)


async def create_draft(factory: ObjectFactory, case: str) -> Any:
    return await factory.api.template(DOMAINS.get(case))


async def shared_template(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"template {case}", lambda: create_template(factory, case))


async def shared_webhook(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"webhook {case}", lambda: create_webhook(factory, case))


async def shared_message(factory: ObjectFactory, case: str) -> Any:
    """A message sent from the domain; `none`: a message rejected because its domain is not managed here."""

    async def make() -> Any:
        if case != NONE:
            sender = {"email": f"shop@{DOMAINS[case]}"}
            attached = [{"filename": "list.txt", "content_type": "text/no_arguments", "content": "b25lIHNvZmE="}]
            more = {"subject": "In HTML too", "html_body": "<p>Hi</p>", "attachments": attached}
            written = letter(**{"from": sender}, **more)
            return (await factory.api.sue.post("/send", written)).data["id"]
        await factory.post.deliver("somebody@unmanaged.test")
        [row] = await factory.api.sql("SELECT id FROM messages WHERE domain_id IS NULL")
        return row["id"]

    return await factory.get_or_create(f"message {case}", make)


async def scheduled_message(factory: ObjectFactory, case: str) -> Any:
    written = letter(**{"from": {"email": f"shop@{DOMAINS[case]}"}}, scheduled_at="2026-03-03T12:00:00Z")
    return (await factory.api.sue.post("/send", written)).data["id"]


async def bounced_message(factory: ObjectFactory, case: str) -> Any:
    async def make() -> Any:
        written = letter(**{"from": {"email": f"shop@{DOMAINS[case]}"}}, to=[{"email": "bounce@elsewhere.test"}])
        message_id = (await factory.api.sue.post("/send", written)).data["id"]
        await factory.post.run_queue()
        return message_id

    return await factory.get_or_create(f"bounced {case}", make)


async def own_scheduled_message(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """What the caller's own key has scheduled; others have scheduled nothing."""
    if actor.permissions != "sending":
        return CallArguments(UNKNOWN_ID)
    written = letter(**{"from": {"email": f"shop@{EXAMPLE}"}}, scheduled_at="2026-03-03T12:00:00Z")
    return CallArguments((await actor.client.post("/send", written)).data["id"])


def own_or_unknown(actor: Actor, case: str, success: Outcome) -> Outcome:
    return success if actor.permissions == "sending" else NOT_FOUND


async def shared_received_message(factory: ObjectFactory, case: str) -> Any:
    async def make() -> Any:
        mailbox_id = await create_mailbox(factory, case)
        [row] = await factory.api.sql("SELECT local_part FROM mailboxes WHERE id = %(id)s", id=mailbox_id)
        await factory.post.deliver(f"{row['local_part']}@{DOMAINS[case]}", content=RECEIVED)
        [row] = await factory.api.sql("SELECT id FROM messages WHERE mailbox_id = %(id)s", id=mailbox_id)
        return row["id"]

    return await factory.get_or_create(f"received {case}", make)


async def try_with_received(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """Try a Sieve script with a received message."""
    message_id = await shared_received_message(factory, case) if case in DOMAINS else domain_id_for(case)
    return CallArguments(body={"script": "keep;", "message_id": str(message_id)})


async def find_event(factory: ObjectFactory, case: str) -> Any:
    await shared_message(factory, case)
    domain_id = DOMAIN_IDS[DOMAINS[case]]
    return (await factory.api.sql("SELECT id FROM events WHERE domain_id = %(id)s LIMIT 1", id=domain_id))[0]["id"]


async def find_captured_message(factory: ObjectFactory, case: str) -> Any:
    await shared_message(factory, case)
    caught = (await factory.api.sue.get("/sandbox/messages", limit=200)).data
    return next(each["id"] for each in caught if each["subject"] == "In HTML too")


async def create_admin(factory: ObjectFactory, case: str) -> Any:
    return await factory.create_account(factory.unique_name("account"), _DOMAIN, frozenset({DOMAIN_IDS[DOMAINS[case]]}))


async def shared_admin(factory: ObjectFactory, case: str) -> Any:
    return await factory.get_or_create(f"admin {case}", lambda: create_admin(factory, case))


async def key_to_revoke(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """`own`: a key of the caller's account; `foreign`: of another account."""
    if case not in DOMAINS or actor.admin_id is None:
        return CallArguments(UNKNOWN_ID if case != MALFORMED else "no-id")
    owner = actor.admin_id if case == OWN else await shared_admin(factory, OWN)
    return CallArguments(str((await factory.create_key(owner, factory.unique_name("key"), None))[0]))


async def session_to_end(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """`own`: another session of the caller; `foreign`: a session of another account."""
    if case not in DOMAINS or actor.admin_id is None:
        return CallArguments(UNKNOWN_ID if case != MALFORMED else "no-id")
    owner = actor.admin_id if case == OWN else await shared_admin(factory, OWN)
    return CallArguments(str((await factory.create_session(owner, factory.unique_name("session")))[0]))


async def with_new_account(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """A new account like the caller, because the call changes the account."""
    return CallArguments(actor=await factory.create_actor(actor))


async def new_password(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    body = {"current_password": PASSWORD, "new_password": "incorrect pony charger clip"}
    return replace(await with_new_account(factory, actor, case), body=body)


async def with_first_code(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """An authenticator is being set up; the body has its first code."""
    return await with_code(factory, actor, None)


async def with_enabled_code(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """The authenticator is enabled; the body has a code."""
    return await with_code(factory, actor, START)


async def with_code(factory: ObjectFactory, actor: Actor, enabled_at: datetime | None) -> CallArguments:
    arguments, secret = await with_new_account(factory, actor, NONE), b"12345678901234567890"
    account_id = arguments.actor.account_id if arguments.actor else None
    if arguments.actor and account_id:
        sealed = VAULT.seal("totp", secret, account_id.bytes)
        factor = {"secret": sealed, "created_at": START, "enabled_at": enabled_at}
        await factory.insert("totp_secrets", arguments.actor.account | factor)
    return replace(arguments, body={"code": totp.hotp(secret, totp.step_of(factory.api.clock()))})


async def create_passkey(factory: ObjectFactory, account: dict[str, UUID]) -> tuple[SoftKey, UUID]:
    [account_id] = account.values()
    key, passkey_id = SoftKey(user_handle=account_id.bytes), uuid7(START)
    passkey = {
        **account, "id": passkey_id, "credential_id": key.credential_id,
        "public_key": cbor2.dumps(key.public_key()), "sign_count": 0, "name": "A key", "aaguid": UUID(int=0),
        "transports": [], "backup_eligible": False, "backed_up": False, "created_at": START,
    }  # fmt: skip
    await factory.insert("passkeys", passkey)
    return key, passkey_id


async def registering_passkey(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """A passkey is being registered; the body has the result of the authenticator."""
    arguments = await with_new_account(factory, actor, case)
    challenge = factory.unique_name("challenge").encode()
    if arguments.actor and arguments.actor.own_id and arguments.actor.account:
        waiting = {
            "challenge_hash": sha256(challenge).digest(), "purpose": "register",
            "bound_to": arguments.actor.own_id.bytes, "expires_at": START.replace(year=2036),
        }  # fmt: skip
        await factory.insert("passkey_challenges", waiting)
    credential = SoftKey().create({"user": {"id": b64(b"somebody")}, "challenge": b64(challenge)})
    return replace(arguments, body={"credential": credential})


async def with_passkey(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    arguments = await with_new_account(factory, actor, case)
    if arguments.actor and arguments.actor.account:
        await create_passkey(factory, arguments.actor.account)
    return arguments


async def own_or_foreign_passkey(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """`own`: a passkey of the caller; `foreign`: a passkey of another account."""
    arguments = await with_new_account(factory, actor, case)
    if case not in DOMAINS or not (arguments.actor and arguments.actor.account):
        return replace(arguments, path=UNKNOWN_ID if case != MALFORMED else "no-id")
    owner = arguments.actor.account if case == OWN else await other_account(factory, arguments.actor)
    return replace(arguments, path=str((await create_passkey(factory, owner))[1]))


async def other_account(factory: ObjectFactory, actor: Actor) -> dict[str, UUID]:
    """Another account of the same kind."""
    if actor.owns is not None:
        return {"mailbox_id": await shared_mailbox(factory, actor.owns)}
    return {"admin_id": await shared_admin(factory, OWN)}


async def passkey_to_rename(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return replace(await own_or_foreign_passkey(factory, actor, case), body={"name": factory.unique_name("name")})


async def any_id(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """A screen of the dashboard: the response does not depend on `{id}`."""
    return CallArguments("any")


async def log_in_by_passkey(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    admin_id = await factory.create_account(factory.unique_name("owner"), _ADMIN, NO_DOMAINS)
    key, _ = await create_passkey(factory, {"admin_id": admin_id})
    options = await factory.api.nobody.post("/auth/passkeys/login/options")
    arguments = await with_new_account(factory, actor, case)
    return replace(arguments, body={"credential": key.get(options.data["options"])})


async def log_in_owner_by_passkey(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    key, _ = await create_passkey(factory, {"mailbox_id": await create_mailbox(factory, OWN)})
    options = await factory.api.nobody.post("/me/passkeys/login/options")
    arguments = await with_new_account(factory, actor, case)
    return replace(arguments, body={"credential": key.get(options.data["options"])})


async def log_in_owner(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    name = factory.unique_name("box")
    await factory.api.mailbox(f"{name}@{EXAMPLE}")
    body = {"address": f"{name}@{EXAMPLE}", "password": PASSWORD}
    return replace(await with_new_account(factory, actor, case), body=body)


async def owner_session_to_end(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """`own`: another session of the owner; `foreign`: a session to another mailbox."""
    if case not in DOMAINS or actor.owns is None or actor.mailbox_id is None:
        return CallArguments(UNKNOWN_ID if case != MALFORMED else "no-id")
    mailbox_id = actor.mailbox_id if case == OWN else await create_mailbox(factory, actor.owns)
    return CallArguments(str((await factory.create_owner_session(mailbox_id))[0]))


async def own_app_password(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """`foreign`: one of another mailbox in the same domain."""
    if case not in DOMAINS or actor.owns is None or actor.mailbox_id is None:
        return CallArguments(UNKNOWN_ID if case != MALFORMED else "no-id")
    mailbox_id = actor.mailbox_id if case == OWN else await shared_mailbox(factory, actor.owns)
    return CallArguments(str(await factory.api.app_password(mailbox_id)))


async def own_junk(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """`foreign`: a message of another mailbox in the same domain."""
    if case not in DOMAINS or actor.owns is None or actor.mailbox_id is None:
        return CallArguments(UNKNOWN_ID if case != MALFORMED else "no-id", body={})
    mailbox_id = actor.mailbox_id if case == OWN else await shared_mailbox(factory, actor.owns)
    return CallArguments(str((await insert_junk(factory.api, mailbox_id)).id), body={})


def own_mailbox(body: Any = None) -> Row:
    """A call about the caller's own mailbox, which is new."""

    async def prepare(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        arguments = await with_new_account(factory, actor, case)
        return replace(arguments, body=body(factory, case) if callable(body) else body)

    return Row(prepare, (NONE,))


SHORT_ENTRY = {"list": "deny", "kind": "domain", "value": "bad.test"}


def filter_rows() -> dict[str, Row]:
    """The routes of filtering, of the server, a domain, a mailbox and the own mailbox."""
    imported, described = {"items": [SHORT_ENTRY]}, {"score": 1}

    def changes(factory: ObjectFactory, case: str) -> dict[str, Any]:
        return {"junk_score": next(factory.counter) % 1000}

    async def new_entry(factory: ObjectFactory, case: str) -> dict[str, str]:
        return SHORT_ENTRY | {"value": f"{factory.unique_name('bad')}.test"}

    async def create(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        return CallArguments(body=await new_entry(factory, case))

    async def delete(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        return CallArguments(str(await factory.api.filter_entry(f"{factory.unique_name('a')}@bad.test")))

    async def create_in_domain(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        return CallArguments(domain_id_for(case), body=await new_entry(factory, case))

    async def delete_in_domain(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        domain_id = domain_id_for(case)
        if case in DOMAINS:  # one ID fits both placeholders
            await factory.api.sql("DELETE FROM filter_entries WHERE id = %(id)s", id=domain_id)
            await factory.api.filter_entry("a@bad.test", domain_id=domain_id, id=DOMAIN_IDS[DOMAINS[case]])
        return CallArguments(domain_id)

    async def create_mailbox_entry(factory: ObjectFactory, case: str) -> Any:
        mailbox_id = await create_mailbox(factory, case)
        return await factory.api.filter_entry("a@bad.test", mailbox_id=mailbox_id, id=mailbox_id)

    async def delete_own(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
        arguments = await with_new_account(factory, actor, case)
        owner = arguments.actor.mailbox_id if arguments.actor else None
        entry_id = await factory.api.filter_entry(f"{factory.unique_name('a')}@bad.test", mailbox_id=owner)
        return replace(arguments, path=str(entry_id))

    domain, mailbox = by_id(find_domain), by_id(shared_mailbox)
    return {
        "GET /filtering": Row(no_arguments, **NO_OBJECT),
        "PATCH /filtering": Row(by_body(changes), **NO_OBJECT),
        "GET /filtering/entries": Row(no_arguments, **NO_OBJECT),
        "POST /filtering/entries": Row(create, **NO_OBJECT),
        "DELETE /filtering/entries/{entry_id}": Row(delete, **NO_OBJECT),
        "POST /filtering/entries/import": Row(by_body(lambda _factory, _case: imported), **NO_OBJECT),
        "POST /filtering/test": Row(by_body(lambda _factory, _case: described), **NO_OBJECT),
        "GET /domains/{id}/filtering": Row(domain),
        "PATCH /domains/{id}/filtering": Row(by_id(find_domain, changes)),
        "GET /domains/{id}/filtering/entries": Row(domain),
        "POST /domains/{id}/filtering/entries": Row(create_in_domain),
        "DELETE /domains/{id}/filtering/entries/{entry_id}": Row(delete_in_domain),
        "POST /domains/{id}/filtering/entries/import": Row(by_id(find_domain, imported)),
        "POST /domains/{id}/filtering/test": Row(by_id(find_domain, described)),
        "GET /mailboxes/{id}/filtering": Row(mailbox),
        "PATCH /mailboxes/{id}/filtering": Row(by_id(shared_mailbox, changes)),
        "GET /mailboxes/{id}/filtering/entries": Row(mailbox),
        "POST /mailboxes/{id}/filtering/entries": Row(by_id(create_mailbox, SHORT_ENTRY)),
        "DELETE /mailboxes/{id}/filtering/entries/{entry_id}": Row(by_id(create_mailbox_entry)),
        "POST /mailboxes/{id}/filtering/entries/import": Row(by_id(shared_mailbox, imported)),
        "POST /mailboxes/{id}/filtering/test": Row(by_id(shared_mailbox, described)),
        "GET /me/filtering": own_mailbox(),
        "PATCH /me/filtering": own_mailbox(changes),
        "GET /me/filtering/entries": own_mailbox(),
        "POST /me/filtering/entries": own_mailbox(SHORT_ENTRY),
        "DELETE /me/filtering/entries/{entry_id}": Row(delete_own, (NONE,)),
        "POST /me/filtering/entries/import": own_mailbox(imported),
        "POST /me/filtering/test": own_mailbox(described),
    }


async def own_vacation(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    arguments = await with_new_account(factory, actor, case)
    if arguments.actor and arguments.actor.mailbox_id:
        await factory.api.vacation(arguments.actor.mailbox_id)
    return arguments


async def own_setup_link(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    arguments = await with_new_account(factory, actor, case)
    if arguments.actor and arguments.actor.mailbox_id:
        await factory.api.setup_link(arguments.actor.mailbox_id)
    return arguments


async def own_script(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments("main", body={"script": "keep;"})


def shows_own_mailbox(actor: Actor, case: str, answer: Answer) -> None:
    assert answer.data["id"] == str(actor.mailbox_id)


async def with_identity(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    arguments = await with_new_account(factory, actor, case)
    if arguments.actor and arguments.actor.admin_id:
        await factory.api.identity(arguments.actor.admin_id)
    return arguments


async def provider_id(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments("keycloak")


async def log_in(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """A login ends the session whose cookie is sent, so a new account is needed."""
    return replace(
        await with_new_account(factory, actor, case), body={"email": f"adam@{EXAMPLE}", "password": PASSWORD}
    )


async def token_in_body(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    token = await factory.api.invitation("mailbox", await create_mailbox(factory, OWN))
    return CallArguments(body={"token": token})


async def token_in_path(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    token = await factory.api.invitation("mailbox", await create_mailbox(factory, OWN))
    return CallArguments(token, body={"password": "seven green bottles"})


def new_admin(factory: ObjectFactory, case: str) -> dict[str, Any]:
    domains = [] if case == NONE else [domain_id_for(case)]
    return {
        "email": f"{factory.unique_name('new')}@elsewhere.test",
        "password": "seven green bottles",
        "role": "domain_admin",
        "domain_ids": domains,
    }


def new_key(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"name": "k", "scoped_domain_ids": [] if case == NONE else [domain_id_for(case)], "rate_limit": 0}


def new_domain(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"name": f"{factory.unique_name('new')}.test"}


def new_mailbox(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"domain_id": domain_id_for(case), "local_part": factory.unique_name("new"), "password_hash": "{SHA}x"}


def new_alias(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {
        "domain_id": domain_id_for(case),
        "source_local_part": factory.unique_name("new"),
        "destination": "out@elsewhere.test",
    }


def new_suppression(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"domain_id": domain_id_for(case), "address": f"{factory.unique_name('new')}@elsewhere.test"}


def new_unsubscribe_group(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"domain_id": domain_id_for(case), "name": factory.unique_name("new")}


def new_webhook(factory: ObjectFactory, case: str) -> dict[str, Any]:
    body = {"url": "https://hooks.elsewhere.test/", "events": ["*"]}
    return body if case == NONE else body | {"domain_id": domain_id_for(case)}


def new_template(factory: ObjectFactory, case: str) -> dict[str, Any]:
    body = {"name": factory.unique_name("template"), "subject": "Hello", "text_body": "Hello"}
    return body if case == NONE else body | {"domain_id": domain_id_for(case)}


def new_name(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"name": factory.unique_name("name")}


def new_vacation(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"text": factory.unique_name("away"), "active": False}


def new_description(factory: ObjectFactory, case: str) -> dict[str, Any]:
    return {"description": factory.unique_name("text")}


def message_from(case: str) -> dict[str, Any]:
    names = DOMAINS | {UNKNOWN: "unmanaged.test", MALFORMED: "no domain"}
    return letter(**{"from": {"email": f"shop@{names[case]}"}})


async def move_mailbox(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    """Move a mailbox of the own domain to the domain of the case."""
    return CallArguments(
        str(await create_mailbox(factory, OWN)), body={"domain_id": domain_id_for(case)} | new_name(factory, case)
    )


async def address_query(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    names = DOMAINS | {UNKNOWN: "unmanaged.test", MALFORMED: "no domain"}
    return CallArguments(query={"address": f"shop@{names[case]}"})


# Outcomes that do not follow from the policy


def account_visibility(actor: Actor, case: str, success: Outcome) -> Outcome:
    """GET /admins/{id}: an account shares its domain with the caller, or the caller is admin or above."""
    if case in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    by_role = actor.role is not Role.DOMAIN_ADMIN or DOMAIN_IDS[DOMAINS[case]] in actor.assigned
    return FORBIDDEN if not by_role else OUT_OF_SCOPE if actor.scope is not None else success


def only_own_keys(actor: Actor, case: str, success: Outcome) -> Outcome:
    """A super_admin revokes any key, others their own."""
    if case in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    return success if case == OWN or actor.role is Role.SUPER_ADMIN else FORBIDDEN


def only_own_sessions(actor: Actor, case: str, success: Outcome) -> Outcome:
    return success if case == OWN else NOT_FOUND


def domain_required(actor: Actor, case: str, success: Outcome) -> Outcome:
    """A domain_admin must name the domain of the aliases."""
    if case == NONE:
        return (400, "MISSING_FIELDS") if actor.role is Role.DOMAIN_ADMIN else success
    return {UNKNOWN: DOMAIN_NOT_FOUND, MALFORMED: INVALID_FIELD}.get(case) or refusal_by_domain(actor, case) or success


def both_domains(actor: Actor, case: str, success: Outcome) -> Outcome:
    """A caller without access to the mailbox learns nothing about the new domain."""
    if case == MALFORMED:
        return INVALID_FIELD
    if refusal := refusal_by_domain(actor, OWN):
        return refusal
    return DOMAIN_NOT_FOUND if case == UNKNOWN else refusal_by_domain(actor, case) or success


def with_unmanaged(actor: Actor, case: str, success: Outcome) -> Outcome:
    """Objects without a managed domain are visible only with access to all domains."""
    if case in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    if case == NONE:
        return FORBIDDEN if actor.role is Role.DOMAIN_ADMIN else success if actor.scope is None else OUT_OF_SCOPE
    return refusal_by_domain(actor, case) or success


def with_shared(actor: Actor, case: str, success: Outcome) -> Outcome:
    """Everybody reads templates for all domains."""
    if case in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    return success if case == NONE else refusal_by_domain(actor, case) or success


def with_global(actor: Actor, case: str, success: Outcome) -> Outcome:
    """Objects for all domains are outside of any scope."""
    if case == NONE:
        return success if actor.scope is None else OUT_OF_SCOPE
    return {UNKNOWN: DOMAIN_NOT_FOUND, MALFORMED: INVALID_FIELD}.get(case) or refusal_by_domain(actor, case) or success


def own_messages(actor: Actor, case: str, success: Outcome) -> Outcome:
    """A sending key sees what it has sent itself, and nothing else."""
    outcome = with_unmanaged(actor, case, success)
    return FORBIDDEN if actor.permissions == "sending" and case in (OWN, FOREIGN, NONE) else outcome


def stored_content(actor: Actor, case: str, success: Outcome) -> Outcome:
    """A message refused at SMTP has no content. A key that only reads reads no incoming mail."""
    if case == NONE and actor.permissions == "read":
        return FORBIDDEN
    return with_unmanaged(actor, case, NOT_FOUND if case == NONE else success)


def admins_only(actor: Actor, case: str, success: Outcome) -> Outcome:
    """A domain_admin does not read received messages, and the owner of a mailbox only in the mailbox."""
    if case in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    if actor.permissions == "read":
        return FORBIDDEN
    return FORBIDDEN if actor.role in (None, Role.DOMAIN_ADMIN) else refusal_by_domain(actor, case) or success


def unmanaged_allowed(actor: Actor, case: str, success: Outcome) -> Outcome:
    """Everybody may query an address that is not managed here."""
    return {UNKNOWN: success, MALFORMED: INVALID_FIELD}.get(case) or refusal_by_domain(actor, case) or success


# Assertions on responses


def shows_domains_of(name: str) -> Callable[[Actor, str, Answer], None]:
    """Check that a list has rows of exactly the domains that the caller may see, or of the requested one."""

    def check(actor: Actor, case: str, answer: Answer) -> None:
        found = {row[name] for row in answer.data}
        outcome = {where: domain_id_for(where) for where in DOMAINS if case in (NONE, where)}
        assert {where for where, domain in outcome.items() if domain in found} == {w for w in outcome if actor.sees(w)}
        if actor.scope is not None or actor.role is Role.DOMAIN_ADMIN:
            assert found <= set(outcome.values())

    return check


def shows_overview(actor: Actor, case: str, answer: Answer) -> None:
    """The suspensions in the overview of abuse are of the domains that the caller may see."""
    body = json.dumps({"data": answer.data["suspended"]}).encode()
    shows_domains_of("domain_id")(actor, case, replace(answer, body=body))


def shows_webhooks(actor: Actor, case: str, answer: Answer) -> None:
    """Webhooks of the domains that the caller may see; those for all domains only without a scope."""
    found = {row["domain_id"] for row in answer.data}
    assert (None in found) == (actor.scope is None)
    assert {where for where in DOMAINS if domain_id_for(where) in found} == {
        where for where in DOMAINS if actor.sees(where)
    }


def shows_templates(actor: Actor, case: str, answer: Answer) -> None:
    """Templates of the domains that the caller may see, and those for all; with a filter those of the domain."""
    found = {row["domain_id"] for row in answer.data}
    assert (None in found) == (case == NONE)
    shown = [case] if case in DOMAINS else DOMAINS
    assert {where for where in DOMAINS if domain_id_for(where) in found} == {
        where for where in shown if actor.sees(where)
    }


def streams_domains(actor: Actor, case: str, answer: Answer) -> None:
    """As `shows_domains_of`, for the event stream."""
    events = [each.data for each in parse(answer.body.decode()) if each.name.startswith("mail.")]
    shows_domains_of("domain_id")(actor, case, replace(answer, body=json.dumps({"data": events}).encode()))


def shows_accounts(actor: Actor, case: str, answer: Answer) -> None:
    found = {row["id"] for row in answer.data}
    assert str(actor.admin_id) in found
    if actor.scope is not None:
        assert found == {str(actor.admin_id)}
    elif actor.role is Role.DOMAIN_ADMIN:
        seen = [set(row["domain_ids"]) for row in answer.data if row["id"] != str(actor.admin_id)]
        assert all(domains <= {str(domain) for domain in actor.assigned} and domains for domains in seen)
    else:
        assert len(found) > len(ACTORS)


def shows_keys(actor: Actor, case: str, answer: Answer) -> None:
    found = {row["id"] for row in answer.data}
    if actor.is_key:
        assert str(actor.own_id) in found
    if actor.scope is not None:
        assert found == {str(actor.own_id)}
    elif actor.role is not Role.SUPER_ADMIN:
        assert {row["admin_id"] for row in answer.data} <= {str(actor.admin_id)}


def shows_own_account(actor: Actor, case: str, answer: Answer) -> None:
    assert answer.data["id"] == str(actor.admin_id)


def shows_own_sessions(actor: Actor, case: str, answer: Answer) -> None:
    own = [row["id"] for row in answer.data if row["current"]]
    assert own == ([] if actor.is_key else [str(actor.own_id)])


def shows_batch(actor: Actor, case: str, answer: Answer) -> None:
    """The messages of a batch are checked separately: the second one is from an unknown domain."""
    first, second = answer.data["results"]
    assert first.get("code") == batch_outcome(actor, case)[1]
    assert second["code"] == "DOMAIN_NOT_FOUND"


def batch_outcome(actor: Actor, case: str) -> Outcome:
    """The outcome of the first message of the batch."""
    return (
        {UNKNOWN: SENT["unknown"], MALFORMED: SENT["malformed"]}.get(case)
        or refusal_by_domain(actor, case)
        or (200, None)
    )


async def two_messages(factory: ObjectFactory, actor: Actor, case: str) -> CallArguments:
    return CallArguments(body={"messages": [message_from(case), message_from(UNKNOWN)]})


def with_program(name: str) -> Outcome:
    """The outcome of a permitted call that needs a program of Pigeonhole."""
    return (200, None) if shutil.which(name) else (503, "UNAVAILABLE")


NEEDS_FULL_PROFILE: Outcome = (503, "UNAVAILABLE")
TRIAL = {"subject": "Hello", "text_body": "Hello"}
WITH_NONE = (OWN, FOREIGN, NONE, UNKNOWN, MALFORMED)
LISTED: dict[str, Any] = {"cases": WITH_NONE, "unknown": DOMAIN_NOT_FOUND, "malformed": INVALID_FIELD}
IN_BODY: dict[str, Any] = {"unknown": DOMAIN_NOT_FOUND, "malformed": INVALID_FIELD}
SENT: dict[str, Any] = {"unknown": (403, "DOMAIN_NOT_FOUND"), "malformed": (400, "INVALID_SENDER")}
NO_OBJECT: dict[str, Any] = {"cases": (NONE,)}

ROWS: dict[str, Row] = {
    "POST /auth/login": Row(log_in, **NO_OBJECT),
    "GET /auth/me": Row(no_arguments, **NO_OBJECT, check=shows_own_account),
    "POST /auth/logout": Row(with_new_account, **NO_OBJECT),
    "POST /auth/logout-all": Row(with_new_account, **NO_OBJECT),
    "GET /auth/sessions": Row(no_arguments, **NO_OBJECT, check=shows_own_sessions),
    "DELETE /auth/sessions/{id}": Row(session_to_end, override=only_own_sessions),
    "POST /auth/password": Row(new_password, **NO_OBJECT),
    "POST /auth/totp/setup": Row(with_new_account, **NO_OBJECT),
    "POST /auth/totp/verify": Row(with_first_code, **NO_OBJECT),
    "POST /auth/totp/recovery-codes": Row(with_enabled_code, **NO_OBJECT),
    "DELETE /auth/totp": Row(with_enabled_code, **NO_OBJECT),
    "POST /auth/passkeys/register/options": Row(with_new_account, **NO_OBJECT),
    "POST /auth/passkeys/register/verify": Row(registering_passkey, **NO_OBJECT),
    "GET /auth/passkeys": Row(no_arguments, **NO_OBJECT),
    "PATCH /auth/passkeys/{id}": Row(passkey_to_rename, override=only_own_sessions),
    "DELETE /auth/passkeys/{id}": Row(own_or_foreign_passkey, override=only_own_sessions),
    "POST /auth/passkeys/recovery-codes": Row(with_passkey, **NO_OBJECT),
    "POST /auth/passkeys/login/options": Row(no_arguments, **NO_OBJECT),
    "POST /auth/passkeys/login/verify": Row(log_in_by_passkey, **NO_OBJECT),
    "GET /auth/oidc/providers": Row(no_arguments, **NO_OBJECT),
    "GET /auth/oidc/login/{provider}": Row(provider_id, **NO_OBJECT),
    "GET /auth/oidc/callback/{provider}": Row(provider_id, **NO_OBJECT),
    "DELETE /auth/oidc/disconnect": Row(with_identity, **NO_OBJECT),
    "POST /invitations/lookup": Row(token_in_body, **NO_OBJECT),
    "POST /invitations/{token}": Row(token_in_path, **NO_OBJECT),
    "GET /admins": Row(no_arguments, **NO_OBJECT, check=shows_accounts),
    "POST /admins": Row(by_body(new_admin), WITH_NONE, **IN_BODY),
    "GET /admins/{id}": Row(by_id(shared_admin), override=account_visibility),
    "PATCH /admins/{id}": Row(by_id(create_admin, {"domain_ids": []})),
    "POST /admins/{id}/invite": Row(by_id(create_admin, {})),
    "DELETE /admins/{id}": Row(by_id(create_admin)),
    "GET /api-keys": Row(no_arguments, **NO_OBJECT, check=shows_keys),
    "POST /api-keys": Row(by_body(new_key), WITH_NONE, **IN_BODY),
    "DELETE /api-keys/{id}": Row(key_to_revoke, override=only_own_keys),
    "GET /domains": Row(no_arguments, **NO_OBJECT, check=shows_domains_of("id")),
    "POST /domains": Row(by_body(new_domain), **NO_OBJECT),
    "GET /domains/{id}": Row(by_id(find_domain)),
    "PATCH /domains/{id}": Row(by_id(find_domain, new_description)),
    # The domains have mailboxes: CONFLICT means that the caller would be allowed to delete them.
    "DELETE /domains/{id}": Row(by_id(find_domain), success=(409, "CONFLICT")),
    "GET /domains/{id}/dkim-keys": Row(by_id(find_domain)),
    "GET /domains/{id}/dns": Row(by_id(find_domain)),
    "POST /domains/{id}/dns/check": Row(by_id(find_domain)),
    "GET /domains/{id}/zone-file": Row(by_id(find_domain)),
    "GET /dns/server": Row(no_arguments, **NO_OBJECT),
    "POST /dns/server/check": Row(no_arguments, **NO_OBJECT),
    "GET /dns/server/zone-file": Row(no_arguments, **NO_OBJECT),
    "POST /domains/{id}/dkim-keys": Row(by_id(create_domain_with_room, {"algorithm": "ed25519"})),
    "GET /domains/{id}/dkim-keys/{key_id}": Row(by_id(create_dkim_key)),
    # A retired key: CONFLICT means that the caller would be allowed to activate it.
    "POST /domains/{id}/dkim-keys/{key_id}/activate": Row(by_id(create_retired_key, {}), success=(409, "CONFLICT")),
    "POST /domains/{id}/dkim-keys/{key_id}/retire": Row(by_id(create_dkim_key, {})),
    "DELETE /domains/{id}/dkim-keys/{key_id}": Row(by_id(create_dkim_key)),
    "GET /domains/{id}/dns-updates": Row(by_id(find_domain)),
    "GET /domains/{id}/dkim-delegation": Row(by_id(find_domain)),
    "GET /.well-known/mta-sts.txt": Row(no_arguments, **NO_OBJECT, success=NOT_FOUND),  # the host is no domain's
    "GET /domains/{id}/dmarc": Row(by_id(find_domain)),
    "GET /domains/{id}/tls-reports": Row(by_id(find_domain)),
    "GET /domains/{id}/reports": Row(by_id(find_domain)),
    "POST /reports": Row(by_body(new_report), **IN_BODY),
    "GET /mailboxes": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "POST /mailboxes/bulk": Row(bulk_deletion(), **NO_OBJECT),
    "GET /mailboxes/export": Row(by_filter, **LISTED),
    "POST /mailboxes": Row(by_body(new_mailbox), **IN_BODY),
    "GET /mailboxes/{id}": Row(by_id(shared_mailbox)),
    "PATCH /mailboxes/{id}": Row(by_id(shared_mailbox, new_name)),
    "DELETE /mailboxes/{id}": Row(by_id(create_mailbox)),
    "GET /mailboxes/{id}/folders": Row(by_id(shared_mailbox)),
    "POST /mailboxes/{id}/recalculate": Row(by_id(shared_mailbox)),
    "POST /mailboxes/{id}/restore": Row(by_id(create_trashed_mailbox)),
    "POST /mailboxes/{id}/invite": Row(by_id(create_mailbox, {})),
    "POST /mailboxes/{id}/suspend": Row(by_id(create_mailbox, {"reason": "spam"})),
    "POST /mailboxes/{id}/unsuspend": Row(by_id(create_suspended_mailbox)),
    "GET /mailboxes/{id}/app-passwords": Row(by_id(shared_mailbox)),
    "POST /mailboxes/{id}/app-passwords": Row(by_id(create_mailbox, {"name": "Phone"})),
    "DELETE /mailboxes/{id}/app-passwords/{app_password_id}": Row(by_id(create_app_password)),
    "GET /mailboxes/{id}/sieve": Row(by_id(shared_mailbox), success=NEEDS_FULL_PROFILE),
    "GET /mailboxes/{id}/junk": Row(by_id(shared_mailbox)),
    "POST /mailboxes/{id}/junk/{message_id}/release": Row(by_id(create_junk, {})),
    "GET /mailboxes/{id}/vacation": Row(by_id(shared_mailbox)),
    "PUT /mailboxes/{id}/vacation": Row(by_id(shared_mailbox, new_vacation)),
    "DELETE /mailboxes/{id}/vacation": Row(by_id(create_vacation)),
    "POST /mailboxes/{id}/sieve/deactivate": Row(by_id(shared_mailbox), success=NEEDS_FULL_PROFILE),
    "GET /mailboxes/{id}/sieve/{name}": Row(by_id(shared_mailbox), success=NEEDS_FULL_PROFILE),
    "PUT /mailboxes/{id}/sieve/{name}": Row(by_id(shared_mailbox, {"script": "keep;"}), success=NEEDS_FULL_PROFILE),
    "DELETE /mailboxes/{id}/sieve/{name}": Row(by_id(shared_mailbox), success=NEEDS_FULL_PROFILE),
    "POST /mailboxes/{id}/sieve/{name}/activate": Row(by_id(shared_mailbox), success=NEEDS_FULL_PROFILE),
    "POST /sieve/validate": Row(
        by_body(lambda factory, case: {"script": "keep;"}), **NO_OBJECT, success=with_program("sievec")
    ),
    "POST /sieve/test": Row(
        by_body(lambda factory, case: {"script": "keep;", "message": "Subject: Hi"}),
        **NO_OBJECT,
        success=with_program("sieve-test"),
    ),
    "GET /me": Row(no_arguments, **NO_OBJECT, check=shows_own_mailbox),
    "POST /me/login": Row(log_in_owner, **NO_OBJECT),
    "POST /me/passkeys/login/verify": Row(log_in_owner_by_passkey, **NO_OBJECT),
    "POST /me/password": Row(new_password, **NO_OBJECT),
    "POST /me/totp/setup": own_mailbox({}),
    "GET /me/forward": own_mailbox(),
    "PUT /me/forward": own_mailbox({"destinations": ["out@elsewhere.test"]}),
    "GET /me/logins": own_mailbox(),
    "GET /me/messages": own_mailbox(),
    "GET /mailboxes/{id}/setup": Row(by_id(shared_mailbox)),
    "POST /mailboxes/{id}/setup-link": Row(by_id(shared_mailbox)),
    "DELETE /mailboxes/{id}/setup-link": Row(by_id(create_setup_link)),
    "GET /me/setup": own_mailbox(),
    "POST /me/setup-link": own_mailbox(),
    "DELETE /me/setup-link": Row(own_setup_link, **NO_OBJECT),
    "GET /mail/config-v1.1.xml": Row(no_arguments, **NO_OBJECT, success=NOT_FOUND),  # the host is no domain's
    "GET /.well-known/autoconfig/mail/config-v1.1.xml": Row(no_arguments, **NO_OBJECT, success=NOT_FOUND),
    "POST /autodiscover/autodiscover.xml": Row(no_arguments, **NO_OBJECT, success=INVALID_FIELD),
    "GET /autodiscover/autodiscover.json": Row(no_arguments, **NO_OBJECT, success=NOT_FOUND),
    "GET /autodiscover/autodiscover.json/v1.0/{address}": Row(any_id, **NO_OBJECT, success=NOT_FOUND),
    "GET /setup/{token}": Row(setup_token, **NO_OBJECT),
    "GET /setup/{token}/mail.mobileconfig": Row(setup_token, **NO_OBJECT),
    "POST /me/logout": own_mailbox(),
    "POST /me/logout-all": own_mailbox(),
    "GET /me/sessions": Row(no_arguments, **NO_OBJECT, check=shows_own_sessions),
    "DELETE /me/sessions/{id}": Row(owner_session_to_end, override=only_own_sessions),
    "POST /me/totp/verify": Row(with_first_code, **NO_OBJECT),
    "POST /me/totp/recovery-codes": Row(with_enabled_code, **NO_OBJECT),
    "DELETE /me/totp": Row(with_enabled_code, **NO_OBJECT),
    "POST /me/passkeys/register/options": own_mailbox({}),
    "POST /me/passkeys/register/verify": Row(registering_passkey, **NO_OBJECT),
    "GET /me/passkeys": own_mailbox(),
    "PATCH /me/passkeys/{id}": Row(passkey_to_rename, override=only_own_sessions),
    "DELETE /me/passkeys/{id}": Row(own_or_foreign_passkey, override=only_own_sessions),
    "POST /me/passkeys/recovery-codes": Row(with_passkey, **NO_OBJECT),
    "POST /me/passkeys/login/options": own_mailbox({}),
    "GET /me/app-passwords": own_mailbox(),
    "POST /me/app-passwords": own_mailbox({"name": "Phone"}),
    "DELETE /me/app-passwords/{app_password_id}": Row(own_app_password, override=only_own_sessions),
    "GET /me/junk": own_mailbox(),
    "POST /me/junk/{id}/release": Row(own_junk, override=only_own_sessions),
    "GET /me/vacation": own_mailbox(),
    "PUT /me/vacation": own_mailbox(new_vacation),
    "DELETE /me/vacation": Row(own_vacation, **NO_OBJECT),
    "GET /me/sieve": Row(no_arguments, **NO_OBJECT, success=NEEDS_FULL_PROFILE),
    "POST /me/sieve/deactivate": Row(no_arguments, **NO_OBJECT, success=NEEDS_FULL_PROFILE),
    "GET /me/sieve/{name}": Row(any_id, **NO_OBJECT, success=NEEDS_FULL_PROFILE),
    "PUT /me/sieve/{name}": Row(own_script, **NO_OBJECT, success=NEEDS_FULL_PROFILE),
    "DELETE /me/sieve/{name}": Row(any_id, **NO_OBJECT, success=NEEDS_FULL_PROFILE),
    "POST /me/sieve/{name}/activate": Row(any_id, **NO_OBJECT, success=NEEDS_FULL_PROFILE),
    "GET /abuse/thresholds": Row(by_scope, **LISTED),
    "PATCH /abuse/thresholds": Row(by_body(threshold_change), **IN_BODY),
    "GET /abuse/overview": Row(by_filter, **LISTED, check=shows_overview),
    "GET /abuse/suspensions": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "GET /abuse/suspensions/{id}": Row(by_id(shared_suspension)),
    "DELETE /abuse/suspensions/{id}": Row(by_id(create_suspension)),
    "GET /abuse/incidents": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "POST /abuse/incidents": Row(incident_in_body, malformed=INVALID_FIELD),
    "GET /abuse/incidents/{id}": Row(by_id(shared_incident)),
    "POST /abuse/incidents/{id}/retry": Row(by_id(create_incident)),
    "POST /abuse/incidents/{id}/undo": Row(by_id(create_incident)),
    **filter_rows(),
    "GET /suppressions": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "POST /suppressions": Row(by_body(new_suppression), **IN_BODY),
    "POST /suppressions/import": Row(suppression_import, **NO_OBJECT),
    "GET /suppressions/export": Row(by_filter, **LISTED),
    "GET /suppressions/{id}": Row(by_id(shared_suppression)),
    "DELETE /suppressions/{id}": Row(by_id(create_suppression)),
    "GET /unsubscribe-groups": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "POST /unsubscribe-groups": Row(by_body(new_unsubscribe_group), **IN_BODY),
    "GET /unsubscribe-groups/{id}": Row(by_id(shared_unsubscribe_group)),
    "PATCH /unsubscribe-groups/{id}": Row(renamed_group),
    "DELETE /unsubscribe-groups/{id}": Row(by_id(create_unsubscribe_group)),
    "GET /u/{token}": Row(unsubscribe_token, **NO_OBJECT),
    "POST /u/{token}": Row(unsubscribe_token, **NO_OBJECT),
    "GET /abuse/alerts": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "GET /abuse/alerts/{id}": Row(by_id(shared_alert)),
    "POST /abuse/alerts/{id}/acknowledge": Row(by_id(create_alert, {})),
    "POST /abuse/alerts/{id}/resolve": Row(by_id(create_alert, {"note": "It was a test."})),
    "GET /health/alerts": Row(no_arguments, **NO_OBJECT),
    "GET /health/alerts/{id}": Row(by_id(create_health_alert), cases=(OWN, UNKNOWN, MALFORMED)),
    "POST /health/alerts/{id}/acknowledge": Row(by_id(create_health_alert, {}), cases=(OWN, UNKNOWN, MALFORMED)),
    "POST /health/alerts/{id}/resolve": Row(by_id(create_health_alert, {}), cases=(OWN, UNKNOWN, MALFORMED)),
    "GET /sign-in-blocks": Row(no_arguments, **NO_OBJECT),
    "DELETE /sign-in-blocks/{id}": Row(by_id(create_sign_in_block)),
    "GET /aliases": Row(by_query, **LISTED, override=domain_required, check=shows_domains_of("domain_id")),
    "POST /aliases/bulk": Row(bulk_deletion(), **NO_OBJECT),
    "GET /aliases/export": Row(by_filter, **LISTED),
    "GET /operations/{id}": Row(create_bulk_operation, (OWN, NONE, UNKNOWN, MALFORMED), override=own_operations),
    "POST /aliases": Row(by_body(new_alias), **IN_BODY),
    "GET /aliases/{id}": Row(by_id(shared_alias)),
    "PATCH /aliases/{id}": Row(by_id(create_alias, {"active": False})),
    "DELETE /aliases/{id}": Row(by_id(create_alias)),
    "GET /routing/explain": Row(address_query, override=unmanaged_allowed),
    "POST /send": Row(by_body(lambda factory, case: message_from(case)), **SENT),
    "POST /send/batch": Row(two_messages, override=lambda actor, case, success: success, check=shows_batch),
    "GET /templates": Row(by_query, **LISTED, check=shows_templates),
    "POST /templates": Row(by_body(new_template), WITH_NONE, override=with_global),
    "POST /templates/render": Row(by_body(lambda _factory, _case: TRIAL), **NO_OBJECT),
    "GET /templates/{id}": Row(by_id(shared_template), WITH_NONE, override=with_shared),
    "PATCH /templates/{id}": Row(by_id(create_template, new_name), WITH_NONE, override=with_unmanaged),
    "DELETE /templates/{id}": Row(by_id(create_template), WITH_NONE, override=with_unmanaged),
    "POST /templates/{id}/publish": Row(by_id(create_draft, {}), WITH_NONE, override=with_unmanaged),
    "GET /templates/{id}/versions": Row(by_id(shared_template), WITH_NONE, override=with_shared),
    "GET /templates/{id}/versions/{version}": Row(by_id(shared_template), WITH_NONE, override=with_shared),
    "POST /templates/{id}/render": Row(by_id(shared_template, {}), WITH_NONE, override=with_shared),
    "GET /messages": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "GET /messages/totals": Row(by_filter, **LISTED),
    "GET /analytics/overview": Row(by_period, **LISTED),
    "GET /analytics/timeseries": Row(by_period, **LISTED),
    "GET /analytics/domains": Row(by_period, **LISTED),
    "GET /analytics/destinations": Row(by_period, **LISTED),
    "GET /analytics/bounces": Row(by_period, **LISTED),
    "GET /analytics/tags": Row(by_period, **LISTED),
    "GET /analytics/api-keys": Row(by_period, **LISTED),
    "GET /messages/{id}": Row(by_id(shared_message), WITH_NONE, override=own_messages),
    "PATCH /messages/{id}": Row(
        by_id(scheduled_message, {"scheduled_at": "2026-03-04T12:00:00Z"}), override=own_messages
    ),
    "POST /messages/{id}/cancel": Row(by_id(scheduled_message), override=own_messages),
    "POST /messages/{id}/resend": Row(by_id(bounced_message)),
    "POST /messages/{id}/retry": Row(by_id(shared_message), success=(409, "CONFLICT")),
    "GET /messages/{id}/events": Row(by_id(shared_message), WITH_NONE, override=with_unmanaged),
    "GET /messages/{id}/raw": Row(by_id(shared_message), WITH_NONE, override=stored_content),
    **{
        f"GET /messages/{{id}}/{part}": Row(by_id(shared_message), WITH_NONE, override=stored_content)
        for part in CONTENT_PARTS
    },
    "GET /sandbox/messages": Row(no_arguments, **NO_OBJECT),
    "GET /sandbox/messages/{id}": Row(by_id(find_captured_message), (OWN, UNKNOWN, MALFORMED)),
    "GET /sandbox/messages/{id}/html": Row(by_id(find_captured_message), (OWN, UNKNOWN, MALFORMED)),
    "GET /sandbox/messages/{id}/attachments/{number}": Row(by_id(find_captured_message), (OWN, UNKNOWN, MALFORMED)),
    "GET /sandbox/messages/{id}/raw": Row(by_id(find_captured_message), (OWN, UNKNOWN, MALFORMED)),
    "DELETE /sandbox/messages": Row(no_arguments, **NO_OBJECT),
    "GET /audit": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "GET /audit/verify": Row(no_arguments, **NO_OBJECT),
    "GET /health/details": Row(no_arguments, **NO_OBJECT),
    "GET /orchestrator": Row(no_arguments, **NO_OBJECT),
    "GET /orchestrator/plan": Row(no_arguments, **NO_OBJECT),
    "GET /orchestrator/drift": Row(no_arguments, **NO_OBJECT),
    "GET /orchestrator/operations": Row(no_arguments, **NO_OBJECT),
    "GET /orchestrator/operations/{id}": Row(by_id(create_operation), cases=(NONE, UNKNOWN, MALFORMED)),
    "POST /orchestrator/apply": Row(apply_stale_plan, **NO_OBJECT, success=(409, "CONFLICT")),
    "POST /orchestrator/rollback": Row(name_generation, **NO_OBJECT, success=(503, "UNAVAILABLE")),
    "POST /orchestrator/confirm": Row(no_arguments, **NO_OBJECT, success=(409, "CONFLICT")),
    **{
        f"POST /orchestrator/services/{{name}}/{action}": Row(name_daemon, **NO_OBJECT, success=(503, "UNAVAILABLE"))
        for action in ("start", "stop", "restart", "reload")
    },
    "GET /backups/policy": Row(no_arguments, **NO_OBJECT),
    "PATCH /backups/policy": Row(
        by_body(lambda factory, case: {"schedule": "daily", "current_password": PASSWORD}),
        **NO_OBJECT,
        override=no_keys,
    ),
    "GET /backups": Row(no_arguments, **NO_OBJECT),
    "POST /backups": Row(without_operations, **NO_OBJECT, success=with_restic(202)),
    "GET /backups/{id}": Row(by_id(create_backup), cases=(NONE, UNKNOWN, MALFORMED)),
    "DELETE /backups/{id}": Row(by_id(create_failed_backup), cases=(NONE, UNKNOWN, MALFORMED), success=(202, None)),
    "POST /backups/{id}/cancel": Row(
        by_id(create_running_backup, {}), cases=(NONE, UNKNOWN, MALFORMED), success=(202, None)
    ),
    "POST /backups/{id}/verify": Row(
        by_id(create_backup, {}), cases=(NONE, UNKNOWN, MALFORMED), success=with_restic(202)
    ),
    "POST /backups/{id}/restore": Row(
        by_id(create_backup, restore_of), cases=(NONE, UNKNOWN, MALFORMED), success=with_restic(202)
    ),
    "GET /backups/{id}/contents": Row(by_id(create_backup), cases=(NONE, UNKNOWN, MALFORMED), success=with_restic(200)),
    "GET /certificates": Row(no_arguments, **NO_OBJECT),
    "GET /certificates/{id}": Row(by_id(create_certificate), cases=(NONE, UNKNOWN, MALFORMED)),
    "POST /certificates/{id}/renew": Row(by_id(create_certificate, {}), cases=(NONE, UNKNOWN, MALFORMED)),
    "POST /certificates/{id}/revoke": Row(by_id(create_certificate, {}), cases=(NONE, UNKNOWN, MALFORMED)),
    "POST /certificates/account-key": Row(without_acme, **NO_OBJECT, success=(409, "CONFLICT")),
    "GET /.well-known/acme-challenge/{token}": Row(acme_token, **NO_OBJECT),
    "GET /config": Row(no_arguments, **NO_OBJECT),
    "PATCH /config": Row(config_change, **NO_OBJECT),
    "GET /config/revisions": Row(no_arguments, **NO_OBJECT),
    "POST /config/revisions/{n}/rollback": Row(config_rollback, cases=(NONE, UNKNOWN, MALFORMED)),
    "GET /config/schema": Row(no_arguments, **NO_OBJECT),
    "GET /audit/export": Row(by_filter, **LISTED),
    "GET /queue": Row(no_arguments, **NO_OBJECT, success=(503, "UNAVAILABLE")),
    "GET /queue/held": Row(no_arguments, **NO_OBJECT),
    "POST /queue/actions": Row(by_body(hold_action), **NO_OBJECT, success=(503, "UNAVAILABLE")),
    "GET /events": Row(by_query, **LISTED, check=shows_domains_of("domain_id")),
    "GET /events/stream": Row(by_stream, **LISTED, check=streams_domains),
    "GET /events/{id}": Row(by_id(find_event)),
    "GET /webhooks": Row(no_arguments, **NO_OBJECT, check=shows_webhooks),
    "POST /webhooks": Row(by_body(new_webhook), WITH_NONE, override=with_global),
    "GET /webhooks/{id}": Row(by_id(shared_webhook), WITH_NONE, override=with_unmanaged),
    "PATCH /webhooks/{id}": Row(by_id(create_webhook, {"active": False}), WITH_NONE, override=with_unmanaged),
    "DELETE /webhooks/{id}": Row(by_id(create_webhook), WITH_NONE, override=with_unmanaged),
    "POST /webhooks/{id}/test": Row(by_id(shared_webhook), WITH_NONE, override=with_unmanaged),
    "POST /webhooks/{id}/rotate-secret": Row(by_id(shared_webhook), WITH_NONE, override=with_unmanaged),
    "GET /webhooks/{id}/deliveries": Row(by_id(shared_webhook), WITH_NONE, override=with_unmanaged),
    "POST /webhooks/{id}/deliveries/{delivery_id}/replay": Row(
        by_id(create_webhook), WITH_NONE, override=with_unmanaged
    ),
    "POST /webhooks/{id}/replay": Row(
        by_id(create_webhook, {"since": "2026-02-01T00:00:00Z"}), WITH_NONE, override=with_unmanaged
    ),
    "GET /health": Row(no_arguments, **NO_OBJECT),
    "GET /version": Row(no_arguments, **NO_OBJECT),
    "GET /healthz": Row(no_arguments, **NO_OBJECT),
    "GET /readyz": Row(no_arguments, **NO_OBJECT),
    "GET /openapi.json": Row(no_arguments, **NO_OBJECT),
    "GET /docs": Row(no_arguments, **NO_OBJECT),
    "GET /docs/page.css": Row(no_arguments, **NO_OBJECT),
    "GET /docs/page.js": Row(no_arguments, **NO_OBJECT),
    "GET /docs/icon.svg": Row(no_arguments, **NO_OBJECT),
}
"""Every route of the router, in its order."""

FURTHER_ROWS: tuple[tuple[str, Row], ...] = (
    ("PATCH /mailboxes/{id}", Row(move_mailbox, override=both_domains)),
    ("GET /messages/{id}/raw", Row(by_id(shared_received_message), override=admins_only)),
    *(
        (f"GET /messages/{{id}}/{part}", Row(by_id(shared_received_message), override=admins_only))
        for part in CONTENT_PARTS
    ),
    ("GET /messages/{id}", Row(own_scheduled_message, **NO_OBJECT, override=own_or_unknown)),
    ("POST /messages/{id}/cancel", Row(own_scheduled_message, **NO_OBJECT, override=own_or_unknown)),
    (
        "POST /sieve/test",
        Row(try_with_received, (OWN, FOREIGN, UNKNOWN), override=admins_only, success=with_program("sieve-test")),
    ),
)
"""Further calls of the same routes: a mailbox that moves to another domain, received mail."""


def is_page(endpoint: Endpoint) -> bool:
    """Whether the route is a screen of the dashboard or one of its files."""
    return endpoint.tag == "Documentation" and not endpoint.prefixed


def route_name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}" + (" (page)" if is_page(endpoint) else "")


ROUTES = {route_name(endpoint): endpoint for endpoint in ENDPOINTS}
ROWS |= {name: Row(any_id, **NO_OBJECT) for name, endpoint in ROUTES.items() if is_page(endpoint)}


def test_every_route_has_a_row():
    assert ROWS.keys() == ROUTES.keys()


async def call_route(endpoint: Endpoint, actor: Actor, arguments: CallArguments) -> Answer:
    template_path = endpoint.path.replace("{number}", "1").replace("{version}", "1")
    path = re.sub(r"\{\w+\}", arguments.path or "", template_path)  # one ID fits all placeholders
    client = (arguments.actor or actor).client
    if endpoint.prefixed:
        return await client(endpoint.method, path, arguments.body, query=arguments.query)
    return await Caller(client.app)(endpoint.method, path, dict(client.headers))


def outcome_of(answer: Answer) -> Outcome:
    return answer.status, (answer.code if answer.status >= 400 else None)


@pytest.fixture
async def factory(post: Post) -> ObjectFactory:
    """Both domains have DKIM keys, and every list has objects of both."""
    key = dkim.generate_key(post.api.app.vault, DOMAIN_IDS[OTHER], START, "ed25519")
    async with post.api.app.db.tx() as conn:
        await dkim.insert(conn, key)
    api = replace(post.api, pipeline=Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL))
    api.configure_provider()
    # Without the limit on audit entries of refused calls, which tests/record/audit/test_refused.py tests.
    api.app.refusal_limit._limit = 1_000_000
    factory = ObjectFactory(post, api)
    for case in DOMAINS:
        for make in (
            shared_mailbox, shared_suspension, shared_alias, shared_message, shared_admin, shared_webhook,
            shared_suppression, shared_unsubscribe_group, shared_template, shared_incident, shared_alert,
        ):  # fmt: skip
            await make(factory, case)
        await bounced_message(factory, case)
    await shared_webhook(factory, NONE)
    await shared_template(factory, NONE)
    return factory


@pytest.mark.usefixtures("unhurried")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("share", range(2))
async def test_every_route_responds_to_every_caller_by_the_policy(factory: ObjectFactory, share: int):
    await check_matrix(factory, ACTORS[share::2])


async def check_matrix(factory: ObjectFactory, templates: Sequence[Actor]) -> None:
    """Call every route as each of these callers, and compare the outcomes with the policy."""
    failures: list[str] = []
    audited: Counter[tuple[str, str]] = Counter()
    actors = [await factory.create_actor(person) for person in templates]
    before = await count_audit_entries(factory)
    for endpoint, row in [(ROUTES[name], row) for name, row in (*ROWS.items(), *FURTHER_ROWS)]:
        for actor, case in [(each, case) for each in actors for case in cases_of(endpoint, row, each)]:
            arguments = await row.prepare(factory, actor, case)
            answer = await call_route(endpoint, actor, arguments)
            outcome = expected_outcome(endpoint, row, actor, case)
            if outcome_of(answer) != outcome:
                failures.append(
                    f"{route_name(endpoint)} by {actor.name} on {case}: {outcome_of(answer)}, not {outcome}"
                )
            elif answer.status < 400 and row.check:
                try:
                    row.check(arguments.actor or actor, case, answer)
                except AssertionError as error:
                    failures.append(f"{route_name(endpoint)} by {actor.name} on {case}: {error}")
            # A call without its kind of credentials has no caller whose entry could be written.
            if endpoint.audit and outcome[0] not in (401, 503):  # unavailable: counted by metrics only, not audited
                audited[
                    endpoint.audit,
                    audit_outcome(
                        batch_outcome(actor, case) if row.check is shows_batch and outcome != FORBIDDEN else outcome
                    ),
                ] += 1
    assert not failures, "\n" + "\n".join(failures)
    after = await count_audit_entries(factory)
    assert {kind: after[kind] - before[kind] for kind in audited} == dict(audited)


def cases_of(endpoint: Endpoint, row: Row, actor: Actor) -> Sequence[str]:
    """The cases that tell something. Pages are open to all; a caller who is refused before the object is looked up
    gets the same answer in all cases; and what is no ID is refused before the caller's domains matter.
    """
    if refusal_by_role(actor, endpoint.action) or refusal_by_permissions(actor, endpoint):
        return row.cases[:1]
    is_plain = actor.role in (None, Role.SUPER_ADMIN) and not actor.is_key
    if is_page(endpoint) and not is_plain:
        return ()
    return [
        case
        for case in row.cases
        if (case != MALFORMED or is_plain)
        and (case != UNKNOWN or not actor.is_key or actor.name == "domain admin's key to own")
    ]


def audit_outcome(outcome: Outcome) -> str:
    """The audit outcome of a response."""
    return "success" if outcome[0] < 400 else "denied" if outcome[0] == 403 else "failed"


async def count_audit_entries(factory: ObjectFactory) -> Counter[tuple[str, str]]:
    rows = await factory.api.sql("SELECT action, outcome, count(*) AS n FROM audit_entries GROUP BY action, outcome")
    return Counter({(row["action"], row["outcome"]): row["n"] for row in rows})


ACTIONS_BY_ROLE = {
    _DOMAIN: {
        "account.read", "account.change", "account.password", "admin.list", "api_key.list", "api_key.write",
        "audit.list", "domain.list",
        "domain.read", "dkim.read", "dns.read", "dns.check", "report.read",
        "mailbox.list", "mailbox.read", "mailbox.write", "alias.list", "alias.read",
        "alias.write", "routing.explain", "message.list", "message.totals", "analytics.read", "message.read",
        "message.details",
        "message.schedule", "message.resend", "message.retry", "send", "sieve.check",
        "template.list", "template.read", "template.render",
        "mailbox.bulk", "alias.bulk", "operation.read", "suppression.list", "suppression.read", "suppression.write",
        "filter.read", "filter.write", "threshold.list", "threshold.write",
        "abuse.read", "alert.list", "alert.read", "alert.write",
        "suppression.import", "unsubscribe_group.list", "unsubscribe_group.read", "unsubscribe_group.write",
        "session.list", "session.leave", "factor.enrol", "factor.change", "passkey.list",
        "incident.list", "incident.read", "incident.write",
    },
    _ADMIN: {
        "domain.create", "domain.write", "dkim.write", "report.upload",
        "message.raw_inbound", "event.list", "event.read", "suspension.list",
        "suspension.read", "suspension.lift", "sign_in_block.list",
        "sign_in_block.remove", "webhook.list", "webhook.read", "webhook.write", "queue.list",
        "queue.write", "sieve.read", "sieve.write", "template.write",
    },
    _SUPER: {"admin.write", "audit.verify", "audit.export", "config.read", "config.write", "health.read",
        "health.write", "orchestrator.read", "orchestrator.write", "sandbox", "sandbox.read", "dns_server.read",
        "dns_server.check",
        "filter_server.read", "filter_server.write", "certificate.read", "certificate.write",
        "backup.read", "backup.write"},
    None: {"me.read", "me.write", "me.credentials", "me.leave"},
}  # fmt: skip
"""Actions by their lowest role, as in the API reference."""

ACTIONS_OF_OWNERS = {"me.read", "me.write", "me.credentials", "me.leave", "sieve.check"}
"""Of owners of mailboxes; the others are none of them."""

ACTIONS_BY_SCOPE = {
    ActionScope.GLOBAL: {
        "filter_server.read", "filter_server.write", "certificate.read", "certificate.write",
        "backup.read", "backup.write",
        "admin.write", "api_key.write", "audit.verify", "audit.export", "domain.create", "sandbox", "sandbox.read",
        "queue.list", "queue.write", "health.read", "health.write", "config.read", "config.write",
        "orchestrator.read", "orchestrator.write", "sign_in_block.list", "sign_in_block.remove",
        "dns_server.read", "dns_server.check",
    },
    ActionScope.CREDENTIALS: {"account.change", "account.password", "session.leave", "factor.enrol", "factor.change"},
    ActionScope.ACCOUNT: {"account.read", "session.list", "passkey.list"},
    ActionScope.LISTING: {
        "admin.list", "api_key.list", "audit.list", "domain.list", "mailbox.list", "alias.list",
        "message.list", "message.totals", "analytics.read",
        "event.list", "suspension.list", "threshold.list", "incident.list", "alert.list", "webhook.list", "sieve.check",
        "template.list", "abuse.read",
        "mailbox.bulk", "alias.bulk", "operation.read", "suppression.list", "suppression.import",
        "unsubscribe_group.list",
    },
}  # fmt: skip


async def test_items_of_bulk_operations_follow_the_policy(factory: ObjectFactory):
    """Each caller creates a mailbox and an alias in its own and in the foreign domain."""
    expected: dict[str, str | None] = {}
    for template, case in itertools.product(
        [each for each in ACTORS if each.role and each.permissions == "full"], DOMAINS
    ):
        actor, domain = await factory.create_actor(template), DOMAINS[case]
        refusal = refusal_by_domain(actor, case)
        box, source = factory.unique_name("bulk"), factory.unique_name("bulk")
        for path, item in (
            ("/mailboxes/bulk", {"address": f"{box}@{domain}", "password_hash": "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk="}),
            ("/aliases/bulk", {"domain": domain, "source_local_part": source, "destination": "x@far.test"}),
        ):
            answer = await actor.client.post(path, {"action": "create", "items": [item]})
            assert answer.status == 202, answer.body
            expected[answer.data["operation_id"]] = refusal and refusal[1]
    await BulkWorker(factory.api.app).drain()
    found: dict[str, str | None] = {}
    for operation_id in expected:
        [result] = (await factory.api.sue.get(f"/operations/{operation_id}")).data["results"]
        found[operation_id] = result["error"] and result["error"]["code"]
    assert found == expected


def test_the_policy_matches_the_documented_roles():
    for role, actions in ACTIONS_BY_ROLE.items():
        assert {action for action, rule in POLICY.items() if rule.role is role} == actions
    assert {action for action, rule in POLICY.items() if rule.owners} == ACTIONS_OF_OWNERS
    for scope, actions in ACTIONS_BY_SCOPE.items():
        assert {action for action, rule in POLICY.items() if rule.scope is scope} == actions


async def test_two_cookies_of_one_name_are_refused(factory: ObjectFactory):
    """A site below the server's domain could have set one of them."""
    actors = [await factory.create_actor(person) for person in ACTORS if person.name in ("super", "owner")]
    for actor, endpoint in itertools.product(actors, ENDPOINTS):
        if endpoint.action is None or refusal_by_role(actor, endpoint.action):
            continue
        cookie = actor.client.headers["cookie"]
        client = replace(actor.client, headers={"cookie": f"{cookie}; other=1; {cookie}"})
        answer = await call_route(endpoint, replace(actor, client=client), CallArguments(UNKNOWN_ID))
        assert outcome_of(answer) == (401, "SESSION_INVALID"), route_name(endpoint)


async def test_a_token_of_one_kind_is_none_of_the_other(factory: ObjectFactory):
    """Not even with the other cookie's name."""
    owner, admin = [await factory.create_actor(person) for person in ACTORS if person.name in ("owner", "super")]
    for actor, name, path in ((admin, "svc_mailbox", "/me"), (owner, "svc_session", "/auth/me")):
        value = actor.client.headers["cookie"].partition("=")[2]
        assert (await factory.api.nobody.with_cookie(f"{name}={value}").get(path)).code == "SESSION_INVALID"


def test_no_domains_does_not_mean_all_domains():
    """An empty assignment or scope means no domains."""
    for role in Role:
        assert Principal(None, "", role, "api_key", assigned=_OWN, scope=NO_DOMAINS).domains() == []  # type: ignore[arg-type]
    assert Principal(None, "", _DOMAIN, "session").domains() == []  # type: ignore[arg-type]
    assert Principal(None, "", None, "mailbox").domains() == []  # type: ignore[arg-type]
    assert Principal(None, "", _ADMIN, "session").domains() is None  # type: ignore[arg-type]
