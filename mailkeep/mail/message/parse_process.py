"""Parses messages in child processes, with limits on CPU time, wall-clock time and memory.

A child starts when a message needs one, parses one message at a time, and ends after a minute without work. If a child
crashes or is killed at the deadline, only its message fails: the next one gets a new child.
"""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from mailkeep.core.child_process import ChildProcess
from mailkeep.core.concurrency import Budget
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_worker import ANSWER, DONE, REPORT, REQUEST, WHOLE
from mailkeep.mail.message.report import MessageReport

_PIECE = 256 << 10
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits for each message and for the children."""

    cpu_seconds: int = 3
    seconds: float = 5.0  # wall-clock time, including the start of a child
    wait_seconds: float = 15.0  # for a free child
    memory: int = 1 << 30  # bytes, per child
    content: int = 23 << 20  # bytes of the result, in JSON
    children: int = 2
    large: int = 256 << 10  # bytes: from this message size, the result counts as large
    large_held: int = 4  # large results in use at a time
    idle_seconds: float = 60.0
    messages: int = 1000  # per child


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """A parsed message. `attachments`: `filename`, `content_type` and `size` (bytes) of each; `content_ids`: the
    Content-ID by which the HTML refers to each, or an empty string.

    `content` is a JSON object: `body_text` and `body_html` (text or null), and `attachments` with the fields above and
    `content_base64`. If the attachments do not fit, `content_base64` is null in all of them, and `truncated` is true.
    """

    attachments: list[dict[str, object]]
    truncated: bool
    content: bytes
    content_ids: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """One attachment, decoded into an unnamed file; `size` in bytes."""

    filename: str
    size: int
    file: IO[bytes]


class _ParseResult(msgspec.Struct):
    attachments: list[dict[str, object]]
    content_ids: list[str]
    truncated: bool


class _AttachmentResult(msgspec.Struct):
    filename: str
    size: int


class Parser:
    """Parses messages, a few at a time. Starts nothing before the first message; `close` ends the children.

    `worker`: the module whose `main` is the child.
    """

    worker = "mailkeep.mail.message.parse_worker"

    def __init__(
        self, folder: Path | None = None, limits: ParseLimits | None = None, memory: SharedMemory | None = None
    ) -> None:
        """`folder` holds unnamed temporary files with the messages (None: the system's temporary folder). The processes
        of `memory` share the limits.
        """
        self._folder = folder
        self.limits = limits or ParseLimits()
        self._free = Budget(self.limits.children, memory, f"{self.worker} children")
        self._large_slots = Budget(self.limits.large_held, memory, f"{self.worker} large")
        self._idle: list[ParseChild] = []
        self._threads: ThreadPoolExecutor | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def parse(self, content: Callable[[], Iterable[bytes]]) -> ParsedMessage:
        """Parse the message that `content` opens. Raises UnparsableMessage (also if it takes too long) and OSError."""
        return await self.run_limited(partial(self._parse, content))

    async def attachment(self, content: Callable[[], Iterable[bytes]], number: int) -> AttachedFile | None:
        """Return an attachment of a message, by index from 0; None if it does not exist or its encoding is invalid.

        Raises like `parse`. The content is written to a file, not kept in memory.
        """
        return await self.run_limited(partial(self._attachment, content, number))

    async def report(self, content: Callable[[], Iterable[bytes]]) -> MessageReport | None:
        """Return the report about another message that a message contains, if it is one. Raises like `parse`."""
        return await self.run_limited(partial(self._report, content))

    async def run_limited(self, parse: Callable[[], _Result]) -> _Result:
        """Run `parse`, which calls `ask`, in a thread when a child is free. Raises like `parse`."""
        await self._wait_for(self._free)
        if self._timer:
            self._timer.cancel()
        self._threads = self._threads or ThreadPoolExecutor(self.limits.children, thread_name_prefix="parse")
        work = asyncio.get_running_loop().run_in_executor(self._threads, parse)
        # The child is free when the thread ends, even if the caller was cancelled before.
        work.add_done_callback(self._release)
        return await asyncio.shield(work)

    @asynccontextmanager
    async def parse_and_hold(self, content: Callable[[], Iterable[bytes]], size: int) -> AsyncGenerator[ParsedMessage]:
        """Parse a message of `size` bytes. Of large messages, only a few results exist at a time, each until its block
        ends.
        """
        if size < self.limits.large:
            yield await self.parse(content)
            return
        await self._wait_for(self._large_slots)
        try:
            yield await self.parse(content)
        finally:
            self._large_slots.release()

    async def _wait_for(self, slots: Budget) -> None:
        try:
            async with asyncio.timeout(self.limits.wait_seconds):
                await slots.acquire()
        except TimeoutError:
            raise UnparsableMessage("The server was busy parsing other messages") from None

    def _release(self, work: asyncio.Future[Any]) -> None:
        self._free.release()
        if not work.cancelled():
            work.exception()  # marks it as retrieved, so that asyncio does not log it
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self.limits.idle_seconds, self._end_idle)

    def _end_idle(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def _parse(self, content: Callable[[], Iterable[bytes]]) -> ParsedMessage:
        meta, text = self.ask(content, WHOLE, lambda child, length, deadline: child.read(length, deadline))
        result = msgspec.json.decode(meta, type=_ParseResult)
        return ParsedMessage(result.attachments, result.truncated, text, result.content_ids)

    def _report(self, content: Callable[[], Iterable[bytes]]) -> MessageReport | None:
        meta, _ = self.ask(content, REPORT, lambda child, length, deadline: child.read(length, deadline))
        return msgspec.json.decode(meta, type=MessageReport | None)

    def _attachment(self, content: Callable[[], Iterable[bytes]], number: int) -> AttachedFile | None:
        meta, file = self.ask(content, number, self._save)
        result = msgspec.json.decode(meta, type=_AttachmentResult | None)
        if result is None:
            file.close()
            return None
        return AttachedFile(result.filename, result.size, file)

    def _save(self, child: ParseChild, length: int, deadline: float) -> IO[bytes]:
        file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - the caller reads and closes it
        try:
            for start in range(0, length, _PIECE):
                file.write(child.read(min(_PIECE, length - start), deadline))
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    def ask(
        self, content: Callable[[], Iterable[bytes]], number: int, read: Callable[[ParseChild, int, float], _Result]
    ) -> tuple[bytes, _Result]:
        """Send a message to a child; `number`: the attachment to return, WHOLE or REPORT. Returns the metadata, and the
        result of `read`, which reads the content after the metadata.
        """
        with tempfile.TemporaryFile(dir=self._folder) as file:
            for chunk in content():
                file.write(chunk)
            file.flush()
            deadline = time.monotonic() + self.limits.seconds
            child = self._idle.pop() if self._idle else ParseChild(self.worker, self.limits)
            try:
                status, meta, length = child.ask(file, self.limits.content, number, deadline)
                result = read(child, length, deadline) if status == DONE else None
            except BaseException:
                child.kill()
                raise
        if child.requests < self.limits.messages:
            self._idle.append(child)
        else:
            child.end()
        if result is None:
            raise UnparsableMessage(meta.decode("utf-8", "replace"))
        return meta, result

    @property
    def pids(self) -> list[int]:
        """The process IDs of the idle children."""
        return [child.process.pid for child in self._idle]

    async def close(self) -> None:
        """End the children. Waits for those that are parsing, at most until their deadlines."""
        if self._threads:
            await asyncio.to_thread(self._threads.shutdown)
            self._threads = None
        await asyncio.sleep(0)  # let the callbacks of finished work run first
        if self._timer:
            self._timer.cancel()
        await asyncio.to_thread(self._end_idle)


class ParseChild(ChildProcess):
    """A child process that parses. Only one thread at a time may use it."""

    def __init__(self, worker: str, limits: ParseLimits) -> None:
        super().__init__(worker, limits.cpu_seconds, limits.memory)

    def ask(self, file: IO[bytes], max_size: int, number: int, deadline: float) -> tuple[bytes, bytes, int]:
        """Send a request. Returns status, metadata, and the size of the content, which the caller must `read`.

        Raises UnparsableMessage at the deadline, and if the child crashes.
        """
        size = file.seek(0, os.SEEK_END)
        with _convert_errors():
            self.socket.settimeout(_seconds_left(deadline))
            socket.send_fds(self.socket, [REQUEST.pack(size, max_size, number)], [file.fileno()])
        status, head, length = ANSWER.unpack(self.read(ANSWER.size, deadline))
        meta = self.read(head, deadline)
        self.requests += 1
        return status, meta, length

    def read(self, length: int, deadline: float) -> bytes:
        """Read `length` bytes of the response. Raises like `ask`."""
        content = bytearray(length)
        view = memoryview(content)
        with _convert_errors():
            while view:
                self.socket.settimeout(_seconds_left(deadline))
                count = self.socket.recv_into(view)
                if not count:
                    raise EOFError
                view = view[count:]
        return bytes(content)


@contextmanager
def _convert_errors() -> Generator[None]:
    """Attribute a timeout or a crash of the child to its message."""
    try:
        yield
    except TimeoutError:
        raise UnparsableMessage("Parsing the message takes too long") from None
    except (EOFError, OSError):
        raise UnparsableMessage("Parsing the message takes too much time or memory") from None


def _seconds_left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
