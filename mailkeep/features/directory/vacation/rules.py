"""Validation of vacations, and warnings about those that send no replies."""

from __future__ import annotations

from datetime import datetime

from mailkeep.core.clock import iso
from mailkeep.core.errors import Unavailable, invalid_field
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.vacation.model import Vacation
from mailkeep.mail.sieve.config import MAX_SCRIPT_BYTES
from mailkeep.mail.sieve.vacation import write_vacation


def check_period(vacation: Vacation) -> None:
    """INVALID_FIELD if the vacation does not end after its start."""
    start_at, end_at = vacation.start_at, vacation.end_at
    if start_at and end_at and end_at <= start_at:
        raise invalid_field("end_at", "must be after start_at")


def check_profile(vacation: Vacation, *, is_full_profile: bool) -> None:
    """UNAVAILABLE `needs_full_profile` if replies are to be sent and Dovecot is not there."""
    if vacation.active and not is_full_profile:
        raise Unavailable(
            "Vacation replies are sent by Dovecot, in the full profile. Here only an inactive vacation can be stored.",
            reason="needs_full_profile",
        )


def write_script(vacation: Vacation) -> str:
    """The Sieve script that sends the replies. INVALID_FIELD if it is too large for Dovecot."""
    script = write_vacation(vacation.subject, vacation.text_body, vacation.html_body, vacation.days)
    if len(script.encode()) > MAX_SCRIPT_BYTES:
        field = "html" if vacation.html_body else "text"
        raise invalid_field(
            field, f"is too long: the reply must have at most {MAX_SCRIPT_BYTES >> 10} KiB when encoded"
        )
    return script


def list_warnings(mailbox: Mailbox, vacation: Vacation, at: datetime) -> list[str]:
    """Why an active vacation sends no replies."""
    if not vacation.active:
        return []
    warnings: list[str] = []
    if mailbox.forward.destinations and not mailbox.forward.keep_copy:
        warnings.append("The mailbox only forwards its mail: without a copy in the mailbox it sends no replies.")
    if vacation.end_at and vacation.end_at <= at:
        warnings.append(f"The vacation ended at {iso(vacation.end_at)}: it sends no replies.")
    return warnings
