"""Login reports of Dovecot's `auth_policy` client: each is an HTTP POST with a JSON object.

Dovecot sends a report after it has answered a login. The reports do not influence whether a login is allowed.
https://doc.dovecot.org/2.3/configuration_manual/authentication/auth_policy/
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import socket
from collections.abc import Callable

import msgspec

log = logging.getLogger(__name__)

_MAX_HEAD = 8192
_MAX_BODY = 8192
_IDLE_SECONDS = 60.0
_LENGTH = re.compile(r"[0-9]{1,5}", re.ASCII)
_REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden"}


class LoginReport(msgspec.Struct, frozen=True):
    """A login attempt: the mailbox's folder (after a success), the remote address, the protocol, the name as given.

    `access`: what the password opened, `17/23` for the app password with the number 23.
    """

    success: bool
    home: str = ""
    remote: str = ""
    protocol: str = ""
    login: str = ""
    access: str = ""

    @property
    def app_password(self) -> int | None:
        """The number of the app password; None for the mailbox's own password."""
        number = self.access.partition("/")[2]
        return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


class MalformedAuthRequest(ValueError):
    """The data is not a valid request."""


def parse_head(head: bytes) -> tuple[str, int]:
    """Return the token and the body length of a request. Raises MalformedAuthRequest."""
    request, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = fields.get("content-length", "")
    if not request.startswith("POST "):
        raise MalformedAuthRequest(f"not a POST request: {request[:80]!r}")
    if "transfer-encoding" in fields:
        raise MalformedAuthRequest("Transfer-Encoding is not supported")
    if not _LENGTH.fullmatch(length):
        raise MalformedAuthRequest(f"Content-Length is missing or not a number of at most 5 digits: {length[:80]!r}")
    if int(length) > _MAX_BODY:
        raise MalformedAuthRequest(f"the body is longer than {_MAX_BODY} bytes")
    return fields.get("x-token", ""), int(length)


def parse_report(body: bytes) -> LoginReport:
    """Parse the body of a request. Raises MalformedAuthRequest."""
    try:
        return msgspec.json.decode(body, type=LoginReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedAuthRequest(f"not a login report in JSON: {error}") from error


async def serve_reports(
    listening: socket.socket, token: str, on_report: Callable[[LoginReport], None]
) -> asyncio.Server:
    """Serve reports that carry the token, on a listening socket. Raises OSError."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                async with asyncio.timeout(_IDLE_SECONDS):
                    sent_token, length = parse_head(await reader.readuntil(b"\r\n\r\n"))
                    body = await reader.readexactly(length)
                status = 200 if hmac.compare_digest(sent_token.encode("latin-1"), token.encode()) else 403
                if status == 200:
                    on_report(parse_report(body))
                writer.write(_response(status))
                await writer.drain()
        except (asyncio.IncompleteReadError, TimeoutError, ConnectionError):
            pass
        except (asyncio.LimitOverrunError, MalformedAuthRequest) as error:
            log.warning("malformed login report: %s", error)
            writer.write(_response(400))
        finally:
            writer.close()

    return await asyncio.start_server(converse, sock=listening, limit=_MAX_HEAD)


def _response(status: int) -> bytes:
    # The status in the body means "proceed"; Dovecot ignores it in reports.
    return (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"
        'Connection: keep-alive\r\n\r\n{"status":0}'
    ).encode()
