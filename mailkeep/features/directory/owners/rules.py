"""The setup of mail clients, and the period of the list of messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from mailkeep.core.clock import iso
from mailkeep.core.errors import invalid_field
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.owners.model import DEFAULT_PERIOD, LONGEST_PERIOD, ClientSetup, MailService
from mailkeep.features.record.history.model import MailboxMail


def client_setup(mailbox: Mailbox, host: str, ports: Mapping[str, int]) -> ClientSetup:
    """The services of a host with these ports (0: disabled; names as in the settings) that the mailbox may use."""
    allowed = mailbox.protocols
    services = (
        (allowed.imap, MailService("imap", host, ports["imaps"], "tls")),
        (allowed.imap, MailService("imap", host, ports["imap"], "starttls")),
        (allowed.smtp, MailService("smtp", host, ports["submissions"], "tls")),
        (allowed.smtp, MailService("smtp", host, ports["submission"], "starttls")),
        (allowed.pop3, MailService("pop3", host, ports["pop3s"], "tls")),
        (allowed.pop3, MailService("pop3", host, ports["pop3"], "starttls")),
        (allowed.sieve, MailService("sieve", host, ports["sieve"], "starttls")),
    )
    return ClientSetup(
        address=str(mailbox.address),
        app_password_required=requires_app_password(mailbox),
        services=[service for is_allowed, service in services if is_allowed and service.port],
    )


def requires_app_password(mailbox: Mailbox) -> bool:
    """Whether mail clients need an app password."""
    own = mailbox.require_app_passwords
    return mailbox.second_factor or (mailbox.inherited_requirement.value if own is None else own)


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
