"""Digest mail about Junk: when it is due, what it lists, and that each period leaves once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from mailkeep.core import failpoint
from mailkeep.features.mailflow.junk import jobs, rules
from mailkeep.features.mailflow.system_mail_delivery.jobs import SystemMailWorker
from mailkeep.features.record.system_mail.texts import defang
from tests.plugins.post import Post
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api
from tests.support.junk import insert_junk

ALICE = f"alice@{EXAMPLE}"
EVENING = datetime(2026, 3, 1, 18, tzinfo=UTC)  # a Sunday
DENIED = {"scope": "domain", "rule": "deny_entry", "entry_id": None}


@pytest.fixture(autouse=True)
def time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server's: one hour before UTC in winter, two in summer, which begins on 29 March."""
    with monkeypatch.context() as context:
        context.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def api(api: Api) -> Api:
    api.clock.now = EVENING
    return api


async def set_digest(
    api: Api, digest: str | None, *, mailbox_id: UUID | None = None, domain_id: UUID | None = None
) -> None:
    await api.sql(
        """
        INSERT INTO filter_settings (domain_id, mailbox_id, digest, updated_at)
        VALUES (%(domain_id)s, %(mailbox_id)s, %(digest)s, %(at)s)
        ON CONFLICT ON CONSTRAINT filter_settings_unique DO UPDATE SET digest = excluded.digest
        """,
        domain_id=domain_id, mailbox_id=mailbox_id, digest=digest, at=api.clock(),
    )  # fmt: skip


async def digests(api: Api) -> list[dict[str, Any]]:
    rows = await api.sql("SELECT recipient, items FROM system_mail WHERE kind = 'junk_digest' ORDER BY recipient")
    await api.sql("DELETE FROM system_mail")
    return [{"to": row["recipient"], **row["items"][0]} for row in rows]


async def run_at(api: Api, *when: int) -> list[dict[str, Any]]:
    """The digests that leave at a time (month, day, hour, minute; local time)."""
    api.clock.now = datetime(2026, *when).astimezone(UTC)  # type: ignore[arg-type]
    await jobs.send_digests(api.app)
    return await digests(api)


async def test_daily_and_weekly_digests_list_what_came_since_the_last_one(api: Api):
    alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
    await api.mailbox(f"olga@{OTHER}")  # without digests
    await set_digest(api, "weekly", domain_id=DOMAIN_IDS[EXAMPLE])
    await set_digest(api, "daily", mailbox_id=bob)
    await insert_junk(api, bob, subject="before")  # before the digest was on
    assert await run_at(api, 3, 1, 19, 5) == []
    first = await insert_junk(api, alice, subject="first")
    refused = await insert_junk(api, bob, subject="refused", spam_action="reject")
    await insert_junk(api, bob, subject="denied", spam_action="reject", spam_decided_by=DENIED)
    await insert_junk(api, bob, subject="denied, in Junk", spam_decided_by=DENIED)
    assert await run_at(api, 3, 2, 6, 59) == []
    [of_alice, of_bob] = await run_at(api, 3, 2, 7, 1)  # a Monday
    assert (of_alice["to"], of_alice["digest"], of_alice["more"]) == (ALICE, "weekly", 0)
    assert [each["subject"] for each in of_alice["messages"]] == [first.subject]
    assert (of_bob["digest"], [each["subject"] for each in of_bob["messages"]]) == ("daily", [refused.subject])
    assert of_bob["messages"][0]["result"] == "refused"
    assert await run_at(api, 3, 2, 7, 2) == await run_at(api, 3, 2, 19, 0) == []
    for mailbox_id in (alice, bob):
        await insert_junk(api, mailbox_id, subject="second")
    assert [each["to"] for each in await run_at(api, 3, 3, 7, 1)] == [f"bob@{EXAMPLE}"]
    assert await run_at(api, 3, 4, 7, 1) == []  # nothing new
    await set_digest(api, "off", mailbox_id=alice)
    assert await run_at(api, 3, 9, 7, 1) == []


async def test_a_missed_hour_is_made_up_for_on_the_same_day_or_the_next(api: Api):
    alice = await api.mailbox(ALICE)
    await set_digest(api, "daily", mailbox_id=alice)
    assert await run_at(api, 3, 1, 19, 0) == []
    await insert_junk(api, alice)
    assert len(await run_at(api, 3, 2, 19, 59)) == 1
    await insert_junk(api, alice)
    assert await run_at(api, 3, 3, 20, 1) == []
    assert len(await run_at(api, 3, 4, 9, 0)) == 1


def test_each_day_has_one_time_also_when_clocks_change():
    for year_day in (datetime(2026, 3, 27, tzinfo=UTC), datetime(2026, 10, 23, tzinfo=UTC)):
        for weekly, expected in ((False, 6), (True, 2)):
            hours = [year_day + timedelta(hours=hour) for hour in range(24 * 6)]
            times = sorted({rules.last_digest_time(hour, weekly=weekly) for hour in hours})
            assert all(hour - rules.last_digest_time(hour, weekly=weekly) < timedelta(days=8) for hour in hours)
            assert [each.astimezone().hour for each in times] == [7] * len(times)
            assert len(times) in (expected, expected + 1)
            assert not weekly or all(each.weekday() == 0 for each in times)


async def test_several_workers_and_a_crash_send_each_digest_once(api: Api, monkeypatch: pytest.MonkeyPatch):
    alice = await api.mailbox(ALICE)
    await set_digest(api, "daily", domain_id=DOMAIN_IDS[EXAMPLE])
    others = [await api.mailbox(f"box{number}@{EXAMPLE}") for number in range(5)]
    monkeypatch.setattr(jobs, "_BATCH", 2)
    await run_at(api, 3, 1, 19, 0)
    for mailbox_id in (alice, *others):
        await insert_junk(api, mailbox_id)
    api.clock.now = datetime(2026, 3, 2, 7, 30).astimezone(UTC)

    def kill(name: str) -> None:
        raise OSError(f"killed at {name}")

    with monkeypatch.context() as context:
        context.setattr(failpoint, "reach", kill)
        with pytest.raises(OSError, match=r"killed at junk\.digests_queued"):
            await jobs.send_digests(api.app)
    assert await digests(api) == []
    await asyncio.gather(*(jobs.send_digests(api.app) for _ in range(4)))
    await jobs.send_digests(api.app)
    assert [each["to"] for each in await digests(api)] == [ALICE, *(f"box{number}@{EXAMPLE}" for number in range(5))]


async def test_the_mail_is_plain_capped_and_has_no_foreign_links(post: Post):
    api = post.api
    api.clock.now = EVENING
    alice = await api.mailbox(ALICE)
    await set_digest(api, "daily", mailbox_id=alice)
    await run_at(api, 3, 1, 19, 0)
    gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
    for _ in range(50):
        await insert_junk(api, alice)
    await insert_junk(api, alice, subject=gtube, spam_action="reject", from_address="evil@www.evil.test")
    await insert_junk(api, alice, subject="Win at https://evil.test/x\r\n\r\nClick", spam_decided_by=None)
    api.clock.now = datetime(2026, 3, 2, 7, 30).astimezone(UTC)
    assert await jobs.send_digests(api.app) == 1
    await SystemMailWorker(api.app).drain()
    await post.run_queue()
    [mail] = post.mail_of(alice)  # in the inbox, not in Junk
    payload = mail.get_payload(decode=True)
    assert isinstance(payload, bytes)
    text = payload.decode().replace("\r\n", "\n")
    assert (mail["Subject"], mail["Auto-Submitted"]) == ("New mail in Junk", "auto-generated")
    assert text.count("    ") == 0
    assert text.count(", shop[at]elsewhere[.]test\n  Offer\n  Why: spam score 7.5\n") == 48
    assert "\nAnd 2 more.\n" in text
    assert "evil[at]www[.]evil[.]test" in text
    assert "Win at https[:]//evil[.]test/x Click" in text
    assert [word for word in text.split() if "://" in word] == ["http://localhost:8080/me"]
    assert (await api.dora.get(f"/mailboxes/{alice}/junk", result="junk")).data[0]["subject"] != "New mail in Junk"
    assert await api.sql("SELECT FROM messages WHERE source = 'mailkeep' AND spam_action IS NOT NULL") == []


@pytest.mark.parametrize(
    "text,safe",
    [
        ("Visit http://evil.test:8080/x?y=a.b now", "Visit http[:]//evil[.]test[:]8080/x?y=a[.]b now"),
        ("www。evil．test", "www[.]evil[.]test"),
        ("www｡evil｡test", "www[.]evil[.]test"),
        ("a@b.test, mailto:c@d", "a[at]b[.]test, mailto[:]c[at]d"),
        ("one\r\ntwo\u2028three\x00\u202egnp.exe\u200b", "one two threegnp[.]exe"),
        ("x" * 61, "x" * 60 + "…"),
        ("At 12:30. Re: lunch", "At 12:30. Re: lunch"),
        ("\n", ""),
    ],
)
def test_foreign_text_has_no_links(text: str, safe: str):
    assert defang(text) == safe


async def test_many_mailboxes_take_few_statements(api: Api):
    """Not one for each mailbox: a batch of a hundred takes as many as a batch of one."""
    await set_digest(api, "daily", domain_id=DOMAIN_IDS[EXAMPLE])
    counted: list[int] = []
    for day, mailboxes in ((2, 1), (3, 80)):
        boxes = [await api.mailbox(f"box{day}-{number}@{EXAMPLE}") for number in range(mailboxes)]
        await run_at(api, 3, day - 1, 19, 0)
        for mailbox_id in boxes:
            await insert_junk(api, mailbox_id, content=b"")
        api.clock.now = datetime(2026, 3, day, 7, 30).astimezone(UTC)
        counted.append(await count_statements(api))
        assert len(await digests(api)) == mailboxes
    assert counted[0] == counted[1] < 20


async def count_statements(api: Api) -> int:
    """How many statements the digests take."""
    number, execute = 0, AsyncConnection.execute

    async def count(self: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal number
        number += 1
        return await execute(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as context:
        context.setattr(AsyncConnection, "execute", count)
        await jobs.send_digests(api.app)
    return number
