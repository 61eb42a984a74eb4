"""Which recipients a report is about, and what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mailkeep.core.address import AddressError, parse_address
from mailkeep.features.record.messages.model import Recipient, ServerReply
from mailkeep.mail.message.report import ReportedRecipient

_SMTP_REPLY = re.compile(r"([245]\d\d)[ -](?:([245]\.\d{1,3}\.\d{1,3})[ -])?")
_STATUS = re.compile(r"[245]\.\d{1,3}\.\d{1,3}")
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


def find_bounced(reported: ReportedRecipient, recipients: Sequence[Recipient]) -> tuple[Recipient, bool] | None:
    """The recipient that a notification is about, and whether it may be suppressed; None if it is about none."""
    names = {address_key(reported.original), address_key(reported.final)} - {None}
    found = next((each for each in recipients if address_key(each.address) in names), None)
    only = len(recipients) == 1
    if found is None:
        return (recipients[0], False) if only else None
    return found, only


def find_complaining(reported: Sequence[str], recipients: Sequence[Recipient]) -> list[Recipient]:
    """The recipients who complained: those that the report names, or the only one if it names none."""
    names = {address_key(each) for each in reported}
    named = [each for each in recipients if address_key(each.address) in names]
    return named or (list(recipients) if len(recipients) == 1 and not reported else [])


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
