"""HTTP and SMTP from the outside, on a connection for each call, distinguishing the faults that a ledger must know."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SECONDS = 30.0


class NeverAsked(Exception):
    """No connection: the server can't have done anything."""


class Cut(Exception):
    """The connection ended or timed out after the server may have started."""


@dataclass(frozen=True)
class CallResult:
    """A response; `body` is its JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def code(self) -> str:
        return (self.body.get("error") or {}).get("code", "")

    @property
    def details(self) -> Mapping[str, Any]:
        return (self.body.get("error") or {}).get("details") or {}


async def call(
    url: str, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
) -> CallResult:
    """One call. Raises NeverAsked or Cut."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    content = b"" if body is None else json.dumps(body).encode()
    fields = {"Host": host, "Connection": "close", "Content-Length": str(len(content))} | dict(headers or {})
    if body is not None:
        fields["Content-Type"] = "application/json"
    head = f"{method} /api/v1{path} HTTP/1.1\r\n" + "".join(f"{name}: {text}\r\n" for name, text in fields.items())
    reader, writer = await _connect(host, port)
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(head.encode() + b"\r\n" + content)
            return await _answer(reader)
    except (OSError, EOFError, TimeoutError) as error:
        raise Cut(repr(error)) from error
    finally:
        writer.transport.abort()


async def _answer(reader: asyncio.StreamReader) -> CallResult:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines[1:])}
    body = await reader.readexactly(int(headers["content-length"]))
    return CallResult(int(lines[0].split()[1]), headers, json.loads(body))


async def _connect(host: str, port: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(SECONDS):
            return await asyncio.open_connection(host, int(port))
    except (OSError, TimeoutError) as error:
        raise NeverAsked(repr(error)) from error


async def deliver(address: str, recipient: str, content: bytes) -> tuple[int, str]:
    """Deliver a message step by step; returns the last code and its step (greeting, …, `data` for the end).

    Raises NeverAsked where it was cut off before the content was sent, else Cut.
    """
    host, _, port = address.rpartition(":")
    reader, writer = await _connect(host, port)
    asked = False
    try:
        async with asyncio.timeout(SECONDS):
            code, step = await _reply(reader), "greeting"
            for name, line in (
                ("ehlo", "EHLO elsewhere.test"),
                ("mail", "MAIL FROM:<bob@elsewhere.test>"),
                ("rcpt", f"RCPT TO:<{recipient}>"),
                ("go ahead", "DATA"),
            ):
                if code >= 400:
                    return code, step
                writer.write(f"{line}\r\n".encode())
                code, step = await _reply(reader), name
            if code != 354:
                return code, step
            asked = True
            writer.write(content + b".\r\n")
            return await _reply(reader), "data"
    except (OSError, EOFError, TimeoutError) as error:
        raise (Cut if asked else NeverAsked)(repr(error)) from error
    finally:
        writer.transport.abort()


async def _reply(reader: asyncio.StreamReader) -> int:
    while True:
        line = await reader.readuntil(b"\r\n")
        if line[3:4] != b"-":
            return int(line[:3])
