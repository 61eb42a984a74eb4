"""A server in a thread that sends endless or slow responses, and a counter of the bytes that this process reads."""

from __future__ import annotations

import contextlib
import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Script = Callable[[socket.socket], None]
TIMEOUT_SECONDS = 120.0


def say(*texts: bytes) -> Script:
    """A script that sends these texts, then waits until the client closes."""

    def run(peer: socket.socket) -> None:
        for text in texts:
            peer.sendall(text)
        while peer.recv(65536):
            pass

    return run


def flood(first: bytes, repeated: bytes) -> Script:
    """A script that sends `first`, then `repeated` for as long as the client reads."""
    block = repeated * (1 + 65536 // len(repeated))

    def run(peer: socket.socket) -> None:
        peer.sendall(first)
        while True:
            peer.sendall(block)

    return run


def drip(first: bytes, repeated: bytes) -> Script:
    """A script that sends `first`, then the bytes of `repeated` in a cycle, one every 20 ms."""

    def run(peer: socket.socket) -> None:
        peer.sendall(first)
        for byte in itertools.cycle(repeated):
            peer.sendall(bytes([byte]))
            if _is_closed(peer, 0.02):
                return

    return run


def _is_closed(peer: socket.socket, seconds: float) -> bool:
    peer.settimeout(seconds)
    try:
        return not peer.recv(65536)
    except (TimeoutError, ssl.SSLWantReadError):
        return False
    finally:
        peer.settimeout(TIMEOUT_SECONDS)


@dataclass
class HostileServer:
    """Runs `script` on each connection: after TLS if there is a context, and after a request if `waits` is set."""

    script: Script
    context: ssl.SSLContext | None = None
    waits: bool = True
    port: int = 0
    began: threading.Event = field(default_factory=threading.Event)
    """Set when a client has connected."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the client has ended the first connection."""

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self.began.set()
            threading.Thread(target=self._converse, args=(peer,), daemon=True).start()

    def _converse(self, raw: socket.socket) -> None:
        raw.settimeout(TIMEOUT_SECONDS)
        peer = raw
        try:
            peer = self.context.wrap_socket(raw, server_side=True) if self.context else raw
            if self.waits:
                peer.recv(65536)
            self.script(peer)
        except OSError as error:  # the client closed or reset the connection (over TLS: an ssl.SSLError)
            if isinstance(error, TimeoutError):
                return
        finally:
            peer.close()
        self.ended.set()

    def wait_ended(self) -> None:
        """Wait until the client has closed the connection."""
        assert self.ended.wait(TIMEOUT_SECONDS), "the client has not closed the connection"


@contextlib.contextmanager
def run_hostile_server(
    script: Script, context: ssl.SSLContext | None = None, *, waits: bool = True
) -> Iterator[HostileServer]:
    """A running server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = HostileServer(script, context, waits, listener.getsockname()[1])
        thread = threading.Thread(target=server.serve, args=(listener,), daemon=True)
        thread.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(TIMEOUT_SECONDS)


class ReadCounter:
    """Bytes that the process has read with read(2) and pread(2) since this was created, as uvloop reads from
    sockets.
    """

    def __init__(self) -> None:
        self._before = _read_bytes()

    @property
    def read(self) -> int:
        return _read_bytes() - self._before


def _read_bytes() -> int:
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])
