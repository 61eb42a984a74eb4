"""Renders templates in child processes, with limits on CPU time, elapsed time, memory and output.

A child starts when a template needs one, renders one template at a time, and ends after a minute without work. If a
child crashes or exceeds a limit, only its template fails: the next one gets a new child. Where Landlock or the filter
for system calls is missing, nothing is rendered (`RenderingUnavailable`).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from mailkeep.core.child_process import ChildProcess
from mailkeep.core.concurrency import Budget
from mailkeep.core.isolation import find_obstacle
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.mail.templates.exchange import (
    LENGTH,
    TOO_MUCH_TIME,
    RenderRequest,
    RenderResult,
    TemplateProblem,
    TemplateSource,
)

WORKER = "mailkeep.mail.templates.render_worker"
_TOO_MUCH = RenderResult(problems=[TemplateProblem("", TOO_MUCH_TIME)])


_find_obstacle = cache(find_obstacle)


class RenderingUnavailable(Exception):
    """Templates can't be rendered now; the message says why. `is_busy`: they can be later."""

    def __init__(self, reason: str, *, is_busy: bool) -> None:
        super().__init__(reason)
        self.is_busy = is_busy


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """Limits for each template and for the children. `memory`: bytes of a child."""

    cpu_seconds: int = 1
    seconds: float = 8.0  # elapsed; a child ends itself after five seconds
    start_seconds: float = 20.0
    wait_seconds: float = 10.0  # for a free child
    memory: int = 512 << 20
    children: int = 2
    idle_seconds: float = 60.0
    templates: int = 100_000  # per child


class Renderer:
    """Renders templates, a few at a time. Starts nothing before the first one; `close` ends the children."""

    def __init__(
        self, server: Path | None = None, limits: RenderLimits | None = None, memory: SharedMemory | None = None
    ) -> None:
        """`server`: a socket; a connection to it is one to a new child. None: children of this process. The
        processes of `memory` share the limit.
        """
        self._server = server
        self.limits = limits or RenderLimits()
        self._slots = Budget(self.limits.children, memory, "renderers")
        self._idle: list[_RenderChild] = []
        self._timer: asyncio.TimerHandle | None = None

    async def check(self, source: TemplateSource) -> RenderResult:
        """The problems of a source, and the variables that it uses. RenderingUnavailable."""
        return await self._run(RenderRequest(None, source, None))

    async def render(self, source: TemplateSource, variables: dict[str, Any], key: str | None = None) -> RenderResult:
        """The rendered message, or what is wrong. With a `key` that names this source, the compiled template is kept.

        RenderingUnavailable.
        """
        return await self._run(RenderRequest(key, source, variables))

    async def _run(self, request: RenderRequest) -> RenderResult:
        if obstacle := _find_obstacle():
            raise RenderingUnavailable(obstacle, is_busy=False)
        try:
            async with asyncio.timeout(self.limits.wait_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise RenderingUnavailable("the server is busy rendering other templates", is_busy=True) from None
        try:
            return await self._run_in_child(request)
        finally:
            self._slots.release()

    async def _run_in_child(self, request: RenderRequest) -> RenderResult:
        if self._timer:
            self._timer.cancel()
        child: _RenderChild | None = None
        try:
            child = self._take_idle() or await self._start_child()
            async with asyncio.timeout(self.limits.seconds):
                result = await child.render(request)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            if child:
                child.kill()
            return _TOO_MUCH
        except BaseException:
            if child:
                child.kill()
            raise
        finally:
            self._timer = asyncio.get_running_loop().call_later(self.limits.idle_seconds, self._end_idle)
        if result.is_last or child.requests >= self.limits.templates:
            child.kill()
        else:
            self._idle.append(child)
        return result

    def _take_idle(self) -> _RenderChild | None:
        """A child without work; those that have ended meanwhile are dropped, so that no template is blamed for it."""
        while self._idle:
            child = self._idle.pop()
            if child.is_connected():
                return child
            child.kill()
        return None

    async def _start_child(self) -> _RenderChild:
        """A child that is ready."""
        if self._server is None:
            process = await asyncio.to_thread(start_child, self.limits)
            child = _RenderChild(process.socket, process.kill)
        else:
            channel = socket.socket(socket.AF_UNIX)
            child = _RenderChild(channel, channel.close)  # the process ends with the connection
        try:
            async with asyncio.timeout(self.limits.start_seconds):
                if self._server is not None:
                    await asyncio.get_running_loop().sock_connect(child.socket, str(self._server))
                await child.wait_until_ready()
        except (OSError, EOFError) as error:  # TimeoutError is an OSError
            child.kill()
            raise RenderingUnavailable(f"no process to render it starts ({error})", is_busy=True) from None
        except BaseException:
            child.kill()
            raise
        return child

    def _end_idle(self) -> None:
        while self._idle:
            self._idle.pop().kill()

    async def close(self) -> None:
        """End the idle children."""
        if self._timer:
            self._timer.cancel()
        self._end_idle()


def start_child(limits: RenderLimits) -> ChildProcess:
    """Start a child of this process. Blocks."""
    return ChildProcess(WORKER, limits.cpu_seconds, limits.memory)


class _RenderChild:
    """A connection to a child process that renders. Only one caller at a time may use it."""

    def __init__(self, channel: socket.socket, kill: Callable[[], None]) -> None:
        self.socket, self.kill = channel, kill
        self.socket.setblocking(False)
        self.requests = 0
        self._known: set[str] = set()
        self._decoder, self._encoder = msgspec.msgpack.Decoder(RenderResult), msgspec.msgpack.Encoder()

    def is_connected(self) -> bool:
        """Whether the process, which has nothing to answer, has not ended."""
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    async def wait_until_ready(self) -> None:
        """Wait until the process takes requests. IncompleteReadError or ConnectionError if it has ended."""
        await self._read(LENGTH.size)

    async def render(self, request: RenderRequest) -> RenderResult:
        """The answer to a request. IncompleteReadError or ConnectionError if the process has ended."""
        is_known = request.key in self._known
        answer = await self._ask(RenderRequest(request.key, None, request.variables) if is_known else request)
        if answer.needs_source:
            answer = await self._ask(request)
        if request.key is not None:
            self._known.add(request.key)
        return answer

    async def _ask(self, request: RenderRequest) -> RenderResult:
        loop = asyncio.get_running_loop()
        content = self._encoder.encode(request)
        await loop.sock_sendall(self.socket, LENGTH.pack(len(content)) + content)
        (length,) = LENGTH.unpack(await self._read(LENGTH.size))
        self.requests += 1
        return self._decoder.decode(await self._read(length))

    async def _read(self, size: int) -> bytes:
        """Exactly `size` bytes. IncompleteReadError at the end of the stream."""
        loop = asyncio.get_running_loop()
        content = bytearray()
        while len(content) < size:
            piece = await loop.sock_recv(self.socket, min(size - len(content), 1 << 20))
            if not piece:
                raise asyncio.IncompleteReadError(bytes(content), size)
            content += piece
        return bytes(content)
