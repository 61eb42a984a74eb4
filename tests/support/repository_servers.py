"""Servers for repositories: programs on loopback, and a proxy that delays or holds what goes through it."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from tests.support.ports import free_port

SSHD = "/usr/sbin/sshd"
_CHUNK = 1 << 16


@contextmanager
def serving(port: int, command: Sequence[str]) -> Iterator[None]:
    """Run a server until the end of the block; it listens at the beginning."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"HOME": tempfile.gettempdir()}
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, f"{command[0]} ended"
            assert time.monotonic() < deadline, f"{command[0]} does not listen"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def serving_s3() -> Iterator[int]:
    """Run an S3 server; gives its port."""
    port = free_port()
    with serving(port, [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]):
        yield port


@contextmanager
def serving_sftp(folder: Path, host_key: Path, user_key: Path) -> Iterator[tuple[str, int]]:
    """Run OpenSSH's server, which offers nothing but SFTP to the owner of a key; gives its user and port. `folder`: for
    its configuration.
    """
    port, user = free_port(), getpass.getuser()
    lines = (
        f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {host_key}", f"AuthorizedKeysFile {user_key}.pub",
        "AuthenticationMethods publickey", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no",
        "StrictModes no", "PermitRootLogin prohibit-password", "PidFile none", "Subsystem sftp internal-sftp",
        "ForceCommand internal-sftp", f"AllowUsers {user}",
    )  # fmt: skip
    (folder / "sshd_config").write_text("\n".join(lines) + "\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # as the unit of Debian's package
    with serving(port, [SSHD, "-D", "-e", "-f", str(folder / "sshd_config")]):
        yield user, port


class Proxy:
    """A TCP proxy. `delay`: seconds before each piece of data; while `held` is set nothing goes through."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open = asyncio.Event()
        self._open.set()
        self.delay = 0.0
        self.pieces = 0

    def hold(self) -> None:
        """Let nothing through; connections stay open."""
        self._open.clear()

    def go_on(self) -> None:
        """Let everything through again."""
        self._open.set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Listen until the end of the block; gives the port."""
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
                await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
            except (OSError, asyncio.CancelledError):
                writer.close()
            finally:
                tasks.discard(task)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(_CHUNK):
                await asyncio.sleep(self.delay)
                await self._open.wait()
                self.pieces += 1
                writer.write(data)
                await writer.drain()
        finally:
            with contextlib.suppress(OSError):
                writer.close()
