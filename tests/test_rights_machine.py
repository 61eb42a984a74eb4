"""Permissions never grow unless a super administrator grants them.

Hypothesis generates sequences of changes to domains, accounts, assignments, sessions and API keys. After every step,
each session and key that ever existed lists its domains and tries a call for super administrators only. The results
must equal a small model. In addition, no credential may gain permissions except those that the last step granted to its
account, and a scoped key never reaches a domain outside of its original scope. `MAILKEEP_FUZZ_SECONDS`: for how long.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import hypothesis
import pytest
from hypothesis import HealthCheck, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Role
from tests.support.client import DOMAIN_IDS, PASSWORD_HASH, Api, Client, insert_row, reason

T = TypeVar("T")

SECONDS = float(os.environ.get("MAILKEEP_FUZZ_SECONDS", "0"))
SETTINGS = hypothesis.settings(
    max_examples=12,
    stateful_step_count=12,
    derandomize=not SECONDS,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
MAX_DOMAINS = 3  # that exist at the same time
MAX_CREDENTIALS = 14
SUPER = "calls for super_admin only"
INDEXES = st.integers(0, 10_000)
DOMAIN_INDEXES = st.frozensets(st.integers(0, MAX_DOMAINS - 1), max_size=MAX_DOMAINS)
Permissions = frozenset[Any]


@dataclass(eq=False)
class Account:
    """An account in the model."""

    id: UUID
    email: str
    role: Role
    assigned: set[UUID]
    active: bool = True


@dataclass(eq=False)
class Credential:
    """A session (`scope` None) or a key. `original_scope`: the domains of a scoped key at its creation."""

    client: Client
    owner: Account
    id: UUID
    parent: Credential | None = None
    is_key: bool = False
    scope: set[UUID] | None = None
    original_scope: frozenset[UUID] | None = None
    active: bool = True
    previous: Permissions | None = None  # after the previous step

    def is_active(self) -> bool:
        return self.active and self.owner.active and (self.parent is None or self.parent.is_active())


class Rights(RuleBasedStateMachine):
    """`api.sue`, a super administrator, makes the changes."""

    def __init__(self, api: Api, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.api, self.loop = api, loop
        self.domains: list[UUID] = []
        self.accounts: list[Account] = []
        self.credentials: list[Credential] = []
        # What the last step granted: the account, or the new domain, which administrators of all domains see.
        self.granted_to: Account | None = None
        self.added: UUID | None = None
        self.create_initial_objects()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(90)

    def select_domains(self, indexes: frozenset[int]) -> list[UUID]:
        return [self.domains[index] for index in sorted(indexes) if index < len(self.domains)]

    def find_account(self, index: int) -> Account | None:
        active = [account for account in self.accounts if account.active]
        return active[index % len(active)] if active else None

    def call_as_super_admin(self, method: str, path: str, body: Any = None) -> None:
        answer = self.run(self.api.sue(method, path, body))
        assert answer.status == 200, answer.body

    def create_initial_objects(self) -> None:
        """Create domains, an account per role with a session and two keys (one scoped), and a key created by a key."""
        for _ in range(MAX_DOMAINS):
            self.add_domain()
        for role in Role:
            self.add_account(role, frozenset({0, 1}))
            self.log_in(len(self.accounts) - 1)
            session = len(self.credentials) - 1
            self.create_key(session, frozenset(), 0)
            self.create_key(session, frozenset({1}), 3)
        self.create_key(len(self.credentials) - 2, frozenset({0, 1}), 0)
        self.added = None

    # Steps that grant permissions

    @precondition(lambda self: len(self.domains) < MAX_DOMAINS)
    @rule()
    def add_domain(self) -> None:
        self.added = self.run(self.api.domain(f"{uuid7(self.api.clock()).hex}.test"))
        self.domains.append(self.added)

    @precondition(lambda self: len(self.accounts) < 5)
    @rule(role=st.sampled_from(Role), indexes=DOMAIN_INDEXES)
    def add_account(self, role: Role, indexes: frozenset[int]) -> None:
        account_id, at, assigned = uuid7(self.api.clock()), self.api.clock(), self.select_domains(indexes)
        email = f"{account_id.hex}@elsewhere.test"

        async def insert() -> None:
            async with self.api.app.db.tx() as conn:
                row = {"id": account_id, "email": email, "email_key": email, "password_hash": PASSWORD_HASH}
                await insert_row(conn, "admins", row | {"role": role.value, "created_at": at, "updated_at": at})
                for domain_id in assigned:
                    await insert_row(conn, "admin_domains", {"admin_id": account_id, "domain_id": domain_id})

        self.run(insert())
        self.accounts.append(Account(account_id, email, role, set(assigned)))

    @precondition(lambda self: len(self.credentials) < MAX_CREDENTIALS)
    @rule(index=INDEXES)
    def log_in(self, index: int) -> None:
        if account := self.find_account(index):
            client = self.run(self.api.log_in(account.email))
            (current,) = [row for row in self.run(client.get("/auth/sessions")).data if row["current"]]
            self.credentials.append(Credential(client, account, UUID(current["id"])))

    @precondition(lambda self: len(self.credentials) < MAX_CREDENTIALS)
    @rule(index=INDEXES, indexes=DOMAIN_INDEXES, days=st.sampled_from([0, 1, 3]))
    def create_key(self, index: int, indexes: frozenset[int], days: int) -> None:
        """Create a key with a session or a key. The new key never has more permissions than its creator."""
        creator, scope = self.credentials[index % len(self.credentials)], self.select_domains(indexes)
        body = {"name": "k", "scoped_domain_ids": scope, "rate_limit": 0, "expires_in_days": days}
        answer = self.run(creator.client.post("/api-keys", body))
        permissions = self.expected_permissions(creator)
        is_allowed = creator.is_active() and creator.scope is None and set(scope) <= permissions
        if is_allowed and answer.status == 403:
            assert creator.is_key
            assert reason(answer) == "longer_lived"
            return
        assert (answer.status == 201) is is_allowed, answer.body
        if is_allowed:
            parent = creator if creator.is_key else None
            original_scope = frozenset(scope) if scope else None
            client = self.api.nobody.with_key(answer.data["key"])
            key_id = UUID(answer.data["api_key"]["id"])
            key = Credential(client, creator.owner, key_id, parent, True, set(scope) if scope else None, original_scope)
            assert self.get_permissions(key) <= permissions
            self.credentials.append(key)

    @rule(index=INDEXES, indexes=DOMAIN_INDEXES)
    def assign(self, index: int, indexes: frozenset[int]) -> None:
        """Replace the assigned domains: more, fewer or none."""
        if account := self.find_account(index):
            assigned = self.select_domains(indexes)
            self.granted_to = account if set(assigned) - account.assigned else None
            self.call_as_super_admin("PATCH", f"/admins/{account.id}", {"domain_ids": assigned})
            account.assigned = set(assigned)

    @rule(index=INDEXES, role=st.sampled_from(Role))
    def change_role(self, index: int, role: Role) -> None:
        if account := self.find_account(index):
            self.granted_to = account if role.rank > account.role.rank else None
            self.call_as_super_admin("PATCH", f"/admins/{account.id}", {"role": role.value})
            self.end_sessions_of(account, role is not account.role)
            account.role = role

    # Steps that remove permissions

    @precondition(lambda self: self.domains)
    @rule(index=INDEXES)
    def delete_domain(self, index: int) -> None:
        domain_id = self.domains.pop(index % len(self.domains))
        self.call_as_super_admin("DELETE", f"/domains/{domain_id}")
        for account in self.accounts:
            account.assigned.discard(domain_id)
        for credential in self.credentials:
            if credential.scope is not None:
                credential.scope.discard(domain_id)

    @rule(index=INDEXES)
    def delete_account(self, index: int) -> None:
        if account := self.find_account(index):
            self.call_as_super_admin("DELETE", f"/admins/{account.id}")
            account.active = False

    @rule(index=INDEXES)
    def change_password(self, index: int) -> None:
        """As a change of the password, which ends the sessions; the password stays the same for later logins."""
        if account := self.find_account(index):
            statement = "UPDATE admins SET credentials_epoch = credentials_epoch + 1 WHERE id = %(id)s"
            self.run(self.api.sql(statement, id=account.id))
            self.end_sessions_of(account, True)

    @rule(index=INDEXES)
    def end_credential(self, index: int) -> None:
        """End a session or revoke a key. Keys that the key has created are revoked with it."""
        credential = self.credentials[index % len(self.credentials)]
        if credential.is_active():
            if credential.is_key:
                self.call_as_super_admin("DELETE", f"/api-keys/{credential.id}")
            else:
                assert self.run(credential.client.delete(f"/auth/sessions/{credential.id}")).status == 200
            credential.active = False

    @rule()
    def advance_clock_by_a_day(self) -> None:
        """Sessions and some keys expire. They must not become valid again."""
        self.api.clock.advance(hours=25)
        for credential in self.credentials:
            is_expired = self.run(credential.client.get("/auth/me")).status == 401
            assert is_expired or credential.is_key
            credential.active = credential.active and not is_expired

    def end_sessions_of(self, account: Account, changed: bool) -> None:
        for credential in self.credentials:
            if changed and credential.owner is account and not credential.is_key:
                credential.active = False

    # Invariant

    @invariant()
    def no_credential_has_more_permissions_than_expected(self) -> None:
        for credential in self.credentials:
            permissions = self.get_permissions(credential)
            assert permissions == self.expected_permissions(credential)
            if credential.original_scope is not None:
                assert permissions <= credential.original_scope
            if credential.previous is not None and credential.owner is not self.granted_to:
                gained = permissions - credential.previous
                sees_all = credential.owner.role is not Role.DOMAIN_ADMIN and credential.original_scope is None
                assert gained <= ({self.added} if sees_all else set())
            credential.previous = permissions
        self.granted_to = self.added = None

    def expected_permissions(self, credential: Credential) -> Permissions:
        if not credential.is_active():
            return frozenset()
        owner = credential.owner
        domains = set(owner.assigned) if owner.role is Role.DOMAIN_ADMIN else {*self.domains, *DOMAIN_IDS.values()}
        domains = domains if credential.scope is None else domains & credential.scope
        is_super = owner.role is Role.SUPER_ADMIN and credential.original_scope is None
        return frozenset(domains | {SUPER}) if is_super else frozenset(domains)

    def get_permissions(self, credential: Credential) -> Permissions:
        """The domains that the API lists, and SUPER if permitted; empty if the credential is not valid."""
        domain_list = self.run(credential.client.get("/domains", limit=200))
        sandbox = self.run(credential.client.get("/sandbox/messages"))
        assert domain_list.status in (200, 401)
        assert sandbox.status in (200, 401, 403)
        assert (domain_list.status == 401) is (sandbox.status == 401)
        known_domains = {*self.domains, *DOMAIN_IDS.values()}
        domains = {UUID(row["id"]) for row in domain_list.data or []}
        if credential.owner.role is Role.DOMAIN_ADMIN or credential.scope is not None:
            assert domains <= known_domains
        return frozenset((domains & known_domains) | ({SUPER} if sandbox.status == 200 else set()))


@pytest.mark.timeout(max(300, 2 * SECONDS))
async def test_permissions_never_grow_unless_granted(api: Api):
    loop = asyncio.get_running_loop()

    def create_machine() -> Rights:
        return Rights(api, loop)

    deadline = time.monotonic() + SECONDS
    while True:
        await asyncio.to_thread(run_state_machine_as_test, create_machine, settings=SETTINGS)  # pyright: ignore[reportArgumentType]
        if time.monotonic() >= deadline:
            return
