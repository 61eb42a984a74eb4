"""Tenants are separate: every route × caller × domain. The routes are the router's own; one without a row here fails.

A row says what the call needs and what answers it. Where nothing else is said, the policy decides: a role below the
action's is FORBIDDEN, so is a foreign domain; where only the key's scope bars, it is API_KEY_DOMAIN_SCOPE; what does
not exist is not found. Callers and objects are made by SQL, so that no cell leans on another.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import cbor2
import pytest

from mailkeep.core import totp
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import POLICY, ActionScope, Principal, Role
from mailkeep.core.secret import token_hash
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
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

OWN, FOREIGN, UNKNOWN, MALFORMED, NONE = "own", "foreign", "unknown", "malformed", "none"
DOMAINS = {OWN: EXAMPLE, FOREIGN: OTHER}
NOWHERE = "01890000-0000-7000-8000-000000000000"
OPEN = frozenset[UUID]()

Outcome = tuple[int, str | None]
NOT_FOUND: Outcome = (404, "NOT_FOUND")
DOMAIN_NOT_FOUND: Outcome = (404, "DOMAIN_NOT_FOUND")
INVALID_FIELD: Outcome = (400, "INVALID_FIELD")
FORBIDDEN: Outcome = (403, "FORBIDDEN")
BY_SCOPE: Outcome = (403, "API_KEY_DOMAIN_SCOPE")


@dataclass(frozen=True)
class Person:
    """A caller; `role` None: without credentials. `scope` as in `Principal`; `is_key`: with an API key."""

    name: str
    role: Role | None
    assigned: frozenset[UUID] = OPEN
    scope: frozenset[UUID] | None = None
    is_key: bool = False
    client: Client = field(repr=False, default=None)  # type: ignore[assignment]
    admin_id: UUID | None = None
    own_id: UUID | None = None  # of the session or key

    def sees(self, place: str) -> bool:
        """Whether a list shows what lies in the domain of this place."""
        domain = DOMAIN_IDS[DOMAINS[place]]
        by_role = self.role is not Role.DOMAIN_ADMIN or domain in self.assigned
        return by_role and (self.scope is None or domain in self.scope)


_OWN, _FOREIGN = frozenset({DOMAIN_IDS[EXAMPLE]}), frozenset({DOMAIN_IDS[OTHER]})
_SUPER, _ADMIN, _DOMAIN = Role.SUPER_ADMIN, Role.ADMIN, Role.DOMAIN_ADMIN
CAST = (
    Person("nobody", None),
    Person("super", _SUPER),
    Person("admin", _ADMIN),
    Person("domain admin", _DOMAIN, _OWN),
    Person("outsider", _DOMAIN, _FOREIGN),
    Person("domain admin of nothing", _DOMAIN),
    Person("super's key", _SUPER, is_key=True),
    Person("admin's key", _ADMIN, is_key=True),
    Person("domain admin's key", _DOMAIN, _OWN, is_key=True),
    Person("super's key to own", _SUPER, scope=_OWN, is_key=True),
    Person("admin's key to own", _ADMIN, scope=_OWN, is_key=True),
    Person("domain admin's key to own", _DOMAIN, _OWN, scope=_OWN, is_key=True),
    Person("super's key to foreign", _SUPER, scope=_FOREIGN, is_key=True),
    Person("domain admin's key to foreign", _DOMAIN, _OWN, scope=_FOREIGN, is_key=True),
    Person("super's key to deleted domains", _SUPER, scope=OPEN, is_key=True),
    Person("domain admin's key to deleted domains", _DOMAIN, _OWN, scope=OPEN, is_key=True),
)


@dataclass
class World:
    """The application with all routes, and makers of what a cell needs."""

    post: Post
    api: Api
    numbers: Iterator[int] = field(default_factory=itertools.count)
    kept: dict[str, Any] = field(default_factory=dict[str, Any])

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self.numbers)}"

    async def person(self, like: Person) -> Person:
        """An account with a session or a key of its own, as `like` says."""
        if like.role is None:
            return replace(like, client=self.api.nobody)
        name = self.fresh("person")
        admin_id = await self.account(name, like.role, like.assigned)
        if not like.is_key:
            own_id, cookie = await self.session(admin_id, name)
            return replace(like, client=self.api.nobody.with_cookie(cookie), admin_id=admin_id, own_id=own_id)
        own_id, raw = await self.key(admin_id, name, like.scope)
        return replace(like, client=self.api.nobody.with_key(raw), admin_id=admin_id, own_id=own_id)

    async def account(self, name: str, role: Role, assigned: frozenset[UUID]) -> UUID:
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

    async def session(self, admin_id: UUID, name: str) -> tuple[UUID, str]:
        session_id, token = uuid7(START), f"{name:_<43}"
        session = {
            "id": session_id, "admin_id": admin_id, "token_hash": token_hash(token), "credentials_epoch": 0,
            "ip_address": "192.0.2.1", "user_agent": "cast", "created_at": START,
            "expires_at": START.replace(year=2036),
        }  # fmt: skip
        await self.insert("sessions", session)
        return session_id, cookie_of(token)

    async def key(self, admin_id: UUID, name: str, scope: frozenset[UUID] | None) -> tuple[UUID, str]:
        """A key; for an empty scope its domain is deleted by the API after creating the key."""
        key_id, raw = uuid7(START), f"svc_sk_{name:_<43}"
        key = {
            "id": key_id, "admin_id": admin_id, "name": name, "key_prefix": raw[:12], "token_hash": token_hash(raw),
            "is_scoped": scope is not None, "rate_limit": 0, "created_at": START,
        }  # fmt: skip
        await self.insert("api_keys", key)
        doomed = await self.api.domain(f"{self.fresh('doomed')}.test") if scope == OPEN else None
        for domain_id in {doomed} if doomed else scope or ():
            await self.insert("api_key_domains", {"key_id": key_id, "domain_id": domain_id})
        if doomed:
            assert (await self.api.sue.delete(f"/domains/{doomed}")).status == 200
        return key_id, raw

    async def insert(self, table: Any, row: dict[str, Any]) -> None:
        async with self.api.app.db.autocommit() as conn:
            await insert_row(conn, table, row)

    async def once(self, name: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """Created at first use and shared by calls that only read it."""
        if name not in self.kept:
            self.kept[name] = await make()
        return self.kept[name]


@dataclass(frozen=True)
class Asked:
    """The arguments of a call; `by` if another caller is needed."""

    path: str | None = None
    query: dict[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    by: Person | None = None


@dataclass(frozen=True)
class Row:
    """How to call a route. `places`: the domains of its object; `expect` replaces the policy's result."""

    ask: Callable[[World, Person, str], Awaitable[Asked]]
    places: tuple[str, ...] = (OWN, FOREIGN, UNKNOWN, MALFORMED)
    unknown: Outcome = NOT_FOUND
    malformed: Outcome = NOT_FOUND
    done: Outcome | None = None
    expect: Callable[[Person, str, Outcome], Outcome] | None = None
    look: Callable[[Person, str, Answer], object] | None = None  # asserts on the response of a permitted call


def barred(who: Person, action: str | None) -> Outcome | None:
    """The refusal by role or kind of credential."""
    if action is None:
        return None
    rule = POLICY[action]
    if who.role is None:
        return 401, "AUTH_REQUIRED"
    if who.role.rank < rule.role.rank or (who.is_key and rule.scope is ActionScope.CREDENTIALS):
        return FORBIDDEN
    if rule.scope is ActionScope.GLOBAL and who.scope is not None:
        return BY_SCOPE
    return None


def beyond(who: Person, place: str) -> Outcome | None:
    """The refusal because of the object's domain."""
    domain = DOMAIN_IDS[DOMAINS[place]]
    if who.role is Role.DOMAIN_ADMIN and domain not in who.assigned:
        return FORBIDDEN
    return None if who.scope is None or domain in who.scope else BY_SCOPE


def expected(endpoint: Endpoint, row: Row, who: Person, place: str) -> Outcome:
    if bar := barred(who, endpoint.action):
        return bar
    done = row.done or (endpoint.status, None)
    if row.expect:
        return row.expect(who, place, done)
    match place:
        case "unknown":
            return row.unknown
        case "malformed":
            return row.malformed
        case "none":
            return done
        case _:
            return beyond(who, place) or done


# Arguments of calls

Maker = Callable[[World, str], Awaitable[Any]]


def domain_of(place: str) -> str:
    return str(DOMAIN_IDS[DOMAINS[place]]) if place in DOMAINS else {UNKNOWN: NOWHERE, MALFORMED: "no-id"}[place]


def by_id(make: Maker, body: Any = None) -> Callable[[World, Person, str], Awaitable[Asked]]:
    async def ask(world: World, who: Person, place: str) -> Asked:
        path = str(await make(world, place)) if place in DOMAINS or place == NONE else domain_of(place)
        return Asked(path, body=body(world, place) if callable(body) else body)

    return ask


def by_body(make: Callable[[World, str], dict[str, Any]]) -> Callable[[World, Person, str], Awaitable[Asked]]:
    async def ask(world: World, who: Person, place: str) -> Asked:
        return Asked(body=make(world, place))

    return ask


async def by_query(world: World, who: Person, place: str) -> Asked:
    return Asked(query={"limit": 200} | ({} if place == NONE else {"domain_id": domain_of(place)}))


async def by_filter(world: World, who: Person, place: str) -> Asked:
    """A list without pages."""
    return Asked(query={} if place == NONE else {"domain_id": domain_of(place)})


async def by_scope(world: World, who: Person, place: str) -> Asked:
    return Asked(query={} if place == NONE else {"scope": "domain", "id": domain_of(place)})


async def by_stream(world: World, who: Person, place: str) -> Asked:
    """All events so far, then the end."""
    asked = await by_filter(world, who, place)
    return Asked(query={"duration": 0, "after": UUID(int=0)} | asked.query)


def held(world: World, place: str) -> dict[str, Any]:
    return {"action": "hold", "ids": ["4jW9T1xz0bz1"], "dry_run": True}


async def plain(world: World, who: Person, place: str) -> Asked:
    return Asked()


async def a_domain(world: World, place: str) -> Any:
    return DOMAIN_IDS[DOMAINS[place]]


async def a_mailbox(world: World, place: str, **columns: Any) -> Any:
    return await world.api.mailbox(f"{world.fresh('box')}@{DOMAINS[place]}", **columns)


async def a_kept_mailbox(world: World, place: str) -> Any:
    return await world.once(f"mailbox {place}", lambda: a_mailbox(world, place))


async def a_trashed_mailbox(world: World, place: str) -> Any:
    return await a_mailbox(world, place, deleted_at=START)


async def a_suspended_mailbox(world: World, place: str) -> Any:
    mailbox_id = await a_mailbox(world, place)
    by_lowest = {"id": uuid7(START), "reason": "x", "by_kind": "admin", "by_label": "x", "by_rank": 0}
    [row] = await world.api.sql("SELECT local_part FROM mailboxes WHERE id = %(id)s", id=mailbox_id)
    address = f"{row['local_part']}@{DOMAINS[place]}"
    at = {"domain_id": DOMAIN_IDS[DOMAINS[place]], "address": address, "address_key": address, "created_at": START}
    await world.insert("suspensions", by_lowest | at)
    return mailbox_id


async def a_suspension(world: World, place: str) -> Any:
    return await world.api.suspension(f"{world.fresh('noisy')}@{DOMAINS[place]}")


async def a_kept_suspension(world: World, place: str) -> Any:
    return await world.once(f"suspension {place}", lambda: a_suspension(world, place))


async def an_alias(world: World, place: str) -> Any:
    return await world.api.alias(f"{world.fresh('alias')}@{DOMAINS[place]}", ["out@elsewhere.test"])


async def a_kept_alias(world: World, place: str) -> Any:
    return await world.once(f"alias {place}", lambda: an_alias(world, place))


async def a_webhook(world: World, place: str) -> Any:
    """`none`: one of all domains. It is at an address that is not called."""
    return await world.api.webhook(DOMAINS.get(place))


async def a_kept_webhook(world: World, place: str) -> Any:
    return await world.once(f"webhook {place}", lambda: a_webhook(world, place))


async def a_message(world: World, place: str) -> Any:
    """One that Sue sent from the domain; `none`: one that was refused, as it was for no domain of ours."""

    async def make() -> Any:
        if place != NONE:
            sender = {"email": f"shop@{DOMAINS[place]}"}
            attached = [{"filename": "list.txt", "content_type": "text/plain", "content": "b25lIHNvZmE="}]
            more = {"subject": "In HTML too", "html_body": "<p>Hi</p>", "attachments": attached}
            written = letter(**{"from": sender}, **more)
            return (await world.api.sue.post("/send", written)).data["id"]
        await world.post.deliver("somebody@unmanaged.test")
        [row] = await world.api.sql("SELECT id FROM messages WHERE domain_id IS NULL")
        return row["id"]

    return await world.once(f"message {place}", make)


async def a_received_message(world: World, place: str) -> Any:
    async def make() -> Any:
        mailbox_id = await a_mailbox(world, place)
        [row] = await world.api.sql("SELECT local_part FROM mailboxes WHERE id = %(id)s", id=mailbox_id)
        await world.post.deliver(f"{row['local_part']}@{DOMAINS[place]}")
        [row] = await world.api.sql("SELECT id FROM messages WHERE mailbox_id = %(id)s", id=mailbox_id)
        return row["id"]

    return await world.once(f"received {place}", make)


async def an_event(world: World, place: str) -> Any:
    await a_message(world, place)
    domain_id = DOMAIN_IDS[DOMAINS[place]]
    return (await world.api.sql("SELECT id FROM events WHERE domain_id = %(id)s LIMIT 1", id=domain_id))[0]["id"]


async def a_caught_message(world: World, place: str) -> Any:
    await a_message(world, place)
    caught = (await world.api.sue.get("/sandbox/messages", limit=200)).data
    return next(each["id"] for each in caught if each["subject"] == "In HTML too")


async def an_admin(world: World, place: str) -> Any:
    return await world.account(world.fresh("account"), _DOMAIN, frozenset({DOMAIN_IDS[DOMAINS[place]]}))


async def a_kept_admin(world: World, place: str) -> Any:
    return await world.once(f"admin {place}", lambda: an_admin(world, place))


async def key_to_revoke(world: World, who: Person, place: str) -> Asked:
    """`own`: a key of the caller's account; `foreign`: of another's."""
    if place not in DOMAINS or who.admin_id is None:
        return Asked(NOWHERE if place != MALFORMED else "no-id")
    owner = who.admin_id if place == OWN else await a_kept_admin(world, OWN)
    return Asked(str((await world.key(owner, world.fresh("key"), None))[0]))


async def session_to_end(world: World, who: Person, place: str) -> Asked:
    """`own`: another session of the caller; `foreign`: one of another's."""
    if place not in DOMAINS or who.admin_id is None:
        return Asked(NOWHERE if place != MALFORMED else "no-id")
    owner = who.admin_id if place == OWN else await a_kept_admin(world, OWN)
    return Asked(str((await world.session(owner, world.fresh("session")))[0]))


async def as_oneself(world: World, who: Person, place: str) -> Asked:
    """By an account of the same kind that is good for this one call."""
    return Asked(by=await world.person(who))


async def new_password(world: World, who: Person, place: str) -> Asked:
    body = {"current_password": PASSWORD, "new_password": "incorrect pony charger clip"}
    return replace(await as_oneself(world, who, place), body=body)


async def setting_up(world: World, who: Person, place: str) -> Asked:
    """With a first code, while a second factor is being set up."""
    return await with_code(world, who, None)


async def enrolled(world: World, who: Person, place: str) -> Asked:
    """With a code of an enabled second factor."""
    return await with_code(world, who, START)


async def with_code(world: World, who: Person, enabled_at: datetime | None) -> Asked:
    asked, secret = await as_oneself(world, who, NONE), b"12345678901234567890"
    admin_id = asked.by.admin_id if asked.by else None
    if admin_id:
        sealed = VAULT.seal("totp", secret, admin_id.bytes)
        factor = {"admin_id": admin_id, "secret": sealed, "created_at": START, "enabled_at": enabled_at}
        await world.insert("totp_secrets", factor)
    return replace(asked, body={"code": totp.hotp(secret, totp.step_of(world.api.clock()))})


async def a_passkey(world: World, admin_id: UUID) -> tuple[SoftKey, UUID]:
    key, passkey_id = SoftKey(user_handle=admin_id.bytes), uuid7(START)
    passkey = {
        "id": passkey_id, "admin_id": admin_id, "credential_id": key.credential_id,
        "public_key": cbor2.dumps(key.public_key()), "sign_count": 0, "name": "A key", "aaguid": UUID(int=0),
        "transports": [], "backup_eligible": False, "backed_up": False, "created_at": START,
    }  # fmt: skip
    await world.insert("passkeys", passkey)
    return key, passkey_id


async def making_passkey(world: World, who: Person, place: str) -> Asked:
    """With an authenticator's result, while a passkey is being registered."""
    asked = await as_oneself(world, who, place)
    challenge = world.fresh("challenge").encode()
    if asked.by and asked.by.own_id and asked.by.admin_id:
        waiting = {
            "challenge_hash": sha256(challenge).digest(), "purpose": "register", "bound_to": asked.by.own_id.bytes,
            "expires_at": START.replace(year=2036),
        }  # fmt: skip
        await world.insert("passkey_challenges", waiting)
    credential = SoftKey().create({"user": {"id": b64(b"somebody")}, "challenge": b64(challenge)})
    return replace(asked, body={"credential": credential})


async def with_passkey(world: World, who: Person, place: str) -> Asked:
    asked = await as_oneself(world, who, place)
    if asked.by and asked.by.admin_id:
        await a_passkey(world, asked.by.admin_id)
    return asked


async def own_or_foreign_passkey(world: World, who: Person, place: str) -> Asked:
    """`own`: a passkey of the caller; `foreign`: one of another's."""
    asked = await as_oneself(world, who, place)
    if place not in DOMAINS or not (asked.by and asked.by.admin_id):
        return replace(asked, path=NOWHERE if place != MALFORMED else "no-id")
    owner = asked.by.admin_id if place == OWN else await a_kept_admin(world, OWN)
    return replace(asked, path=str((await a_passkey(world, owner))[1]))


async def passkey_to_rename(world: World, who: Person, place: str) -> Asked:
    return replace(await own_or_foreign_passkey(world, who, place), body={"name": world.fresh("name")})


async def a_page(world: World, who: Person, place: str) -> Asked:
    """A screen is the same whatever its `{id}`."""
    return Asked("any")


async def log_in_by_passkey(world: World, who: Person, place: str) -> Asked:
    key, _ = await a_passkey(world, await world.account(world.fresh("holder"), _ADMIN, OPEN))
    offered = await world.api.nobody.post("/auth/passkeys/login/options")
    asked = await as_oneself(world, who, place)
    return replace(asked, body={"credential": key.get(offered.data["options"])})


async def with_identity(world: World, who: Person, place: str) -> Asked:
    asked = await as_oneself(world, who, place)
    if asked.by and asked.by.admin_id:
        await world.api.identity(asked.by.admin_id)
    return asked


async def at_provider(world: World, who: Person, place: str) -> Asked:
    return Asked("keycloak")


async def log_in(world: World, who: Person, place: str) -> Asked:
    """A login replaces the session that is shown with it."""
    return replace(await as_oneself(world, who, place), body={"email": f"adam@{EXAMPLE}", "password": PASSWORD})


def new_admin(world: World, place: str) -> dict[str, Any]:
    domains = [] if place == NONE else [domain_of(place)]
    return {
        "email": f"{world.fresh('new')}@elsewhere.test",
        "password": "seven green bottles",
        "role": "domain_admin",
        "domain_ids": domains,
    }


def new_key(world: World, place: str) -> dict[str, Any]:
    return {"name": "k", "scoped_domain_ids": [] if place == NONE else [domain_of(place)], "rate_limit": 0}


def new_domain(world: World, place: str) -> dict[str, Any]:
    return {"name": f"{world.fresh('new')}.test"}


def new_mailbox(world: World, place: str) -> dict[str, Any]:
    return {"domain_id": domain_of(place), "local_part": world.fresh("new"), "password_hash": "{SHA}x"}


def new_alias(world: World, place: str) -> dict[str, Any]:
    return {
        "domain_id": domain_of(place),
        "source_local_part": world.fresh("new"),
        "destination": "out@elsewhere.test",
    }


def new_webhook(world: World, place: str) -> dict[str, Any]:
    body = {"url": "https://hooks.elsewhere.test/", "events": ["*"]}
    return body if place == NONE else body | {"domain_id": domain_of(place)}


def renamed(world: World, place: str) -> dict[str, Any]:
    return {"name": world.fresh("name")}


def described(world: World, place: str) -> dict[str, Any]:
    return {"description": world.fresh("text")}


def sender_of(place: str) -> dict[str, Any]:
    names = DOMAINS | {UNKNOWN: "unmanaged.test", MALFORMED: "no domain"}
    return letter(**{"from": {"email": f"shop@{names[place]}"}})


async def moved_mailbox(world: World, who: Person, place: str) -> Asked:
    """A mailbox of the own domain that is to go to the domain of the place."""
    return Asked(str(await a_mailbox(world, OWN)), body={"domain_id": domain_of(place)} | renamed(world, place))


async def address_asked(world: World, who: Person, place: str) -> Asked:
    names = DOMAINS | {UNKNOWN: "unmanaged.test", MALFORMED: "no domain"}
    return Asked(query={"address": f"shop@{names[place]}"})


# Results beyond the policy


def shown_accounts(who: Person, place: str, done: Outcome) -> Outcome:
    """GET /admins/{id}: an account shares its domain with the caller, or the caller is admin or above."""
    if place in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    by_role = who.role is not Role.DOMAIN_ADMIN or DOMAIN_IDS[DOMAINS[place]] in who.assigned
    return FORBIDDEN if not by_role else BY_SCOPE if who.scope is not None else done


def own_keys(who: Person, place: str, done: Outcome) -> Outcome:
    """A super_admin revokes any key, others their own."""
    if place in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    return done if place == OWN or who.role is Role.SUPER_ADMIN else FORBIDDEN


def own_sessions(who: Person, place: str, done: Outcome) -> Outcome:
    return done if place == OWN else NOT_FOUND


def named_domain(who: Person, place: str, done: Outcome) -> Outcome:
    """A domain_admin must name the domain of the aliases."""
    if place == NONE:
        return (400, "MISSING_FIELDS") if who.role is Role.DOMAIN_ADMIN else done
    return {UNKNOWN: DOMAIN_NOT_FOUND, MALFORMED: INVALID_FIELD}.get(place) or beyond(who, place) or done


def from_and_to(who: Person, place: str, done: Outcome) -> Outcome:
    """A caller without access to the mailbox learns nothing about the new domain."""
    if place == MALFORMED:
        return INVALID_FIELD
    if bar := beyond(who, OWN):
        return bar
    return DOMAIN_NOT_FOUND if place == UNKNOWN else beyond(who, place) or done


def unmanaged_too(who: Person, place: str, done: Outcome) -> Outcome:
    """Objects without a managed domain are visible only with access to all domains."""
    if place in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    if place == NONE:
        return FORBIDDEN if who.role is Role.DOMAIN_ADMIN else done if who.scope is None else BY_SCOPE
    return beyond(who, place) or done


def of_all_too(who: Person, place: str, done: Outcome) -> Outcome:
    """Objects for all domains are outside of any scope."""
    if place == NONE:
        return done if who.scope is None else BY_SCOPE
    return {UNKNOWN: DOMAIN_NOT_FOUND, MALFORMED: INVALID_FIELD}.get(place) or beyond(who, place) or done


def kept_content(who: Person, place: str, done: Outcome) -> Outcome:
    """A message refused at SMTP has no content."""
    return unmanaged_too(who, place, NOT_FOUND if place == NONE else done)


def for_admins(who: Person, place: str, done: Outcome) -> Outcome:
    """A domain_admin does not read received messages."""
    if place in (UNKNOWN, MALFORMED):
        return NOT_FOUND
    return FORBIDDEN if who.role is Role.DOMAIN_ADMIN else beyond(who, place) or done


def any_address(who: Person, place: str, done: Outcome) -> Outcome:
    """Everybody may query an address that is not managed here."""
    return {UNKNOWN: done, MALFORMED: INVALID_FIELD}.get(place) or beyond(who, place) or done


# Assertions on responses


def shows_domains_of(name: str) -> Callable[[Person, str, Answer], None]:
    """The list has rows of exactly the domains that the caller sees (of the one asked for)."""

    def look(who: Person, place: str, answer: Answer) -> None:
        found = {row[name] for row in answer.data}
        wanted = {where: domain_of(where) for where in DOMAINS if place in (NONE, where)}
        assert {where for where, domain in wanted.items() if domain in found} == {w for w in wanted if who.sees(w)}
        if who.scope is not None or who.role is Role.DOMAIN_ADMIN:
            assert found <= set(wanted.values())

    return look


def shows_webhooks(who: Person, place: str, answer: Answer) -> None:
    """Those of the domains that the caller sees; those of all domains where no scope bars them."""
    found = {row["domain_id"] for row in answer.data}
    assert (None in found) == (who.scope is None)
    assert {where for where in DOMAINS if domain_of(where) in found} == {where for where in DOMAINS if who.sees(where)}


def streams_domains(who: Person, place: str, answer: Answer) -> None:
    """The same of a stream."""
    events = [each.data for each in parse(answer.body.decode()) if each.name.startswith("mail.")]
    shows_domains_of("domain_id")(who, place, replace(answer, body=json.dumps({"data": events}).encode()))


def shows_accounts(who: Person, place: str, answer: Answer) -> None:
    found = {row["id"] for row in answer.data}
    assert str(who.admin_id) in found
    if who.scope is not None:
        assert found == {str(who.admin_id)}
    elif who.role is Role.DOMAIN_ADMIN:
        seen = [set(row["domain_ids"]) for row in answer.data if row["id"] != str(who.admin_id)]
        assert all(domains <= {str(domain) for domain in who.assigned} and domains for domains in seen)
    else:
        assert len(found) > len(CAST)


def shows_keys(who: Person, place: str, answer: Answer) -> None:
    found = {row["id"] for row in answer.data}
    if who.is_key:
        assert str(who.own_id) in found
    if who.scope is not None:
        assert found == {str(who.own_id)}
    elif who.role is not Role.SUPER_ADMIN:
        assert {row["admin_id"] for row in answer.data} <= {str(who.admin_id)}


def shows_oneself(who: Person, place: str, answer: Answer) -> None:
    assert answer.data["id"] == str(who.admin_id)


def shows_own_sessions(who: Person, place: str, answer: Answer) -> None:
    own = [row["id"] for row in answer.data if row["current"]]
    assert own == ([] if who.is_key else [str(who.own_id)])


def shows_batch(who: Person, place: str, answer: Answer) -> None:
    """Each message of a batch is checked separately: the requested one, and one from an unknown domain."""
    judged, lost = answer.data["results"]
    assert judged.get("code") == of_batch(who, place)[1]
    assert lost["code"] == "DOMAIN_NOT_FOUND"


def of_batch(who: Person, place: str) -> Outcome:
    """The result for the requested message."""
    return {UNKNOWN: SENT["unknown"], MALFORMED: SENT["malformed"]}.get(place) or beyond(who, place) or (200, None)


async def two_letters(world: World, who: Person, place: str) -> Asked:
    return Asked(body={"messages": [sender_of(place), sender_of(UNKNOWN)]})


ALSO_NONE = (OWN, FOREIGN, NONE, UNKNOWN, MALFORMED)
LISTED: dict[str, Any] = {"places": ALSO_NONE, "unknown": DOMAIN_NOT_FOUND, "malformed": INVALID_FIELD}
IN_BODY: dict[str, Any] = {"unknown": DOMAIN_NOT_FOUND, "malformed": INVALID_FIELD}
SENT: dict[str, Any] = {"unknown": (403, "DOMAIN_NOT_FOUND"), "malformed": (400, "INVALID_SENDER")}
ONCE: dict[str, Any] = {"places": (NONE,)}

ROWS: dict[str, Row] = {
    "POST /auth/login": Row(log_in, **ONCE),
    "GET /auth/me": Row(plain, **ONCE, look=shows_oneself),
    "POST /auth/logout": Row(as_oneself, **ONCE),
    "POST /auth/logout-all": Row(as_oneself, **ONCE),
    "GET /auth/sessions": Row(plain, **ONCE, look=shows_own_sessions),
    "DELETE /auth/sessions/{id}": Row(session_to_end, expect=own_sessions),
    "POST /auth/password": Row(new_password, **ONCE),
    "POST /auth/totp/setup": Row(as_oneself, **ONCE),
    "POST /auth/totp/verify": Row(setting_up, **ONCE),
    "POST /auth/totp/recovery-codes": Row(enrolled, **ONCE),
    "DELETE /auth/totp": Row(enrolled, **ONCE),
    "POST /auth/passkeys/register/options": Row(as_oneself, **ONCE),
    "POST /auth/passkeys/register/verify": Row(making_passkey, **ONCE),
    "GET /auth/passkeys": Row(plain, **ONCE),
    "PATCH /auth/passkeys/{id}": Row(passkey_to_rename, expect=own_sessions),
    "DELETE /auth/passkeys/{id}": Row(own_or_foreign_passkey, expect=own_sessions),
    "POST /auth/passkeys/recovery-codes": Row(with_passkey, **ONCE),
    "POST /auth/passkeys/login/options": Row(plain, **ONCE),
    "POST /auth/passkeys/login/verify": Row(log_in_by_passkey, **ONCE),
    "GET /auth/oidc/providers": Row(plain, **ONCE),
    "GET /auth/oidc/login/{provider}": Row(at_provider, **ONCE),
    "GET /auth/oidc/callback/{provider}": Row(at_provider, **ONCE),
    "DELETE /auth/oidc/disconnect": Row(with_identity, **ONCE),
    "GET /admins": Row(plain, **ONCE, look=shows_accounts),
    "POST /admins": Row(by_body(new_admin), ALSO_NONE, **IN_BODY),
    "GET /admins/{id}": Row(by_id(a_kept_admin), expect=shown_accounts),
    "PATCH /admins/{id}": Row(by_id(an_admin, {"domain_ids": []})),
    "DELETE /admins/{id}": Row(by_id(an_admin)),
    "GET /api-keys": Row(plain, **ONCE, look=shows_keys),
    "POST /api-keys": Row(by_body(new_key), ALSO_NONE, **IN_BODY),
    "DELETE /api-keys/{id}": Row(key_to_revoke, expect=own_keys),
    "GET /domains": Row(plain, **ONCE, look=shows_domains_of("id")),
    "POST /domains": Row(by_body(new_domain), **ONCE),
    "GET /domains/{id}": Row(by_id(a_domain)),
    "PATCH /domains/{id}": Row(by_id(a_domain, described)),
    # Their mailboxes are in the way: whoever hears of them could delete.
    "DELETE /domains/{id}": Row(by_id(a_domain), done=(409, "CONFLICT")),
    "GET /domains/{id}/dkim-keys": Row(by_id(a_domain)),
    "GET /mailboxes": Row(by_query, **LISTED, look=shows_domains_of("domain_id")),
    "POST /mailboxes": Row(by_body(new_mailbox), **IN_BODY),
    "GET /mailboxes/{id}": Row(by_id(a_kept_mailbox)),
    "PATCH /mailboxes/{id}": Row(by_id(a_kept_mailbox, renamed)),
    "DELETE /mailboxes/{id}": Row(by_id(a_mailbox)),
    "POST /mailboxes/{id}/restore": Row(by_id(a_trashed_mailbox)),
    "POST /mailboxes/{id}/suspend": Row(by_id(a_mailbox, {"reason": "spam"})),
    "POST /mailboxes/{id}/unsuspend": Row(by_id(a_suspended_mailbox)),
    "GET /abuse/thresholds": Row(by_scope, **LISTED),
    "GET /abuse/suspensions": Row(by_query, **LISTED, look=shows_domains_of("domain_id")),
    "GET /abuse/suspensions/{id}": Row(by_id(a_kept_suspension)),
    "DELETE /abuse/suspensions/{id}": Row(by_id(a_suspension)),
    "GET /aliases": Row(by_query, **LISTED, expect=named_domain, look=shows_domains_of("domain_id")),
    "POST /aliases": Row(by_body(new_alias), **IN_BODY),
    "GET /aliases/{id}": Row(by_id(a_kept_alias)),
    "PATCH /aliases/{id}": Row(by_id(an_alias, {"active": False})),
    "DELETE /aliases/{id}": Row(by_id(an_alias)),
    "GET /routing/explain": Row(address_asked, expect=any_address),
    "POST /send": Row(by_body(lambda world, place: sender_of(place)), **SENT),
    "POST /send/batch": Row(two_letters, expect=lambda who, place, done: done, look=shows_batch),
    "GET /messages": Row(by_query, **LISTED, look=shows_domains_of("domain_id")),
    "GET /messages/{id}": Row(by_id(a_message), ALSO_NONE, expect=unmanaged_too),
    "GET /messages/{id}/events": Row(by_id(a_message), ALSO_NONE, expect=unmanaged_too),
    "GET /messages/{id}/raw": Row(by_id(a_message), ALSO_NONE, expect=kept_content),
    "GET /sandbox/messages": Row(plain, **ONCE),
    "GET /sandbox/messages/{id}": Row(by_id(a_caught_message), (OWN, UNKNOWN, MALFORMED)),
    "GET /sandbox/messages/{id}/html": Row(by_id(a_caught_message), (OWN, UNKNOWN, MALFORMED)),
    "GET /sandbox/messages/{id}/attachments/{number}": Row(by_id(a_caught_message), (OWN, UNKNOWN, MALFORMED)),
    "GET /sandbox/messages/{id}/raw": Row(by_id(a_caught_message), (OWN, UNKNOWN, MALFORMED)),
    "DELETE /sandbox/messages": Row(plain, **ONCE),
    "GET /audit": Row(by_query, **LISTED, look=shows_domains_of("domain_id")),
    "GET /audit/verify": Row(plain, **ONCE),
    "GET /health/details": Row(plain, **ONCE),
    "GET /audit/export": Row(by_filter, **LISTED),
    "GET /queue": Row(plain, **ONCE, done=(503, "UNAVAILABLE")),
    "POST /queue/actions": Row(by_body(held), **ONCE, done=(503, "UNAVAILABLE")),
    "GET /events": Row(by_query, **LISTED, look=shows_domains_of("domain_id")),
    "GET /events/stream": Row(by_stream, **LISTED, look=streams_domains),
    "GET /events/{id}": Row(by_id(an_event)),
    "GET /webhooks": Row(plain, **ONCE, look=shows_webhooks),
    "POST /webhooks": Row(by_body(new_webhook), ALSO_NONE, expect=of_all_too),
    "GET /webhooks/{id}": Row(by_id(a_kept_webhook), ALSO_NONE, expect=unmanaged_too),
    "PATCH /webhooks/{id}": Row(by_id(a_webhook, {"active": False}), ALSO_NONE, expect=unmanaged_too),
    "DELETE /webhooks/{id}": Row(by_id(a_webhook), ALSO_NONE, expect=unmanaged_too),
    "POST /webhooks/{id}/test": Row(by_id(a_kept_webhook), ALSO_NONE, expect=unmanaged_too),
    "POST /webhooks/{id}/rotate-secret": Row(by_id(a_kept_webhook), ALSO_NONE, expect=unmanaged_too),
    "GET /webhooks/{id}/deliveries": Row(by_id(a_kept_webhook), ALSO_NONE, expect=unmanaged_too),
    "POST /webhooks/{id}/deliveries/{delivery_id}/replay": Row(by_id(a_webhook), ALSO_NONE, expect=unmanaged_too),
    "POST /webhooks/{id}/replay": Row(
        by_id(a_webhook, {"since": "2026-02-01T00:00:00Z"}), ALSO_NONE, expect=unmanaged_too
    ),
    "GET /health": Row(plain, **ONCE),
    "GET /version": Row(plain, **ONCE),
    "GET /healthz": Row(plain, **ONCE),
    "GET /readyz": Row(plain, **ONCE),
    "GET /openapi.json": Row(plain, **ONCE),
    "GET /docs": Row(plain, **ONCE),
    "GET /docs/page.css": Row(plain, **ONCE),
    "GET /docs/page.js": Row(plain, **ONCE),
    "GET /docs/icon.svg": Row(plain, **ONCE),
}
"""Every route of the router, in its order."""

MORE: tuple[tuple[str, Row], ...] = (
    ("PATCH /mailboxes/{id}", Row(moved_mailbox, expect=from_and_to)),
    ("GET /messages/{id}/raw", Row(by_id(a_received_message), expect=for_admins)),
)
"""Routes once more, for another object: a mailbox that changes its domain, mail that others wrote."""


def is_page(endpoint: Endpoint) -> bool:
    """A screen of the dashboard, or one of its files, under the name that the build has given it."""
    return endpoint.tag == "Documentation" and not endpoint.prefixed


def name_of(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}" + (" (page)" if is_page(endpoint) else "")


ROUTES = {name_of(endpoint): endpoint for endpoint in ENDPOINTS}
ROWS |= {name: Row(a_page, **ONCE) for name, endpoint in ROUTES.items() if is_page(endpoint)}


def test_every_route_has_a_row():
    assert ROWS.keys() == ROUTES.keys()


async def ask(endpoint: Endpoint, who: Person, asked: Asked) -> Answer:
    numbered = endpoint.path.replace("{number}", "1")
    path = re.sub(r"\{\w+\}", asked.path or "", numbered)  # what lies below an object has the same id
    client = (asked.by or who).client
    if endpoint.prefixed:
        return await client(endpoint.method, path, asked.body, query=asked.query)
    return await Caller(client.app)(endpoint.method, path, dict(client.headers))


def outcome_of(answer: Answer) -> Outcome:
    return answer.status, (answer.code if answer.status >= 400 else None)


@pytest.fixture
async def world(post: Post) -> World:
    """Both domains have their keys; every list has something of both in it."""
    key = dkim.generate_key(post.api.app.vault, DOMAIN_IDS[OTHER], START, "ed25519")
    async with post.api.app.db.tx() as conn:
        await dkim.insert(conn, key)
    api = replace(post.api, pipeline=Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL))
    api.configure_provider()
    # Beyond the limit, refused calls are one entry a minute: tests/record/audit/test_refused.py.
    api.app.refusal_limit._limit = 1_000_000
    world = World(post, api)
    for place in DOMAINS:
        for make in (a_kept_mailbox, a_kept_suspension, a_kept_alias, a_message, a_kept_admin, a_kept_webhook):
            await make(world, place)
    await a_kept_webhook(world, NONE)
    return world


@pytest.mark.usefixtures("unhurried")
@pytest.mark.timeout(300)
async def test_every_route_responds_to_every_caller_by_the_policy(world: World):
    wrong: list[str] = []
    audited: Counter[tuple[str, str]] = Counter()
    cast = [await world.person(person) for person in CAST]
    before = await trail(world)
    for endpoint, row in [(ROUTES[name], row) for name, row in (*ROWS.items(), *MORE)]:
        for who, place in itertools.product(cast, row.places):
            asked = await row.ask(world, who, place)
            answer = await ask(endpoint, who, asked)
            wanted = expected(endpoint, row, who, place)
            if outcome_of(answer) != wanted:
                wrong.append(f"{name_of(endpoint)} by {who.name} on {place}: {outcome_of(answer)}, not {wanted}")
            elif answer.status < 400 and row.look:
                try:
                    row.look(asked.by or who, place, answer)
                except AssertionError as error:
                    wrong.append(f"{name_of(endpoint)} by {who.name} on {place}: {error}")
            if endpoint.audit and who.role and wanted[0] != 503:  # what is not there now is left to the metrics
                audited[endpoint.audit, said(of_batch(who, place) if row.look is shows_batch else wanted)] += 1
    assert not wrong, "\n" + "\n".join(wrong)
    after = await trail(world)
    assert {kind: after[kind] - before[kind] for kind in audited} == dict(audited)


def said(outcome: Outcome) -> str:
    """The audit outcome of a response."""
    return "success" if outcome[0] < 400 else "denied" if outcome[0] == 403 else "failed"


async def trail(world: World) -> Counter[tuple[str, str]]:
    rows = await world.api.sql("SELECT action, outcome, count(*) AS n FROM audit_entries GROUP BY action, outcome")
    return Counter({(row["action"], row["outcome"]): row["n"] for row in rows})


MAY = {
    _DOMAIN: {
        "account.read", "account.change", "admin.list", "api_key.list", "api_key.write", "audit.list", "domain.list",
        "domain.read", "dkim.read", "mailbox.list", "mailbox.read", "mailbox.write", "alias.list", "alias.read",
        "alias.write", "routing.explain", "message.list", "message.read", "send",
        "session.list", "session.leave", "factor.enrol", "factor.change", "passkey.list",
    },
    _ADMIN: {
        "domain.create", "domain.write", "message.raw_inbound", "event.list", "event.read", "suspension.list",
        "suspension.read", "suspension.lift", "webhook.list", "webhook.read", "webhook.write", "queue.list",
        "queue.write",
    },
    _SUPER: {"admin.write", "audit.verify", "audit.export", "health.read", "sandbox"},
}  # fmt: skip
"""Actions by their lowest role, as in the API reference."""

BEYOND_DOMAINS = {
    ActionScope.GLOBAL: {
        "admin.write", "api_key.write", "audit.verify", "audit.export", "domain.create", "sandbox",
        "queue.list", "queue.write", "health.read",
    },
    ActionScope.CREDENTIALS: {"account.change", "session.leave", "factor.enrol", "factor.change"},
    ActionScope.ACCOUNT: {"account.read", "session.list", "passkey.list"},
    ActionScope.LISTING: {
        "admin.list", "api_key.list", "audit.list", "domain.list", "mailbox.list", "alias.list", "message.list",
        "event.list", "suspension.list", "webhook.list",
    },
}  # fmt: skip


def test_the_policy_matches_the_documented_roles():
    for role, actions in MAY.items():
        assert {action for action, rule in POLICY.items() if rule.role is role} == actions
    for reach, actions in BEYOND_DOMAINS.items():
        assert {action for action, rule in POLICY.items() if rule.scope is reach} == actions


def test_no_domains_does_not_mean_all_domains():
    """An empty assignment or scope means no domains."""
    for role in Role:
        assert Principal(None, "", role, "api_key", assigned=_OWN, scope=OPEN).domains() == []  # type: ignore[arg-type]
    assert Principal(None, "", _DOMAIN, "session").domains() == []  # type: ignore[arg-type]
    assert Principal(None, "", _ADMIN, "session").domains() is None  # type: ignore[arg-type]
