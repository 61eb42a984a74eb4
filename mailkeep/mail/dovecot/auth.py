"""Requests of Dovecot's `auth_policy` client: each is an HTTP POST with a JSON object.

Dovecot asks before it verifies a password (`?command=allow`), and reports the result after it has answered the login
(`?command=report`). If it gets no answer in time, the login continues.
https://doc.dovecot.org/2.3/configuration_manual/authentication/auth_policy/
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import socket
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

log = logging.getLogger(__name__)

PROCEED, REFUSE = 0, -1
"""Answers to a question. A positive number is a delay in seconds before the password is verified."""
_MAX_HEAD = 8192
_MAX_BODY = 8192
_IDLE_SECONDS = 60.0
_REQUEST = re.compile(r"POST /\S*\?command=(allow|report) HTTP/1\.[01]", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,5}", re.ASCII)
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden"}

T = TypeVar("T")


class LoginQuestion(msgspec.Struct, frozen=True):
    """A login whose password is to be verified: the name as given, the remote address, the protocol.

    `pwhash`: 12 bits of a keyed hash of name and password. `digest`: the SHA-256 in hexadecimal of a password in the
    form of an app password, else empty; `key`: of one in the form of an API key.
    """

    login: str
    remote: str = ""
    protocol: str = ""
    pwhash: str = ""
    digest: str = ""
    key: str = ""


class LoginReport(msgspec.Struct, frozen=True):
    """A login attempt: the mailbox's folder (after a success), the remote address, the protocol, the name as given.

    `access`: what the password opened, `17/23` for the app password with the number 23, `key:ID` for an API key.
    `pwhash`: as in LoginQuestion. `policy_reject`: the password was not verified, because the answer to the question
    was REFUSE.
    """

    success: bool
    home: str = ""
    remote: str = ""
    protocol: str = ""
    login: str = ""
    access: str = ""
    pwhash: str = ""
    policy_reject: bool = False

    @property
    def app_password(self) -> int | None:
        """The number of the app password; None for the mailbox's own password."""
        number = self.access.partition("/")[2]
        return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


class MalformedAuthRequest(ValueError):
    """The data is not a valid request."""


def parse_head(head: bytes) -> tuple[str, str, int]:
    """Return the command, the token and the body length of a request. Raises MalformedAuthRequest."""
    request, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = fields.get("content-length", "")
    command = _REQUEST.fullmatch(request)
    if command is None:
        raise MalformedAuthRequest(f"not a POST with a command: {request[:80]!r}")
    if "transfer-encoding" in fields:
        raise MalformedAuthRequest("Transfer-Encoding is not supported")
    if not _LENGTH.fullmatch(length):
        raise MalformedAuthRequest(f"Content-Length is missing or not a number of at most 5 digits: {length[:80]!r}")
    if int(length) > _MAX_BODY:
        raise MalformedAuthRequest(f"the body is longer than {_MAX_BODY} bytes")
    return command[1], fields.get("x-token", ""), int(length)


def parse_body(body: bytes, kind: type[T]) -> T:
    """Parse the body of a question or report. Raises MalformedAuthRequest."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedAuthRequest(f"not a {kind.__name__} in JSON: {error}") from error


async def serve_auth_policy(
    listening: socket.socket,
    token: str,
    decide: Callable[[LoginQuestion], Awaitable[int]],
    record: Callable[[LoginReport], Awaitable[None]],
) -> asyncio.Server:
    """Serve requests that carry the token, on a listening socket. `decide` returns PROCEED, REFUSE or a delay; it and
    `record` do not raise. Raises OSError.
    """

    async def answer(command: str, body: bytes) -> int:
        if command == "allow":
            return await decide(parse_body(body, LoginQuestion))
        await record(parse_body(body, LoginReport))
        return PROCEED

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                async with asyncio.timeout(_IDLE_SECONDS):
                    command, sent_token, length = parse_head(await reader.readuntil(b"\r\n\r\n"))
                    body = await reader.readexactly(length)
                is_trusted = hmac.compare_digest(sent_token.encode("latin-1"), token.encode())
                result = await answer(command, body) if is_trusted else PROCEED
                writer.write(_response(200 if is_trusted else 403, result))
                await writer.drain()
        except (asyncio.IncompleteReadError, TimeoutError, ConnectionError):
            pass
        except (asyncio.LimitOverrunError, MalformedAuthRequest) as error:
            log.warning("malformed request of Dovecot's authentication: %s", error)
            writer.write(_response(400, PROCEED))
        finally:
            writer.close()

    return await asyncio.start_server(converse, sock=listening, limit=_MAX_HEAD)


def _response(status: int, result: int) -> bytes:
    body = f'{{"status":{result}}}'
    return (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"Connection: keep-alive\r\n\r\n{body}"
    ).encode()
