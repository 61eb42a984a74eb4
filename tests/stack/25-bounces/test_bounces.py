"""Bounces and complaints with the real daemons: while a message is sent, and after it was delivered or forwarded (for
relayed messages: 17-relays), and the fields of one-click unsubscription.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.stack.harness import Stack, eventually, letter
from tests.support.bounces import arf, dsn
from tests.support.one_click import one_click_link

DOMAIN = "bounces.test"
SHOP = f"shop@{DOMAIN}"
REMOTE = "198.51.100.77"


@pytest.fixture(scope="module")
def domain(stack_folder: Path) -> str:
    """A domain that receives no mail: bounces and complaints arrive nevertheless."""
    stack = Stack(stack_folder)
    domain_id = stack.get_domain(DOMAIN)
    stack.do("PATCH", f"/domains/{domain_id}", {"receiving_enabled": False})
    return domain_id


def send(stack: Stack, to: str, **more: object) -> dict[str, Any]:
    answer = stack.send(SHOP, to, **more)
    assert answer.status == 200, answer.data
    return answer.data


def message(stack: Stack, message_id: str, status: str) -> dict[str, Any]:
    """The message, once its only recipient has this status."""

    def look() -> dict[str, Any] | None:
        found = stack.do("GET", f"/messages/{message_id}")
        return found if found["recipients"][0]["status"] == status else None

    return eventually(look, what=f"{status} {message_id}")


def suppressions(stack: Stack, domain: str) -> dict[str, str]:
    rows = stack.do("GET", f"/suppressions?limit=200&domain_id={domain}")
    return {row["address"]: row["reason"] for row in rows}


def envelope_sender(stack: Stack, to: str) -> str:
    stack.arrived(to)
    envelopes = [json.loads(path.read_text()) for path in (stack.folder / "caught").glob("*.json")]
    (found,) = [each["mail_from"] for each in envelopes if to in each["rcpt_to"]]
    return found


def report(stack: Stack, address: str, content: bytes) -> None:
    with stack.afar(REMOTE) as client:
        assert client.sendmail("", [address], content) == {}


def test_a_hard_bounce_suppresses_with_its_log_line(stack: Stack, domain: str) -> None:
    sent = send(stack, "bounce+hard@remote.test")
    bounced = message(stack, sent["id"], "bounced")
    # One transaction: who sees the status sees the suppression.
    assert suppressions(stack, domain)["bounce+hard@remote.test"] == "hard_bounce"
    (recipient,) = bounced["recipients"]
    assert (recipient["class"], recipient["provider"]) == ("invalid_recipient", "other")
    refused = stack.send(SHOP, "Bounce+Hard@remote.test")
    assert (refused.status, refused.body["error"]["code"]) == (403, "RECIPIENT_SUPPRESSED")
    # Postfix's own bounce comes to the bounce address: nothing is counted again, and nobody gets it.
    events = stack.do("GET", f"/events?limit=200&domain_id={domain}")
    mine = [each["kind"] for each in events if each["data"].get("to") == "bounce+hard@remote.test"]
    assert mine.count("mail.bounced") == 1


def test_late_reports_about_a_delivered_message(stack: Stack, domain: str) -> None:
    to = "friend+late@remote.test"
    sent = send(stack, to)
    message(stack, sent["id"], "delivered")
    address = envelope_sender(stack, to)
    assert re.fullmatch(rf"b\+[0-9a-f]{{60}}@{DOMAIN}", address)
    with stack.afar(REMOTE) as client:
        client.mail("<>")
        forged = address[: -len(DOMAIN) - 3] + ("00" if address[-len(DOMAIN) - 3 : -len(DOMAIN) - 1] != "00" else "11")
        assert client.rcpt(f"{forged}@{DOMAIN}")[0] == 550
        assert client.rcpt(f"anybody@{DOMAIN}")[0] == 550
    report(stack, address, arf())
    message(stack, sent["id"], "delivered")
    eventually(lambda: suppressions(stack, domain).get(to) == "complaint", what="the complaint")
    report(stack, address, dsn(to))
    bounced = message(stack, sent["id"], "bounced")
    assert bounced["recipients"][0]["diagnostic"] == "550 5.1.1 User unknown"
    report(stack, address, dsn(to))
    report(stack, address, arf())
    kinds = [each["kind"] for each in stack.do("GET", f"/messages/{sent['id']}/events?order=asc")]
    assert kinds == ["submitted", "accepted", "delivered", "complained", "bounced"]


def test_mail_that_an_alias_forwards_has_no_bounce_address(stack: Stack, domain: str) -> None:
    """Its sender is rewritten (SRS): a bounce goes back to its author, and suppresses nobody."""
    domain_id = stack.make_domain("passing-on.test")
    alias = {"domain_id": domain_id, "source_local_part": "team", "destination": "bounce+forwarded@remote.test"}
    stack.do("POST", "/aliases", alias)
    with stack.afar(REMOTE) as client:
        client.sendmail("author@remote.test", ["team@passing-on.test"], letter("team@passing-on.test", "Passing"))

    def look() -> bool:
        rows = stack.do("GET", f"/messages?domain_id={domain_id}&status=bounced")
        return any(row["source"] == "system" for row in rows)

    eventually(look, what="the bounce of the forwarded message")
    assert suppressions(stack, domain_id) == {}


def test_late_reports_about_a_forwarded_message_go_to_its_author(stack: Stack, domain: str) -> None:
    """Real and forged: they change neither its status nor the suppressions."""
    domain_id = stack.make_domain("late-forward.test")
    to, author = "friend+forwarded@remote.test", "author+later@remote.test"
    stack.do("POST", "/aliases", {"domain_id": domain_id, "source_local_part": "team", "destination": to})
    with stack.afar(REMOTE) as client:
        client.sendmail(author, ["team@late-forward.test"], letter("team@late-forward.test", "Forwarded"))
    address = envelope_sender(stack, to)
    assert address.startswith("SRS0=")
    report(stack, address, dsn(to))
    report(stack, address, arf(to))
    eventually(lambda: len(stack.caught(author)) == 2, what="both reports")

    def sent() -> dict[str, Any] | None:
        rows = stack.do("GET", f"/messages?domain_id={domain_id}&direction=outbound")
        return next((row for row in rows if row["recipients"][0]["address"] == to), None)

    row = eventually(sent, what="the forwarded message")
    local = f"b+{row['id'].replace('-', '')}{'0' * 28}"
    with stack.afar(REMOTE) as client:
        client.mail("<>")
        assert client.rcpt(f"{local}@late-forward.test")[0] == 550
        assert client.rcpt(re.sub(r"=\w{6}=", "=AAAAAA=", address, count=1))[0] == 550
    message(stack, row["id"], "delivered")
    assert suppressions(stack, domain_id) == {}


def test_a_report_about_several_recipients_needs_the_proof_of_the_filter(stack: Stack, domain: str) -> None:
    """One message, two servers: each knows the bounce address, and reports for its own domain only (DMARC)."""
    spf = f'@ TXT "v=spf1 ip4:{REMOTE} -all"'
    for name in ("one.several.test", "two.several.test"):
        stack.publish(name, "MX", spf, '_dmarc TXT "v=DMARC1; p=reject"')
    first, second = "friend@one.several.test", "friend@two.several.test"
    sent = stack.send(SHOP, first, second).data

    def statuses() -> list[str]:
        return [each["status"] for each in stack.do("GET", f"/messages/{sent['id']}")["recipients"]]

    eventually(lambda: statuses() == ["delivered", "delivered"], what="both deliveries")
    address = envelope_sender(stack, first)

    def bring(author: str, content: bytes) -> None:
        content = content.replace(b"MAILER-DAEMON@elsewhere.test", author.encode())
        with stack.afar(REMOTE, helo=author.partition("@")[2]) as client:
            # A report has no sender: SPF is checked for the name in EHLO (RFC 7208 §2.3).
            assert client.sendmail("", [address], content) == {}

    bring("postmaster@two.several.test", dsn(first))
    bring("postmaster@one.several.test", dsn(first))
    assert eventually(lambda: "bounced" in (found := statuses()) and found) == ["bounced", "delivered"]
    kinds = [each["kind"] for each in stack.do("GET", f"/messages/{sent['id']}/events?order=asc")]
    assert kinds.count("bounced") == 1
    assert suppressions(stack, domain)[first] == "hard_bounce"
    assert second not in suppressions(stack, domain)


def test_the_signature_covers_the_fields_of_one_click(stack: Stack, domain: str) -> None:
    """RFC 8058 §4, for an own link. Without a public https address, there are no links of Mailkeep itself; those are in
    17-relays, whose instance has one.
    """
    group = stack.do("POST", "/unsubscribe-groups", {"domain_id": domain, "name": "News"})["id"]
    refused = stack.send(SHOP, "friend+list@remote.test", unsubscribe={"group_id": group})
    assert refused.status == 400
    assert "http.public_url" in str(refused.body)
    fields = {"url": "https://example.test/leave", "one_click": True}
    send(stack, "friend+list@remote.test", list_unsubscribe=fields)
    (raw,) = stack.arrived("friend+list@remote.test")
    assert one_click_link(raw) == "https://example.test/leave"
