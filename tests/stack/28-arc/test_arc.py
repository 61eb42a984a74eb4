"""Forwarded mail is sealed (ARC): chains over several hops verify with dkimpy, with records of a DNS server."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dkim
import dns.resolver
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.message.dkim import sign
from tests.mail.message.test_dkim import RECORDS, RSA_KEY
from tests.stack.harness import PASSWORD, Stack, eventually, letter
from tests.stack.keys import retire_all_keys
from tests.support.arc import signs_itself_alone, statuses

AUTHOR = "example.test"
ONE, TWO, ALIAS, THREE = "one.seals.test", "two.seals.test", "alias.seals.test", "three.seals.test"


def look_up(stack: Stack, name: bytes) -> bytes:
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers, resolver.cache = [stack.names or ""], None
    rows: Any = resolver.resolve(name.decode(), "TXT", lifetime=20).rrset
    return b"".join(rows[0].strings)


def publish(stack: Stack, name: str, domain_id: str) -> None:
    """The records of a domain's keys."""
    keys = stack.do("GET", f"/domains/{domain_id}/dkim-keys?limit=200")
    values = [(key["selector"], key["dns"]["value"]) for key in keys]
    stack.publish(name, "MX", *(f'{each}._domainkey TXT "{text[:200]}" "{text[200:]}"' for each, text in values))


def alias(stack: Stack, domain_id: str, name: str, *destinations: str) -> None:
    body = {"domain_id": domain_id, "source_local_part": name, "destination": ", ".join(destinations)}
    assert stack.ask("POST", "/aliases", body).status in (201, 409)


@pytest.fixture(scope="module")
def forwarding(stack_folder: Any) -> Stack:
    """Domains with aliases to the external server, their keys in the DNS; the author's domain with SPF and DKIM."""
    stack = Stack(stack_folder)
    found = {name: stack.get_domain(name) for name in (ONE, TWO, THREE)}
    answer = stack.ask("POST", "/domains", {"name": ALIAS, "alias_of": found[TWO]})
    found[ALIAS] = answer.data["id"] if answer.status == 201 else stack.do("GET", f"/domains?name={ALIAS}")[0]["id"]
    for name, domain_id in found.items():
        publish(stack, name, domain_id)
    alias(stack, found[ONE], "team", "friend+one@remote.test")
    alias(stack, found[ONE], "both", f"bob@{THREE}, friend+both@remote.test")
    alias(stack, found[TWO], "team", "friend+two@remote.test")
    for name in ("alice", "bob"):
        stack.ask("POST", "/mailboxes", {"domain_id": found[THREE], "local_part": name, "password": PASSWORD})
    record = RECORDS[b"mk1._domainkey.example.test."].decode()
    stack.publish(
        AUTHOR,
        "MX",
        '@ TXT "v=spf1 ip4:198.51.100.9 -all"',
        '_dmarc TXT "v=DMARC1; p=reject"',
        f'mk1._domainkey TXT "{record[:200]}" "{record[200:]}"',
    )
    return stack


def write(to: str, subject: str) -> bytes:
    """A message with a DKIM signature of its author."""
    text = letter(to, subject, sender=f"ann@{AUTHOR}").encode()
    return sign([text], AUTHOR, [RSA_KEY], datetime.now(UTC)) + text


def forward(stack: Stack, message: bytes, to: str, destination: str, address: str = "198.51.100.9") -> bytes:
    """The message as it leaves for an external destination."""
    before = len(stack.caught(destination))
    with stack.afar(address) as client:
        client.sendmail(f"ann@{AUTHOR}", [to], message)
    return eventually(lambda: stack.caught(destination)[before:], 90, f"mail for {destination}")[0]


def verify(stack: Stack, message: bytes) -> tuple[bytes | None, bool]:
    """The results of dkimpy for the chain, and for the author's signature."""

    def find(name: bytes, timeout: int = 5) -> bytes:
        return look_up(stack, name)

    return dkim.arc_verify(message, dnsfunc=find)[0], dkim.verify(message, dnsfunc=find)  # pyright: ignore[reportArgumentType]


def test_a_chain_grows_over_aliases_an_alias_domain_and_a_redirect(forwarding: Stack) -> None:
    stack = forwarding
    first = forward(stack, write(f"team@{ONE}", "Sealed"), f"team@{ONE}", "friend+one@remote.test")
    assert verify(stack, first) == (b"pass", True)
    assert statuses(first) == [(1, ONE, "none")]
    results = re.search(rb"ARC-Authentication-Results: i=1;\s+mx\.stack\.test;(?:[^\r\n]|\r\n[ \t])*", first)
    assert results
    assert all(word in results[0] for word in (b"spf=pass", b"dkim=pass", b"dmarc=pass")), results
    assert not re.search(rb"^X-(Spam|Rspamd|Mailkeep)", first, re.MULTILINE | re.IGNORECASE)
    # From another address, as the next server of the chain: SPF fails, the chain says what was before.
    second = forward(stack, first, f"team@{ALIAS}", "friend+two@remote.test", "198.51.100.77")
    assert verify(stack, second) == (b"pass", True)
    assert statuses(second) == [(2, ALIAS, "pass"), (1, ONE, "none")]
    assert re.search(rb"^Authentication-Results: mx\.stack\.test;(?:[^\r\n]|\r\n[ \t])*arc=pass", second, re.MULTILINE)
    third = forward(stack, second, f"team@{TWO}", "friend+two@remote.test", "198.51.100.77")
    assert verify(stack, third) == (b"pass", True)
    assert statuses(third)[0] == (3, TWO, "pass")
    redirect(stack, f"alice@{THREE}", "friend+sieve@remote.test")
    fourth = forward(stack, third, f"alice@{THREE}", "friend+sieve@remote.test", "198.51.100.77")
    assert verify(stack, fourth) == (b"pass", True)
    assert [each[:2] for each in statuses(fourth)] == [(4, THREE), (3, TWO), (2, ALIAS), (1, ONE)]
    assert not re.search(rb"^X-(Spam|Rspamd|Mailkeep)", fourth, re.MULTILINE | re.IGNORECASE)


def redirect(stack: Stack, address: str, destination: str) -> None:
    mailbox = next(each for each in stack.do("GET", "/mailboxes?limit=200") if each["address"] == address)
    script = f'require "copy";\nredirect :copy "{destination}";\n'
    stack.do("PUT", f"/mailboxes/{mailbox['id']}/sieve/passing", {"script": script})
    stack.do("POST", f"/mailboxes/{mailbox['id']}/sieve/passing/activate")


def test_a_broken_chain_is_sealed_as_failed_and_then_left_alone(forwarding: Stack) -> None:
    stack = forwarding
    first = forward(stack, write(f"team@{ONE}", "Whole"), f"team@{ONE}", "friend+one@remote.test")
    # What the first server found: covered by its seal, not by the author's signature.
    broken = re.sub(rb"(ARC-Authentication-Results: i=1;(?:[^\r\n]|\r\n[ \t])*)spf=pass", rb"\1spf=fail", first)
    assert broken != first
    second = forward(stack, broken, f"team@{TWO}", "friend+two@remote.test", "198.51.100.77")
    assert statuses(second) == [(2, TWO, "fail"), (1, ONE, "none")]
    selector = re.search(rb"ARC-Seal: i=2; s=(\w+);", second)
    assert selector
    record = look_up(stack, selector[1] + f"._domainkey.{TWO}".encode())
    key = load_der_public_key(b64decode(record.partition(b"p=")[2]))
    assert isinstance(key, RSAPublicKey)
    assert signs_itself_alone(second, key)
    assert re.search(rb"^Authentication-Results: mx\.stack\.test;(?:[^\r\n]|\r\n[ \t])*arc=fail", second, re.MULTILINE)
    third = forward(stack, second, f"team@{ONE}", "friend+one@remote.test", "198.51.100.77")
    assert statuses(third) == statuses(second)


@pytest.mark.parametrize("break_it", ["twice", "incomplete"])
def test_a_malformed_chain_is_sealed_as_failed(forwarding: Stack, break_it: str) -> None:
    stack = forwarding
    first = forward(stack, write(f"team@{ONE}", break_it), f"team@{ONE}", "friend+one@remote.test")
    seal = re.search(rb"ARC-Seal: i=1;(?:[^\r\n]|\r\n[ \t])*\r\n", first)
    assert seal
    malformed = seal[0] + first if break_it == "twice" else first.replace(b"ARC-Message-Signature:", b"X-Was:")
    second = forward(stack, malformed, f"team@{TWO}", "friend+two@remote.test", "198.51.100.77")
    assert statuses(second)[0] == (2, TWO, "fail")
    lone = b"ARC-Authentication-Results: i=7; x.test; none\r\n" + first  # without the sets between them
    third = forward(stack, lone, f"team@{TWO}", "friend+two@remote.test", "198.51.100.77")
    assert statuses(third)[0] == (8, TWO, "fail")


def alerts(stack: Stack, word: str) -> list[dict[str, Any]]:
    feed = stack.do("GET", "/events?limit=200&kind=system.alert")
    return [each for each in feed if each["data"]["alert"] == "forward_unsealed" and word in each["data"]["reason"]]


def test_a_domain_without_keys_forwards_unsealed_with_one_alert(forwarding: Stack) -> None:
    stack = forwarding
    name = f"n{time.time_ns()}.seals.test"
    alias(stack, stack.make_domain(name), "team", "friend+keyless@remote.test")
    retire_all_keys(stack, name)
    for subject in ("Unsealed", "Unsealed again"):
        message = forward(stack, write(f"team@{name}", subject), f"team@{name}", "friend+keyless@remote.test")
        assert not statuses(message)
    (alert,) = eventually(lambda: alerts(stack, name), what="the alert")
    assert alert["data"]["domain"] == name


@contextlib.contextmanager
def listener(stack: Stack, begin: signal.Signals, end: signal.Signals) -> Iterator[None]:
    """Signals for the process `keys`, before and after the block."""
    pids = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).run / "pids" / "keys.pid"
    pid = int(pids.read_text().split()[0])
    os.kill(pid, begin)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, end)


def test_mail_is_accepted_unsealed_while_the_listener_hangs_and_sealed_afterwards(forwarding: Stack) -> None:
    stack = forwarding
    to, mailbox = f"both@{ONE}", f"bob@{THREE}"
    for stop, go_on in ((signal.SIGSTOP, signal.SIGCONT), (signal.SIGKILL, signal.SIGKILL)):
        subject = f"Without {stop.name} {time.time_ns()}"
        with listener(stack, stop, go_on), stack.afar("198.51.100.9") as client:
            client.sendmail(f"ann@{AUTHOR}", [to], write(to, subject))
        arrived = eventually(
            lambda: [
                each
                for folder in ("INBOX", "Junk")
                for each in stack.mail_of(mailbox, folder)
                if subject.encode() in each  # noqa: B023
            ]
        )
        assert stop == signal.SIGKILL or not statuses(arrived[0])
        message = forward(stack, write(f"team@{ONE}", "Back"), f"team@{ONE}", "friend+one@remote.test")
        assert statuses(message) == [(1, ONE, "none")]
    assert len(eventually(lambda: alerts(stack, "did not answer"), what="the alert")) <= 2
