"""The journal of an apply, `generations/operation.json`: what to restore, from before the first change to the end.

It is written once and removed when the end of the operation is recorded. If the process or the whole instance is
killed in between, the next one restores what it names (`run/runtime/apply`).
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from uuid import UUID

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.db.instance import write_atomically
from mailkeep.mail.daemons.actions import Action
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import generations

_NAME, _LOCK = "operation.json", "operation.lock"
_DAMAGED = "operation.json.damaged"
_POLL_SECONDS = 0.2


class ApplyJournal(msgspec.Struct, frozen=True):
    """What to restore: the generation of each switched service and the revision of the settings before. `actions` says
    what each service must do, in order. `silent` are the ports that did not greet before the first change;
    `probe_failed`: why the probe failed then.
    """

    operation_id: UUID
    n: int
    base: int
    target: int
    links: Mapping[str, int]
    actions: Mapping[str, Action]
    silent: Sequence[str] = ()
    probe_failed: str | None = None


class DamagedJournal(Failure):
    """The journal can't be read."""


def file_of(paths: InstancePaths) -> Path:
    """The file."""
    return paths.generations / _NAME


def read(paths: InstancePaths) -> ApplyJournal | None:
    """The journal of an unfinished operation. DamagedJournal."""
    try:
        found = msgspec.json.decode(file_of(paths).read_bytes(), type=ApplyJournal)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise DamagedJournal(f"{file_of(paths)} can't be read: {error}.") from error
    if unknown := found.links.keys() - set(generations.SERVICES):
        raise DamagedJournal(f"{file_of(paths)} names unknown services: {', '.join(sorted(unknown))}.")
    return found


def write(paths: InstancePaths, journal: ApplyJournal) -> None:
    """Write the journal, durably. Failure if it can't be written."""
    try:
        write_atomically(file_of(paths), msgspec.json.encode(journal).decode(), 0o600)
        generations.sync(paths.generations)
    except OSError as error:
        with contextlib.suppress(OSError):
            remove(paths)
        raise Failure(f"{file_of(paths)} can't be written: {error.strerror}. Nothing was changed.") from error


def remove(paths: InstancePaths) -> None:
    """Remove the journal, after the end of the operation was recorded."""
    file_of(paths).unlink(missing_ok=True)


def set_aside(paths: InstancePaths) -> Path:
    """Rename a damaged journal, so that it is read no more; its new path."""
    return file_of(paths).replace(paths.generations / _DAMAGED)


def restore_links(paths: InstancePaths, journal: ApplyJournal) -> list[str]:
    """Let the services use their earlier generations again; the services whose generation is missing."""
    missing: list[str] = []
    for service, n in journal.links.items():
        if not generations.is_complete(paths, n, service):
            missing.append(service)
        elif generations.find_linked(paths, service) != n:
            generations.switch(paths, service, n)
    return missing


@contextlib.asynccontextmanager
async def lock(paths: InstancePaths) -> AsyncGenerator[None]:
    """Wait until no other process applies or restores, and keep others from it. The kernel releases it at a kill."""
    descriptor = os.open(paths.generations / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)
