"""The process between two versions: it runs the new one until that is accepted, else starts the old one again.

`mailkeep upgrade` writes a request to the data directory and stops `mailkeep up`, which then becomes this process
(exec: with the same process ID, so that systemd, a container or a terminal notice nothing). It starts the new version's
`up` as its child. The new version is accepted when the link PREFIX/current leads to it (`upgrade_environment`): from
then on this process only passes signals on and ends with the child. If the child ends before, or is not accepted in
time, this process becomes the old version's `up`. It needs nothing but this module, whatever happens to the new
version, to the old one's files, or to `mailkeep upgrade`.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

REQUEST = "upgrade-request"
"""The file in the data directory with the version that `up` is to be replaced by."""
CURRENT = "current"
"""The link to the environment in use."""
RECORD = "upgrade.json"
"""The file in the data directory about the trial of a version (`upgrade_record`)."""
ACCEPT_SECONDS = 420
"""How long the new version has from its start until it is accepted."""
_VALID_SECONDS = 30.0
VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){1,3}")
"""The name of the folder of an environment."""
_LOOK_SECONDS, _STOP_SECONDS, _LEFTOVER_SECONDS = 0.2, 30.0, 5.0
_PR_SET_PDEATHSIG = 1
# Loaded here, because nothing may be imported between fork and exec.
_prctl = ctypes.CDLL(None, use_errno=True).prctl


def make_request(version: str) -> str:
    """The content of a request: the version, the time on the system's monotonic clock, and for how long the new version
    may run without being accepted.
    """
    return f"{version} {time.monotonic()} {ACCEPT_SECONDS}\n"


def become_guard(data_dir: Path) -> None:
    """If an upgrade was requested within the last half minute, become the guard of its version; else return."""
    path = data_dir / REQUEST
    try:
        version, requested_at, seconds = path.read_text("ascii").split()
        age, accept_seconds = time.monotonic() - float(requested_at), float(seconds)
    except (FileNotFoundError, ValueError):
        return
    finally:
        path.unlink(missing_ok=True)
    own = Path(sys.prefix).resolve()
    new = own.parent / version
    if not (0 <= age < _VALID_SECONDS and VERSION.fullmatch(version) and (new / "bin" / "mailkeep").exists()):
        return
    sys.stdout.flush()
    arguments = json.dumps(sys.argv[1:])
    program = [
        sys.executable,
        "-I",
        str(Path(__file__)),
        str(own),
        str(new),
        str(accept_seconds),
        str(data_dir),
        arguments,
    ]
    os.execv(sys.executable, program)  # noqa: S606 - no shell


class _Guard:
    def __init__(self, old: Path, new: Path, seconds: float, data_dir: Path, arguments: Sequence[str]) -> None:
        self._old, self._new, self._data_dir, self._arguments = old, new, data_dir, arguments
        self._deadline = time.monotonic() + seconds
        self._is_stopping = False
        self._child: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._pass_on)

    def run(self) -> int:
        """Run the new version; returns its exit status if it was accepted or was to stop. Else does not return."""
        try:
            child = self._child = self._start()
        except OSError as error:
            self._go_back(f"could not be started: {error}")
        if self._is_stopping:
            child.terminate()
        is_late = False
        while (status := child.poll()) is None:
            if not is_late and time.monotonic() > self._deadline and not self._is_accepted():
                is_late = True
                self._end(child)
            time.sleep(_LOOK_SECONDS)
        if not self._is_stopping and not self._is_accepted():
            if status < 0:  # what was killed leaves processes, which end by themselves
                time.sleep(_LEFTOVER_SECONDS)
            self._go_back(
                "was not accepted in time" if is_late else f"ended with status {status} before it was accepted"
            )
        return status if status >= 0 else 128 - status

    def _start(self) -> subprocess.Popen[bytes]:
        parent = os.getpid()

        def end_with_parent() -> None:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(1)

        return subprocess.Popen(
            [str(self._new / "bin" / "mailkeep"), *self._arguments],
            preexec_fn=end_with_parent,  # noqa: PLW1509 - one system call, and no threads
        )

    def _is_accepted(self) -> bool:
        return (self._new.parent.parent / CURRENT).resolve() == self._new

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        child.terminate()
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        self._is_stopping = self._is_stopping or number != signal.SIGHUP
        if self._child:
            with suppress(ProcessLookupError):
                self._child.send_signal(number)

    def _go_back(self, why: str) -> NoReturn:
        print(f"Mailkeep {self._new.name} {why}: Mailkeep {self._old.name} starts again.", flush=True)  # noqa: T201
        with suppress(OSError, ValueError, TypeError, AttributeError):
            self._note(f"Mailkeep {self._new.name} {why}.")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        program = str(self._old / "bin" / "mailkeep")
        os.execv(program, [program, *self._arguments])  # noqa: S606 - no shell

    def _note(self, reason: str) -> None:
        """Note the reason for the audit log, unless `mailkeep upgrade` has noted one."""
        path = self._data_dir / RECORD
        record = json.loads(path.read_text("utf-8"))
        if record.get("reason") is None:
            draft = path.with_name(f".{RECORD}.new")
            draft.write_text(json.dumps({**record, "reason": reason}), "utf-8")
            draft.chmod(0o600)
            draft.replace(path)


if __name__ == "__main__":
    _old, _new, _seconds, _data_dir, _arguments = sys.argv[1:6]
    sys.exit(_Guard(Path(_old), Path(_new), float(_seconds), Path(_data_dir), json.loads(_arguments)).run())
