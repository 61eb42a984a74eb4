"""A message at the end of its data, and what is stored about one that is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct, field

from mailkeep.features.mailflow.filtering.model import DecidedBy, Decision, Subject


class FilteredMail(Struct, frozen=True):
    """What Rspamd says about a message (`rspamd/lua/verdict.lua`).

    `auth`: the results as in the field X-Rspamd-Auth. `author`, `possible_authors`: see `Facts`; `from_` is only for
    the history. `recipients` are separated by LF, `symbols` and `possible_authors` by spaces. `refused_by`: the rule or
    the module of Rspamd that refuses the message; `junk_rule`: the rule that wants it in Junk.
    """

    queue_id: str
    score: str
    auth: str
    author: str
    mail_from: str
    client: str
    recipients: str
    symbols: str = ""
    possible_authors: str = ""
    from_: str = field(name="from", default="")
    subject: str = ""
    message_id: str = ""
    size: int = 0
    refused_by: str = ""
    junk_rule: str = ""


@dataclass(frozen=True, slots=True)
class Destinations:
    """Where a recipient leads: its mailboxes, and the domain of its external copies (`has_external`)."""

    mailboxes: Sequence[Subject]
    has_external: bool
    forwarding: Subject

    @property
    def subjects(self) -> list[Subject]:
        """Those whose policies decide; empty if the message is not for a mailbox and not forwarded (reports)."""
        return [*self.mailboxes, self.forwarding] if self.has_external else list(self.mailboxes)

    @property
    def mailbox_id(self) -> UUID | None:
        """The only mailbox, if nothing else is a destination."""
        return self.mailboxes[0].mailbox_id if len(self.mailboxes) == 1 and not self.has_external else None


@dataclass(frozen=True, slots=True)
class RecipientDecisions:
    """The decision for each destination of a recipient. `junk` for an external copy is `refuse` here."""

    address: str
    mailbox_id: UUID | None
    decisions: Sequence[Decision]


@dataclass(frozen=True, slots=True)
class MailVerdict:
    """The reply at the end of DATA; `is_diverted`: the LMTP agent must see all copies."""

    reply: Literal["accept", "refuse", "defer"]
    is_diverted: bool
    recipients: Sequence[RecipientDecisions]


class RefusedRecipient(Struct, frozen=True):
    """A recipient of a refused message. `mailbox_id`: the only mailbox that it leads to, if it leads to one."""

    address: str
    mailbox_id: UUID | None
    decided_by: DecidedBy | None


class RefusedMail(Struct, frozen=True):
    """A message that was refused at the end of its data."""

    queue_id: str
    client: str
    mail_from: str
    from_address: str
    subject: str
    message_id: str
    size: int
    score: float
    symbols: list[str]
    auth: Mapping[str, str]
    recipients: list[RefusedRecipient]
    refused_at: datetime
