"""Outbound mail by relays of a domain or of the instance, with login over verified TLS."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme

from tests.stack import harness
from tests.stack.harness import Stack, eventually, letter
from tests.stack.relays import Peer
from tests.support.bounces import arf, dsn
from tests.support.one_click import one_click_link
from tests.support.scratch import new_directory

ONE, TWO, PLAIN, GENERAL = "one.relay.test", "two.relay.test", "plain.relay.test", "general.relay.test"
_ADDRESS = "127.0.0.61"


@pytest.fixture(scope="module")
def peers() -> Iterator[dict[str, Peer]]:
    authority = trustme.CA()
    found = {
        ONE: Peer(authority, ONE, _ADDRESS),
        TWO: Peer(authority, TWO, _ADDRESS, password="other"),
        PLAIN: Peer(authority, PLAIN, _ADDRESS, tls=False),
        GENERAL: Peer(authority, GENERAL, _ADDRESS, password="general"),
    }
    with contextlib.ExitStack() as running:
        for peer in found.values():
            running.callback(peer.start().stop)
        yield found


@pytest.fixture(scope="module")
def relaying(peers: dict[str, Peer]) -> Iterator[Stack]:
    """An instance whose other mail leaves by a relay that asks for a password."""
    folder = new_directory("mailkeep-relays-", 0o755, programs=True)
    authority = folder / "authority.pem"
    peers[ONE].authority.cert_pem.write_to_path(str(authority))
    authority.chmod(0o644)
    general = peers[GENERAL]
    harness.start(
        folder,
        hosts=dict.fromkeys(peers, _ADDRESS),
        OUTBOUND__RELAY=f"{GENERAL}:{general.port}",
        OUTBOUND__RELAY_USERNAME="server",
        OUTBOUND__RELAY_PASSWORD="general",
        OUTBOUND__RELAY_NETWORKS=json.dumps([f"{_ADDRESS}/32"]),
        OUTBOUND__EXTRA_CA_FILE=str(authority),
        HTTP__PUBLIC_URL="https://mail.stack.test",
    )
    try:
        yield Stack(folder)
    finally:
        harness.stop(folder)


def relay(peer: Peer, **more: Any) -> dict[str, Any]:
    return {"host": peer.name, "port": peer.port, "tls": "starttls", "username": "shop", "password": "right"} | more


def recipient(stack: Stack, message_id: str, status: str) -> dict[str, Any]:
    """The only recipient of a message, once it has this status."""

    def look() -> dict[str, Any] | None:
        (found,) = stack.do("GET", f"/messages/{message_id}")["recipients"]
        return found if found["status"] == status else None

    try:
        return eventually(look, what=status)
    except AssertionError as late:
        raise AssertionError(f"{late}: {stack.do('GET', f'/messages/{message_id}')['recipients']}") from None


def kinds_with(stack: Stack, message_id: str, wanted: str) -> list[str]:
    """The kinds in the timeline of a message, if they contain the wanted one."""
    kinds = [each["kind"] for each in stack.do("GET", f"/messages/{message_id}/events?order=asc")]
    return kinds if wanted in kinds else []


def to(peer: Peer, address: str) -> list[tuple[str, bytes]]:
    return [(sender, content) for sender, recipients, content in list(peer.taken) if address in recipients]


def test_domains_use_their_own_relays_and_others_the_servers(relaying: Stack, peers: dict[str, Peer]) -> None:
    relaying.make_domain("one.test", relay=relay(peers[ONE]))
    relaying.make_domain("two.test", relay=relay(peers[TWO], username="zwei", password="other"))
    relaying.make_domain("rest.test")
    for domain, name, login in (
        ("one.test", ONE, ("shop", "right")),
        ("two.test", TWO, ("zwei", "other")),
        ("rest.test", GENERAL, ("server", "general")),
    ):
        address = f"friend@{domain.partition('.')[0]}.far.test"
        sent = relaying.send(f"shop@{domain}", address).data
        found = recipient(relaying, sent["id"], "relayed")
        assert found["remote_host"] == name
        assert found["diagnostic"].startswith(f"Ok: queued as {name}-")
        ((sender, content),) = to(peers[name], address)
        assert sender.startswith("b+")
        assert sender.endswith(f"@{domain}")
        assert f"d={domain}".encode() in content
        assert peers[name].logins[-1] == login
        assert relaying.do("GET", f"/messages/{sent['id']}")["status"] == "relayed"
        kinds = [each["kind"] for each in relaying.do("GET", f"/messages/{sent['id']}/events")]
        assert "relayed" in kinds
        assert "delivered" not in kinds
        if domain == "one.test":  # what a relay takes may come back later
            forged = re.sub(r"....@", "0000@" if sender[-13:-9] != "0000" else "1111@", sender)
            with relaying.smtp() as client:
                client.mail("")
                assert client.rcpt(forged)[0] == 550
                client.rset()
                client.sendmail("", [sender], arf("stranger@one.far.test"))
                client.sendmail("", [sender], dsn(address))
            assert recipient(relaying, sent["id"], "bounced")["enhanced_code"] == "5.1.1"
            with relaying.smtp() as client:
                client.sendmail("", [sender], arf())
            kinds = eventually(partial(kinds_with, relaying, sent["id"], "complained"))
            assert kinds[-3:] == ["relayed", "bounced", "complained"]
            suppressed = relaying.do("GET", "/suppressions")
            assert [(each["address"], each["reason"]) for each in suppressed] == [(address, "hard_bounce")]
    everywhere = [
        path for path in relaying.data_dir.rglob("*") if path.is_file() and path.suffix in ("", ".cf", ".log")
    ]
    assert not [path for path in everywhere if _holds(path, b"general", b"cmlnaHQ=")]


def _holds(path: Path, *words: bytes) -> bool:
    with contextlib.suppress(OSError):
        return "postfix" in path.parts and any(word in path.read_bytes() for word in words if word != b"general")
    return False


def test_mail_refused_by_a_relay_bounces_with_its_reply(relaying: Stack, peers: dict[str, Peer]) -> None:
    domain = relaying.make_domain("bounces.test", relay=relay(peers[ONE]))
    relaying.make_mailbox(domain, "writer")
    sent = relaying.send("writer@bounces.test", "bounce@far.test").data
    found = recipient(relaying, sent["id"], "bounced")
    assert (found["smtp_code"], found["enhanced_code"], found["remote_host"]) == (550, "5.1.1", ONE)
    assert found["diagnostic"].startswith("nobody of this name")
    with relaying.login("writer@bounces.test") as client:  # mail of the API bounces to its bounce address
        client.sendmail(
            "writer@bounces.test",
            ["bounce@far.test"],
            letter("bounce@far.test", "Nobody", sender="writer@bounces.test"),
        )
    (bounce,) = eventually(lambda: relaying.mail_of("writer@bounces.test"))
    assert f"host {ONE} said: 550 5.1.1 nobody of this name".encode() in bounce.replace(b"\r\n    ", b" ")
    assert b"relay.sock" not in bounce


def test_a_wrong_password_defers_and_the_history_says_so(relaying: Stack, peers: dict[str, Peer]) -> None:
    domain = relaying.make_domain("wrong.test", relay=relay(peers[TWO], password="wrong"))
    sent = relaying.send("shop@wrong.test", "friend@wrong.far.test").data
    found = recipient(relaying, sent["id"], "deferred")
    assert found["enhanced_code"] == "4.7.8"
    assert "the relay refused the login" in found["diagnostic"]
    assert found["remote_host"] == TWO
    relaying.do("PATCH", f"/domains/{domain}", {"relay": relay(peers[TWO], password="other")})
    recipient(relaying, sent["id"], "relayed")


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_relay_without_tls_never_gets_the_password(relaying: Stack, peers: dict[str, Peer], tls: str) -> None:
    relaying.make_domain(f"clear-{tls}.test", relay=relay(peers[PLAIN], tls=tls))
    sent = relaying.send(f"shop@clear-{tls}.test", "friend@clear.far.test").data
    found = recipient(relaying, sent["id"], "deferred")
    assert "TLS" in found["diagnostic"]
    assert peers[PLAIN].logins == []
    assert to(peers[PLAIN], "friend@clear.far.test") == []


def test_a_certificate_for_another_name_gets_no_password(relaying: Stack, peers: dict[str, Peer]) -> None:
    logins = len(peers[ONE].logins)
    relaying.make_domain("misnamed.test", relay=relay(peers[ONE], host=TWO))
    sent = relaying.send("shop@misnamed.test", "friend@misnamed.far.test").data
    found = recipient(relaying, sent["id"], "deferred")
    assert "certificate" in found["diagnostic"]
    assert len(peers[ONE].logins) == logins


def test_a_retried_message_uses_the_domains_current_relay(relaying: Stack, peers: dict[str, Peer]) -> None:
    domain = relaying.make_domain("moves.test", relay=relay(peers[ONE], password="wrong"))
    sent = relaying.send("shop@moves.test", "friend@moves.far.test").data
    recipient(relaying, sent["id"], "deferred")
    # Without the password being sent again, the new host gets none.
    without = {key: value for key, value in relay(peers[TWO]).items() if key != "password"}
    logins = len(peers[TWO].logins)
    assert not relaying.do("PATCH", f"/domains/{domain}", {"relay": without})["relay"]["has_password"]

    def asks_for_it() -> bool:
        (found,) = relaying.do("GET", f"/messages/{sent['id']}")["recipients"]
        return "has a username but no password" in (found["diagnostic"] or "")

    eventually(asks_for_it)
    assert len(peers[TWO].logins) == logins
    relaying.do("PATCH", f"/domains/{domain}", {"relay": relay(peers[TWO], password="other")})
    assert recipient(relaying, sent["id"], "relayed")["remote_host"] == TWO
    assert to(peers[ONE], "friend@moves.far.test") == []


def test_a_relay_on_a_private_address_is_not_connected_to(relaying: Stack, peers: dict[str, Peer]) -> None:
    relaying.make_domain("inside.test", relay=relay(peers[ONE], host="localhost"))
    sent = relaying.send("shop@inside.test", "friend@inside.far.test").data
    found = recipient(relaying, sent["id"], "deferred")
    assert "localhost has no global address, nor one that outbound.relay_networks permits" in found["diagnostic"]
    assert "127.0.0.1" not in found["diagnostic"]


def test_forwarded_mail_uses_the_servers_relay(relaying: Stack, peers: dict[str, Peer]) -> None:
    domain = relaying.make_domain("forwards.test", relay=relay(peers[ONE]))
    body = {"domain_id": domain, "source_local_part": "team", "destination": "friend@forwarded.far.test"}
    relaying.do("POST", "/aliases", body)
    with relaying.smtp() as client:
        client.sendmail("writer@remote.test", ["team@forwards.test"], letter("team@forwards.test"))
    eventually(lambda: to(peers[GENERAL], "friend@forwarded.far.test"))
    ((sender, _),) = to(peers[GENERAL], "friend@forwarded.far.test")
    assert sender.startswith("SRS0=")
    (row,) = eventually(lambda: relaying.do("GET", "/messages?to=team@forwards.test&direction=outbound"))
    recipient(relaying, row["id"], "relayed")


def test_one_click_as_a_mail_program_does_it(relaying: Stack, peers: dict[str, Peer]) -> None:
    """RFC 8058, with the public https address of this instance; a proxy passes the requests on without TLS."""
    domain = relaying.make_domain("news.test", relay=relay(peers[ONE]))
    group = relaying.do("POST", "/unsubscribe-groups", {"domain_id": domain, "name": "Monthly"})["id"]
    links: list[str] = []
    for reader in ("reader@news.far.test", "other@news.far.test"):
        sent = relaying.send("shop@news.test", reader, unsubscribe={"group_id": group}).data
        recipient(relaying, sent["id"], "relayed")
        ((_, raw),) = to(peers[ONE], reader)
        links.append(one_click_link(raw))
    assert all(link.startswith("https://mail.stack.test/u/") for link in links)
    first, second = (link.removeprefix("https://mail.stack.test") for link in links)

    def visit(method: str, path: str) -> tuple[int, str]:
        place = urlsplit(relaying.api)
        with contextlib.closing(http.client.HTTPConnection(place.netloc, timeout=60)) as client:
            form = {"Content-Type": "application/x-www-form-urlencoded"} if method == "POST" else {}
            client.request(method, path, "List-Unsubscribe=One-Click" if form else None, form)
            response = client.getresponse()
            return response.status, response.read().decode()

    mixed = f"{first[:60]}{second[60:]}"  # the beginning of one and the end of another
    changed = f"{first[:60]}{'B' if first[60] == 'A' else 'A'}{first[61:]}"
    for path in (mixed, changed, "/u/AAAA", f"{first}A"):
        assert [visit(method, path)[0] for method in ("GET", "POST")] == [404, 404]
    assert visit("GET", first)[0] == 200
    assert relaying.do("GET", f"/suppressions?domain_id={domain}") == []
    for _ in range(2):  # a repetition changes nothing
        status, page = visit("POST", first)
        assert (status, "You are unsubscribed" in page) == (200, True)
    (row,) = relaying.do("GET", f"/suppressions?domain_id={domain}")
    assert (row["address"], row["reason"], row["group_id"]) == ("reader@news.far.test", "unsubscribe", group)
    refused = relaying.send("shop@news.test", "reader@news.far.test", unsubscribe={"group_id": group})
    assert refused.body["error"]["code"] == "RECIPIENT_SUPPRESSED"
    assert relaying.send("shop@news.test", "reader@news.far.test").status == 200
    relaying.do("DELETE", f"/unsubscribe-groups/{group}")
    assert visit("POST", second)[0] == 404
