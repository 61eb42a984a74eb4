"""Signatures by every algorithm that we take, and key sets as they come."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st
from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from mailkeep.core.secret import encode_base64url
from mailkeep.net.openid_token import ExpectedClaims, InvalidToken, find_key, parse_header, parse_keys, verify_token

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXPECTED = ExpectedClaims("https://id.example", "mailkeep", "nonce", AT)
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
KEYS: dict[str, Any] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), RSA),
    "ES256": ECKey.generate_key("P-256", {"kid": "p256"}),
    "ES384": ECKey.generate_key("P-384", {"kid": "p384"}),
    "ES512": ECKey.generate_key("P-521", {"kid": "p521"}),
    "EdDSA": OKPKey.generate_key("Ed25519", {"kid": "ed"}),
    "Ed25519": OKPKey.generate_key("Ed25519", {"kid": "ed"}),
}


def claims() -> dict[str, Any]:
    at = int(AT.timestamp())
    return {"iss": EXPECTED.issuer, "aud": "mailkeep", "sub": "x", "nonce": "nonce", "iat": at, "exp": at + 60}


def check(token: str, keys: list[dict[str, Any]]) -> Any:
    head = parse_header(token)
    key = find_key(parse_keys({"keys": keys}), head)
    if key is None:
        raise InvalidToken("unknown_key")
    return verify_token(token, head, key, EXPECTED)


@pytest.mark.parametrize("algorithm, key", KEYS.items())
def test_an_algorithm_that_we_take(algorithm: str, key: Any):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        token = jwt.encode({"alg": algorithm, "kid": key.kid}, claims(), key, algorithms=[algorithm])
    assert check(token, [key.as_dict(private=False)])["sub"] == "x"
    head, payload, signature = token.split(".")
    with pytest.raises(InvalidToken, match="signature"):
        check(f"{head}.{payload}.{signature[:-4]}AAAA", [key.as_dict(private=False)])


@pytest.mark.parametrize("algorithm", ["ES256K", "Ed448", "HS256", "HS512", "none", "RS1", "", "rs256", "dir"])
def test_an_algorithm_that_we_do_not_take(algorithm: str):
    token = jwt.encode({"alg": "RS256", "kid": "rsa"}, claims(), RSA).split(".")
    head = encode_base64url(f'{{"alg":"{algorithm}","kid":"rsa"}}'.encode())
    with pytest.raises(InvalidToken, match="algorithm"):
        parse_header(".".join([head, *token[1:]]))


def test_a_key_of_one_algorithm_is_not_used_for_another():
    token = jwt.encode({"alg": "PS256", "kid": "rsa"}, claims(), RSA, algorithms=["PS256"])
    assert check(token, [RSA.as_dict(private=False)])
    with pytest.raises(InvalidToken, match="unknown_key"):
        check(token, [RSA.as_dict(private=False) | {"alg": "RS256"}])


def test_what_is_no_key_for_signatures_is_passed_over():
    public = RSA.as_dict(private=False)
    odd: list[Any] = [
        None, 1, "key", [], {}, {"kty": "RSA"}, {"kty": "RSA", "n": "x", "e": "AQAB"}, {"kty": "EC", "crv": "P-256"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, {"kty": "OKP", "crv": "X", "x": "AA"},
        public | {"n": 1}, public | {"n": "!"}, public | {"use": "enc"}, public | {"key_ops": ["encrypt"]},
        public | {"kty": "oct", "k": "AAAA"}, OctKey.generate_key(256).as_dict(),
    ]  # fmt: skip
    assert parse_keys({"keys": odd}) == ()
    assert len(parse_keys({"keys": [*odd, public]})) == 1
    assert parse_keys({"keys": "x"}) == parse_keys({}) == ()


def test_a_private_key_that_is_published_is_held_as_a_public_one():
    (found,) = parse_keys({"keys": [RSA.as_dict(private=True)]})
    assert not found.key.is_private


def test_no_more_than_a_hundred_keys_are_read():
    public = RSA.as_dict(private=False)
    assert len(parse_keys({"keys": [public] * 150})) == 100


@given(st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9_-]{0,30}\.[A-Za-z0-9_-]{0,30}\.[A-Za-z0-9_-]{0,30}"))
def test_any_text_is_a_token_or_refused(text: str):
    with pytest.raises(InvalidToken):
        check(text, [RSA.as_dict(private=False)])


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.dictionaries(st.text(), x)))
def test_any_claims_are_right_or_refused(value: Any):
    for name in claims():
        said = claims() | {name: value}
        try:
            token = jwt.encode({"alg": "ES256", "kid": "p256"}, said, KEYS["ES256"])
        except (ValueError, TypeError):
            continue
        try:
            check(token, [KEYS["ES256"].as_dict(private=False)])
        except InvalidToken:
            continue
        assert name == "sub" or said[name] == claims()[name] or name in ("exp", "iat"), said
