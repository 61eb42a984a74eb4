"""Signed requests (JWS, RFC 7515) with ECDSA on P-256 (ES256), and values that are derived from an account key."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from mailkeep.core.secret import decode_base64url, encode_base64url

AccountKey = ec.EllipticCurvePrivateKey
_COORDINATE_BYTES = 32


def new_key() -> AccountKey:
    """A new private key on P-256, for an account or a certificate."""
    return ec.generate_private_key(ec.SECP256R1())


def to_pem(key: AccountKey) -> bytes:
    """The key in PEM (PKCS#8)."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def from_pem(pem: bytes) -> AccountKey:
    """A key from `to_pem`."""
    key = load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("not a key on an elliptic curve")
    return key


def to_jwk(key: AccountKey) -> dict[str, str]:
    """The public key as a JWK (RFC 7517)."""
    numbers = key.public_key().public_numbers()
    x, y = (encode_base64url(number.to_bytes(_COORDINATE_BYTES, "big")) for number in (numbers.x, numbers.y))
    return {"crv": "P-256", "kty": "EC", "x": x, "y": y}


def thumbprint(key: AccountKey) -> str:
    """The thumbprint of the public key (RFC 7638)."""
    return encode_base64url(hashlib.sha256(msgspec.json.encode(to_jwk(key), order="sorted")).digest())


def key_authorization(key: AccountKey, token: str) -> str:
    """What proves control for the token of a challenge (RFC 8555 §8.1)."""
    return f"{token}.{thumbprint(key)}"


def dns_value(authorization: str) -> str:
    """The TXT record of DNS-01 for a key authorization (§8.4)."""
    return encode_base64url(hashlib.sha256(authorization.encode()).digest())


def sign(key: AccountKey, protected: Mapping[str, Any], payload: object) -> dict[str, str]:
    """A flattened JWS; `payload` None is the empty payload of POST-as-GET (§6.3)."""
    head, body = _encode({"alg": "ES256", **protected}), "" if payload is None else _encode(payload)
    r, s = decode_dss_signature(key.sign(f"{head}.{body}".encode(), ec.ECDSA(SHA256())))
    signature = r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")
    return {"protected": head, "payload": body, "signature": encode_base64url(signature)}


def bind_externally(key: AccountKey, url: str, key_id: str, mac_key: str) -> dict[str, str]:
    """The external account binding (§7.3.4); ValueError if `mac_key` is not base64url."""
    secret = decode_base64url(mac_key.rstrip("="))
    if not secret:
        raise ValueError("not base64url")
    head, body = _encode({"alg": "HS256", "kid": key_id, "url": url}), _encode(to_jwk(key))
    signature = hmac.digest(secret, f"{head}.{body}".encode(), "sha256")
    return {"protected": head, "payload": body, "signature": encode_base64url(signature)}


def _encode(value: object) -> str:
    return encode_base64url(msgspec.json.encode(value))
