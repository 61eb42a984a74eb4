"""Usage, arrivals and logins in the rows of mailboxes; locked and deleted mailboxes are skipped."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from mailkeep.features.directory.mailbox_usage import store
from mailkeep.features.directory.mailbox_usage.model import Arrivals, MailboxLogin, MailboxUsage
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

UNKNOWN = UUID("01890a5d-ac96-774b-bcce-b302099a8057")

State = tuple[int, float | None, float | None]


async def test_usage_shows_in_the_mailbox_and_its_domain_only(api: Api) -> None:
    alice, bob = [await api.mailbox(f"{name}@{EXAMPLE}") for name in ("alice", "bob")]
    before = (await api.sue.get(f"/mailboxes/{alice}")).data
    api.clock.advance(hours=1)
    at = api.clock()
    async with api.app.db.tx() as conn:
        reports = [MailboxUsage(alice, at, 700, 2), MailboxUsage(bob, at, 300, 1), MailboxUsage(UNKNOWN, at, 1, 1)]
        assert await store.report(conn, reports) == []
    assert (await api.sue.get(f"/mailboxes/{alice}")).data == before | {"used_bytes": 700, "message_count": 2}
    assert (await api.sue.get(f"/domains/{DOMAIN_IDS[EXAMPLE]}")).data["usage"]["bytes"] == 1000


class Row:
    """Alice's row, after reports and counts; times are in seconds after the start."""

    def __init__(self, api: Api, alice: UUID) -> None:
        self.api, self.alice, self.start = api, alice, api.clock()

    def at(self, later: float) -> datetime:
        return self.start + timedelta(seconds=later)

    async def report(self, later: float, used: int, *, may_be_stale: bool = False) -> State:
        async with self.api.app.db.tx() as conn:
            assert await store.report(conn, [MailboxUsage(self.alice, self.at(later), used, 1, may_be_stale)]) == []
        return await self.state()

    async def count(self, later: float, used: int) -> State:
        async with self.api.app.db.tx() as conn:
            await store.write_counts(conn, [MailboxUsage(self.alice, self.at(later), used, 1)])
        return await self.state()

    async def arrive(self, later: float, size: int) -> State:
        async with self.api.app.db.tx() as conn:
            assert await store.add_arrivals(conn, [Arrivals(self.alice, self.at(later), size, 1)]) == []
        return await self.state()

    async def state(self) -> State:
        """Its bytes, the time of its last count, and the time since when a count is due."""
        (row,) = await self.api.sql("SELECT used_bytes, usage_counted_at, usage_count_due_at FROM mailboxes")
        counted, due = (
            at and (at - self.start).total_seconds() for at in (row["usage_counted_at"], row["usage_count_due_at"])
        )
        return row["used_bytes"], counted, due


@pytest.fixture
async def row(api: Api) -> Row:
    return Row(api, await api.mailbox())


async def test_reports_and_counts_apply_in_the_order_of_their_times(row: Row) -> None:
    assert await row.report(10, 100) == (100, None, None)
    assert await row.report(5, 50) == (100, None, None)
    assert await row.count(10, 50) == (100, None, None)
    assert await row.count(20, 200) == (200, 20, None)
    assert await row.report(15, 150) == (200, 20, None)
    assert await row.report(30, 300) == (300, 20, None)
    assert await row.report(40, 310, may_be_stale=True) == (310, 20, 40)
    assert await row.report(45, 320) == (320, 20, 40)
    assert await row.count(46, 330) == (330, 46, None)


async def test_an_arrival_is_added_and_makes_a_count_due(row: Row) -> None:
    await row.count(0, 1000)
    assert await row.arrive(10, 100) == (1100, 0, 10)
    assert await row.arrive(12, 100) == (1200, 0, 10)
    assert await row.count(11, 1110) == (1200, 0, 10)
    assert await row.count(13, 1230) == (1230, 13, None)
    assert await row.arrive(12.5, 100) == (1230, 13, None)
    assert await row.report(14, 900) == (900, 13, None)
    assert await row.arrive(15, 100) == (1000, 13, 15)
    assert await row.report(14.5, 800) == (1000, 13, 15)


async def test_with_constant_reports_a_count_is_stored_after_ten_seconds(row: Row) -> None:
    for second in range(1, 11):
        assert await row.arrive(second, 100) == (100 * second, None, 1)
        assert (await row.count(second - 0.5, 7))[0] == 100 * second
    await row.arrive(11, 100)
    assert await row.count(11, 2222) == (2222, 11, 11)
    assert await row.arrive(12, 100) == (2322, 11, 11)
    assert await row.count(12, 7) == (2322, 11, 11)


async def test_a_mailbox_that_cannot_be_counted_is_deferred(api: Api) -> None:
    boxes = [await api.mailbox(f"box{number}@{EXAMPLE}") for number in range(4)]
    at = api.clock()

    async def due(later: float, most: int = 10) -> list[int]:
        async with api.app.db.autocommit() as conn:
            found = await store.list_due(conn, at + timedelta(seconds=later), most)
        return [boxes.index(each.mailbox_id) for each in found]

    async with api.app.db.tx() as conn:
        arrivals = [Arrivals(box, at - timedelta(seconds=number), 1, 1) for number, box in enumerate(boxes[:3])]
        await store.add_arrivals(conn, arrivals)
    assert await due(0) == [2, 1, 0]
    assert await due(0, most=2) == [2, 1]
    async with api.app.db.tx() as other, api.app.db.tx() as conn:
        await other.execute("SELECT id FROM mailboxes WHERE id = %(id)s FOR UPDATE", {"id": boxes[0]})
        await store.defer_count(conn, [boxes[2], boxes[3], boxes[0], UNKNOWN], at + timedelta(seconds=60))
    assert await due(59) == [1, 0]
    async with api.app.db.tx() as conn:
        await store.add_arrivals(conn, [Arrivals(boxes[2], at, 1, 1)])
    assert await due(59) == [1, 0]
    assert await due(60) == [1, 0, 2]
    await api.sql("UPDATE mailboxes SET active = false WHERE id = %(id)s RETURNING id", id=boxes[1])
    await api.sql("UPDATE mailboxes SET deleted_at = %(at)s WHERE id = %(id)s RETURNING id", id=boxes[2], at=at)
    assert await due(60) == [0]
    await api.sql("UPDATE domains SET active = false RETURNING id")
    assert await due(60) == []


async def test_locked_mailboxes_are_returned_without_waiting(api: Api) -> None:
    alice, bob = [await api.mailbox(f"{name}@{EXAMPLE}") for name in ("alice", "bob")]
    at = api.clock()
    async with api.app.db.tx() as other, api.app.db.tx() as conn:
        await other.execute("SELECT id FROM mailboxes WHERE id = %(id)s FOR UPDATE", {"id": alice})
        assert await store.report(conn, [MailboxUsage(alice, at, 1, 1), MailboxUsage(bob, at, 2, 2)]) == [alice]
        arrivals = [Arrivals(alice, at, 1, 1), Arrivals(bob, at, 5, 1), Arrivals(UNKNOWN, at, 1, 1)]
        assert await store.add_arrivals(conn, arrivals) == [alice]
        logins = [MailboxLogin(alice, at, "imap", "192.0.2.1"), MailboxLogin(bob, at, "pop3", "192.0.2.1")]
        assert await store.set_logins(conn, logins) == [alice]
    rows = await api.sql("SELECT used_bytes, last_login_protocol AS protocol FROM mailboxes ORDER BY local_key")
    assert [(row["used_bytes"], row["protocol"]) for row in rows] == [(0, None), (7, "pop3")]


async def test_the_last_login_is_the_newest(api: Api) -> None:
    alice = await api.mailbox()
    at = api.clock()
    for later, protocol, ip in ((0, "imap", "192.0.2.1"), (60, "smtp", "2001:db8::1"), (30, "pop3", "192.0.2.2")):
        async with api.app.db.tx() as conn:
            newer = MailboxLogin(alice, at + timedelta(seconds=later), protocol, ip)
            assert await store.set_logins(conn, [newer, MailboxLogin(UNKNOWN, at, "imap", "")]) == []
    login = (await api.sue.get(f"/mailboxes/{alice}")).data["last_login"]
    assert login == {"at": "2026-03-01T12:01:00.000Z", "protocol": "smtp", "ip": "2001:db8::1"}


async def test_all_usable_mailboxes_are_tracked(api: Api) -> None:
    asleep = await api.domain("asleep.test", active=False)
    boxes = [await api.mailbox(f"box{number}@{EXAMPLE}", used_bytes=number) for number in range(5)]
    await api.mailbox(f"off@{EXAMPLE}", active=False)
    await api.mailbox(f"gone@{EXAMPLE}", deleted_at=api.clock())
    await api.mailbox("alice@asleep.test", domain_id=asleep)
    seen: list[tuple[UUID, str, bool]] = []
    last: UUID | None = None
    async with api.app.db.autocommit() as conn:
        while page := await store.list_tracked(conn, last, 2):
            seen += [(each.mailbox_id, each.address, each.has_mail) for each in page]
            last = page[-1].mailbox_id
    assert seen == [(box, f"box{number}@{EXAMPLE}", number > 0) for number, box in enumerate(boxes)]
