"""An upgrade: what is checked, and the steps until the new version is accepted.

The instance runs on until the last check has passed: the wheel, its migrations (applied to an empty database of their
own, and taken back by this version), the new environment, and a backup. Then `up` is stopped and its process becomes
the guard (`upgrade_guard`), which starts the new version; that migrates the database, as at every start. If it is as
healthy as the old one was, the link `current` leads to it. Else the old version starts again, on the same schema.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from mailkeep import __version__
from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.principal import Principal
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock, lock_holder, run_folder, write_atomically
from mailkeep.db.migrate import FOLDER, migrate, read_schema
from mailkeep.features.operations.backups import service as backups
from mailkeep.features.operations.orchestrator import service as orchestrator
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.cli import inspection
from mailkeep.run.runtime import (
    context,
    probe,
    service_status,
    state,
    upgrade_environment,
    upgrade_guard,
    upgrade_record,
    upgrade_wheel,
)
from mailkeep.run.runtime.state import InstanceState
from mailkeep.run.runtime.upgrade_environment import Installation
from mailkeep.run.runtime.upgrade_wheel import Wheel
from mailkeep.settings import parse_endpoint

Report = Callable[[str], None]
"""Receives a line about each step."""

_POLL_SECONDS = 0.2
_CLAIM_SECONDS, _BACKUP_SECONDS = 60.0, 6 * 3600.0
_STOP_SECONDS, _START_SECONDS, _HEALTHY_SECONDS, _KILL_SECONDS = 40.0, 240.0, 60.0, 30.0
_GREETING_SECONDS = 10.0
_SCRATCH = "upgrade-database"
_FINE = ("ok", "disabled")


@dataclass(frozen=True, slots=True)
class Preparation:
    """An upgrade that has passed all checks for which nothing of the wheel needs to run. `is_signed`: by the
    installation's release key.
    """

    data_dir: Path
    installation: Installation
    instance: InstanceState
    wheel: Wheel
    new_migrations: list[str]
    is_signed: bool


@contextlib.asynccontextmanager
async def prepare(data_dir: Path, source: Path, sha256: str | None) -> AsyncGenerator[Preparation]:
    """Check everything that can be checked without running code of the wheel. One upgrade at a time. Failure."""
    installation = upgrade_environment.find_installation()
    instance = state.read(data_dir)
    if instance is None:
        raise Failure(f"Mailkeep is not running on {data_dir}: start it, then upgrade.")
    if instance.version != __version__:
        raise Failure(
            f"Mailkeep {instance.version} is running on {data_dir}, and this is {__version__}: restart it first.",
            permanent=True,
        )
    with _lock(installation):
        wheel, is_signed = await asyncio.to_thread(_read_wheel, installation, source, sha256)
        _require_newer(wheel)
        own = {migration.file: migration.sql.decode() for migration in read_schema().migrations}
        new, obstacles = upgrade_wheel.list_new_migrations(wheel, own)
        if obstacles:
            raise Failure(
                f"Mailkeep {__version__} could not run again after the migrations of {wheel.version}, which do more "
                f"than add: {'; '.join(obstacles[:3])}. Upgrade to a version between them first.",
                permanent=True,
            )
        upgrade_environment.require_space(installation, wheel)
        async with context.open_app(data_dir) as app:
            await _require_idle(app)
        yield Preparation(data_dir, installation, instance, wheel, new, is_signed)


@contextlib.contextmanager
def _lock(installation: Installation) -> Generator[None]:
    """Hold the folder for the wheel, which is removed afterwards."""
    folder = installation.incoming
    descriptor = os.open(folder.with_name(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("Another upgrade is running.") from None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _read_wheel(installation: Installation, source: Path, sha256: str | None) -> tuple[Wheel, bool]:
    """Copy and verify the wheel; whether a signature was required, which it has."""
    path = installation.incoming / "new.whl"
    found = upgrade_wheel.copy(source, path)
    if sha256 is not None and sha256.lower() != found:
        raise Failure(f"{source} has the SHA-256 {found}, not {sha256[:64].lower()}.", permanent=True)
    is_signed = os.path.lexists(installation.release_key)  # a link that leads nowhere does not switch it off
    if is_signed:
        upgrade_wheel.verify_signature(path, source.with_name(source.name + ".sig"), installation.release_key)
    wheel = upgrade_wheel.read(path, found)
    return upgrade_wheel.rename(wheel), is_signed


def _require_newer(wheel: Wheel) -> None:
    if upgrade_wheel.parse_version(wheel.version) <= upgrade_wheel.parse_version(__version__):
        raise Failure(f"The wheel has version {wheel.version}, which is not newer than {__version__}.", permanent=True)
    if sys.version_info[:2] < wheel.min_python:
        needed = ".".join(map(str, wheel.min_python))
        raise Failure(f"Mailkeep {wheel.version} needs Python {needed} or newer.", permanent=True)


async def _require_idle(app: App) -> None:
    async with app.db.autocommit() as conn:
        if await backups.find_open_operation(conn):
            raise Failure("An operation on backups is running: wait until it has finished, or cancel it.")
    if await orchestrator.find_running(app):
        raise Failure("An operation on services is running: `mailkeep orchestrator operations` shows it.")


async def perform(
    preparation: Preparation,
    who: Principal,
    report: Report,
    *,
    find_links: Path | None,
    with_backup: bool,
    watch_seconds: float,
) -> None:
    """Upgrade. Failure if that was not possible; then the old version runs, or the message says that nothing does."""
    wheel, data_dir = preparation.wheel, preparation.data_dir
    environment = upgrade_environment.find_complete(preparation.installation, wheel)
    if environment is None:  # a complete one is of an attempt whose later steps failed
        report("Applying the migrations to an empty database …")
        await rehearse(wheel, data_dir)
        failpoint.reach("upgrade.rehearsed")
        report(f"Making the environment of {wheel.version} …")
        environment = await asyncio.to_thread(upgrade_environment.build, preparation.installation, wheel, find_links)
        failpoint.reach("upgrade.built")
    async with context.open_app(data_dir) as app:
        if with_backup:
            report("Making a backup …")
            await _back_up(app, who, report)
        failpoint.reach("upgrade.backed_up")
        await _require_idle(app)
        before = await _Health.read(data_dir, preparation.instance)
        await upgrade_record.begin(app, who, wheel.version, wheel.sha256)
    trial = _Trial(data_dir, preparation.instance, wheel.version)
    try:
        report(f"Restarting as {wheel.version} …")
        instance = await trial.start()
        failpoint.reach("upgrade.started")
        report("Checking …")
        await _check(data_dir, instance, before, watch_seconds)
        failpoint.reach("upgrade.checked")
        upgrade_environment.switch(preparation.installation, environment)
    except (Failure, OSError) as failure:
        upgrade_record.note_reason(data_dir, str(failure))
        await trial.go_back(failure)
    except BaseException:
        trial.end_new()
        raise
    failpoint.reach("upgrade.switched")
    await _finish(preparation, environment, who, report)


async def _finish(preparation: Preparation, environment: Path, who: Principal, report: Report) -> None:
    """Record that the new version is accepted, and remove what no version uses any more. Fails with a line only."""
    try:
        async with context.attach(preparation.data_dir, "upgrade") as app:
            await upgrade_record.settle(app, is_accepted=True, version=preparation.wheel.version, who=who)
        removed = await asyncio.to_thread(upgrade_environment.remove_unused, preparation.installation, environment)
    except (Failure, Unavailable, OSError) as error:
        report(f"The upgrade is done, but not all of what follows: {error}")
        return
    if removed:
        report(f"Removed the environments of {', '.join(removed)}.")


async def rehearse(wheel: Wheel, data_dir: Path) -> None:
    """Migrate an empty database of its own to this version and to the new one, back and again. Failure."""
    folder = data_dir / _SCRATCH
    shutil.rmtree(folder, ignore_errors=True)
    for name, files in (("migrations", wheel.migrations), ("functions", wheel.functions)):
        (folder / "schema" / name).mkdir(parents=True)
        for file, text in files.items():
            (folder / "schema" / name / file).write_text(text)
    folder.chmod(0o711)  # the database's account needs to reach its folder
    cluster: Path | None = None
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(acquire_lock(folder).release)
            server = await postgres.start(folder)
            cluster = server.location.cluster
            try:
                for schema in (FOLDER, folder / "schema", FOLDER, folder / "schema"):
                    await migrate(server.urls.owner, utc_now, folder=schema)
            finally:
                await server.stop()
    except Failure as failure:
        raise Failure(f"The migrations of {wheel.version} can't be applied and left again: {failure}",
                      permanent=True) from failure  # fmt: skip
    finally:
        shutil.rmtree(run_folder(folder), ignore_errors=True)
        if cluster:
            shutil.rmtree(cluster, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


async def _back_up(app: App, who: Principal, report: Report) -> None:
    """Make a backup and wait for it. Failure, also if nothing makes it."""
    async with app.db.tx() as conn:
        backup = await backups.request_backup(conn, app, who, "upgrade")
    began, phase = monotonic(), ""
    try:
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            async with app.db.autocommit() as conn:
                operation = await backups.find_open_operation(conn)
                backup = await backups.get(conn, backup.id)
            if operation is None or operation.backup_id != backup.id:
                break
            seconds = monotonic() - began
            if operation.state == "waiting" and seconds > _CLAIM_SECONDS:
                raise Failure("The backup has not begun: is the process `backup` running?")
            if seconds > _BACKUP_SECONDS:
                raise Failure(f"The backup has not ended within {_BACKUP_SECONDS / 3600:.0f} hours.")
            if operation.phase != phase:
                phase = operation.phase
                report(f"  {phase}")
    except BaseException:
        with contextlib.suppress(Exception):
            async with app.db.tx() as conn:
                await backups.cancel(conn, app, who, backup.id)
        raise
    if backup.state != "succeeded":
        raise Failure(f"The backup {backup.state}: {backup.error or 'no reason is known'}")


@dataclass(frozen=True, slots=True)
class _Health:
    """What is not as it should be, and the processes of the services by name."""

    faults: frozenset[str]
    processes: dict[str, int | None]

    @classmethod
    async def read(cls, data_dir: Path, instance: InstanceState) -> _Health:
        """Of an instance."""
        found = await inspection.fetch_health(instance.http)
        faults = {check.component for check in found.checks if check.status not in _FINE}
        if found.status == "unreachable":
            faults.add("API")
        processes: dict[str, int | None] = {}
        if instance.profile == "full":
            listed = await asyncio.to_thread(service_status.list_services, run_folder(data_dir))
            processes = {service.name: service.pid for service in listed}
            faults |= {name for name, pid in processes.items() if pid is None}
        return cls(frozenset(faults), processes)


class _Trial:
    """The time in which the new version runs but is not accepted. `up` is the process of the instance."""

    def __init__(self, data_dir: Path, before: InstanceState, version: str) -> None:
        self._data_dir, self._before, self._version = data_dir, before, version
        self._up = os.pidfd_open(before.pid)

    async def start(self) -> InstanceState:
        """Let the running instance make room for the new version; the state of the latter when it has started."""
        write_atomically(self._data_dir / upgrade_guard.REQUEST, upgrade_guard.make_request(self._version), 0o600)
        failpoint.reach("upgrade.requested")
        signal.pidfd_send_signal(self._up, signal.SIGTERM)
        deadline = monotonic() + _STOP_SECONDS
        while state.read(self._data_dir) == self._before:
            if monotonic() > deadline:
                raise Failure(f"Mailkeep {__version__} did not stop within {_STOP_SECONDS:.0f} s.")
            await asyncio.sleep(_POLL_SECONDS)
        deadline = monotonic() + _START_SECONDS
        while (instance := state.read(self._data_dir)) is None:
            if monotonic() > deadline:
                raise Failure(f"Mailkeep {self._version} did not start within {_START_SECONDS:.0f} s.")
            await asyncio.sleep(_POLL_SECONDS)
        if instance.version != self._version:
            raise Failure(f"Mailkeep {self._version} did not start: see its log, and log/ in the data directory.")
        return instance

    async def go_back(self, why: Exception) -> None:
        """Have the old version started again, and raise a Failure with the reason."""
        (self._data_dir / upgrade_guard.REQUEST).unlink(missing_ok=True)
        began, is_killed = monotonic(), False
        self.end_new()
        while (instance := state.read(self._data_dir)) is None or instance.version != __version__:
            if monotonic() - began > _KILL_SECONDS and not is_killed:
                is_killed = True
                self.end_new(signal.SIGKILL)
            if monotonic() - began > _START_SECONDS:
                raise Failure(f"{why} Mailkeep {__version__} does not run either: start it.", permanent=True) from why
            await asyncio.sleep(_POLL_SECONDS)
        with contextlib.suppress(Failure, Unavailable):  # else the next start does it
            async with context.attach(self._data_dir, "upgrade") as app:
                await upgrade_record.settle(app, is_accepted=True)  # unless its start has done so
        raise Failure(f"{why} Mailkeep {__version__} runs again.", permanent=True) from why

    def end_new(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the new version, whose guard then starts the old one."""
        pid = lock_holder(self._data_dir)
        instance = state.read(self._data_dir)
        is_old = instance is not None and instance.version == __version__
        # The guard's own process holds the lock when it is the old version again.
        if pid is not None and pid != self._before.pid and not is_old:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


async def _check(data_dir: Path, instance: InstanceState, before: _Health, watch_seconds: float) -> None:
    """Check that the new version is as healthy as the old one was, and stays so. Failure."""
    deadline = monotonic() + _HEALTHY_SECONDS
    while faults := (health := await _Health.read(data_dir, instance)).faults - before.faults:
        if monotonic() > deadline:
            raise Failure(f"Mailkeep {instance.version} is not healthy: {', '.join(sorted(faults))}.")
        await asyncio.sleep(1)
    await _check_mail(data_dir, instance)
    deadline = monotonic() + watch_seconds
    while monotonic() < deadline:
        await asyncio.sleep(1)
        now = await _Health.read(data_dir, instance)
        ended = {name for name, pid in health.processes.items() if now.processes.get(name) != pid}
        if state.read(data_dir) != instance:
            raise Failure(f"Mailkeep {instance.version} ended.")
        if problems := ended | (now.faults - before.faults):
            raise Failure(f"Mailkeep {instance.version} does not stay healthy: {', '.join(sorted(problems))}.")


async def _check_mail(data_dir: Path, instance: InstanceState) -> None:
    """A probe message to a mailbox; in the embedded profile the greeting of the SMTP listener."""
    if instance.profile == "full":
        async with context.attach(data_dir, "upgrade") as app:
            result = await probe.probe(app, InstancePaths(data_dir, run_folder(data_dir)), app.settings)
        if result.status == "failed":
            raise Failure(f"The probe message failed: {result.problem}")
        return
    host, port = parse_endpoint(instance.smtp)
    try:
        async with asyncio.timeout(_GREETING_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            greeting = await reader.readline()
            writer.close()
    except (OSError, TimeoutError) as error:
        raise Failure(f"The SMTP listener does not answer: {error}") from error
    if not greeting.startswith(b"220 "):
        raise Failure("The SMTP listener does not greet.")
