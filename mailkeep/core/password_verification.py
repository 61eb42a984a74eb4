"""Verify a password against a hash in Dovecot's format, `{SCHEME}hash`: those that `password_hash` accepts, as Dovecot
2.3 does. https://doc.dovecot.org/2.3/configuration_manual/authentication/password_schemes/

The hashes of crypt(3) are verified by the system's libcrypt. CRAM-MD5, HMAC-MD5, DIGEST-MD5 and PLAIN-MD4 can't be
verified here: they match no password.
"""

from __future__ import annotations

import base64
import binascii
import ctypes
import hashlib
import hmac
from collections.abc import Callable
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_HASHER = PasswordHasher()
_CRYPT_DATA = 256 << 10  # bytes; more than struct crypt_data of any libcrypt
_CRYPT = frozenset(("BLF-CRYPT", "CRYPT", "DES-CRYPT", "MD5", "MD5-CRYPT", "SHA256-CRYPT", "SHA512-CRYPT"))
# The digest, whether a salt follows it, and whether the default encoding is hexadecimal.
_DIGESTS: dict[str, tuple[str, bool, bool]] = {
    "LDAP-MD5": ("md5", False, False),
    "PLAIN-MD5": ("md5", False, True),
    "SMD5": ("md5", True, False),
    "SHA": ("sha1", False, False),
    "SHA1": ("sha1", False, False),
    "SSHA": ("sha1", True, False),
    "SHA256": ("sha256", False, False),
    "SSHA256": ("sha256", True, False),
    "SHA512": ("sha512", False, False),
    "SSHA512": ("sha512", True, False),
}


def matches_hash(text: str, password: str) -> bool:
    """Whether the password matches this hash. False if the hash is malformed or can't be verified. Blocks."""
    scheme, _, encoded = text.removeprefix("{").partition("}")
    scheme, _, encoding = scheme.upper().partition(".")
    raw = password.encode("utf-8", "surrogatepass")
    if b"\0" in raw:
        return False
    try:
        if scheme in _DIGESTS:
            return _matches_digest(_DIGESTS[scheme], encoding, encoded, raw)
        content = _decode(encoded, encoding).decode("ascii") if encoding else encoded
        verify = _VERIFIERS.get(scheme)
        return verify is not None and verify(content, raw)
    except (ValueError, binascii.Error, VerificationError, InvalidHashError):
        return False


def _decode(text: str, encoding: str) -> bytes:
    return bytes.fromhex(text) if encoding == "HEX" else base64.b64decode(text, validate=True)


def _matches_digest(kind: tuple[str, bool, bool], encoding: str, encoded: str, password: bytes) -> bool:
    name, has_salt, is_hexadecimal = kind
    stored = _decode(encoded, encoding or ("HEX" if is_hexadecimal else "B64"))
    size = hashlib.new(name, usedforsecurity=False).digest_size
    if len(stored) < size or (len(stored) > size and not has_salt):
        return False
    digest = hashlib.new(name, password + stored[size:], usedforsecurity=False).digest()
    return hmac.compare_digest(digest, stored[:size])


def _argon2(text: str, password: bytes) -> bool:
    return _HASHER.verify(text, password)


def _crypt(text: str, password: bytes) -> bool:
    crypt = _load_crypt()
    if crypt is None:
        return False
    result = crypt(password, text.encode("ascii"), ctypes.create_string_buffer(_CRYPT_DATA))
    # A failure is NULL, or a text that begins with an asterisk and is no hash.
    return result is not None and not result.startswith(b"*") and hmac.compare_digest(result, text.encode("ascii"))


@cache
def _load_crypt() -> Callable[..., bytes | None] | None:
    try:
        function = ctypes.CDLL("libcrypt.so.1").crypt_r
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p]
    function.restype = ctypes.c_char_p
    return function


def _pbkdf2(text: str, password: bytes) -> bool:
    """`$1$salt$rounds$hash`: PBKDF2 with HMAC-SHA-1 and 20 bytes."""
    _, _, salt, rounds, digest = text.split("$")
    computed = hashlib.pbkdf2_hmac("sha1", password, salt.encode("ascii"), int(rounds), 20)
    return hmac.compare_digest(computed, bytes.fromhex(digest))


def _scram(name: str) -> Callable[[str, bytes], bool]:
    """`rounds,salt,stored key,server key` (RFC 5802 §3)."""

    def matches(text: str, password: bytes) -> bool:
        rounds, salt, stored_key, _ = text.split(",")
        salted = hashlib.pbkdf2_hmac(name, password, base64.b64decode(salt, validate=True), int(rounds))
        client_key = hmac.digest(salted, b"Client Key", name)
        return hmac.compare_digest(hashlib.new(name, client_key).digest(), base64.b64decode(stored_key, validate=True))

    return matches


_VERIFIERS: dict[str, Callable[[str, bytes], bool]] = {
    "ARGON2I": _argon2,
    "ARGON2ID": _argon2,
    "PBKDF2": _pbkdf2,
    "SCRAM-SHA-1": _scram("sha1"),
    "SCRAM-SHA-256": _scram("sha256"),
    **dict.fromkeys(_CRYPT, _crypt),
}
