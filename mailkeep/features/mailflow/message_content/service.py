"""Open and parse the contents of messages."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import IO
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import NotFound
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.message_content import rules, wire
from mailkeep.features.mailflow.message_content.model import ReadableMessage
from mailkeep.features.mailflow.sending import stored_request
from mailkeep.features.mailflow.sending.schedule import compose_scheduled
from mailkeep.features.record.history import service as history
from mailkeep.features.record.history.model import MessageContent
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Message
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import AttachedFile, ParsedMessage

MessageContentResponse = wire.MessageContentResponse
to_content, to_html = wire.to_content, wire.to_html
html_response, attachment_response = wire.html_response, wire.attachment_response
"""Responses, for the features whose endpoints show messages."""

_CHUNK = 256 << 10
_WAITING = ("scheduled", "submitting")


async def open_content(app: App, who: Principal, message_id: UUID, part: str) -> MessageContent:
    """The content of a message, to read a part of it; that of a scheduled one as it will be sent.

    NOT_FOUND (also with the reasons of `history.open_content`), FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    async with app.db.autocommit() as conn:
        message = await messages.find(conn, message_id)
        is_waiting = message is not None and message.scheduled_at is not None and message.status in _WAITING
        waiting = await history.get(conn, who, message_id) if is_waiting else None
    if waiting is not None:
        async with app.cpu_limit:
            content = await _open_scheduled(app, waiting)
        if content is not None:
            return content
    return await history.open_content(app, who, message_id, part)


async def _open_scheduled(app: App, message: Message) -> MessageContent | None:
    """The content of a scheduled message, in a temporary file; None if it has been sent meanwhile."""
    async with app.db.autocommit() as conn:
        contents = await scheduled.read_contents(conn, app.vault, [message.id])
    sealed = contents.get(message.id)
    return await asyncio.to_thread(_compose, app, message, sealed) if sealed is not None else None


def _compose(app: App, message: Message, content: bytes) -> MessageContent:
    composed = compose_scheduled(message, stored_request.unpack(content))
    file = tempfile.TemporaryFile(dir=app.data_dir / "tmp")  # noqa: SIM115 - the caller reads and closes it
    try:
        file.writelines(composed.chunks())
        return MessageContent(message.id, file.tell(), file)
    except BaseException:
        file.close()
        raise


@asynccontextmanager
async def parse(app: App, content: MessageContent) -> AsyncGenerator[ReadableMessage]:
    """Parse a message; large results are kept only until the block ends. Closes the content."""
    with content.file as file:
        head = parse_head(await asyncio.to_thread(_first_bytes, file))
        async with AsyncExitStack() as stack:
            try:
                parsing = app.parser.parse_and_hold(lambda: _chunks(file), content.size)
                parsed: ParsedMessage | UnparsableMessage = await stack.enter_async_context(parsing)
            except UnparsableMessage as error:
                parsed = error
            yield ReadableMessage(content.message_id, head, parsed)


async def open_attachment(app: App, content: MessageContent, number: str) -> tuple[AttachedFile, AsyncIterator[bytes]]:
    """An attachment of a message by its number (from 1) in the path, and its content in chunks. Closes the content.

    NOT_FOUND if there is none, its encoding is invalid, or the message can't be parsed.
    """
    with content.file as file:
        index = rules.attachment_index(number)
        if index is None:
            raise NotFound
        try:
            attached_file = await app.parser.attachment(lambda: _chunks(file), index)
        except UnparsableMessage as error:
            raise NotFound(f"The message can't be parsed: {error}.", reason="not_parsed") from None
    if attached_file is None:
        raise NotFound
    return attached_file, _read_chunks(attached_file.file)


def _first_bytes(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(MAX_HEAD)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


async def _read_chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    """Read one chunk at a time: the file of a slow client must not be in memory as a whole."""
    with file:
        while chunk := await asyncio.to_thread(file.read, _CHUNK):
            yield chunk
