"""The chain of seals, and entries that were altered, removed, inserted or truncated by hand."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from uuid import UUID

import pytest

from mailkeep.core.secret import Vault
from mailkeep.features.record.audit import jobs, rules, service, store, wire
from mailkeep.features.record.audit.model import SEAL_KEY_PURPOSE, START, AuditAction, AuditTarget
from mailkeep.features.record.audit.service import HEAD_FILE
from tests.record.audit.conftest import CLERK, Book, named
from tests.support.client import Api


async def test_altered_and_removed_entries_among_ten_thousand_are_named(book: Book):
    ids = await book.write(10_000)
    await book.seal()
    answer = await book.api.sue.get("/audit/verify")
    assert answer.status == 200
    whole = answer.data
    assert (whole["ok"], whole["checked"], whole["unsealed"], whole["first_bad"], whole["bad"]) == (
        True,
        10_000,
        0,
        None,
        [],
    )
    await book.by_hand("UPDATE audit_entries SET actor_label = 'nobody' WHERE id = %(id)s", id=ids[4321])
    await book.by_hand("DELETE FROM audit_entries WHERE id = %(id)s", id=ids[8765])
    result = (await book.api.sue.get("/audit/verify")).data
    assert result["ok"] is False
    assert result["checked"] == 10_000
    assert result["first_bad"] == str(ids[4321])
    assert result["bad"] == [
        {"problem": "altered", "id": str(ids[4321]), "seal": None},
        {"problem": "removed", "id": str(ids[8765]), "seal": None},
    ]
    assert result["bad_count"] == 2


ALTERATIONS = [
    "created_at = created_at + interval '1 microsecond'",
    "admin_id = '01890000-0000-7000-8000-000000000000'",
    "actor_type = 'cli'",
    "key_id = '01890000-0000-7000-8000-000000000000'",
    "resource_id = ''",
    "domain_name = 'x.test'",
    "ip_address = '192.0.2.7'",
    "outcome = 'failed'",
    "error_code = 'X'",
    "details = details || '{\"x\": null}'",
    "details = jsonb_set(details, '{after,n}', '1.50')",
    "details = jsonb_set(details, '{after,n}', '\"1.5\"')",
    "tx = (tx::text::bigint - 1)::text::xid8",
    "id = '01890000-0000-7000-8000-000000000000'",
]


async def test_an_altered_column_is_detected(book: Book):
    ids = await book.write(len(ALTERATIONS) + 1)
    await book.seal()
    assert (await book.verify()).ok
    for entry_id, change in zip(ids[1:], ALTERATIONS, strict=True):
        await book.by_hand(f"UPDATE audit_entries SET {change} WHERE id = %(id)s", id=entry_id)  # type: ignore[arg-type]
    verdict = await book.verify()
    wrong = named(verdict)
    last = ids[-1]
    assert {entry_id: wrong.get(entry_id) for entry_id in ids[1:-1]} == dict.fromkeys(ids[1:-1], "altered")
    # An entry with another ID is another entry.
    assert wrong[last] == "removed"
    assert wrong[UUID("01890000-0000-7000-8000-000000000000")] == "inserted"
    assert verdict.fault_count == len(ALTERATIONS) + 1


async def test_entries_with_exchanged_positions_are_named(book: Book):
    ids = await book.write(5)
    await book.seal()
    [one, other] = await book.api.sql(
        "SELECT tx::text FROM audit_entries WHERE id = ANY(%(ids)s) ORDER BY tx", ids=[ids[1], ids[3]]
    )
    await book.by_hand("UPDATE audit_entries SET tx = %(tx)s::xid8 WHERE id = %(id)s", tx=other["tx"], id=ids[1])
    await book.by_hand("UPDATE audit_entries SET tx = %(tx)s::xid8 WHERE id = %(id)s", tx=one["tx"], id=ids[3])
    assert named(await book.verify()) == {ids[1]: "altered", ids[3]: "altered"}


async def test_an_entry_moved_after_the_last_seal_counts_as_altered(book: Book):
    ids = await book.write(3)
    await book.seal()
    await book.by_hand("UPDATE audit_entries SET tx = '999999999' WHERE id = %(id)s", id=ids[1])
    assert named(await book.verify()) == {ids[1]: "altered"}


@pytest.mark.parametrize("place", ["among", "before"])
async def test_an_inserted_entry_is_named(book: Book, place: str):
    ids = await book.write(3)
    await book.seal()
    smuggled = UUID("01890000-0000-7000-8000-00000000000a")
    tx = "t.tx" if place == "among" else "'3'::xid8"
    await book.by_hand(
        f"""
        INSERT INTO audit_entries (id, created_at, actor_type, actor_label, action, resource_type, outcome, details, tx)
        SELECT %(new)s, t.created_at, t.actor_type, t.actor_label, t.action, t.resource_type, t.outcome, t.details, {tx}
        FROM audit_entries t WHERE t.id = %(id)s
        """,
        new=smuggled,
        id=ids[1],
    )
    assert named(await book.verify()) == {smuggled: "inserted"}


async def test_altered_and_removed_seals_are_named(book: Book):
    for _ in range(6):
        await book.write(2)
        await book.seal()
    [row] = await book.api.sql("SELECT leaves FROM audit_seals WHERE sequence = 2")
    forged = row["leaves"][:-1] + bytes([row["leaves"][-1] ^ 1])
    await book.by_hand("UPDATE audit_seals SET leaves = %(leaves)b WHERE sequence = 2", leaves=forged)
    await book.by_hand("DELETE FROM audit_seals WHERE sequence = 4")
    await book.by_hand("UPDATE audit_seals SET sealed_at = sealed_at - interval '1 hour' WHERE sequence = 5")
    verdict = await book.verify()
    assert {fault.seal: fault.problem for fault in verdict.faults if fault.seal} == {
        2: "seal_altered",
        4: "seal_removed",
        5: "seal_altered",
    }
    # The entry of the forged leaf differs; those of the removed seal are covered by none, and not reported.
    assert [fault.problem for fault in verdict.faults if fault.seal is None] == ["altered"]


async def test_removed_first_seals_are_detected(book: Book):
    for _ in range(3):
        await book.write(2)
        await book.seal()
    await book.by_hand("DELETE FROM audit_seals WHERE sequence = 1")
    assert named(await book.verify()) == {1: "seal_removed"}


async def test_the_head_file_reveals_a_truncated_log(book: Book):
    ids = await book.write(2)
    await book.seal()
    await book.write(2)
    await book.seal()
    noted = json.loads((book.api.app.data_dir / HEAD_FILE).read_text())
    assert noted["sequence"] == 2
    await book.owner.execute("DELETE FROM audit_entries WHERE id <> ALL(%s)", (ids,))
    await book.by_hand("DELETE FROM audit_seals WHERE sequence = 2")
    assert named(await book.verify()) == {2: "truncated"}
    # Later seals do not hide it.
    await book.write(2)
    await book.seal()
    assert named(await book.verify()) == {2: "truncated"}
    await book.owner.execute("TRUNCATE audit_entries, audit_seals")
    verdict = await book.verify()
    assert (verdict.ok, verdict.head, named(verdict)) == (False, None, {2: "truncated"})


async def test_a_seal_signed_with_another_key_is_rejected(book: Book):
    """By somebody who can write to the tables but has no master secret."""
    await book.write(2)
    await book.seal()
    app = book.api.app
    real = app.vault
    app.vault = Vault(b"another secret of at least 32 byt")
    await book.write(2)
    assert await jobs.seal(app) == 0
    await book.by_hand("UPDATE audit_seals SET hash = sha256(hash) WHERE sequence = 1")
    app.vault = real
    assert await jobs.seal(app) == 0
    assert named(await book.verify()) == {1: "seal_altered"}


async def test_entries_of_open_transactions_are_sealed_later_and_none_is_skipped(book: Book):
    """Transactions commit in another order than they began, while the sealer runs."""
    app = book.api.app

    async def entry(conn: object, n: int) -> None:
        await service.record(conn, CLERK, app.clock(), AuditAction("thing.make", AuditTarget("thing", str(n))))  # type: ignore[arg-type]

    async with app.db.tx() as slow:
        await entry(slow, 1)
        async with app.db.tx() as quick:
            await entry(quick, 2)
        assert await jobs.seal(app) == 0
        await entry(slow, 3)
        assert (await book.verify()).unsealed == 1
    await book.seal()
    verdict = await book.verify()
    assert (verdict.ok, verdict.checked, verdict.unsealed) == (True, 3, 0)
    assert verdict.head


async def test_concurrent_writers_and_sealers(book: Book):
    app = book.api.app
    done, sealed = asyncio.Event(), asyncio.Event()

    async def write(writer: int) -> None:
        for n in range(25):
            if n == 12:
                await sealed.wait()  # so there is more than one seal, whoever is slow
            async with app.db.tx() as conn:
                await service.record(
                    conn, CLERK, app.clock(), AuditAction("thing.make", AuditTarget("thing", f"{writer}.{n}"))
                )
                await asyncio.sleep(0.002 * (writer % 3))
                await service.record(
                    conn, CLERK, app.clock(), AuditAction("thing.keep", AuditTarget("thing", f"{writer}.{n}"))
                )

    async def seal() -> None:
        while not done.is_set():
            if await jobs.seal(app):
                sealed.set()
            await asyncio.sleep(0)

    sealers = [asyncio.create_task(seal()) for _ in range(3)]
    await asyncio.wait_for(asyncio.gather(*(write(n) for n in range(5))), 60)
    done.set()
    await asyncio.wait_for(asyncio.gather(*sealers), 50)
    await book.seal()
    verdict = await book.verify()
    assert (verdict.ok, verdict.checked, verdict.unsealed) == (True, 250, 0)
    [row] = await book.api.sql("SELECT count(*) AS n, max(sequence) AS top FROM audit_seals")
    assert row["n"] == row["top"] > 1


async def test_only_super_admins_can_verify(api: Api):
    for name, status, code in [
        ("sue", 200, None), ("unscoped", 200, None), ("adam", 403, "FORBIDDEN"), ("dora", 403, "FORBIDDEN"),
        ("scoped", 403, "FORBIDDEN"),
    ]:  # fmt: skip
        answer = await api.callers[name].get("/audit/verify")
        assert (answer.status, answer.code) == (status, code), name
    empty = (await api.sue.get("/audit/verify")).data
    assert (empty["ok"], empty["checked"], empty["head"]) == (True, 0, None)


async def test_tables_from_another_server_are_not_sealed(book: Book):
    """Its transaction counter is ahead of ours: new entries would come before sealed ones."""
    await book.write(1)
    await book.owner.execute("UPDATE audit_entries SET tx = '3000000000'")
    app = book.api.app
    assert app.audit_db
    async with app.audit_db.tx() as conn:
        [row] = await store.list_between(conn, START, (4_000_000_000, UUID(int=0)), 10)
        seal = rules.next_seal(None, app.clock(), row.position, [wire.to_leaf(row)])
        await store.insert_seal(conn, replace(seal, signature=app.vault.sign_publicly(SEAL_KEY_PURPOSE, seal.hash)))
    await book.write(1)
    assert await jobs.seal(app) == 0
    assert (await book.verify()).ok is False
