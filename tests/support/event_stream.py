"""A client of the event stream in the test process, like a browser's EventSource."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.types import Message

from tests.support.client import Client


@dataclass(frozen=True)
class StreamBlock:
    """A block of the stream; `data` is parsed JSON. `name` is "" without an event name."""

    name: str
    id: str | None
    data: Any


def parse(text: str) -> list[StreamBlock]:
    """The complete blocks of a stream, without comments."""
    blocks: list[StreamBlock] = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            data = json.loads(fields["data"]) if "data" in fields else None
            blocks.append(StreamBlock(fields.get("event", ""), fields.get("id"), data))
    return blocks


@dataclass
class EventStreamReader:
    """An open stream."""

    messages: list[Message] = field(default_factory=list[Message])
    received: asyncio.Condition = field(default_factory=asyncio.Condition)
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    is_closed: bool = False

    @property
    def status(self) -> int:
        return self.messages[0]["status"]

    @property
    def headers(self) -> Headers:
        return Headers(raw=self.messages[0]["headers"])

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.messages[1:]).decode()

    @property
    def blocks(self) -> list[StreamBlock]:
        return parse(self.text)

    @property
    def events(self) -> list[Any]:
        """The data of all mail events."""
        return [each.data for each in self.blocks if each.name.startswith("mail.")]

    @property
    def last_id(self) -> str:
        """The id with which a client reconnects."""
        return [each.id for each in self.blocks if each.id][-1] or ""

    @property
    def end(self) -> Any:
        """The data of `stream.end`, None before it."""
        return next((each.data for each in self.blocks if each.name == "stream.end"), None)

    async def until(self, count: int) -> list[Any]:
        """Wait until there are `count` events; return all."""
        await self._wait_for(lambda: len(self.events) >= count)
        return self.events

    async def until_closed(self) -> Any:
        """Wait for the end of the stream; returns the data of `stream.end`."""
        await self._wait_for(lambda: self.is_closed)
        return self.end

    async def _wait_for(self, condition: Any) -> None:
        async with self.received:
            try:
                await asyncio.wait_for(self.received.wait_for(condition), 60)
            except TimeoutError:
                raise AssertionError(f"not within 60 s: {self.text}") from None


@asynccontextmanager
async def open_stream(
    client: Client, headers: Mapping[str, str] | None = None, **query: Any
) -> AsyncIterator[EventStreamReader]:
    """An open stream; the client disconnects at the end of the block."""
    reader, is_requested = EventStreamReader(), asyncio.Event()
    all_headers = {"host": "mail.example.test", **client.headers, **(headers or {})}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/api/v1/events/stream",
        "raw_path": b"/api/v1/events/stream",
        "query_string": urlencode(query).encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in all_headers.items()],
        "client": (client.address, 50000),
        "server": ("127.0.0.1", 8080),
    }

    async def receive() -> Message:
        if not is_requested.is_set():
            is_requested.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        await reader.disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        async with reader.received:
            reader.messages.append(message)
            reader.received.notify_all()

    async def call() -> None:
        await client.app(scope, receive, send)
        async with reader.received:
            reader.is_closed = True
            reader.received.notify_all()

    task = asyncio.create_task(call())
    try:
        async with reader.received:
            await asyncio.wait_for(reader.received.wait_for(lambda: len(reader.messages) > 1), 60)
        yield reader
    finally:
        reader.disconnected.set()
        await asyncio.wait_for(task, 60)
