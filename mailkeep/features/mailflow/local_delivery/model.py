"""A message on its way from Postfix to Dovecot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailkeep.features.mailflow.receiving.model import InboundMail, SpamVerdict, TargetMailbox
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage
from mailkeep.mail.smtp.reply import SmtpReply

DELIVERY_FIELD = "X-Mailkeep-Delivery"


@dataclass(frozen=True, slots=True)
class LmtpRecipient:
    """A recipient as Postfix brings it: the mailbox's address, with any tag, and the one that was asked for."""

    address: str
    original: str


@dataclass(frozen=True, slots=True)
class LocalMailbox:
    """Where a recipient's mail goes: a mailbox; `filed` says that it has this message, by the history."""

    home: TargetMailbox
    domain_active: bool
    filed: bool


@dataclass(frozen=True, slots=True)
class LmtpDelivery:
    """A message that Dovecot has judged: for each mailbox the recipients that led there, and Dovecot's word.

    `auth` is what the sender's authentication came to, by method.
    """

    mail: InboundMail
    verdict: SpamVerdict | None
    auth: Mapping[str, str]
    homes: Mapping[UUID, TargetMailbox]
    recipients: Mapping[UUID, Sequence[str]]
    replies: Mapping[UUID, SmtpReply]
    parsed: ParsedMessage | UnparsableMessage | None
