"""Sender authentication (SPF, DKIM, DMARC) by the filter only."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import quote

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.stack.harness import HOSTNAME, Stack, eventually, letter

GENUINE, STRANGER = "198.51.100.7", "203.0.113.66"
FORGED = (
    f"Authentication-Results: {HOSTNAME}; spf=pass; dkim=pass; dmarc=pass\r\n"
    "X-Rspamd-Auth: spf=pass; dkim=pass; dmarc=pass\r\n"
    f"Authentication-Results: {HOSTNAME}; dmarc=pass (once more)\r\n"
    "x-rspamd-auth: spf=pass; dkim=pass; dmarc=pass\r\n"
)
NOTHING = {"spf": None, "dkim": None, "dmarc": None}


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def receive(stack: Stack, name: str, message: str, sender: str, address: str | None) -> dict[str, Any]:
    """The history's row of a message to alice of a new domain, from a client with this address (None: ours)."""
    domain = f"{name}.test"
    stack.make_mailbox(stack.make_domain(domain), "alice")
    if address:
        with stack.afar(address) as client:
            client.sendmail(sender, [f"alice@{domain}"], message)
    else:
        with stack.smtp() as client:
            client.sendmail(sender, [f"alice@{domain}"], message)
    (row,) = eventually(lambda: stack.do("GET", f"/messages?to={quote(f'alice@{domain}')}"), what="the history's row")
    return stack.do("GET", f"/messages/{row['id']}")


def record(key: RSAPrivateKey) -> str:
    """The key as a TXT record, in strings of at most 255 bytes."""
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    text = f"v=DKIM1; k=rsa; p={b64encode(der).decode()}"
    return f's1._domainkey TXT "{text[:200]}" "{text[200:]}"'


def signed(message: str, domain: str, key: RSAPrivateKey) -> str:
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return (dkim.sign(message.encode(), b"s1", domain.encode(), pem) + message.encode()).decode()


def test_authenticated_mail_passes_spf_dkim_and_dmarc(stack: Stack, key: RSAPrivateKey) -> None:
    spf = f'@ TXT "v=spf1 ip4:{GENUINE} -all"'
    stack.publish("genuine.test", "MX", spf, record(key), '_dmarc TXT "v=DMARC1; p=reject"')
    sender = "news@genuine.test"
    message = signed(letter("alice@vouched.test", sender=sender), "genuine.test", key)
    row = receive(stack, "vouched", message, sender, GENUINE)
    assert row["auth"] == {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
    (mail,) = eventually(lambda: stack.mail_of("alice@vouched.test"))
    assert f"Authentication-Results: {HOSTNAME};".encode() in mail


def test_forged_senders_fail_and_forged_results_are_ignored(stack: Stack) -> None:
    spf = f'@ TXT "v=spf1 ip4:{GENUINE} -all"'
    stack.publish("victim.test", "MX", spf, '_dmarc TXT "v=DMARC1; p=quarantine"')
    sender = "boss@victim.test"
    row = receive(stack, "deceived", letter("alice@deceived.test", headers=FORGED, sender=sender), sender, STRANGER)
    assert row["auth"] == {"spf": "fail", "dkim": "none", "dmarc": "fail"}
    address = "alice@deceived.test"
    everywhere = eventually(lambda: stack.mail_of(address) + stack.mail_of(address, "Junk"))
    (mail,) = [each.lower() for each in everywhere]
    assert mail.count(b"\nauthentication-results:") == 1
    assert b"x-rspamd-auth:" not in mail
    assert b"dmarc=pass" not in mail


def test_a_signature_over_another_text_fails(stack: Stack, key: RSAPrivateKey) -> None:
    stack.publish("altered.test", "MX", '@ TXT "v=spf1 ?all"', record(key))
    sender = "news@altered.test"
    message = signed(letter("alice@changed.test", sender=sender), "altered.test", key).replace("Hello.", "Pay now.")
    row = receive(stack, "changed", message, sender, GENUINE)
    assert row["auth"] == {"spf": "neutral", "dkim": "fail", "dmarc": "none"}


def test_a_domain_without_records_has_the_result_none(stack: Stack) -> None:
    stack.publish("silent.test", "MX")
    sender = "someone@silent.test"
    row = receive(stack, "unknowing", letter("alice@unknowing.test", sender=sender), sender, GENUINE)
    assert row["auth"] == {"spf": "none", "dkim": "none", "dmarc": "none"}


def test_clients_on_this_machine_have_no_authentication_results(stack: Stack) -> None:
    message = letter("alice@nearby.test", headers=FORGED)
    assert receive(stack, "nearby", message, "someone@remote.test", None)["auth"] == NOTHING
