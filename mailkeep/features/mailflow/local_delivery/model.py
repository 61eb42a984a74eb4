"""A message that Postfix delivers to Dovecot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailkeep.features.mailflow.filtering.model import Facts, Policy, Rule
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
class FilterResult:
    """What Rspamd found about a message of another server. `rule`: why it is for Junk at least (`encrypted`).

    `is_diverted`: at the end of DATA, some copy was not for the inbox, or Mailkeep could not be asked: all copies come
    to the agent.
    """

    facts: Facts
    symbols: Sequence[str]
    rule: Rule | None
    is_diverted: bool


@dataclass(frozen=True, slots=True)
class LocalMailbox:
    """The mailbox of a recipient, with its filter policy; `recorded`: the history already has the message for it."""

    target: TargetMailbox
    domain_active: bool
    recorded: bool
    policy: Policy


@dataclass(frozen=True, slots=True)
class LmtpDelivery:
    """Copies of a message with the original recipients that lead to each mailbox and Dovecot's reply for it, by mailbox
    ID.

    `verdict`: the same for all copies; None if the message was not filtered (mail of this server). `auth`: the
    authentication results of the sender, by method; `parsed`: None if no webhook needs the content.
    """

    mail: InboundMail
    verdict: SpamVerdict | None
    auth: Mapping[str, str]
    targets: Mapping[UUID, TargetMailbox]
    recipients: Mapping[UUID, Sequence[str]]
    replies: Mapping[UUID, SmtpReply]
    parsed: ParsedMessage | UnparsableMessage | None
