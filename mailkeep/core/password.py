"""Which passwords an administrator may have, and the form in which they are hashed.

8 to 256 characters, not among the 3,000 commonest of that length, not the account's own email. Nothing is asked
of their composition (NIST SP 800-63B §3.1.1.2). Two ways to type the same character are one: NFC (RFC 8265 §4.2).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from unicodedata import normalize

from mailkeep.core.errors import WeakPassword

MIN_LENGTH = 8
MAX_LENGTH = 256


def prepare_password(text: str) -> str:
    """The form of a password that is hashed and compared: NFC."""
    return text if text.isascii() else normalize("NFC", text)


def check_password(text: str, email: str) -> str:
    """The prepared password for the account `email`.

    WEAK_PASSWORD with `details.reason` `too_short`, `too_long`, `email` or `common` where it may not be one.
    """
    password = prepare_password(text)
    if len(password) < MIN_LENGTH:
        raise WeakPassword(f"The password has fewer than {MIN_LENGTH} characters.", reason="too_short")
    if len(password) > MAX_LENGTH:
        raise WeakPassword(f"The password has more than {MAX_LENGTH} characters.", reason="too_long")
    if password.casefold() == normalize("NFC", email).casefold():
        raise WeakPassword("The password is the account's email.", reason="email")
    if password.casefold() in _common():
        raise WeakPassword("The password is one of the commonest.", reason="common")
    return password


@cache
def _common() -> frozenset[str]:
    text = files("mailkeep.core").joinpath("common_passwords.txt").read_text(encoding="ascii")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))
