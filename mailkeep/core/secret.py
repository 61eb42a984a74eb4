"""Secrets: sealing with the master secret, tokens and their hashes.

Each purpose has its own key, derived from the master secret (32 bytes) by HKDF (RFC 5869) with the purpose as
`info`, so that a sealed cursor is never accepted as a cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class Vault:
    """Seals and signs with keys derived from the master secret (at least 32 bytes)."""

    __slots__ = ("_ciphers", "_keys", "_master")

    def __init__(self, master: bytes) -> None:
        if len(master) < 32:
            raise ValueError("the master secret must have at least 32 bytes")
        self._master = master
        self._keys: dict[str, bytes] = {}
        self._ciphers: dict[str, AESGCM] = {}

    def _key(self, purpose: str) -> bytes:
        if purpose not in self._keys:
            self._keys[purpose] = HKDF(SHA256(), 32, None, purpose.encode()).derive(self._master)
        return self._keys[purpose]

    def _cipher(self, purpose: str) -> AESGCM:
        if purpose not in self._ciphers:
            self._ciphers[purpose] = AESGCM(self._key(purpose))
        return self._ciphers[purpose]

    def seal(self, purpose: str, plain: bytes, bound_to: bytes = b"") -> bytes:
        """AES-256-GCM with a random nonce; opens only with the same purpose and `bound_to` (e.g. a row's id)."""
        nonce = os.urandom(12)
        return nonce + self._cipher(purpose).encrypt(nonce, plain, bound_to)

    def open(self, purpose: str, sealed: bytes, bound_to: bytes = b"") -> bytes | None:
        """The plain bytes, or None if `sealed` was altered or has another purpose or `bound_to`."""
        if len(sealed) < 28:
            return None
        try:
            return self._cipher(purpose).decrypt(sealed[:12], sealed[12:], bound_to)
        except InvalidTag:
            return None

    def sign(self, purpose: str, data: bytes) -> str:
        """HMAC-SHA256 over `data`, in base64url."""
        return encode_base64url(hmac.digest(self._key(purpose), data, "sha256"))

    def verify(self, purpose: str, data: bytes, signature: str) -> bool:
        """Whether `signature` is from `sign`, compared in constant time. Never raises."""
        return hmac.compare_digest(self.sign(purpose, data).encode(), signature.encode("utf-8", "replace"))

    def sign_publicly(self, purpose: str, data: bytes) -> bytes:
        """An Ed25519 signature (RFC 8032), verified with the purpose's public key."""
        return Ed25519PrivateKey.from_private_bytes(self._key(purpose)).sign(data)

    def public_key(self, purpose: str) -> bytes:
        """The Ed25519 public key (32 bytes) that verifies `sign_publicly`."""
        return Ed25519PrivateKey.from_private_bytes(self._key(purpose)).public_key().public_bytes_raw()


def is_signed_publicly(public_key: bytes, data: bytes, signature: bytes) -> bool:
    """Whether the Ed25519 `signature` of `data` is valid. Never raises."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def encode_base64url(data: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes | None:
    """Decode `encode_base64url`; None for anything that it does not produce."""
    try:
        data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except ValueError:
        return None
    return data if encode_base64url(data) == text else None


def new_token() -> str:
    """256 random bits in base64url (43 characters)."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """SHA-256 of a token, which is stored instead of it. Enough for 128 random bits; passwords need Argon2id."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


# Without letters and digits that look alike.
_ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def new_password(length: int = 20) -> str:
    """A random password for a person to copy once (about 116 bits at 20 characters)."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


# Crockford's base 32: without i, l, o, u, which are easily misread.
_RECOVERY_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_recovery_code() -> str:
    """A random recovery code for a person to keep: 80 bits, as `abcd-efgh-jkmn-pqrs`."""
    return "-".join("".join(secrets.choice(_RECOVERY_ALPHABET) for _ in range(4)) for _ in range(4))


def new_app_password() -> str:
    """A random password for a mail client: 128 bits in lower-case base 32 (RFC 4648), as `mk-abcd-efgh-…-yz`."""
    text = b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()
    return "-".join(("mk", *(text[start : start + 4] for start in range(0, len(text), 4))))
