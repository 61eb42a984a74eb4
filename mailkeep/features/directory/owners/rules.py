"""The period of the list of messages."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailkeep.core.clock import iso
from mailkeep.core.errors import invalid_field
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.owners.model import DEFAULT_PERIOD, LONGEST_PERIOD
from mailkeep.features.record.history.model import MailboxMail


def period_start(
    since: datetime | None, at: datetime, default: timedelta = DEFAULT_PERIOD, longest: timedelta = LONGEST_PERIOD
) -> datetime:
    """The start of a list of a mailbox's messages; INVALID_FIELD if `since` is too long ago."""
    if since is None:
        return at - default
    if since < at - longest:
        raise invalid_field("since", f"must be at most {longest.days} days ago (got {iso(since)})")
    return since


def mail_of(mailbox: Mailbox, since: datetime) -> MailboxMail:
    """The mail for a mailbox since a time. Another mailbox may have had its address before."""
    address_since = mailbox.address_since or mailbox.created_at
    return MailboxMail(mailbox.id, mailbox.address.key, mailbox.domain_id, since, address_since)
