"""The content of scheduled messages in sealed parts."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from uuid import UUID

from mailkeep.core.secret import Vault

_PART = 1 << 20
_PURPOSE = "scheduled"


def seal(vault: Vault, message_id: UUID, content: Sequence[bytes | memoryview]) -> list[bytes]:
    """The content (in buffers) in sealed parts. Each is bound to the message, its place, and the number of parts."""
    total = -(-sum(map(len, content)) // _PART)
    return [
        vault.seal(_PURPOSE, part, _place(message_id, number, total)) for number, part in enumerate(_split(content))
    ]


def _split(content: Sequence[bytes | memoryview]) -> Iterator[bytes]:
    """The same bytes in parts of `_PART` bytes; the last one may be shorter."""
    part = bytearray()
    for buffer in content:
        start = 0
        while start < len(buffer):
            taken = buffer[start : start + _PART - len(part)]
            part += taken
            start += len(taken)
            if len(part) == _PART:
                yield bytes(part)
                part.clear()
    if part:
        yield bytes(part)


def unseal(vault: Vault, message_id: UUID, sealed: Sequence[bytes]) -> bytes | None:
    """The content; None if a part is missing, altered, or sealed with another master secret."""
    parts = [vault.open(_PURPOSE, part, _place(message_id, number, len(sealed))) for number, part in enumerate(sealed)]
    return b"".join(part for part in parts if part is not None) if parts and None not in parts else None


def _place(message_id: UUID, number: int, total: int) -> bytes:
    return message_id.bytes + struct.pack(">II", number, total)
