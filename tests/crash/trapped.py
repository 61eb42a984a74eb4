"""`mailkeep` (full profile) whose process `node` is killed, or kills the supervisor, when it reaches a failpoint.

`trapped.py FILE up …`. The file has lines `NAME N ACTION`, read again at each failpoint of an apply: at the nth time it
is reached, ACTION is `node` (kill -9 of this process), `supervisor`, or `fail` (a Failure, as if the step had failed).
The line is removed then. The supervisor starts the prefork server by the same program, so that forked processes have
the trap.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.run.runtime import child, prefork

_PREFORK = "prefork"


def _trap(file: Path, supervisor: int) -> None:
    def reach(name: str) -> None:
        if not name.startswith("apply.") or not file.exists():
            return
        armed = [line.split() for line in file.read_text().splitlines()]
        for line in armed:
            if line[0] == name:
                line[1] = str(int(line[1]) - 1)
        due = [line for line in armed if line[1] == "0"]
        file.write_text("".join(f"{' '.join(line)}\n" for line in armed if line not in due))
        for _, _, action in due:
            if action == "fail":
                raise Failure(f"injected at {name}")
            os.kill(os.getpid() if action == "node" else supervisor, signal.SIGKILL)

    failpoint.reach = reach


def _start_prefork_by_this_program(file: Path) -> None:
    spawn = child.spawn

    def spawn_trapped(command: child.Command) -> object:
        if "mailkeep.run.runtime.prefork" not in command.argv:
            return spawn(command)
        return spawn(replace(command, argv=[sys.executable, __file__, str(file), _PREFORK, command.argv[-1]]))

    child.spawn = spawn_trapped


def main() -> None:
    file = Path(sys.argv[1])
    if sys.argv[2] == _PREFORK:
        sys.argv = sys.argv[2:]
        _trap(file, os.getppid())
        prefork.main()
        return
    _start_prefork_by_this_program(file)
    from mailkeep.run.cli.main import main as run

    sys.argv = ["mailkeep", *sys.argv[2:]]
    run()


if __name__ == "__main__":
    main()
