"""What is read and verified of passkeys, without a database: any bytes end in a refusal, never in a fault."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

import cbor2
import pytest
from hypothesis import example, given, settings, strategies as st

from mailkeep.core.errors import InvalidField
from mailkeep.core.passkey import (
    RelyingParty,
    parse_assertion,
    parse_registration,
    relying_party,
    verify_assertion,
    verify_registration,
)
from tests.support.authenticator import AT, ED, SoftKey, b64, bomb, unb64

PARTY = RelyingParty("localhost", "http://localhost:8080")
OPTIONS: dict[str, Any] = {"user": {"id": b64(b"somebody")}, "challenge": b64(b"challenge")}
SECONDS = float(os.environ.get("MAILKEEP_FUZZ_SECONDS", "0"))
MANY = settings(max_examples=int(300 + SECONDS * 500))
KEY = SoftKey()
MADE, USED = KEY.create(OPTIONS), KEY.get(OPTIONS)
PUBLIC = cbor2.dumps(KEY.public_key())


@pytest.mark.parametrize(
    "url, party",
    [
        ("http://localhost:8080", PARTY),
        ("http://mail.localhost", RelyingParty("mail.localhost", "http://mail.localhost")),
        ("https://Mail.Example.com:443/", RelyingParty("mail.example.com", "https://mail.example.com")),
        ("https://mail.example.com:8443", RelyingParty("mail.example.com", "https://mail.example.com:8443")),
        ("http://localhost:80", RelyingParty("localhost", "http://localhost")),
        ("https://mail", RelyingParty("mail", "https://mail")),
        ("http://mail.example.com", None),
        ("http://127.0.0.1:8080", None),
        ("https://192.0.2.1", None),
        ("https://[2001:db8::1]:8443", None),
    ],
)
def test_the_relying_party_is_the_public_addresss(url: str, party: RelyingParty | None):
    assert relying_party(url) == party


def test_a_key_that_was_made_verifies_its_uses():
    made = verify_registration(parse_registration(MADE), PARTY)
    assert (made.credential_id, made.sign_count, made.public_key) == (KEY.credential_id, 0, PUBLIC)
    used = verify_assertion(parse_assertion(USED), PARTY, made.public_key, user_verified=True)
    assert used is not None
    assert (used.sign_count, used.backed_up) == (1, False)


def test_what_comes_as_attestation_is_not_looked_at():
    """A browser may pass on a statement of a make, or one of the key itself, without being asked."""
    for fmt, statement in (
        ("packed", {"alg": -7, "sig": b"no signature"}),
        ("tpm", {"ver": "2.0", "x5c": [b"no certificate"]}),
        ("of tomorrow", {}),
    ):
        whole = cbor2.dumps({"fmt": fmt, "attStmt": statement, "authData": KEY.made_data()})
        response = MADE["response"] | {"attestationObject": b64(whole)}
        assert (
            verify_registration(parse_registration(MADE | {"response": response}), PARTY).credential_id
            == KEY.credential_id
        )


def data_of(attestation: dict[str, Any]) -> dict[str, Any]:
    return MADE | {"response": MADE["response"] | {"attestationObject": b64(cbor2.dumps(attestation))}}


def outcome(credential: dict[str, Any]) -> object:
    try:
        return verify_registration(parse_registration(credential), PARTY)
    except InvalidField as refused:
        return refused


def test_shared_values_are_not_written_out():
    """`webauthn` writes what it has read, to know its length: of 131 bytes with 22 levels it had for 8 s to do."""
    started = time.process_time()
    head = KEY.made_data()[:32] + bytes([KEY.flags | AT | ED]) + bytes(4)
    data = head + KEY.made_data()[37:] + bomb(100)
    refused = outcome(data_of({"fmt": "none", "attStmt": {}, "authData": data}))
    assert isinstance(refused, InvalidField)
    assert "tag" in refused.message
    whole = b"\xa3cfmtdnonegattStmt" + bomb(100) + b"hauthData\x40"
    assert isinstance(outcome(MADE | {"response": MADE["response"] | {"attestationObject": b64(whole)}}), InvalidField)
    assert time.process_time() - started < 2


def test_long_lengths_are_not_waited_for():
    for head in (b"\x5b", b"\x7b", b"\x9b", b"\xbb"):
        whole = b"\xa1" + head + b"\xff" * 8
        refused = outcome(MADE | {"response": MADE["response"] | {"attestationObject": b64(whole)}})
        assert isinstance(refused, InvalidField)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CBOR = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=40) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(-5, 5) | st.text(max_size=5), inner),
    max_leaves=8,
)


@MANY
@given(JSON, st.sampled_from(["id", "type", "response", "clientDataJSON", "attestationObject", "signature"]))
def test_any_json_is_read_or_refused(value: Any, name: str):
    for credential, read in ((MADE, parse_registration), (USED, parse_assertion)):
        response = credential["response"] | ({name: value} if name not in credential else {})
        whole = credential | {"response": response} | ({name: value} if name in credential else {})
        with suppress(InvalidField):
            read(whole)


@MANY
@given(st.binary(max_size=300))
@example(b"\xff" * 40)
def test_any_client_data_is_read_or_refused(data: bytes):
    for text in (data, b'{"challenge": "AAAA", "origin": ' + data + b"}"):
        response = MADE["response"] | {"clientDataJSON": b64(text)}
        assert isinstance(outcome(MADE | {"response": response}), InvalidField)


@MANY
@given(st.integers(0, 400), st.binary(min_size=0, max_size=40), st.integers(0, 40))
def test_a_damaged_attestation_is_refused_or_as_good_as_whole(at: int, new: bytes, cut: int):
    whole = unb64(MADE["response"]["attestationObject"])
    at = at % len(whole)
    damaged = whole[:at] + new + whole[at + cut :]
    outcome(MADE | {"response": MADE["response"] | {"attestationObject": b64(damaged)}})


@MANY
@given(CBOR, st.booleans())
def test_any_cbor_as_key_or_statement_is_refused(value: Any, as_key: bool):
    data = KEY.made_data()[: 37 + 18 + 32] + cbor2.dumps(value) if as_key else value
    assert isinstance(outcome(data_of({"fmt": "none", "attStmt": {}, "authData": data})), InvalidField)


@MANY
@given(st.binary(max_size=120), st.integers(0, 255), st.binary(max_size=80), st.binary(max_size=80))
def test_no_bytes_pass_for_a_use(data: bytes, flags: int, signature: bytes, public_key: bytes):
    true = unb64(USED["response"]["authenticatorData"])
    for given_data in (data, true[:32] + bytes([flags]) + data):
        response = USED["response"] | {"authenticatorData": b64(given_data), "signature": b64(signature)}
        shown = parse_assertion(USED | {"response": response})
        assert verify_assertion(shown, PARTY, public_key, user_verified=False) is None
        assert verify_assertion(shown, PARTY, PUBLIC, user_verified=False) is None
