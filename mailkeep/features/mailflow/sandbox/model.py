"""What the sandbox holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from mailkeep.core.ids import uuid7_time
from mailkeep.mail.message.header_fields import MessageHeader
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage


@dataclass(frozen=True, slots=True)
class SandboxMessage:
    """A message that the sandbox took. `size` in bytes, signatures included."""

    id: UUID
    queue_id: str
    mail_from: str
    rcpt_to: list[str]
    message_id: str
    size: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class DueRecipient:
    """A recipient that is due for its next try; `attempts` counts the tries so far."""

    message: SandboxMessage
    recipient: str
    attempts: int


@dataclass(frozen=True, slots=True)
class SandboxContent:
    """What a caught message says: its header, and its parts, or why it can't be taken apart."""

    id: UUID
    head: MessageHeader
    parsed: ParsedMessage | UnparsableMessage


def content_path(data_dir: Path, caught_id: UUID) -> Path:
    """Where the content of a caught message lies."""
    return data_dir / "sandbox" / f"{uuid7_time(caught_id):%Y-%m-%d}" / f"{caught_id}.eml"
