"""Writing, reading, verifying and exporting the audit log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import DomainNotFound, Refusal
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.record.audit import rules, store, wire
from mailkeep.features.record.audit.model import (
    SIGNED,
    START,
    AuditAction,
    AuditEntry,
    AuditFilter,
    AuditTarget,
    ChainEntry,
    Leaf,
    Outcome,
    Position,
    Seal,
    Verification,
)
from mailkeep.web.endpoint import Call, HttpResponse

HEAD_FILE = "audit-head"
"""In the data directory: number and hash of the newest seal made there, which the log may not lack."""

# Entries that are read and hashed at once: small, since requests wait meanwhile.
_ENTRIES_AT_ONCE = 500
_PAGE = 500
_SEALS = 256
_EXTRA_ROWS = 10_000


async def record(conn: Conn, who: Principal, at: datetime, audit_action: AuditAction) -> None:
    """Write the entry of an action, in the transaction of the change."""
    await store.insert(conn, _entry(who, at, audit_action))


def row(who: Principal, at: datetime, audit_action: AuditAction) -> dict[str, Any]:
    """The entry of an action as the argument of the SQL function `record_audit_entries`, for statements that also make
    the change.
    """
    return store.row(_entry(who, at, audit_action))


def _entry(who: Principal, at: datetime, audit_action: AuditAction) -> AuditEntry:
    details: dict[str, Any] = dict(rules.redact_secrets(audit_action.more) or {})
    if audit_action.before is not None or audit_action.after is not None:
        details["before"] = rules.redact_secrets(audit_action.before)
        details["after"] = rules.redact_secrets(audit_action.after)
    target = audit_action.target
    return AuditEntry(
        id=uuid7(at),
        created_at=at,
        admin_id=who.admin_id,
        actor_type=who.actor.value,
        actor_label=who.label,
        key_id=who.key_id,
        action=audit_action.action,
        resource_type=target.type,
        resource_id=str(target.id) if target.id is not None else None,
        domain_id=target.domain_id,
        domain_name=target.domain_name,
        ip_address=who.ip_address,
        user_agent=who.user_agent,
        request_id=who.request_id,
        outcome=audit_action.outcome,
        error_code=audit_action.error_code,
        details=details,
    )


async def record_change(
    conn: Conn,
    who: Principal,
    at: datetime,
    action: str,
    target: AuditTarget,
    change: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> None:
    """Write the entry of a change from one shown state to another: only the fields that differ."""
    before, after = rules.diff(*change)
    await record(conn, who, at, AuditAction(action, target, before, after))


async def record_refusal(app: App, call: Call, wrong: Refusal) -> None:
    """Record that a mutating call of an authenticated caller was refused; 401, 429 and 503 are left to the metrics.

    Beyond 60 a minute for one principal they are counted, and the minute gets one entry: see `record_summaries`.
    """
    endpoint, who = call.endpoint, call.who
    if who is None or endpoint.audit is None or wrong.status in (401, 429, 503):
        return
    domain_id = getattr(call.body, "domain_id", None)
    outcome: Outcome = "denied" if wrong.status == 403 else "failed"
    target = AuditTarget(
        endpoint.resource or endpoint.audit.split(".")[0],
        call.path.get("id", "")[:100] or None,
        domain_id if isinstance(domain_id, UUID) else None,
    )
    reason = (wrong.details or {}).get("reason")
    audit_action = AuditAction(
        endpoint.audit,
        target,
        more={"reason": reason} if reason else {},
        outcome=outcome,
        error_code=wrong.code,
    )
    at = app.clock()
    await record_summaries(app, at)
    if app.refusal_limit.allow(who.key_id or who.admin_id, audit_action.action, who, at):
        async with app.db.tx() as conn:
            await record(conn, who, at, audit_action)


async def record_summaries(app: App, at: datetime | None) -> None:
    """Write an entry for each principal and minute before the one of `at` (None: all) that had more refused calls than
    are recorded one by one: how many more, and of which actions.
    """
    minutes = app.refusal_limit.pop_exceeded(at)
    if not minutes:
        return
    async with app.db.tx() as conn:
        for minute in minutes:
            who, more = minute.latest, {"count": minute.exceeded.total(), "actions": sorted(minute.exceeded)}
            audit_action = AuditAction(
                "denied.summary", AuditTarget("admin", who.admin_id), more=more, outcome="denied"
            )
            await record(conn, replace(who, request_id=None), at or app.clock(), audit_action)


def answer_from_audit(
    get: Callable[[App, Call], Awaitable[HttpResponse]],
) -> Callable[[App, Call, UUID], Awaitable[HttpResponse | None]]:
    """For a POST that creates: what an earlier request made, as `get` answers it by the id in its audit entry."""

    async def settle(app: App, call: Call, request_id: UUID) -> HttpResponse | None:
        async with app.db.autocommit() as conn:
            made = await store.find_created_id(conn, request_id)
        return None if made is None else await get(app, replace(call, path={"id": made}))

    return settle


async def page(conn: Conn, who: Principal, wanted: AuditFilter, asked: PageRequest) -> Page[AuditEntry]:
    """A page of the entries that the caller may see; DOMAIN_NOT_FOUND for the id of what never was a domain."""
    await _check_domain(conn, who, "audit.list", wanted)
    found = await store.page(conn, wanted, asked)
    return Page([rules.redact_for(who, entry, actor) for entry, actor in found.rows], found.next_key)


async def _check_domain(conn: Conn, who: Principal, action: str, wanted: AuditFilter) -> None:
    if wanted.domain_id is not None:
        if not await store.knows_domain(conn, wanted.domain_id):
            raise DomainNotFound
        allow_on(who, action, wanted.domain_id)


# Verifying


async def verify(app: App) -> Verification:
    """Check every sealed entry that was not let go, and every seal, as they are in one moment."""
    key = app.vault.public_key(SIGNED)
    found = rules.Findings()
    async with app.db.tx() as conn:
        await store.hold_retention(conn)
        head = await store.head(conn)
        if head is not None:
            await _verify_seals(conn, head, rules.SealVerifier(key, found))
        lost = await find_lost_head(app, conn, head)
        if lost is not None and all(fault.seal != lost for fault in found.seals):
            found.add_seal("truncated", lost)
        unsealed = await store.count_after(conn, head.last if head else START)
    return found.verification(head, unsealed, key)


async def find_lost_head(app: App, conn: Conn, head: Seal | None) -> int | None:
    """The number of the seal that was made here and is not in the log any more, unless it was let go."""
    noted = await asyncio.to_thread(_read_head_file, app.data_dir / HEAD_FILE)
    if noted is None or (head is not None and noted[0] < head.first_sequence):
        return None
    there = await store.seal(conn, noted[0])
    return None if there is not None and there.hash == noted[1] else noted[0]


def _read_head_file(path: Path) -> tuple[int, bytes] | None:
    try:
        told = json.loads(path.read_text("utf-8"))
        return int(told["sequence"]), bytes.fromhex(told["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


async def _verify_seals(conn: Conn, head: Seal, walk: rules.SealVerifier) -> None:
    number = 0
    while seals := await store.seals_after(conn, number, head.sequence, _SEALS):
        number = seals[-1].sequence
        stretch = _SealRange()
        for seal in seals:
            before = walk.last
            follows = walk.step(seal) and (before is not None or seal.sequence == head.first_sequence)
            if before is None and seal.sequence == head.first_sequence > 1:
                # Its entries were let go; it stands for where the kept ones begin, and nothing comes before it.
                before_it = await store.list_between(conn, START, seal.last, _EXTRA_ROWS)
                walk.findings.add_entries("inserted", [row.entry.id for row in before_it])
                continue
            if not follows or stretch.leaves >= _ENTRIES_AT_ONCE:
                await _compare(conn, stretch, walk.findings)
                stretch = _SealRange(before.last if before else START, follows)
            elif not stretch.seals:
                stretch = _SealRange(before.last if before else START)
            stretch.seals.append(seal)
        await _compare(conn, stretch, walk.findings)
    walk.end()


@dataclass(slots=True)
class _SealRange:
    """Seals one behind the other, and where their entries begin; without `whole` others may come between."""

    after: Position = START
    whole: bool = True
    seals: list[Seal] = field(default_factory=list[Seal])

    @property
    def leaves(self) -> int:
        return sum(seal.entries for seal in self.seals)


async def _compare(conn: Conn, stretch: _SealRange, found: rules.Findings) -> None:
    if not stretch.seals:
        return
    leaves = [leaf for seal in stretch.seals for leaf in rules.split_leaves(seal)]
    rows = await store.list_between(conn, stretch.after, stretch.seals[-1].last, len(leaves) + _EXTRA_ROWS)
    differ = rules.compare(leaves, dict(wire.leaf(row) for row in rows))
    found.checked += len(leaves)
    found.add_entries("altered", differ.altered)
    if differ.removed:
        moved = set(await store.filter_existing(conn, differ.removed))
        for entry_id in differ.removed:
            found.add_entries("altered" if entry_id in moved else "removed", [entry_id])
    if stretch.whole:
        found.add_entries("inserted", differ.inserted)


def verify_export(lines: Iterable[bytes], public_key: bytes | None) -> Verification:
    """Check an export in its ndjson form; without a key by the one that it brings along.

    ValueError, with the number of the line, for what is no such export.
    """
    paper: rules.ExportVerifier | None = None
    held: list[Leaf] = []
    for number, line in enumerate(lines, 1):
        try:
            leaf, told = wire.parse_line(line)
            seals = [wire.parse_seal(one) for one in told]
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is no entry of an export: {error}") from error
        if paper is None and told:
            paper = rules.ExportVerifier(public_key or told[0].public_key, partial=told[0].partial)
            for earlier in held:
                paper.add_line(earlier, ())
        if paper is None:
            held.append(leaf)
        else:
            paper.add_line(leaf, seals)
    if paper is None:
        raise ValueError("there is no seal in it, by which it could be verified")
    return paper.end()


# Export


async def record_export(app: App, who: Principal, wanted: AuditFilter, form: str) -> None:
    """Record an export before it is made; DOMAIN_NOT_FOUND as in the list."""
    filters = _active_filters(wanted)
    async with app.db.tx() as conn:
        await _check_domain(conn, who, "audit.export", wanted)
        audit_action = AuditAction("audit.export", AuditTarget("audit", None), more={"format": form} | filters)
        await record(conn, who, app.clock(), audit_action)


async def start_export(app: App, wanted: AuditFilter) -> Export:
    """An export as of now."""
    async with app.db.autocommit() as conn:
        # The head first: what it covers is in the snapshot.
        head = await store.head(conn)
        return Export(app, wanted, await store.snapshot(conn), head, bool(_active_filters(wanted)))


def _active_filters(wanted: AuditFilter) -> dict[str, Any]:
    """The filters that an export has."""
    given = {name: getattr(wanted, name) for name in AuditFilter.__slots__ if name != "domains"}
    return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Export:
    """Entries as one moment shows them. They never change, so that no connection is held from page to page."""

    app: App
    wanted: AuditFilter
    snapshot: str
    head: Seal | None
    partial: bool

    async def pages(self) -> AsyncIterator[list[ChainEntry]]:
        """The entries in the order of the chain."""
        after: Position = START
        while True:
            async with self.app.db.autocommit() as conn:
                rows = await store.list_snapshot(conn, self.wanted, self.snapshot, after, _PAGE)
            if rows:
                yield rows
                after = rows[-1].position
            if len(rows) < _PAGE:
                return

    async def lines(self) -> AsyncIterator[bytes]:
        """The entries as lines of JSON, each with the seals that end behind it, before the next entry."""
        key = self.app.vault.public_key(SIGNED)
        seals = _SealReader(self)
        held: bytes | None = None
        behind: list[Seal] = []
        async for page in self.pages():
            lines: list[bytes] = []
            for row in page:
                behind += await seals.up_to(row.position)
                if held is not None:
                    lines.append(wire.with_seals(held, behind, key, self.partial))
                    behind = []
                held = wire.export_line(row)
                seals.last_position = row.position
            yield b"".join(line + b"\n" for line in lines)
        if held is not None:
            behind += await seals.rest()
            yield wire.with_seals(held, behind, key, self.partial) + b"\n"


@dataclass(slots=True)
class _SealReader:
    """The seals of an export, in step with its entries: all of them, or with filters those that cover one."""

    export: Export
    last_position: Position | None = None
    number: int = 0
    buffer: list[Seal] = field(default_factory=list[Seal])

    async def up_to(self, position: Position) -> Sequence[Seal]:
        """The seals that end before an entry."""
        if self.export.partial:
            return await self._covering(position)
        passed: list[Seal] = []
        while await self._fill() and self.buffer[0].last < position:
            passed.append(self.buffer.pop(0))
        return passed

    async def rest(self) -> Sequence[Seal]:
        """Those that are left."""
        if self.export.partial:
            return await self._covering(None)
        left: list[Seal] = []
        while await self._fill():
            left += self.buffer
            self.buffer = []
        return left

    async def _fill(self) -> bool:
        if not self.buffer and self.export.head is not None:
            async with self.export.app.db.autocommit() as conn:
                self.buffer = await store.seals_after(conn, self.number, self.export.head.sequence, _SEALS)
            self.number = self.buffer[-1].sequence if self.buffer else self.number
        return bool(self.buffer)

    async def _covering(self, position: Position | None) -> Sequence[Seal]:
        """The seal over the entry met last, unless the next one lies under it too."""
        if self.last_position is None or self.export.head is None:
            return []
        if not self.buffer or self.buffer[0].last < self.last_position:
            async with self.export.app.db.autocommit() as conn:
                over = await store.covering_seal(conn, self.last_position, self.export.head.sequence)
            self.buffer = [over] if over else []
        if self.buffer and (position is None or self.buffer[0].last < position):
            return [self.buffer.pop()]
        return []
