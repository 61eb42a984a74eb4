"""Retention: months of rows, days of content, claims on queue IDs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from mailkeep.core.ids import uuid7, uuid7_floor
from mailkeep.db.partitions import drop_partitions, ensure_partitions
from mailkeep.features.record.events import service as events
from mailkeep.features.record.messages import jobs
from mailkeep.features.record.messages.content import content_path, link_content, save_contents
from tests.plugins.post import Post
from tests.support.client import START, Api
from tests.support.events import sample_event
from tests.support.messages import acceptance, insert, outbound, run_steps

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ %(pattern)s ORDER BY relname"


async def tables(api: Api, pattern: str) -> set[str]:
    return {row["relname"] for row in await api.sql(TABLES, pattern=pattern)}


async def ensure(api: Api, at: datetime) -> None:
    async with api.app.db.tx() as conn:
        await ensure_partitions(conn, at)


async def test_rows_of_the_default_partition_move_into_their_month(api: Api):
    message = await insert(api, outbound(api, "a@x.test", tags=["tag"]))
    await run_steps(api, message, acceptance(api))
    partition = "SELECT tableoid::regclass::text AS name FROM messages"
    assert await api.sql(partition) == [{"name": "messages_default"}]
    for _ in range(2):
        await ensure(api, START)
    assert await api.sql(partition) == [{"name": "messages_2026_03"}]
    for parent in ("message_recipients", "message_search", "message_tags", "events"):
        assert await tables(api, f"^{parent}_2026") == {f"{parent}_2026_03", f"{parent}_2026_04"}
    assert (await api.sue.get(f"/messages/{message.id}")).data["tags"] == ["tag"]
    assert len((await api.sue.get("/messages", tag="tag")).data) == 1


async def test_months_are_deleted_when_their_last_day_is_too_old(api: Api):
    await ensure(api, datetime(2026, 1, 10, tzinfo=UTC))
    await ensure(api, datetime(2025, 11, 10, tzinfo=UTC))
    old = await insert(api, outbound(api, "a@x.test", id=uuid7(datetime(2025, 11, 20, tzinfo=UTC))))
    stray = await insert(api, outbound(api, "a@x.test", id=uuid7_floor(datetime(2019, 1, 1, tzinfo=UTC))))
    kept = await insert(api, outbound(api, "a@x.test"))
    api.clock.now = datetime(2026, 3, 1, 1, tzinfo=UTC)  # 90 days after the first of December
    async with api.app.db.tx() as conn:
        await events.emit(conn, api.clock(), sample_event("mail.sent", None, None, {}))
    for _ in range(2):  # two checks, a day apart
        await jobs.prune(api.app)
        api.clock.advance(days=1)
    assert await tables(api, "^messages_2") == {"messages_2025_12", "messages_2026_01", "messages_2026_02"}
    assert "events_2026_01" in await tables(api, "^events_2")  # its last day is not 30 days ago
    assert "events_2025_12" not in await tables(api, "^events_2")
    assert "audit_entries_2025_11" in await tables(api, "^audit_entries_2")
    for one, status in ((old, 404), (stray, 404), (kept, 200)):
        assert (await api.sue.get(f"/messages/{one.id}")).status == status


async def test_no_partition_is_dropped_or_created_while_one_is_read(api: Api):
    await ensure(api, datetime(2025, 1, 10, tzinfo=UTC))
    await insert(api, outbound(api, "a@x.test"))
    async with api.app.db.tx() as reader:
        await reader.execute("SELECT count(*) FROM messages")
        for _ in range(2):
            await jobs.prune(api.app)
            api.clock.advance(days=1)
        await ensure(api, datetime(2024, 1, 10, tzinfo=UTC))
    assert await tables(api, "^messages_2024") == set()
    assert "messages_2025_01" in await tables(api, "^messages_2")
    async with api.app.db.tx() as conn:
        assert await drop_partitions(conn, api.clock(), messages_before=api.clock(), events_before=None) > 0
    assert await tables(api, "^messages_2025") == set()


def test_content_is_removed_by_whole_days(tmp_path: Path):
    days = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
    ids = [uuid7_floor(day) for day in days]
    save_contents(tmp_path, [(one, [b"Subject: x\r\n", b"\r\n"]) for one in ids])
    other_directory = tmp_path / "content" / "not-a-day"
    other_directory.mkdir()
    assert jobs.prune_content(tmp_path, days[2]) == 2
    assert [content_path(tmp_path, one).exists() for one in ids] == [False, False, True]
    assert content_path(tmp_path, ids[2]).read_bytes() == b"Subject: x\r\n\r\n"
    assert other_directory.is_dir()


def test_content_that_cannot_be_saved_raises_no_error(tmp_path: Path):
    one = UUID(int=7 << 80)
    (tmp_path / "content").write_text("a file where the directory should be")
    save_contents(tmp_path, [(one, [b"x"])])
    link_content(tmp_path, one, tmp_path / "absent")
    assert not content_path(tmp_path, one).exists()


async def test_claims_on_queue_ids_are_deleted_after_a_week(post: Post):
    await post.api.mailbox()
    await post.deliver("alice@example.test")
    for days, left in ((6, 1), (2, 0)):
        post.api.clock.now += timedelta(days=days)
        await jobs.prune(post.api.app)
        assert len(await post.api.sql("SELECT queue_id FROM inbound_claims")) == left


async def test_a_clock_that_jumps_ahead_by_months_deletes_no_history(api: Api, tmp_path: Path):
    await ensure(api, START)
    message = await insert(api, outbound(api, "a@x.test"))
    save_contents(tmp_path, [(message.id, [b"Subject: x\r\n", b"\r\n"])])
    async with api.app.db.tx() as conn:
        await events.emit(conn, api.clock(), sample_event("mail.sent", None, None, {}))

    async def is_kept() -> bool:
        rows = await api.sql(
            "SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM events) AS events"
        )
        return (rows[0]["messages"], rows[0]["events"]) >= (1, 1) and content_path(tmp_path, message.id).exists()

    await jobs.prune(api.app)
    api.clock.advance(days=300)
    for _ in range(3):  # without new rows the clock is never confirmed
        await jobs.prune(api.app)
        assert await is_kept()
        api.clock.advance(days=1)
    # New mail confirms the clock, but only after a day.
    await insert(api, outbound(api, "b@x.test"))
    async with api.app.db.tx() as conn:
        await events.emit(conn, api.clock(), sample_event("mail.sent", None, None, {}))
    for _ in range(20):
        await jobs.prune(api.app)
        api.clock.advance(hours=1)
    assert await is_kept()
    # The clock is corrected.
    api.clock.now = START + timedelta(days=2)
    for _ in range(3):
        await jobs.prune(api.app)
        assert await is_kept()
        api.clock.advance(days=1)
    api.clock.now = START + timedelta(days=10)
    for _ in range(2):
        await jobs.prune(api.app)
        api.clock.advance(days=1)
    assert not content_path(tmp_path, message.id).exists()
