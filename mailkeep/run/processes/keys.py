"""The process `keys`: answers Rspamd on a Unix socket that only Rspamd and root can connect to.

A request is a line with a path, percent-encoded, or of JSON. The answer is a line with a status (as in HTTP) and JSON.

`/keys/DOMAIN`, for mail by the API: all active DKIM keys of the domain. They are decrypted in memory for each message
and never stored decrypted. 404 without active keys, 503 without the database: Rspamd then defers the message. The
server's host name has no keys unless it is a managed domain: its mail, from local programs, is not signed.

`/keys/ADDRESS/LOGIN`, for mail that a login submits with this single address in From: the keys of its domain, or 403
with the text of the refusal (`refused`) if the login is not allowed to send as this address. For an API key (`key:ID`)
the rules of `mailflow/key_senders` decide.

`/seals/DOMAIN/COUNT`, for mail that the domain forwards: the key to seal it (ARC, `mailflow/arc`), or an empty object:
it leaves without a seal. COUNT messages have left without one since the last answer. 503 without the database.

`/verdict/JSON`, at the end of an incoming message: what the filter found (`mailflow/verdicts`). The answer has
`action` (`reject` or `soft reject`, as in Rspamd) and its `text` if the message is not accepted, and `spam` if the LMTP
agent must see all copies. 503 without the database.

`/ping/`: 200. The process `node` checks with it that the filter gets answers.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from urllib.parse import unquote
from uuid import UUID

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mailkeep.app import App
from mailkeep.core.address import Address, AddressError, normalize_domain, parse_address
from mailkeep.core.errors import Refusal, Unavailable
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.arc.service import Sealing
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.key_senders import service as key_senders
from mailkeep.features.mailflow.key_senders.rules import KEY_ENDED
from mailkeep.features.mailflow.receiving.rules import REFUSED
from mailkeep.features.mailflow.verdicts import service as verdicts
from mailkeep.features.mailflow.verdicts.model import FilteredMail
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.message import srs
from mailkeep.mail.message.dkim import SigningKey
from mailkeep.mail.postfix.submission_login import parse_key_login, parse_login
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.keys")

_LINE_BYTES = 2 << 20
"""A message has up to 1,000 recipients of up to 320 octets, each of which JSON may write as six."""
_IDLE_SECONDS = 300.0
_NOT_ALLOWED = "You may not send as this address"
_SENDING_DISABLED = "Sending is disabled for this domain"


async def serve(app: App, process: Process) -> None:
    """Answer until asked to stop."""
    listening, hits = process.sockets["keys"], HitCounter(app)
    counting = asyncio.create_task(hits.run())
    server = await asyncio.start_unix_server(
        KeysListener(app, hits).handle_connection, sock=listening, limit=_LINE_BYTES
    )
    async with server:
        process.report_ready()
        await process.stop_requested.wait()
    await cancel_all(counting)


class KeysListener:
    """Answers the requests of each connection in order."""

    def __init__(self, app: App, hits: HitCounter) -> None:
        self._app, self._hits = app, hits
        self._sealing = Sealing(app)

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it closes, is idle for five minutes, or sends a line that is too long."""
        try:
            while True:
                async with asyncio.timeout(_IDLE_SECONDS):
                    line = await reader.readuntil(b"\n")
                status, body = await self.answer(line.decode("utf-8", "replace").rstrip("\r\n"))
                writer.write(b"%d %s\n" % (status, body))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path: str) -> tuple[int, bytes]:
        """Status and body for a path."""
        _, table, argument = path.split("/", 2) if path.count("/") >= 2 else ("", "", "")
        if table == "ping":
            return 200, b"{}"
        if table not in ("keys", "verdict", "seals"):
            return 400, b"{}"
        try:
            if table == "verdict":
                return await self._decide(argument)
            name, has_login, login = argument.partition("/")
            if table == "seals":
                return await self._find_seal(name, login)
            return await (self._find_keys_for_login(name, login) if has_login else self._find_keys(name))
        except Unavailable:
            return 503, b"{}"

    async def _find_keys_for_login(self, address: str, login: str) -> tuple[int, bytes]:
        try:
            sender = parse_address(unquote(address, errors="strict"))
            key_id = parse_key_login(unquote(login, errors="strict"))
            if key_id is not None:
                return await self._find_keys_for_api_key(sender, key_id)
            owner = parse_address(parse_login(unquote(login, errors="strict")).address)
        except (AddressError, UnicodeDecodeError):
            return _refusal(_NOT_ALLOWED)
        async with self._app.db.autocommit() as conn:
            if owner.key not in await routing.list_sender_logins(conn, sender):
                return _refusal(_NOT_ALLOWED)
            domain = await domains.find_by_name(conn, sender.domain)
        if domain is None or not domain.sending_enabled:
            return _refusal(_SENDING_DISABLED)
        return await self._find_keys(sender.domain)

    async def _find_keys_for_api_key(self, sender: Address, key_id: UUID) -> tuple[int, bytes]:
        try:
            who = await key_senders.find_caller(self._app, key_id, None)
            if who is None:
                return _refusal(KEY_ENDED.text)
            await key_senders.check_author(self._app, who, sender)
        except Unavailable:
            raise
        except Refusal as refusal:
            return _refusal(refusal.message)
        return await self._find_keys(sender.domain)

    async def _find_keys(self, name: str) -> tuple[int, bytes]:
        try:
            domain = normalize_domain(unquote(name))
        except AddressError:
            return 404, b"{}"
        try:
            async with self._app.db.autocommit() as conn:
                keys = await dkim.list_signing_keys(conn, self._app.vault, domain)
                is_managed = bool(keys) or await domains.find_by_name(conn, domain) is not None
        except RuntimeError as error:
            log.error("a key can't be used; mail of its domain is deferred", domain=domain, reason=str(error))
            return 503, b"{}"
        if keys:
            return 200, msgspec.json.encode({"domain": domain, "keys": [_key_json(key) for key in keys]})
        if not is_managed and domain == srs.rewriter(self._app.vault, self._app.settings).host.lower():
            return 200, msgspec.json.encode({"domain": domain, "keys": [], "unsigned": True})
        return 404, b"{}"

    async def _find_seal(self, name: str, count: str) -> tuple[int, bytes]:
        try:
            domain = normalize_domain(unquote(name))
        except AddressError:
            return 200, b"{}"
        key = await self._sealing.find_key(domain, int(count) if re.fullmatch("[0-9]{1,9}", count) else 0)
        return 200, msgspec.json.encode({"domain": domain, **_key_json(key)}) if key else b"{}"

    async def _decide(self, facts: str) -> tuple[int, bytes]:
        try:
            # The database can't store NUL.
            mail = msgspec.json.decode(facts.replace("\0", "?").replace("\\u0000", "?"), type=FilteredMail)
        except msgspec.MsgspecError as error:
            log.error("a message is accepted without a verdict: the filter's request is invalid", reason=str(error))
            return 400, b"{}"
        verdict = await verdicts.decide_at_end(self._app, self._hits, mail)
        answer: dict[str, object] = {"spam": verdict.is_diverted}
        if verdict.reply != "accept":
            is_refused = verdict.reply == "refuse"
            answer["action"] = "reject" if is_refused else "soft reject"
            answer["text"] = REFUSED.text if is_refused else verdicts.DEFERRED
        return 200, msgspec.json.encode(answer)


def _refusal(text: str) -> tuple[int, bytes]:
    return 403, msgspec.json.encode({"refused": text})


def _key_json(key: SigningKey) -> dict[str, str]:
    if key.algorithm != "ed25519":
        return {"selector": key.selector, "algorithm": "rsa", "key": key.private_pem.decode()}
    private = load_pem_private_key(key.private_pem, None)
    assert isinstance(private, Ed25519PrivateKey)
    # Rspamd accepts PEM only for RSA keys; it expects an Ed25519 key as its seed of 32 bytes.
    seed = b64encode(private.private_bytes_raw()).decode()
    return {"selector": key.selector, "algorithm": "ed25519", "key": seed}
