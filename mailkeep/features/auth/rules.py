"""How failed logins are counted, and the session's cookie."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.secret import Vault
from mailkeep.features.auth.model import COOKIE, Failures

WINDOW = timedelta(minutes=15)
FREE_FAILURES = 10
_FIRST_WAIT = 15
_LONGEST_WAIT = 900


def account_key(email: str) -> tuple[str, str]:
    """What failures are counted by, and the name for the audit log, for an email that may be no address at all.

    What is no address isn't named: people type their password into the wrong field.
    """
    try:
        address = parse_address(email)
    except AddressError:
        return f"malformed:{email[:320]}", "(no address)"
    return address.key, address.text


def count_try(seen: Failures | None, at: datetime, *, familiar: bool) -> tuple[Failures, int]:
    """The failures with one more try, and the seconds that it has to wait: 0 lets it go on to the password."""
    if seen is None or _is_over(seen, at):
        return Failures(at, 1, at), 0
    counted = Failures(seen.window_started_at, seen.failures + 1, at)
    if familiar or at >= seen.last_failed_at + timedelta(seconds=_wait_after(seen.failures)):
        return counted, 0
    return counted, _wait_after(counted.failures)


def _wait_after(failures: int) -> int:
    doublings = failures - FREE_FAILURES
    return 0 if doublings < 0 else min(_LONGEST_WAIT, _FIRST_WAIT << min(doublings, 10))


def _is_over(seen: Failures, at: datetime) -> bool:
    """Below ten failures the window counts from its start, then from the last try. A clock set back ends it too."""
    since = seen.window_started_at if seen.failures < FREE_FAILURES else seen.last_failed_at
    return abs(at - since) >= WINDOW


def sign_token(vault: Vault, token: str) -> str:
    """The cookie's value for a session's token."""
    return f"{token}.{vault.sign('session', token.encode())}"


def open_token(vault: Vault, value: str) -> str | None:
    """The token in a cookie's value, None where we did not sign it."""
    token, _, signature = value.rpartition(".")
    return token if vault.verify("session", token.encode("utf-8", "replace"), signature) else None


def set_cookie(value: str, lifetime: timedelta) -> str:
    """Set-Cookie for a session; `lifetime` 0 clears it."""
    seconds = math.ceil(lifetime.total_seconds())
    return f"{COOKIE}={value}; Max-Age={seconds}; Path=/; HttpOnly; Secure; SameSite=Strict"


def clear_cookie() -> str:
    """Set-Cookie that takes the session's cookie away."""
    return set_cookie("", timedelta(0))
