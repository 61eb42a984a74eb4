"""Complete a full restore; count and release what it holds."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from mailkeep.core.clock import iso
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.holds import store
from mailkeep.features.record.holds.model import HeldRows, RestoredBackup
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.features.record.system_mail.model import SuperAdminNotice

find_restored = store.find


async def complete_restore(
    conn: Conn, who: Principal, at: datetime, restored: RestoredBackup, database_at: datetime | None = None
) -> HeldRows | None:
    """End sessions and invitations, hold what was pending, and tell super_admins, in one transaction; what is held.
    None, and nothing changes, if this restore is completed already. `database_at`: the time to which the database was
    brought.
    """
    last = await store.find(conn)
    if last and (last.backup_id, last.restored_at) == (restored.backup_id, restored.restored_at):
        return None
    ended, held = await store.end_access(conn), await store.hold(conn)
    await store.save(conn, restored)
    details: dict[str, Any] = {"began_at": iso(restored.began_at), "ended": asdict(ended), "held": asdict(held)}
    if database_at:
        details["database_at"] = iso(database_at)
    await audit.record(
        conn, who, at, AuditAction("backup.restore_all", AuditTarget("backup", restored.backup_id), details=details)
    )
    item = {"step": "started", "what": "the whole server", "backup_at": iso(restored.began_at), "reason": None}
    await system_mail.notify_super_admins(conn, who, at, SuperAdminNotice("restore", item))
    return held


async def count(conn: Conn) -> HeldRows:
    """What is held. Costs nothing where nothing was ever restored, or all is released."""
    restored = await store.find(conn)
    return HeldRows() if restored is None or restored.released_at else await store.count(conn)


async def release(conn: Conn, at: datetime) -> HeldRows:
    """Release what is held; the numbers. The caller records the action."""
    restored = await store.find(conn)
    if restored is None or restored.released_at:
        return HeldRows()
    await store.set_released(conn, at)
    return await store.release(conn)
