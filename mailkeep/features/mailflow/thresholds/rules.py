"""What may be set."""

from __future__ import annotations

from mailkeep.features.mailflow.thresholds.model import (
    OF_DOMAINS,
    OF_SENDERS,
    StoredThreshold,
    ThresholdBounds,
    ThresholdSubject,
)


def names(subject: ThresholdSubject | None) -> tuple[str, ...]:
    """The thresholds that a domain, a mailbox or (None) the settings have."""
    return OF_SENDERS if subject is not None and subject.mailbox_id else OF_DOMAINS


def fault(name: str, value: float, subject: ThresholdSubject, bounds: ThresholdBounds) -> str | None:
    """Why a value is invalid; None if it is valid."""
    if name not in names(subject):
        return "belongs to a domain, not to a mailbox"
    if not bounds.low <= value <= bounds.high:
        return f"must be between {bounds.low:.10g} and {bounds.high:.10g}"
    if bounds.highest is not None and value > bounds.highest:
        return f"must be at most {bounds.highest:.10g}, which an administrator of all domains has set"
    return None


def store_value(value: float | None, current: StoredThreshold | None, *, is_admin: bool) -> StoredThreshold | None:
    """The row after a change; None: no row. What a domain_admin unsets returns to the admin's value."""
    set_by_admin = current.highest if current else None
    if is_admin:
        return None if value is None else StoredThreshold(value, value)
    if value is None:
        return None if set_by_admin is None else StoredThreshold(set_by_admin, set_by_admin)
    return StoredThreshold(value, set_by_admin)
