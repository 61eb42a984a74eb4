"""`ArrivalRecorder`: arrivals are added once a second, later if the database is unavailable, without delaying mail."""

from __future__ import annotations

import asyncio

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.directory.mailbox_usage import rules, service
from mailkeep.features.directory.mailbox_usage.service import ArrivalRecorder
from tests.directory.mailbox_usage.test_usage import unavailable
from tests.support.client import EXAMPLE, Api

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"


@pytest.fixture
def recorder(api: Api) -> ArrivalRecorder:
    return ArrivalRecorder(api.app)


async def usage(api: Api) -> list[tuple[int, int]]:
    """Bytes and messages of the mailboxes, ordered by address."""
    rows = (await api.sue.get("/mailboxes", sort="address", order="asc")).data
    return [(each["used_bytes"], each["message_count"]) for each in rows]


async def test_arrivals_are_added_in_batches(api: Api, recorder: ArrivalRecorder) -> None:
    alice, bob = await api.mailbox(ALICE, used_bytes=700, message_count=2), await api.mailbox(BOB)
    for mailbox_id, size in ((alice, 100), (bob, 50), (alice, 30)):
        recorder.add(mailbox_id, size)
        api.clock.advance(seconds=1)
    await recorder.write()
    assert await usage(api) == [(830, 4), (50, 1)]
    (row, _) = await api.sql("SELECT usage_reported_at, usage_count_due_at FROM mailboxes ORDER BY local_key")
    assert [(api.clock() - row[name]).total_seconds() for name in ("usage_reported_at", "usage_count_due_at")] == [1, 1]
    await recorder.write()
    assert await usage(api) == [(830, 4), (50, 1)]


async def test_without_the_database_no_arrival_is_lost(
    api: Api, recorder: ArrivalRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await api.mailbox(ALICE)
    with monkeypatch.context() as patch:
        patch.setattr(DatabasePool, "autocommit", unavailable)
        for _ in range(2):
            recorder.add(alice, 100)
            with pytest.raises(Unavailable):
                await recorder.write()
    await recorder.write()
    assert await usage(api) == [(200, 2)]


async def test_arrivals_beyond_the_limit_of_mailboxes_are_dropped(
    api: Api, recorder: ArrivalRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_REMEMBERED", 1)
    alice, bob = await api.mailbox(ALICE), await api.mailbox(BOB)
    for mailbox_id in (alice, bob, alice):
        recorder.add(mailbox_id, 100)
    await recorder.write()
    assert await usage(api) == [(200, 2), (0, 0)]


async def test_a_locked_row_is_skipped_and_written_later(api: Api, recorder: ArrivalRecorder) -> None:
    alice, bob = await api.mailbox(ALICE), await api.mailbox(BOB)
    recorder.add(alice, 100)
    recorder.add(bob, 50)
    async with api.app.db.tx() as other:
        await other.execute("SELECT id FROM mailboxes WHERE id = %(id)s FOR UPDATE", {"id": alice})
        await recorder.write()
        recorder.add(alice, 30)
        await recorder.write()
    assert await usage(api) == [(0, 0), (50, 1)]
    await recorder.write()
    assert await usage(api) == [(130, 2), (50, 1)]


async def test_pending_arrivals_are_written_at_shutdown(
    api: Api, recorder: ArrivalRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await api.mailbox(ALICE)
    monkeypatch.setattr(service, "_WRITE_SECONDS", 60.0)
    monkeypatch.setattr(service, "_LAST_WRITE_SECONDS", 60.0)
    writing = asyncio.create_task(recorder.keep_writing())
    await asyncio.sleep(0)
    recorder.add(alice, 100)
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing], timeout=60)
    assert writing.cancelled()
    assert await usage(api) == [(100, 1)]


async def test_a_shutdown_without_the_database_ends(
    api: Api, recorder: ArrivalRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.add(await api.mailbox(ALICE), 100)
    monkeypatch.setattr(DatabasePool, "autocommit", unavailable)
    writing = asyncio.create_task(recorder.keep_writing())
    await asyncio.sleep(0.01)
    writing.cancel()
    await asyncio.wait([writing], timeout=60)
    assert writing.cancelled()
