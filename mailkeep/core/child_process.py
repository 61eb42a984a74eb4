"""A child process that runs `main` of a worker module, and the socket to it."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

# -I ignores the environment and the working directory, so the path of our package is an argument.
_PROGRAM = """
import sys
from importlib import import_module
sys.argv[1] in sys.path or sys.path.insert(0, sys.argv[1])
import_module(sys.argv[2]).main(*map(int, sys.argv[3:6]), *sys.argv[6:])
"""


def start_worker(worker: str, descriptor: int, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a child that calls `main` of the module `worker` with this descriptor, which it inherits, and the
    arguments (CPU seconds, memory, modules). Its environment is empty.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _PROGRAM, str(Path(__file__).parents[2]), worker, str(descriptor), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(descriptor,),
        env={},
    )


class ChildProcess:
    """Calls `main(descriptor, cpu_seconds, memory, *modules)` of `worker` in a child, where `descriptor` is a socket.

    `socket` is the parent's end of it; `served` counts requests. The child must end when the socket closes.
    """

    def __init__(
        self, worker: str, cpu_seconds: int, memory: int, *modules: str, kind: socket.SocketKind = socket.SOCK_STREAM
    ) -> None:
        own_end, child_end = socket.socketpair(socket.AF_UNIX, kind)
        try:
            self.process = start_worker(worker, child_end.fileno(), str(cpu_seconds), str(memory), *modules)
        except BaseException:
            own_end.close()
            raise
        finally:
            child_end.close()
        self.socket = own_end
        self.requests: int = 0

    def end(self) -> None:
        """Close the socket, which ends the child; kill it if it is still running half a second later."""
        self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)
            return
        self.kill()

    def kill(self) -> None:
        """Kill the child."""
        self.socket.close()
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)

    def __del__(self) -> None:
        """End the child even if its owner was not closed."""
        if hasattr(self, "socket") and self.process.poll() is None:
            self.kill()
