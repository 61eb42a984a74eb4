"""Background work on the audit log: sealing, and deleting old months. Any number of processes may run both."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from psycopg.errors import LockNotAvailable

from mailkeep.app import App
from mailkeep.core.clock import iso
from mailkeep.core.ids import uuid7_floor
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.instance import write_atomically
from mailkeep.db.partitions import confirm_prune_time
from mailkeep.db.pool import Conn, DatabasePool
from mailkeep.features.record.audit import rules, service, store, wire
from mailkeep.features.record.audit.model import SEAL_KEY_PURPOSE, START, AuditAction, AuditTarget, Seal

log = structlog.get_logger("mailkeep.audit")

_BATCH = 500
_POLL_SECONDS, _POLLS = 0.25, 40
_SYSTEM = Principal(None, "retention", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def seal(app: App) -> int:
    """Seal all entries whose order is final; returns how many. Run it every few seconds."""
    count, newest = 0, None
    while newest is None or newest.entries == _BATCH:
        async with _audit_db(app).tx() as conn:
            new = await _seal_batch(app, conn)
        if new is None:
            break
        count, newest = count + new.entries, new
    if newest is not None:
        await _write_head_file(app, newest)
    return count


async def seal_all(app: App) -> None:
    """Return when all entries that are final now are sealed, by this process or by the sealing one (within seconds)."""
    if app.audit_db is not None:
        await seal(app)
        return
    for _ in range(_POLLS):
        async with app.db.autocommit() as conn:
            head = await store.find_head(conn)
            if not await store.list_sealable(conn, head.last if head else START, 1):
                return
        await asyncio.sleep(_POLL_SECONDS)


def _audit_db(app: App) -> DatabasePool:
    if app.audit_db is None:
        raise RuntimeError("this process has no permission to seal or prune the audit log")
    return app.audit_db


async def _seal_batch(app: App, conn: Conn) -> Seal | None:
    """Insert and return the next seal; None if there is nothing to seal or the newest seal is not valid here."""
    head = await store.lock_head(conn)
    if head is not None and not rules.is_genuine(head, app.vault.public_key(SEAL_KEY_PURPOSE)):
        log.error(
            "audit sealing stopped: the newest seal is not signed with this server's master secret", seal=head.sequence
        )
        return None
    if head is not None and await store.is_from_other_server(conn, head.last):
        log.error(
            "audit sealing stopped: the newest seal has a later transaction ID than this database server, so the "
            "database was copied without its transaction IDs: see docs/limits.md",
            seal=head.sequence,
        )
        return None
    rows = await store.list_sealable(conn, head.last if head else START, _BATCH)
    if not rows:
        return None
    new = _sign(app, rules.next_seal(head, app.clock(), rows[-1].position, [wire.to_leaf(row) for row in rows]))
    await store.insert_seal(conn, new)
    return new


def _sign(app: App, seal: Seal) -> Seal:
    """The seal with this server's signature."""
    return replace(seal, signature=app.vault.sign_publicly(SEAL_KEY_PURPOSE, seal.hash))


async def _write_head_file(app: App, head: Seal) -> None:
    """Write the newest seal to `audit-head`, unless the log lacks the seal in that file."""
    async with app.db.autocommit() as conn:
        if await service.find_lost_head(app, conn, head) is not None:
            log.error(
                "the audit log does not contain the seal in this file: run `mailkeep audit verify`, or delete the file "
                "if an older database was restored",
                file=service.HEAD_FILE,
            )
            return
    # World-readable, since root may write it and other users read it; it has no secret.
    text = json.dumps({"sequence": head.sequence, "hash": head.hash.hex()}) + "\n"
    await asyncio.to_thread(write_atomically, app.data_dir / service.HEAD_FILE, text)


async def prune(app: App) -> int:
    """Delete months older than `retention.audit_days`; returns how many. 0 while one is being read.

    `confirm_prune_time` guards against a wrong clock.
    """
    at = app.clock()
    async with _audit_db(app).tx() as conn:
        prune_time = await confirm_prune_time(conn, "audit_entries", at)
    if prune_time is None:
        return 0
    cutoff = (prune_time - timedelta(days=app.settings.retention.audit_days)).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    async with app.db.autocommit() as conn:
        if not await store.has_before(conn, uuid7_floor(cutoff)):
            return 0
    await seal(app)
    try:
        months = await _delete_months(app, at, cutoff)
    except LockNotAvailable:
        months = 0
    log.info("deleted old months of the audit log", before=iso(cutoff), months=months)
    return months


async def _delete_months(app: App, at: datetime, cutoff: datetime) -> int:
    bound = uuid7_floor(cutoff)
    async with _audit_db(app).tx() as conn:
        head = await store.lock_head(conn)
        if (
            head is None
            or not rules.is_genuine(head, app.vault.public_key(SEAL_KEY_PURPOSE))
            or not await store.try_lock_retention(conn)
        ):
            return 0
        if await store.has_unsealed_before(conn, bound, head.last):
            return 0
        first = await store.find_last_seal_before(conn, bound)
        new = rules.retention_seal(head, at, cutoff, head.sequence if first is None else first)
        await store.insert_seal(conn, _sign(app, new))
        months = await store.drop_months(conn)
        audit_action = AuditAction(
            "audit.prune", AuditTarget("audit", None), details={"before": iso(cutoff), "months": months}
        )
        await service.record(conn, _SYSTEM, at, audit_action)
        return months
