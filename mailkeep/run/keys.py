"""The listener that Rspamd asks, on loopback, with X-Token: drawn at every start of the instance.

`GET /keys/DOMAIN`, for mail by the API: all active DKIM keys of a domain, opened, for each message anew. They are
opened in memory and lie nowhere unsealed. A domain without active keys is 404 and a database that is away 503: what is
not signed is put off by the filter.

`GET /keys/ADDRESS/LOGIN`, for mail that a login hands in with this one address in From: the keys of its domain, or 403
with the words of a refusal (`refused`) where the login may not send from it: nobody signs in another's name, whatever
the envelope says. What is asked about stands percent-encoded in the path.

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
from mailkeep.core.address import AddressError, normalize_domain, parse_address
from mailkeep.core.errors import Unavailable
from mailkeep.features.dkim import service as dkim
from mailkeep.features.domains import service as domains
from mailkeep.features.routing import service as routing
from mailkeep.mail.dkim import SigningKey
from mailkeep.mail.submission_login import parse_login
from mailkeep.run.process import Process

log = structlog.get_logger("mailkeep.keys")

TOKEN_FILE = "keys-token"
_HEAD_BYTES = 8192
_IDLE_SECONDS = 300.0
_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    503: "Service Unavailable",
}
_NOT_YOURS = "You may not send as this address"
_DISABLED = "Sending is disabled for this domain"


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
            return 401, b"{}"  # 403 is for what is refused for good
        words = request.split(" ")
        _, table, asked = words[1].split("/", 2) if len(words) == 3 and words[1].count("/") >= 2 else ("", "", "")
        if words[0] != "GET" or table not in ("keys", "homes"):
            return 400, b"{}"
        try:
            if table == "homes":
                return await self._home(unquote(asked))
            about, by_login, login = asked.partition("/")
            return await (self._keys_for(about, login) if by_login else self._keys(about))
        except Unavailable:
            return 503, b"{}"

    async def _keys_for(self, address: str, login: str) -> tuple[int, bytes]:
        try:
            sender = parse_address(unquote(address, errors="strict"))
            who = parse_address(parse_login(unquote(login, errors="strict")).address)
        except (AddressError, UnicodeDecodeError):
            return _refused(_NOT_YOURS)
        async with self._app.db.autocommit() as conn:
            if who.key not in await routing.senders(conn, sender):
                return _refused(_NOT_YOURS)
            domain = await domains.find_by_name(conn, sender.domain)
        if domain is None or not domain.sending_enabled:
            return _refused(_DISABLED)
        return await self._keys(sender.domain)

    async def _keys(self, asked: str) -> tuple[int, bytes]:
        try:
            domain = normalize_domain(unquote(asked))
        except AddressError:
            return 404, b"{}"
        try:
            async with self._app.db.autocommit() as conn:
                keys = await dkim.active_keys(conn, self._app.vault, domain)
        except RuntimeError as error:
            log.error("a key can't be used; mail of its domain is put off", domain=domain, reason=str(error))
            return 503, b"{}"
        if not keys:
            return 404, b"{}"
        return 200, msgspec.json.encode({"domain": domain, "keys": [_told(key) for key in keys]})

    async def _home(self, recipient: str) -> tuple[int, bytes]:
        if "\0" in recipient:
            return 400, b"{}"
        async with self._app.db.autocommit() as conn:
            found = await routing.route(conn, recipient)
        return (200 if any(place.mailbox_id for place in found.deliveries) else 404), b"{}"


def _refused(words: str) -> tuple[int, bytes]:
    return 403, msgspec.json.encode({"refused": words})


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
