"""Rights only ever narrow: whatever becomes of domains, accounts, assignments, sessions and keys, in any order.

Hypothesis makes up the histories. After every step each session and key that ever was is asked what it reaches: the
domains that it is shown, and whether it may do what only a super_admin may. That is held to a model of a few lines,
and to two rules that need none: nothing grows but for what a super_admin has just granted to that account, and a
scoped key never reaches beyond the domains that it was made for. `MAILKEEP_FUZZ_SECONDS` spends more time on it.
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
PLACES = 3  # domains at a time
MOST_CREDENTIALS = 14
SUPER = "what only a super_admin may"
WHICH = st.integers(0, 10_000)
SOME = st.frozensets(st.integers(0, PLACES - 1), max_size=PLACES)
Reach = frozenset[Any]


@dataclass(eq=False)
class Account:
    """An account as the model has it."""

    id: UUID
    email: str
    role: Role
    assigned: set[UUID]
    alive: bool = True


@dataclass(eq=False)
class Credential:
    """A session (`scope` None) or a key; `made_for` are the domains of a scoped key when it was made."""

    client: Client
    owner: Account
    id: UUID
    parent: Credential | None = None
    is_key: bool = False
    scope: set[UUID] | None = None
    made_for: frozenset[UUID] | None = None
    alive: bool = True
    seen: Reach | None = None  # at the last look

    def is_alive(self) -> bool:
        return self.alive and self.owner.alive and (self.parent is None or self.parent.is_alive())


class Rights(RuleBasedStateMachine):
    """Sue (super_admin) rules; the others are made and unmade."""

    def __init__(self, api: Api, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.api, self.loop = api, loop
        self.domains: list[UUID] = []
        self.accounts: list[Account] = []
        self.credentials: list[Credential] = []
        self.granted_to: Account | None = None  # whom the last step gave more
        self.added: UUID | None = None  # the domain that the last step added, for all who see all
        self.settle()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(90)

    def some(self, places: frozenset[int]) -> list[UUID]:
        return [self.domains[place] for place in sorted(places) if place < len(self.domains)]

    def living(self, which: int) -> Account | None:
        alive = [account for account in self.accounts if account.alive]
        return alive[which % len(alive)] if alive else None

    def by_sue(self, method: str, path: str, body: Any = None) -> None:
        answer = self.run(self.api.sue(method, path, body))
        assert answer.status == 200, answer.body

    def settle(self) -> None:
        """Somebody of each role with a session and two keys, one of them scoped, and a key that a key made."""
        for _ in range(PLACES):
            self.add_domain()
        for role in Role:
            self.add_account(role, frozenset({0, 1}))
            self.log_in(len(self.accounts) - 1)
            session = len(self.credentials) - 1
            self.make_key(session, frozenset(), 0)
            self.make_key(session, frozenset({1}), 3)
        self.make_key(len(self.credentials) - 2, frozenset({0, 1}), 0)
        self.added = None

    # What gives rights

    @precondition(lambda self: len(self.domains) < PLACES)
    @rule()
    def add_domain(self) -> None:
        self.added = self.run(self.api.domain(f"{uuid7(self.api.clock()).hex}.test"))
        self.domains.append(self.added)

    @precondition(lambda self: len(self.accounts) < 5)
    @rule(role=st.sampled_from(Role), places=SOME)
    def add_account(self, role: Role, places: frozenset[int]) -> None:
        account_id, at, assigned = uuid7(self.api.clock()), self.api.clock(), self.some(places)
        email = f"{account_id.hex}@elsewhere.test"

        async def insert() -> None:
            async with self.api.app.db.tx() as conn:
                row = {"id": account_id, "email": email, "email_key": email, "password_hash": PASSWORD_HASH}
                await insert_row(conn, "admins", row | {"role": role.value, "created_at": at, "updated_at": at})
                for domain_id in assigned:
                    await insert_row(conn, "admin_domains", {"admin_id": account_id, "domain_id": domain_id})

        self.run(insert())
        self.accounts.append(Account(account_id, email, role, set(assigned)))

    @precondition(lambda self: len(self.credentials) < MOST_CREDENTIALS)
    @rule(which=WHICH)
    def log_in(self, which: int) -> None:
        if account := self.living(which):
            client = self.run(self.api.log_in(account.email))
            (current,) = [row for row in self.run(client.get("/auth/sessions")).data if row["current"]]
            self.credentials.append(Credential(client, account, UUID(current["id"])))

    @precondition(lambda self: len(self.credentials) < MOST_CREDENTIALS)
    @rule(which=WHICH, places=SOME, days=st.sampled_from([0, 1, 3]))
    def make_key(self, which: int, places: frozenset[int], days: int) -> None:
        """By a session or by a key; whatever they can make reaches no more than they do."""
        maker, scope = self.credentials[which % len(self.credentials)], self.some(places)
        wanted = {"name": "k", "scoped_domain_ids": scope, "rate_limit": 0, "expires_in_days": days}
        answer = self.run(maker.client.post("/api-keys", wanted))
        reach = self.predicted(maker)
        may = maker.is_alive() and maker.scope is None and set(scope) <= reach
        if may and answer.status == 403:
            assert maker.is_key
            assert reason(answer) == "longer_lived"
            return
        assert (answer.status == 201) is may, answer.body
        if may:
            parent = maker if maker.is_key else None
            made_for = frozenset(scope) if scope else None
            client = self.api.nobody.with_key(answer.data["key"])
            key_id = UUID(answer.data["api_key"]["id"])
            made = Credential(client, maker.owner, key_id, parent, True, set(scope) if scope else None, made_for)
            assert self.observed(made) <= reach
            self.credentials.append(made)

    @rule(which=WHICH, places=SOME)
    def assign(self, which: int, places: frozenset[int]) -> None:
        """Other domains: more, fewer, none."""
        if account := self.living(which):
            assigned = self.some(places)
            self.granted_to = account if set(assigned) - account.assigned else None
            self.by_sue("PATCH", f"/admins/{account.id}", {"domain_ids": assigned})
            account.assigned = set(assigned)

    @rule(which=WHICH, role=st.sampled_from(Role))
    def change_role(self, which: int, role: Role) -> None:
        if account := self.living(which):
            self.granted_to = account if role.rank > account.role.rank else None
            self.by_sue("PATCH", f"/admins/{account.id}", {"role": role.value})
            self.end_sessions_of(account, role is not account.role)
            account.role = role

    # What takes them

    @precondition(lambda self: self.domains)
    @rule(which=WHICH)
    def delete_domain(self, which: int) -> None:
        domain_id = self.domains.pop(which % len(self.domains))
        self.by_sue("DELETE", f"/domains/{domain_id}")
        for account in self.accounts:
            account.assigned.discard(domain_id)
        for credential in self.credentials:
            if credential.scope is not None:
                credential.scope.discard(domain_id)

    @rule(which=WHICH)
    def delete_account(self, which: int) -> None:
        if account := self.living(which):
            self.by_sue("DELETE", f"/admins/{account.id}")
            account.alive = False

    @rule(which=WHICH)
    def change_password(self, which: int) -> None:
        """Back to the same one, so that it can log in again: it is a new one all the same."""
        if account := self.living(which):
            statement = "UPDATE admins SET credentials_epoch = credentials_epoch + 1 WHERE id = %(id)s"
            self.run(self.api.sql(statement, id=account.id))
            self.end_sessions_of(account, True)

    @rule(which=WHICH)
    def end_credential(self, which: int) -> None:
        """A session by its owner, a key by Sue; a key takes along those that it made."""
        credential = self.credentials[which % len(self.credentials)]
        if credential.is_alive():
            if credential.is_key:
                self.by_sue("DELETE", f"/api-keys/{credential.id}")
            else:
                assert self.run(credential.client.delete(f"/auth/sessions/{credential.id}")).status == 200
            credential.alive = False

    @rule()
    def let_a_day_pass(self) -> None:
        """Sessions end; so do the keys that were to live no longer: those must not come back, whichever they are."""
        self.api.clock.advance(hours=25)
        for credential in self.credentials:
            gone = self.run(credential.client.get("/auth/me")).status == 401
            assert gone or credential.is_key
            credential.alive = credential.alive and not gone

    def end_sessions_of(self, account: Account, changed: bool) -> None:
        for credential in self.credentials:
            if changed and credential.owner is account and not credential.is_key:
                credential.alive = False

    # What must hold

    @invariant()
    def nothing_reaches_more_than_it_may(self) -> None:
        for credential in self.credentials:
            found = self.observed(credential)
            assert found == self.predicted(credential)
            if credential.made_for is not None:
                assert found <= credential.made_for
            if credential.seen is not None and credential.owner is not self.granted_to:
                more = found - credential.seen
                sees_all = credential.owner.role is not Role.DOMAIN_ADMIN and credential.made_for is None
                assert more <= ({self.added} if sees_all else set())
            credential.seen = found
        self.granted_to = self.added = None

    def predicted(self, credential: Credential) -> Reach:
        if not credential.is_alive():
            return frozenset()
        owner = credential.owner
        domains = set(owner.assigned) if owner.role is Role.DOMAIN_ADMIN else {*self.domains, *DOMAIN_IDS.values()}
        domains = domains if credential.scope is None else domains & credential.scope
        is_super = owner.role is Role.SUPER_ADMIN and credential.made_for is None
        return frozenset(domains | {SUPER}) if is_super else frozenset(domains)

    def observed(self, credential: Credential) -> Reach:
        """What it is shown, and may do; nothing where it is no credential any more."""
        listed = self.run(credential.client.get("/domains", limit=200))
        special = self.run(credential.client.get("/sandbox/messages"))
        assert listed.status in (200, 401)
        assert special.status in (200, 401, 403)
        assert (listed.status == 401) is (special.status == 401)
        mine = {*self.domains, *DOMAIN_IDS.values()}
        domains = {UUID(row["id"]) for row in listed.data or []}
        if credential.owner.role is Role.DOMAIN_ADMIN or credential.scope is not None:
            assert domains <= mine
        return frozenset((domains & mine) | ({SUPER} if special.status == 200 else set()))


@pytest.mark.timeout(max(300, 2 * SECONDS))
async def test_rights_only_ever_narrow(api: Api):
    loop = asyncio.get_running_loop()

    def machine() -> Rights:
        return Rights(api, loop)

    ends = time.monotonic() + SECONDS
    while True:
        await asyncio.to_thread(run_state_machine_as_test, machine, settings=SETTINGS)  # pyright: ignore[reportArgumentType]
        if time.monotonic() >= ends:
            return
