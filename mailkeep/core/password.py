"""The rules for passwords of administrators, and their normalization.

A password has 8 to 256 characters and is neither the account's email nor among the 3,000 most common ones. There are
no composition rules (NIST SP 800-63B §3.1.1.2). It is normalized to NFC (RFC 8265 §4.2).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from unicodedata import normalize

from mailkeep.core.errors import WeakPassword

MIN_LENGTH = 8
MAX_LENGTH = 256


def prepare_password(text: str) -> str:
    """The normalized password (NFC), which is hashed."""
    return text if text.isascii() else normalize("NFC", text)


def check_password(text: str, email: str) -> str:
    """The normalized password for the account `email`.

    Raises WEAK_PASSWORD with `details.reason` `too_short`, `too_long`, `email` or `common`.
    """
    password = prepare_password(text)
    if len(password) < MIN_LENGTH:
        raise WeakPassword(f"The password has fewer than {MIN_LENGTH} characters.", reason="too_short")
    if len(password) > MAX_LENGTH:
        raise WeakPassword(f"The password has more than {MAX_LENGTH} characters.", reason="too_long")
    if password.casefold() == normalize("NFC", email).casefold():
        raise WeakPassword("The password is the account's email.", reason="email")
    if password.casefold() in _common():
        raise WeakPassword("The password is too common.", reason="common")
    return password


@cache
def _common() -> frozenset[str]:
    text = files("mailkeep.core").joinpath("common_passwords.txt").read_text(encoding="ascii")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))
