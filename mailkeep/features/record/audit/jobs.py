"""What keeps the log provable, beside the requests: sealing, and letting old months go.

Both may run in any number of processes at once.
"""

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
from mailkeep.db.instance import write_whole
from mailkeep.db.partitions import confirm_prune_time
from mailkeep.db.pool import Conn, Database
from mailkeep.features.record.audit import rules, service, store, wire
from mailkeep.features.record.audit.model import SIGNED, START, AuditAction, Seal, Target

log = structlog.get_logger("mailkeep.audit")

_BATCH = 500
_LOOK_SECONDS, _LOOKS = 0.25, 40
_SYSTEM = Principal(None, "retention", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def seal(app: App) -> int:
    """Seal all entries whose transactions are settled; how many. Run it every few seconds."""
    sealed, batch, made = 0, _BATCH, None
    while batch == _BATCH:
        async with _audit_db(app).tx() as conn:
            batch, made = await _seal_batch(app, conn, made)
        sealed += batch
    if made is not None:
        await _keep_head(app, made)
    return sealed


async def seal_all(app: App) -> None:
    """Have everything sealed that is settled now: by this process, or by the one whose work it is, within seconds."""
    if app.audit_db is not None:
        await seal(app)
        return
    for _ in range(_LOOKS):
        async with app.db.autocommit() as conn:
            head = await store.head(conn)
            if not await store.settled_after(conn, head.last if head else START, 1):
                return
        await asyncio.sleep(_LOOK_SECONDS)


def _audit_db(app: App) -> Database:
    if app.audit_db is None:
        raise RuntimeError("this process may not seal or prune the audit log")
    return app.audit_db


async def _seal_batch(app: App, conn: Conn, made: Seal | None) -> tuple[int, Seal | None]:
    head = await store.sealed_up_to(conn)
    if head is not None and not rules.is_genuine(head, app.vault.public_key(SIGNED)):
        log.error("the newest seal of the audit log is not ours: nothing is sealed", seal=head.sequence)
        return 0, made
    if head is not None and await store.counts_anew(conn, head.last):
        log.error("this database server counts transactions from below the audit log's: nothing is sealed")
        return 0, made
    rows = await store.settled_after(conn, head.last if head else START, _BATCH)
    if not rows:
        return 0, made
    new = _signed(app, rules.next_seal(head, app.clock(), rows[-1].position, [wire.leaf(row) for row in rows]))
    await store.insert_seal(conn, new)
    return len(rows), new


def _signed(app: App, seal: Seal) -> Seal:
    """The seal with its signature."""
    return replace(seal, signature=app.vault.sign_publicly(SIGNED, seal.hash))


async def _keep_head(app: App, head: Seal) -> None:
    """Write down the newest seal outside the database; an earlier note that the log contradicts stays as it is."""
    async with app.db.autocommit() as conn:
        if await service.lost_head(app, conn, head) is not None:
            log.error("the audit log lacks a seal that was made here", file=service.HEAD_FILE)
            return
    # No secret: who writes it may be root, and who reads it not.
    text = json.dumps({"sequence": head.sequence, "hash": head.hash.hex()}) + "\n"
    await asyncio.to_thread(write_whole, app.data_dir / service.HEAD_FILE, text)


async def let_go(app: App) -> int:
    """Drop the months that are older than `retention.audit_days`; how many. What is being read now stays for now.

    By a clock that `confirm_prune_time` confirms.
    """
    at = app.clock()
    async with _audit_db(app).tx() as conn:
        confirmed = await confirm_prune_time(conn, "audit_entries", at)
    if confirmed is None:
        return 0
    old = (confirmed - timedelta(days=app.settings.retention.audit_days)).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    async with app.db.autocommit() as conn:
        if not await store.has_before(conn, uuid7_floor(old)):
            return 0
    await seal(app)
    try:
        months = await _let_go(app, at, old)
    except LockNotAvailable:
        months = 0
    log.info("old months of the audit log", before=iso(old), dropped=months)
    return months


async def _let_go(app: App, at: datetime, old: datetime) -> int:
    bound = uuid7_floor(old)
    async with _audit_db(app).tx() as conn:
        head = await store.sealed_up_to(conn)
        if head is None or not rules.is_genuine(head, app.vault.public_key(SIGNED)) or not await store.may_let_go(conn):
            return 0
        if await store.has_unsealed_before(conn, bound, head.last):
            return 0
        kept = await store.last_wholly_before(conn, bound)
        gone = rules.letting_go(head, at, old, head.sequence if kept is None else kept)
        await store.insert_seal(conn, _signed(app, gone))
        months = await store.drop_months(conn)
        audit_action = AuditAction("audit.prune", Target("audit", None), more={"before": iso(old), "months": months})
        await service.record(conn, _SYSTEM, at, audit_action)
        return months
