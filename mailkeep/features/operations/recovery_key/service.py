"""Create and verify the recovery key, and change the repository's password: performed by commands."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.backup import restic, secrets
from mailkeep.backup.restic import Repository, RepositoryKey
from mailkeep.core import failpoint
from mailkeep.core.errors import Conflict, Failure
from mailkeep.core.principal import Principal
from mailkeep.db.liveness import LivenessLock
from mailkeep.db.pool import Conn
from mailkeep.features.operations.backups import rules, service as backups
from mailkeep.features.operations.backups.model import BACKUP_FOLDER
from mailkeep.features.operations.recovery_key import store
from mailkeep.features.operations.recovery_key.model import RecoveryKey
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget

log = structlog.get_logger("mailkeep.backup")

_TARGET = AuditTarget("backup", None)


async def find(conn: Conn, repository: str) -> RecoveryKey | None:
    """The recovery key of the repository with this setting `backup.repository`; None if none was created."""
    return await store.find(conn, repository)


async def create(app: App, who: Principal) -> str:
    """Add a recovery key to the repository in place of the previous one, and return it: it is not stored.

    CONFLICT `no_repository` before the first backup; ORCHESTRATOR_BUSY; UNAVAILABLE `needs_restic`; Failure.
    """
    key = secrets.new_recovery_key()
    async with _operation(app, who, "create") as repository:
        before = {each.id for each in await _list_keys(repository)}
        with secrets.password_file(_folder(app), key) as file:
            await repository.add_key(file, secrets.RECOVERY_USER)
        keys = await repository.list_keys()
        added = next(each for each in keys if each.id not in before)
        recovery_key = RecoveryKey(added.id, app.settings.backup.repository, app.clock())
        async with app.db.tx() as conn:
            await store.save(conn, recovery_key)
            await audit.record(conn, who, recovery_key.created_at, AuditAction("backup.key_create", _TARGET))
        if not app.settings.backup.append_only:
            previous = [each for each in keys if each.user_name == secrets.RECOVERY_USER and each.id in before]
            try:
                await _remove(repository, previous)
            except Failure as error:  # the new key must be shown nevertheless; the next one replaces both
                log.warning("the previous recovery key still opens the repository", reason=str(error))
    return key


async def verify(app: App, who: Principal, text: str) -> RecoveryKey:
    """Check that this is the recovery key, and record that. CONFLICT `wrong_key`, `no_repository`; UNAVAILABLE
    `needs_restic`; Failure.
    """
    rules.require_program(restic.find_program())
    at = app.clock()
    with secrets.password_file(_folder(app), secrets.read_recovery_key(text)) as file:
        keys = await _list_keys(_repository(app, file))
    used = next((each for each in keys if each.current), None)
    if used is None or used.user_name != secrets.RECOVERY_USER:
        raise Conflict("This password opens the repository, but it is not a recovery key.", reason="wrong_key")
    async with app.db.tx() as conn:
        known = await find(conn, app.settings.backup.repository)
        if known is None or known.key_id != used.id:
            known = RecoveryKey(used.id, app.settings.backup.repository, at)
        known = replace(known, verified_at=at)
        await store.save(conn, known)
        await audit.record(conn, who, at, AuditAction("backup.key_verify", _TARGET))
    return known


async def change_password(app: App, who: Principal) -> None:
    """Replace the repository's own password; the recovery key stays. CONFLICT `append_only`, `no_repository`;
    ORCHESTRATOR_BUSY; UNAVAILABLE `needs_restic`; Failure.
    """
    if app.settings.backup.append_only:
        raise Conflict(
            "The repository accepts no deletions (backup.append_only), so the old password would still open it.",
            reason="append_only",
        )
    async with _operation(app, who, "change") as repository:
        keys = await _list_keys(repository)
        folder = _folder(app)
        with secrets.password_file(folder, secrets.new_password()) as file:
            await repository.add_key(file, secrets.PASSWORD_USER)
            failpoint.reach("backup.key_added")
            secrets.replace_password(repository.password_file, file)
        failpoint.reach("backup.password_replaced")
        await _remove(repository, [each for each in keys if each.current or each.user_name == secrets.PASSWORD_USER])
        async with app.db.tx() as conn:
            await audit.record(conn, who, app.clock(), AuditAction("backup.key_change", _TARGET))


async def _remove(repository: Repository, keys: Sequence[RepositoryKey]) -> None:
    for each in keys:
        await repository.alone(partial(repository.remove_key, each.id))


@contextlib.asynccontextmanager
async def _operation(app: App, who: Principal, action: str) -> AsyncGenerator[Repository]:
    """The repository, for an operation that this process performs."""
    rules.require_program(restic.find_program())
    liveness = LivenessLock(app.db)
    process = await liveness.hold()
    try:
        async with app.db.tx() as conn:
            operation = await backups.begin_own_operation(conn, who, app.clock(), {"action": action}, process)
        try:
            yield _repository(app)
        except BaseException as error:
            await backups.end_own_operation(app, operation, str(error) or "The command was interrupted.")
            raise
        await backups.end_own_operation(app, operation)
    finally:
        await liveness.release()


async def _list_keys(repository: Repository) -> list[RepositoryKey]:
    """The keys of the repository. CONFLICT `no_repository`, `wrong_key`; Failure."""
    if not repository.password_file.exists():
        raise Conflict("There is no repository yet: make a backup first.", reason="no_repository")
    try:
        return await repository.list_keys()
    except restic.RepositoryMissing:
        raise Conflict("There is no repository yet: make a backup first.", reason="no_repository") from None
    except restic.WrongKey:
        raise Conflict("This key does not open the repository.", reason="wrong_key") from None


def _folder(app: App) -> Path:
    folder = app.data_dir / BACKUP_FOLDER
    if not folder.is_dir():
        raise Conflict("There is no repository yet: make a backup first.", reason="no_repository")
    return folder


def _repository(app: App, password_file: Path | None = None) -> Repository:
    return Repository.from_settings(app.settings.backup, _folder(app), password_file)
