"""Which recipients a report is about, and what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from mailkeep.core.address import AddressError, parse_address
from mailkeep.features.record.messages.model import Message, Recipient, ServerReply
from mailkeep.mail.message.report import ReportedRecipient

_SMTP_REPLY = re.compile(r"([245]\d\d)[ -](?:([245]\.\d{1,3}\.\d{1,3})[ -])?")
_STATUS = re.compile(r"[245]\.\d{1,3}\.\d{1,3}")
_ROLES = frozenset({"mailer-daemon", "postmaster", "abuse"})
COMPLAINABLE = frozenset({"delivered", "relayed", "bounced"})
"""Statuses of recipients whose server has taken or returned the message."""


def address_key(text: str) -> str | None:
    """The key of an address in a report; None if it is none."""
    try:
        return parse_address(text).key
    except AddressError:
        return None


def recipient_keys(recipients: Sequence[Recipient]) -> list[str]:
    """The keys of the recipients to whom the message was submitted, for the signature of its bounce address."""
    return [key for each in recipients if each.suppression is None and (key := address_key(each.address))]


def sent_at(message: Message) -> datetime:
    """When a message was submitted: of a scheduled one, when it was due."""
    return message.submitted_at or message.created_at


def speaks_for(author: str, recipient: Recipient) -> bool:
    """Whether the author of a report answers for the server of a recipient: a role address (RFC 2142) of the
    recipient's domain, of one above or below it, or of the domain of the server that took the message.

    `author`: the From address of the report if it passed DMARC, else empty.
    """
    role, _, domain = author.lower().rpartition("@")
    if role not in _ROLES:
        return False
    own = recipient.address.rpartition("@")[2].lower()
    server = (recipient.reply.remote_host or "").lower().rstrip(".")
    return _is_within(own, domain) or _is_within(domain, own) or _is_within(server, domain)


def _is_within(name: str, domain: str) -> bool:
    return name == domain or name.endswith(f".{domain}")


def find_bounced(reported: ReportedRecipient, recipients: Sequence[Recipient], author: str) -> Recipient | None:
    """The recipient that a notification by `author` is about; None if it is about none, or its author proves nothing
    about it.
    """
    if len(recipients) == 1:
        return recipients[0]
    named = (each for each in recipients if names_recipient(reported, each))
    return next((each for each in named if speaks_for(author, each)), None)


def names_recipient(reported: ReportedRecipient, recipient: Recipient) -> bool:
    """Whether a notification names the recipient, not an address to which its server forwards."""
    return address_key(recipient.address) in {address_key(reported.original), address_key(reported.final)}


def find_complaining(reported: Sequence[str], recipients: Sequence[Recipient], author: str) -> list[Recipient]:
    """The recipients who complained: those that the report by `author` names, or the only one if it names none."""
    names = {address_key(each) for each in reported}
    named = [each for each in recipients if address_key(each.address) in names]
    if len(recipients) == 1:
        return named if reported else list(recipients)
    return [each for each in named if speaks_for(author, each)]


def server_reply(reported: ReportedRecipient) -> ServerReply:
    """The reply of the server that returned the message."""
    match = _SMTP_REPLY.match(reported.diagnostic)
    status = reported.status if _STATUS.fullmatch(reported.status) else (match[2] if match else None)
    return ServerReply(
        int(match[1]) if match else None,
        status,
        reported.diagnostic or None,
        reported.remote_mta.partition(" ")[0] or None,
    )
