"""A small IMAP client (RFC 9051) for one mailbox over TLS: log in, search, delete. Only commands without literals."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from mailkeep.core.errors import Failure

_MAX_LINE = 1 << 16


class ImapRefusal(Failure):
    """The server answered NO, BAD or BYE; the text is its reply."""


@dataclass(frozen=True, slots=True)
class ImapServer:
    """A server of this machine: its certificate is not verified. `implicit_tls`: TLS from the start (993), else
    STARTTLS. `source`: our own IP address.
    """

    host: str
    port: int
    implicit_tls: bool
    source: str


class ImapSession:
    """An open session; leaving the context closes it. The caller sets the timeouts."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._number = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.transport.abort()

    async def log_in(self, user: str, password: str) -> None:
        """Log in and open the inbox; neither argument may need escaping."""
        await self._command(f'LOGIN "{user}" "{password}"')
        await self._command("SELECT INBOX")

    async def search(self, criteria: str) -> list[str]:
        """The UIDs of the messages that match now."""
        await self._command("NOOP")
        lines = await self._command(f"UID SEARCH {criteria}")
        return [uid for line in lines if line.startswith("* SEARCH") for uid in line.split()[2:]]

    async def delete(self, uids: list[str]) -> None:
        """Delete messages for good."""
        if uids:
            await self._command(rf"UID STORE {','.join(uids)} +FLAGS.SILENT (\Deleted)")
            await self._command(f"UID EXPUNGE {','.join(uids)}")

    async def log_out(self) -> None:
        """Log out."""
        await self._command("LOGOUT")

    async def start_tls(self, context: ssl.SSLContext) -> None:
        """Start TLS."""
        await self._command("STARTTLS")
        await self._writer.start_tls(context)

    async def greet(self) -> None:
        """Read the greeting."""
        line = await self._read_line()
        if not line.startswith("* OK"):
            raise ImapRefusal(line)

    async def _command(self, command: str) -> list[str]:
        """The untagged lines of a reply."""
        self._number += 1
        tag = f"p{self._number}"
        self._writer.write(f"{tag} {command}\r\n".encode())
        lines: list[str] = []
        while not (line := await self._read_line()).startswith(f"{tag} "):
            if line.startswith("* BYE") and command != "LOGOUT":
                raise ImapRefusal(line)
            lines.append(line)
        if not line.startswith(f"{tag} OK"):
            raise ImapRefusal(line.removeprefix(f"{tag} "))
        return lines

    async def _read_line(self) -> str:
        try:
            line = await self._reader.readuntil(b"\r\n")
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("the server closed the connection") from error
        except asyncio.LimitOverrunError as error:
            raise ConnectionResetError("the server sent a line that is too long") from error
        return line.decode("utf-8", "replace").rstrip("\r\n")


async def connect(server: ImapServer) -> ImapSession:
    """Connect, with TLS. Raises OSError, and ImapRefusal."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(
        server.host,
        server.port,
        ssl=context if server.implicit_tls else None,
        local_addr=(server.source, 0),
        limit=_MAX_LINE,
    )
    session = ImapSession(reader, writer)
    try:
        await session.greet()
        if not server.implicit_tls:
            await session.start_tls(context)
    except BaseException:
        writer.transport.abort()
        raise
    return session
