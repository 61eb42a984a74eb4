"""A child process that serves requests, its CPU time, and a lightweight client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import uvicorn


class Server:
    """A serving child process: its `ports`, and its first output (`said`)."""

    def __init__(self, command: Sequence[str]) -> None:
        """`command`: a module and its arguments; it calls `serving`."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        ports, _, self.said = self.process.stdout.readline().strip().partition(" ")
        self.ports = [int(port) for port in ports.split(",")]

    def cpu(self) -> float:
        """CPU seconds it has used."""
        return cpu_of(self.process.pid)

    def end(self) -> None:
        """Close its standard input, which ends it."""
        self.process.communicate(timeout=20)


def cpu_of(pid: int) -> float:
    """CPU seconds that a process has used, all its threads."""
    nanoseconds = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def cpu_of_children(pid: int) -> float:
    """CPU seconds that the children of a process and theirs have used, those that have ended included."""
    ended = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[13:15]
    seconds = sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                seconds += cpu_of(int(child)) + cpu_of_children(int(child))
    return seconds


async def serving(apps: Sequence[Any], said: str = "") -> None:
    """Serve ASGI applications as the product does, each on its own port, until the standard input ends."""
    servers: list[uvicorn.Server] = []
    ports: list[str] = []
    for app in apps:
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        listener.setblocking(False)
        config = uvicorn.Config(app, http="httptools", lifespan="off", access_log=False, log_config=None)
        server = uvicorn.Server(config)
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup([listener])
        servers.append(server)
        ports.append(str(listener.getsockname()[1]))
    print(",".join(ports), said, flush=True)
    ticks = asyncio.create_task(_tick(servers))
    await asyncio.to_thread(sys.stdin.read)
    ticks.cancel()
    for server in servers:
        for listening in server.servers:
            listening.close()


async def _tick(servers: Sequence[uvicorn.Server]) -> None:
    counter = 0
    while True:
        for server in servers:
            await server.on_tick(counter)
        counter += 1
        await asyncio.sleep(0.1)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_all(port: int, connections: int, tls: ssl.SSLContext | None = None, name: str = "") -> list[Stream]:
    """Connections to a port of this machine, with TLS for this server name."""
    return [
        await asyncio.open_connection("127.0.0.1", port, limit=1 << 20, ssl=tls, server_hostname=name or None)
        for _ in range(connections)
    ]


async def call_all(
    port: int, method: str, path: str, headers: Mapping[str, str], bodies: Sequence[bytes], connections: int
) -> list[bytes]:
    """Send the bodies over concurrent kept connections; return the response bodies in any order. All must be 200."""
    streams = await open_all(port, connections)
    try:
        return await call_over(streams, method, path, headers, bodies)
    finally:
        for _, writer in streams:
            writer.close()


async def call_over(
    streams: Sequence[Stream], method: str, path: str, headers: Mapping[str, str], bodies: Sequence[bytes]
) -> list[bytes]:
    """The same over these connections, which stay open."""
    left = list(bodies)
    answers: list[bytes] = []

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while left:
            body = left.pop()
            length = {"content-length": str(len(body)), "content-type": "application/json"} if body else {}
            fields = {"host": "127.0.0.1", **headers, **length}
            head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            writer.write(head.encode() + b"\r\n" + body)
            await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            size = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            content = await reader.readexactly(int(size.partition(b":")[2]))
            assert answer.startswith(b"HTTP/1.1 200"), content[:2000]
            answers.append(content)

    await asyncio.gather(*(one(*stream) for stream in streams))
    return answers


def reset_peak(pid: int) -> float:
    """Reset the peak memory of a process to its current memory; return that in MB."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return memory_of(pid, "VmRSS")


def memory_of(pid: int, what: str) -> float:
    """`VmRSS` (now) or `VmHWM` (peak) of a process, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(what)


def environment(**settings: str) -> dict[str, str]:
    """The environment of this process with only these settings of Mailkeep."""
    return {k: v for k, v in os.environ.items() if not k.startswith("MAILKEEP_")} | settings
