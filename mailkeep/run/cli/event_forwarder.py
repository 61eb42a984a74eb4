"""`mailkeep listen`: events as they happen, forwarded to a program under development as a webhook would get them.

A source yields events in their order: the data directory's own database, or another server's event stream with an API
key. Each is posted once, signed, before the next one is taken; who comes back goes on beyond the last one posted.
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

_FULL = "mail.received.full"
_EVERYWHERE = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
# A stream says something every 5 seconds.
_SILENCE_SECONDS = 20.0
# What comes of reading what is no answer of ours: no JSON, no text, or without what it must have.
_DECODE_ERRORS = (msgspec.DecodeError, ValueError)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
# An answer to a call other than the stream, and the head of the stream's answer.
_ANSWER_SECONDS = 30.0
_LONGEST_ANSWER = 4 << 20
_LONGEST_BLOCK = 4 << 20


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
    """An event; `data` is what a delivery of it tells."""

    content: EventContent
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """What became of an event: a status, or why there is none."""

    content: EventContent
    status: int | None
    duration_ms: int
    error: str | None


Source = AsyncIterator[SourceEvent]


@dataclass(frozen=True, slots=True)
class SourceCallbacks:
    """What a source says beside the events: that it has begun, once; and troubles."""

    on_start: Callable[[], None]
    on_problem: Callable[[str], None]


def is_wanted(kinds: Collection[str], kind: str) -> bool:
    """Whether a subscription to `kinds` means `kind`: by name, or by * but for what tells of the system itself."""
    return kind in kinds or ("*" in kinds and not kind.startswith("system."))


async def forward(source: Source, url: str, secret: str, kinds: Collection[str]) -> AsyncIterator[ForwardResult]:
    """Post what is wanted to `url`, one event after the other, once each; yields each one's fate."""
    client = OutboundClient()
    try:
        async for one in source:
            if is_wanted(kinds, one.content.kind):
                yield await _post(client, url, secret, one)
    finally:
        await client.close()


async def _post(client: OutboundClient, url: str, secret: str, heard: SourceEvent) -> ForwardResult:
    content, body = heard.content, rules.body(heard.content, heard.data)
    signed = headers(body, content.event_id, content.kind, utc_now(), [secret])
    request = OutboundRequest(
        method="POST",
        url=url,
        headers=signed,
        body=body,
        allowed_networks=_EVERYWHERE,
        timeout=TIMEOUT_SECONDS,
        allow_http=True,
    )
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        answer = await client.send(request)
    except OutboundError as failed:
        return ForwardResult(content, None, round((clock() - started) * 1000), f"{failed.kind}: {failed.detail}")
    return ForwardResult(content, answer.status, answer.duration_ms, None)


# This machine's own data directory.


async def local(app: App, who: Principal, domain_id: UUID | None, report: SourceCallbacks) -> Source:
    """Events of the database from now on."""
    wanted = EventFilter(who.domains(), domain_id=domain_id)
    async with app.db.autocommit() as conn:
        start = await events.start_stream(conn, who, wanted, FeedStart(None, app.clock()))
    report.on_start()

    async def again() -> Principal:
        return who

    with app.streams.open(UUID(int=0), most=1, most_per_caller=1) as place:
        async for page in events.follow(app, StreamReader(place, again, wanted, inf), start.position):
            for told in page:
                data = await _add_content(app, told.data) if told.kind == _FULL else told.data
                yield SourceEvent(EventContent(told.id, told.kind, told.message_id, "", told.created_at), data)


async def _add_content(app: App, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the content that the feed leaves out, while it is kept."""
    shown = dict(data)
    try:
        async with app.db.autocommit() as conn:
            found = await receiving.load_full_data(conn, shown)
    except Unavailable:
        found = shown
    return {**shown, "truncated": True} if found is shown else found


# Another server.


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A server by its URL, without a path, and an API key."""

    url: str
    key: str

    def call(self, session: aiohttp.ClientSession, path: str, **given: Any) -> Any:
        """A GET under /api/v1."""
        sent = {"authorization": f"Bearer {self.key}", **given.pop("headers", {})}
        return session.get(f"{self.url}/api/v1{path}", headers=sent, allow_redirects=False, **given)


def open_session() -> aiohttp.ClientSession:
    """For calls of a server: nothing of the environment, and no end but that of silence."""
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=_SILENCE_SECONDS)
    connector = BoundedConnector(max_read=None)  # a stream has no end
    return aiohttp.ClientSession(connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())


@asynccontextmanager
async def _answer(call: AbstractAsyncContextManager[aiohttp.ClientResponse]) -> AsyncGenerator[aiohttp.ClientResponse]:
    """The answer to a call, once its status is 200; its head and, if the status is another, its body within 30 s.

    Raises TimeoutError, `_NotNow`, Failure.
    """
    async with asyncio.timeout(_ANSWER_SECONDS) as deadline, call as answer:
        await _raise_for_status(answer)
        deadline.reschedule(None)
        yield answer


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    """The body of an answer, within 30 s and 4 MiB. Raises TimeoutError, ValueError."""
    found = bytearray()
    async with asyncio.timeout(_ANSWER_SECONDS):
        while piece := await answer.content.readany():
            found += piece
            if len(found) > _LONGEST_ANSWER:
                raise ValueError("the answer is too long")
    return bytes(found)


async def find_domain(server: RemoteServer, name: str) -> UUID:
    """The id of a domain that the key sees, by its name. Fails where there is none, or the server does not tell now."""
    async with open_session() as session:
        try:
            async with _answer(server.call(session, "/domains", params={"name": name, "limit": "200"})) as answer:
                domains = msgspec.json.decode(await _body(answer), type=_Domains).data
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Failure(f"{server.url} does not answer: {error}") from error
        except _TemporaryError as error:
            raise Failure(f"{error}") from error
        except _DECODE_ERRORS as error:
            raise Failure(f"{server.url} answers nothing of Mailkeep's.", permanent=True) from error
    for domain in domains:
        if name.lower() in (domain.name, domain.unicode_name):
            return domain.id
    raise Failure(f"There is no domain {name} that this key sees.", permanent=True)


async def remote(server: RemoteServer, domain_id: UUID | None, report: SourceCallbacks) -> Source:
    """Events of a server from now on, over as many connections as it takes. Fails where the key is refused."""
    last, wait = "", _FIRST_WAIT
    async with open_session() as session:
        while True:
            trouble = "The stream ended"
            try:
                params = {"domain_id": str(domain_id)} if domain_id else {}
                asked = {"last-event-id": last} if last else {}
                async with _answer(server.call(session, "/events/stream", params=params, headers=asked)) as answer:
                    async for block in _blocks(answer.content):
                        wait = _FIRST_WAIT
                        if not last:
                            report.on_start()
                        if block.name == "stream.truncated":
                            report.on_problem(
                                "Events were lost: the server no longer had them when the connection came back."
                            )
                        elif block.name == "stream.end":
                            trouble = f"The stream ended ({msgspec.json.decode(block.data, type=_End).message})"
                        elif block.data:
                            yield _source_event(msgspec.json.decode(block.data, type=_Event))
                        last = block.id or last
            except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionError):
                trouble = "The connection was cut"
            except TimeoutError:
                trouble = "The server is silent"
            except (aiohttp.ClientError, _TemporaryError) as error:
                trouble = str(error)
            except _DECODE_ERRORS as error:
                raise Failure("The server's stream makes no sense.", permanent=True) from error
            wait = min(2 * wait, _LONGEST_WAIT)
            pause = wait * (0.5 + random.random() / 2)  # noqa: S311
            report.on_problem(f"{trouble}; connecting again in {pause:.1f} s.")
            await asyncio.sleep(pause)


class _TemporaryError(Exception):
    """An answer that is worth another try."""


async def _raise_for_status(answer: aiohttp.ClientResponse) -> None:
    """Fail where the server says no: for good, or `_NotNow`."""
    if answer.status == 200:
        return
    try:
        error = msgspec.json.decode(await _body(answer))["error"]
        told = f"{error['code']}: {error['message']}"
    except (ValueError, KeyError, TypeError):
        told = f"status {answer.status}"
    if answer.status == 429 or answer.status >= 500:
        raise _TemporaryError(f"{answer.url.host} answers {told}")
    raise Failure(f"{answer.url.host} answers {told}", permanent=True)


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    id: str
    data: str


async def _blocks(content: aiohttp.StreamReader) -> AsyncIterator[_Block]:
    """The blocks of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html); ours end lines by LF."""
    waiting = bytearray()
    async for piece in content.iter_any():
        # The end of a block may be split between two pieces; what was searched before is not searched again.
        start = max(0, len(waiting) - 1)
        waiting += piece
        if waiting.find(b"\n\n", start) < 0:
            whole: list[bytearray] = []
        else:
            *whole, waiting = waiting.split(b"\n\n")
        for block in whole:
            lines = block.decode().split("\n")
            fields = dict(line.split(": ", 1) for line in lines if line and not line.startswith(":"))
            if fields:
                yield _Block(fields.get("event", ""), fields.get("id", ""), fields.get("data", ""))
        if len(waiting) > _LONGEST_BLOCK:
            raise Failure("The server's stream makes no sense.", permanent=True)


def _source_event(event: _Event) -> SourceEvent:
    content = EventContent(event.id, event.kind, event.message_id, "", event.created_at)
    # The content of a message stands in no feed.
    return SourceEvent(content, {**event.data, "truncated": True} if event.kind == _FULL else event.data)
