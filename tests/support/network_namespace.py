"""A network namespace of its own, with loopback only: whoever is in it reaches nothing but what a test lets it.

with NetworkNamespace() as outside:
    outside.forward(443, ("127.0.0.1", 8443))       # 127.0.0.1:443 there leads to 127.0.0.1:8443 here
    outside.call(lambda: fetch("https://…"))        # in a thread there
    subprocess.run(outside.command("mailkeep …"))   # a process there
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

T = TypeVar("T")

_CLONE_NEWNET = 0x40000000
# Brings loopback up (SIOCSIFFLAGS, IFF_UP), says so, and waits for the end of its input.
_HOLDER = (
    "import fcntl,socket,struct,sys;"
    "fcntl.ioctl(socket.socket(),0x8914,struct.pack('16sH14x',b'lo',1));"
    "print('up',flush=True);sys.stdin.read()"
)
_SECONDS = 60


class NetworkNamespace:
    """The namespace, until the end of the block. Needs root."""

    def __enter__(self) -> Self:
        self._listeners: list[socket.socket] = []
        self._holder = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-c", _HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._holder.stdout
        assert self._holder.stdout.readline() == b"up\n"
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # ends `accept`
            listener.close()
        self._holder.communicate(timeout=_SECONDS)  # closes its input

    def command(self, *argv: str) -> Sequence[str]:
        """A command that runs there."""
        return ["nsenter", "--target", str(self._holder.pid), "--net", "--", *argv]

    def call(self, work: Callable[[], T]) -> T:
        """The result of `work`, which runs in a thread there, as do the threads that it starts."""

        def enter() -> None:
            with Path(f"/proc/{self._holder.pid}/ns/net").open() as namespace:
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")

        with ThreadPoolExecutor(1, initializer=enter) as pool:
            return pool.submit(work).result(_SECONDS)

    def forward(self, port: int, target: tuple[str, int], context: ssl.SSLContext | None = None) -> None:
        """Accept connections to 127.0.0.1:port there, with TLS if there is a `context`, and pass them on to `target`
        here.
        """
        listener = self.call(lambda: socket.create_server(("127.0.0.1", port)))
        self._listeners.append(listener)
        threading.Thread(target=_accept, args=(listener, target, context), daemon=True).start()


def _accept(listener: socket.socket, target: tuple[str, int], context: ssl.SSLContext | None) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(client, target, context), daemon=True).start()


def _serve(client: socket.socket, target: tuple[str, int], context: ssl.SSLContext | None) -> None:
    with client, contextlib.suppress(OSError):
        client.settimeout(_SECONDS)
        inner = context.wrap_socket(client, server_side=True) if context else client
        with inner, socket.create_connection(target, _SECONDS) as server:
            back = threading.Thread(target=_copy, args=(server, inner), daemon=True)
            back.start()
            _copy(inner, server)
            back.join(_SECONDS)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command with these settings only."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAILKEEP_")}
    return kept | {f"MAILKEEP_{name}": value for name, value in settings.items()}
