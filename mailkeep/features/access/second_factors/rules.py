"""Limits on failed attempts, states of an authenticator, and the form of recovery codes."""

from __future__ import annotations

import hashlib
import math
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.errors import Conflict
from mailkeep.features.access.second_factors.model import SETUP_LIFETIME, Failures, TotpFactor

WINDOW = timedelta(minutes=15)
FREE_FAILURES = 10
KNOWN_FAILURES = 50
_FIRST_WAIT = 15
_LONGEST_WAIT = 900


def count_attempt(seen: Failures | None, at: datetime, *, known: bool) -> tuple[Failures, int]:
    """The failures including this attempt, and the seconds it must wait; 0 allows it."""
    if seen is None or _is_over(seen, at):
        return Failures(at, 1, at), 0
    counted = Failures(seen.window_started_at, seen.failures + 1, at)
    if known or at >= seen.last_failed_at + timedelta(seconds=_wait_after(seen.failures)):
        return counted, 0
    return counted, _wait_after(counted.failures)


def count_known_attempt(seen: Failures | None, at: datetime) -> tuple[Failures, int]:
    """`count_attempt` for known sources: at most 50 failures in any 15 minutes.

    They are counted until 15 minutes pass without one: fixed windows would allow twice as many around a boundary.
    """
    if seen is None or abs(at - seen.last_failed_at) >= WINDOW:
        return Failures(at, 1, at), 0
    if seen.failures >= KNOWN_FAILURES:
        return seen, math.ceil((seen.last_failed_at + WINDOW - at).total_seconds())
    return Failures(seen.window_started_at, seen.failures + 1, at), 0


def _wait_after(failures: int) -> int:
    doublings = failures - FREE_FAILURES
    return 0 if doublings < 0 else min(_LONGEST_WAIT, _FIRST_WAIT << min(doublings, 10))


def _is_over(seen: Failures, at: datetime) -> bool:
    """Below ten failures the window counts from its start, then from the last attempt. Setting the clock back ends it
    too.
    """
    since = seen.window_started_at if seen.failures < FREE_FAILURES else seen.last_failed_at
    return abs(at - since) >= WINDOW


def refuse_if_enabled(factor: TotpFactor | None) -> None:
    """CONFLICT `totp_enabled` where the account's authenticator is enabled already."""
    if factor is not None and factor.enabled_at is not None:
        raise Conflict("The second factor is enabled already.", reason="totp_enabled")


def require_pending(factor: TotpFactor | None, at: datetime) -> TotpFactor:
    """The setup that waits for its first code; CONFLICT `totp_enabled`, or `no_setup` if there is none or it has
    expired.
    """
    refuse_if_enabled(factor)
    if factor is None or at >= factor.created_at + SETUP_LIFETIME:
        raise Conflict("No setup is waiting for a code: start one first.", reason="no_setup")
    return factor


def require_enabled(factor: TotpFactor | None) -> TotpFactor:
    """The enabled authenticator; CONFLICT `totp_off` if there is none."""
    if factor is None or factor.enabled_at is None:
        raise Conflict("No second factor is enabled.", reason="totp_off")
    return factor


def hash_recovery_code(admin_id: UUID, code: str) -> bytes:
    """The stored hash of a recovery code, however it was typed. 80 random bits need no slow hash."""
    typed = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(admin_id.bytes + typed.encode("utf-8", "surrogatepass")).digest()
