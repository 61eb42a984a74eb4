"""The listener that Rspamd asks, on loopback, with X-Token: drawn at every start of the instance.

`GET /keys/DOMAIN`: all active DKIM keys of a domain, opened, for each message anew. They are opened in memory and lie
nowhere unsealed. A domain without active keys is 404 and a database that is away 503: what is not signed is put off by
the filter.

`GET /homes/ADDRESS` (percent-encoded): whether mail for a recipient comes to a mailbox of ours, 200, or leads outside
alone, 404. Asked for spam only, which is refused where no recipient has one.
"""

from __future__ import annotations

import asyncio
import hmac
from base64 import b64encode
from urllib.parse import unquote

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.dkim import service as dkim
from mailkeep.features.routing import service as routing
from mailkeep.mail.dkim import SigningKey
from mailkeep.run.process import Process

log = structlog.get_logger("mailkeep.keys")

TOKEN_FILE = "keys-token"
_HEAD_BYTES = 8192
_IDLE_SECONDS = 300.0
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 503: "Service Unavailable"}


async def serve(app: App, process: Process) -> None:
    """Answer until told to end."""
    token = (process.places.run / TOKEN_FILE).read_text("ascii").strip()
    server = await asyncio.start_server(Listener(app, token).converse, sock=process.sockets["keys"], limit=_HEAD_BYTES)
    async with server:
        process.ready()
        await process.ended.wait()


class Listener:
    """Answers one connection after the other request of it."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._token = token

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The requests of one connection, until it closes or says what is none."""
        try:
            while True:
                async with asyncio.timeout(_IDLE_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                status, body = await self.answer(head)
                writer.write(_response(status, body))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head: bytes) -> tuple[int, bytes]:
        """Status and body for a request's head."""
        request, *fields = head.decode("latin-1").split("\r\n")
        given = next((line.partition(":")[2].strip() for line in fields if line.lower().startswith("x-token:")), "")
        if not hmac.compare_digest(given.encode("latin-1"), self._token.encode()):
            return 403, b"{}"
        words = request.split(" ")
        _, table, asked = words[1].split("/", 2) if len(words) == 3 and words[1].count("/") >= 2 else ("", "", "")
        if words[0] != "GET" or table not in ("keys", "homes"):
            return 400, b"{}"
        try:
            return await (self._keys(asked.lower()) if table == "keys" else self._home(unquote(asked)))
        except Unavailable:
            return 503, b"{}"

    async def _keys(self, domain: str) -> tuple[int, bytes]:
        try:
            async with self._app.db.autocommit() as conn:
                keys = await dkim.active_keys(conn, self._app.vault, domain)
        except RuntimeError as error:
            log.error("a key can't be used; mail of its domain is put off", domain=domain, reason=str(error))
            return 503, b"{}"
        if not keys:
            return 404, b"{}"
        return 200, msgspec.json.encode({"keys": [_told(key) for key in keys]})

    async def _home(self, recipient: str) -> tuple[int, bytes]:
        if "\0" in recipient:
            return 400, b"{}"
        async with self._app.db.autocommit() as conn:
            found = await routing.route(conn, recipient)
        return (200 if any(place.mailbox_id for place in found.deliveries) else 404), b"{}"


def _told(key: SigningKey) -> dict[str, str]:
    if key.algorithm != "ed25519":
        return {"selector": key.selector, "algorithm": "rsa", "key": key.private_pem.decode()}
    private = load_pem_private_key(key.private_pem, None)
    assert isinstance(private, Ed25519PrivateKey)
    # Rspamd takes a seed of 32 bytes for Ed25519, and PEM for RSA alone.
    return {
        "selector": key.selector,
        "algorithm": "ed25519",
        "key": b64encode(private.private_bytes_raw()).decode(),
    }


def _response(status: int, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: keep-alive\r\n\r\n"
    )
    return head.encode() + body
