"""Somebody who follows a stream of events in the process, as a browser's EventSource does."""

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
class Said:
    """A block of a stream; `data` parsed. `name` is "" where it has no data."""

    name: str
    id: str | None
    data: Any


def parse(text: str) -> list[Said]:
    """The whole blocks of a stream, without its comments."""
    found: list[Said] = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            data = json.loads(fields["data"]) if "data" in fields else None
            found.append(Said(fields.get("event", ""), fields.get("id"), data))
    return found


@dataclass
class Follower:
    """A stream that is being read."""

    messages: list[Message] = field(default_factory=list[Message])
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False

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
    def said(self) -> list[Said]:
        return parse(self.text)

    @property
    def events(self) -> list[Any]:
        """The data of all events about mail."""
        return [each.data for each in self.said if each.name.startswith("mail.")]

    @property
    def last_id(self) -> str:
        """What a client comes back with."""
        return [each.id for each in self.said if each.id][-1] or ""

    @property
    def end(self) -> Any:
        """The data of `stream.end`, None while there is none."""
        return next((each.data for each in self.said if each.name == "stream.end"), None)

    async def until(self, count: int) -> list[Any]:
        """The events, once there are so many."""
        await self._when(lambda: len(self.events) >= count)
        return self.events

    async def until_over(self) -> Any:
        """What the end says."""
        await self._when(lambda: self.over)
        return self.end

    async def _when(self, condition: Any) -> None:
        async with self.news:
            try:
                await asyncio.wait_for(self.news.wait_for(condition), 60)
            except TimeoutError:
                raise AssertionError(f"not within 60 s: {self.text}") from None


@asynccontextmanager
async def following(client: Client, headers: Mapping[str, str] | None = None, **query: Any) -> AsyncIterator[Follower]:
    """A stream that was opened; the client goes away at the end of the block."""
    follower, asked = Follower(), asyncio.Event()
    sent = {"host": "mail.example.test", **client.headers, **(headers or {})}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/api/v1/events/stream",
        "raw_path": b"/api/v1/events/stream",
        "query_string": urlencode(query).encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "client": (client.address, 50000),
        "server": ("127.0.0.1", 8080),
    }

    async def receive() -> Message:
        if not asked.is_set():
            asked.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        await follower.gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        async with follower.news:
            follower.messages.append(message)
            follower.news.notify_all()

    async def call() -> None:
        await client.app(scope, receive, send)
        async with follower.news:
            follower.over = True
            follower.news.notify_all()

    calling = asyncio.create_task(call())
    try:
        async with follower.news:
            await asyncio.wait_for(follower.news.wait_for(lambda: len(follower.messages) > 1), 60)
        yield follower
    finally:
        follower.gone.set()
        await asyncio.wait_for(calling, 60)
