"""Postfix's policy delegation (https://www.postfix.org/SMTPD_POLICY_README.html), server side.

A request consists of lines `name=value` and an empty line; the response is `action=…` and an empty line. A malformed
request ends the connection; Postfix then retries, and finally defers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from mailkeep.mail.smtp.unix_socket import listen_unix

log = logging.getLogger(__name__)

_MAX_REQUEST = 64 * 1024
DUNNO, OK = "DUNNO", "OK"
"""Actions: go on with the next restriction, or skip the restrictions that follow."""

Decide = Callable[[Mapping[str, str]], Awaitable[str]]
"""Returns the action of access(5) for the attributes of a request. Must not raise."""


class MalformedPolicyRequest(ValueError):
    """The data is not a valid request."""


def parse_request(content: bytes) -> dict[str, str]:
    """Parse the lines of a request without its empty line. Raises MalformedPolicyRequest."""
    attributes: dict[str, str] = {}
    for line in content.split(b"\n"):
        name, equals, value = line.partition(b"=")
        if not equals or not name:
            raise MalformedPolicyRequest(f"a line is not name=value: {line[:80]!r}")
        attributes[name.decode("ascii", "replace")] = value.decode("utf-8", "replace").replace("\0", "?")
    if attributes.get("request") != "smtpd_access_policy":
        raise MalformedPolicyRequest("the attribute `request` is not smtpd_access_policy")
    return attributes


def format_response(action: str) -> bytes:
    """The response with an action, always a single line."""
    text = " ".join(action.split())
    return f"action={text}\n\n".encode("ascii", "replace")


async def serve_policy(path: Path, decide: Decide, *, mode: int, group: int) -> asyncio.Server:
    """Serve on a Unix socket, which replaces an existing one. Raises OSError."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read_request(reader):
                writer.write(format_response(await decide(request)))
                await writer.drain()
        except (OSError, MalformedPolicyRequest) as error:
            log.warning("policy connection closed: %s", error)
        finally:
            writer.close()

    return await listen_unix(
        path, mode, group, lambda new: asyncio.start_unix_server(converse, new, limit=_MAX_REQUEST)
    )


async def _read_request(reader: asyncio.StreamReader) -> dict[str, str] | None:
    """The next request, None at the end of the connection."""
    try:
        request = await reader.readuntil(b"\n\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise MalformedPolicyRequest(f"the request is longer than {_MAX_REQUEST} bytes") from None
    return parse_request(request[:-2])
