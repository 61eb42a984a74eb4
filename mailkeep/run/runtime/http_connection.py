"""One HTTP connection, held to deadlines and bounds: uvicorn's protocol, which by itself waits for ever.

- A head has `header_seconds` from the connection's begin, or from its first byte on a kept one, at most 32 KiB and 200
  fields; a client that sent a part of it is told 408. Bytes that are neither head nor body are as bounded.
- What is still to come of a body when its call is answered is read and dropped, for `body_seconds` and `unread_bytes`
  at most, also where the client asked to close: a socket closed with unread bytes resets, and many clients then report
  a broken connection instead of the answer. So is what follows a head that is refused here, for 5 seconds.
- A body whose framing is wrong ends its call with 400, unless the answer has begun.
- A request names its host, once, and has at most one Authorization and one Idempotency-Key field: proxies and programs
  disagree about which of two counts (RFC 9112 §3.2, RFC 9110 §5.3).
- An answer that waits in our buffer must be taken within `read_seconds` and the time that its size allows for.
- No more connections are held than `Door` lets in; others are told 503.
- Who offers to go on in another protocol (`Upgrade: h2c`) is answered in this one (RFC 9110 §7.8).

How long a body may take is the pipeline's matter (`web.pipeline`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from email.utils import format_datetime
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import BadRequest, HeadTooLarge, Refusal, RequestTimeout, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.run.runtime.connection_limits import ConnectionLimiter
from mailkeep.web import envelope

_HEAD_BYTES = 32 << 10
_HEAD_FIELDS = 200
_PIPELINED = 32
_CLOSE_SECONDS = 5.0
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_SINGLE = {b"authorization": "Authorization", b"host": "Host", b"idempotency-key": "Idempotency-Key"}


class HeadTooLong(Exception):
    """A head that goes beyond its bounds."""


class AmbiguousHead(Exception):
    """A head with a field twice that may stand once, or without Host."""


class _DelayedCloseTransport:
    """The transport as an answer sees it: closing waits until the request's body is read (`Connection.finish`)."""

    __slots__ = ("_finish", "_transport")

    def __init__(self, transport: asyncio.Transport, finish: Callable[[], None]) -> None:
        self._transport = transport
        self._finish = finish

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._finish()


class HttpConnection(HttpToolsProtocol):
    """uvicorn's protocol between the bounds of a `Door`."""

    parser: httptools.HttpRequestParser

    def __init__(self, door: ConnectionLimiter, **given: Any) -> None:
        super().__init__(**given)
        self._limiter = door
        self._limits = door.limits
        self._address: str | None = None  # None: not let in
        self._awaits_head = True
        self._between_requests = True  # nothing of the next head has come
        self._repeats_head = False  # what the parser tells just now was told before
        self._completed = False  # a request ended within what came last
        self._idle_bytes = 0  # since there was something of a body, or a whole head
        self._head_bytes = 0
        self._unread_bytes = 0  # of a body whose call is answered
        self._closes_after_body = False  # the connection closes once the body is read
        self._is_refused = False  # the last answer is written; what comes is dropped until the client has read it
        self._head_error: Refusal | None = None  # what is wrong with the head, where the parser does not know
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._active_cycle: RequestResponseCycle | None = None  # by the application just now; `cycle` came last

    # What the event loop calls.

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Let it in, or say that there is no room."""
        peer: Any = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if not self._limiter.acquire(address):
            self.transport = transport
            self._refuse(Unavailable("Too many connections; try again later.", retry_after=5))
            return
        self._address = address
        super().connection_made(transport)
        self._start_head_timer()

    def data_received(self, data: bytes) -> None:
        """Parse what came, and see whether it led anywhere."""
        if self._address is None or self.transport.is_closing():
            return
        if self._is_refused:
            self._discard(len(data))
            return
        self._idle_bytes += len(data)
        self._completed = False
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("")
        if self._is_refused or self.transport.is_closing():
            return
        if self._idle_bytes > _HEAD_BYTES:
            self._refuse_large_head()
        elif not self._awaits_head or (self._completed and self._between_requests):
            self._cancel_timer("head")
        else:
            self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget its timers, and make room for another."""
        for what in list(self._timers):
            self._cancel_timer(what)
        if self._address is not None:
            self._limiter.release(self._address)
            self._notify_disconnect()
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read as fast as it is answered."""
        super().pause_writing()
        self._start_timer("write", self._read_seconds(), self._abort)

    def resume_writing(self) -> None:
        """It has read most of it."""
        super().resume_writing()
        self._cancel_timer("write")

    def _parse(self, data: bytes) -> None:
        """Behind a head that offers another protocol the parser expects that one, and would take a body for the next
        request. There it is told the head once more, without the offer: as much of it as says how long the body is.
        """
        while True:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as offer:
                data = data[offer.args[0] :]
            framing = [name + b": " + value for name, value in self.headers if name in _FRAMING]
            self._repeats_head = True
            self.parser.feed_data(b"\r\n".join([b"POST / HTTP/1.1", *framing, b"\r\n"]))
            self._repeats_head = False

    def _should_upgrade(self) -> bool:
        return False

    # What the parser calls.

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        if self._repeats_head:
            return
        self._between_requests = False
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Some of the address, which is a part of the head."""
        if self._repeats_head:
            return
        self._head_bytes += len(url)
        if self._head_bytes > _HEAD_BYTES:
            raise HeadTooLong
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the head; those behind a body (trailers) are of no use to anybody."""
        if not self._awaits_head:
            return
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > _HEAD_BYTES or len(self.headers) >= _HEAD_FIELDS:
            raise HeadTooLong
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        if self._repeats_head:
            return
        if len(self.pipeline) >= _PIPELINED:
            raise HeadTooLong
        self._head_error = self._find_ambiguity()
        if self._head_error is not None:
            raise AmbiguousHead
        self._awaits_head = False
        self._idle_bytes = 0
        self._unread_bytes = 0
        super().on_headers_complete()
        self.cycle.transport = cast(asyncio.Transport, _DelayedCloseTransport(self.transport, self._finish))

    def _find_ambiguity(self) -> Refusal | None:
        names = [name for name, _ in self.headers]
        for name, shown in _SINGLE.items():
            if names.count(name) > 1:
                return BadRequest(f"The header field {shown} is given more than once; send it once.")
        if b"host" not in names and self.parser.get_http_version() != "1.0":
            return BadRequest("The header field Host is missing (RFC 9112 §3.2).")
        return None

    def on_body(self, body: bytes) -> None:
        """Something of the body."""
        self._idle_bytes = 0
        if self.cycle.response_complete:
            self._discard(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole: what follows is the next one."""
        if self.parser.should_upgrade():
            return  # so the parser thinks
        self._awaits_head = self._between_requests = self._completed = True
        self._idle_bytes = 0
        self._cancel_timer("rest")
        if self._closes_after_body:
            self._close()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What the parser did not understand, or not want to; not in the midst of another request's answer."""
        if self._is_answering():
            if self._active_cycle is not self.cycle or self.cycle.response_started or not self.cycle.more_body:
                self._abort()
                return
            self._notify_disconnect()  # its body is broken: it comes to nothing
            self._refuse(BadRequest("The body's framing is wrong (RFC 9112 §7.1)."))
        elif not self.transport.is_closing():
            is_large = self._head_bytes > _HEAD_BYTES or len(self.headers or ()) >= _HEAD_FIELDS
            self._refuse(self._head_error or (HeadTooLarge() if is_large else BadRequest()))

    # What the answer calls.

    def on_response_complete(self) -> None:
        """An answer is written, perhaps not yet read; perhaps its request is still being sent."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_after_timeout()
        elif not self._awaits_head and self.cycle.response_complete:
            self._start_timer("rest", self._limits.body_seconds, self._close)

    def _finish(self) -> None:
        """Close after an answer: at once where its request is whole, else when the rest of its body is read."""
        if self._awaits_head or self.transport.is_closing():
            self.transport.close()
        else:
            self._closes_after_body = True

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came after the last answer."""
        if not self.transport.is_closing():
            self._close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._active_cycle = cycle
        super()._start_asgi_task(cycle, app)

    # Deadlines.

    def _is_answering(self) -> bool:
        return self._active_cycle is not None and not (self._active_cycle.response_complete and not self.pipeline)

    def _start_head_timer(self) -> None:
        if "head" not in self._timers:
            self._start_timer("head", self._limits.header_seconds, self._on_head_timeout)

    def _on_head_timeout(self) -> None:
        self._cancel_timer("head")
        if self._is_answering():
            self.cycle.keep_alive = False  # the answer under way is the last one
        elif self._between_requests:
            self._close()
        else:
            self._refuse(RequestTimeout())

    def _refuse_large_head(self) -> None:
        if self._awaits_head and not self._is_answering():
            self._refuse(HeadTooLarge())
        else:
            self._abort()

    def _refuse(self, wrong: Refusal) -> None:
        """Answer beside the application, in the envelope as it does, and close."""
        now = utc_now()
        request_id = uuid7(now)
        content = envelope.failure(wrong, request_id, now)
        fields = {
            "date": format_datetime(now, usegmt=True),
            "content-type": "application/json",
            "content-length": str(len(content)),
            "connection": "close",
            "x-request-id": str(request_id),
        }
        told = [f"{name}: {value}\r\n".encode() for name, value in (fields | envelope.refusal_headers(wrong)).items()]
        told += [name + b": " + value + b"\r\n" for name, value in envelope.SECURITY_HEADERS]
        self.transport.write(b"".join([STATUS_LINE[wrong.status], *told, b"\r\n", content]))
        if self._address is None:  # without a place of its own it must not stay
            self._close()
            return
        self._is_refused = True
        for what in list(self._timers):
            self._cancel_timer(what)
        self.flow.resume_reading()
        self.transport.write_eof()
        self._start_timer("end", _CLOSE_SECONDS, self._abort)

    def _discard(self, size: int) -> None:
        """Bytes that nobody needs any more."""
        self._unread_bytes += size
        if self._unread_bytes > self._limits.unread_bytes:
            self._close()

    def _close(self) -> None:
        self.transport.close()
        self._abort_after_timeout()

    def _abort_after_timeout(self) -> None:
        """Closed when the client has read what is written, or is too slow for that."""
        waits = self.transport.get_write_buffer_size() > 0
        self._start_timer("end", self._read_seconds() if waits else _CLOSE_SECONDS, self._abort)

    def _abort(self) -> None:
        """Close at once, whatever is under way."""
        self._notify_disconnect()
        self.transport.abort()

    def _notify_disconnect(self) -> None:
        """The client is gone: nothing more is to be written to it, and nothing that it asked for begun."""
        self.pipeline.clear()
        if self._active_cycle is not None and not self._active_cycle.response_complete:
            self._active_cycle.disconnected = True
            self._active_cycle.message_event.set()

    def _read_seconds(self) -> float:
        size = self.transport.get_write_buffer_size()
        return self._limits.read_seconds + size / self._limits.slowest_bytes_per_second

    def _start_timer(self, what: str, seconds: float, act: Callable[[], None]) -> None:
        self._cancel_timer(what)
        self._timers[what] = self.loop.call_later(seconds, act)

    def _cancel_timer(self, what: str) -> None:
        timer = self._timers.pop(what, None)
        if timer is not None:
            timer.cancel()
