"""HTTP listeners: uvicorn on sockets of our own, without its signal handling."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Generator
from functools import partial
from typing import Any, cast

import uvicorn

from mailkeep.core.errors import Failure
from mailkeep.run.http_connection import Bounds, Connection, Door

_BACKLOG = 2048


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are the whole instance's matter (`run.up`)."""
        yield


class HttpListener:
    """A listener that has its port from the start and serves once `start` was awaited."""

    def __init__(self, host: str, port: int, what: str) -> None:
        self._take(bind(host, port, what))

    @classmethod
    def on(cls, listening: socket.socket) -> HttpListener:
        """One on a socket that listens already."""
        self = cls.__new__(cls)
        self._take(listening)
        return self

    def _take(self, listening: socket.socket) -> None:
        self._socket = listening
        self._socket.setblocking(False)
        self.host, self.port = listening.getsockname()[:2]
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where it is reached, as a URL without a path."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    async def start(self, app: Any, *, grace_seconds: int, bounds: Bounds | None = None) -> None:
        """Serve the ASGI application; answers when requests are taken."""
        door = Door(bounds or Bounds())
        config = uvicorn.Config(
            app,
            http=cast(type[asyncio.Protocol], partial(Connection, door)),
            lifespan="off",
            access_log=False,
            log_config=None,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=grace_seconds,
            backlog=_BACKLOG,
        )
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve([self._socket]), name=f"http {self.port}")
        while not self._server.started:
            if self._task.done():
                await self._task
                raise Failure(f"The listener on {self.url} ended at once.")
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Take no more, let those under way end within the grace."""
        if self._server and self._task:
            self._server.should_exit = True
            await asyncio.wait({self._task})
        self._socket.close()


def bind(host: str, port: int, what: str) -> socket.socket:
    """A socket that listens; Failure where the address is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise Failure(f"{what} can't listen on {host}:{port}: {error.strerror}.", permanent=True) from error
    return listener
