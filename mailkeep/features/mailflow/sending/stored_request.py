"""A message to send as bytes, for as long as it is scheduled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from typing import Any, get_type_hints

import msgspec

from mailkeep.features.mailflow.sending.model import AttachmentInput, SendRequest

# MessagePack knows one type of bytes only, so the contents of attachments follow the other fields.
_HINTS = get_type_hints(SendRequest)
_FIELDS = [each for each in fields(SendRequest) if each.name != "attachments"]
_Attachment = tuple[str, str, str, bool, int]
_Stored = msgspec.defstruct(
    "_Stored",
    [
        ("attachments", list[_Attachment]),
        *((each.name, _HINTS[each.name]) for each in _FIELDS if each.default is each.default_factory is MISSING),
        *((each.name, _HINTS[each.name], each.default) for each in _FIELDS if each.default is not MISSING),
        *(
            (each.name, _HINTS[each.name], msgspec.field(default_factory=each.default_factory))
            for each in _FIELDS
            if each.default_factory is not MISSING
        ),
    ],
)
_LENGTH = 4  # bytes of the length of the fields


def pack(request: SendRequest) -> list[bytes | memoryview]:
    """The request in buffers, which are not copies of its attachments."""
    listed = [
        (each.filename, each.content_type, each.content_id, each.inline, len(each.content))
        for each in request.attachments
    ]
    stored: dict[str, Any] = {each.name: getattr(request, each.name) for each in _FIELDS}
    head = msgspec.msgpack.encode(stored | {"attachments": listed})
    return [len(head).to_bytes(_LENGTH, "big") + head, *(each.content for each in request.attachments)]


def unpack(content: bytes) -> SendRequest:
    """The request that `pack` wrote. Attachments are parts of `content`."""
    view = memoryview(content)
    start = _LENGTH + int.from_bytes(view[:_LENGTH], "big")
    stored: Any = msgspec.msgpack.decode(view[_LENGTH:start], type=_Stored)
    attachments: list[AttachmentInput] = []
    listed: Sequence[_Attachment] = stored.attachments
    for filename, content_type, content_id, inline, length in listed:
        attachments.append(AttachmentInput(filename, content_type, view[start : start + length], content_id, inline))
        start += length
    request = SendRequest(attachments=attachments, **{each.name: getattr(stored, each.name) for each in _FIELDS})
    return replace(request, scheduled_at=None)
