"""JSON of the sandbox."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.sandbox.model import SandboxMessage
from mailkeep.web.fields import Timestamp


class SandboxMessageResponse(Struct, frozen=True):
    """A message in the sandbox: envelope, subject and size."""

    id: UUID
    queue_id: str
    mail_from: str
    rcpt_to: list[str]
    message_id: str
    subject: str
    size: int
    received_at: Timestamp


class ClearResponse(Struct, frozen=True):
    """How many messages were removed."""

    message: str
    removed: int


def to_record(message: SandboxMessage, subject: str) -> SandboxMessageResponse:
    """The JSON of a message."""
    return SandboxMessageResponse(
        id=message.id,
        queue_id=message.queue_id,
        mail_from=message.mail_from,
        rcpt_to=message.rcpt_to,
        message_id=message.message_id,
        subject=subject,
        size=message.size,
        received_at=iso(message.received_at),
    )
