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
        self.logins: list[str] = []
        self.counter = UsageCounter(api.app, InstancePaths(api.app.data_dir, Path("/nowhere")), self.count)
        self.meanwhile: MailboxUsage | None = None

    async def count(self, conf: Path, logins: Collection[str]) -> Mapping[str, CountedMailbox]:
        self.logins += logins
        if self.meanwhile:
            await self.report(self.meanwhile)
        return {login: self.holds[login] for login in logins if login in self.holds}

    async def report(self, usage: MailboxUsage) -> None:
        """Store a report."""
        async with self.api.app.db.tx() as conn:
            assert await store.report(conn, [usage]) == []

    async def report_now(self, mailbox_id: UUID, size: int, messages: int) -> None:
        """Store a report of the current time."""
        await self.report(MailboxUsage(mailbox_id, self.api.clock(), size, messages))

    def change(self, mailbox_id: UUID, ago: float = 0) -> None:
        """Set the times of the Maildir to `ago` seconds before now."""
        at = self.api.clock().timestamp() - ago
        folder = self.counter.paths.mail_root / str(mailbox_id) / MAILDIR
        for name in ("cur", "new"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for path in (folder / "cur", folder / "new", folder):
            os.utime(path, (at, at))

    async def add_arrival(self, mailbox_id: UUID, size: int) -> None:
        """Store the arrival of a message."""
        async with self.api.app.db.tx() as conn:
            assert await store.add_arrivals(conn, [Arrivals(mailbox_id, self.api.clock(), size, 1)]) == []

    async def count_due(self) -> tuple[list[str], tuple[int, int]]:
        """Count the mailboxes that are due a second later; returns them, and the usage of the first mailbox."""
        self.api.clock.advance(seconds=1)
        self.logins = []
        await self.counter.count_due()
        return self.logins, await self._usage()

    async def count_all(self) -> tuple[list[str], tuple[int, int]]:
        """Run a full round; returns the mailboxes that were counted, and the usage of the first mailbox."""
        self.logins = []
        await self.counter.count_all()
        return self.logins, await self._usage()

    async def _usage(self) -> tuple[int, int]:
        mailbox = (await self.api.sue.get("/mailboxes", sort="address", order="asc")).data[0]
        return mailbox["used_bytes"], mailbox["message_count"]


@pytest.fixture
def dovecot(api: Api) -> Dovecot:
    return Dovecot(api)


async def counted_mailbox(api: Api, dovecot: Dovecot) -> UUID:
    """Alice, counted a minute ago and not changed since."""
    alice = await api.mailbox(ALICE)
    dovecot.change(alice, ago=100)
    dovecot.holds[ALICE] = CountedMailbox(2, 900)
    assert await dovecot.count_all() == ([ALICE], (900, 2))
    api.clock.advance(minutes=1)
    return alice


async def test_a_mailbox_without_a_directory_is_not_counted(api: Api, dovecot: Dovecot) -> None:
    await api.mailbox(ALICE)
    assert await dovecot.count_all() == ([], (0, 0))


async def test_a_mailbox_whose_directory_was_deleted_is_empty(api: Api, dovecot: Dovecot) -> None:
    await api.mailbox(ALICE, used_bytes=700, message_count=2)
    assert await dovecot.count_all() == ([], (0, 0))


async def test_an_unchanged_mailbox_is_not_counted_again(api: Api, dovecot: Dovecot) -> None:
    await counted_mailbox(api, dovecot)
    for _ in range(3):
        assert (await dovecot.count_all())[0] == []
        api.clock.advance(days=2)


async def test_an_unreported_change_is_counted_after_ten_minutes(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    dovecot.change(alice)
    dovecot.holds[ALICE] = CountedMailbox(3, 1000)
    assert await dovecot.count_all() == ([], (900, 2))
    api.clock.advance(minutes=9)
    assert await dovecot.count_all() == ([ALICE], (1000, 3))
    assert (await dovecot.count_all())[0] == []


async def test_the_first_round_counts_only_unreported_mailboxes(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    bob = await api.mailbox(f"bob@{EXAMPLE}", usage_counted_at=api.clock())
    for each in (alice, bob):
        dovecot.change(each, ago=-60)
    api.clock.advance(minutes=1)
    await dovecot.report_now(bob, 700, 1)
    after = Dovecot(api)
    after.holds = {ALICE: CountedMailbox(3, 1000)}
    assert await after.count_all() == ([ALICE], (1000, 3))


async def test_a_report_is_trusted_for_a_day(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    dovecot.change(alice)
    await dovecot.report_now(alice, 1000, 3)
    dovecot.holds[ALICE] = CountedMailbox(3, 1001)
    api.clock.advance(hours=23)
    assert await dovecot.count_all() == ([], (1000, 3))
    api.clock.advance(hours=1)
    assert await dovecot.count_all() == ([ALICE], (1001, 3))


async def test_a_report_during_a_count_is_kept_and_counted_again(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.change(alice)
    dovecot.holds[ALICE] = CountedMailbox(1, 500)
    dovecot.meanwhile = MailboxUsage(alice, api.clock(), 900, 2)
    assert await dovecot.count_all() == ([ALICE], (900, 2))
    dovecot.holds[ALICE], dovecot.meanwhile = CountedMailbox(2, 901), None
    api.clock.advance(minutes=1)
    assert await dovecot.count_all() == ([ALICE], (901, 2))


async def test_a_failed_count_changes_nothing(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE, used_bytes=700, message_count=2)
    dovecot.change(alice)
    for _ in range(2):
        assert await dovecot.count_all() == ([ALICE], (700, 2))


async def test_a_locked_mailbox_is_counted_in_the_next_round(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.change(alice)
    dovecot.holds[ALICE] = CountedMailbox(2, 900)
    async with api.app.db.tx() as other:
        await other.execute("SELECT id FROM mailboxes FOR UPDATE")
        assert await dovecot.count_all() == ([ALICE], (0, 0))
    assert await dovecot.count_all() == ([ALICE], (900, 2))


async def test_a_mailbox_with_an_arrival_is_counted_once_and_soon(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    await api.mailbox(f"bob@{EXAMPLE}")
    assert await dovecot.count_due() == ([], (900, 2))
    dovecot.change(alice)
    await dovecot.add_arrival(alice, 100)
    dovecot.holds[ALICE] = CountedMailbox(3, 1105)
    assert await dovecot.count_due() == ([ALICE], (1105, 3))
    assert await dovecot.count_due() == ([], (1105, 3))
    assert await dovecot.count_all() == ([], (1105, 3))


async def test_a_report_that_may_be_stale_is_followed_by_a_count(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    await dovecot.report(MailboxUsage(alice, api.clock(), 1000, 3, may_be_stale=True))
    assert await dovecot.count_due() == ([ALICE], (900, 2))


async def test_an_arrival_during_a_count_causes_another_one(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    await dovecot.add_arrival(alice, 100)
    dovecot.holds[ALICE] = CountedMailbox(3, 1005)
    dovecot.meanwhile = MailboxUsage(alice, api.clock() + timedelta(seconds=1), 1010, 4)
    assert await dovecot.count_due() == ([ALICE], (1010, 4))
    dovecot.holds[ALICE], dovecot.meanwhile = CountedMailbox(4, 1011), None
    assert await dovecot.count_due() == ([ALICE], (1011, 4))


async def test_a_mailbox_with_constant_arrivals_is_counted_nevertheless(api: Api, dovecot: Dovecot) -> None:
    alice = await counted_mailbox(api, dovecot)
    dovecot.holds[ALICE] = CountedMailbox(1, 50)
    seen: list[tuple[int, int]] = []
    for _ in range(12):
        await dovecot.add_arrival(alice, 100)
        dovecot.meanwhile = MailboxUsage(alice, api.clock() + timedelta(seconds=1), 7, 7)
        seen.append((await dovecot.count_due())[1])
    assert (50, 1) in seen[9:]


async def test_a_failed_count_is_retried_after_a_minute_and_delays_no_other(api: Api, dovecot: Dovecot) -> None:
    alice, bob = await counted_mailbox(api, dovecot), await api.mailbox(f"bob@{EXAMPLE}")
    dovecot.change(bob)
    await dovecot.add_arrival(bob, 50)
    assert (await dovecot.count_due())[0] == [f"bob@{EXAMPLE}"]
    for _ in range(58):
        await dovecot.add_arrival(alice, 100)
        await dovecot.add_arrival(bob, 50)
        assert await dovecot.count_due() == ([ALICE], (900, 2))
    assert await dovecot.count_due() == ([], (900, 2))
    dovecot.holds[f"bob@{EXAMPLE}"] = CountedMailbox(59, 5000)
    assert (await dovecot.count_due())[0] == [f"bob@{EXAMPLE}"]
    assert (await dovecot.count_due())[0] == []
    assert (await api.sql("SELECT used_bytes FROM mailboxes WHERE local_key = 'bob'")) == [{"used_bytes": 5000}]


async def test_a_due_mailbox_without_a_directory_is_empty(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    await dovecot.add_arrival(alice, 100)
    assert await dovecot.count_due() == ([], (0, 0))
    assert await api.sql("SELECT usage_count_due_at AS at FROM mailboxes") == [{"at": None}]


async def test_a_run_counts_at_most_one_batch(api: Api, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_DUE_BATCH", 2)
    for name in ("alice", "bob", "carol"):
        box = await api.mailbox(f"{name}@{EXAMPLE}")
        dovecot.change(box)
        dovecot.holds[f"{name}@{EXAMPLE}"] = CountedMailbox(1, 50)
        await dovecot.add_arrival(box, 40)
        api.clock.advance(seconds=1)
    assert (await dovecot.count_due())[0] == [f"{name}@{EXAMPLE}" for name in ("alice", "bob")]
    assert (await dovecot.count_due())[0] == [f"carol@{EXAMPLE}"]


async def test_counting_takes_a_tenth_of_the_time(api: Api, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    durations = iter([0.0, 0.1, Unavailable(), 1.5, KeyError(), 60.0])
    slept: list[float] = []

    async def count_due() -> float:
        seconds = next(durations)
        if isinstance(seconds, Exception):
            raise seconds
        return seconds

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 6:
            raise asyncio.CancelledError

    monkeypatch.setattr(UsageCounter, "count_due", lambda self: count_due())
    monkeypatch.setattr(counting, "asyncio", SimpleNamespace(sleep=sleep))
    with pytest.raises(asyncio.CancelledError):
        await dovecot.counter.keep_counting_due()
    assert slept == [2.0, 2.0, 2.0, 13.5, 2.0, 60.0]
