"""Validation of app passwords."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from mailkeep.core.clock import iso
from mailkeep.core.errors import Conflict, invalid_field
from mailkeep.features.directory.app_passwords.model import MAX_APP_PASSWORDS, PROTOCOLS
from mailkeep.features.directory.mailboxes.model import Protocols


def parse_name(text: str) -> str:
    """A name without spaces around it; INVALID_FIELD if it is blank."""
    name = text.strip()
    if not name:
        raise invalid_field("name", "must not be blank")
    return name


def select_protocols(requested: tuple[str, ...] | None, allowed: Protocols) -> tuple[str, ...]:
    """The protocols of a new app password: the requested ones, or all that the mailbox allows.

    INVALID_FIELD if there are none, or if the mailbox does not allow one of them.
    """
    permitted = [name for name in PROTOCOLS if asdict(allowed)[name]]
    if not permitted:
        raise invalid_field("protocols", "the mailbox allows no protocol")
    if requested is None:
        return tuple(permitted)
    if not requested:
        raise invalid_field("protocols", f"must name at least one of {', '.join(permitted)}")
    for index, name in enumerate(requested):
        if name not in permitted:
            reason = f"the mailbox does not allow {name}; it allows {', '.join(permitted)}"
            raise invalid_field(f"protocols[{index}]", reason)
    return tuple(name for name in PROTOCOLS if name in requested)


def check_expiry(expires_at: datetime | None, at: datetime) -> None:
    """INVALID_FIELD if the time is not in the future."""
    if expires_at is not None and expires_at <= at:
        raise invalid_field("expires_at", f"must be in the future (got {iso(expires_at)})")


def refuse_over_limit(present: int) -> None:
    """CONFLICT `limit_reached` if the mailbox has the maximum number of app passwords."""
    if present >= MAX_APP_PASSWORDS:
        raise Conflict(
            f"A mailbox has at most {MAX_APP_PASSWORDS} app passwords: delete one first.",
            reason="limit_reached",
            limit=MAX_APP_PASSWORDS,
            present=present,
        )
