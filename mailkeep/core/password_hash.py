"""Password hashes in Dovecot's format, `{SCHEME}hash`, and the limits of their cost.

An imported hash determines what each later login costs the server. So each scheme is parsed and its cost limited:
Argon2 to 256 MiB and 10 passes, SHA-crypt, PBKDF2 and SCRAM to 1,000,000 rounds, bcrypt to cost 14, yescrypt (the
default of Debian's /etc/shadow) to 256 MiB. Schemes that are not listed are refused, among them passwords in clear text
(PLAIN, CLEAR, CLEARTEXT, PLAIN-TRUNC) and OTP.
"""

from __future__ import annotations

import base64
import binascii
import re

MAX_ARGON2_KIB = 256 << 10
MAX_ARGON2_PASSES = 10
MAX_ARGON2_PARALLELISM = 16
MAX_ROUNDS = 1_000_000
MAX_BCRYPT_COST = 14

_HASH = re.compile(r"\{([A-Za-z0-9-]{1,20})(?:\.([A-Za-z0-9]{1,6}))?\}([!-~]{1,1000})")
_ENCODINGS = frozenset(("", "B64", "BASE64", "HEX"))
_CLEAR = frozenset(("CLEAR", "CLEARTEXT", "PLAIN", "PLAIN-TRUNC"))
# Schemes with a fixed number of passes.
_FIXED = frozenset(("CRAM-MD5", "DIGEST-MD5", "HMAC-MD5", "LDAP-MD5", "PLAIN-MD4", "PLAIN-MD5", "SHA", "SHA1", "SHA256",
                    "SHA512", "SMD5", "SSHA", "SSHA256", "SSHA512"))  # fmt: skip

_NUMBER = r"(0|[1-9][0-9]{0,9})"
_ARGON2 = re.compile(
    rf"\$(argon2id?)\$v=[0-9]{{1,2}}\$m={_NUMBER},t={_NUMBER},p={_NUMBER}\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+"
)
_BCRYPT = re.compile(r"\$2[abxy]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_SHA_CRYPT = re.compile(rf"\$([56])\$(?:rounds={_NUMBER}\$)?[^$]{{0,16}}\$[./A-Za-z0-9]+")
_MD5_CRYPT = re.compile(r"\$1\$[^$]{0,8}\$[./A-Za-z0-9]{22}")
_DES_CRYPT = re.compile(r"[./A-Za-z0-9]{13}")
# yescrypt's notation of memory: 1 MiB (j75) to 256 MiB (jDT).
_YESCRYPT = re.compile(r"\$y\$(?:j75|j85|j[789ABCD]T)\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}")
_PBKDF2 = re.compile(rf"\$1\$[^$]+\${_NUMBER}\$[0-9a-fA-F]+")
_SCRAM = re.compile(rf"{_NUMBER},[A-Za-z0-9+/=]+,[A-Za-z0-9+/=]+,[A-Za-z0-9+/=]+")
_MALFORMED = "is not a valid hash of its scheme"


def check_password_hash(text: str) -> str | None:
    """The reason why this hash is not accepted, or None if it is."""
    match = _HASH.fullmatch(text)
    if not match:
        return "must be a hash in Dovecot's form, such as {ARGON2ID}$argon2id$…"
    scheme, encoding = match[1].upper(), (match[2] or "").upper()
    if encoding not in _ENCODINGS:
        return f"has the unknown encoding {match[2]} (use B64, BASE64 or HEX)"
    if scheme in _CLEAR:
        return "must not be a password in clear text; send the password in the field password"
    if scheme in _FIXED:
        return None
    check = _CHECKS.get(scheme)
    if check is None:
        return f"has the scheme {match[1]}, which is not accepted (use ARGON2ID, BLF-CRYPT or SHA512-CRYPT)"
    decoded = _decode(match[3], encoding)
    return check(decoded) if decoded is not None else _MALFORMED


def _decode(text: str, encoding: str) -> str | None:
    try:
        if encoding == "HEX":
            return bytes.fromhex(text).decode("ascii")
        return base64.b64decode(text, validate=True).decode("ascii") if encoding else text
    except (ValueError, binascii.Error):
        return None


def _argon2(text: str) -> str | None:
    match = _ARGON2.fullmatch(text)
    if not match:
        return _MALFORMED
    memory, passes, parallelism = int(match[2]), int(match[3]), int(match[4])
    if memory > MAX_ARGON2_KIB or passes > MAX_ARGON2_PASSES or parallelism > MAX_ARGON2_PARALLELISM:
        return (
            f"must have at most m={MAX_ARGON2_KIB} (256 MiB), t={MAX_ARGON2_PASSES}, p={MAX_ARGON2_PARALLELISM} "
            f"(got m={memory}, t={passes}, p={parallelism})"
        )
    return None


def _bcrypt(text: str) -> str | None:
    match = _BCRYPT.fullmatch(text)
    if not match:
        return _MALFORMED
    if int(match[1]) > MAX_BCRYPT_COST:
        return f"must have at most cost {MAX_BCRYPT_COST} (got {int(match[1])})"
    return None


def _sha256_crypt(text: str) -> str | None:
    return _sha_crypt(text, "5")


def _sha512_crypt(text: str) -> str | None:
    return _sha_crypt(text, "6")


def _sha_crypt(text: str, number: str) -> str | None:
    match = _SHA_CRYPT.fullmatch(text)
    if not match or match[1] != number:
        return _MALFORMED
    return _rounds(match[2] or "5000")


def _md5_crypt(text: str) -> str | None:
    return None if _MD5_CRYPT.fullmatch(text) else _MALFORMED


def _des_crypt(text: str) -> str | None:
    return None if _DES_CRYPT.fullmatch(text) else _MALFORMED


def _pbkdf2(text: str) -> str | None:
    match = _PBKDF2.fullmatch(text)
    return _rounds(match[1]) if match else _MALFORMED


def _scram(text: str) -> str | None:
    match = _SCRAM.fullmatch(text)
    return _rounds(match[1]) if match else _MALFORMED


def _crypt(text: str) -> str | None:
    """A hash for crypt(3) of a kind whose cost can be checked."""
    if _YESCRYPT.fullmatch(text):
        return None
    for prefix, check in (("$2", _bcrypt), ("$5$", _sha256_crypt), ("$6$", _sha512_crypt), ("$1$", _md5_crypt)):
        if text.startswith(prefix):
            return check(text)
    if text.startswith(("$", "_")):
        return "is a crypt(3) hash of a method or cost that is not accepted (yescrypt: at most 256 MiB)"
    return _des_crypt(text)


def _rounds(text: str) -> str | None:
    return f"must have at most {MAX_ROUNDS} rounds (got {text})" if int(text) > MAX_ROUNDS else None


_CHECKS = {
    "ARGON2I": _argon2,
    "ARGON2ID": _argon2,
    "BLF-CRYPT": _bcrypt,
    "CRYPT": _crypt,
    "DES-CRYPT": _des_crypt,
    "MD5": _md5_crypt,
    "MD5-CRYPT": _md5_crypt,
    "PBKDF2": _pbkdf2,
    "SCRAM-SHA-1": _scram,
    "SCRAM-SHA-256": _scram,
    "SHA256-CRYPT": _sha256_crypt,
    "SHA512-CRYPT": _sha512_crypt,
}
