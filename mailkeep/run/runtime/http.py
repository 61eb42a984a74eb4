"""HTTP listeners: uvicorn on sockets of our own, without its signal handling."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import structlog
import uvicorn

from mailkeep.core.errors import Failure
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.run.runtime.connection_limits import ConnectionLimiter, HttpLimits
from mailkeep.run.runtime.http_connection import HttpConnection
from mailkeep.run.runtime.ports import find_holder
from mailkeep.settings import LoadedSettings, parse_endpoint

log = structlog.get_logger("mailkeep.http")

_BACKLOG = 2048


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """The instance handles signals itself (`run.profiles`)."""
        yield


class HttpListener:
    """A listener that binds its port when it is created, and serves after `start`."""

    def __init__(self, host: str, port: int, name: str) -> None:
        self._attach(bind(host, port, ListenerInfo(name)))

    @classmethod
    def on_socket(cls, listening: socket.socket) -> HttpListener:
        """A listener on a socket that already listens."""
        self = cls.__new__(cls)
        self._attach(listening)
        return self

    def _attach(self, listening: socket.socket) -> None:
        self._sockets = [listening]
        listening.setblocking(False)
        self.host, self.port = listening.getsockname()[:2]
        self._limiter: ConnectionLimiter | None = None
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    def add_unix_socket(self, listening: socket.socket) -> None:
        """Serve also on this socket, for nginx. Call it before `start`."""
        listening.setblocking(False)
        self._sockets.append(listening)

    @property
    def url(self) -> str:
        """Its URL, without a path."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    async def start(
        self, app: Any, *, grace_seconds: int, limits: HttpLimits | None = None, memory: SharedMemory | None = None
    ) -> None:
        """Serve the ASGI application; returns when requests are accepted. Connections are counted in `memory`."""
        self._limiter = limiter = ConnectionLimiter(limits or HttpLimits(), memory, self.url)
        config = uvicorn.Config(
            app,
            http=cast(type[asyncio.Protocol], partial(HttpConnection, limiter)),
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
        self._task = asyncio.create_task(self._server.serve(self._sockets), name=f"http {self.port}")
        while not self._server.started:
            if self._task.done():
                await self._task
                raise Failure(f"The listener on {self.url} stopped right after its start; see the log.")
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Accept no more connections, and answer the requests that have arrived within the grace period.

        Connections that wait to be accepted stay with other holders of the socket.
        """
        if self._limiter and self._server and self._task:
            self._limiter.is_stopping = True
            self._server.should_exit = True
            await asyncio.wait({self._task})
        for each in self._sockets:
            each.close()


@dataclass(frozen=True, slots=True)
class ListenerInfo:
    """A listener's name for people, and the setting and option of `mailkeep up` for its address."""

    name: str
    setting: str | None = None
    option: str | None = None


API = ListenerInfo("The API", "http.listen", "--http")
INTERNAL = ListenerInfo("The internal listener", "http.internal", "--internal")
SMTP = ListenerInfo("The SMTP listener", "smtp.listen", "--smtp")


def port_failure(listener: ListenerInfo, host: str, port: int, error: OSError) -> Failure:
    """The Failure of a listener without a port: why, which program uses the port, and how to choose another."""
    holder = find_holder(port) if error.errno == errno.EADDRINUSE else None
    reason = os.strerror(error.errno) if error.errno else str(error)
    reason += f", by {holder}" if holder else ""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    advice = f" Choose another address: option {listener.option} HOST:PORT or setting {listener.setting}."
    return Failure(
        f"{listener.name} can't listen on {address}: {reason}.{advice if listener.setting else ''}", permanent=True
    )


def bind_internal(loaded: LoadedSettings) -> socket.socket:
    """A socket for the internal listener: on a free port if the default one is used, so that a second instance starts.

    Failure if the address comes from a setting.
    """
    host, port = parse_endpoint(loaded.settings.http.internal)
    if loaded.sources["http.internal"] != "default":
        return bind(host, port, INTERNAL)
    try:
        return bind(host, port, INTERNAL)
    except Failure as failure:
        if not (isinstance(failure.__cause__, OSError) and failure.__cause__.errno == errno.EADDRINUSE):
            raise
    listener = bind(host, 0, INTERNAL)
    log.warning(
        "the internal listener uses a free port: its default port is in use, and http.internal is not set",
        default=port,
        port=listener.getsockname()[1],
    )
    return listener


def bind(host: str, port: int, info: ListenerInfo) -> socket.socket:
    """A socket that listens; Failure if the address is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise port_failure(info, host, port, error) from error
    return listener
