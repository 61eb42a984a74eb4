"""Forwards events to a program under development, signed and posted like webhooks (`mailkeep listen`).

A source yields events in order, from the data directory's own database or from another server's event stream with an
API key. Each event is posted once before the next is read. After a reconnect the stream continues where it broke off.
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any
from uuid import UUID

import aiohttp
import msgspec

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.webhooks import rules
from mailkeep.features.mailflow.webhooks.model import TIMEOUT_SECONDS, EventContent
from mailkeep.features.mailflow.webhooks.signature import headers
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import EventFilter, FeedStart
from mailkeep.features.record.events.service import StreamReader
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest
from mailkeep.net.connection import BoundedConnector

_FULL_KIND = "mail.received.full"
_ALL_NETWORKS = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
_SILENCE_SECONDS = 20.0  # a stream sends something every 5 seconds
_DECODE_ERRORS = (msgspec.DecodeError, ValueError)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
# Time for the head of the stream's answer, and for the whole answer to other calls.
_ANSWER_SECONDS = 30.0
_MAX_ANSWER_BYTES = 4 << 20
_MAX_BLOCK_BYTES = 4 << 20


class _Domain(msgspec.Struct):
    id: UUID
    name: str
    unicode_name: str


class _Domains(msgspec.Struct):
    data: list[_Domain]


class _Event(msgspec.Struct):
    id: UUID
    kind: str
    message_id: UUID | None
    created_at: datetime
    data: dict[str, Any]


class _End(msgspec.Struct):
    message: str


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """An event; `data` is the payload of its delivery."""

    content: EventContent
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """The result of posting an event: the HTTP status, or the error."""

    content: EventContent
    status: int | None
    duration_ms: int
    error: str | None


Source = AsyncIterator[SourceEvent]


@dataclass(frozen=True, slots=True)
class SourceCallbacks:
    """What a source reports: its start, once, and problems."""

    on_start: Callable[[], None]
    on_problem: Callable[[str], None]


def is_selected(kinds: Collection[str], kind: str) -> bool:
    """Whether `kinds` include `kind`: by name, or by *, which means all except system events."""
    return kind in kinds or ("*" in kinds and not kind.startswith("system."))


async def forward(source: Source, url: str, secret: str, kinds: Collection[str]) -> AsyncIterator[ForwardResult]:
    """Post each event of these kinds once to `url`, in order; yields the results."""
    client = OutboundClient()
    try:
        async for event in source:
            if is_selected(kinds, event.content.kind):
                yield await _post(client, url, secret, event)
    finally:
        await client.close()


async def _post(client: OutboundClient, url: str, secret: str, event: SourceEvent) -> ForwardResult:
    content, body = event.content, rules.body(event.content, event.data)
    request = OutboundRequest(
        method="POST",
        url=url,
        headers=headers(body, content.event_id, content.kind, utc_now(), [secret]),
        body=body,
        allowed_networks=_ALL_NETWORKS,
        timeout=TIMEOUT_SECONDS,
        allow_http=True,
    )
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        answer = await client.send(request)
    except OutboundError as error:
        return ForwardResult(content, None, round((clock() - started) * 1000), f"{error.kind}: {error.detail}")
    return ForwardResult(content, answer.status, answer.duration_ms, None)


async def read_local(app: App, principal: Principal, domain_id: UUID | None, callbacks: SourceCallbacks) -> Source:
    """New events of the data directory's database."""
    filter_by = EventFilter(principal.domains(), domain_id=domain_id)
    async with app.db.autocommit() as conn:
        start = await events.start_stream(conn, principal, filter_by, FeedStart(None, app.clock()))
    callbacks.on_start()

    async def authenticate_again() -> Principal:
        return principal

    with app.streams.open(UUID(int=0), max_streams=1, max_per_caller=1) as stream:
        reader = StreamReader(stream, authenticate_again, filter_by, inf)
        async for page in events.follow(app, reader, start.position):
            for event in page:
                data = await _add_content(app, event.data) if event.kind == _FULL_KIND else event.data
                yield SourceEvent(EventContent(event.id, event.kind, event.message_id, "", event.created_at), data)


async def _add_content(app: App, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the message content, which feeds omit; `truncated` is true if it is no longer stored."""
    original = dict(data)
    try:
        async with app.db.autocommit() as conn:
            full = await receiving.load_full_data(conn, original)
    except Unavailable:
        full = original
    return {**original, "truncated": True} if full is original else full


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """The URL of a server, without a path, and an API key for it."""

    url: str
    key: str

    def get(self, session: aiohttp.ClientSession, path: str, **options: Any) -> Any:
        """Send a GET request for a path under /api/v1."""
        fields = {"authorization": f"Bearer {self.key}", **options.pop("headers", {})}
        return session.get(f"{self.url}/api/v1{path}", headers=fields, allow_redirects=False, **options)


def _open_session() -> aiohttp.ClientSession:
    """A session that ignores proxies of the environment and has no total timeout, because streams are endless."""
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=_SILENCE_SECONDS)
    connector = BoundedConnector(max_read=None)
    return aiohttp.ClientSession(connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())


@asynccontextmanager
async def _call(get: AbstractAsyncContextManager[aiohttp.ClientResponse]) -> AsyncGenerator[aiohttp.ClientResponse]:
    """The answer, whose head must arrive within 30 s. Raises TimeoutError, and like `_raise_for_status`."""
    async with asyncio.timeout(_ANSWER_SECONDS) as deadline, get as answer:
        await _raise_for_status(answer)
        deadline.reschedule(None)
        yield answer


class _AnswerTooLarge(Exception):
    """The body of an answer exceeds the limit."""


async def _read_body(answer: aiohttp.ClientResponse) -> bytes:
    """The body of an answer, within 30 s and 4 MiB. Raises TimeoutError, _AnswerTooLarge."""
    body = bytearray()
    async with asyncio.timeout(_ANSWER_SECONDS):
        while piece := await answer.content.readany():
            body += piece
            if len(body) > _MAX_ANSWER_BYTES:
                raise _AnswerTooLarge(f"the answer is larger than {_MAX_ANSWER_BYTES >> 20} MiB")
    return bytes(body)


async def find_domain(server: RemoteServer, name: str) -> UUID:
    """The ID of a domain by its name. Failure if the key can't access it; temporary if the server does not answer."""
    async with _open_session() as session:
        try:
            async with _call(server.get(session, "/domains", params={"name": name, "limit": "200"})) as answer:
                domains = msgspec.json.decode(await _read_body(answer), type=_Domains).data
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Failure(f"{server.url} does not answer: {error}") from error
        except _TemporaryError as error:
            raise Failure(f"{error}") from error
        except _AnswerTooLarge as error:
            raise Failure(f"Can't read the domains of {server.url}: {error}.", permanent=True) from error
        except _DECODE_ERRORS as error:
            raise Failure(f"{server.url} is not a Mailkeep server.", permanent=True) from error
    for domain in domains:
        if name.lower() in (domain.name, domain.unicode_name):
            return domain.id
    raise Failure(f"There is no domain {name}, or this key has no access to it.", permanent=True)


async def read_remote(server: RemoteServer, domain_id: UUID | None, callbacks: SourceCallbacks) -> Source:
    """New events of a server; reconnects as often as necessary. Failure if the key is refused."""
    last_id, wait = "", _FIRST_WAIT
    async with _open_session() as session:
        while True:
            problem = "The stream ended"
            try:
                params = {"domain_id": str(domain_id)} if domain_id else {}
                fields = {"last-event-id": last_id} if last_id else {}
                async with _call(server.get(session, "/events/stream", params=params, headers=fields)) as answer:
                    async for block in _read_blocks(answer.content):
                        wait = _FIRST_WAIT
                        if not last_id:
                            callbacks.on_start()
                        if block.name == "stream.truncated":
                            callbacks.on_problem("Events were lost: the server deleted them before the reconnect.")
                        elif block.name == "stream.end":
                            problem = f"The stream ended ({msgspec.json.decode(block.data, type=_End).message})"
                        elif block.data:
                            yield _to_source_event(msgspec.json.decode(block.data, type=_Event))
                        last_id = block.id or last_id
            except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionError):
                problem = "The connection was lost"
            except TimeoutError:
                problem = "The server does not respond"
            except (aiohttp.ClientError, _TemporaryError) as error:
                problem = str(error)
            except _DECODE_ERRORS as error:
                raise Failure("The server sent an invalid event stream.", permanent=True) from error
            wait = min(2 * wait, _LONGEST_WAIT)
            pause = wait * (0.5 + random.random() / 2)  # noqa: S311
            callbacks.on_problem(f"{problem}; connecting again in {pause:.1f} s.")
            await asyncio.sleep(pause)


class _TemporaryError(Exception):
    """The server answered with an error; a retry may succeed."""


async def _raise_for_status(answer: aiohttp.ClientResponse) -> None:
    """Raise for a status other than 200: `_TemporaryError` for 429 and 5xx, else a permanent Failure."""
    if answer.status == 200:
        return
    try:
        error = msgspec.json.decode(await _read_body(answer))["error"]
        message = f"{answer.url.host} answers {error['code']}: {error['message']}"
    except (_AnswerTooLarge, ValueError, KeyError, TypeError):
        message = f"{answer.url.host} answers status {answer.status}"
    if answer.status == 429 or answer.status >= 500:
        raise _TemporaryError(message)
    raise Failure(message, permanent=True)


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    id: str
    data: str


async def _read_blocks(content: aiohttp.StreamReader) -> AsyncIterator[_Block]:
    """The blocks of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html), lines ending with LF."""
    buffer = bytearray()
    async for piece in content.iter_any():
        # The end of a block may be split between two pieces; bytes are not searched twice.
        start = max(0, len(buffer) - 1)
        buffer += piece
        if buffer.find(b"\n\n", start) < 0:
            blocks: list[bytearray] = []
        else:
            *blocks, buffer = buffer.split(b"\n\n")
        for block in blocks:
            lines = block.decode().split("\n")
            fields = dict(line.split(": ", 1) for line in lines if line and not line.startswith(":"))
            if fields:
                yield _Block(fields.get("event", ""), fields.get("id", ""), fields.get("data", ""))
        if len(buffer) > _MAX_BLOCK_BYTES:
            raise Failure("The server sent an invalid event stream.", permanent=True)


def _to_source_event(event: _Event) -> SourceEvent:
    content = EventContent(event.id, event.kind, event.message_id, "", event.created_at)
    # Feeds omit the content of messages.
    return SourceEvent(content, {**event.data, "truncated": True} if event.kind == _FULL_KIND else event.data)
