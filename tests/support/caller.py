"""Calls an ASGI application in the test process, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Scope


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response."""

    status: int
    headers: Headers
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str | None:
        error = self.json["error"]
        return error and error["code"]

    @property
    def data(self) -> Any:
        return self.json["data"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Sends requests from the address `client`.

    The `pieces` of a body are sent one by one, each after `pause` seconds; chunked unless content-length is set.
    """

    app: ASGIApp
    client: str = "192.0.2.1"
    scheme: str = "http"

    async def __call__(
        self,
        method: str,
        target: str,
        headers: dict[str, str] | None = None,
        pieces: Iterable[bytes] = (),
        pause: float = 0,
    ) -> Answer:
        all_headers = dict(headers or {})
        if pieces != () and "content-length" not in all_headers:
            all_headers["transfer-encoding"] = "chunked"
        scope = self.scope(method, target, all_headers)
        remaining = iter(pieces)
        received: list[Message] = []

        async def receive() -> Message:
            await asyncio.sleep(pause)
            piece = next(remaining, None)
            return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

        async def send(message: Message) -> None:
            received.append(message)

        await asyncio.wait_for(self.app(scope, receive, send), 60)
        body = b"".join(message.get("body", b"") for message in received[1:])
        return Answer(received[0]["status"], Headers(raw=received[0]["headers"]), body)

    def scope(self, method: str, target: str, headers: dict[str, str]) -> Scope:
        """The ASGI connection scope of the request."""
        path, _, query = target.partition("?")
        all_headers = {"host": "mail.example.test"} | headers
        return {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": self.scheme,
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in all_headers.items()],
            "client": (self.client, 50000),
            "server": ("127.0.0.1", 8080),
        }

    async def post(self, target: str, value: Any, headers: dict[str, str] | None = None) -> Answer:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        all_headers = {"content-type": "application/json", "content-length": str(len(body))} | (headers or {})
        return await self("POST", target, all_headers, [body])
