"""STARTTLS (RFC 3207) and AUTH (RFC 4954) with the mechanisms PLAIN (RFC 4616) and LOGIN, server side."""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Generator

from mailkeep.mail.smtp.channel import Channel, LineTooLong
from mailkeep.mail.smtp.commands import NO_ARGUMENT
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.session import SmtpLogin, SmtpSession

log = logging.getLogger(__name__)

MECHANISMS = "PLAIN LOGIN"
_READY = SmtpReply(220, "2.0.0", "Ready to start TLS")
_HELLO_FIRST = SmtpReply(503, "5.5.1", "Send EHLO first")
_ALREADY_ENCRYPTED = SmtpReply(503, "5.5.1", "TLS is already in use")
_NOT_ENCRYPTED = SmtpReply(538, "5.7.11", "Start TLS first")
_ALREADY = SmtpReply(503, "5.5.1", "Already authenticated")
_IN_TRANSACTION = SmtpReply(503, "5.5.1", "Not during a mail transaction")
_ACCEPTED = SmtpReply(235, "2.7.0", "Authentication successful")
_REFUSED = SmtpReply(535, "5.7.8", "Authentication failed")
_TOO_MANY = SmtpReply(421, "4.7.0", "Too many failed logins")
_UNAVAILABLE = SmtpReply(454, "4.7.0", "Temporary authentication failure, try again later")
_UNKNOWN = SmtpReply(504, "5.5.4", f"Use one of these mechanisms: {MECHANISMS}")
_CANCELLED = SmtpReply(501, "5.7.0", "Authentication cancelled")
_MALFORMED = SmtpReply(501, "5.5.2", "The response is not valid base64 or has the wrong form")
_LINE_TOO_LONG = SmtpReply(500, "5.5.6", "Authentication line too long")

Exchange = Generator[bytes, bytes, tuple[str, str] | SmtpReply]
"""Yields challenges, gets the lines of the client, and returns the name and password, or the reply that ends it."""


async def start_tls(login: SmtpLogin, channel: Channel, session: SmtpSession, argument: bytes) -> SmtpReply | None:
    """Start TLS; returns the reply if the command is refused. Raises PeerDisconnect if the handshake fails."""
    if argument.strip():
        return NO_ARGUMENT
    if session.is_encrypted or not session.helo:
        return _ALREADY_ENCRYPTED if session.is_encrypted else _HELLO_FIRST
    context = login.context()
    channel.reply(_READY)
    await channel.start_tls(context, seconds=login.handshake_seconds)
    # Nothing that was said before counts (RFC 3207 §4.2).
    session.is_encrypted, session.helo, session.extended, session.envelope = True, "", False, None
    return None


async def authenticate(
    login: SmtpLogin, channel: Channel, session: SmtpSession, argument: bytes, *, line_limit: int
) -> SmtpReply:
    """The reply to AUTH, after the client's responses. `line_limit`: bytes of a response. Raises a `ChannelEnd`."""
    if not session.is_encrypted:
        return _NOT_ENCRYPTED
    if session.is_authenticated or not session.helo:
        return _ALREADY if session.is_authenticated else _HELLO_FIRST
    if session.envelope is not None:
        return _IN_TRANSACTION
    outcome = await _converse(channel, argument, line_limit)
    if isinstance(outcome, SmtpReply):
        return outcome
    try:
        session.is_authenticated = await login.authenticate(session, *outcome)
    except Exception as error:  # noqa: BLE001 - the client must retry after any error
        log.warning("replied 454 (temporary error): %s", error)
        return _UNAVAILABLE
    if session.is_authenticated:
        return _ACCEPTED
    session.failed_logins += 1
    return _REFUSED if session.failed_logins < login.attempts else _TOO_MANY


async def _converse(channel: Channel, argument: bytes, line_limit: int) -> tuple[str, str] | SmtpReply:
    """The name and password that the client sends."""
    exchange = begin(argument)
    if isinstance(exchange, SmtpReply):
        return exchange
    try:
        challenge = next(exchange)
        while True:
            channel.reply(SmtpReply(334, "", base64.b64encode(challenge).decode("ascii")))
            challenge = exchange.send(await channel.read_line(line_limit))
    except LineTooLong:
        return _LINE_TOO_LONG
    except StopIteration as end:
        return end.value


def begin(argument: bytes) -> Exchange | SmtpReply:
    """Begin with the argument of AUTH, `PLAIN` or `PLAIN AGFsaWNl…`. Returns the reply that rejects it."""
    mechanism, _, initial = argument.strip(b" ").partition(b" ")
    match mechanism.upper():
        case b"PLAIN":
            return _plain(initial)
        case b"LOGIN":
            return _login(initial)
        case _:
            return _UNKNOWN


def _plain(initial: bytes) -> Exchange:
    message = _decode(initial or (yield b""))
    if isinstance(message, SmtpReply):
        return message
    authorization, *credentials = message.split("\0")
    if len(credentials) != 2 or authorization not in ("", credentials[0]):
        return _MALFORMED
    return credentials[0], credentials[1]


def _login(initial: bytes) -> Exchange:
    name = _decode(initial or (yield b"Username:"))
    if isinstance(name, SmtpReply):
        return name
    password = _decode((yield b"Password:"))
    return password if isinstance(password, SmtpReply) else (name, password)


def _decode(line: bytes) -> str | SmtpReply:
    """The text of a response; `=` is an empty one (RFC 4954 §4)."""
    if line == b"*":
        return _CANCELLED
    try:
        return base64.b64decode(b"" if line == b"=" else line, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return _MALFORMED
