"""Counting after reports: which mailboxes are due and when, and that a count never replaces a newer report."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.mailbox_usage import jobs as counting, store
from mailkeep.features.directory.mailbox_usage.jobs import UsageCounter
from mailkeep.features.directory.mailbox_usage.model import Arrivals, MailboxUsage
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot.count import CountedMailbox
from mailkeep.mail.mailbox.homes import MAILDIR
from tests.support.client import EXAMPLE, Api

ALICE = f"alice@{EXAMPLE}"


class Dovecot:
    """Returns the counts that a test sets."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.holds: dict[str, CountedMailbox] = {}
        self.asked: list[str] = []
        self.walk = UsageCounter(api.app, InstancePaths(api.app.data_dir, Path("/nowhere")), self.count)
        self.meanwhile: MailboxUsage | None = None

    async def count(self, conf: Path, logins: Collection[str]) -> Mapping[str, CountedMailbox]:
        self.asked += logins
        if self.meanwhile:
            await self.report(self.meanwhile)
        return {login: self.holds[login] for login in logins if login in self.holds}

    async def report(self, usage: MailboxUsage) -> None:
        """Store a report."""
        async with self.api.app.db.tx() as conn:
            assert await store.report(conn, [usage]) == []

    async def says(self, mailbox_id: UUID, size: int, messages: int) -> None:
        """A word of now."""
        await self.report(MailboxUsage(mailbox_id, self.api.clock(), size, messages))

    def change(self, mailbox_id: UUID, ago: float = 0) -> None:
        """The mailbox's folder changed that many seconds ago."""
        at = self.api.clock().timestamp() - ago
        folder = self.walk.paths.mail_root / str(mailbox_id) / MAILDIR
        for part in ("cur", "new"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        for path in (folder / "cur", folder / "new", folder):
            os.utime(path, (at, at))

    async def came(self, mailbox_id: UUID, size: int) -> None:
        """A message has come into a mailbox."""
        async with self.api.app.db.tx() as conn:
            assert await store.add_arrivals(conn, [Arrivals(mailbox_id, self.api.clock(), size, 1)]) == []

    async def look(self) -> tuple[list[str], tuple[int, int]]:
        """Who is counted by a look a second later, and what the first mailbox holds then."""
        self.api.clock.advance(seconds=1)
        self.asked = []
        await self.walk.count_due()
        return self.asked, await self._shown()

    async def round(self) -> tuple[list[str], tuple[int, int]]:
        """Who is counted in a round, and what the first mailbox holds then."""
        self.asked = []
        await self.walk.count_all()
        return self.asked, await self._shown()

    async def _shown(self) -> tuple[int, int]:
        shown = (await self.api.sue.get("/mailboxes", sort="address", order="asc")).data[0]
        return shown["used_bytes"], shown["message_count"]


@pytest.fixture
def dovecot(api: Api) -> Dovecot:
    return Dovecot(api)


async def counted(api: Api, dovecot: Dovecot) -> UUID:
    """Alice, whose figures are right, and who was counted a minute ago."""
    alice = await api.mailbox(ALICE)
    dovecot.change(alice, ago=100)
    dovecot.holds[ALICE] = CountedMailbox(2, 900)
    assert await dovecot.round() == ([ALICE], (900, 2))
    api.clock.advance(minutes=1)
    return alice


async def test_a_mailbox_without_a_folder_is_not_counted(api: Api, dovecot: Dovecot) -> None:
    await api.mailbox(ALICE)
    assert await dovecot.round() == ([], (0, 0))


async def test_a_mailbox_whose_folder_is_gone_holds_nothing(api: Api, dovecot: Dovecot) -> None:
    await api.mailbox(ALICE, used_bytes=700, message_count=2)
    assert await dovecot.round() == ([], (0, 0))


async def test_what_did_not_change_is_not_counted_again(api: Api, dovecot: Dovecot) -> None:
    await counted(api, dovecot)
    for _ in range(3):
        assert (await dovecot.round())[0] == []
        api.clock.advance(days=2)


async def test_an_unreported_change_is_counted_after_ten_minutes(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    dovecot.change(alice)
    dovecot.holds[ALICE] = CountedMailbox(3, 1000)
    assert await dovecot.round() == ([], (900, 2))
    api.clock.advance(minutes=9)
    assert await dovecot.round() == ([ALICE], (1000, 3))
    assert (await dovecot.round())[0] == []


async def test_the_first_round_counts_only_unreported_mailboxes(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    bob = await api.mailbox(f"bob@{EXAMPLE}", usage_counted_at=api.clock())
    for each in (alice, bob):
        dovecot.change(each, ago=-60)
    api.clock.advance(minutes=1)
    await dovecot.says(bob, 700, 1)
    after = Dovecot(api)
    after.holds = {ALICE: CountedMailbox(3, 1000)}
    assert await after.round() == ([ALICE], (1000, 3))


async def test_a_report_is_trusted_for_a_day(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    dovecot.change(alice)
    await dovecot.says(alice, 1000, 3)
    dovecot.holds[ALICE] = CountedMailbox(3, 1001)
    api.clock.advance(hours=23)
    assert await dovecot.round() == ([], (1000, 3))
    api.clock.advance(hours=1)
    assert await dovecot.round() == ([ALICE], (1001, 3))


async def test_a_report_during_a_count_is_kept_and_counted_again(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.change(alice)
    dovecot.holds[ALICE] = CountedMailbox(1, 500)
    dovecot.meanwhile = MailboxUsage(alice, api.clock(), 900, 2)
    assert await dovecot.round() == ([ALICE], (900, 2))
    dovecot.holds[ALICE], dovecot.meanwhile = CountedMailbox(2, 901), None
    api.clock.advance(minutes=1)
    assert await dovecot.round() == ([ALICE], (901, 2))


async def test_a_mailbox_that_can_not_be_counted_is_left_as_it_is(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE, used_bytes=700, message_count=2)
    dovecot.change(alice)
    for _ in range(2):
        assert await dovecot.round() == ([ALICE], (700, 2))


async def test_a_mailbox_that_is_held_is_counted_in_another_round(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.change(alice)
    dovecot.holds[ALICE] = CountedMailbox(2, 900)
    async with api.app.db.tx() as other:
        await other.execute("SELECT id FROM mailboxes FOR UPDATE")
        assert await dovecot.round() == ([ALICE], (0, 0))
    assert await dovecot.round() == ([ALICE], (900, 2))


async def test_what_came_in_is_counted_once_and_soon(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    await api.mailbox(f"bob@{EXAMPLE}")
    assert await dovecot.look() == ([], (900, 2))
    dovecot.change(alice)
    await dovecot.came(alice, 100)
    dovecot.holds[ALICE] = CountedMailbox(3, 1105)
    assert await dovecot.look() == ([ALICE], (1105, 3))
    assert await dovecot.look() == ([], (1105, 3))
    assert await dovecot.round() == ([], (1105, 3))


async def test_words_that_may_have_overtaken_each_other_are_counted_soon(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    await dovecot.report(MailboxUsage(alice, api.clock(), 1000, 3, may_be_stale=True))
    assert await dovecot.look() == ([ALICE], (900, 2))


async def test_what_comes_while_dovecot_counts_is_counted_again(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    await dovecot.came(alice, 100)
    dovecot.holds[ALICE] = CountedMailbox(3, 1005)
    dovecot.meanwhile = MailboxUsage(alice, api.clock() + timedelta(seconds=1), 1010, 4)
    assert await dovecot.look() == ([ALICE], (1010, 4))
    dovecot.holds[ALICE], dovecot.meanwhile = CountedMailbox(4, 1011), None
    assert await dovecot.look() == ([ALICE], (1011, 4))


async def test_a_mailbox_with_constant_arrivals_is_counted_nevertheless(api: Api, dovecot: Dovecot) -> None:
    alice = await counted(api, dovecot)
    dovecot.holds[ALICE] = CountedMailbox(1, 50)
    seen: list[tuple[int, int]] = []
    for _ in range(12):
        await dovecot.came(alice, 100)
        dovecot.meanwhile = MailboxUsage(alice, api.clock() + timedelta(seconds=1), 7, 7)
        seen.append((await dovecot.look())[1])
    assert (50, 1) in seen[9:]


async def test_who_can_not_be_counted_is_tried_once_a_minute_and_holds_up_nobody(api: Api, dovecot: Dovecot) -> None:
    alice, bob = await counted(api, dovecot), await api.mailbox(f"bob@{EXAMPLE}")
    dovecot.change(bob)
    await dovecot.came(bob, 50)
    assert (await dovecot.look())[0] == [f"bob@{EXAMPLE}"]
    for _ in range(58):
        await dovecot.came(alice, 100)
        await dovecot.came(bob, 50)
        assert await dovecot.look() == ([ALICE], (900, 2))
    assert await dovecot.look() == ([], (900, 2))
    dovecot.holds[f"bob@{EXAMPLE}"] = CountedMailbox(59, 5000)
    assert (await dovecot.look())[0] == [f"bob@{EXAMPLE}"]
    assert (await dovecot.look())[0] == []
    assert (await api.sql("SELECT used_bytes FROM mailboxes WHERE local_key = 'bob'")) == [{"used_bytes": 5000}]


async def test_who_is_due_and_has_no_folder_holds_nothing(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    await dovecot.came(alice, 100)
    assert await dovecot.look() == ([], (0, 0))
    assert await api.sql("SELECT usage_count_due_at AS at FROM mailboxes") == [{"at": None}]


async def test_a_look_counts_no_more_than_it_may(api: Api, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_DUE_BATCH", 2)
    for name in ("alice", "bob", "carol"):
        box = await api.mailbox(f"{name}@{EXAMPLE}")
        dovecot.change(box)
        dovecot.holds[f"{name}@{EXAMPLE}"] = CountedMailbox(1, 50)
        await dovecot.came(box, 40)
        api.clock.advance(seconds=1)
    assert (await dovecot.look())[0] == [f"{name}@{EXAMPLE}" for name in ("alice", "bob")]
    assert (await dovecot.look())[0] == [f"carol@{EXAMPLE}"]


async def test_counting_takes_a_tenth_of_the_time(api: Api, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([0.0, 0.1, Unavailable(), 1.5, KeyError(), 60.0])
    slept: list[float] = []

    async def look() -> float:
        took = next(looks)
        if isinstance(took, Exception):
            raise took
        return took

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 6:
            raise asyncio.CancelledError

    monkeypatch.setattr(UsageCounter, "count_due", lambda self: look())
    monkeypatch.setattr(counting, "asyncio", SimpleNamespace(sleep=sleep))
    with pytest.raises(asyncio.CancelledError):
        await dovecot.walk.keep_counting_due()
    assert slept == [2.0, 2.0, 2.0, 13.5, 2.0, 60.0]
