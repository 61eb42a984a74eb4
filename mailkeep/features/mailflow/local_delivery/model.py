"""A message that Postfix delivers to Dovecot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailkeep.features.mailflow.receiving.model import InboundMail, SpamVerdict, TargetMailbox
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage
from mailkeep.mail.smtp.reply import SmtpReply

DELIVERY_FIELD = "X-Mailkeep-Delivery"
"""The header field with the ID of a delivery (see the package's docstring)."""


@dataclass(frozen=True, slots=True)
class LmtpRecipient:
    """A recipient of an LMTP transaction: the mailbox's address, with any tag, and the original recipient (ORCPT)."""

    address: str
    original: str


@dataclass(frozen=True, slots=True)
class LocalMailbox:
    """The mailbox of a recipient; `recorded`: the history already has the message for this mailbox."""

    target: TargetMailbox
    domain_active: bool
    recorded: bool


@dataclass(frozen=True, slots=True)
class LmtpDelivery:
    """A message with the original recipients that lead to each mailbox and Dovecot's reply for it, by mailbox ID.

    `auth`: the authentication results of the sender, by method; `parsed`: None if no webhook needs the content.
    """

    mail: InboundMail
    verdict: SpamVerdict | None
    auth: Mapping[str, str]
    targets: Mapping[UUID, TargetMailbox]
    recipients: Mapping[UUID, Sequence[str]]
    replies: Mapping[UUID, SmtpReply]
    parsed: ParsedMessage | UnparsableMessage | None
