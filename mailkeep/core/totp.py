"""Time-based one-time passwords (RFC 6238 over RFC 4226): HMAC-SHA1, 6 digits, steps of 30 seconds."""

from __future__ import annotations

import hmac
import os
import re
from base64 import b32encode
from datetime import datetime
from urllib.parse import quote, urlencode

DIGITS = 6
STEP_SECONDS = 30
SECRET_BYTES = 20
"""160 bits, the length that RFC 4226 §4 (R6) recommends."""

_CODE = re.compile(rf"[0-9]{{{DIGITS}}}")  # \d accepts digits of any script


def new_secret() -> bytes:
    """A random secret of 160 bits."""
    return os.urandom(SECRET_BYTES)


def hotp(secret: bytes, counter: int, digits: int = DIGITS) -> str:
    """The one-time password for a counter (RFC 4226 §5.3)."""
    digest = hmac.digest(secret, counter.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def step_of(at: datetime) -> int:
    """The time step of an instant (RFC 6238 §4.2, T0 = 0)."""
    return int(at.timestamp()) // STEP_SECONDS


def match(secret: bytes, code: str, at: datetime) -> int | None:
    """The step of a valid code: the current, previous or next one (RFC 6238 §5.2). None if the code is invalid.

    All three are computed and compared in constant time.
    """
    if not _CODE.fullmatch(code):
        return None
    now = step_of(at)
    matching_steps = [step for step in (now - 1, now, now + 1) if hmac.compare_digest(hotp(secret, step), code)]
    return matching_steps[0] if matching_steps else None


def provisioning_uri(secret: bytes, account: str, issuer: str) -> str:
    """The content of the QR code for an authenticator app (Key URI format): `otpauth://totp/ISSUER:ACCOUNT?secret=…`."""
    query = {
        "secret": b32encode(secret).decode().rstrip("="),
        "issuer": issuer,
        "algorithm": "SHA1",
        "digits": str(DIGITS),
        "period": str(STEP_SECONDS),
    }
    return f"otpauth://totp/{quote(issuer, safe='')}:{quote(account, safe='')}?{urlencode(query, quote_via=quote)}"
