"""One data directory is one instance: its lock, its permanent ID, and the short folder for its sockets."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure

_ID = re.compile(r"[0-9a-f]{12}")
_RUN_FOLDER_OF_ROOT = Path("/run/mailkeep")

INSTANCE_ID = "instance-id"
_LOCK_ATTEMPTS, _LOCK_PAUSE = 10, 0.05


@dataclass(frozen=True, slots=True)
class InstanceLock:
    """The lock on a data directory. The kernel releases it when the process ends, however it ends."""

    fd: int

    def release(self) -> None:
        """Release the data directory; call it once."""
        os.close(self.fd)


def acquire_lock(data_dir: Path) -> InstanceLock:
    """Lock the data directory for this process. Fails within half a second, naming the process that holds it."""
    fd = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    for _ in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            # `lock_holder` locks the file too, for a moment.
            time.sleep(_LOCK_PAUSE)
    else:
        holder = _read_pid(fd)
        os.close(fd)
        process = f"process {holder}" if holder else "another process"
        raise Failure(f"Mailkeep already runs on {data_dir} ({process}); stop it first.", permanent=True)
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return InstanceLock(fd)


def lock_holder(data_dir: Path) -> int | None:
    """Return the PID of the process that runs on this data directory, None if there is none."""
    try:
        fd = os.open(data_dir / "lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_pid(fd)
    finally:
        os.close(fd)
    return None


def _read_pid(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isascii() and text.isdigit() else None


def instance_id(data_dir: Path) -> str:
    """Return the instance's permanent ID: 12 random hex digits, kept in the file `instance-id`."""
    path = data_dir / INSTANCE_ID
    try:
        text = path.read_text("ascii").strip()
    except FileNotFoundError:
        text = secrets.token_hex(6)
        write_atomically(path, text + "\n")
    if not _ID.fullmatch(text):
        raise Failure(f"{path} must contain 12 hex digits; restore it from a backup.", permanent=True)
    return text


def run_folder(data_dir: Path) -> Path:
    """Return the folder of this instance's sockets, creating it if needed. It is short: a socket's path has at most
    107 bytes.

    `/run/mailkeep/<id>` (0711) for root, `/tmp/mailkeep-<uid>/<id>` (0700) for other accounts. Fails if the folder is a
    link or belongs to another account, whose owner could listen there instead.
    """
    uid = os.geteuid()
    mode = 0o711 if uid == 0 else 0o700
    temporary = Path(f"/tmp/mailkeep-{uid}")  # noqa: S108 - its owner and mode are checked
    base = _RUN_FOLDER_OF_ROOT if uid == 0 else temporary
    try:
        ensure_own_folder(base, mode)
    except OSError:
        if uid != 0:
            raise
        base = temporary  # a read-only or missing /run, as in some containers
        ensure_own_folder(base, mode)
    folder = base / instance_id(data_dir)
    ensure_own_folder(folder, mode)
    return folder


def ensure_own_folder(path: Path, mode: int) -> None:
    """Create a folder of this account with `mode`, or give an existing one this mode. Fails if it is not a folder of
    it.
    """
    try:
        path.mkdir(mode=mode)
    except FileExistsError:
        pass
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise Failure(f"{path} is not a folder of this account; remove it and start again.", permanent=True)
    if status.st_mode & 0o777 != mode:
        path.chmod(mode)


def write_atomically(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace a file in one step: after a crash it has the old text or the new one, never a part."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
