"""DKIM signatures, verified with dkimpy."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Iterable
from datetime import UTC, datetime

import dkim
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings, strategies as st

from mailkeep.mail.message.dkim import SigningKey, has_signature, sign

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PKCS8 = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
RSA = rsa.generate_private_key(65537, 2048)
ED25519 = Ed25519PrivateKey.generate()
RSA_KEY = SigningKey("mk1", "rsa2048", RSA.private_bytes(*PKCS8))
ED25519_KEY = SigningKey("mk2", "ed25519", ED25519.private_bytes(*PKCS8))
RECORDS = {
    b"mk1._domainkey.example.test.": b"v=DKIM1; k=rsa; p="
    + b64encode(
        RSA.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    ),
    b"mk2._domainkey.example.test.": b"v=DKIM1; k=ed25519; p="
    + b64encode(ED25519.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)),
}
HEAD = (
    b"From: =?utf-8?q?J=C3=BCrgen?= <alice@example.test>\r\n"
    b"To: bob@elsewhere.test,\r\n carol@elsewhere.test\r\n"
    b"Subject:  two   spaces\t and a tab \r\n"
    b"Date: Sat, 21 Nov 2026 12:00:00 +0000\r\n"
    b"Message-ID: <1@example.test>\r\n"
    b"MIME-Version: 1.0\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"X-Trace: not signed\r\n"
)
MAIL = HEAD + b"\r\nHello,\r\n  two  spaces \r\n\r\nbye\t\r\n\r\n\r\n"


def records(name: bytes, timeout: int = 5) -> bytes:
    return RECORDS[name if name.endswith(b".") else name + b"."]


def signed(message: bytes, keys: list[SigningKey], pieces: Iterable[bytes] | None = None) -> bytes:
    return sign(pieces or [message], "example.test", keys, AT) + message


def verified(message: bytes, index: int = 0) -> bool:
    try:
        return dkim.DKIM(message).verify(idx=index, dnsfunc=records)
    except dkim.ValidationError:
        return False


@pytest.mark.parametrize("key", [RSA_KEY, ED25519_KEY], ids=["rsa", "ed25519"])
def test_a_signature_verifies(key: SigningKey):
    assert verified(signed(MAIL, [key]))


def test_rsa_and_ed25519_sign_together():
    message = signed(MAIL, [RSA_KEY, ED25519_KEY])
    assert message.count(b"DKIM-Signature:") == 2
    assert verified(message, 0)
    assert verified(message, 1)


@pytest.mark.parametrize(
    ("body"),
    [
        b"",
        b"\r\n",
        b"\r\n\r\n\r\n",
        b"no line end",
        b"one line\r\n",
        b" \r\n \t\r\n",
        b"text\r\n\r\n\r\n",
        b"\r\n\r\ntext",
        b"a\tb  c \t d\r\n",
        b"bare \r return\r\n",
        b"dots\r\n..\r\n",
        b"\xff\xfe\x80\r\n",
        b"x" * 300_000 + b"\r\n",
    ],
)
def test_bodies_of_every_shape_verify(body: bytes):
    assert verified(signed(HEAD + b"\r\n" + body, [ED25519_KEY]))


@given(
    body=st.lists(st.sampled_from([b"\r\n", b" ", b"\t", b"a", b"bc", b"\r", b"\n", b"=20"]), max_size=40),
    cuts=st.lists(st.integers(0, 200), max_size=6),
)
@settings(max_examples=200)
def test_the_signature_does_not_depend_on_the_chunks(body: list[bytes], cuts: list[int]):
    message = HEAD + b"\r\n" + b"".join(body)
    offset = len(HEAD) - 4
    places = sorted({0, len(message), *(min(offset + cut, len(message)) for cut in cuts)})
    pieces = [message[a:b] for a, b in itertools.pairwise(places)]
    assert signed(message, [ED25519_KEY], pieces) == signed(message, [ED25519_KEY])


@given(body=st.lists(st.sampled_from([b"\r\n", b" ", b"\t", b"a", b"bc"]), max_size=30))
@settings(max_examples=100)
def test_any_body_that_ends_in_a_line_verifies(body: list[bytes]):
    assert verified(signed(HEAD + b"\r\n" + b"".join(body) + b"\r\n", [ED25519_KEY]))


@pytest.mark.parametrize(
    "old, new",
    [
        (b"bob@elsewhere.test", b"eve@elsewhere.test"),
        (b"two   spaces", b"three spaces"),
        (b"Hello", b"Hallo"),
        (b"From: ", b"From: eve@evil.test\r\nFrom: "),
        (b"To: ", b"To: eve@evil.test\r\nTo: "),
        (b"Subject: ", b"Subject: win\r\nSubject: "),
        (b"Date: ", b"Cc: eve@evil.test\r\nDate: "),
        (b"Date: ", b"Reply-To: eve@evil.test\r\nDate: "),
        (b"bye\t\r\n", b"bye\t\r\nmore\r\n"),
    ],
)
def test_a_change_or_addition_breaks_the_signature(old: bytes, new: bytes):
    message = signed(MAIL, [RSA_KEY])
    assert not verified(message.replace(old, new, 1))


@pytest.mark.parametrize(
    "old, new",
    [
        (b"two   spaces\t", b"two spaces "),
        (b"test,\r\n carol", b"test, carol"),
        (b"From: ", b"FROM:   "),
        (b"X-Trace: not signed", b"X-Trace: changed"),
        (b"  two  spaces \r\n", b" two spaces\r\n"),
        (b"\r\n\r\n\r\n", b"\r\n"),
    ],
)
def test_whitespace_changes_by_servers_keep_the_signature(old: bytes, new: bytes):
    head, _, body = MAIL.partition(b"\r\n\r\n")
    message = sign([MAIL], "example.test", [RSA_KEY], AT) + MAIL
    changed = message.replace(old, new) if old in head else message[: -len(body)] + body.replace(old, new)
    assert changed != message
    assert verified(changed)


def test_a_repeated_field_is_signed_twice():
    message = HEAD + b"References: <a@x.test>\r\nReferences: <b@x.test>\r\n\r\nHi\r\n"
    ready = signed(message, [RSA_KEY])
    assert verified(ready)
    assert not verified(ready.replace(b"<a@x.test>", b"<c@x.test>"))
    assert not verified(ready.replace(b"<b@x.test>", b"<c@x.test>"))


def test_a_message_of_headers_only_verifies():
    assert verified(signed(HEAD, [RSA_KEY]))


def test_lines_are_short_and_the_time_is_the_callers():
    head = sign([MAIL], "example.test", [RSA_KEY], AT)
    assert all(len(line) <= 100 for line in head.split(b"\r\n"))
    assert b" t=1795262400;" in head
    assert head.endswith(b"\r\n")


def test_a_key_is_not_in_its_repr():
    assert "PRIVATE" not in repr(RSA_KEY)


PUBLIC = {
    "mk1": RSA.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo),
    "mk2": ED25519.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw),
}


@pytest.mark.parametrize("key", [RSA_KEY, ED25519_KEY])
def test_own_signatures_are_recognised(key: SigningKey) -> None:
    message = signed(MAIL, [key])
    assert has_signature(message, "example.test", PUBLIC)
    assert has_signature(b"Received: from a by b\r\n" + message, "example.test", PUBLIC)
    assert has_signature(message.replace(b"\r\n", b"\n"), "example.test", PUBLIC)
    altered = {
        "body": message.replace(b"Hello", b"Hallo"),
        "subject": message.replace(b"two   spaces", b"three spaces"),
        "another From": message.replace(b"\r\nTo:", b"\r\nFrom: eve@evil.test\r\nTo:"),
        "another Message-ID": b"Message-ID: <2@example.test>\r\n" + message,
        "signature": message.replace(b"b=", b"b=A", 1),
        "length": message.replace(b"v=1;", b"v=1; l=0;"),
        "canonicalization": message.replace(b"c=relaxed/relaxed", b"c=simple/simple"),
        "no signature": MAIL,
        "nothing": b"",
    }
    assert [name for name, each in altered.items() if has_signature(each, "example.test", PUBLIC)] == []
    assert not has_signature(message, "other.test", PUBLIC)
    assert not has_signature(message, "example.test", {key.selector: b"no key"})
    swapped = {"mk1": PUBLIC["mk2"], "mk2": PUBLIC["mk1"]}
    assert not has_signature(message, "example.test", swapped)


@pytest.mark.timeout(60)  # hours, if the time were quadratic in the length of white space
def test_long_white_space_takes_no_long_time():
    space = b" " * 1_000_000
    message = b"From: a@example.test\r\n\r\n" + space + b"x\r\n"
    assert has_signature(sign([message], "example.test", [RSA_KEY], AT) + message, "example.test", PUBLIC)
    assert not has_signature(b"DKIM-Signature:" + space + b"x\r\n" + message, "example.test", PUBLIC)
    assert not has_signature(b"DKIM-Signature: a=" + space + b"x;" + space + message, "example.test", PUBLIC)
