"""The services `clamd` and `freshclam` (`filter.antivirus`), as Debian's account `clamav`.

Mail does not wait for them: they count as ready when they run, since clamd loads its signatures for up to a minute, and
an instance whose signatures are damaged must start. Until clamd answers, `filter.antivirus_on_failure` decides.
"""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from functools import partial

from mailkeep.db.instance import write_atomically
from mailkeep.mail.daemons import clamd, scanning
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import generations
from mailkeep.run.runtime.child import ENVIRONMENT, Child, Command, spawn
from mailkeep.run.runtime.supervisor import Service, tolerate

_ACCOUNT, _FILTER = "clamav", "_rspamd"
_AS_CLAMAV = ("setpriv", f"--reuid={_ACCOUNT}", f"--regid={_FILTER}", "--clear-groups")
_PING_SECONDS = 2.0
_HUNG_SECONDS = 180.0


def define_services(paths: InstancePaths, wave: int) -> list[Service]:
    """Both services, which are off unless the configuration in use has their file."""
    commands = {
        "clamd": ["clamd", "--foreground", f"--config-file={paths.conf('clamd')}/clamd.conf"],
        "freshclam": [
            "freshclam",
            "--daemon",
            "--foreground",
            f"--config-file={paths.conf('freshclam')}/freshclam.conf",
        ],
    }
    return [_define(paths, name, wave, command) for name, command in commands.items()]


def _define(paths: InstancePaths, name: str, wave: int, command: list[str]) -> Service:
    output = paths.log / f"{name}.log"

    async def launch() -> Child:
        return spawn(Command([*_AS_CLAMAV, *command], output, ENVIRONMENT))

    async def prepare() -> None:
        create_folders(paths)
        if name == "clamd":
            paths.clamd_socket.unlink(missing_ok=True)

    async def has_started() -> bool:
        return True

    is_alive = tolerate(partial(_answers, paths), _HUNG_SECONDS) if name == "clamd" else None
    is_on = partial(generations.is_on, paths, name)
    return Service(name, wave, launch, output, has_started, prepare, is_alive, is_on)


async def _answers(paths: InstancePaths) -> bool:
    """Whether clamd answers; it does not while it loads signatures."""
    try:
        await clamd.ask(paths.clamd_socket, "PING", _PING_SECONDS)
    except (OSError, TimeoutError):
        return False
    return True


def create_folders(paths: InstancePaths) -> None:
    """Create the folders of both services, and our own signature: clamd does not start without any."""
    account, group = pwd.getpwnam(_ACCOUNT), pwd.getpwnam(_FILTER).pw_gid
    paths.signatures.parent.mkdir(mode=0o755, exist_ok=True)
    for folder, mode in ((paths.signatures, 0o755), (paths.clamd_tmp, 0o700), (paths.clamd_socket.parent, 0o750)):
        folder.mkdir(mode=mode, exist_ok=True)
        os.chown(folder, account.pw_uid, group)
        folder.chmod(mode)
    write_atomically(
        paths.signatures / scanning.OWN_SIGNATURES, f"Eicar-Test-Signature:0:*:{scanning.EICAR.hex()}\n", 0o644
    )
    with suppress(OSError):
        for leftover in paths.clamd_tmp.iterdir():
            if leftover.is_file() and not leftover.is_symlink():
                leftover.unlink()
