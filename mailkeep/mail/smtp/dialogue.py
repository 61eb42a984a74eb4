"""The server side of an SMTP (RFC 5321) or LMTP (RFC 2033) session.

An `SmtpHandler` decides on senders, recipients and messages. The dialogue implements the protocol: order, grammar,
limits, one reply for each command, and in LMTP one for each accepted recipient after the message. Extensions:
PIPELINING, SIZE, 8BITMIME, SMTPUTF8, ENHANCEDSTATUSCODES; with an `SmtpLogin` also STARTTLS and, after it, AUTH;
with `SmtpLimits.mta_extensions` also XFORWARD, and DSN for its ORCPT.

Input that SMTP smuggling relies on is rejected. A bare CR or LF in content or command lines ends the session with 521
5.5.2: a repaired message would have line ends that its sender did not write. Input after DATA, EHLO, STARTTLS or AUTH
before their reply, or after any command if PIPELINING was not offered, ends it with 554 5.5.0.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Sequence

from mailkeep.core.errors import Unavailable
from mailkeep.mail.smtp import login as auth
from mailkeep.mail.smtp.channel import (
    BareLineFeed,
    Channel,
    ChannelEnd,
    EndlessLine,
    LineTooLong,
    PeerDisconnect,
    ServerStop,
    SessionRevoked,
    SessionTimeout,
)
from mailkeep.mail.smtp.commands import Command, Hello, Mail, PlainCommand, Rcpt, Xforward, parse_command
from mailkeep.mail.smtp.data import DataFault, DataReader
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpHandler, SmtpLimits, SmtpLogin, SmtpSession
from mailkeep.mail.smtp.spool import Spool

log = logging.getLogger(__name__)

OK = SmtpReply(250, "2.0.0", "Ok")
SENDER_OK = SmtpReply(250, "2.1.0", "Ok")
RECIPIENT_OK = SmtpReply(250, "2.1.5", "Ok")
GO_AHEAD = SmtpReply(354, "", "End data with <CR><LF>.<CR><LF>")
BYE = SmtpReply(221, "2.0.0", "Bye")
CANNOT_VERIFY = SmtpReply(252, "2.5.0", "Cannot verify, but will accept the message")
TEMPORARY_ERROR = SmtpReply(451, "4.3.0", "Temporary server error, try again later")
DISK_FULL = SmtpReply(452, "4.3.1", "Insufficient system storage, try again later")
TOO_MANY_RECIPIENTS = SmtpReply(452, "4.5.3", "Too many recipients")
TOO_LARGE = SmtpReply(552, "5.3.4", "Message too large")
HEADER_LINE_TOO_LONG = SmtpReply(554, "5.6.0", "Header line too long")
LINE_TOO_LONG = SmtpReply(500, "5.5.2", "Command line too long")
HELLO_FIRST = SmtpReply(503, "5.5.1", "Send EHLO (LMTP: LHLO) first")
WRONG_HELLO = SmtpReply(500, "5.5.1", "Use LHLO for LMTP, and EHLO or HELO for SMTP")
MAIL_FIRST = SmtpReply(503, "5.5.1", "Send MAIL first")
NESTED_MAIL = SmtpReply(503, "5.5.1", "Nested MAIL command")
NO_RECIPIENTS = SmtpReply(554, "5.5.1", "No valid recipients")
NO_RECIPIENTS_LMTP = SmtpReply(503, "5.5.1", "No valid recipients")  # the code that RFC 2033 §4.2 names
EARLY_INPUT = SmtpReply(554, "5.5.0", "Input sent before the reply to the last command")
BARE_NEWLINE = SmtpReply(521, "5.5.2", "Bare <CR> or <LF> received")
TOO_MANY_ERRORS = SmtpReply(421, "4.7.0", "Too many errors")
TIMEOUT = SmtpReply(421, "4.4.2", "Timeout, closing connection")
REVOKED = SmtpReply(421, "4.7.0", "The credentials of this session are not valid any more")
STOPPING = SmtpReply(421, "4.3.2", "Server is shutting down")
CLOSE_SECONDS = 5.0  # seconds for the client to read the last reply


class SmtpDialogue:
    """One session, from the banner to the end of the connection."""

    def __init__(
        self,
        channel: Channel,
        handler: SmtpHandler,
        limits: SmtpLimits,
        session: SmtpSession,
        hostname: str,
        login: SmtpLogin | None = None,
    ) -> None:
        self._channel = channel
        self._handler = handler
        self._limits = limits
        self._session = session
        self._hostname = hostname
        self._login = login
        self._errors = 0
        self._refused = 0
        self._idle_commands = 0
        self._open = True
        self._lmtp = session.protocol == "lmtp"

    async def run(self) -> None:
        """Run the session until either side ends it. Raises only CancelledError."""
        channel = self._channel
        channel.reply(SmtpReply(220, "", f"{self._hostname} {'LMTP' if self._lmtp else 'ESMTP'} Mailkeep"))
        try:
            while self._open:
                if channel.stopping:
                    raise ServerStop
                await self._handle_command()
        except PeerDisconnect:
            return
        except ChannelEnd as end:
            self._reply_to_end(end)
        except Exception:
            log.exception("session with %s failed", self._session.peer[0])
            channel.reply(SmtpReply(421, "4.3.0", TEMPORARY_ERROR.text))
        await channel.linger(seconds=min(CLOSE_SECONDS, self._limits.linger_seconds), max_bytes=64 * 1024)

    def _reply_to_end(self, end: ChannelEnd) -> None:
        match end:
            case SessionTimeout():
                self._channel.reply(TIMEOUT)
            case ServerStop():
                self._channel.reply(STOPPING)
            case SessionRevoked():
                self._channel.reply(REVOKED)
            case BareLineFeed():
                self._channel.reply(BARE_NEWLINE)
            case EndlessLine():
                self._channel.reply(SmtpReply(421, "4.5.2", LINE_TOO_LONG.text))
            case _:
                pass

    async def _handle_command(self) -> None:
        try:
            line = await self._channel.read_line(self._limits.path_line)
        except LineTooLong:
            self._reply_counting_errors(LINE_TOO_LONG)
            return
        if len(line) + 2 > self._limits.command_line and line[:4].upper() not in (b"MAIL", b"RCPT", b"AUTH"):
            self._reply_counting_errors(LINE_TOO_LONG)
            return
        verb, _, argument = line.partition(b" ")
        if self._login is not None and (verb := verb.upper()) in (b"STARTTLS", b"AUTH"):
            await self._secure(self._login, verb, argument)
            return
        envelope = self._session.envelope
        utf8 = envelope is not None and envelope.smtputf8
        command = parse_command(line, smtputf8=utf8, mta_extensions=self._limits.mta_extensions)
        if self._channel.pending and self._must_be_last(line, command):
            self._reply_counting_errors(EARLY_INPUT)
            self._open = False
            return
        await self._execute(command)

    async def _execute(self, command: Command | SmtpReply) -> None:
        match command:
            case SmtpReply():
                self._reply_counting_errors(command)
            case Hello():
                self._hello(command)
            case Mail():
                await self._mail(command)
            case Rcpt():
                await self._rcpt(command)
            case Xforward():
                self._session.forwarded |= command.attributes
                self._reply(OK)
            case PlainCommand():
                await self._plain(command)

    def _must_be_last(self, line: bytes, command: object) -> bool:
        """Whether the client must wait for the reply to this line (RFC 2920 §3.1, RFC 5321 §4.1.4)."""
        if isinstance(command, PlainCommand) and command.verb == "QUIT":
            return False
        return not self._session.extended or line[:4].upper() in (b"DATA", b"EHLO", b"HELO", b"LHLO")

    def _reply_counting_errors(self, reply: SmtpReply) -> None:
        """Reply, count errors, and end the session after too many."""
        if reply.code >= 500:
            self._errors += 1
            if self._errors > self._limits.errors:
                reply = TOO_MANY_ERRORS
        self._reply(reply)

    def _reply(self, reply: SmtpReply) -> None:
        self._channel.reply(reply)
        if reply.code in (421, 521):
            self._open = False

    def _count_idle_command(self) -> bool:
        """Count a command that does not lead to a message. Returns False, and ends the session, after too many."""
        self._idle_commands += 1
        if self._idle_commands > self._limits.idle_commands:
            self._reply(SmtpReply(421, "4.7.0", "Too many commands without a message"))
        return self._open

    def _hello(self, command: Hello) -> None:
        if (command.verb == "LHLO") != self._lmtp:
            self._reply_counting_errors(WRONG_HELLO)
            return
        if not self._count_idle_command():
            return
        session = self._session
        session.helo, session.extended, session.envelope = command.name, command.verb != "HELO", None
        session.forwarded.clear()
        if not session.extended:
            self._reply(SmtpReply(250, "", self._hostname))
            return
        size = f"SIZE {self._limits.message_size}"
        lines = [self._hostname, "PIPELINING", size, "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"]
        if self._login is not None:
            lines.append(f"AUTH {auth.MECHANISMS}" if session.is_encrypted else "STARTTLS")
        if self._limits.mta_extensions:
            lines += ["DSN", "XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE"]
        self._reply(SmtpReply(250, "", "\n".join(lines)))

    async def _secure(self, login: SmtpLogin, verb: bytes, argument: bytes) -> None:
        """Reply to STARTTLS or AUTH."""
        if self._channel.pending:
            self._reply_counting_errors(EARLY_INPUT)
            self._open = False
        elif verb == b"STARTTLS":
            if (reply := await auth.start_tls(login, self._channel, self._session, argument)) is not None:
                self._reply_counting_errors(reply)
        else:
            limit = self._limits.path_line
            self._reply_counting_errors(
                await auth.authenticate(login, self._channel, self._session, argument, line_limit=limit)
            )

    async def _mail(self, command: Mail) -> None:
        if not self._session.helo or self._session.envelope is not None:
            self._reply_counting_errors(NESTED_MAIL if self._session.helo else HELLO_FIRST)
            return
        if not self._count_idle_command():
            return
        envelope = SmtpEnvelope(command.path, command.size, command.body, command.smtputf8)
        if command.size is not None and command.size > self._limits.message_size:
            reply = TOO_LARGE
        else:
            reply = await self._call_handler(lambda: self._handler.mail(self._session, envelope)) or SENDER_OK
        if reply.is_positive:
            self._session.envelope = envelope
        else:
            self._note_rejection(envelope.mail_from, None, reply)
        self._reply(reply)

    async def _rcpt(self, command: Rcpt) -> None:
        envelope = self._session.envelope
        if envelope is None:
            self._reply_counting_errors(MAIL_FIRST if self._session.helo else HELLO_FIRST)
            return
        self._session.original_recipient = command.original
        if len(envelope.rcpt_to) >= self._limits.recipients:
            reply = TOO_MANY_RECIPIENTS
        else:
            reply = await self._call_handler(lambda: self._handler.rcpt(self._session, command.path)) or RECIPIENT_OK
        if reply.is_positive:
            envelope.rcpt_to.append(command.path)
        else:
            self._note_rejection(envelope.mail_from, command.path, reply)
            self._refused += 1
            if self._refused > self._limits.refused_recipients:
                reply = SmtpReply(421, "4.7.0", "Too many refused recipients")
        self._reply(reply)

    async def _plain(self, command: PlainCommand) -> None:
        match command.verb:
            case "DATA":
                await self._data()
            case "QUIT":
                self._reply(BYE)
                self._open = False
            case "RSET":
                self._session.envelope = None
                self._session.forwarded.clear()
                if self._count_idle_command():
                    self._reply(OK)
            case "NOOP" | "VRFY":
                if self._count_idle_command():
                    self._reply(OK if command.verb == "NOOP" else CANNOT_VERIFY)

    async def _data(self) -> None:
        envelope = self._session.envelope
        if envelope is None:
            self._reply_counting_errors(MAIL_FIRST if self._session.helo else HELLO_FIRST)
            return
        if not envelope.rcpt_to:
            self._reply_counting_errors(NO_RECIPIENTS_LMTP if self._lmtp else NO_RECIPIENTS)
            return
        self._reply(GO_AHEAD)
        limits = self._limits
        spool = Spool(limits.spool_folder, limits.memory)
        try:
            reader = DataReader(
                limits.message_size, header_line_limit=limits.header_line, drain_limit=limits.drain_size
            )
            refusal = await self._receive(reader, spool)
            replies = self._reply_per_recipient(refusal or await self._deliver(spool), envelope)
        finally:
            spool.discard()
        self._session.envelope = None
        self._session.forwarded.clear()
        for rcpt_to, reply in zip(envelope.rcpt_to, replies, strict=True):
            if not reply.is_positive:
                self._note_rejection(envelope.mail_from, rcpt_to, reply)
        for reply in replies if self._lmtp else replies[:1]:
            self._reply(reply)
        if any(reply.is_positive for reply in replies):
            self._errors = self._refused = self._idle_commands = 0
        if not reader.is_complete:
            await self._channel.linger(seconds=limits.linger_seconds, max_bytes=limits.drain_size)

    async def _receive(self, reader: DataReader, spool: Spool) -> SmtpReply | None:
        """Read the content into the spool. Returns the rejection if the message can't be accepted."""
        refusal: SmtpReply | None = None
        while not reader.is_complete:
            content = reader.feed(await self._channel.read_chunk())
            if reader.fault is not None:
                spool.discard()
                refusal = _DATA_ERRORS[reader.fault]
                if reader.fault in (DataFault.BARE_NEWLINE, DataFault.ENDLESS):
                    self._open = False
                    return refusal
            elif refusal is None:
                spool.write(content)
                if spool.is_full or (reader.is_complete and spool.has_file):
                    refusal = await _spill(spool)
        self._channel.unread(reader.following_data)
        return refusal

    async def _deliver(self, spool: Spool) -> SmtpReply | Sequence[SmtpReply]:
        try:
            return await self._handler.data(self._session, spool.finish())
        except Exception as error:  # noqa: BLE001 - the sender must retry after any error
            return _reply_to_error(error)

    def _reply_per_recipient(
        self, outcome: SmtpReply | Sequence[SmtpReply], envelope: SmtpEnvelope
    ) -> Sequence[SmtpReply]:
        """Return one reply per recipient. In SMTP, which has one reply for all, they are the same."""
        count = len(envelope.rcpt_to)
        if isinstance(outcome, SmtpReply):
            return [outcome] * count
        if not self._lmtp and len(outcome) == 1:
            return [outcome[0]] * count
        if not self._lmtp or len(outcome) != count:
            log.error("replied 451: the handler returned %d replies for %d recipients", len(outcome), count)
            return [TEMPORARY_ERROR] * count
        return outcome

    async def _call_handler(self, decide: Callable[[], Awaitable[SmtpReply | None]]) -> SmtpReply | None:
        try:
            return await decide()
        except Exception as error:  # noqa: BLE001 - the sender must retry after any error
            return _reply_to_error(error)

    def _note_rejection(self, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        try:
            self._handler.note_rejection(self._session, mail_from, rcpt_to, reply)
        except Exception:
            log.exception("recording a rejection failed")


_DATA_ERRORS = {
    DataFault.BARE_NEWLINE: BARE_NEWLINE,
    DataFault.TOO_LARGE: TOO_LARGE,
    DataFault.HEADER_LINE_TOO_LONG: HEADER_LINE_TOO_LONG,
    # Permanent: after 421 the client would send the same message again for days.
    DataFault.ENDLESS: TOO_LARGE,
}


async def _spill(spool: Spool) -> SmtpReply | None:
    try:
        await asyncio.to_thread(spool.spill)
    except OSError as error:
        spool.discard()
        return _reply_to_error(error)
    return None


def _reply_to_error(error: Exception) -> SmtpReply:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        log.warning("replied 452 (disk full): %s", error)
        return DISK_FULL
    if isinstance(error, Unavailable):
        log.warning("replied 451 (temporary error): %s", error)
    else:
        log.error("replied 451 (temporary error)", exc_info=error)
    return TEMPORARY_ERROR
