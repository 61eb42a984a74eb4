"""Request backups, and read what is known about them."""

from __future__ import annotations

from uuid import UUID

import mailkeep
from mailkeep.app import App
from mailkeep.core.errors import NotFound, OrchestratorBusy
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.operations.backups import store
from mailkeep.features.operations.backups.model import Backup, BackupOperation, Trigger


async def find_open_operation(conn: Conn) -> BackupOperation | None:
    """The operation that waits or runs."""
    return await store.find_open_operation(conn)


async def get(conn: Conn, backup_id: UUID) -> Backup:
    """A backup; NOT_FOUND."""
    found = await store.find_backup(conn, backup_id)
    if found is None:
        raise NotFound
    return found


async def request_backup(conn: Conn, app: App, who: Principal, trigger: Trigger = "manual") -> Backup:
    """Request a backup. ORCHESTRATOR_BUSY."""
    at = app.clock()
    backup = Backup(uuid7(at), "running", trigger, at, version=mailkeep.__version__)
    await store.insert_backup(conn, backup)
    op = BackupOperation(uuid7(at), "create", "waiting", backup.id, who.admin_id, who.label, at, {})
    if not await store.insert_operation(conn, op):
        raise OrchestratorBusy("Another operation on backups is running; wait until it has finished, or cancel it.")
    return backup


async def cancel(conn: Conn, app: App, who: Principal, backup_id: UUID) -> Backup:
    """Request that the operation on this backup ends."""
    await store.request_cancel(conn, backup_id, app.clock())
    return await get(conn, backup_id)
