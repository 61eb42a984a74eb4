"""The process `milter` of an instance, in the place of its own, which kills at a failpoint.

`trapped_milter.py DATA_DIR NAME`: kills itself when it reaches the failpoint NAME; with NAME `cleanup@FAILPOINT` kills
Postfix's cleanup processes there instead. Writes `ready` when it serves.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import signal
import sys
from functools import partial
from pathlib import Path

from mailkeep.core import failpoint
from mailkeep.db.instance import run_folder
from mailkeep.features.mailflow.key_submission import service
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.milter.server import MilterServer
from mailkeep.mail.postfix.submission_login import parse_key_login
from mailkeep.mail.smtp.unix_socket import bind_unix_socket
from mailkeep.run.runtime.context import attach


def _trap(name: str, queue: Path) -> None:
    program, _, point = name.rpartition("@")

    def reach(reached: str) -> None:
        if reached == point:
            for pid in _list_pids(program, queue) if program else [os.getpid()]:
                os.kill(pid, signal.SIGKILL)

    failpoint.reach = reach


def _list_pids(program: str, queue: Path) -> list[int]:
    """The processes of this program that work in the instance's queue."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "comm").read_text().strip() == program and (entry / "cwd").samefile(queue):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def _main(data_dir: Path, name: str) -> None:
    paths = InstancePaths(data_dir, run_folder(data_dir))
    _trap(name, paths.postfix_queue)
    async with attach(data_dir, "tests") as app:
        server = MilterServer(
            partial(service.decide, app), lambda login: parse_key_login(login) is not None, data_dir / "tmp", 100 << 20
        )
        await server.serve(bind_unix_socket(paths.milter_socket, 0o660, pwd.getpwnam("postfix").pw_gid))
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), sys.argv[2]))
