"""Write, read, verify and export the audit log."""

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
    SEAL_KEY_PURPOSE,
    START,
    AuditAction,
    AuditEntry,
    AuditFilter,
    AuditTarget,
    AuditVerification,
    ChainEntry,
    Leaf,
    Outcome,
    Position,
    Seal,
)
from mailkeep.web.endpoint import Call, HttpResponse

HEAD_FILE = "audit-head"
"""In the data directory: number and hash of the newest seal that was written there. The log must contain it."""

# Entries compared at once: few, since hashing blocks the event loop.
_ENTRIES_AT_ONCE = 500
_PAGE = 500
_SEALS = 256
_EXTRA_ROWS = 10_000  # inserted entries that a comparison can find


async def record(conn: Conn, who: Principal, at: datetime, audit_action: AuditAction) -> None:
    """Write the entry of an action, in the transaction of the change."""
    await store.insert(conn, _entry(who, at, audit_action))


def entry_row(who: Principal, at: datetime, audit_action: AuditAction) -> dict[str, Any]:
    """The entry of an action as the argument of the SQL function `record_audit_entries`, for statements that also make
    the change.
    """
    return store.entry_row(_entry(who, at, audit_action))


def _entry(who: Principal, at: datetime, audit_action: AuditAction) -> AuditEntry:
    details: dict[str, Any] = dict(rules.redact_secrets(audit_action.details) or {})
    if audit_action.before is not None or audit_action.after is not None:
        details["before"] = rules.redact_secrets(audit_action.before)
        details["after"] = rules.redact_secrets(audit_action.after)
    target, mailbox = audit_action.target, who.mailbox
    if target.domain_id is None and mailbox is not None:  # what an owner does is shown to the domain's administrators
        target = replace(target, domain_id=mailbox.domain_id, domain_name=mailbox.domain_name)
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
    """Write the entry of a change between two states as the API shows them; only the fields that differ are kept."""
    before, after = rules.diff(*change)
    await record(conn, who, at, AuditAction(action, target, before, after))


async def record_refusal(app: App, call: Call, refusal: Refusal) -> None:
    """Record that a mutating call of an authenticated caller was refused; 401, 429 and 503 are only counted in metrics.

    Beyond 60 a minute for one principal they are counted: see `record_summaries`.
    """
    endpoint, who = call.endpoint, call.who
    if who is None or endpoint.audit is None or refusal.status in (401, 429, 503):
        return
    domain_id = getattr(call.body, "domain_id", None)
    target = AuditTarget(
        endpoint.resource or endpoint.audit.split(".")[0],
        call.path.get("id", "")[:100] or None,
        domain_id if isinstance(domain_id, UUID) else None,
    )
    await record_refused_change(app, who, endpoint.audit, target, refusal)


async def record_refused_change(app: App, who: Principal, action: str, target: AuditTarget, refusal: Refusal) -> None:
    """Record that a change was refused, for `record_refusal` and for items of bulk operations."""
    outcome: Outcome = "denied" if refusal.status == 403 else "failed"
    reason = (refusal.details or {}).get("reason")
    details = {"reason": reason} if reason else {}
    audit_action, at = AuditAction(action, target, None, None, details, outcome, refusal.code), app.clock()
    await record_summaries(app, at)
    if app.refusal_limit.allow(who.id, audit_action.action, who, at):
        async with app.db.tx() as conn:
            await record(conn, who, at, audit_action)


async def record_summaries(app: App, at: datetime | None) -> None:
    """Write the entries `denied.summary` of the minutes before that of `at` (None: all): for each principal with more
    refused calls than are recorded individually, how many more and of which actions.
    """
    minutes = app.refusal_limit.pop_exceeded(at)
    if not minutes:
        return
    async with app.db.tx() as conn:
        for minute in minutes:
            who, details = minute.latest, {"count": minute.exceeded.total(), "actions": sorted(minute.exceeded)}
            audit_action = AuditAction("denied.summary", AuditTarget(*who.account), details=details, outcome="denied")
            await record(conn, replace(who, request_id=None), at or app.clock(), audit_action)


def answer_from_audit(
    get: Callable[[App, Call], Awaitable[HttpResponse]],
) -> Callable[[App, Call, UUID], Awaitable[HttpResponse | None]]:
    """For a POST that creates: answers a repeated request by `get`, with the ID from the first one's audit entry."""

    async def repeat(app: App, call: Call, request_id: UUID) -> HttpResponse | None:
        async with app.db.autocommit() as conn:
            created_id = await store.find_created_id(conn, request_id)
        return None if created_id is None else await get(app, replace(call, path={"id": created_id}))

    return repeat


async def page(conn: Conn, who: Principal, filters: AuditFilter, page_request: PageRequest) -> Page[AuditEntry]:
    """A page of the entries that the caller may see. DOMAIN_NOT_FOUND if no domain has or had this ID."""
    await _check_domain(conn, who, "audit.list", filters)
    entries = await store.page(conn, filters, page_request)
    return Page([rules.redact_for(who, entry, account) for entry, account in entries.rows], entries.next_key)


async def _check_domain(conn: Conn, who: Principal, action: str, filters: AuditFilter) -> None:
    if filters.domain_id is not None:
        if not await store.knows_domain(conn, filters.domain_id):
            raise DomainNotFound
        allow_on(who, action, filters.domain_id)


# Verifying


async def verify(app: App) -> AuditVerification:
    """Verify all seals and sealed entries that retention has kept, in one snapshot."""
    key = app.vault.public_key(SEAL_KEY_PURPOSE)
    findings = rules.Findings()
    async with app.db.tx() as conn:
        await store.block_retention(conn)
        head = await store.find_head(conn)
        if head is not None:
            await _verify_seals(conn, head, rules.SealVerifier(key, findings))
        lost_number = await find_lost_head(app, conn, head)
        if lost_number is not None and all(fault.seal != lost_number for fault in findings.seals):
            findings.add_seal("truncated", lost_number)
        unsealed = await store.count_after(conn, head.last if head else START)
    return findings.to_verification(head, unsealed, key)


async def find_lost_head(app: App, conn: Conn, head: Seal | None) -> int | None:
    """The number of the seal in `audit-head` if the log lacks it and retention has not deleted it."""
    file_head = await asyncio.to_thread(_read_head_file, app.data_dir / HEAD_FILE)
    if file_head is None or (head is not None and file_head[0] < head.first_sequence):
        return None
    stored = await store.find_seal(conn, file_head[0])
    return None if stored is not None and stored.hash == file_head[1] else file_head[0]


def _read_head_file(path: Path) -> tuple[int, bytes] | None:
    try:
        head = json.loads(path.read_text("utf-8"))
        return int(head["sequence"]), bytes.fromhex(head["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


async def _verify_seals(conn: Conn, head: Seal, verifier: rules.SealVerifier) -> None:
    number = 0
    while seals := await store.list_seals_after(conn, number, head.sequence, _SEALS):
        number = seals[-1].sequence
        seal_range = _SealRange()
        for seal in seals:
            previous = verifier.last
            contiguous = verifier.verify(seal) and (previous is not None or seal.sequence == head.first_sequence)
            if previous is None and seal.sequence == head.first_sequence > 1:
                # Retention deleted all entries up to the end of this seal: those that exist were inserted.
                inserted = await store.list_between(conn, START, seal.last, _EXTRA_ROWS)
                verifier.findings.add_entries("inserted", [row.entry.id for row in inserted])
                continue
            if not contiguous or seal_range.leaves >= _ENTRIES_AT_ONCE:
                await _compare(conn, seal_range, verifier.findings)
                seal_range = _SealRange(previous.last if previous else START, contiguous)
            elif not seal_range.seals:
                seal_range = _SealRange(previous.last if previous else START)
            seal_range.seals.append(seal)
        await _compare(conn, seal_range, verifier.findings)
    verifier.end()


@dataclass(slots=True)
class _SealRange:
    """Consecutive seals, and the position before their entries; not `contiguous`: missing seals may come in between."""

    after: Position = START
    contiguous: bool = True
    seals: list[Seal] = field(default_factory=list[Seal])

    @property
    def leaves(self) -> int:
        return sum(seal.entries for seal in self.seals)


async def _compare(conn: Conn, seal_range: _SealRange, findings: rules.Findings) -> None:
    if not seal_range.seals:
        return
    leaves = [leaf for seal in seal_range.seals for leaf in rules.split_leaves(seal)]
    rows = await store.list_between(conn, seal_range.after, seal_range.seals[-1].last, len(leaves) + _EXTRA_ROWS)
    differences = rules.compare(leaves, dict(wire.to_leaf(row) for row in rows))
    findings.checked += len(leaves)
    findings.add_entries("altered", differences.altered)
    if differences.removed:
        moved = set(await store.filter_existing(conn, differences.removed))
        for entry_id in differences.removed:
            findings.add_entries("altered" if entry_id in moved else "removed", [entry_id])
    if seal_range.contiguous:
        findings.add_entries("inserted", differences.inserted)


def verify_export(lines: Iterable[bytes], public_key: bytes | None) -> AuditVerification:
    """Verify an export in its ndjson form, without `public_key` by the key in the export.

    ValueError, with the number of the line, if the lines are not such an export.
    """
    verifier: rules.ExportVerifier | None = None
    early: list[Leaf] = []
    for number, line in enumerate(lines, 1):
        try:
            leaf, exported = wire.parse_line(line)
            seals = [wire.parse_seal(seal) for seal in exported]
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not an entry of an export: {error}") from error
        if verifier is None and exported:
            verifier = rules.ExportVerifier(public_key or exported[0].public_key, partial=exported[0].partial)
            for earlier in early:
                verifier.add_line(earlier, ())
        if verifier is None:
            early.append(leaf)
        else:
            verifier.add_line(leaf, seals)
    if verifier is None:
        raise ValueError("the export has no seal, so it can't be verified: check that it is an export as ndjson")
    return verifier.end()


# Export


async def record_export(app: App, who: Principal, filters: AuditFilter, file_format: str) -> None:
    """Record an export before it starts. DOMAIN_NOT_FOUND as in the list."""
    active = _active_filters(filters)
    async with app.db.tx() as conn:
        await _check_domain(conn, who, "audit.export", filters)
        audit_action = AuditAction("audit.export", AuditTarget("audit", None), details={"format": file_format} | active)
        await record(conn, who, app.clock(), audit_action)


async def start_export(app: App, filters: AuditFilter) -> Export:
    """Start an export of the entries that exist now."""
    async with app.db.autocommit() as conn:
        # The head first, so that the snapshot has all entries that it covers.
        head = await store.find_head(conn)
        return Export(app, filters, await store.take_snapshot(conn), head, bool(_active_filters(filters)))


def _active_filters(filters: AuditFilter) -> dict[str, Any]:
    """The filters that are set."""
    values = {name: getattr(filters, name) for name in AuditFilter.__slots__ if name != "domains"}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Export:
    """The entries of a snapshot. Entries never change, so no connection is held between pages."""

    app: App
    filters: AuditFilter
    snapshot: str
    head: Seal | None
    partial: bool

    async def pages(self) -> AsyncIterator[list[ChainEntry]]:
        """The entries in the order of the chain."""
        after: Position = START
        while True:
            async with self.app.db.autocommit() as conn:
                rows = await store.list_snapshot(conn, self.filters, self.snapshot, after, _PAGE)
            if rows:
                yield rows
                after = rows[-1].position
            if len(rows) < _PAGE:
                return

    async def lines(self) -> AsyncIterator[bytes]:
        """The entries as lines of JSON, each with the seals that end before the next entry."""
        key = self.app.vault.public_key(SEAL_KEY_PURPOSE)
        seals = _SealReader(self)
        previous_line: bytes | None = None
        line_seals: list[Seal] = []
        async for page in self.pages():
            lines: list[bytes] = []
            for row in page:
                line_seals += await seals.read_before(row.position)
                if previous_line is not None:
                    lines.append(wire.add_seals(previous_line, line_seals, key, self.partial))
                    line_seals = []
                previous_line = wire.export_line(row)
                seals.last_position = row.position
            yield b"".join(line + b"\n" for line in lines)
        if previous_line is not None:
            line_seals += await seals.read_remaining()
            yield wire.add_seals(previous_line, line_seals, key, self.partial) + b"\n"


@dataclass(slots=True)
class _SealReader:
    """Reads the seals of an export along with its entries: all, or with filters those that cover an entry."""

    export: Export
    last_position: Position | None = None
    last_number: int = 0
    buffer: list[Seal] = field(default_factory=list[Seal])

    async def read_before(self, position: Position) -> Sequence[Seal]:
        """The seals that end before an entry."""
        if self.export.partial:
            return await self._read_covering(position)
        seals: list[Seal] = []
        while await self._fill() and self.buffer[0].last < position:
            seals.append(self.buffer.pop(0))
        return seals

    async def read_remaining(self) -> Sequence[Seal]:
        """The remaining seals."""
        if self.export.partial:
            return await self._read_covering(None)
        seals: list[Seal] = []
        while await self._fill():
            seals += self.buffer
            self.buffer = []
        return seals

    async def _fill(self) -> bool:
        if not self.buffer and self.export.head is not None:
            async with self.export.app.db.autocommit() as conn:
                self.buffer = await store.list_seals_after(conn, self.last_number, self.export.head.sequence, _SEALS)
            self.last_number = self.buffer[-1].sequence if self.buffer else self.last_number
        return bool(self.buffer)

    async def _read_covering(self, position: Position | None) -> Sequence[Seal]:
        """The seal that covers the last entry, unless it covers the next one too."""
        if self.last_position is None or self.export.head is None:
            return []
        if not self.buffer or self.buffer[0].last < self.last_position:
            async with self.export.app.db.autocommit() as conn:
                seal = await store.find_covering_seal(conn, self.last_position, self.export.head.sequence)
            self.buffer = [seal] if seal else []
        if self.buffer and (position is None or self.buffer[0].last < position):
            return [self.buffer.pop()]
        return []
