"""Request operations on backups, and read what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import to_builtins

import mailkeep
from mailkeep.app import App
from mailkeep.backup import restic
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import Conflict, NotFound, OrchestratorBusy
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.operations.backups import policy, rules, store, wire
from mailkeep.features.operations.backups.model import (
    Backup,
    BackupOperation,
    OperationKind,
    RestoreRequest,
    Trigger,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.settings.backup import BackupSettings

OperationRecord = wire.BackupOperationRecord
"""An operation as the API shows it."""
to_record = wire.to_operation


@dataclass(frozen=True, slots=True)
class BackupTimes:
    """When backups and verifications were made, and are due."""

    last_backup: Backup | None  # that has succeeded
    last_attempt: Backup | None
    first_stored_at: datetime | None
    last_verified: Backup | None
    next_backup_at: datetime | None
    next_verification_at: datetime | None


async def page(conn: Conn, page_request: PageRequest) -> tuple[Page[Backup], BackupOperation | None]:
    """A page of the backups, and the operation that waits or runs."""
    return await store.page_backups(conn, page_request), await store.find_open_operation(conn)


async def get(conn: Conn, backup_id: UUID) -> Backup:
    """A backup; NOT_FOUND."""
    found = await store.find_backup(conn, backup_id)
    if found is None:
        raise NotFound
    return found


async def get_stored(conn: Conn, backup_id: UUID) -> Backup:
    """A backup that the repository has, and restic to read it. NOT_FOUND, CONFLICT, UNAVAILABLE `needs_restic`."""
    backup = await get(conn, backup_id)
    rules.require_snapshot(backup)
    rules.require_program(restic.find_program())
    return backup


async def find_newest(conn: Conn) -> Backup | None:
    """The newest backup that has succeeded."""
    return await store.find_newest(conn)


def describe(backup: Backup, operation: BackupOperation | None) -> wire.BackupRecord:
    """A backup as the API shows it; `operation`: the one that waits or runs."""
    return wire.to_backup(backup, operation)


def describe_operation(operation: BackupOperation) -> dict[str, Any]:
    """An operation as the API shows it, with its result."""
    return to_builtins(wire.to_operation(operation)) | {"result": operation.result}


async def find_open_operation(conn: Conn) -> BackupOperation | None:
    """The operation that waits or runs."""
    return await store.find_open_operation(conn)


async def find_operation(app: App, operation_id: UUID) -> BackupOperation | None:
    """An operation on backups, if it is recorded."""
    async with app.db.autocommit() as conn:
        return await store.find_operation(conn, operation_id)


async def request_backup(conn: Conn, app: App, who: Principal, trigger: Trigger = "manual") -> Backup:
    """Request a backup. ORCHESTRATOR_BUSY; UNAVAILABLE `needs_restic`, `external_database`."""
    rules.require_own_database(app.settings.database.url)
    rules.require_program(restic.find_program())
    at = app.clock()
    backup = Backup(uuid7(at), "running", trigger, at, version=mailkeep.__version__)
    await store.insert_backup(conn, backup)
    await _request(conn, who, _operation("create", who, at, backup.id))
    await audit.record(conn, who, at, AuditAction("backup.create", _target(backup.id), details={"trigger": trigger}))
    return backup


async def request_verification(conn: Conn, app: App, who: Principal, backup_id: UUID) -> BackupOperation:
    """Request the verification of a backup. NOT_FOUND, CONFLICT, ORCHESTRATOR_BUSY, UNAVAILABLE `needs_restic`."""
    await get_stored(conn, backup_id)
    at = app.clock()
    operation = _operation("verify", who, at, backup_id)
    await _request(conn, who, operation)
    await audit.record(conn, who, at, AuditAction("backup.verify", _target(backup_id)))
    return operation


async def request_restore(
    conn: Conn, app: App, who: Principal, backup_id: UUID, request: RestoreRequest
) -> BackupOperation:
    """Request the restore of a domain or mailbox. NOT_FOUND, INVALID_FIELD, CONFLICT, ORCHESTRATOR_BUSY, UNAVAILABLE
    `needs_restic`.
    """
    rules.check_restore(request)
    await get_stored(conn, backup_id)
    at = app.clock()
    argument = rules.to_argument(request)
    operation = _operation("restore", who, at, backup_id, argument)
    await _request(conn, who, operation)
    await audit.record(conn, who, at, AuditAction("backup.restore", _target(backup_id), details=argument))
    return operation


async def request_removal(
    conn: Conn, app: App, who: Principal, backup_id: UUID, if_match: IfMatch = ANY_VERSION
) -> BackupOperation | None:
    """Request that a backup is removed from the repository; one that is not there is deleted at once (None).
    NOT_FOUND, CONFLICT, ORCHESTRATOR_BUSY, PRECONDITION_FAILED, UNAVAILABLE `needs_restic`.
    """
    backup = await get(conn, backup_id)
    if_match.check(backup.changed_at)
    rules.require_deletable(backup, append_only=app.settings.backup.append_only)
    at = app.clock()
    operation = None
    if backup.snapshot:
        rules.require_program(restic.find_program())
        operation = _operation("prune", who, at, backup_id, {"backup_id": str(backup_id)})
        await _request(conn, who, operation)
    else:
        await store.delete_backup(conn, backup_id)
    await audit.record(conn, who, at, AuditAction("backup.delete", _target(backup_id)))
    return operation


async def request_prune(conn: Conn, app: App, who: Principal) -> BackupOperation:
    """Request that backups are removed by the retention policy, and data that no backup needs. CONFLICT, as
    ORCHESTRATOR_BUSY; UNAVAILABLE `needs_restic`.
    """
    if app.settings.backup.append_only:
        raise Conflict("The repository accepts no deletions (backup.append_only).", reason="append_only")
    rules.require_program(restic.find_program())
    at = app.clock()
    operation = _operation("prune", who, at, None)
    await _request(conn, who, operation)
    await audit.record(conn, who, at, AuditAction("backup.prune", AuditTarget("backup", None)))
    return operation


async def cancel(conn: Conn, app: App, who: Principal, backup_id: UUID) -> Backup:
    """Request that the operation on this backup ends; one that waits ends at once. NOT_FOUND,
    CONFLICT `not_running`.
    """
    await get(conn, backup_id)
    operation = await store.find_open_operation(conn)
    if operation is None or operation.backup_id != backup_id:
        raise Conflict("No operation on this backup waits or runs.", reason="not_running")
    await _cancel(conn, app, who, operation)
    return await get(conn, backup_id)


async def cancel_open(conn: Conn, app: App, who: Principal) -> BackupOperation:
    """Request that the operation that waits or runs ends, on whatever backup. CONFLICT `not_running`; `changes_keys`,
    because that ends by itself.
    """
    operation = await store.find_open_operation(conn)
    if operation is None:
        raise Conflict("No operation on backups waits or runs.", reason="not_running")
    if operation.kind == "key":
        raise Conflict("The keys of the repository are being changed; that can't be cancelled.", reason="changes_keys")
    await _cancel(conn, app, who, operation)
    return operation


async def _cancel(conn: Conn, app: App, who: Principal, operation: BackupOperation) -> None:
    at, backup_id = app.clock(), operation.backup_id
    if not await store.request_cancel(conn, operation.id, at):
        raise Conflict("The operation has just ended.", reason="not_running")
    ended = await store.find_operation(conn, operation.id)
    if operation.kind == "create" and backup_id and ended is not None and ended.state == "cancelled":
        await store.cancel_waiting_backup(conn, backup_id, at)
    target = AuditTarget("backup", backup_id)
    await audit.record(conn, who, at, AuditAction("backup.cancel", target, details={"kind": operation.kind}))


async def read_times(conn: Conn, app: App, settings: BackupSettings) -> BackupTimes:
    """When backups and verifications were made, and are due with these settings."""
    at = app.clock()
    last, stored = await store.find_newest(conn), await store.list_stored(conn)
    checked = {each.verification.at: each for each in stored if each.verification}
    checked_at = max(checked, default=None)
    first_at = stored[0].created_at if stored else None
    next_verification = policy.next_verification_at(settings.verify_every, settings.start_time, checked_at, first_at)
    return BackupTimes(
        last_backup=last,
        last_attempt=await store.find_last_attempt(conn),
        first_stored_at=first_at,
        last_verified=checked[checked_at] if checked_at else None,
        next_backup_at=policy.next_backup_at(settings.schedule, settings.start_time, at),
        next_verification_at=max(next_verification, at) if next_verification and last else None,
    )


async def list_failed(conn: Conn, after: UUID | None) -> list[Backup]:
    """The failed backups that began after this one; without one, the newest."""
    return await store.list_failed(conn, after)


async def begin_own_operation(
    conn: Conn, who: Principal, at: datetime, argument: Mapping[str, Any], process: UUID
) -> BackupOperation:
    """Begin an operation on the repository's keys that this process, with this liveness lock, performs itself.
    ORCHESTRATOR_BUSY.
    """
    await _request(conn, who, _operation("key", who, at, None, argument))
    claimed = await store.claim_operation(conn, process, at)
    assert claimed is not None
    return claimed


async def end_own_operation(app: App, operation: BackupOperation, error: str | None = None) -> None:
    """Record the end of such an operation."""
    state = "failed" if error else "succeeded"
    async with app.db.autocommit() as conn:
        await store.finish_operation(conn, operation.id, state, app.clock(), error=error)


def _operation(
    kind: OperationKind,
    who: Principal,
    at: datetime,
    backup_id: UUID | None,
    argument: Mapping[str, Any] | None = None,
) -> BackupOperation:
    return BackupOperation(uuid7(at), kind, "waiting", backup_id, who.admin_id, who.label, at, argument or {})


async def _request(conn: Conn, who: Principal, operation: BackupOperation) -> None:
    """Insert an operation. ORCHESTRATOR_BUSY if another one waits or runs."""
    if await store.insert_operation(conn, operation):
        return
    other = await store.find_open_operation(conn)
    raise OrchestratorBusy(
        "Another operation on backups is running; wait until it has finished, or cancel it.",
        reason="backups",
        operation_id=str(other.id) if other else None,
    )


def _target(backup_id: UUID) -> AuditTarget:
    return AuditTarget("backup", backup_id)
