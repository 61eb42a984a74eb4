"""The client's end of one SMTP connection (RFC 5321): replies, deadlines, writes with backpressure.

`connect` opens it: greeting, EHLO, STARTTLS if configured, login. `smtp.client` sends messages on it and `smtp.pool`
reuses it.
"""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from mailkeep.core.errors import Failure
from mailkeep.mail.smtp.reply import MalformedReply, ReplyParser, SmtpReply
from mailkeep.mail.smtp.waiter import Waiter

Stage = Literal["connect", "greeting", "ehlo", "tls", "login", "envelope", "body", "acceptance"]

_WRITE_HIGH = 512 * 1024
_MAX_UNREAD_REPLIES = 5000
_MAX_UNREAD_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: `connect` covers TCP and TLS, the others one wait for the server each."""

    connect: float = 10.0
    greeting: float = 30.0
    command: float = 60.0
    body: float = 120.0
    acceptance: float = 600.0  # RFC 5321 §4.5.3.2.6: a shorter timeout causes duplicates


@dataclass(frozen=True, slots=True)
class Relay:
    """A server that accepts our mail. A `host` that begins with a slash is a Unix socket.

    With `starttls` and `tls` the certificate must be valid for `server_name` (default: the host) according to
    `ssl_context` (default: the system's); `starttls` never continues unencrypted. `helo` is our name. `addresses`
    resolves the host before each connection (default: the system resolver); it may raise `ConnectionLost`. `source` is
    our own IP address (default: the system's choice).
    """

    host: str
    port: int
    tls: Literal["none", "starttls", "tls"] = "none"
    ssl_context: ssl.SSLContext | None = None
    server_name: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    helo: str = "localhost"
    timeouts: Timeouts = Timeouts()
    addresses: Callable[[], Awaitable[Sequence[str]]] | None = None
    source: str | None = None


class SmtpRefusal(Failure):
    """The server refused at `stage`. `rejected` has the negative replies to recipients."""

    def __init__(self, reply: SmtpReply, stage: Stage, rejected: dict[str, SmtpReply] | None = None) -> None:
        super().__init__(f"{stage}: {reply}", permanent=reply.is_permanent)
        self.reply = reply
        self.stage: Stage = stage
        self.rejected: dict[str, SmtpReply] = rejected or {}


class ConnectionLost(Failure):
    """The connection failed at `stage`, or timed out.

    `submitted` is "unknown" once the final dot may have been sent: the server may have accepted the message.
    """

    def __init__(
        self,
        why: str,
        stage: Stage,
        submitted: Literal["no", "unknown"] = "no",
        *,
        timed_out: bool = False,
    ) -> None:
        super().__init__(f"{stage}: {why}")
        self.why = why
        self.stage: Stage = stage
        self.timed_out = timed_out
        self.submitted: Literal["no", "unknown"] = submitted


class SmtpConnection(asyncio.Protocol):
    """One open connection. After `ConnectionLost` it is closed and can't be used."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = ReplyParser()
        self._replies: deque[SmtpReply] = deque()
        self._awaited_replies = 0
        self._unread_bytes = 0
        self._waiter = Waiter()
        self._writing_paused = False
        self._failure: str | None = None
        self._timed_out = False
        self.extensions: dict[str, str] = {}
        self.needs_reset = False
        self.opened_at = self._loop.time()
        self.idle_since: float | None = None
        """Since when it has been idle (event loop time); None in use. Input while idle ends the connection."""

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport, also after STARTTLS."""
        self._transport = transport = cast(asyncio.Transport, transport)
        transport.set_write_buffer_limits(high=_WRITE_HIGH)

    def data_received(self, data: bytes) -> None:
        """Collect replies. Invalid or unexpected input ends the connection."""
        self._unread_bytes += len(data)
        if self.idle_since is not None:
            self._fail("the server sent data without a command")
            return
        if self._unread_bytes > _MAX_UNREAD_BYTES:
            self._fail(f"the replies are longer than {_MAX_UNREAD_BYTES} bytes")
            return
        try:
            self._parser.feed(data, self._replies)
        except MalformedReply as error:
            self._fail(str(error))
            return
        if len(self._replies) > _MAX_UNREAD_REPLIES:
            self._fail(f"the server sent more than {_MAX_UNREAD_REPLIES} replies at once")
        elif self._awaited_replies and len(self._replies) >= self._awaited_replies:
            self._waiter.wake()

    def eof_received(self) -> bool:
        """Treat a half-closed connection as closed."""
        self._fail("connection closed by the server")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the reason and wake the waiting coroutine."""
        self._fail(str(exc) if exc else "connection closed by the server")
        self._transport = None
        self._waiter.stop_timer()

    def pause_writing(self) -> None:
        """The server reads too slowly."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """The server reads again."""
        self._writing_paused = False
        if not self._awaited_replies:
            self._waiter.wake()

    # Called by a transaction.

    @property
    def is_quiet(self) -> bool:
        """Whether it is open and has no unread input."""
        return self._failure is None and not self._replies and not self._parser.pending

    @property
    def has_early_reply(self) -> bool:
        """Whether a reply or the end of the connection was received and not read yet."""
        return self._failure is not None or bool(self._replies)

    def write(self, data: bytes) -> None:
        """Send, or queue behind unsent data. Does nothing on a failed connection."""
        if self._transport and self._failure is None:
            self._transport.write(data)

    async def read_replies(self, count: int, stage: Stage, seconds: float) -> list[SmtpReply]:
        """Return the next `count` replies. Raises `ConnectionLost`, or `SmtpRefusal` if one is missing after a 421."""
        if len(self._replies) < count:
            self._awaited_replies = count
            try:
                await self._wait(seconds)
            except TimeoutError:
                self._timed_out = True
                self._fail(f"no reply within {seconds:g} s")
            finally:
                self._awaited_replies = 0
        if len(self._replies) < count:
            if self._replies and self._replies[-1].code == 421:
                raise SmtpRefusal(self._replies[-1], stage)
            raise ConnectionLost(self._failure or "no reply", stage, timed_out=self._timed_out)
        replies = [self._replies.popleft() for _ in range(count)]
        if not self._replies:
            self._unread_bytes = 0
        return replies

    async def read_reply(self, stage: Stage, seconds: float) -> SmtpReply:
        """Return the next reply. Raises like `read_replies`."""
        return (await self.read_replies(1, stage, seconds))[0]

    async def drain(self, stage: Stage, seconds: float) -> None:
        """Wait until the server has read most of the written data, or has replied. Raises `ConnectionLost`."""
        await asyncio.sleep(0)  # otherwise a server that reads as fast as we write would starve other tasks
        while self._writing_paused and not self.has_early_reply:
            try:
                await self._wait(seconds)
            except TimeoutError:
                self._fail(f"the server read nothing for {seconds:g} s")
                raise ConnectionLost(self._failure or "", stage, timed_out=True) from None

    async def start_tls(self, context: ssl.SSLContext, name: str) -> None:
        """Start TLS. Raises `ConnectionLost` if the handshake fails, or if unencrypted input came before it."""
        if not self.is_quiet or self._transport is None:
            raise ConnectionLost("unencrypted data after the STARTTLS reply", "tls")
        try:
            transport = await self._loop.start_tls(self._transport, self, context, server_hostname=name)
        except (OSError, EOFError) as error:
            self._fail(f"TLS: {error}")
            raise ConnectionLost(self._failure or "", "tls") from error
        if transport is None:
            raise ConnectionLost("connection closed during the TLS handshake", "tls")
        self.connection_made(transport)

    def quit(self) -> None:
        """Send QUIT and close, without waiting for the reply."""
        self.write(b"QUIT\r\n")
        self._fail("connection closed by Mailkeep")

    def abort(self) -> None:
        """Close at once. The server discards content without its final dot."""
        self._fail("connection closed by Mailkeep")

    # Waiting.

    def _fail(self, why: str) -> None:
        if self._failure is None:
            self._failure = why
            if self._transport:
                # close() would read on until the server ends TLS, for up to 30 s, or wait until it reads our data.
                self._transport.abort()
        self._waiter.wake()

    async def _wait(self, seconds: float) -> None:
        """Until woken. Raises TimeoutError."""
        if self._failure is None:
            await self._waiter.wait(self._loop.time() + seconds)


async def connect(relay: Relay) -> SmtpConnection:
    """Open a connection, with TLS and login as configured. Raises `SmtpRefusal` or `ConnectionLost`."""
    connection = await _open(relay)
    try:
        await _greet(connection, relay)
        if relay.tls == "starttls":
            await _start_tls(connection, relay)
        if relay.username is not None:
            await _login(connection, relay)
    except BaseException:
        connection.abort()
        raise
    return connection


async def _open(relay: Relay) -> SmtpConnection:
    hosts = await relay.addresses() if relay.addresses else [relay.host]
    seconds = relay.timeouts.connect / min(len(hosts), 5)  # unresponsive addresses share the timeout
    for host in hosts[:-1]:
        try:
            return await _open_to(relay, host, seconds)
        except ConnectionLost as lost:
            if lost.stage != "connect":
                raise
    return await _open_to(relay, hosts[-1], seconds)


async def _open_to(relay: Relay, host: str, seconds: float) -> SmtpConnection:
    loop = asyncio.get_running_loop()
    source = (relay.source, 0) if relay.source else None
    try:
        async with asyncio.timeout(seconds):
            if host.startswith("/"):
                _, connection = await loop.create_unix_connection(SmtpConnection, host)
            elif relay.tls == "tls":
                name = relay.server_name or relay.host
                _, connection = await loop.create_connection(
                    SmtpConnection, host, relay.port, ssl=_context(relay), server_hostname=name, local_addr=source
                )
            else:
                _, connection = await loop.create_connection(SmtpConnection, host, relay.port, local_addr=source)
    except TimeoutError:
        raise ConnectionLost(f"no connection within {seconds:g} s", "connect", timed_out=True) from None
    except ssl.SSLError as error:
        raise ConnectionLost(str(error), "tls") from error
    except OSError as error:
        raise ConnectionLost(_connect_error(error), "connect") from error
    return connection


def _connect_error(error: OSError) -> str:
    """Why the connection failed, without the addresses in asyncio's text, because users read it."""
    if isinstance(error, socket.gaierror):
        return error.strerror or "the name is unknown"
    return os.strerror(error.errno) if error.errno else "no address accepts connections"


def _context(relay: Relay) -> ssl.SSLContext:
    return relay.ssl_context or ssl.create_default_context()


async def _greet(connection: SmtpConnection, relay: Relay) -> None:
    greeting = await connection.read_reply("greeting", relay.timeouts.greeting)
    if greeting.code != 220:
        raise SmtpRefusal(as_refusal(greeting), "greeting")
    await _ehlo(connection, relay)


async def _ehlo(connection: SmtpConnection, relay: Relay) -> None:
    """Send EHLO, or HELO if the server does not know EHLO (RFC 5321 §3.2)."""
    connection.extensions = {}
    connection.write(f"EHLO {relay.helo}\r\n".encode("ascii"))
    reply = await connection.read_reply("ehlo", relay.timeouts.command)
    if reply.code in (500, 502):
        connection.write(f"HELO {relay.helo}\r\n".encode("ascii"))
        reply = await connection.read_reply("ehlo", relay.timeouts.command)
        if reply.code == 250:
            return
    if reply.code != 250:
        raise SmtpRefusal(as_refusal(reply), "ehlo")
    for line in reply.text.split("\n")[1:]:
        keyword, _, parameters = line.strip().partition(" ")
        connection.extensions[keyword.upper()] = parameters


async def _start_tls(connection: SmtpConnection, relay: Relay) -> None:
    if "STARTTLS" not in connection.extensions:
        raise SmtpRefusal(SmtpReply(454, "4.7.0", "The server does not offer STARTTLS"), "tls")
    connection.write(b"STARTTLS\r\n")
    reply = await connection.read_reply("tls", relay.timeouts.command)
    if reply.code != 220:
        raise SmtpRefusal(as_refusal(reply), "tls")
    try:
        async with asyncio.timeout(relay.timeouts.connect):
            await connection.start_tls(_context(relay), relay.server_name or relay.host)
    except TimeoutError:
        raise ConnectionLost(f"no TLS handshake within {relay.timeouts.connect:g} s", "tls") from None
    await _ehlo(connection, relay)


async def _login(connection: SmtpConnection, relay: Relay) -> None:
    """Log in with AUTH PLAIN (RFC 4616), or else LOGIN."""
    username, password = (relay.username or "").encode(), (relay.password or "").encode()
    offered = connection.extensions.get("AUTH", "").upper().split()
    if "PLAIN" in offered:
        lines = [b"AUTH PLAIN " + base64.b64encode(b"\0" + username + b"\0" + password)]
    elif "LOGIN" in offered:
        lines = [b"AUTH LOGIN", base64.b64encode(username), base64.b64encode(password)]
    else:
        raise SmtpRefusal(SmtpReply(504, "5.5.4", "The server offers neither AUTH PLAIN nor LOGIN"), "login")
    for number, line in enumerate(lines, start=1):
        connection.write(line + b"\r\n")
        reply = await connection.read_reply("login", relay.timeouts.command)
        if reply.code != (235 if number == len(lines) else 334):
            raise SmtpRefusal(as_refusal(reply), "login")


def as_refusal(reply: SmtpReply) -> SmtpReply:
    """An unexpected reply that is not an error becomes a temporary error."""
    return reply if reply.code >= 400 else SmtpReply(451, "4.5.0", f"unexpected reply: {reply}")
