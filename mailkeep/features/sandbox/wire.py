"""JSON of the sandbox."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.sandbox.model import Caught
from mailkeep.web.fields import Timestamp


class SandboxMessage(Struct, frozen=True):
    """A message that went nowhere, as it was submitted: envelope and size."""

    id: UUID
    queue_id: str
    mail_from: str
    rcpt_to: list[str]
    message_id: str
    size: int
    received_at: Timestamp


class Cleared(Struct, frozen=True):
    """How many messages were removed."""

    message: str
    removed: int


def caught(found: Caught) -> SandboxMessage:
    """A caught message as it is answered."""
    return SandboxMessage(
        id=found.id,
        queue_id=found.queue_id,
        mail_from=found.mail_from,
        rcpt_to=found.rcpt_to,
        message_id=found.message_id,
        size=found.size,
        received_at=iso(found.received_at),
    )
