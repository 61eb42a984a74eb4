"""Sends that come at the same time are written in one statement, and are none of each other's business."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from mailkeep.app import App
from mailkeep.core.errors import Refusal
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse.model import SendVerdict
from mailkeep.features.mailflow.sending import store, writes
from mailkeep.features.mailflow.sending.model import SendAttempt
from mailkeep.settings import Settings
from mailkeep.settings.tree import AbuseSettings
from tests.plugins.api import NO_RATE_LIMITS
from tests.plugins.post import Post
from tests.support.caller import Answer
from tests.support.client import EXAMPLE, reason
from tests.support.statements import trace_statements

SENDER = 10


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, abuse=AbuseSettings(sender_per_hour=SENDER, domain_per_hour=1000))


async def send_all(post: Post, *senders: str) -> list[Answer]:
    """A letter of each of them, all at the same time."""
    letters = (post.send(**{"from": {"email": f"{sender}@{EXAMPLE}"}, "subject": sender}) for sender in senders)
    return await asyncio.gather(*letters)


CALLERS = {"begin": "begin", "mark_accepted": "record_results"}
"""The function of `writes` that asks for each write of `store`."""


def hold(monkeypatch: pytest.MonkeyPatch, name: str, calls: int) -> None:
    """The first write of its kind goes on when that many have asked for theirs: however slowly they come."""
    ask, real = getattr(writes, CALLERS[name]), getattr(store, name)
    asked: list[None] = []

    async def noted(*args: Any) -> Any:
        asked.append(None)
        return await ask(*args)

    async def held(*args: Any) -> Any:
        async with asyncio.timeout(60):
            while len(asked) < calls:
                await asyncio.sleep(0.001)
        return await real(*args)

    monkeypatch.setattr(writes, CALLERS[name], noted)
    monkeypatch.setattr(store, name, held)


async def subjects(post: Post) -> list[str]:
    """Of what was sent, by its events."""
    return sorted(data["subject"] for kind, data in await post.events() if kind == "mail.sent")


async def test_twenty_concurrent_sends_are_few_statements_with_complete_records(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    await post.send()  # connections and plans are made
    names = [f"sender{number:02}" for number in range(20)]
    for write in ("begin", "mark_accepted"):
        hold(monkeypatch, write, len(names))
    with trace_statements(monkeypatch) as statements:
        answers = await send_all(post, *names)
    assert {answer.status for answer in answers} == {200}
    asked = Counter(statement.name for statement in statements.own)
    assert asked["sessions.find_active"] == 20
    assert 1 <= asked["sending.begin"] <= 2
    assert 1 <= asked["sending.mark_accepted"] <= 2
    assert len({answer.json["data"]["id"] for answer in answers}) == 20
    assert await subjects(post) == sorted([*names, "Your order"])
    assert len(await post.api.audit_entries("message.send")) == 21
    counted = await post.api.sql("SELECT subject, recipients FROM send_counts WHERE subject LIKE 'sender%%'")
    assert {row["recipients"] for row in counted} == {1}
    assert len(counted) == 20


async def test_one_that_is_suspended_by_its_rate_holds_up_nobody(post: Post):
    assert {answer.status for answer in await send_all(post, *["busy"] * SENDER)} == {200}
    answers = await send_all(post, "anna", "busy", "bert", "busy", "carl")
    assert [answer.status for answer in answers][::2] == [200] * 3
    assert sorted(answer.status for answer in answers[1::2]) == [403, 429]
    assert {reason(answer) for answer in answers if answer.status == 429} == {"sender_rate"}
    assert [kind for kind, _ in await post.events()].count("system.suspension") == 1
    assert await subjects(post) == sorted([*["busy"] * SENDER, "anna", "bert", "carl"])
    after = await send_all(post, "anna", "busy", "bert")
    assert [answer.status for answer in after] == [200, 403, 200]


@pytest.mark.parametrize("name", ["begin", "mark_accepted"])
async def test_a_message_that_the_database_refuses_fails_alone(post: Post, monkeypatch: pytest.MonkeyPatch, name: str):
    ask, real = getattr(writes, CALLERS[name]), getattr(store, name)
    groups: list[int] = []
    asked: list[None] = []

    async def noted(*args: Any) -> Any:
        asked.append(None)
        return await ask(*args)

    async def picky(conn: Conn, *args: Any) -> Any:
        given = args[2]  # ids, or what was accepted
        ids = [each["id"] if isinstance(each, dict) else each for each in given]
        found = await post.api.sql("SELECT id FROM messages WHERE subject = 'bad'")
        bad = {row["id"] for row in found} if name == "mark_accepted" else await ids_of_bad(args)
        groups.append(len(ids))
        async with asyncio.timeout(60):
            while len(asked) < 5:  # so the others wait for the first of them
                await asyncio.sleep(0.001)
        if bad & set(ids):
            raise errors.CheckViolation("not this one")
        return await real(conn, *args)

    async def ids_of_bad(args: Sequence[Any]) -> set[UUID]:
        return {UUID(str(row["id"])) for row in args[3]["messages"].obj if row["subject"] == "bad"}

    monkeypatch.setattr(writes, CALLERS[name], noted)
    monkeypatch.setattr(store, name, picky)
    answers = await send_all(post, "anna", "bert", "bad", "carl", "dora")
    assert [answer.status for answer in answers] == [200, 200, 500, 200, 200]
    assert max(groups) > 1
    assert await subjects(post) == ["anna", "bert", "carl", "dora"]


async def test_a_call_of_another_minute_is_counted_in_its_own(post: Post, monkeypatch: pytest.MonkeyPatch):
    begin, write = writes.begin, store.begin
    going_on = asyncio.Event()
    begun: list[datetime] = []
    groups: list[int] = []

    async def noted(app: App, who: Principal, at: datetime, attempts: Sequence[SendAttempt]) -> dict[UUID, Refusal]:
        begun.append(at)
        return await begin(app, who, at, attempts)

    async def held(*args: Any) -> list[SendVerdict]:
        groups.append(len(args[3]))
        await going_on.wait()
        return await write(*args)

    monkeypatch.setattr(writes, "begin", noted)
    monkeypatch.setattr(store, "begin", held)
    post.api.clock.advance(seconds=58 - post.api.clock().second)
    calls: list[asyncio.Task[Answer]] = []
    for number in range(3):
        post.api.clock.advance(seconds=number)  # 58, 59 and 61 seconds: while the first is written, two wait for it
        calls.append(asyncio.create_task(post.send(subject=str(number))))
        async with asyncio.timeout(60):
            while len(begun) <= number or not groups:
                await asyncio.sleep(0.001)
    going_on.set()
    assert [(await call).status for call in calls] == [200] * 3
    assert groups == [1, 1]
    rows = await post.api.sql("SELECT minute, recipients FROM send_counts WHERE subject LIKE 'shop@%%' ORDER BY minute")
    assert [row["recipients"] for row in rows] == [2, 1]
    assert rows[1]["minute"] - rows[0]["minute"] == timedelta(minutes=1)
