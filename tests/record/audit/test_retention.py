"""Old months are deleted, a seal records that, and verification starts there."""

from __future__ import annotations

import asyncio
import io
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

from mailkeep.features.record.audit import jobs, service
from mailkeep.features.record.audit.model import SEAL_KEY_PURPOSE
from tests.record.audit.conftest import Book, named
from tests.support.client import VAULT

DAYS = 400


def month(year: int, number: int) -> datetime:
    return datetime(year, number, 15, 12, tzinfo=UTC)


async def fill(book: Book, *months: datetime) -> list[list[UUID]]:
    """Write and seal entries in each month, with the clock set to their times."""
    written: list[list[UUID]] = []
    for at in months:
        book.api.clock.now = at
        await book.api.sql("SELECT ensure_partitions(%(at)s)", at=at)
        ids: list[UUID] = []
        for _ in range(2):
            ids += await book.write(3)
            await book.seal()
        written.append(ids)
    return written


async def kept(book: Book) -> set[UUID]:
    return {row["id"] for row in await book.api.sql("SELECT id FROM audit_entries WHERE action = 'thing.change'")}


async def prune(book: Book, at: datetime | None = None) -> int:
    """Prune at the time `at`: two checks, a day apart, with a recent entry."""
    app, clock = book.api.app, book.api.clock
    clock.now = at or clock.now
    await book.write(1, "clerk.note")
    await book.seal()
    await jobs.prune(app)
    clock.advance(days=1)
    return await jobs.prune(app)


async def months_of(book: Book) -> list[str]:
    rows = await book.api.sql(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_entries'::regclass"
    )
    return sorted(row["name"].removeprefix("audit_entries_") for row in rows)


async def test_old_months_are_deleted_and_the_rest_is_verified(book: Book):
    written = await fill(book, month(2025, 1), month(2025, 2), month(2025, 4), month(2026, 3))
    book.api.clock.now = datetime(2026, 4, 6, tzinfo=UTC)  # 400 days before is 2 March 2025
    assert await prune(book) == 2
    assert await kept(book) == {*written[2], *written[3]}
    assert [name for name in await months_of(book) if name.startswith("2025")] == ["2025_03", "2025_04", "2025_05"]
    verdict = await book.verify()
    assert (verdict.ok, verdict.checked) == (True, 13)
    assert verdict.head
    assert (verdict.head.first_sequence, verdict.head.dropped_before) == (4, datetime(2025, 3, 1, tzinfo=UTC))
    [row] = await book.api.sql("SELECT min(sequence) AS first FROM audit_seals")
    assert row["first"] == 4
    [entry] = await book.api.audit_entries("audit.prune")
    assert (entry["actor_type"], entry["details"]) == ("system", {"before": "2025-03-01T00:00:00.000Z", "months": 2})
    assert await prune(book) == 0
    # New entries, altered ones and an export are verified as before.
    await fill(book, book.api.clock.now)
    assert (await book.verify()).ok
    data = (await book.api.sue.get("/audit/export", format="ndjson")).body
    verdict = service.verify_export(io.BytesIO(data), VAULT.public_key(SEAL_KEY_PURPOSE))
    assert verdict.ok, verdict.faults
    assert verdict.unsealed <= 1  # its own entry, where an older transaction was open
    gone, altered = written[2][0], written[3][0]
    await book.by_hand("DELETE FROM audit_entries WHERE id = %(id)s", id=gone)
    await book.by_hand("UPDATE audit_entries SET outcome = 'failed' WHERE id = %(id)s", id=altered)
    assert named(await book.verify()) == {gone: "removed", altered: "altered"}


async def test_a_second_deletion_continues_after_the_first(book: Book):
    written = await fill(book, month(2025, 1), month(2025, 3), month(2025, 5), month(2026, 3))
    for now, months, left in [
        (datetime(2026, 3, 20, tzinfo=UTC), 1, written[1:]),
        (datetime(2026, 5, 20, tzinfo=UTC), 2, written[2:]),
        (datetime(2027, 6, 1, tzinfo=UTC), 4, []),
    ]:
        assert await prune(book, now) == months, now
        assert await kept(book) == {entry for ids in left for entry in ids}
        await book.seal()
        verdict = await book.verify()
        assert verdict.ok, verdict.faults


async def test_a_seal_across_the_boundary_keeps_newer_entries(book: Book):
    await book.api.sql("SELECT ensure_partitions(%(at)s)", at=month(2025, 1))
    old, young = await book.write(2, at=month(2025, 1)), await book.write(2, at=month(2025, 2))
    await book.seal()
    assert await prune(book, datetime(2026, 3, 10, tzinfo=UTC)) == 1
    verdict = await book.verify()
    assert (verdict.ok, verdict.checked) == (True, 3)
    data = (await book.api.sue.get("/audit/export", format="ndjson")).body
    assert service.verify_export(io.BytesIO(data), VAULT.public_key(SEAL_KEY_PURPOSE)).ok
    await book.by_hand("DELETE FROM audit_entries WHERE id = %(id)s", id=young[0])
    assert named(await book.verify()) == {young[0]: "removed"}
    assert old


async def test_a_month_dropped_by_hand_is_detected(book: Book):
    """By the owner of the tables, with a valid seal except for the signature."""
    written = await fill(book, month(2026, 2), month(2026, 3))
    await book.owner.execute("DROP TABLE audit_entries_2026_02")
    assert named(await book.verify()) == dict.fromkeys(written[0], "removed")
    await book.by_hand(
        "UPDATE audit_seals SET dropped_before = '2026-03-01', first_sequence = 2 "
        "WHERE sequence = (SELECT max(sequence) FROM audit_seals)"
    )
    verdict = await book.verify()
    assert {fault.problem for fault in verdict.faults} == {"removed", "seal_altered"}


async def test_a_month_that_is_being_read_is_deleted_later(book: Book):
    await fill(book, month(2025, 1), month(2026, 3))
    app = book.api.app
    async with app.db.tx() as conn:
        await conn.execute("SELECT pg_advisory_xact_lock_shared(hashtext('mailkeep.audit.retention'))")
        assert await prune(book) == 0
    assert (await book.verify()).ok
    url = book.owner.info.dsn
    async with await psycopg.AsyncConnection.connect(url) as reader:
        await reader.execute("SELECT FROM audit_entries")
        book.api.clock.advance(days=1)
        assert await asyncio.wait_for(jobs.prune(app), 25) == 0
    assert (await book.verify()).ok
    assert await jobs.prune(app) == 1
    assert (await book.verify()).ok


async def test_unsealed_entries_are_not_deleted(book: Book):
    await fill(book, month(2026, 3))
    app = book.api.app
    await book.api.sql("SELECT ensure_partitions(%(at)s)", at=month(2025, 1))
    async with app.db.tx() as conn:
        # An open transaction is older than the entry to be deleted.
        await conn.execute("SELECT pg_current_xact_id()")
        late = await book.write(1, at=month(2025, 1))
        await jobs.prune(app)
        book.api.clock.now += timedelta(days=1)
        assert await jobs.prune(app) == 0
    assert late[0] in await kept(book)
    await book.seal()
    assert await jobs.prune(app) == 1
    await book.seal()
    assert (await book.verify()).ok
