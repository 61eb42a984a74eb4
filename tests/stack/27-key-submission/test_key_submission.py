"""Mail that programs submit with an API key on the full profile, from smtplib and swaks."""

from __future__ import annotations

import smtplib
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mailkeep.mail.message.bounce_address import message_of
from tests.stack.harness import ADDRESS, Stack, eventually, letter

DOMAIN = "orders.test"
SHOP = f"shop@{DOMAIN}"


class Shop:
    """A program with a key for one domain."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.domain = stack.make_domain(DOMAIN)
        stack.make_domain("foreign.test")
        created = stack.do("POST", "/api-keys", {"name": "shop", "scoped_domain_ids": [self.domain]})
        self.key, self.key_id = created["key"], created["api_key"]["id"]

    def submit(self, to: str, headers: str = "", **more: Any) -> tuple[int, str]:
        """The reply at the end of a message from a session of its own."""
        with self.stack.login("apikey", self.key) as client:
            return submit(client, to, headers=headers, **more)

    def rows(self, to: str) -> list[dict[str, Any]]:
        """The history's messages to an address."""
        return self.stack.do("GET", f"/messages?to={quote(to)}")

    def row(self, to: str, status: str = "delivered") -> dict[str, Any]:
        """The only message to an address, once it has this status."""
        (found,) = eventually(lambda: [each for each in self.rows(to) if each["status"] == status], what=status)
        return self.stack.do("GET", f"/messages/{found['id']}")

    def sent(self) -> int:
        """The recipients that count for the domain in this hour."""
        return self.stack.do("GET", f"/domains/{self.domain}/usage")["sent_last_hour"]


def submit(client: smtplib.SMTP, *to: str, headers: str = "", **more: Any) -> tuple[int, str]:
    """The reply at the end of a message."""
    client.mail(SHOP)
    for each in to:
        assert client.rcpt(each)[0] == 250
    code, text = client.data(letter(to[0], headers=headers, **({"sender": SHOP} | more)))
    return code, text.decode()


@pytest.fixture(scope="module")
def shop(stack_folder: Path) -> Shop:
    return Shop(Stack(stack_folder))


def test_a_message_is_in_the_history_as_one_of_the_api(shop: Shop) -> None:
    to = "buyer+1@remote.test"
    code, text = shop.submit(to, "X-Mailkeep-Tags: welcome, order\r\nX-Order: 17\r\nX-Mailkeep-Spam: no\r\n")
    assert code == 250, text
    (mail,) = shop.stack.arrived(to)
    assert b"X-Mailkeep" not in mail
    assert b"X-Order: 17" in mail
    assert f"d={DOMAIN}".encode() in mail
    found = shop.row(to)
    assert (found["source"], found["api_key_id"], found["tags"]) == ("smtp", shop.key_id, ["welcome", "order"])
    assert str(message_of(found["mail_from"])) == found["id"]
    assert b"X-Order: 17" in shop.stack.content(f"/messages/{found['id']}/raw")


def test_a_repeated_message_is_sent_and_counted_once(shop: Shop) -> None:
    to, headers = "buyer+2@remote.test", "Idempotency-Key: order-2\r\n"
    before = shop.sent()
    # The Message-ID and Date of a message that is composed again differ.
    replies = [shop.submit(to, headers)]
    assert replies[0][0] == 250, replies
    shop.row(to)
    replies += [shop.submit(to, headers) for _ in range(2)]
    assert [code for code, _ in replies] == [250, 250, 250]
    assert len({text for _, text in replies}) == 3  # each has a queue ID
    code, text = shop.submit(to, headers, body="Another order.")
    assert (code, "Idempotency-Key was used for another message" in text) == (550, True), text
    assert shop.submit("other@remote.test", headers)[0] == 550
    time.sleep(2)
    assert len(shop.stack.caught(to)) == 1
    assert len(shop.rows(to)) == 1
    assert shop.sent() == before + 1
    assert b"Idempotency" not in shop.stack.caught(to)[0]


def test_suppressed_recipients_are_removed(shop: Shop) -> None:
    gone, to = "gone@remote.test", "buyer+3@remote.test"
    shop.stack.do("POST", "/suppressions", {"domain_id": shop.domain, "address": gone, "reason": "manual"})
    with shop.stack.login("apikey", shop.key) as client:
        assert submit(client, to, gone)[0] == 250
        code, text = submit(client, gone)
        assert (code, text[:5], "suppression" in text) == (550, "5.7.1", True), text
    found = shop.row(to, "partial")
    assert {each["address"]: each["status"] for each in found["recipients"]} == {to: "delivered", gone: "suppressed"}
    assert not shop.stack.caught(gone)


def test_what_the_api_refuses_is_refused(shop: Shop) -> None:
    for headers, sender, expected in (
        ("", "shop@foreign.test", (553, "5.7.1")),
        ("", "shop@elsewhere.test", (553, "5.7.1")),
        ("", f"{SHOP}, {SHOP}", (550, "5.6.0")),
        (f"X-Mailkeep-Tags: {'x' * 101}\r\n", SHOP, (550, "5.6.0")),
        ("Idempotency-Key: a b\r\n", SHOP, (550, "5.6.0")),
        ("Idempotency-Key: a\r\nIdempotency-Key: a\r\n", SHOP, (550, "5.6.0")),
    ):
        code, text = shop.submit("friend@remote.test", headers, sender=sender)
        assert (code, text[:5]) == expected, (headers, sender, text)


def test_mail_of_a_mailbox_passes(shop: Shop) -> None:
    shop.stack.make_mailbox(shop.domain, "alice")
    to = "buyer+4@remote.test"
    with shop.stack.login(f"alice@{DOMAIN}") as client:
        headers = "X-Mailkeep-Tags: forged\r\nIdempotency-Key: mine\r\nx-mailkeep-tags: forged\r\n"
        client.sendmail(f"alice@{DOMAIN}", [to], letter(to, headers=headers, sender=f"alice@{DOMAIN}"))
    (mail,) = shop.stack.arrived(to)
    assert b"forged" not in mail
    assert b"\r\nIdempotency-Key: mine\r\n" in mail
    found = shop.row(to)
    assert (found["source"], found["api_key_id"], found["tags"]) == ("smtp", None, [])


def test_swaks_sends_with_a_key(shop: Shop) -> None:
    to = "buyer+5@remote.test"
    command = ["swaks", "--server", ADDRESS, "--port", str(shop.stack.ports["submission"]), "--tls", "--auth", "PLAIN"]
    command += ["--auth-user", "apikey", "--auth-password", shop.key, "--from", SHOP, "--to", to]
    command += ["--header", "Idempotency-Key: order-5", "--header", "X-Mailkeep-Tags: swaks", "--body", "Hello."]
    command += ["--header", "Subject: Order 5"]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shop.row(to)["tags"] == ["swaks"]
    assert len(shop.stack.caught(to)) == 1
