"""Where our own processes are born: one that has imported everything forks the others.

Each of them would spend more than a second of CPU and fifty megabytes on imports of its own; so they share both. The
nursery runs nothing itself and starts no thread, so that a fork is safe. Its end leaves those born before alone; who
ends them is the supervisor: they hear of its death by a pipe whose other end it holds.
"""

from __future__ import annotations

import array
import asyncio
import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.db.logged_process import open_log
from mailkeep.run.runtime import child, process
from mailkeep.run.runtime.privileges import Credentials

_READY = b"ready"
_MESSAGE_BYTES = 1 << 16
_MOST_DESCRIPTORS = 16
_ANSWER_SECONDS = 30.0
_PR_SET_NAME = 15


class ForkRequest(msgspec.Struct, frozen=True):
    """Who is to be born: a name of `process.MODULES`, its data directory, log, the names of its descriptors, and as
    whom it lives (None: as root).
    """

    name: str
    data_dir: str
    log: str
    descriptors: list[str]
    credentials: Credentials | None = None


class ForkedProcess:
    """A process that is nobody's child but the nursery's: watched by a pidfd, so that no other can take its number."""

    __slots__ = ("_handle", "pid")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)

    def poll(self) -> int | None:
        """None while it runs, else -1: how it ended is not told."""
        return -1 if select.select([self._handle], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait for its end."""
        select.select([self._handle], [], [])
        return -1


class PreforkServer:
    """The supervisor's end. `launch` starts the nursery itself, `bear` a process in it."""

    def __init__(self, environ: Mapping[str, str], log: Path) -> None:
        self._environ, self._log = environ, log
        self._socket: socket.socket | None = None
        self._is_ready = False
        self._lock = asyncio.Lock()
        # Nobody writes to it: its end is what is told.
        self._supervisor_pipe = os.pipe2(os.O_CLOEXEC)

    async def launch(self) -> subprocess.Popen[bytes]:
        """Start the nursery, anew where it was there before."""
        if self._socket:
            self._socket.close()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._is_ready = False
        argv = [sys.executable, "-m", "mailkeep.run.runtime.prefork", str(theirs.fileno())]
        with theirs:
            return child.spawn(child.Command(argv, self._log, self._environ, (theirs.fileno(),)))

    async def is_ready(self) -> bool:
        """Whether everything is imported."""
        if not self._is_ready and self._socket:
            try:
                self._is_ready = self._socket.recv(_MESSAGE_BYTES) == _READY
            except BlockingIOError:
                return False
        return self._is_ready

    async def fork(self, request: ForkRequest, sockets: Sequence[socket.socket]) -> ForkedProcess:
        """A process with these sockets, which it knows by the names in `birth`; Failure where the nursery is away."""
        descriptors = array.array("i", [self._supervisor_pipe[0], *(each.fileno() for each in sockets)])
        loop = asyncio.get_running_loop()
        async with self._lock:
            if not self._socket or not self._is_ready:
                raise Failure("the nursery is not there yet")
            try:
                self._socket.sendmsg(
                    [msgspec.json.encode(request)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors.tobytes())]
                )
                async with asyncio.timeout(_ANSWER_SECONDS):
                    answer = await loop.sock_recv(self._socket, _MESSAGE_BYTES)
            except (OSError, TimeoutError) as error:
                raise Failure(f"the nursery does not answer: {error}") from error
        if not answer:
            raise Failure("the nursery has ended")
        try:
            return ForkedProcess(int(answer))
        except ProcessLookupError as error:
            raise Failure(f"{request.name} ended at once") from error

    def close(self) -> None:
        """Nobody is born any more."""
        if self._socket:
            self._socket.close()
        for descriptor in self._supervisor_pipe:
            os.close(descriptor)


def main() -> None:
    """The nursery itself: import, then fork whom we are asked for, until the supervisor is gone."""
    for name in process.list_names():
        importlib.import_module(f"mailkeep.run.processes.{process.MODULES[name]}")
    # What is there now is shared; the collector would write to it, and so copy it into each child.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries them
    with socket.socket(fileno=int(sys.argv[1])) as ours:
        ours.send(_READY)
        while True:
            asked, ancillary, _, _ = ours.recvmsg(_MESSAGE_BYTES, socket.CMSG_LEN(_MOST_DESCRIPTORS * 4))
            if not asked:
                return
            descriptors = array.array("i")
            for _, _, data in ancillary:
                descriptors.frombytes(data)
            pid = os.fork()
            if pid == 0:
                ours.close()
                _run_child(msgspec.json.decode(asked, type=ForkRequest), list(descriptors))
            for descriptor in descriptors:
                os.close(descriptor)
            ours.send(str(pid).encode())


def _run_child(request: ForkRequest, descriptors: Sequence[int]) -> None:
    """All that a child does; it does not return."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_NAME, f"mailkeep-{request.name}".encode(), 0, 0, 0)
        log = open_log(Path(request.log))
        if request.credentials:  # it opens the log again after a rotation
            os.fchown(log, request.credentials.uid, request.credentials.gid)
        os.dup2(log, 1)
        os.dup2(log, 2)
        named = dict(zip(["life", *request.descriptors], descriptors, strict=True))
        code = process.run(request.name, Path(request.data_dir), named, request.credentials)
    except Exception:  # noqa: BLE001 - said to its log; there is nobody above to say it to
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
