"""The program restic: one repository, its snapshots and its keys.

Each call is one process in a process group of its own, which ends with the call: when the task is cancelled the group
gets SIGINT, so that restic removes its lock, and SIGKILL some seconds later. A killed run leaves a lock behind;
`unlock` removes locks of processes that have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec

from mailkeep.backup.database_copy import END_WITH_PARENT
from mailkeep.core.errors import Failure
from mailkeep.settings.backup import BackupSettings

INSTALL_COMMAND = "apt install restic"
"""What installs restic."""

_GRACE_SECONDS = 4.0
_LINE_BYTES = 1 << 20
_ERROR_BYTES = 1 << 16
_FREE_BYTES, _LOOK_SECONDS = 256 << 20, 0.2
_ATTEMPTS, _ATTEMPT_SECONDS = 20, 1.0
_INCOMPLETE = 3  # a source file could not be read
# Less memory for a little more CPU time; Go's default lets the heap double.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "GOGC": "40", "RESTIC_PROGRESS_FPS": "1"}


class WrongKey(Failure):
    """The password does not open the repository."""


class RepositoryMissing(Failure):
    """There is no repository at this location."""


class RepositoryLocked(Failure):
    """Another process uses the repository."""


class SnapshotIncomplete(Failure):
    """A file could not be read, so that the new snapshot lacks it."""


class Snapshot(msgspec.Struct, frozen=True):
    """A snapshot. `id` is the full ID."""

    id: str
    time: datetime
    hostname: str = ""
    tags: list[str] = []
    paths: list[str] = []


class Progress(msgspec.Struct, frozen=True):
    """How much of a backup is read: files and bytes of the totals known so far."""

    files_done: int = 0
    total_files: int = 0
    bytes_done: int = 0
    total_bytes: int = 0


class Summary(msgspec.Struct, frozen=True):
    """The end of a backup: the ID of the snapshot (its beginning), the bytes read and those added to the repository."""

    snapshot_id: str
    data_added: int
    total_bytes_processed: int
    total_files_processed: int = 0


class RepositoryKey(msgspec.Struct, frozen=True, rename={"user_name": "userName", "host_name": "hostName"}):
    """A key of the repository: a password that opens it. `current`: the one in use."""

    id: str
    current: bool
    user_name: str = ""
    host_name: str = ""
    created: str = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many hours, days, weeks and months the newest snapshot of each is kept."""

    hourly: int
    daily: int
    weekly: int
    monthly: int

    @property
    def keeps_all(self) -> bool:
        """Whether nothing is removed, because no number is set."""
        return not (self.hourly or self.daily or self.weekly or self.monthly)


def find_program() -> str | None:
    """The path of restic, None if it is not installed."""
    return shutil.which("restic", path=_ENVIRONMENT["PATH"])


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository. `location` is restic's; `password_file` opens it; `cache` is restic's cache.

    `environment` has the credentials of the server, `options` further arguments of restic.
    """

    location: str
    password_file: Path
    cache: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    options: Sequence[str] = ()

    @classmethod
    def from_settings(cls, settings: BackupSettings, folder: Path, password_file: Path | None = None) -> Repository:
        """The repository of an instance, whose backup folder is `folder`."""
        environment = {
            "AWS_ACCESS_KEY_ID": settings.s3_access_key,
            "AWS_SECRET_ACCESS_KEY": settings.s3_secret_key,
            "AWS_DEFAULT_REGION": settings.s3_region,
        }
        location = settings.repository or str(folder / "repository")
        options = [f"--limit-upload={settings.upload_kib_per_second}"] if settings.upload_kib_per_second else []
        if location.startswith("sftp:"):
            options += ["-o", f"sftp.command={_ssh_command(location, settings)}"]
        if location.startswith("rest:") and settings.rest_username:
            location = _with_credentials(location, settings.rest_username, settings.rest_password)
        set_variables = {name: value for name, value in environment.items() if value}
        return cls(location, password_file or folder / "password", folder / "cache", set_variables, options)

    async def create(self) -> None:
        """Create the repository. Failure if there is one, or the place can't be written."""
        await self._run("init")

    async def open(self) -> None:
        """Check that there is a repository that the password opens. RepositoryMissing, WrongKey, Failure."""
        await self._run("cat", "config", "--no-lock")

    async def backup(
        self, folder: Path, tags: Sequence[str], host: str, report: Callable[[Progress], None] | None = None
    ) -> Summary:
        """Store a folder as a snapshot. SnapshotIncomplete if a file could not be read."""
        arguments = ["backup", "--json", "--ignore-ctime", "--host", host]
        arguments += [part for tag in tags for part in ("--tag", tag)]
        found: Summary | None = None
        async with self._start([*arguments, str(folder)]) as call:
            async for line in call.lines():
                kind = line.get("message_type")
                if kind == "status" and report:
                    report(msgspec.convert(line, Progress))
                elif kind == "summary":
                    found = msgspec.convert(line, Summary)
            await call.expect_success()
        if found is None:
            raise Failure("restic reported no summary of the backup.")
        return found

    async def list_snapshots(self, tags: Sequence[str] = ()) -> list[Snapshot]:
        """The snapshots that have all these tags, oldest first."""
        output = await self._run("snapshots", "--json", "--no-lock", *(["--tag", ",".join(tags)] if tags else []))
        found: list[Snapshot] | None = msgspec.json.decode(output, type=list[Snapshot] | None)
        return sorted(found or [], key=lambda snapshot: snapshot.time)

    async def forget(self, snapshots: Sequence[str]) -> None:
        """Remove snapshots by ID. Their data stays until `prune`."""
        if snapshots:
            await self._run("forget", *snapshots)

    async def prune(self) -> None:
        """Remove data that no snapshot needs."""
        await self._run("prune")

    async def check(self, subset: str = "") -> None:
        """Check the structure of the repository, and the content of `subset` of its data (`10%`, `2.5G`). Failure."""
        await self._run("check", *([f"--read-data-subset={subset}"] if subset else []))

    async def unlock(self) -> None:
        """Remove the locks of processes that have ended."""
        await self._run("unlock")

    async def dump(self, snapshot: str, path: str, target: Path) -> None:
        """Write a file of a snapshot to `target`, whose folder exists. Failure, without the file, before the disk is
        full: whoever can write to the repository chooses how large it is.
        """
        try:
            with target.open("wb") as file:
                async with self._start(["dump", "--no-lock", snapshot, path], stdout=file.fileno()) as call:
                    while not await call.has_ended(_LOOK_SECONDS):
                        if shutil.disk_usage(target.parent).free < _FREE_BYTES:
                            raise Failure(
                                f"{Path(path).name} was not read, because {target.parent} has less than "
                                f"{_FREE_BYTES >> 20} MiB free."
                            )
                    await call.expect_success()
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    async def restore(
        self, snapshot: str, target: Path, include: Sequence[str] = (), launcher: Sequence[str] = ()
    ) -> None:
        """Restore a snapshot, or only what matches the patterns `include`. `launcher`: the program that confines
        restic, because the content of a repository is not trusted (`restored_tree`).
        """
        patterns = [part for pattern in include for part in ("--include", pattern)]
        async with self._start(
            ["restore", "--no-lock", snapshot, "--target", str(target), *patterns], launcher
        ) as call:
            await call.read()
            await call.expect_success()

    async def alone(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do what needs the repository alone. Locks of processes that have ended are removed; the end of others, as of
        storing the write-ahead log, is awaited for a while. RepositoryLocked.
        """
        for _ in range(_ATTEMPTS):
            try:
                await work()
            except RepositoryLocked:
                await self.unlock()
                await asyncio.sleep(_ATTEMPT_SECONDS)
            else:
                return
        await work()

    async def list_keys(self) -> list[RepositoryKey]:
        """The keys of the repository."""
        return msgspec.json.decode(await self._run("key", "list", "--json", "--no-lock"), type=list[RepositoryKey])

    async def add_key(self, new_password_file: Path, user: str) -> None:
        """Add a password that opens the repository. `user` says what it is for."""
        await self._run("key", "add", "--new-password-file", str(new_password_file), "--user", user)

    async def remove_key(self, key_id: str) -> None:
        """Remove a key, except the current one."""
        await self._run("key", "remove", key_id)

    def variables(self) -> dict[str, str]:
        """The environment of restic."""
        own = {"RESTIC_PASSWORD_FILE": str(self.password_file), "RESTIC_CACHE_DIR": str(self.cache)}
        # The location of a REST server has its credentials, which other accounts could read among the arguments.
        return {
            **_ENVIRONMENT,
            **own,
            "RESTIC_REPOSITORY": self.location,
            "TMPDIR": str(self.cache),
            **self.environment,
        }

    def _command(self, *arguments: str) -> list[str]:
        program = find_program()
        if program is None:
            raise Failure(f"restic is not installed: {INSTALL_COMMAND}", permanent=True)
        return ["/usr/bin/nice", "-n", "10", program, *self.options, *arguments]

    async def _run(self, *arguments: str) -> bytes:
        async with self._start(arguments) as call:
            output = await call.read()
            await call.expect_success()
        return output

    @contextlib.asynccontextmanager
    async def _start(
        self, arguments: Sequence[str], launcher: Sequence[str] = (), stdout: int = asyncio.subprocess.PIPE
    ) -> AsyncGenerator[_ResticCall]:
        command = [*END_WITH_PARENT, *launcher, *self._command(*arguments)]
        self.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
            env=self.variables(),
            cwd="/",
            start_new_session=True,
            limit=_LINE_BYTES,
        )
        call = _ResticCall(process)
        try:
            yield call
        finally:
            await call.end()


class _ResticCall:
    """A running restic."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = asyncio.create_task(self._read_errors())

    async def lines(self) -> AsyncGenerator[Mapping[str, object]]:
        """Its JSON lines."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            with contextlib.suppress(msgspec.DecodeError):
                yield msgspec.json.decode(line, type=dict[str, object])

    async def read(self) -> bytes:
        """All its output."""
        assert self._process.stdout is not None
        return await self._process.stdout.read()

    async def has_ended(self, seconds: float) -> bool:
        """Whether it ends within this time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()
        return self._process.returncode is not None

    async def expect_success(self) -> None:
        """Wait for its end. Failure with its error message, as the class that the message means."""
        text = await self._errors
        status = await self._process.wait()
        if status == 0:
            return
        raise _to_failure(status, text)

    async def end(self) -> None:
        """End the process group, if it is still running."""
        try:
            if self._process.returncode is None:
                self._signal(signal.SIGINT)  # the only one that restic 0.14 handles
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_GRACE_SECONDS):
                        await self._process.wait()
        finally:
            self._signal(signal.SIGKILL)
            self._errors.cancel()
        await self._process.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    async def _read_errors(self) -> str:
        assert self._process.stderr is not None
        kept = b""
        while chunk := await self._process.stderr.read(_ERROR_BYTES):
            kept = (kept + chunk)[-_ERROR_BYTES:]
        return kept.decode("utf-8", "replace").strip()


def _to_failure(status: int, text: str) -> Failure:
    lowered = text.lower()
    if "wrong password or no key found" in lowered:
        return WrongKey("The key does not open the repository.", permanent=True)
    if "unable to open config file" in lowered or "is there a repository at" in lowered:
        return RepositoryMissing(f"There is no repository: {_last_lines(text)}", permanent=True)
    if "repository is already locked" in lowered or "unable to create lock" in lowered:
        return RepositoryLocked(f"The repository is locked by another process: {_last_lines(text)}")
    if "no space left on device" in lowered:
        return Failure("No space is left on the device.")
    if status == _INCOMPLETE:
        return SnapshotIncomplete(f"Files could not be read: {_last_lines(text)}")
    return Failure(f"restic failed with status {status}: {_last_lines(text) or 'no message'}")


def _last_lines(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines()[-3:])[:1000]


def _ssh_command(location: str, settings: BackupSettings) -> str:
    parts = urlsplit(location) if location.startswith("sftp://") else None
    target = f"{parts.username}@{parts.hostname}" if parts else location.removeprefix("sftp:").partition(":")[0]
    options = ["-o BatchMode=yes", "-o ConnectTimeout=20", "-o ServerAliveInterval=30", "-o StrictHostKeyChecking=yes"]
    if settings.sftp_known_hosts_file:
        options.append(f"-o UserKnownHostsFile={settings.sftp_known_hosts_file}")
    if settings.sftp_key_file:
        options += [f"-i {settings.sftp_key_file}", "-o IdentitiesOnly=yes"]
    if parts and parts.port:
        options.append(f"-p {parts.port}")
    return f"ssh {' '.join(options)} {target} -s sftp"


def _with_credentials(location: str, username: str, password: str) -> str:
    parts = urlsplit(location.removeprefix("rest:"))
    netloc = f"{quote(username, safe='')}:{quote(password, safe='')}@{parts.netloc}"
    return "rest:" + urlunsplit((parts.scheme, netloc, parts.path, parts.query, parts.fragment))
