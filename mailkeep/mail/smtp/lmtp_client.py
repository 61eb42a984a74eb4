"""Delivers messages to an LMTP server (RFC 2033) on a Unix socket, with one reply for each recipient.

MAIL, all RCPT and DATA are sent in one write (RFC 2920), and the content after the 354. Connections are reused. An idle
one that the server closed is replaced before any content is sent. A refused connection is tried again for five seconds,
because a reload of Dovecot replaces its sockets, and resets connections that it had not accepted.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic

from mailkeep.mail.smtp.commands import is_mailbox
from mailkeep.mail.smtp.connection import ConnectionLost, SmtpConnection, SmtpRefusal, Timeouts, as_refusal
from mailkeep.mail.smtp.data import DotStuffer
from mailkeep.mail.smtp.reply import SmtpReply

_WRITE_SIZE = 128 * 1024
_MAX_IDLE = 50
_RELOAD_SECONDS, _RETRY_SECONDS = 5.0, 0.1
# Dovecot 2.3 kills a process 30 s after its start if a reload came just then ("Initial status notification").
_LONGEST_SECONDS = 20.0
_NOT_XCHAR = re.compile(r"[^!-~]|[+=]")  # xtext, RFC 3461 §4
_NO_ORIGINALS: Mapping[str, str] = {}
_Rcpt = tuple[str, str | None]
"""A recipient with its original address, if that is known."""
_BAD_ADDRESS = SmtpReply(501, "5.1.3", "Invalid recipient address")
TIMEOUTS = Timeouts(connect=5.0, greeting=15.0, command=60.0, body=120.0, acceptance=300.0)


class LmtpClient:
    """Connections to the server at `path`, one for each concurrent delivery."""

    def __init__(self, path: Path, helo: str, timeouts: Timeouts = TIMEOUTS) -> None:
        self._path = path
        self._helo = helo
        self._timeouts = timeouts
        self._idle: list[SmtpConnection] = []

    async def deliver(
        self,
        mail_from: str,
        rcpt_to: Sequence[str],
        body: Iterable[bytes],
        originals: Mapping[str, str] = _NO_ORIGINALS,
    ) -> list[SmtpReply]:
        """Deliver one message. Returns a reply for each recipient, in order.

        `body` yields the content with CRLF line ends. `originals`: the original address of a recipient, by the
        recipient (ORCPT, RFC 3461 §4.2). Raises `SmtpRefusal` if the server accepts no message now, and
        `ConnectionLost` if the connection failed: after the final dot the server may have the message.
        """
        rcpts = [(address, originals.get(address)) for address in rcpt_to]
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_quiet or connection.opened_at + _LONGEST_SECONDS < asyncio.get_running_loop().time():
                connection.quit()
                continue
            connection.idle_since = None
            try:
                return await self._deliver(connection, mail_from, rcpts, body)
            except (ConnectionLost, SmtpRefusal) as error:
                if error.stage != "envelope":
                    raise
        return await self._deliver(await self._connect(), mail_from, rcpts, body)

    async def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().quit()
        await asyncio.sleep(0)

    async def _connect(self) -> SmtpConnection:
        deadline = math.inf
        while True:
            try:
                return await self._open()
            except ConnectionLost as error:
                deadline = min(deadline, monotonic() + _RELOAD_SECONDS)
                if error.timed_out or monotonic() >= deadline:
                    raise
            await asyncio.sleep(_RETRY_SECONDS)

    async def _open(self) -> SmtpConnection:
        loop, timeouts = asyncio.get_running_loop(), self._timeouts
        try:
            async with asyncio.timeout(timeouts.connect):
                _, connection = await loop.create_unix_connection(SmtpConnection, str(self._path))
        except TimeoutError:
            raise ConnectionLost(f"no connection within {timeouts.connect:g} s", "connect", timed_out=True) from None
        except OSError as error:
            raise ConnectionLost(str(error), "connect") from error
        try:
            _expect(await connection.read_reply("greeting", timeouts.greeting), 220, "greeting")
            connection.write(f"LHLO {self._helo}\r\n".encode("ascii"))
            _expect(await connection.read_reply("ehlo", timeouts.command), 250, "ehlo")
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _deliver(
        self, connection: SmtpConnection, mail_from: str, rcpts: Sequence[_Rcpt], body: Iterable[bytes]
    ) -> list[SmtpReply]:
        try:
            replies = await self._transaction(connection, mail_from, rcpts, body)
        except BaseException:
            connection.abort()
            raise
        if connection.is_quiet and len(self._idle) < _MAX_IDLE:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.quit()
        return replies

    async def _transaction(
        self, connection: SmtpConnection, mail_from: str, rcpts: Sequence[_Rcpt], body: Iterable[bytes]
    ) -> list[SmtpReply]:
        timeouts = self._timeouts
        # Our own MTA has checked the addresses, but one with a line break would add a command.
        valid = [is_mailbox(address, smtputf8=True) for address, _ in rcpts]
        if not any(valid):
            return [_BAD_ADDRESS] * len(rcpts)
        sender = mail_from if not mail_from or is_mailbox(mail_from, smtputf8=True) else ""
        commands = [_rcpt_command(*rcpt) for rcpt, is_valid in zip(rcpts, valid, strict=True) if is_valid]
        connection.write("".join([f"MAIL FROM:<{sender}>\r\n", *commands, "DATA\r\n"]).encode())
        mail, *answers, data = await connection.read_replies(len(commands) + 2, "envelope", timeouts.command)
        _expect(mail, 250, "envelope")
        accepted = sum(reply.is_positive for reply in answers)
        if accepted:
            _expect(data, 354, "envelope")
            await self._send(connection, body)
            final_replies = iter(await connection.read_replies(accepted, "acceptance", timeouts.acceptance))
            answers = [next(final_replies) if reply.is_positive else reply for reply in answers]
        else:
            connection.write(b"RSET\r\n")
            _expect(await connection.read_reply("envelope", timeouts.command), 250, "envelope")
        replies = iter(answers)
        return [next(replies) if is_valid else _BAD_ADDRESS for is_valid in valid]

    async def _send(self, connection: SmtpConnection, body: Iterable[bytes]) -> None:
        stuffer, end = DotStuffer(), b"\r\n"
        for chunk in body:
            for start in range(0, len(chunk), _WRITE_SIZE):
                content = stuffer.feed(chunk[start : start + _WRITE_SIZE])
                if content:
                    end = (end + content)[-2:]
                connection.write(content)
                await connection.drain("body", self._timeouts.body)
        stuffer.finish()
        connection.write(b".\r\n" if end == b"\r\n" else b"\r\n.\r\n")


def _rcpt_command(address: str, original: str | None) -> str:
    """RCPT, with the original address in ORCPT if it is another one, in ASCII."""
    if original is None or original == address or not original.isascii():
        return f"RCPT TO:<{address}>\r\n"
    encoded = _NOT_XCHAR.sub(lambda match: f"+{ord(match[0]):02X}", original)
    return f"RCPT TO:<{address}> ORCPT=rfc822;{encoded}\r\n"


def _expect(reply: SmtpReply, code: int, stage: str) -> None:
    if reply.code != code:
        raise SmtpRefusal(as_refusal(reply), stage)  # pyright: ignore[reportArgumentType] one of the stages
