"""One HTTP connection with deadlines and limits: uvicorn's protocol, which has none of its own.

- The head of a request must arrive within `header_seconds` of the connection's start, or of its first byte on a
  persistent connection, with at most 32 KiB and 200 fields; an incomplete one gets 408. Bytes that are neither head nor
  body have the same limit.
- After an early answer the rest of the request's body is read and dropped, for at most `body_seconds` and
  `unread_bytes`, even if the client wants to close: a socket that is closed with unread bytes resets, and many clients
  then report a broken connection instead of the answer. The same holds after a refused head, for 5 seconds.
- A body with malformed framing ends the request with 400, unless the answer has begun.
- A request has exactly one Host field and at most one Authorization and one Idempotency-Key field: proxies and
  programs disagree about which of two counts (RFC 9112 §3.2, RFC 9110 §5.3).
- The client must read a buffered answer within `read_seconds` plus the time for its size.
- Connections beyond the limits of `ConnectionLimiter` get 503.
- Offers of another protocol (`Upgrade: h2c`) are ignored (RFC 9110 §7.8).
- When the listener stops, requests that have arrived are answered, also those that are not read yet: closing resets.

The deadline for a body is in `web.pipeline`.
"""

from __future__ import annotations

import array
import asyncio
import fcntl
import termios
from collections.abc import Callable
from email.utils import format_datetime
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import BadRequest, HeadTooLarge, Refusal, RequestTimeout, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.security_headers import SECURITY_HEADERS
from mailkeep.run.runtime.connection_limits import ConnectionLimiter, peer_address
from mailkeep.web import envelope

_HEAD_BYTES, _HEAD_FIELDS = 32 << 10, 200
_PIPELINED = 32
_CLOSE_SECONDS = 5.0
_ARRIVAL_SECONDS = 1.0  # from the start of a connection to its first byte, while the listener stops
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_SINGLE = {b"authorization": "Authorization", b"host": "Host", b"idempotency-key": "Idempotency-Key"}


class HeadTooLong(Exception):
    """A head beyond the limits."""


class AmbiguousHead(Exception):
    """A head with a repeated field that must be unique, or without Host."""


class _DelayedCloseTransport:
    """The transport for an answer: closing it waits until the request's body is read (`HttpConnection._finish`)."""

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
    """uvicorn's protocol within the limits of a `ConnectionLimiter`."""

    parser: httptools.HttpRequestParser

    def __init__(self, limiter: ConnectionLimiter, **options: Any) -> None:
        super().__init__(**options)
        self._limiter = limiter
        self._limits = limiter.limits
        self._address: str | None = None  # None: refused by the limiter
        self._awaits_head = True
        self._between_requests = True  # no byte of the next head has arrived
        self._repeats_head = False  # the parser is being fed a head for the second time
        self._completed = False  # a request ended within the last data
        self._idle_bytes = 0  # since the last byte of a body, or the last complete head
        self._head_bytes = 0
        self._unread_bytes = 0  # of a body whose request is already answered
        self._closes_after_body = False  # the connection closes when the body is read
        self._is_refused = False  # the last answer is written; data is dropped until the client has read it
        self._head_error: Refusal | None = None  # an error in the head that the parser does not know
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._active_cycle: RequestResponseCycle | None = None  # in the application; `cycle` is that of the last head

    # Called by the event loop.

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Accept the connection, or refuse it beyond the limits."""
        address = peer_address(transport)
        if not self._limiter.acquire(address):
            self.transport = transport
            self._refuse(Unavailable("Too many connections; try again later.", retry_after=5))
            return
        self._address = address
        super().connection_made(transport)
        self.client = self.client or (address, 0)
        self._start_head_timer()
        self._start_timer("arrival", _ARRIVAL_SECONDS, self._on_arrival_timeout)

    def data_received(self, data: bytes) -> None:
        """Parse data, and check the limits."""
        if self._address is None or self.transport.is_closing():
            return
        if self._is_refused:
            self._discard(len(data))
            return
        self._cancel_timer("arrival")
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
        """Cancel the timers and release the connection's slot."""
        self._cancel_timers()
        if self._address is not None:
            self._limiter.release(self._address)
            self._notify_disconnect()
            super().connection_lost(exc)

    def shutdown(self) -> None:
        """The listener stops: the current request is the last one, or one that has arrived or is about to."""
        if self._address is None or self._is_refused or self.transport.is_closing():
            return
        if self._is_answering():
            self.cycle.keep_alive = False
        elif not self._awaits_head:
            self._finish()
        elif self._is_idle() and "arrival" not in self._timers:
            self._close()

    def pause_writing(self) -> None:
        """The client reads more slowly than answers are written."""
        super().pause_writing()
        self._start_timer("write", self._read_seconds(), self._abort)

    def resume_writing(self) -> None:
        """The client has read most of the buffer."""
        super().resume_writing()
        self._cancel_timer("write")

    def _parse(self, data: bytes) -> None:
        """Feed the parser. After a head that offers another protocol it stops, and would take the body for the next
        request: it gets a head again, without the offer, with only the fields that say how long the body is.
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

    # Called by the parser.

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        if self._repeats_head:
            return
        self._between_requests = False
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A piece of the URL, which counts as part of the head."""
        if self._repeats_head:
            return
        self._head_bytes += len(url)
        if self._head_bytes > _HEAD_BYTES:
            raise HeadTooLong
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the head; fields after a body (trailers) are ignored."""
        if not self._awaits_head:
            return
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > _HEAD_BYTES or len(self.headers) >= _HEAD_FIELDS:
            raise HeadTooLong
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete."""
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
        if self._limiter.is_stopping:
            self.cycle.keep_alive = False
        self.cycle.transport = cast(asyncio.Transport, _DelayedCloseTransport(self.transport, self._finish))

    def _find_ambiguity(self) -> Refusal | None:
        names = [name for name, _ in self.headers]
        for name, display_name in _SINGLE.items():
            if names.count(name) > 1:
                return BadRequest(f"The header field {display_name} is given more than once; send it once.")
        if b"host" not in names and self.parser.get_http_version() != "1.0":
            return BadRequest("The header field Host is missing (RFC 9112 §3.2).")
        return None

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._idle_bytes = 0
        if self.cycle.response_complete:
            self._discard(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        if self.parser.should_upgrade():
            return  # only the head of a request that offers another protocol
        self._awaits_head = self._between_requests = self._completed = True
        self._idle_bytes = 0
        self._cancel_timer("body")
        if self._closes_after_body:
            self._close()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that can't be parsed; close instead if another request's answer is being written."""
        if self._is_answering():
            if self._active_cycle is not self.cycle or self.cycle.response_started or not self.cycle.more_body:
                self._abort()
                return
            self._notify_disconnect()  # the application can't get the rest of the body
            self._refuse(BadRequest("The body's chunked transfer coding is malformed (RFC 9112 §7.1)."))
        elif not self.transport.is_closing():
            is_large = self._head_bytes > _HEAD_BYTES or len(self.headers or ()) >= _HEAD_FIELDS
            self._refuse(self._head_error or (HeadTooLarge() if is_large else BadRequest()))

    # Called by the answer.

    def on_response_complete(self) -> None:
        """An answer is written; the client may still be reading it, or sending the request."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_after_timeout()
        elif not self._awaits_head and self.cycle.response_complete:
            self._start_timer("body", self._limits.body_seconds, self._close)

    def _finish(self) -> None:
        """Close after an answer: at once if its request is complete, else when the rest of the body is read."""
        if self._awaits_head or self.transport.is_closing():
            self.transport.close()
        else:
            self._closes_after_body = True

    def timeout_keep_alive_handler(self) -> None:
        """No request followed the last answer."""
        if not self.transport.is_closing():
            self._close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._active_cycle = cycle
        super()._start_asgi_task(cycle, app)

    # The end of the listener.

    def _on_arrival_timeout(self) -> None:
        self._cancel_timer("arrival")
        if self._limiter.is_stopping and self._is_idle():
            self._close()

    def _is_idle(self) -> bool:
        """Whether no byte of another request has arrived."""
        if not self._between_requests or self._is_answering():
            return False
        unread = array.array("i", [0])
        fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.FIONREAD, unread)
        return unread[0] == 0

    # Deadlines.

    def _is_answering(self) -> bool:
        return self._active_cycle is not None and not (self._active_cycle.response_complete and not self.pipeline)

    def _start_head_timer(self) -> None:
        if "head" not in self._timers:
            self._start_timer("head", self._limits.header_seconds, self._on_head_timeout)

    def _on_head_timeout(self) -> None:
        self._cancel_timer("head")
        if self._is_answering():
            self.cycle.keep_alive = False  # the current answer is the last one
        elif self._between_requests:
            self._close()
        else:
            self._refuse(RequestTimeout())

    def _refuse_large_head(self) -> None:
        if self._awaits_head and not self._is_answering():
            self._refuse(HeadTooLarge())
        else:
            self._abort()

    def _refuse(self, refusal: Refusal) -> None:
        """Answer without the application, in the same JSON envelope, and close."""
        now = utc_now()
        request_id = uuid7(now)
        content = envelope.failure(refusal, request_id, now)
        fields = {
            "date": format_datetime(now, usegmt=True),
            "content-type": "application/json",
            "content-length": str(len(content)),
            "connection": "close",
            "x-request-id": str(request_id),
        }
        fields |= envelope.refusal_headers(refusal)
        head = [f"{name}: {value}\r\n".encode() for name, value in fields.items()]
        head += [name + b": " + value + b"\r\n" for name, value in SECURITY_HEADERS]
        self.transport.write(b"".join([STATUS_LINE[refusal.status], *head, b"\r\n", content]))
        if self._address is None:  # a connection beyond the limits must not stay open
            self._close()
            return
        self._is_refused = True
        self._cancel_timers()
        self.flow.resume_reading()
        self.transport.write_eof()
        self._start_timer("end", _CLOSE_SECONDS, self._abort)

    def _discard(self, size: int) -> None:
        """Count dropped bytes, and close beyond the limit."""
        self._unread_bytes += size
        if self._unread_bytes > self._limits.unread_bytes:
            self._close()

    def _close(self) -> None:
        self.transport.close()
        self._abort_after_timeout()

    def _abort_after_timeout(self) -> None:
        """Abort if the client does not read the rest of the answer in time."""
        is_unread = self.transport.get_write_buffer_size() > 0
        self._start_timer("end", self._read_seconds() if is_unread else _CLOSE_SECONDS, self._abort)

    def _abort(self) -> None:
        """Close at once, without waiting for requests or answers."""
        self._notify_disconnect()
        self.transport.abort()

    def _notify_disconnect(self) -> None:
        """Report to the application that the client is gone, and drop its waiting requests."""
        self.pipeline.clear()
        if self._active_cycle is not None and not self._active_cycle.response_complete:
            self._active_cycle.disconnected = True
            self._active_cycle.message_event.set()

    def _read_seconds(self) -> float:
        size = self.transport.get_write_buffer_size()
        return self._limits.read_seconds + size / self._limits.slowest_bytes_per_second

    def _start_timer(self, name: str, seconds: float, act: Callable[[], None]) -> None:
        self._cancel_timer(name)
        self._timers[name] = self.loop.call_later(seconds, act)

    def _cancel_timer(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()

    def _cancel_timers(self) -> None:
        for name in list(self._timers):
            self._cancel_timer(name)
