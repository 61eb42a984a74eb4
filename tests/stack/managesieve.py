"""A small client of ManageSieve (RFC 5804)."""

from __future__ import annotations

import base64
import re
import socket
from types import TracebackType
from typing import Self

from tests.stack.harness import ADDRESS, PASSWORD, Stack, trusting

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')


class ManageSieve:
    """A session of a mailbox's owner, over TLS."""

    def __init__(self, stack: Stack, address: str, password: str = PASSWORD) -> None:
        self._socket = socket.create_connection((ADDRESS, stack.ports["sieve"]), timeout=60)
        self._file = self._socket.makefile("rb")
        self._read()
        self.command("STARTTLS")
        self._socket = trusting().wrap_socket(self._socket)
        self._file = self._socket.makefile("rb")
        self._read()
        credentials = base64.b64encode(f"\0{address}\0{password}".encode()).decode()
        self.command(f'AUTHENTICATE "PLAIN" "{credentials}"')

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._socket.close()

    def command(self, line: str) -> list[bytes]:
        """Send a command; the lines of the answer without the last one. Raises ValueError if it is not OK."""
        self._socket.sendall(line.encode() + b"\r\n")
        return self._read()

    def put(self, name: str, script: str) -> None:
        """Write a script."""
        self.command(f'PUTSCRIPT "{name}" {{{len(script.encode())}+}}\r\n{script}')

    def get(self, name: str) -> bytes:
        """A script."""
        self._socket.sendall(f'GETSCRIPT "{name}"\r\n'.encode())
        size = int(self._file.readline().strip(b"{}\r\n"))
        content = self._file.read(size)
        self._file.readline()
        self._read()
        return content

    def list(self) -> dict[str, bool]:
        """The scripts by name; True for the active one."""
        found: dict[str, bool] = {}
        for line in self.command("LISTSCRIPTS"):
            match = _STRING.match(line)
            assert match is not None, line
            found[match[1].decode()] = line.endswith(b"ACTIVE")
        return found

    def _read(self) -> list[bytes]:
        lines: list[bytes] = []
        while True:
            line = self._file.readline().rstrip(b"\r\n")
            if line.startswith(b"OK"):
                return lines
            if line.startswith((b"NO", b"BYE")) or not line:
                if literal := re.search(rb"{(\d+)}$", line):
                    line += self._file.read(int(literal[1]))
                    self._file.readline()
                raise ValueError(line.decode())
            lines.append(line)
