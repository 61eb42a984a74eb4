"""Recipients whose acceptance depends on more than the address: postmaster, limits of expansion, quota."""

from __future__ import annotations

from uuid import UUID

import pytest

from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from tests.directory.routing.conftest import Conn
from tests.directory.routing.test_route_address import Alias, Domain, Mailbox, World, route


@pytest.fixture
def tx(tx: Conn) -> Conn:
    tx.execute("UPDATE routing_settings SET hostname = 'mx.test', external_expansion = 3, message_size = 1000")
    return tx


def admin(conn: Conn, email: str, role: str, *domains: str) -> None:
    at = utc_now()
    ident = uuid7(at)
    conn.execute(
        "INSERT INTO admins (id, email, email_key, password_hash, role, created_at, updated_at)"
        " VALUES (%s, %s, lower(%s), '', %s, %s, %s)",
        (ident, email, email, role, at, at),
    )
    for name in domains:
        conn.execute("INSERT INTO admin_domains SELECT %s, id FROM domains WHERE name = %s", (ident, name))


def destinations(conn: Conn, address: str, visible: list[UUID] | None = None) -> list[str] | str:
    found = route(conn, address, visible)
    return [each["address"] for each in found["deliveries"]] if found["decision"] == "deliver" else found["decision"]


def recipient(conn: Conn, address: str, size: int = 0) -> str:
    found = conn.execute("SELECT decision FROM route_recipient(%s, %s)", (address, size)).fetchone()
    assert found is not None
    return found["decision"]


def quota(conn: Conn, local: str, limit: int, used: int) -> None:
    conn.execute("UPDATE mailboxes SET quota_bytes = %s, used_bytes = %s WHERE local_key = %s", (limit, used, local))


@pytest.mark.parametrize("name", ["postmaster", "Postmaster", "abuse", "ABUSE", "postmaster+spam"])
def test_postmaster_and_abuse_reach_the_administrators_of_the_domain(tx: Conn, name: str) -> None:
    World({"a.test": Domain(), "b.test": Domain()}, {"ann@b.test": Mailbox()}).write(tx)
    admin(tx, "root@elsewhere.test", "super_admin")
    admin(tx, "Ann@b.test", "domain_admin", "a.test")
    admin(tx, "gone@b.test", "domain_admin", "a.test")  # no mailbox has this address
    assert destinations(tx, f"{name}@a.test") == ["Ann@b.test"]
    assert destinations(tx, f"{name}@b.test") == ["root@elsewhere.test"]


def test_postmaster_of_the_server_reaches_the_super_admins(tx: Conn) -> None:
    World({"a.test": Domain()}, {"sue@a.test": Mailbox()}).write(tx)
    admin(tx, "sue@a.test", "super_admin")
    admin(tx, "admin@localhost", "super_admin")
    admin(tx, "dora@far.test", "domain_admin", "a.test")
    for address in ("postmaster", "POSTMASTER", "postmaster@mx.test", "abuse@MX.test"):
        assert destinations(tx, address) == ["sue@a.test"], address
    for address in ("root", "root@mx.test"):
        assert destinations(tx, address) == "unknown_user", address
    tx.execute("UPDATE routing_settings SET hostname = ''")
    assert destinations(tx, "postmaster") == ["sue@a.test"]


def test_a_mailbox_or_alias_or_catch_all_has_postmaster_first(tx: Conn) -> None:
    world = World(
        {"a.test": Domain(), "b.test": Domain(), "c.test": Domain(), "d.test": Domain(), "mx.test": Domain()},
        {"postmaster@a.test": Mailbox(), "any@c.test": Mailbox(), "postmaster@d.test": Mailbox(active=False),
         "postmaster@mx.test": Mailbox()},
        {"abuse@a.test": Alias(["postmaster@a.test"]), "@c.test": Alias(["any@c.test"]),
         "abuse@b.test": Alias(["nobody@c.test", "nobody@b.test"]), "postmaster@b.test": Alias(["nobody@b.test"])},
    )  # fmt: skip
    world.write(tx)
    admin(tx, "root@elsewhere.test", "super_admin")
    assert destinations(tx, "postmaster@a.test") == ["postmaster@a.test"]
    assert destinations(tx, "abuse@a.test") == ["postmaster@a.test"]
    assert destinations(tx, "postmaster@c.test") == ["any@c.test"]
    assert destinations(tx, "postmaster@d.test") == ["root@elsewhere.test"]  # deactivated: never unknown
    assert destinations(tx, "postmaster@b.test") == ["root@elsewhere.test"]  # its alias has no recipient
    assert destinations(tx, "postmaster") == ["postmaster@mx.test"]


def test_an_administrator_whose_address_is_the_postmaster_is_no_loop(tx: Conn) -> None:
    World({"a.test": Domain()}).write(tx)
    admin(tx, "postmaster@a.test", "super_admin")
    admin(tx, "abuse@mx.test", "super_admin")
    assert destinations(tx, "postmaster@a.test") == "no_administrator"
    steps = [(each["step"], each["result"]) for each in route(tx, "postmaster@a.test")["steps"]]
    assert steps[-3:] == [("catch_all", "no_match"), ("postmaster", "no_match"), ("reject", "no_administrator")]


def test_who_the_super_admins_are_is_not_shown_to_others(tx: Conn) -> None:
    World({"a.test": Domain()}).write(tx)
    admin(tx, "root@elsewhere.test", "super_admin")
    rows = tx.execute("SELECT id FROM domains").fetchall()
    found = route(tx, "postmaster@a.test", [rows[0]["id"]])
    assert found["decision"] == "deliver"
    assert found["deliveries"] == [{"type": "external", "address": "postmaster@a.test", "mailbox_id": None}]
    assert "elsewhere" not in str(found)


def test_more_external_destinations_than_the_limit_are_refused(tx: Conn) -> None:
    world = World(
        {"a.test": Domain(), "b.test": Domain()},
        {"ann@a.test": Mailbox(forwards=["x@far.test"])},
        {
            "three@a.test": Alias(["x@far.test", "y@far.test", "z@far.test", "ann@a.test"]),
            "four@a.test": Alias(["three@b.test", "w@far.test"]),
            "three@b.test": Alias(["x@far.test", "y@far.test", "z@far.test"]),
        },
    )
    world.write(tx)
    assert route(tx, "three@a.test")["external"] == 3
    assert destinations(tx, "three@a.test") == ["x@far.test", "y@far.test", "z@far.test", "ann@a.test"]
    found = route(tx, "four@a.test")
    assert (found["decision"], found["external"]) == ("expansion_limit", 4)
    assert "4 external destinations" in found["warnings"][0]


def test_over_a_thousand_destinations_are_refused_however_they_are_reached(tx: Conn) -> None:
    tx.execute("UPDATE routing_settings SET external_expansion = 1000")
    world = World({"a.test": Domain(), "b.test": Domain()}, {f"m{n}@b.test": Mailbox() for n in range(40)})
    for number in range(40):
        world.aliases[f"s{number}@b.test"] = Alias(
            [f"m{number}@b.test", *(f"x{number}-{n}@far.test" for n in range(25))]
        )
    world.aliases["wide@a.test"] = Alias([f"s{n}@b.test" for n in range(40)])
    world.aliases["narrow@a.test"] = Alias([f"s{n}@b.test" for n in range(38)])
    world.write(tx)
    assert route(tx, "wide@a.test")["decision"] == "too_many_destinations"
    assert len(destinations(tx, "narrow@a.test")) == 38 * 26


def test_a_full_mailbox_is_refused_unless_another_destination_has_room(tx: Conn) -> None:
    world = World(
        {"a.test": Domain()},
        {"ann@a.test": Mailbox(), "bob@a.test": Mailbox(), "cat@a.test": Mailbox(forwards=["x@far.test"])},
        {"both@a.test": Alias(["ann@a.test", "bob@a.test"])},
    )
    world.write(tx)
    quota(tx, "ann", 500, 500)
    quota(tx, "bob", 500, 400)
    quota(tx, "cat", 500, 500)
    assert recipient(tx, "ann@a.test") == "mailbox_full"
    assert recipient(tx, "ann@a.test", 501) == "message_too_large"
    assert [recipient(tx, "bob@a.test", size) for size in (0, 100, 101, 501)] == [
        "deliver", "deliver", "mailbox_full", "message_too_large"
    ]  # fmt: skip
    assert [recipient(tx, "both@a.test", size) for size in (0, 101)] == ["deliver", "mailbox_full"]
    assert recipient(tx, "cat@a.test") == "deliver"  # the copy to an external address
    quota(tx, "ann", 0, 500)
    assert recipient(tx, "ann@a.test", 10**9) == "deliver"


def count(conn: Conn, queue_id: str | None, copies: dict[str, int], limit: int) -> dict[str, int | None]:
    found = conn.execute(
        "SELECT * FROM count_forwards(%s, %s, %s, %s, %s)",
        ("2026-03-01 12:00:30+00", queue_id, list(copies), list(copies.values()), limit),
    )
    return {row["domain"]: row["retry_after"] for row in found.fetchall()}


def counted(conn: Conn, domain: str) -> int:
    row = conn.execute("SELECT forwarded_copies('2026-03-01 12:10:00+00', %s) AS n", (domain,)).fetchone()
    assert row is not None
    return row["n"]


def test_forwarded_copies_are_counted_for_all_domains_or_none(tx: Conn) -> None:
    assert count(tx, "q1", {"a.test": 6, "b.test": 1}, 10) == {}
    assert count(tx, "q1", {"a.test": 6, "b.test": 1}, 10) == {}  # counted once for each queue ID
    assert counted(tx, "a.test") == 6
    assert count(tx, "q2", {"a.test": 5, "b.test": 1}, 10) == {"a.test": 3630}
    assert count(tx, "q3", {"b.test": 11}, 10) == {"b.test": None}
    assert (counted(tx, "a.test"), counted(tx, "b.test")) == (6, 1)
    assert count(tx, None, {"a.test": 4}, 10) == {}
    tx.execute("SELECT uncount_forwards(ARRAY['q1', 'q9'])")
    assert (counted(tx, "a.test"), counted(tx, "b.test")) == (4, 0)
