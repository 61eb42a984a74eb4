"""Acceptance and delivery outcomes, recorded in any order: the same record, with one `mail.sent` before all others."""

from __future__ import annotations

import asyncio
import itertools
from uuid import UUID

from mailkeep.features.record.messages import service
from mailkeep.features.record.messages.model import Message
from tests.support.client import Api
from tests.support.messages import acceptance, insert, outbound, outcome, run_steps


async def load(api: Api, message_id: UUID) -> Message:
    async with api.app.db.autocommit() as conn:
        message = await service.find(conn, message_id)
    assert message is not None
    return message


async def event_kinds(api: Api, message_id: UUID) -> list[str]:
    rows = await api.sql("SELECT kind FROM events WHERE message_id = %(id)s ORDER BY tx, id", id=message_id)
    return [row["kind"] for row in rows]


async def test_acceptance_and_outcomes_commute(api: Api):
    steps = {
        "accept": acceptance(api),
        "again": acceptance(api),
        "delivered": outcome(api, "a@x.test", "delivered"),
        "repeated": outcome(api, "a@x.test", "delivered"),
        "bounced": outcome(api, "b@x.test", "bounced"),
    }
    for order in itertools.permutations(steps):
        message = await insert(api, outbound(api, "a@x.test", "b@x.test", "c@x.test"))
        await run_steps(api, message, *(steps[name] for name in order))
        record = await load(api, message.id)
        assert (record.status, record.queue_id) == ("partial", "Q1"), order
        assert [each.status for each in record.recipients] == ["delivered", "bounced", "queued"], order
        kinds = await event_kinds(api, message.id)
        assert kinds[0] == "mail.sent", order
        assert sorted(kinds[1:]) == ["mail.bounced", "mail.delivered"], order


async def test_acceptance_and_outcomes_at_the_same_time(api: Api):
    addresses = [f"{n}@x.test" for n in range(6)]
    for _ in range(10):
        message = await insert(api, outbound(api, *addresses))
        steps = [acceptance(api), acceptance(api), *(outcome(api, each, "delivered") for each in addresses)]
        await asyncio.gather(*(run_steps(api, message, step) for step in steps))
        assert (await load(api, message.id)).status == "delivered"
        assert (await event_kinds(api, message.id)) == ["mail.sent", *["mail.delivered"] * 6]


async def test_a_message_has_the_common_status_of_its_recipients(api: Api):
    message = await insert(api, outbound(api, "a@x.test", "b@x.test"))
    statuses: list[str] = []
    for step in (
        acceptance(api),
        outcome(api, "a@x.test", "deferred"),
        outcome(api, "b@x.test", "deferred"),
        outcome(api, "a@x.test", "deferred", 2),
        outcome(api, "a@x.test", "delivered", 3),
        outcome(api, "b@x.test", "delivered", 2),
        outcome(api, "b@x.test", "bounced", 3),  # ignored: b is delivered
        outcome(api, "a@x.test", "deferred", 1),  # ignored: a is delivered
    ):
        await run_steps(api, message, step)
        statuses.append((await load(api, message.id)).status)
    assert statuses == ["queued", "partial", "deferred", "deferred", "partial", "delivered", "delivered", "delivered"]
    # Only the first deferral of each recipient emits an event.
    assert await event_kinds(api, message.id) == ["mail.sent", *["mail.bounced"] * 2, *["mail.delivered"] * 2]


async def test_a_reply_after_an_outcome_is_recorded_once(api: Api):
    message = await insert(api, outbound(api, "a@x.test"))
    await run_steps(api, message, outcome(api, "a@x.test", "delivered"))
    for expected in ([message.id], []):
        async with api.app.db.tx() as conn:
            assert await service.accept(conn, api.clock(), [(message, "Q1")], status="queued") == expected
    assert await event_kinds(api, message.id) == ["mail.sent", "mail.delivered"]


async def test_an_unknown_submission_that_was_accepted(api: Api):
    message = await insert(api, outbound(api, "a@x.test"))
    ended = [(message.id, "unknown", "connection lost")]
    async with api.app.db.tx() as conn:
        assert set(await service.end_submissions(conn, api.clock(), ended)) == {message.id}
        assert not await service.end_submissions(conn, api.clock(), ended)
    assert (await load(api, message.id)).status == "unknown"
    await run_steps(api, message, outcome(api, "a@x.test", "delivered"))
    assert (await load(api, message.id)).status == "delivered"
    async with api.app.db.tx() as conn:
        assert not await service.end_submissions(conn, api.clock(), [(message.id, "lost", None)])
    assert await event_kinds(api, message.id) == ["mail.sent", "mail.delivered"]


async def test_outcomes_of_unknown_recipients_and_messages_are_ignored(api: Api):
    message = await insert(api, outbound(api, "a@x.test"))
    await run_steps(api, message, acceptance(api), outcome(api, "stranger@x.test", "bounced"))
    await run_steps(api, outbound(api, "a@x.test"), outcome(api, "a@x.test", "bounced"))  # never inserted
    assert await event_kinds(api, message.id) == ["mail.sent"]
    assert (await load(api, message.id)).status == "queued"
