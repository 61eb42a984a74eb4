"""The listener that Rspamd asks: a Unix socket that Rspamd and root alone may connect to.

A question is a line with a path, the answer a line with a status (as in HTTP) and JSON.

`/keys/DOMAIN`, for mail by the API: all active DKIM keys of a domain, opened, for each message anew. They are
opened in memory and lie nowhere unsealed. A domain without active keys is 404 and a database that is away 503: what is
not signed is put off by the filter.

The host name of the server, where it is no managed domain, has no keys: mail of local programs from it is not signed.

`/keys/ADDRESS/LOGIN`, for mail that a login hands in with this one address in From: the keys of its domain, or 403
with the words of a refusal (`refused`) where the login may not send from it: nobody signs in another's name, whatever
the envelope says. What is asked about stands percent-encoded in the path.

`/homes/ADDRESS` (percent-encoded): whether mail for a recipient comes to a mailbox of ours, 200, or leads outside
alone, 404. Asked for spam only, which is refused where no recipient has one.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from urllib.parse import unquote

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mailkeep.app import App
from mailkeep.core.address import AddressError, normalize_domain, parse_address
from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.routing import service as routing
from mailkeep.mail.message import srs
from mailkeep.mail.message.dkim import SigningKey
from mailkeep.mail.postfix.submission_login import parse_login
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.keys")

_LINE_BYTES = 8192
_IDLE_SECONDS = 300.0
_NOT_YOURS = "You may not send as this address"
_DISABLED = "Sending is disabled for this domain"


async def serve(app: App, process: Process) -> None:
    """Answer until told to end."""
    listening = process.sockets["keys"]
    server = await asyncio.start_unix_server(KeysListener(app).handle_connection, sock=listening, limit=_LINE_BYTES)
    async with server:
        process.report_ready()
        await process.stop_requested.wait()


class KeysListener:
    """Answers one question after the other of each connection."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The questions of one connection, until it closes or a line is too long."""
        try:
            while True:
                async with asyncio.timeout(_IDLE_SECONDS):
                    line = await reader.readuntil(b"\n")
                status, body = await self.answer(line.decode("latin-1").rstrip("\r\n"))
                writer.write(b"%d %s\n" % (status, body))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path: str) -> tuple[int, bytes]:
        """Status and body for a path."""
        _, table, asked = path.split("/", 2) if path.count("/") >= 2 else ("", "", "")
        if table not in ("keys", "homes"):
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
            return _refusal(_NOT_YOURS)
        async with self._app.db.autocommit() as conn:
            if who.key not in await routing.list_sender_logins(conn, sender):
                return _refusal(_NOT_YOURS)
            domain = await domains.find_by_name(conn, sender.domain)
        if domain is None or not domain.sending_enabled:
            return _refusal(_DISABLED)
        return await self._keys(sender.domain)

    async def _keys(self, asked: str) -> tuple[int, bytes]:
        try:
            domain = normalize_domain(unquote(asked))
        except AddressError:
            return 404, b"{}"
        try:
            async with self._app.db.autocommit() as conn:
                keys = await dkim.list_signing_keys(conn, self._app.vault, domain)
                managed = bool(keys) or await domains.find_by_name(conn, domain) is not None
        except RuntimeError as error:
            log.error("a key can't be used; mail of its domain is put off", domain=domain, reason=str(error))
            return 503, b"{}"
        if not keys and domain == srs.rewriter(self._app.vault, self._app.settings).host.lower() and not managed:
            return 200, msgspec.json.encode({"domain": domain, "keys": [], "unsigned": True})
        if not keys:
            return 404, b"{}"
        return 200, msgspec.json.encode({"domain": domain, "keys": [_key_json(key) for key in keys]})

    async def _home(self, recipient: str) -> tuple[int, bytes]:
        if "\0" in recipient:
            return 400, b"{}"
        async with self._app.db.autocommit() as conn:
            found = await routing.route(conn, recipient)
        return (200 if any(place.mailbox_id for place in found.deliveries) else 404), b"{}"


def _refusal(words: str) -> tuple[int, bytes]:
    return 403, msgspec.json.encode({"refused": words})


def _key_json(key: SigningKey) -> dict[str, str]:
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
