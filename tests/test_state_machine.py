"""Domains, mailboxes, aliases, administrators, keys and sends, in any order, by anybody: as `tests.support.model` says.

Hypothesis makes up the histories. After every call its status, code and reason are held to the model, the rows that
it left in the audit log to what it changed, and routing to its own model. `MAILKEEP_FUZZ_SECONDS` spends more time.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from mailkeep.core.address import Address
from mailkeep.features.access.admins import service as admins
from mailkeep.features.directory.dkim import service as dkim
from tests.directory.routing.test_route_address import key_of, model_route
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import (
    ADMIN_IDS,
    ADMINS,
    ASSIGNED,
    DOMAIN_IDS,
    KEY_IDS,
    KEYS,
    PASSWORD,
    PASSWORD_HASH,
    email_of,
    reason,
)
from tests.support.model import Account, AliasState, Caller, DomainState, MailboxState, Model, ModelRefusal

T = TypeVar("T")

SECONDS = float(os.environ.get("MAILKEEP_FUZZ_SECONDS", "0"))
SETTINGS = hypothesis.settings(
    max_examples=12,
    stateful_step_count=35,
    derandomize=not SECONDS,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    # To shrink a history takes minutes.
    phases=[Phase.generate, Phase.shrink] if SECONDS else [Phase.generate],
)
NEW = ("new.test", "more.test")
LOCALS = ("a", "A", "b", "a+x", "ß", "ss", "sue", "")
WHICH = st.integers(0, 1000)
FLAG = st.booleans()
LOCAL = st.sampled_from(LOCALS)
NAMES = st.sampled_from((*DOMAIN_IDS, *NEW, "elsewhere.test"))
ADDRESS = st.builds("{}@{}".format, st.sampled_from(LOCALS[:-1]), NAMES)
ADDRESSES = st.lists(ADDRESS, min_size=1, max_size=3, unique_by=key_of)
# Each caller often enough: who may most is asked most.
CALLER = st.one_of(st.just(0), st.just(0), WHICH)
PLACE = st.one_of(st.just(0), WHICH)


class Changes(RuleBasedStateMachine):
    """The cast, and whom it makes."""

    def __init__(self, post: Post, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.post, self.api, self.loop = post, post.api, loop
        self.run(self.restart())
        self.places = [DomainState(name, str(domain_id)) for name, domain_id in DOMAIN_IDS.items()]
        by_name = {place.name: place for place in self.places}
        accounts = {
            name: Account(
                email_of(name), role, {by_name[ASSIGNED[name]]} if name in ASSIGNED else set(), str(ADMIN_IDS[name])
            )
            for name, role in ADMINS.items()
        }
        self.callers = [Caller(account, client=self.api.session(name)) for name, account in accounts.items()]
        for name, (owner, scope) in KEYS.items():
            self.callers.append(
                Caller(
                    accounts[owner],
                    True,
                    {by_name[scope]} if scope else None,
                    None,
                    str(KEY_IDS[name]),
                    self.api.callers[name],
                )
            )
        self.accounts = list(accounts.values())
        self.model = Model(list(self.places), list(self.accounts), list(self.callers))
        self.boxes: list[MailboxState] = []
        self.sources: list[AliasState] = []
        self.counted = self.run(self.audited())
        self.outbound = self.run(self.count_outbound())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(90)

    async def restart(self) -> None:
        """The cast as it was, and nothing beside it."""
        async with self.api.app.db.tx() as conn:
            cast = {
                "domains": list(DOMAIN_IDS.values()),
                "admins": list(ADMIN_IDS.values()),
                "keys": list(KEY_IDS.values()),
            }
            await conn.execute("DELETE FROM aliases")
            await conn.execute("DELETE FROM mailboxes")
            await conn.execute("DELETE FROM api_keys WHERE id <> ALL(%(keys)s)", cast)
            await conn.execute("DELETE FROM admins WHERE id <> ALL(%(admins)s)", cast)
            await conn.execute("UPDATE domains SET alias_of = NULL")
            await conn.execute("DELETE FROM domains WHERE id <> ALL(%(domains)s)", cast)
            await conn.execute("DELETE FROM admin_domains")
            await conn.execute("DELETE FROM send_counts")
            await conn.execute(
                "UPDATE domains SET active = true, sending_enabled = true, receiving_enabled = true,"
                " plus_delimiter = '+', max_mailboxes = NULL, max_aliases = NULL"
            )
            for name, domain in ASSIGNED.items():
                await conn.execute(
                    "INSERT INTO admin_domains (admin_id, domain_id) VALUES (%(admin)s, %(domain)s)",
                    {"admin": ADMIN_IDS[name], "domain": DOMAIN_IDS[domain]},
                )

    async def audited(self) -> list[tuple[str, str]]:
        rows = await self.api.sql("SELECT action, outcome FROM audit_entries ORDER BY id")
        return [(row["action"], row["outcome"]) for row in rows]

    async def count_outbound(self) -> int:
        rows = await self.api.sql(
            "SELECT count(*) AS n FROM messages WHERE direction = 'outbound' AND status = 'queued'"
        )
        return rows[0]["n"]

    def call(
        self,
        action: str,
        who: Caller,
        use: Callable[[], Any],
        request: tuple[str, str, Any],
        *,
        made: DomainState | MailboxState | AliasState | Account | None = None,
        refused: str = "",
    ) -> Answer | None:
        """Asks the model and the API; the answer where it is one of success. `refused`: the action in the log then."""
        method, path, body = request
        try:
            changes, no = use() is not False, None
        except ModelRefusal as wrong:
            changes, no = False, wrong
        answer = self.run(who.client(method, path, body))
        what = (action, who.owner.email, request)
        if no is not None:
            assert (answer.status, answer.code) == (no.status, no.code), (what, answer.body)
            assert reason(answer) == no.why or not no.why, (what, answer.body)
            expected = [] if no.status == 401 else [(refused or action, "denied" if no.status == 403 else "failed")]
        else:
            assert answer.status in (200, 201), (what, answer.body)
            expected = [(action, "success")] if changes else []
            if made is not None:
                made.id = answer.data["id"]
        audited = self.run(self.audited())
        assert audited[len(self.counted) :] == expected, what
        self.counted = audited
        self.route()
        return None if no is not None else answer

    def route(self) -> None:
        """Every address that plays a part goes where the model of routing says."""
        world = self.model.world()
        at = {key_of(box.address): box.id for box in self.model.boxes if not box.trashed}
        ends = sorted({*world.mailboxes, *(source for source in world.aliases if not source.startswith("@"))})
        names = [*world.domains, "elsewhere.test"]
        addresses = [*ends, *(f"{local}@{name}" for local in ("a+y", "z") for name in names)]
        found = self.run(
            self.api.sql(
                "SELECT a.address, r.decision, r.deliveries FROM unnest(%(addresses)s::text[]) a (address),"
                " route_address(a.address, NULL) r",
                addresses=addresses,
            )
        )
        for row in found:
            expected = model_route(world, row["address"])
            boxes = {place["mailbox_id"] for place in row["deliveries"] if place["type"] == "mailbox"}
            outside = {key_of(place["address"]) for place in row["deliveries"] if place["type"] == "external"}
            assert row["decision"] == expected.decision, row["address"]
            assert boxes == {at[f"{node[1]}@{node[2]}"] for node in expected.mailboxes}, row["address"]
            assert outside == expected.outside, row["address"]

    def who(self, which: int) -> Caller:
        return self.callers[which % len(self.callers)]

    def place(self, which: int) -> DomainState:
        return self.places[which % len(self.places)]

    # Domains

    @rule(by=CALLER, name=st.sampled_from((*NEW, *DOMAIN_IDS)))
    def create_domain(self, by: int, name: str) -> None:
        who, place = self.who(by), DomainState(name)
        answer = self.call(
            "domain.create",
            who,
            lambda: self.model.create_domain(who, place),
            ("POST", "/domains", {"name": name}),
            made=place,
        )
        if answer:
            self.places.append(place)

    @rule(
        by=CALLER,
        which=PLACE,
        wanted=st.one_of(
            st.fixed_dictionaries({"active": FLAG}),
            st.fixed_dictionaries({"sending": FLAG, "receiving": FLAG}),
            st.fixed_dictionaries({"delimiter": st.sampled_from(["+", "-", None])}),
            st.fixed_dictionaries(
                {"max_mailboxes": st.sampled_from([None, 1, 3]), "max_aliases": st.sampled_from([None, 2])}
            ),
        ),
    )
    def change_domain(self, by: int, which: int, wanted: dict[str, Any]) -> None:
        who, place = self.who(by), self.place(which)
        names = {"sending": "sending_enabled", "receiving": "receiving_enabled", "delimiter": "plus_delimiter"}
        body = {names.get(name, name): value for name, value in wanted.items()}
        self.call(
            "domain.update",
            who,
            lambda: self.model.change_domain(who, place, wanted),
            ("PATCH", f"/domains/{place.id}", body),
        )

    @rule(by=CALLER, which=WHICH, towards=st.one_of(PLACE, st.none()))
    def change_target(self, by: int, which: int, towards: int | None) -> None:
        who, place = self.who(by), self.place(which)
        wanted = None if towards is None else self.place(towards)
        self.call(
            "domain.update",
            who,
            lambda: self.model.change_domain(who, place, {"alias_of": wanted}),
            ("PATCH", f"/domains/{place.id}", {"alias_of": wanted and wanted.id}),
        )

    @rule(by=CALLER, which=WHICH)
    def delete_domain(self, by: int, which: int) -> None:
        who, place = self.who(by), self.place(which)
        empty = not (self.model.boxes_in(place) or self.model.sources_in(place) or self.model.aliases_of(place))
        if empty and place in self.places[: len(DOMAIN_IDS)]:
            return  # the cast's own stay
        request = ("DELETE", f"/domains/{place.id}", None)
        self.call("domain.delete", who, lambda: self.model.delete_domain(who, place), request)

    # Mailboxes

    @rule(by=CALLER, which=PLACE, local=st.sampled_from(LOCALS[:-1]), to=st.one_of(st.just([]), ADDRESSES), keep=FLAG)
    def create_mailbox(self, by: int, which: int, local: str, to: list[str], keep: bool) -> None:
        self.make_mailbox(self.who(by), MailboxState(self.place(which), local, to, keep))

    @rule(by=st.integers(0, 5), local=st.sampled_from(list(ADMINS)))
    def create_mailbox_of_an_administrator(self, by: int, local: str) -> None:
        self.make_mailbox(self.who(by), MailboxState(self.places[0], local))

    def make_mailbox(self, who: Caller, box: MailboxState) -> None:
        body = {
            "domain_id": box.place.id,
            "local_part": box.local,
            "password_hash": "{SHA}x",
            "forward": {"destinations": box.forwards, "keep_copy": box.keep_copy},
        }
        request = ("POST", "/mailboxes", body)
        if self.call("mailbox.create", who, lambda: self.model.create_mailbox(who, box), request, made=box):
            self.boxes.append(box)

    @rule(by=CALLER, which=WHICH, to=st.one_of(st.none(), st.just([]), ADDRESSES), flag=FLAG)
    def change_mailbox(self, by: int, which: int, to: list[str] | None, flag: bool) -> None:
        if not self.boxes:
            return
        who, box = self.who(by), self.boxes[which % len(self.boxes)]
        wanted: dict[str, Any] = {"active": flag} if to is None else {"forwards": to, "keep_copy": flag}
        body = wanted if to is None else {"forward": {"destinations": to, "keep_copy": flag}}
        request = ("PATCH", f"/mailboxes/{box.id}", body)
        self.call("mailbox.update", who, lambda: self.model.change_mailbox(who, box, wanted), request)

    @rule(by=CALLER, which=WHICH, purge=st.sampled_from([False, False, True]))
    def delete_mailbox(self, by: int, which: int, purge: bool) -> None:
        if not self.boxes:
            return
        who, box = self.who(by), self.boxes[which % len(self.boxes)]
        request = ("DELETE", f"/mailboxes/{box.id}" + ("?purge=true" if purge else ""), None)
        action = "mailbox.purge" if purge else "mailbox.delete"
        self.call(
            action,
            who,
            lambda: self.model.delete_mailbox(who, box, purge=purge),
            request,
            refused="mailbox.delete",
        )

    @rule(by=CALLER, which=WHICH)
    def restore_mailbox(self, by: int, which: int) -> None:
        if not self.boxes:
            return
        who, box = self.who(by), self.boxes[which % len(self.boxes)]
        request = ("POST", f"/mailboxes/{box.id}/restore", None)
        self.call("mailbox.restore", who, lambda: self.model.restore_mailbox(who, box), request)

    # Aliases

    @rule(by=CALLER, which=PLACE, local=LOCAL, to=ADDRESSES)
    def create_alias(self, by: int, which: int, local: str, to: list[str]) -> None:
        who, source = self.who(by), AliasState(self.place(which), local, to)
        body = {"domain_id": source.place.id, "source_local_part": local, "destination": ", ".join(to)}
        answer = self.call(
            "alias.create", who, lambda: self.model.create_alias(who, source), ("POST", "/aliases", body), made=source
        )
        if answer:
            self.sources.append(source)

    @rule(by=CALLER, which=WHICH, to=st.one_of(st.none(), ADDRESSES), flag=FLAG)
    def change_alias(self, by: int, which: int, to: list[str] | None, flag: bool) -> None:
        if not self.sources:
            return
        who, source = self.who(by), self.sources[which % len(self.sources)]
        wanted: dict[str, Any] = {"active": flag} if to is None else {"to": to}
        body = wanted if to is None else {"destination": ",".join(to)}
        request = ("PATCH", f"/aliases/{source.id}", body)
        self.call("alias.update", who, lambda: self.model.change_alias(who, source, wanted), request)

    @rule(by=CALLER, which=WHICH)
    def delete_alias(self, by: int, which: int) -> None:
        if not self.sources:
            return
        who, source = self.who(by), self.sources[which % len(self.sources)]
        request = ("DELETE", f"/aliases/{source.id}", None)
        self.call("alias.delete", who, lambda: self.model.delete_alias(who, source), request)

    # Administrators and keys

    @rule(by=CALLER, local=st.sampled_from(LOCALS[:-1]), role=st.sampled_from(list(ADMINS.values())), which=WHICH)
    def create_admin(self, by: int, local: str, role: str, which: int) -> None:
        who, place = self.who(by), self.place(which)
        account = Account(f"{local}@{self.places[0].name}", role, {place})
        body = {"email": account.email, "password": PASSWORD, "role": role, "domain_ids": [place.id]}
        answer = self.call(
            "admin.create", who, lambda: self.model.create_admin(who, account), ("POST", "/admins", body), made=account
        )
        if answer:
            self.accounts.append(account)
            session = Caller(account, client=self.run(self.api.log_in(account.email)))
            self.counted = self.run(self.audited())
            self.model.callers.append(session)
            self.callers.append(session)

    @rule(by=CALLER, which=WHICH, some=st.lists(WHICH, max_size=2))
    def assign(self, by: int, which: int, some: list[int]) -> None:
        who, account = self.who(by), self.accounts[which % len(self.accounts)]
        places = {self.place(each) for each in some}
        request = ("PATCH", f"/admins/{account.id}", {"domain_ids": [place.id for place in places]})
        self.call("admin.update", who, lambda: self.model.assign(who, account, places), request)

    @rule(by=CALLER, which=WHICH)
    def delete_admin(self, by: int, which: int) -> None:
        who, account = self.who(by), self.accounts[which % len(self.accounts)]
        supers = [each for each in self.model.accounts if each.role == "super_admin"]
        if account in self.accounts[: len(ADMINS)] and (account.role != "super_admin" or len(supers) > 1):
            return  # the cast stays
        request = ("DELETE", f"/admins/{account.id}", None)
        self.call("admin.delete", who, lambda: self.model.delete_admin(who, account), request)

    @rule(by=CALLER, some=st.lists(WHICH, max_size=2))
    def create_key(self, by: int, some: list[int]) -> None:
        who, scope = self.who(by), {self.place(each) for each in some}
        key = Caller(who.owner, True, scope or None, who if who.is_key else None)
        body = {"name": "a key", "scoped_domain_ids": [place.id for place in scope], "rate_limit": 0}
        answer = self.call("api_key.create", who, lambda: self.model.create_key(who, key), ("POST", "/api-keys", body))
        if answer:
            key.id, key.client = answer.data["api_key"]["id"], self.api.nobody.with_key(answer.data["key"])
            self.callers.append(key)

    @rule(by=CALLER, which=WHICH)
    def revoke_key(self, by: int, which: int) -> None:
        keys = [caller for caller in self.callers[len(ADMINS) + len(KEYS) :] if caller.is_key]
        if not keys:
            return
        who, key = self.who(by), keys[which % len(keys)]
        request = ("DELETE", f"/api-keys/{key.id}", None)
        self.call("api_key.delete", who, lambda: self.model.revoke_key(who, key), request)

    # Sending

    @rule(by=WHICH, which=WHICH)
    def send(self, by: int, which: int) -> None:
        who, place = self.who(by), self.place(which)
        body = letter(**{"from": {"email": Address("a", place.name).text}})
        self.call("message.send", who, lambda: self.model.send(who, place), ("POST", "/send", body))

    def teardown(self) -> None:
        """What the lists show is what the model has."""
        sue = self.callers[0].client
        shown = {row["id"]: row["destination"] for row in self.run(sue.get("/aliases", limit=200)).data}
        assert shown == {source.id: ",".join(source.to) for source in self.model.sources}
        for trashed in (False, True):
            rows = self.run(sue.get("/mailboxes", limit=200, trashed=str(trashed).lower())).data
            assert {row["id"] for row in rows} == {box.id for box in self.model.boxes if box.trashed is trashed}
        names = [row["name"] for row in self.run(sue.get("/domains", limit=200)).data]
        assert sorted(names) == sorted(place.name for place in self.model.places)
        accounts = {row["id"] for row in self.run(sue.get("/admins")).data}
        assert accounts == {account.id for account in self.model.accounts}
        assert self.run(self.count_outbound()) == self.outbound + self.model.sent


@pytest.mark.timeout(max(300, 2 * SECONDS))
async def test_whatever_is_done_in_any_order_ends_as_the_model_says(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hashed(_: str) -> str:
        return PASSWORD_HASH

    make = dkim.generate_key
    monkeypatch.setattr(admins, "hash_password", hashed)
    monkeypatch.setattr(
        dkim, "generate_first_keys", lambda vault, domain_id, at: [make(vault, domain_id, at, "ed25519")]
    )
    async with post.api.app.db.tx() as conn:
        await dkim.insert(conn, make(post.api.app.vault, DOMAIN_IDS["other.test"], post.api.clock(), "ed25519"))
    # Beyond the limit, refused calls are one entry a minute; the clock stands still here.
    post.api.app.refusal_limit._limit = 1_000_000
    loop = asyncio.get_running_loop()

    def machine() -> Changes:
        return Changes(post, loop)

    ends = time.monotonic() + SECONDS
    while True:
        await asyncio.to_thread(run_state_machine_as_test, machine, settings=SETTINGS)  # pyright: ignore[reportArgumentType]
        if time.monotonic() >= ends:
            return
