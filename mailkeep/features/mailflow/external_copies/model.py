"""External copies of diverted messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mailkeep.features.mailflow.filtering.model import Facts, Policy
from mailkeep.features.mailflow.receiving.model import InboundMail, SpamVerdict
from mailkeep.mail.smtp.client import AcceptedSubmission
from mailkeep.mail.smtp.reply import SmtpReply

MARKER_FIELD = "X-Mailkeep-Copy"
"""The header field with the marker, which Postfix logs and removes."""

CopyState = Literal["returning", "returned", "refused"]
"""`returning`: an attempt has begun, and its outcome is not known. `refused`: spam, which is not forwarded."""

SubmitCopies = Callable[[UUID, Sequence[str]], Awaitable[AcceptedSubmission]]
"""Submits the message with this marker to Postfix, for these recipients. Raises as `SmtpPool.submit` does."""


@dataclass(frozen=True, slots=True)
class ExternalRecipient:
    """An external address, and the recipient (before aliases) that forwards to it."""

    address: str
    original: str


@dataclass(frozen=True, slots=True)
class ExternalCopy:
    """A copy as it is recorded; `domain_name`: the domain that forwards it (empty: none), or refuses to."""

    recipient: str
    original: str
    domain_name: str
    state: CopyState
    marker: UUID


@dataclass(frozen=True, slots=True)
class DivertedMail:
    """A message with external copies to decide about. `facts`: what is known about it; `judge`: what a policy decides.
    `submit`: returns copies to Postfix.
    """

    mail: InboundMail
    facts: Facts
    judge: Callable[[Policy], SpamVerdict]
    submit: SubmitCopies


@dataclass(slots=True)
class ExternalResult:
    """The replies for external recipients, and the list entries that decided."""

    replies: dict[ExternalRecipient, SmtpReply]
    entry_ids: set[UUID]
