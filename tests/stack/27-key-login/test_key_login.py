"""Submission with an API key on the full profile: who may log in, senders, limits, and the end of open sessions."""

from __future__ import annotations

import imaplib
import smtplib
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.stack.harness import ADDRESS, Stack, eventually, letter, trusting

END_SECONDS = 2.0


def create_key(stack: Stack, **more: object) -> dict[str, Any]:
    """A key: its ID, and the key itself as `secret`."""
    created = stack.do("POST", "/api-keys", {"name": "shop", "permissions": "sending"} | more)
    return created["api_key"] | {"secret": created["key"]}


def revoke(stack: Stack, key: dict[str, Any]) -> None:
    stack.do("DELETE", f"/api-keys/{key['id']}")


def connect(stack: Stack, secret: str, port: str = "submission", user: str = "apikey") -> smtplib.SMTP:
    if port == "submission":
        return stack.login(user, secret)
    client = smtplib.SMTP_SSL(ADDRESS, stack.ports[port], "client.test", timeout=60, context=trusting())
    client.login(user, secret)
    return client


def refusal(stack: Stack, secret: str, user: str = "apikey") -> str:
    with pytest.raises(smtplib.SMTPAuthenticationError) as caught:
        connect(stack, secret, user=user).close()
    return str(caught.value)


def try_sender(client: smtplib.SMTP, sender: str, recipient: str = "friend@remote.test") -> tuple[int, str]:
    """The reply to the recipient of a message with this envelope sender."""
    client.rset()
    client.mail(sender)
    code, text = client.rcpt(recipient)
    return code, text.decode()


def seconds_until_end(client: smtplib.SMTP) -> float:
    """The seconds until the server has closed the connection."""
    assert client.sock is not None
    began = time.monotonic()
    client.sock.settimeout(20)
    try:
        while client.sock.recv(4096):
            pass
    except OSError:
        pass
    return time.monotonic() - began


def test_a_key_sends_from_its_domains_on_both_ports(stack: Stack) -> None:
    own, other = stack.make_domain("keys-own.test"), stack.make_domain("keys-other.test")
    scoped, unscoped = create_key(stack, scoped_domain_ids=[own]), create_key(stack)
    for port in ("submission", "submissions"):
        with connect(stack, scoped["secret"], port) as client:
            client.sendmail(
                "shop@keys-own.test",
                [f"{port}@remote.test"],
                letter(f"{port}@remote.test", sender="shop@keys-own.test"),
            )
            assert try_sender(client, "shop@keys-other.test")[0] == 553
            assert "5.7.1" in try_sender(client, "shop@elsewhere.test")[1]
            assert try_sender(client, "")[0] == 553
            assert try_sender(client, "shop@keys-own.test")[0] == 250
        assert stack.arrived(f"{port}@remote.test")
    with connect(stack, unscoped["secret"], user="APIKEY") as client:
        assert try_sender(client, "shop@keys-other.test")[0] == 250
        stack.do("PATCH", f"/domains/{other}", {"active": False})
        assert try_sender(client, "shop@keys-other.test")[0] == 450
        stack.do("PATCH", f"/domains/{other}", {"active": True, "sending_enabled": False})
        assert try_sender(client, "shop@keys-other.test")[0] == 550


def by_swaks(stack: Stack, secret: str, sender: str, *more: str, port: str = "submission") -> str:
    """What swaks prints."""
    tls = "--tls" if port == "submission" else "--tls-on-connect"
    command = [
        "swaks", "--server", ADDRESS, "--port", str(stack.ports[port]), tls, "--helo", "client.test", "--timeout", "60",
        "--auth-user", "apikey", "--auth-password", secret, "--from", sender, "--to", "swaks@remote.test", *more,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout


def test_swaks(stack: Stack) -> None:
    stack.make_domain("keys-swaks.test")
    secret, sender = create_key(stack)["secret"], "shop@keys-swaks.test"
    for port in ("submission", "submissions"):
        assert "<~  250 2.0.0 Ok" in by_swaks(stack, secret, sender, port=port)
    assert "<~* 553 5.7.1" in by_swaks(stack, secret, "shop@elsewhere.test")
    refused = by_swaks(stack, secret, sender, "--header", "From: shop@elsewhere.test")
    assert "<~* 553 5.7.1" in refused
    assert "<~* 535" in by_swaks(stack, secret + "x", sender)
    again = ("--header", "Idempotency-Key: swaks")
    assert "<~  250 2.0.0 Ok" in by_swaks(stack, secret, sender, *again)
    eventually(lambda: "<~  250 2.0.0 Ok" in by_swaks(stack, secret, sender, *again), 150, "the repetition")
    changed = by_swaks(stack, secret, sender, *again, "--body", "Another.")
    assert "<~* 550 5.7.1" in changed
    eventually(lambda: len(stack.arrived("swaks@remote.test")) == 3, what="three messages")


def test_keys_that_do_not_open_sessions_fail_in_the_same_way(stack: Stack) -> None:
    revoked, expiring = (
        create_key(stack),
        create_key(stack, expires_at=(datetime.now(UTC) + timedelta(seconds=1)).isoformat()),
    )
    revoke(stack, revoked)
    secrets = {
        "wrong": "svc_sk_" + "x" * 43,
        "not a key": "password",
        "revoked": revoked["secret"],
        "read": create_key(stack, permissions="read")["secret"],
        "elsewhere": create_key(stack, allowed_networks=["203.0.113.0/24"])["secret"],
        "expired": expiring["secret"],
    }
    time.sleep(max(0.0, (datetime.fromisoformat(expiring["expires_at"]) - datetime.now(UTC)).total_seconds() + 0.1))
    with ThreadPoolExecutor(len(secrets)) as pool:
        answers = dict(zip(secrets, pool.map(lambda each: refusal(stack, each), secrets.values()), strict=True))
    assert len(set(answers.values())) == 1, answers
    valid = create_key(stack)["secret"]
    with pytest.raises(imaplib.IMAP4.error):
        stack.imap("apikey", valid)
    mailbox = stack.make_mailbox(stack.make_domain("keys-mailbox.test"), "alice")
    refusal(stack, valid, user=mailbox["address"])
    # A valid key is not delayed by these failures from its own address.
    began = time.monotonic()
    connect(stack, valid).close()
    assert time.monotonic() - began < 2 + END_SECONDS


def test_the_rate_of_a_key_and_the_limits_of_its_sender(stack: Stack) -> None:
    domain = stack.make_domain("keys-limits.test")
    key, sender = create_key(stack, rate_limit=2), "shop@keys-limits.test"
    with connect(stack, key["secret"]) as client:
        for number in range(2):
            client.sendmail(
                sender, ["friend@remote.test"], letter("friend@remote.test", f"Number {number}", sender=sender)
            )
        with pytest.raises(smtplib.SMTPDataError) as caught:
            client.sendmail(sender, ["friend@remote.test"], letter("friend@remote.test", "Too many", sender=sender))
        assert (caught.value.smtp_code, caught.value.smtp_error[:5]) == (450, b"4.7.1")
    mailbox = stack.make_mailbox(domain, "suspended")
    stack.do("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "test"})
    with connect(stack, create_key(stack)["secret"]) as client:
        with pytest.raises(smtplib.SMTPDataError) as caught:
            client.sendmail(
                mailbox["address"], ["friend@remote.test"], letter("friend@remote.test", sender=mailbox["address"])
            )
        assert (caught.value.smtp_code, caught.value.smtp_error[:5]) == (550, b"5.7.1")


@pytest.mark.parametrize("how", ["revoked", "expired", "parent revoked"])
def test_open_sessions_end_with_their_key(stack: Stack, how: str) -> None:
    log = stack.data_dir / "log" / "mail.log"
    already = len(log.read_text())  # of other tests
    stack.make_domain(f"keys-{how.replace(' ', '-')}.test")
    sender = f"shop@keys-{how.replace(' ', '-')}.test"
    more = {"expires_at": (datetime.now(UTC) + timedelta(seconds=8)).isoformat()} if how == "expired" else {}
    key, staying = create_key(stack, **more), create_key(stack)
    with (
        connect(stack, staying["secret"]) as other,
        connect(stack, key["secret"], "submissions") as idle,
        connect(stack, key["secret"]) as sending,
    ):
        # Messages are in progress in these sessions, in `idle` is none.
        assert try_sender(sending, sender)[0] == try_sender(other, sender)[0] == 250
        if how == "expired":
            ends_at = datetime.fromisoformat(key["expires_at"])
            time.sleep(max(0.0, (ends_at - datetime.now(UTC)).total_seconds()))
        else:
            revoke(stack, key)
        assert max(seconds_until_end(idle), seconds_until_end(sending)) < END_SECONDS + 3
        assert other.rcpt("another@remote.test")[0] == 250
    refusal(stack, key["secret"])
    # Postfix goes on: no process was ended, and the port still accepts clients.
    with connect(stack, staying["secret"]) as client:
        assert try_sender(client, sender)[0] == 250
    assert "throttling" not in log.read_text()[already:]
    eventually(lambda: "lost connection after" in (stack.data_dir / "log" / "mail.log").read_text())
