"""Decodes large bodies in child processes, so that the event loop is not blocked.

A body of more than `INLINE_BYTES` bytes is decoded in a child process unless almost all of it is a few large strings
(attachments), which stay undecoded. A child process starts with the first such body and ends after a minute without
one. It is sandboxed (`core.confinement`). If a body takes too much time or memory, the process is killed and the body
rejected.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from mmap import mmap
from typing import Any
from uuid import UUID

from msgspec import UNSET, Struct

from mailkeep.core.child_process import ChildProcess
from mailkeep.core.concurrency import Budget
from mailkeep.core.errors import InvalidJson, Refusal, Unavailable, rebuild_refusal
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.web.decode import read_json
from mailkeep.web.decode_worker import ANSWER, DECODED, REQUEST, type_name
from mailkeep.web.string_views import JsonText, MappedBody, StringView, is_mostly_large_strings

INLINE_BYTES = 64 << 10
"""Bodies up to this size are decoded on the event loop: the worst case takes about ten milliseconds."""
LARGE_BODY_BYTES = 1 << 20
"""Larger bodies are kept in a memory file (`web.body`); even the search for large strings leaves the event loop."""

_VALUES = (Struct, Refusal, Enum, UUID, datetime, timedelta, timezone)


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """Limits for a body; `memory` of a child process in bytes."""

    cpu_seconds: int = 10
    seconds: float = 30.0  # elapsed time, including the start of a child process
    wait_seconds: float = 10.0  # for a free child process
    memory: int = 2 << 30
    children: int = 2
    idle_seconds: float = 60.0
    bodies: int = 1000  # per child process


class Decoder:
    """Decodes request bodies. No process starts before the first large body; `close` ends the child processes."""

    def __init__(
        self, modules: Sequence[str] = (), limits: DecodeLimits | None = None, memory: SharedMemory | None = None
    ) -> None:
        """`modules` define the types that bodies are decoded into; the processes of `memory` share the limit."""
        self._modules = tuple(modules)
        self.limits = limits or DecodeLimits()
        self._slots = Budget(self.limits.children, memory, "decoders")
        self._idle: list[_DecodeChild] = []
        self._timer: asyncio.TimerHandle | None = None

    async def read(self, body: JsonText, into: Any) -> Any:
        """Decode the body into `into` (a `Struct`, a `OneOf`, or None for no fields), or raise its refusal."""
        if len(body) <= INLINE_BYTES:
            return read_json(body, into)
        if len(body) <= LARGE_BODY_BYTES:
            return read_json(body, into) if is_mostly_large_strings(body) else await self._in_child(body, into)
        if await asyncio.to_thread(is_mostly_large_strings, body):
            return await asyncio.to_thread(read_json, body, into)
        return await self._in_child(body, into)

    async def _in_child(self, body: JsonText, into: Any) -> Any:
        try:
            async with asyncio.timeout(self.limits.wait_seconds):
                await self._slots.acquire()
        except TimeoutError as busy:
            raise Unavailable("Too many large requests at the same time; try again later.", retry_after=5) from busy
        try:
            return await self._decode_in_child(body, into)
        finally:
            self._slots.release()

    async def _decode_in_child(self, body: JsonText, into: Any) -> Any:
        if self._timer:
            self._timer.cancel()
        file = body.fd if isinstance(body, MappedBody) else await asyncio.to_thread(_copy_to_file, body)
        child: _DecodeChild | None = None
        try:
            async with asyncio.timeout(self.limits.seconds):
                child = (
                    self._idle.pop()
                    if self._idle
                    else await asyncio.to_thread(_DecodeChild, self._modules, self.limits)
                )
                status, content = await child.decode(file, len(body), type_name(into))
                value = await asyncio.to_thread(_unpickle, content, body)
        except (TimeoutError, EOFError, ConnectionError) as error:
            if child:
                child.kill()
            raise InvalidJson("The body takes too much time or memory to decode; send fewer values.") from error
        except BaseException:
            if child:
                child.kill()
            raise
        finally:
            if not isinstance(body, MappedBody):
                os.close(file)
            self._timer = asyncio.get_running_loop().call_later(self.limits.idle_seconds, self._end_idle)
        if child.requests < self.limits.bodies:
            self._idle.append(child)
        else:
            await asyncio.to_thread(child.end)
        if status == DECODED:
            return value
        try:
            raise value
        finally:
            del value  # its traceback refers to this frame, and so to the body: a reference cycle

    @property
    def pids(self) -> list[int]:
        """The process IDs of the idle child processes."""
        return [child.process.pid for child in self._idle]

    def _end_idle(self) -> None:
        idle, self._idle = self._idle, []
        asyncio.get_running_loop().run_in_executor(None, _end, idle)

    async def close(self) -> None:
        """End the idle child processes."""
        if self._timer:
            self._timer.cancel()
        idle, self._idle = self._idle, []
        await asyncio.to_thread(_end, idle)


class _DecodeChild(ChildProcess):
    def __init__(self, modules: Sequence[str], limits: DecodeLimits) -> None:
        super().__init__(
            "mailkeep.web.decode_worker", limits.cpu_seconds, limits.memory, *modules, kind=socket.SOCK_SEQPACKET
        )
        self.socket.setblocking(False)

    async def decode(self, file: int, size: int, name: str) -> tuple[bytes, mmap]:
        """Decode the `size` bytes of `file` into the type `name`. Returns the status and the pickled result.

        EOFError if the process has ended.
        """
        socket.send_fds(self.socket, [REQUEST.pack(size, len(name)) + name.encode()], [file])
        await self._readable()
        answer, descriptors, _, _ = socket.recv_fds(self.socket, ANSWER.size, 1)
        if len(answer) < ANSWER.size or not descriptors:
            raise EOFError
        status, length = ANSWER.unpack(answer)
        try:
            content = mmap(descriptors[0], length)
        finally:
            os.close(descriptors[0])
        self.requests += 1
        return status, content

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self.socket, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(self.socket)


class _Unpickler(pickle.Unpickler):
    """Creates only the types that bodies consist of."""

    def __init__(self, content: mmap, body: JsonText) -> None:
        super().__init__(content)
        self._view = memoryview(body)

    def persistent_load(self, pid: Any) -> StringView:
        start, length, plain = pid
        return StringView(self._view[start : start + length], plain, start)

    def find_class(self, module_name: str, global_name: str) -> Any:
        value: Any = super().find_class(module_name, global_name)
        if value is UNSET or value is rebuild_refusal or (isinstance(value, type) and issubclass(value, _VALUES)):
            return value
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not allowed in a decoded body")


def _end(children: Sequence[_DecodeChild]) -> None:
    for child in children:
        child.end()


def _unpickle(content: mmap, body: JsonText) -> Any:
    with content:
        return _Unpickler(content, body).load()


def _copy_to_file(body: JsonText) -> int:
    """A memory file with a copy of the body."""
    file = os.memfd_create("body", os.MFD_CLOEXEC)
    view = memoryview(body)
    while view:
        view = view[os.write(file, view) :]
    return file
