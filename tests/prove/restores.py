"""`make prove-restores`: `kill -9` of verifications and restores at each step, and of the restic and PostgreSQL that
they start. The next start removes what was left, and the operation succeeds when it is repeated.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mailkeep.backup.scratch_server import SCRATCH_SUFFIX
from mailkeep.db.postgres_cluster import FALLBACK_DIR
from tests.crash.program import ARM
from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.support import instance as instances
from tests.support.backup_server import FIRST, Server
from tests.support.instance import Launch
from tests.support.scratch import new_directory

_VERIFICATION = ("verification.restored", "verification.mail_compared", "verification.served", "verification.done")
_RESTORE = ("restores.read", "restores.directory", "restores.home_written", "restores.mail_written")
_MESSAGES = 5


def _start(data_dir: Path, fifo: Path) -> Server:
    program = (sys.executable, "-m", "tests.crash.program")
    server = Server(instances.start(data_dir, launch=Launch(program, FIRST | {ARM: str(fifo)})))
    server.log_in()
    return server


def _find(word: str) -> list[int]:
    """The processes whose command has this word."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if word in command and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


def _wait(what: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > deadline:
            raise TimeoutError("nothing happened in time")
        time.sleep(0.02)
    return found


def _leftovers(data_dir: Path) -> list[str]:
    instance = (data_dir / "instance-id").read_text().strip()
    places = [*data_dir.glob(f"*{SCRATCH_SUFFIX}"), FALLBACK_DIR / (instance + SCRATCH_SUFFIX)]
    places += [data_dir / "backup" / "scratch", *(data_dir / "mail").glob("*.restoring")]
    return [str(path) for path in places if path.exists()] + [
        f"process {pid}" for pid in _find(f"{data_dir}/pg.scratch")
    ]


def _prove(folder: Path, checks: Checks) -> None:
    fifo, data_dir = folder / "arm", folder / "data"
    os.mkfifo(fifo)
    server = _start(data_dir, fifo)
    domain_id = server.add_domain("killed.test")
    mailbox_id = server.add_mailbox(domain_id, "kim")
    server.deliver("kim@killed.test", *(f"number {number}" for number in range(_MESSAGES)))
    backup_id = server.back_up()
    server.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true", expected=200)
    wanted = {"scope": "mailbox", "mailbox_id": mailbox_id, "into": "in_place"}
    for kind, steps, argument in (("verify", _VERIFICATION, {}), ("restore", _RESTORE, wanted)):
        for step in steps:
            fifo.write_text(f"{step} 1\n")
            operation_id = server.begin(kind, backup_id, argument)
            died = server.instance.process.wait(120) == -signal.SIGKILL
            server = _start(data_dir, fifo)
            ended = server.wait(operation_id)
            left = _leftovers(data_dir)
            good = died and ended["state"] == "failed" and "interrupted" in ended["error"] and not left
            checks.check(f"killed at {step}", good, ", ".join(left))
    checks.check("the verification succeeds afterwards", server.perform("verify", backup_id)["ok"])
    server.perform("restore", backup_id, **wanted)
    mail = [path for path in server.maildir(mailbox_id).glob("*/*") if path.parent.name in ("new", "cur")]
    checks.check("each message is there once", len(mail) == _MESSAGES, f"{len(mail)} files")

    operation_id = server.begin("verify", backup_id)
    for pid in _wait(lambda: set(_find("restic")) & set(_find(f"{data_dir}/backup/scratch"))):
        os.kill(pid, signal.SIGKILL)
    ended = server.wait(operation_id)
    checks.check("restic killed: the operation fails", ended["state"] == "failed", ended["error"] or "")
    operation_id = server.begin("verify", backup_id)
    for pid in _wait(lambda: _find(f"-D\0{data_dir}/pg.scratch")):
        os.kill(pid, signal.SIGKILL)
    ended = server.wait(operation_id)
    checks.check("PostgreSQL killed: the operation fails", ended["state"] == "failed", ended["error"] or "")
    checks.check("nothing is left", not _leftovers(data_dir), ", ".join(_leftovers(data_dir)))
    checks.check("the verification succeeds afterwards", server.perform("verify", backup_id)["ok"])
    checks.check("the server stops in order", server.instance.stop() == 0)


def main() -> int:
    print(circumstances("verifications and restores killed at each step"))
    folder, checks = new_directory("mailkeep-prove-", 0o755, programs=True), Checks()
    try:
        _prove(folder, checks)
    finally:
        shutil.rmtree(folder)
    print(f"{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
