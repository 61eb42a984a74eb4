"""The fast lookup of a mailbox's address: it is used where possible, and replies like the full lookup."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.directory.routing.conftest import Conn
from tests.directory.routing.test_route_address import MANAGED, Alias, Domain, Mailbox, Node, World, in_database, worlds

LARGEST = 1000
REPLIES = {"unknown_user": "550 5.1.1", "mailbox_inactive": "550 5.2.1", "receiving_disabled": "550 5.7.1",
           "domain_inactive": "450 4.2.1", "no_administrator": "451 4.3.5", "mailbox_full": "452 4.2.2",
           "expansion_limit": "550 5.7.1", "too_many_destinations": "550 5.7.1"}  # fmt: skip
LOCAL_PARTS = ["x", "X", "y", "x+t", "ß", "a@b", "postmaster"]
QUERY = """
    SELECT a.local, a.name, r.decision, r.external, r.depends_on_size,
           (SELECT t FROM mta_recipient(a.local, a.name) t) AS reply,
           coalesce((SELECT t FROM mta_route(a.local, a.name) t), '') AS routed,
           CASE WHEN r.decision = 'not_managed' THEN '[]' ELSE w.deliveries END AS deliveries
      FROM unnest(%s::text[], %s::text[]) a (local, name)
     CROSS JOIN LATERAL route_recipient(a.local || '@' || a.name, 0) r
     CROSS JOIN LATERAL route_address(a.local || '@' || a.name) w
"""
QUOTAS, USED = (0, 500, LARGEST, 2 * LARGEST), (0, 499, 500, LARGEST - 1, LARGEST, 2 * LARGEST)
rooms = st.lists(st.tuples(st.sampled_from(QUOTAS), st.sampled_from(USED)), min_size=6, max_size=6)


@pytest.fixture(scope="module")
def conn(conn: Conn) -> Conn:
    conn.execute("UPDATE routing_settings SET message_size = %s", (LARGEST,))
    return conn


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds, rooms)
def test_the_fast_lookup_replies_like_the_full_one(conn: Conn, world: World, room: list[tuple[int, int]]) -> None:
    def check(conn: Conn, world: World, ids: dict[Node, UUID]) -> None:
        boxes = [ident for node, ident in ids.items() if node[0] == "mailbox"]
        for ident, (quota, used) in zip(boxes, room, strict=False):
            conn.execute("UPDATE mailboxes SET quota_bytes = %s, used_bytes = %s WHERE id = %s", (quota, used, ident))
        compare(conn, [(local, name) for local in LOCAL_PARTS for name in (*MANAGED, MANAGED[0].upper(), "out.test")])

    in_database(check, conn, world)


def compare(conn: Conn, lookups: list[tuple[str, str]]) -> None:
    rows = conn.execute(QUERY, [[each[k] for each in lookups] for k in (0, 1)]).fetchall()
    assert len(rows) == len(lookups)
    for row in rows:
        assert (row["reply"] or "")[:9] == at_rcpt(row), row
        assert row["routed"] == ",".join(each["address"] for each in row["deliveries"]), row


def at_rcpt(row: dict[str, Any]) -> str:
    """The first word of the reply to RCPT by the full lookup, empty without a reply."""
    if row["decision"] == "deliver":
        return "expanding" if row["external"] or row["depends_on_size"] else ""
    return REPLIES.get(row["decision"], "")


def test_a_mailbox_with_any_room_gets_the_reply_of_the_full_lookup(conn: Conn) -> None:
    room = {f"m{quota}-{used}": (quota, used) for quota in QUOTAS for used in USED}
    domains = {"a.test": Domain(), "asleep.test": Domain(active=False), "deaf.test": Domain(receiving=False)}
    world = World(domains, {f"{name}@{domain}": Mailbox() for name in room for domain in domains})
    world.mailboxes |= {f"f{name}@a.test": Mailbox(forwards=["x@far.test"]) for name in room}

    def check(conn: Conn, world: World, ids: dict[Node, UUID]) -> None:
        for name, (quota, used) in room.items():
            conn.execute(
                "UPDATE mailboxes SET quota_bytes = %s, used_bytes = %s WHERE local_key IN (%s, 'f' || %s)",
                (quota, used, name, name),
            )
        local_parts = [(local, domain) for local, _, domain in (each.rpartition("@") for each in world.mailboxes)]
        compare(conn, local_parts)

    in_database(check, conn, world)


def test_a_mailbox_without_forwards_uses_the_fast_lookup(conn: Conn) -> None:
    world = World(
        {"a.test": Domain(), "asleep.test": Domain(active=False), "deaf.test": Domain(receiving=False)},
        {
            "Ann@a.test": Mailbox(),
            "off@a.test": Mailbox(active=False),
            "gone@a.test": Mailbox(trashed=True),
            "cat@a.test": Mailbox(forwards=["x@far.test"]),
            "ünder@a.test": Mailbox(),
            "eve@asleep.test": Mailbox(),
            "eve@deaf.test": Mailbox(),
        },
        {"ann@asleep.test": Alias(["ann@a.test"]), "sales@a.test": Alias(["ann@a.test"])},
    )

    def check(conn: Conn, world: World, ids: dict[Node, UUID]) -> None:
        addresses = ["Ann@a.test", "aNN@A.test", "ann+x@a.test", "sales@a.test", "nobody@a.test", "ann@far.test"]
        addresses += list(world.mailboxes)[1:]
        rows = conn.execute(
            "SELECT a, r.address FROM unnest(%s::text[]) a,"
            " route_plain(split_part(a, '@', 1), split_part(a, '@', 2)) r",
            (addresses,),
        )
        assert {row["a"]: row["address"] for row in rows if row["address"]} == {
            "Ann@a.test": "Ann@a.test",
            "aNN@A.test": "aNN@a.test",
        }

    in_database(check, conn, world)
