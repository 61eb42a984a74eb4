"""A message as its reader sees it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from mailkeep.mail.message.header_fields import MessageHeader
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage


@dataclass(frozen=True, slots=True)
class ReadableMessage:
    """The header of a message, and its parsed parts or the reason why it can't be parsed."""

    id: UUID
    head: MessageHeader
    parsed: ParsedMessage | UnparsableMessage
