"""A message that an API key submits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mailkeep.core.address import Address
from mailkeep.features.mailflow.sending.model import SenderDomain
from mailkeep.features.record.messages.model import HeaderSummary, Recipient
from mailkeep.mail.smtp.reply import SmtpReply


class SubmissionRefused(Exception):
    """A message is not accepted, with this reply."""

    def __init__(self, reply: SmtpReply) -> None:
        super().__init__(str(reply))
        self.reply = reply


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A message after the checks of its author and recipients. `recipients` are those to submit it to, `suppressed` the
    others, whose forms in RCPT are `removed`. `added`: header fields that the message lacks.
    """

    author: Address
    domain: SenderDomain
    header: HeaderSummary
    recipients: Sequence[str]
    suppressed: Sequence[Recipient]
    removed: Sequence[str]
    tags: Sequence[str]
    added: Sequence[tuple[str, str]]
