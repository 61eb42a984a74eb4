"""Submits one message over an SMTP connection (RFC 5321, with pipelining, RFC 2920, if the server offers it).

MAIL, all RCPT and DATA are sent in one write, and the content after the 354. Nothing is retried. If the
connection is lost after the final dot, `ConnectionLost.submitted` is "unknown".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mailkeep.core import failpoint
from mailkeep.mail.smtp.commands import is_mailbox
from mailkeep.mail.smtp.connection import ConnectionLost, SmtpConnection, SmtpRefusal, Timeouts, as_refusal
from mailkeep.mail.smtp.data import DotStuffer
from mailkeep.mail.smtp.reply import SmtpReply

__all__ = ["AcceptedSubmission", "ConnectionLost", "OutgoingEnvelope", "SmtpRefusal", "submit"]

_WRITE_SIZE = 128 * 1024
_QUEUED_AS = re.compile(r"queued as <?([A-Za-z0-9][A-Za-z0-9._-]{0,254})")
_NO_UTF8 = SmtpReply(553, "5.6.7", "The server does not offer SMTPUTF8")
_NO_8BIT = SmtpReply(554, "5.6.3", "The server does not offer 8BITMIME")


@dataclass(frozen=True, slots=True)
class OutgoingEnvelope:
    """The envelope of a message to send, and the properties of its content that MAIL declares.

    An empty `mail_from` is the null reverse path. `size` is in bytes, with CRLFs and before dot-stuffing.
    """

    mail_from: str
    rcpt_to: Sequence[str]
    size: int | None = None
    eight_bit: bool = False
    smtputf8: bool = False


@dataclass(frozen=True, slots=True)
class AcceptedSubmission:
    """The server accepted the message for all recipients except the `rejected`. `queue_id`: if its reply has one."""

    reply: SmtpReply
    queue_id: str | None
    rejected: dict[str, SmtpReply] = field(default_factory=dict[str, SmtpReply])


async def submit(
    connection: SmtpConnection,
    envelope: OutgoingEnvelope,
    body: Iterable[bytes],
    *,
    stuffed: bool,
    timeouts: Timeouts,
) -> AcceptedSubmission:
    """Send one message. `body` yields the content with CRLF line ends; it is read once, after the 354.

    `stuffed`: the content is dot-stuffed and has no bare CR or LF. Otherwise it is stuffed and checked here
    (`BareNewline`: the message is not sent). Raises ValueError for an invalid address, `SmtpRefusal`,
    `ConnectionLost`, and what `body` raises (the message is not sent). The connection must be quiet (`is_quiet`).
    """
    commands = _compose_commands(connection, envelope)
    failpoint.reach("submit.connected")
    try:
        rejected = await _send_envelope(connection, commands, envelope.rcpt_to, timeouts.command)
        failpoint.reach("submit.recipients_taken")
        await _send_body(connection, body, stuffed=stuffed, seconds=timeouts.body)
        failpoint.reach("submit.dot_sent")
    except SmtpRefusal as refusal:
        connection.needs_reset = True
        if refusal.reply.code == 421:
            connection.abort()
        raise
    except BaseException:
        connection.abort()
        raise
    accepted = await _await_acceptance(connection, rejected, timeouts.acceptance)
    failpoint.reach("submit.accepted")
    return accepted


def _compose_commands(connection: SmtpConnection, envelope: OutgoingEnvelope) -> list[bytes]:
    """Return the command lines of the transaction.

    Raises `SmtpRefusal` if the server lacks an extension or does not accept the size, ValueError for a bad envelope.
    """
    offered = connection.extensions
    if envelope.smtputf8 and "SMTPUTF8" not in offered:
        raise SmtpRefusal(_NO_UTF8, "envelope")
    if envelope.eight_bit and "8BITMIME" not in offered:
        raise SmtpRefusal(_NO_8BIT, "envelope")
    options = ""
    if envelope.size is not None and "SIZE" in offered:
        limit = offered["SIZE"]
        if limit.isascii() and limit.isdigit() and 0 < int(limit) < envelope.size:
            raise SmtpRefusal(SmtpReply(552, "5.3.4", f"The server accepts at most {limit} bytes"), "envelope")
        options += f" SIZE={envelope.size}"
    if envelope.eight_bit:
        options += " BODY=8BITMIME"
    if envelope.smtputf8:
        options += " SMTPUTF8"
    for address in filter(None, (envelope.mail_from, *envelope.rcpt_to)):
        if not is_mailbox(address, smtputf8=envelope.smtputf8):
            raise ValueError(f"invalid SMTP address: {address!r}")
    if not envelope.rcpt_to or not all(envelope.rcpt_to):
        raise ValueError("the message has no recipients")
    lines = [f"MAIL FROM:<{envelope.mail_from}>{options}\r\n".encode()]
    lines += [f"RCPT TO:<{address}>\r\n".encode() for address in envelope.rcpt_to]
    lines.append(b"DATA\r\n")
    return lines


async def _send_envelope(
    connection: SmtpConnection, lines: list[bytes], rcpt_to: Sequence[str], seconds: float
) -> dict[str, SmtpReply]:
    """Send the commands up to DATA. Returns the rejected recipients; `SmtpRefusal` if none was accepted."""
    pipelining = "PIPELINING" in connection.extensions
    if connection.needs_reset:
        await _reset(connection, lines if pipelining else [], seconds)
    elif pipelining:
        connection.write(b"".join(lines))
    if pipelining:
        mail, *rcpts, data = await connection.read_replies(len(lines), "envelope", seconds)
    else:
        mail, rcpts, data = await _send_stepwise(connection, lines, seconds)
    rejected = {to: reply for to, reply in zip(rcpt_to, rcpts, strict=False) if not _is_accepted(reply)}
    if not _is_accepted(mail):
        refusal, rejected = mail, {}
    elif len(rejected) == len(set(rcpt_to)):
        # A temporary refusal comes first: that recipient may be accepted later.
        refusal = min(rejected.values(), key=lambda reply: reply.is_permanent)
    elif data is not None and data.code == 354:
        return rejected
    else:
        refusal = data or mail
    if data is not None and data.code == 354:
        # RFC 2920 §3.1: the server waits for content although there is no recipient. Empty content ends that.
        connection.write(b".\r\n")
        await connection.read_reply("envelope", seconds)
    raise SmtpRefusal(as_refusal(refusal), "envelope", rejected)


async def _reset(connection: SmtpConnection, lines: list[bytes], seconds: float) -> None:
    """End the transaction that an earlier refusal left open. Pipelined `lines` are sent in the same write."""
    connection.write(b"".join((b"RSET\r\n", *lines)))
    reply = await connection.read_reply("envelope", seconds)
    if not _is_accepted(reply):
        raise ConnectionLost(f"RSET was refused: {reply}", "envelope")  # not a refusal of this message
    connection.needs_reset = False


async def _send_stepwise(
    connection: SmtpConnection, lines: list[bytes], seconds: float
) -> tuple[SmtpReply, list[SmtpReply], SmtpReply | None]:
    """Send each command after the reply to the previous one; DATA only if a recipient was accepted.

    Returns the replies to MAIL, to each RCPT and to DATA (None if it was not sent).
    """

    async def send(line: bytes) -> SmtpReply:
        connection.write(line)
        return await connection.read_reply("envelope", seconds)

    mail = await send(lines[0])
    if not _is_accepted(mail):
        return mail, [], None
    rcpts = [await send(line) for line in lines[1:-1]]
    data = await send(lines[-1]) if any(map(_is_accepted, rcpts)) else None
    return mail, rcpts, data


async def _send_body(connection: SmtpConnection, body: Iterable[bytes], *, stuffed: bool, seconds: float) -> None:
    """Send the content and the final dot. A reply before the dot ends the transaction and the connection."""
    stuffer = None if stuffed else DotStuffer()
    parts: list[bytes] = []
    size = 0
    ending = b"\r\n"
    for chunk in body:
        part = stuffer.feed(chunk) if stuffer else chunk
        if not part:
            continue
        parts.append(part)
        size += len(part)
        ending = (ending + part)[-2:] if len(part) < 2 else part[-2:]
        if size >= _WRITE_SIZE:
            connection.write(b"".join(parts))
            parts, size = [], 0
            await connection.drain("body", seconds)
            failpoint.reach("submit.in_data")
            if connection.has_early_reply:
                await _refuse_early(connection)
    if stuffer:
        stuffer.finish()
    if connection.has_early_reply:
        await _refuse_early(connection)
    parts.append(b".\r\n" if ending == b"\r\n" else b"\r\n.\r\n")
    connection.write(b"".join(parts))


async def _refuse_early(connection: SmtpConnection) -> None:
    """Raise the reply that the server sent during the content. Its final dot must not be sent then."""
    reply = await connection.read_reply("body", 0)
    connection.abort()
    raise SmtpRefusal(as_refusal(reply), "body")


async def _await_acceptance(
    connection: SmtpConnection, rejected: dict[str, SmtpReply], seconds: float
) -> AcceptedSubmission:
    try:
        reply = await connection.read_reply("acceptance", seconds)
    except ConnectionLost as lost:
        raise ConnectionLost(lost.why, "acceptance", "unknown", timed_out=lost.timed_out) from lost
    except BaseException:
        connection.abort()
        raise
    if not _is_accepted(reply):
        connection.needs_reset = True
        if reply.code == 421:
            connection.abort()
        raise SmtpRefusal(as_refusal(reply), "acceptance", rejected)
    match = _QUEUED_AS.search(reply.text)
    return AcceptedSubmission(reply, match[1] if match else None, rejected)


def _is_accepted(reply: SmtpReply) -> bool:
    return 250 <= reply.code < 300
