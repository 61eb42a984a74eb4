"""Limits on failed attempts, states of an authenticator, and the form of recovery codes."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.errors import Conflict
from mailkeep.features.access.second_factors.model import SETUP_LIFETIME, Failures, TotpFactor

WINDOW = timedelta(minutes=15)
FREE_FAILURES = 10
_FIRST_WAIT = 15
_LONGEST_WAIT = 900


def count_attempt(previous: Failures | None, at: datetime) -> tuple[Failures, int]:
    """The failures including this attempt, and the seconds it must wait; 0 allows it."""
    if previous is None or _is_over(previous, at):
        return Failures(at, 1, at), 0
    counted = Failures(previous.window_started_at, previous.failures + 1, at)
    if at >= previous.last_failed_at + timedelta(seconds=_wait_after(previous.failures)):
        return counted, 0
    return counted, _wait_after(counted.failures)


def _wait_after(failures: int) -> int:
    """Seconds to wait after this number of failures."""
    doublings = failures - FREE_FAILURES
    return 0 if doublings < 0 else min(_LONGEST_WAIT, _FIRST_WAIT << min(doublings, 10))


def _is_over(previous: Failures, at: datetime) -> bool:
    """Whether the window has ended. Below ten failures it begins with the first, from then on with the last attempt. It
    also ends if the clock is set back by as much.
    """
    since = previous.window_started_at if previous.failures < FREE_FAILURES else previous.last_failed_at
    return abs(at - since) >= WINDOW


def refuse_if_enabled(factor: TotpFactor | None) -> None:
    """CONFLICT `totp_enabled` if the account's authenticator is already enabled."""
    if factor is not None and factor.enabled_at is not None:
        raise Conflict("Your authenticator is already enabled. To replace it, disable it first.", reason="totp_enabled")


def require_pending(factor: TotpFactor | None, at: datetime) -> TotpFactor:
    """The authenticator that waits for its first code. CONFLICT `totp_enabled`; `no_setup` if there is none or its
    setup has expired.
    """
    refuse_if_enabled(factor)
    if factor is None or at >= factor.created_at + SETUP_LIFETIME:
        raise Conflict(
            "You have not begun to set up an authenticator, or not within the last 10 minutes: begin again.",
            reason="no_setup",
        )
    return factor


def require_enabled(factor: TotpFactor | None) -> TotpFactor:
    """The enabled authenticator; CONFLICT `totp_off` if there is none."""
    if factor is None or factor.enabled_at is None:
        raise Conflict("No authenticator is enabled for your account.", reason="totp_off")
    return factor


def hash_recovery_code(account_id: UUID, code: str) -> bytes:
    """The stored hash of a recovery code, ignoring spaces, hyphens and case. 80 random bits need no slow hash."""
    normalized = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(account_id.bytes + normalized.encode("utf-8", "surrogatepass")).digest()
