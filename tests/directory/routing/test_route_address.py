"""The SQL function `route_address`: examples, and a comparison with a model in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mailkeep.core.address import fold_local, strip_tag
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.mail.daemons import render
from mailkeep.mail.postfix.submission_login import parse_login
from tests.directory.routing.conftest import Conn


def key_of(address: str) -> str:
    local, _, domain = address.rpartition("@")
    return f"{fold_local(local)}@{domain}"


@dataclass
class Domain:
    active: bool = True
    receiving: bool = True
    delimiter: str | None = "+"
    alias_of: str | None = None


@dataclass
class Mailbox:
    """`forwards`, and whether a copy is kept."""

    active: bool = True
    forwards: list[str] = field(default_factory=list)
    keep_copy: bool = True
    trashed: bool = False


@dataclass
class Alias:
    to: list[str]
    active: bool = True


Node = tuple[str, str, str]  # mailbox or alias, local key, domain


@dataclass
class World:
    """Domains by name; mailboxes and aliases by address as written (`@domain` is its catch-all)."""

    domains: dict[str, Domain]
    mailboxes: dict[str, Mailbox] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)

    def write(self, conn: Conn) -> dict[Node, UUID]:
        """Insert all of it; returns the IDs of the objects that are not in the trash."""
        ids: dict[Node, UUID] = {}
        at = utc_now()
        domain_ids = {name: uuid7(at) for name in self.domains}
        for name, domain in self.domains.items():
            conn.execute(
                "INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description,"
                " default_quota_bytes, plus_delimiter, dns_status, created_at, updated_at)"
                " VALUES (%s, %s, %s, true, %s, '', 0, %s, 'unchecked', %s, %s)",
                (domain_ids[name], name, domain.active, domain.receiving, domain.delimiter, at, at),
            )
        for name, domain in self.domains.items():
            if domain.alias_of:
                arguments = (domain_ids[domain.alias_of], domain_ids[name])
                conn.execute("UPDATE domains SET alias_of = %s WHERE id = %s", arguments)
        for address, mailbox in self.mailboxes.items():
            local, _, name = address.rpartition("@")
            ident = uuid7(at)
            if not mailbox.trashed:
                ids["mailbox", fold_local(local), name] = ident
            conn.execute(
                "INSERT INTO mailboxes (id, domain_id, local_part, local_key, name, password_hash, active,"
                " quota_bytes, imap, pop3, smtp, sieve, forward_destinations, forward_keys, forward_keep_copy,"
                " created_at, updated_at, deleted_at)"
                " VALUES (%s, %s, %s, %s, '', '', %s, 0, true, true, true, true, %s, %s, %s, %s, %s, %s)",
                (
                    ident, domain_ids[name], local, fold_local(local), mailbox.active, mailbox.forwards,
                    [key_of(to) for to in mailbox.forwards], mailbox.keep_copy, at, at,
                    at if mailbox.trashed else None,
                ),
            )  # fmt: skip
        for address, alias in self.aliases.items():
            local, _, name = address.rpartition("@")
            ids["alias", fold_local(local), name] = ident = uuid7(at)
            conn.execute(
                "INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations,"
                " destination_keys, active, created_at, updated_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    ident, domain_ids[name], local, fold_local(local), alias.to,
                    [key_of(to) for to in alias.to], alias.active, at, at,
                ),
            )  # fmt: skip
        return ids

    def mailbox(self, local_key: str, domain: str) -> Mailbox | None:
        found = [m for a, m in self.mailboxes.items() if key_of(a) == f"{local_key}@{domain}" and not m.trashed]
        return found[0] if found else None

    def alias(self, local_key: str, domain: str) -> Alias | None:
        found = [a for s, a in self.aliases.items() if key_of(s) == f"{local_key}@{domain}" and a.active]
        return found[0] if found else None

    def target(self, name: str) -> str:
        return self.domains[name].alias_of or name

    def candidates(self, key: str) -> list[list[Node]]:
        """The candidates for an address, by level: exact, without the tag, catch-all."""
        local, _, domain = key.rpartition("@")
        if domain not in self.domains:
            return []
        domain = self.target(domain)
        delimiter = self.domains[domain].delimiter
        base = strip_tag(local, delimiter) if delimiter else None
        return [
            [
                *([("mailbox", name, domain)] if name and self.mailbox(name, domain) else []),
                *([("alias", name, domain)] if self.alias(name, domain) else []),
            ]
            for name in (local, base, "")
            if name is not None
        ]

    def match(self, key: str) -> Node | None:
        return next((level[0] for level in self.candidates(key) if level), None)

    def dead_end(self, key: str) -> str | None:
        name, node = key.rpartition("@")[2], self.match(key)
        for domain in (self.domains[name], self.domains[self.target(name)]):
            if not domain.active:
                return "domain_inactive"
            if not domain.receiving:
                return "receiving_disabled"
        if node is None:
            return "unknown_user"
        mailbox = self.mailbox(node[1], node[2]) if node[0] == "mailbox" else None
        return "mailbox_inactive" if mailbox and not mailbox.active else None

    def reached_from(self, key: str) -> list[Node]:
        return next((level for level in self.candidates(key) if level), [])

    def onward(self, node: Node) -> list[str]:
        kind, local, domain = node
        if kind == "mailbox":
            mailbox = self.mailbox(local, domain)
            return mailbox.forwards if mailbox else []
        alias = self.alias(local, domain)
        return alias.to if alias else []


@dataclass
class ModelRoute:
    decision: str
    mailboxes: set[Node] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)


def model_route(world: World, address: str) -> ModelRoute:
    """The rules in Python."""
    if address.rpartition("@")[2] not in world.domains:
        return ModelRoute("not_managed")
    found, unkept, seen = ModelRoute("deliver"), set[Node](), set[Node]()
    reasons: list[str] = []
    todo = [address]
    while todo:
        key = key_of(todo.pop(0))
        node = world.match(key)
        mailbox = world.mailbox(node[1], node[2]) if node and node[0] == "mailbox" else None
        if key.rpartition("@")[2] not in world.domains:
            found.outside.add(key)
        elif reason := world.dead_end(key):
            reasons.append(reason)
        elif node and node not in seen:
            seen.add(node)
            if mailbox:
                (found.mailboxes if mailbox.keep_copy or not mailbox.forwards else unkept).add(node)
            todo += world.onward(node)
        if not seen and reasons:
            return ModelRoute(reasons[0])
    if not (found.mailboxes or found.outside):
        if "domain_inactive" in reasons:
            return ModelRoute("domain_inactive")
        if not unkept:
            return ModelRoute("unknown_user")
    kept, outside = set(found.mailboxes), found.outside
    found.mailboxes |= {node for node in unkept if not arrives(world, node, kept, outside)}
    return found


def arrives(world: World, start: Node, kept: set[Node], outside: set[str]) -> bool:
    """Whether the forwards of a mailbox reach a recipient."""
    seen, todo = {start}, [start]
    while todo:
        for key in map(key_of, world.onward(todo.pop())):
            if key in outside:
                return True
            node = None if key.rpartition("@")[2] not in world.domains or world.dead_end(key) else world.match(key)
            if node in kept:
                return True
            if node and node not in seen:
                seen.add(node)
                todo.append(node)
    return False


def loops(world: World, node: Node) -> set[str]:
    """The destinations of `node` that lead back to it."""
    found: set[str] = set()
    for destination in world.onward(node):
        reached: set[Node] = set()
        frontier = set(world.reached_from(key_of(destination)))
        while frontier:
            reached |= frontier
            frontier = {
                n for at in frontier for to in world.onward(at) for n in world.reached_from(key_of(to))
            } - reached
        if node in reached:
            found.add(key_of(destination))
    return found


def chained_with(world: World, node: Node) -> tuple[set[str], set[str]]:
    """Sources of the domain's other aliases that an alias leads to, and of those that lead to it."""

    def ahead(start: Node) -> set[Node]:
        nodes = {n for to in world.onward(start) for n in world.reached_from(key_of(to))}
        return {n for n in nodes if n[0] == "alias" and n != start and n[2] == start[2]}

    active = [key_of(source).rpartition("@") for source, alias in world.aliases.items() if alias.active]
    others: list[Node] = [("alias", local, domain) for local, _, domain in active]
    behind = {n[1] for n in others if n[2] == node[2] and node in ahead(n)}
    return {n[1] for n in ahead(node)}, behind


def route(conn: Conn, address: str, visible: list[UUID] | None = None) -> dict[str, Any]:
    found = conn.execute("SELECT * FROM route_address(%s, %s)", (address, visible)).fetchone()
    assert found is not None
    return found


def goes_to(conn: Conn, address: str) -> list[str] | str:
    found = route(conn, address)
    return [d["address"] for d in found["deliveries"]] if found["decision"] == "deliver" else found["decision"]


def shop() -> World:
    return World(
        domains={
            "shop.test": Domain(),
            "bare.test": Domain(delimiter=None),
            "dash.test": Domain(delimiter="-"),
            "asleep.test": Domain(active=False),
            "deaf.test": Domain(receiving=False),
            "store.test": Domain(delimiter=None, alias_of="shop.test"),
            "shut.test": Domain(active=False, alias_of="shop.test"),
            "away.test": Domain(alias_of="asleep.test"),
        },
        mailboxes={
            "alice@shop.test": Mailbox(),
            "Bob.Smith@shop.test": Mailbox(),
            "straße@shop.test": Mailbox(),
            "closed@shop.test": Mailbox(active=False),
            "gone@shop.test": Mailbox(trashed=True),
            "alice+vip@shop.test": Mailbox(),
            "away@shop.test": Mailbox(forwards=["away@else.test"], keep_copy=False),
            "both@shop.test": Mailbox(forwards=["both@else.test", "alice@shop.test"]),
            "stranded@shop.test": Mailbox(forwards=["ghost@bare.test"], keep_copy=False),
            "sleeper@shop.test": Mailbox(forwards=["eve@asleep.test"], keep_copy=False),
            "dave@dash.test": Mailbox(),
            "eve@asleep.test": Mailbox(),
        },
        aliases={
            "sales@shop.test": Alias(["alice@shop.test", "Partner@Else.test".replace("Else", "else")]),
            "alice@shop.test": Alias(["never@else.test"]),
            "off@shop.test": Alias(["alice@shop.test"], active=False),
            "twice@shop.test": Alias(["alice+a@shop.test", "alice+b@shop.test"]),
            "half@shop.test": Alias(["ghost@bare.test", "alice@shop.test"]),
            "void@shop.test": Alias(["ghost@bare.test"]),
            "sleepy@shop.test": Alias(["eve@asleep.test", "ghost@bare.test"]),
            "hop@shop.test": Alias(["hop@bare.test"]),
            "hop@bare.test": Alias(["skip@dash.test"]),
            "skip@dash.test": Alias(["alice+far@shop.test"]),
            "round@shop.test": Alias(["round@bare.test"]),
            "round@bare.test": Alias(["round@shop.test"]),
            "self@bare.test": Alias(["self@bare.test"]),
            "@dash.test": Alias(["dave@dash.test"]),
            "forwarded@shop.test": Alias(["away@shop.test"]),
            "team@shop.test": Alias(["stranded@shop.test", "alice@shop.test", "sleeper@shop.test"]),
            "far@bare.test": Alias(["alice+far@store.test", "alice@shop.test", "eve@away.test"]),
            "circle@shop.test": Alias(["circle@store.test"]),
        },
    )


@pytest.mark.parametrize(
    "address, expected",
    [
        ("alice@shop.test", ["alice@shop.test"]),
        ("ALICE@SHOP.Test", ["ALICE@shop.test"]),
        ("STRASSE@shop.test", ["STRASSE@shop.test"]),
        ("bob.smith+news@shop.test", ["bob.smith+news@shop.test"]),
        ("bob.smith+a+b@shop.test", ["bob.smith+a+b@shop.test"]),
        ("alice+vip+x@shop.test", ["alice+vip+x@shop.test"]),
        ("sales@shop.test", ["alice@shop.test", "Partner@else.test"]),
        ("Sales+june@shop.test", ["alice@shop.test", "Partner@else.test"]),
        ("team@shop.test", ["alice@shop.test", "stranded@shop.test", "sleeper@shop.test"]),
        ("sleeper@shop.test", "domain_inactive"),
        ("nobody@shop.test", "unknown_user"),
        ("gone@shop.test", "unknown_user"),
        ("off@shop.test", "unknown_user"),
        ("+x@shop.test", "unknown_user"),
        ("alice.+x@shop.test", "unknown_user"),
        ("closed@shop.test", "mailbox_inactive"),
        ("closed+x@shop.test", "mailbox_inactive"),
        ("anyone@dash.test", ["dave@dash.test"]),
        ("dave-x@dash.test", ["dave-x@dash.test"]),
        ("dave+x@dash.test", ["dave@dash.test"]),
        ("hop+x@bare.test", "unknown_user"),
        ("eve@asleep.test", "domain_inactive"),
        ("nobody@asleep.test", "domain_inactive"),
        ("nobody@deaf.test", "receiving_disabled"),
        ("twice@shop.test", ["alice+a@shop.test"]),
        ("half@shop.test", ["alice@shop.test"]),
        ("void@shop.test", "unknown_user"),
        ("sleepy@shop.test", "domain_inactive"),
        ("hop@shop.test", ["alice+far@shop.test"]),
        ("round@shop.test", "unknown_user"),
        ("self@bare.test", "unknown_user"),
        ("away@shop.test", ["away@else.test"]),
        ("both@shop.test", ["both@shop.test", "both@else.test", "alice@shop.test"]),
        ("stranded@shop.test", ["stranded@shop.test"]),
        ("forwarded@shop.test", ["away@else.test"]),
        ("Alice+x@Store.test", ["Alice+x@shop.test"]),
        ("sales+june@store.test", ["alice@shop.test", "Partner@else.test"]),
        ("closed@store.test", "mailbox_inactive"),
        ("nobody@store.test", "unknown_user"),
        ("alice@shut.test", "domain_inactive"),
        ("eve@away.test", "domain_inactive"),
        ("postmaster@store.test", "no_administrator"),
        ("far@bare.test", ["alice+far@shop.test"]),
        ("circle@store.test", "unknown_user"),
        ("x@else.test", "not_managed"),
        ("postmaster", "no_administrator"),
        ("postmaster@shop.test", "no_administrator"),
        ("Abuse+x@shop.test", "no_administrator"),
        ("abuse@dash.test", ["dave@dash.test"]),
        ("postmaster@asleep.test", "domain_inactive"),
        ("", "not_managed"),
        ("@", "not_managed"),
        ('"a@b"@shop.test', "unknown_user"),
        ('"a@b"@dash.test', ["dave@dash.test"]),
        ("@dash.test", ["dave@dash.test"]),
    ],
)
def test_an_address_is_routed_by_the_rules(tx: Conn, address: str, expected: list[str] | str) -> None:
    shop().write(tx)
    assert goes_to(tx, address) == expected


@pytest.mark.parametrize(
    "address, warnings",
    [
        ("alice@shop.test", []),
        ("nobody@shop.test", []),
        ("half@shop.test", ["ghost@bare.test leads nowhere: nobody has this address"]),
        ("round@shop.test", ["round@shop.test leads back to itself"]),
        ("stranded@shop.test", ["ghost@bare.test leads nowhere: nobody has this address"]),
        (
            "sleepy@shop.test",
            [
                "eve@asleep.test leads nowhere: its domain is inactive",
                "ghost@bare.test leads nowhere: nobody has this address",
            ],
        ),
    ],
)
def test_destinations_without_a_recipient_have_a_warning(tx: Conn, address: str, warnings: list[str]) -> None:
    shop().write(tx)
    assert route(tx, address)["warnings"] == warnings


def test_the_steps_describe_the_route(tx: Conn) -> None:
    ids = shop().write(tx)
    found = route(tx, "Sales+june@shop.test")
    assert [(s["step"], s["result"], s["address"]) for s in found["steps"]] == [
        ("domain", "managed", "Sales+june@shop.test"),
        ("mailbox", "no_match", "Sales+june@shop.test"),
        ("alias", "no_match", "Sales+june@shop.test"),
        ("plus", "stripped", "sales@shop.test"),
        ("mailbox", "no_match", "sales@shop.test"),
        ("alias", "match", "sales@shop.test"),
        ("domain", "managed", "alice@shop.test"),
        ("mailbox", "match", "alice@shop.test"),
        ("domain", "not_managed", "Partner@else.test"),
    ]
    alice = str(ids["mailbox", "alice", "shop.test"])
    assert found["steps"][7]["row"] == {"id": alice, "address": "alice@shop.test"}
    assert found["deliveries"] == [
        {"type": "mailbox", "address": "alice@shop.test", "mailbox_id": alice},
        {"type": "external", "address": "Partner@else.test", "mailbox_id": None},
    ]


def test_the_steps_of_a_refusal_end_with_it(tx: Conn) -> None:
    shop().write(tx)
    steps = route(tx, "nobody@bare.test")["steps"]
    assert [(s["step"], s["result"]) for s in steps] == [
        ("domain", "managed"),
        ("mailbox", "no_match"),
        ("alias", "no_match"),
        ("catch_all", "no_match"),
        ("reject", "unknown_user"),
    ]


def test_the_steps_name_an_alias_domain(tx: Conn) -> None:
    shop().write(tx)
    own = {row["name"]: row["id"] for row in tx.execute("SELECT name, id FROM domains").fetchall()}
    steps = route(tx, "Alice@STORE.test")["steps"]
    assert [(s["step"], s["result"], s["address"]) for s in steps] == [
        ("domain_alias", "match", "Alice@store.test"),
        ("domain", "managed", "Alice@shop.test"),
        ("mailbox", "match", "Alice@shop.test"),
    ]
    assert steps[0]["row"] == {"id": str(own["store.test"]), "name": "store.test"}
    steps = route(tx, "alice@shut.test")["steps"]
    assert [(s["step"], s["result"]) for s in steps] == [
        ("domain_alias", "domain_inactive"),
        ("reject", "domain_inactive"),
    ]
    # Who sees only the alias domain does not see where the target's addresses lead; who sees the target does.
    (delivery,) = route(tx, "sales@store.test", [own["store.test"]])["deliveries"]
    assert delivery == {"type": "external", "address": "sales@shop.test", "mailbox_id": None}
    found = route(tx, "sales@store.test", [own["shop.test"]])
    assert [each["address"] for each in found["deliveries"]] == ["alice@shop.test", "Partner@else.test"]
    assert found["steps"][0]["row"] is None


def test_details_of_other_domains_are_not_shown(tx: Conn) -> None:
    shop().write(tx)
    own = tx.execute("SELECT id FROM domains WHERE name = 'shop.test'").fetchall()
    found = route(tx, "hop@shop.test", [own[0]["id"]])
    assert found["decision"] == "deliver"
    assert found["deliveries"] == [{"type": "external", "address": "hop@bare.test", "mailbox_id": None}]
    assert found["steps"][-1] == {"step": "domain", "result": "managed", "address": "hop@bare.test", "row": None}
    assert "dash.test" not in str(found)
    found = route(tx, "sleepy@shop.test", [])
    assert (found["decision"], found["deliveries"]) == ("domain_inactive", [])
    assert "asleep" not in str(found)


def test_a_long_route_over_two_domains_ends(tx: Conn) -> None:
    """Six hundred hops between two domains, then a loop of the same length."""
    steps = 600
    world = World({"a.test": Domain(), "b.test": Domain()}, {"end@a.test": Mailbox()})
    for n in range(steps):
        here, there = ("a.test", "b.test") if n % 2 else ("b.test", "a.test")
        world.aliases[f"s{n}@{here}"] = Alias([f"s{n + 1}@{there}" if n + 1 < steps else "end@a.test"])
    ids = world.write(tx)
    assert goes_to(tx, "s0@b.test") == ["end@a.test"]
    last = ids["alias", f"s{steps - 1}", "a.test"]
    tx.execute("UPDATE aliases SET destination_keys = '{s0@b.test}' WHERE id = %s", (last,))
    assert goes_to(tx, "s0@b.test") == "unknown_user"
    back = tx.execute("SELECT key FROM route_loop(%s)", (last,)).fetchall()
    assert [row["key"] for row in back] == ["s0@b.test"]


MANAGED = ["a.test", "b.test", "xn--r8jz45g.test"]
LOCALS = ["x", "X", "y", "x+t", "y+t", "x+t+u", "x-t", "ß", "SS", "ss+t", "Ünder", ".+t".strip("."), "z"]
ALIAS_DOMAIN = "alias.test"
ADDRESSED = [*MANAGED, ALIAS_DOMAIN, "out.test"]
addresses = st.builds("{}@{}".format, st.sampled_from(LOCALS), st.sampled_from(ADDRESSED))
own_addresses = st.builds("{}@{}".format, st.sampled_from(LOCALS), st.sampled_from(MANAGED))
sources = st.builds("{}@{}".format, st.sampled_from([*LOCALS, "", ""]), st.sampled_from(MANAGED))
worlds = st.builds(
    World,
    domains=st.fixed_dictionaries(
        {
            name: st.builds(
                Domain,
                active=st.sampled_from([True, True, True, False]),
                receiving=st.sampled_from([True, True, True, False]),
                delimiter=st.sampled_from(["+", "+", "-", None]),
            )
            for name in MANAGED
        }
        | {
            ALIAS_DOMAIN: st.builds(
                Domain,
                active=st.sampled_from([True, True, True, False]),
                alias_of=st.sampled_from([*MANAGED, None]),
            )
        }
    ),
    mailboxes=st.dictionaries(
        own_addresses,
        st.builds(
            Mailbox,
            active=st.sampled_from([True, True, False]),
            trashed=st.sampled_from([False, False, True]),
            forwards=st.lists(addresses, max_size=2),
            keep_copy=st.booleans(),
        ),
        max_size=6,
    ),
    aliases=st.dictionaries(
        sources,
        st.builds(Alias, st.lists(addresses, min_size=1, max_size=3), st.sampled_from([True, True, True, False])),
        max_size=12,
    ),
)


def without_twins(world: World) -> World:
    """Each address once by its key, as the unique constraints require."""
    for rows in (world.mailboxes, world.aliases):
        seen: set[str] = set()
        for address in list(rows):
            if key_of(address) in seen:
                del rows[address]
            seen.add(key_of(address))
    return world


def in_database(check: Callable[[Conn, World, dict[Node, UUID]], None], conn: Conn, world: World) -> None:
    with conn.transaction(force_rollback=True):
        check(conn, world, without_twins(world).write(conn))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds)
def test_the_function_agrees_with_a_model_of_the_rules(conn: Conn, world: World) -> None:
    def check(conn: Conn, world: World, ids: dict[Node, UUID]) -> None:
        for local in LOCALS:
            for name in ADDRESSED:
                expected = model_route(world, f"{local}@{name}")
                found = route(conn, f"{local}@{name.upper()}")
                boxes = {d["mailbox_id"] for d in found["deliveries"] if d["type"] == "mailbox"}
                outside = [key_of(d["address"]) for d in found["deliveries"] if d["type"] == "external"]
                assert found["decision"] == expected.decision, f"{local}@{name}"
                assert boxes == {str(ids[node]) for node in expected.mailboxes}, f"{local}@{name}"
                assert sorted(outside) == sorted(expected.outside), f"{local}@{name}"
                assert len(found["deliveries"]) == len(boxes) + len(outside)

    in_database(check, conn, world)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds)
def test_chains_and_loops_are_found_as_the_model_finds_them(conn: Conn, world: World) -> None:
    def check(conn: Conn, world: World, ids: dict[Node, UUID]) -> None:
        for node, ident in ids.items():
            back = conn.execute("SELECT key FROM route_loop(%s)", (ident,)).fetchall()
            assert {row["key"] for row in back} == loops(world, node), node
            active = node[0] == "alias" and world.alias(node[1], node[2]) is not None
            ahead, behind = chained_with(world, node) if active else (set[str](), set[str]())
            found = conn.execute(
                "SELECT ARRAY(SELECT source FROM route_chain_ahead(%(id)s)) AS ahead,"
                " ARRAY(SELECT source FROM route_chain_behind(%(id)s)) AS behind,"
                " ARRAY(SELECT source FROM route_chain_behind_catch_all(%(id)s)) AS caught",
                {"id": ident},
            ).fetchone()
            assert found is not None
            assert {fold_local(source) for source in found["ahead"]} == ahead, node
            assert {fold_local(s) for s in [*found["behind"], *found["caught"]]} == behind, node

    in_database(check, conn, world)


def test_lookups_of_postfix_use_utf_8_whatever_the_client_encoding(tx: Conn):
    world = World(
        domains={"shop.test": Domain()},
        mailboxes={"alice@shop.test": Mailbox()},
        aliases={"müller@shop.test": Alias(["ż日@else.test", "alice@shop.test"])},
    )
    world.write(tx)

    def ask(name: str, local: bytes) -> list[str]:
        """As Postfix's client does (dict_pgsql): UTF-8 bytes in a connection with another client encoding."""
        query = render.MAPS[name].replace("%d", "shop.test").encode().replace(b"%u", local)
        with tx.transaction():
            tx.execute("SET LOCAL client_encoding TO 'LATIN1'")
            rows = tx.execute(query).fetchall()
        return [str(value).encode("latin-1").decode() for row in rows for value in row.values()]

    assert ask("routes", "müller".encode()) == ["ż日@else.test,alice@shop.test"]
    assert ask("routes", "MÜLLER+x".encode()) == ["ż日@else.test,alice@shop.test"]
    (login,) = ask("senders", "müller".encode())
    assert parse_login(login).address == "alice@shop.test"
    assert ask("recipients", "müller".encode()) == ["expanding"]
    assert ask("mailboxes", b"alice") == ["1"]
    for no_utf_8 in (b"m\xfcnch", b"\xff\xfe", b"\x80"):
        assert ask("recipients", no_utf_8) == ["550 5.1.1 User unknown"]
        assert ask("paused", no_utf_8) == ask("mailboxes", no_utf_8) == []
        assert ask("routes", no_utf_8) == ask("senders", no_utf_8) == []
