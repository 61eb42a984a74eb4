"""The supervisor's control socket: the process `node` asks it for the state of services, and to start or stop them.

Each connection has one request and one response, both a line of JSON. Only root can connect.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import msgspec
import structlog

from mailkeep.core.errors import Failure
from mailkeep.mail.smtp import unix_socket
from mailkeep.run.runtime.supervisor import ServiceState, Supervisor

log = structlog.get_logger("mailkeep.control")

Command = Literal["status", "ready", "start", "stop", "restart"]
_SECONDS = 90.0  # more than a start may take
_REQUEST_SECONDS = 5.0


class Away(Failure):
    """The supervisor does not answer."""


class Request(msgspec.Struct, frozen=True):
    """A command; `service` is empty for `status`."""

    command: Command
    service: str = ""


class Response(msgspec.Struct, frozen=True):
    """The state of all services; `error` if the command failed."""

    services: list[ServiceState] = []
    error: str | None = None


async def serve(path: Path, supervisor: Supervisor) -> asyncio.Server:
    """Answer requests until the server is closed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                request = msgspec.json.decode(await reader.readline(), type=Request)
            response = await _perform(supervisor, request)
            writer.write(msgspec.json.encode(response) + b"\n")
            await writer.drain()
        except (OSError, TimeoutError, msgspec.MsgspecError) as error:
            log.warning("a request could not be answered", why=str(error))
        finally:
            writer.close()

    return await asyncio.start_unix_server(answer, sock=unix_socket.bind_unix_socket(path, 0o600, 0))


async def _perform(supervisor: Supervisor, request: Request) -> Response:
    if request.command != "status" and request.service not in supervisor.running:
        return Response(error=f"There is no service {request.service}.")
    try:
        match request.command:
            case "status":
                pass
            case "ready":
                await supervisor.require_ready(request.service)
            case "start":
                await supervisor.start_again(request.service)
            case "stop":
                await supervisor.stop_one(request.service)
            case "restart":
                await supervisor.restart(request.service)
    except Failure as failure:
        return Response(error=str(failure))
    return Response(supervisor.describe())


async def ask(path: Path, command: Command, service: str = "") -> list[ServiceState]:
    """Send a request to the supervisor; the state of all services afterwards. Failure; Away without an answer."""
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=1 << 20)
            writer.write(msgspec.json.encode(Request(command, service)) + b"\n")
            line = await reader.readline()
            writer.close()
            response = msgspec.json.decode(line, type=Response)
    except (OSError, TimeoutError, msgspec.MsgspecError) as error:
        raise Away(f"The supervisor does not answer: {error}") from error
    if response.error is not None:
        raise Failure(response.error)
    return response.services
