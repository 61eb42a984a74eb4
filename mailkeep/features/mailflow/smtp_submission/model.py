"""A message that a client submits to the listener."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.mail.smtp.spool import ReceivedMessage


@dataclass(frozen=True, slots=True)
class SubmittedMail:
    """A message as received. `trace`: the Received field for it."""

    key_id: UUID
    client: str
    mail_from: str
    recipients: Sequence[str]
    content: ReceivedMessage
    trace: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of an Idempotency-Key by the message with this ID in the history."""

    message_id: UUID
    digest: bytes
    claimed_at: datetime
