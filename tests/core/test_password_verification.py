"""Hashes in Dovecot's format, which other implementations compute: hashlib, argon2-cffi, Perl."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from argon2 import PasswordHasher
from argon2.low_level import Type

from mailkeep.core.password_hash import check_password_hash
from mailkeep.core.password_verification import matches_hash

PASSWORD = "Grüße 1"
RAW = PASSWORD.encode()
SALT = b"saltsalt"


def digest(name: str, salt: bytes = b"") -> bytes:
    return hashlib.new(name, RAW + salt).digest() + salt


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def scram(name: str) -> str:
    """RFC 5802 §3."""
    salted = hashlib.pbkdf2_hmac(name, RAW, SALT, 4096)
    keys = [hmac.digest(salted, label, name) for label in (b"Client Key", b"Server Key")]
    return f"4096,{b64(SALT)},{b64(hashlib.new(name, keys[0]).digest())},{b64(keys[1])}"


HASHES = {
    "SHA": b64(digest("sha1")),
    "SHA1": b64(digest("sha1")),
    "SHA256": b64(digest("sha256")),
    "SHA512": b64(digest("sha512")),
    "SHA256.HEX": digest("sha256").hex(),
    "SSHA": b64(digest("sha1", SALT)),
    "SSHA256": b64(digest("sha256", SALT)),
    "SSHA512": b64(digest("sha512", SALT)),
    "ssha512.hex": digest("sha512", SALT).hex(),
    "SMD5": b64(digest("md5", SALT)),
    "LDAP-MD5": b64(digest("md5")),
    "PLAIN-MD5": digest("md5").hex(),
    "PBKDF2": f"$1$saltsalt$5000${hashlib.pbkdf2_hmac('sha1', RAW, SALT, 5000, 20).hex()}",
    "SCRAM-SHA-1": scram("sha1"),
    "SCRAM-SHA-256": scram("sha256"),
    "ARGON2ID": PasswordHasher(1, 8, 1).hash(PASSWORD),
    "ARGON2I": PasswordHasher(1, 8, 1, type=Type.I).hash(PASSWORD),
    "ARGON2ID.B64": b64(PasswordHasher(1, 8, 1).hash(PASSWORD).encode()),
}


@pytest.mark.parametrize("scheme", HASHES)
def test_the_password_matches_and_no_other_does(scheme: str):
    text = f"{{{scheme}}}{HASHES[scheme]}"
    assert check_password_hash(text) is None
    assert matches_hash(text, PASSWORD)
    for other in (f"{PASSWORD} ", "Grüße", "", PASSWORD.lower(), "Gr\xfc\xdfe 1\0", "\ud800"):
        assert not matches_hash(text, other), other


# Of Perl's crypt() and `openssl passwd`, for the password `hunter2`.
CRYPTED = {
    "MD5-CRYPT": "$1$saltsalt$ZliGyAN3DciDHEkDboonh/",
    "SHA256-CRYPT": "$5$saltsalt$OIdfjX.u4Y3SJ4I2bX8w5BMf1VAUhHABNUirScDzZi3",
    "SHA512-CRYPT": "$6$saltsalt$8iYtNHxjWRl.NF6oNZ5tF.iKFlQREaXBLlSmZKP6dy9l5z3vsooWNW0/GZ6Nej73"
    "/TFug6pIPSqbJoCT6dfnj.",
    "DES-CRYPT": "sa5NeLgKTj/F2",
    "BLF-CRYPT": "$2y$05$abcdefghijklmnopqrstuuoXuKqgZXLiJqzfmMXDDhSFPIvxV7t8.",
}


@pytest.mark.parametrize("scheme", [*CRYPTED, "CRYPT"])
def test_hashes_of_crypt(scheme: str):
    text = f"{{{scheme}}}{CRYPTED.get(scheme, CRYPTED['SHA512-CRYPT'])}"
    assert check_password_hash(text) is None
    assert matches_hash(text, "hunter2")
    assert not matches_hash(text, "hunter3")


@pytest.mark.parametrize(
    "text",
    [
        "{SSHA}",
        "{SSHA}!",
        "{SHA}c2hvcnQ=",
        "{SHA256.HEX}zz",
        "{PBKDF2}$1$salt",
        "{SCRAM-SHA-256}4096,x",
        "{ARGON2ID}$argon2id$v=19$m=8,t=1,p=1$x$y",
        "{SHA512-CRYPT}*0",
        "{CRYPT}$9$unknown$method",
        "{CRYPT}",
        "{CRAM-MD5}e02d374fde0dc75a17a557039a3a5338c7743304777dccd376f332bee68d2cf6",
        "{UNKNOWN}x",
        "{PLAIN}secret",
        "secret",
        "",
    ],
)
def test_what_can_not_be_verified_matches_nothing(text: str):
    for password in ("", "secret", "*0", "x", text):
        assert not matches_hash(text, password)
