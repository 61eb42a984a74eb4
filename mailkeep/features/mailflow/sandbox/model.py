"""Messages of the sandbox and their recipients."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from mailkeep.core.ids import uuid7_time


@dataclass(frozen=True, slots=True)
class SandboxMessage:
    """A message that the sandbox accepted. `size` in bytes, with signatures."""

    id: UUID
    queue_id: str
    mail_from: str
    rcpt_to: list[str]
    message_id: str
    size: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class DueRecipient:
    """A recipient whose next delivery attempt is due; `attempts`: how many there have been."""

    message: SandboxMessage
    recipient: str
    attempts: int


def content_path(data_dir: Path, message_id: UUID) -> Path:
    """The file with the content of a message."""
    return data_dir / "sandbox" / f"{uuid7_time(message_id):%Y-%m-%d}" / f"{message_id}.eml"
