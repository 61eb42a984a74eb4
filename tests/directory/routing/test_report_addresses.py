"""`dmarc@` and `tls@` the server's host name are read as reports, unless a mailbox or alias has that name."""

from __future__ import annotations

import pytest

from tests.directory.routing.conftest import Conn
from tests.directory.routing.test_route_address import Alias, Domain, Mailbox, World, route


@pytest.fixture
def tx(tx: Conn) -> Conn:
    tx.execute("UPDATE routing_settings SET hostname = 'mx.test', external_expansion = 3, message_size = 1000")
    return tx


def kinds(conn: Conn, address: str) -> list[tuple[str, str]] | str:
    found = route(conn, address)
    if found["decision"] != "deliver":
        return found["decision"]
    return [(each["type"], each["address"]) for each in found["deliveries"]]


def postfix(conn: Conn, address: str) -> list[str]:
    local, _, domain = address.partition("@")
    return [row["mta_route"] for row in conn.execute("SELECT mta_route(%s, %s)", (local, domain)).fetchall()]


def test_the_server_has_two_report_addresses(tx: Conn) -> None:
    World({"a.test": Domain()}, {}, {"rua@a.test": Alias(["dmarc@mx.test"])}).write(tx)
    assert kinds(tx, "dmarc@mx.test") == [("report", "dmarc@mx.test")]
    assert kinds(tx, "TLS@MX.test") == [("report", "tls@mx.test")]
    assert kinds(tx, "rua@a.test") == [("report", "dmarc@mx.test")]
    assert [(step["step"], step["result"]) for step in route(tx, "dmarc@mx.test")["steps"]] == [
        ("domain", "server"),
        ("report", "match"),
    ]
    for address in ("dmarc@a.test", "dmarc+x@mx.test", "arf@mx.test"):
        assert kinds(tx, address) == "unknown_user", address
    assert postfix(tx, "dmarc@mx.test") == ["dmarc@mx.test"]
    assert tx.execute("SELECT mta_recipient('dmarc', 'mx.test')").fetchall() == []
    tx.execute("UPDATE routing_settings SET hostname = ''")
    assert kinds(tx, "dmarc@mx.test") == "not_managed"


def test_a_mailbox_or_alias_wins_and_a_catch_all_does_not(tx: Conn) -> None:
    world = World(
        {"mx.test": Domain(), "a.test": Domain()},
        {"tls@mx.test": Mailbox(), "any@a.test": Mailbox()},
        {"@mx.test": Alias(["any@a.test"])},
    )
    world.write(tx)
    assert kinds(tx, "tls@mx.test") == [("mailbox", "tls@mx.test")]
    assert kinds(tx, "dmarc@mx.test") == [("report", "dmarc@mx.test")]
    assert kinds(tx, "other@mx.test") == [("mailbox", "any@a.test")]
    steps = [(step["step"], step["result"]) for step in route(tx, "dmarc@mx.test")["steps"]]
    assert steps[-2:] == [("catch_all", "no_match"), ("report", "match")]


def test_it_also_works_if_the_host_name_is_an_alias_domain(tx: Conn) -> None:
    World({"a.test": Domain(), "mx.test": Domain()}).write(tx)
    tx.execute("UPDATE domains SET alias_of = (SELECT id FROM domains WHERE name = 'a.test') WHERE name = 'mx.test'")
    assert kinds(tx, "dmarc@mx.test") == [("report", "dmarc@mx.test")]
    assert kinds(tx, "dmarc@a.test") == "unknown_user"
    assert postfix(tx, "dmarc@mx.test") == ["dmarc@mx.test"]
