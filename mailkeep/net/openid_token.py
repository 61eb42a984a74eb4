"""Verification of ID tokens (OpenID Connect Core §2, §3.1.3.7): signature and claims.

Only listed asymmetric algorithms are allowed: `none` and HS256 (which could use a public key as its secret) are
rejected before a key is chosen. Keys only come from the provider's key set, never from the token's header.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import msgspec
from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey, import_key

from mailkeep.core.secret import decode_base64url, encode_base64url

Key = RSAKey | ECKey | OKPKey

CLOCK_SKEW_SECONDS = 60
_OLDEST_SECONDS = 15 * 60
_MAX_TOKEN = 32 * 1024
_MAX_KEYS = 100
_MIN_RSA_BITS, _MAX_RSA_BITS = 2048, 8192

# By algorithm: the type of key, its curve, and the hash function of at_hash.
_ALGORITHMS: dict[str, tuple[str, str | None, str]] = {
    "RS256": ("RSA", None, "sha256"),
    "RS384": ("RSA", None, "sha384"),
    "RS512": ("RSA", None, "sha512"),
    "PS256": ("RSA", None, "sha256"),
    "PS384": ("RSA", None, "sha384"),
    "PS512": ("RSA", None, "sha512"),
    "ES256": ("EC", "P-256", "sha256"),
    "ES384": ("EC", "P-384", "sha384"),
    "ES512": ("EC", "P-521", "sha512"),
    "EdDSA": ("OKP", "Ed25519", "sha512"),
    "Ed25519": ("OKP", "Ed25519", "sha512"),
}


class InvalidToken(Exception):
    """An invalid token; `reason` is one word, for logs and the audit log."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TokenHeader:
    """The header of a token: its signature algorithm and key."""

    algorithm: str
    key_id: str | None


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key from the provider's key set."""

    key: Key
    key_id: str | None
    kind: str
    curve: str | None
    algorithm: str | None


@dataclass(frozen=True, slots=True)
class ExpectedClaims:
    """The expected claims of a token."""

    issuer: str
    client_id: str
    nonce: str
    at: datetime
    access_token: str | None = None


def parse_keys(document: Mapping[str, Any]) -> tuple[PublicKey, ...]:
    """The usable keys of a JWK Set (RFC 7517 §5); keys for other uses and malformed ones are skipped."""
    jwks: object = document.get("keys")
    if not isinstance(jwks, list):
        return ()
    first = cast(list[object], jwks)[:_MAX_KEYS]
    keys = (_read_key(cast(dict[str, Any], jwk)) for jwk in first if isinstance(jwk, dict))
    return tuple(key for key in keys if key is not None)


def _read_key(jwk: dict[str, Any]) -> PublicKey | None:
    kind, key_id, algorithm = jwk.get("kty"), jwk.get("kid"), jwk.get("alg")
    operations = jwk.get("key_ops")
    if kind not in ("RSA", "EC", "OKP") or jwk.get("use", "sig") != "sig":
        return None
    if isinstance(operations, list) and "verify" not in operations:
        return None
    # Only public members, in case a provider publishes its private key.
    members = {name: jwk[name] for name in ("kty", "n", "e", "crv", "x", "y") if isinstance(jwk.get(name), str)}
    modulus = decode_base64url(members.get("n", "")) or b""
    if kind == "RSA" and not _MIN_RSA_BITS <= int.from_bytes(modulus, "big").bit_length() <= _MAX_RSA_BITS:
        return None
    try:
        key = import_key(members)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    if not isinstance(key, RSAKey | ECKey | OKPKey):
        return None
    return PublicKey(key, _text_or_none(key_id), kind, members.get("crv"), _text_or_none(algorithm))


def parse_header(token: str) -> TokenHeader:
    """The header of an ID token. Raises InvalidToken for another type of token or a forbidden algorithm."""
    if len(token) > _MAX_TOKEN or not token.isascii() or token.count(".") != 2:
        raise InvalidToken("malformed")
    raw = decode_base64url(token.partition(".")[0])
    header = _json_object(raw) if raw is not None else None
    if header is None:
        raise InvalidToken("malformed")
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        raise InvalidToken("algorithm")
    if "crit" in header or "b64" in header:
        raise InvalidToken("critical_header")
    # Access tokens (`at+jwt`) and logout tokens of the issuer have the same signature key.
    if str(header.get("typ", "JWT")).upper() != "JWT":
        raise InvalidToken("type")
    if key_id is not None and not isinstance(key_id, str):
        raise InvalidToken("malformed")
    return TokenHeader(algorithm, key_id)


def find_key(keys: Sequence[PublicKey], header: TokenHeader) -> PublicKey | None:
    """The one key that fits the header; None if there is none or more than one (Core §10.1)."""
    kind, curve, _ = _ALGORITHMS[header.algorithm]
    matching = [
        key
        for key in keys
        if key.kind == kind
        and (curve is None or key.curve == curve)
        and key.algorithm in (None, header.algorithm)
        and (header.key_id is None or key.key_id == header.key_id)
    ]
    return matching[0] if len(matching) == 1 else None


def verify_token(token: str, header: TokenHeader, key: PublicKey, expected: ExpectedClaims) -> Mapping[str, Any]:
    """Verify signature and claims, and return the claims. Raises InvalidToken for the first mismatch."""
    try:
        with warnings.catch_warnings():
            # RFC 9864 prefers the name Ed25519; providers still use EdDSA.
            warnings.simplefilter("ignore", SecurityWarning)
            signed = jws.deserialize_compact(token, key.key, algorithms=[header.algorithm])
    except (JoseError, ValueError, TypeError) as error:
        raise InvalidToken("signature") from error
    claims = _json_object(signed.payload)
    if claims is None:
        raise InvalidToken("malformed")
    _check_parties(claims, expected)
    _check_times(claims, expected.at.timestamp())
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), expected.nonce.encode()):
        raise InvalidToken("nonce")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= 255 or not subject.isprintable():
        raise InvalidToken("subject")
    if expected.access_token is not None and "at_hash" in claims:
        digest = hashlib.new(_ALGORITHMS[header.algorithm][2], expected.access_token.encode()).digest()
        if claims["at_hash"] != encode_base64url(digest[: len(digest) // 2]):
            raise InvalidToken("at_hash")
    return claims


def _check_parties(claims: Mapping[str, Any], expected: ExpectedClaims) -> None:
    if claims.get("iss") != expected.issuer:
        raise InvalidToken("issuer")
    audience: object = claims.get("aud")
    audiences = cast(list[object], audience) if isinstance(audience, list) else [audience]
    if expected.client_id not in audiences:
        raise InvalidToken("audience")
    authorized_party = claims.get("azp")
    if authorized_party != expected.client_id and (authorized_party is not None or len(audiences) > 1):
        raise InvalidToken("azp")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires, issued, not_before = (_number(claims.get(name)) for name in ("exp", "iat", "nbf"))
    if expires is None or expires + CLOCK_SKEW_SECONDS <= now:
        raise InvalidToken("expired")
    if issued is None or not now - _OLDEST_SECONDS <= issued <= now + CLOCK_SKEW_SECONDS:
        raise InvalidToken("issued_at")
    if "nbf" in claims and (not_before is None or not_before > now + CLOCK_SKEW_SECONDS):
        raise InvalidToken("not_before")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _json_object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
