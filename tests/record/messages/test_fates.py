"""Acceptance and fates, in whatever order they are written: the same record, `mail.sent` once and first."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.messages import service
from mailkeep.features.record.messages.model import DeliveryOutcome, Message, Recipient, ServerReply
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

SAID = ServerReply(250, "2.0.0", "Ok", "mx.test")
Act = Callable[[Conn, Message], Awaitable[object]]


def outbound(api: Api, *addresses: str, **columns: Any) -> Message:
    one = uuid7(api.clock())
    return Message(
        **{
            "id": one,
            "direction": "outbound",
            "message_id": f"<{one}@{EXAMPLE}>",
            "queue_id": None,
            "domain_id": DOMAIN_IDS[EXAMPLE],
            "domain_name": EXAMPLE,
            "mailbox_id": None,
            "source": "api",
            "admin_id": None,
            "api_key_id": None,
            "mail_from": f"shop@{EXAMPLE}",
            "from_address": f"shop@{EXAMPLE}",
            "to_addresses": list(addresses),
            "cc_addresses": [],
            "subject": "Order",
            "size": 1,
            "status": "submitting",
            "created_at": api.clock(),
            "recipients": [Recipient(address, "submitting") for address in addresses],
        }
        | columns
    )


async def begun(api: Api, message: Message) -> Message:
    async with api.app.db.tx() as conn:
        await service.insert_messages(conn, [message])
    return message


def accepted(api: Api) -> Act:
    return lambda conn, message: service.accept(conn, api.clock(), [(message, "Q1")], status="queued")


def fate(api: Api, to: str, status: Any, attempts: int = 1, queue_id: str | None = "Q1") -> Act:
    return lambda conn, message: service.record_outcome(
        conn, api.clock(), DeliveryOutcome(message.id, to, status, attempts, SAID, queue_id=queue_id)
    )


async def do(api: Api, message: Message, *acts: Act) -> None:
    for act in acts:
        async with api.app.db.tx() as conn:
            await act(conn, message)


async def found(api: Api, message_id: UUID) -> Message:
    async with api.app.db.autocommit() as conn:
        message = await service.find(conn, message_id)
    assert message is not None
    return message


async def kinds(api: Api, message_id: UUID) -> list[str]:
    rows = await api.sql("SELECT kind FROM events WHERE message_id = %(id)s ORDER BY tx, id", id=message_id)
    return [row["kind"] for row in rows]


async def test_acceptance_and_fates_commute(api: Api):
    acts = {
        "accept": accepted(api),
        "again": accepted(api),
        "delivered": fate(api, "a@x.test", "delivered"),
        "repeated": fate(api, "a@x.test", "delivered"),
        "bounced": fate(api, "b@x.test", "bounced"),
    }
    for order in itertools.permutations(acts):
        message = await begun(api, outbound(api, "a@x.test", "b@x.test", "c@x.test"))
        await do(api, message, *(acts[name] for name in order))
        record = await found(api, message.id)
        assert (record.status, record.queue_id) == ("partial", "Q1"), order
        assert [each.status for each in record.recipients] == ["delivered", "bounced", "queued"], order
        told = await kinds(api, message.id)
        assert told[0] == "mail.sent", order
        assert sorted(told[1:]) == ["mail.bounced", "mail.delivered"], order


async def test_acceptance_and_fates_at_the_same_time(api: Api):
    addresses = [f"{n}@x.test" for n in range(6)]
    for _ in range(10):
        message = await begun(api, outbound(api, *addresses))
        acts = [accepted(api), accepted(api), *(fate(api, each, "delivered") for each in addresses)]
        await asyncio.gather(*(do(api, message, act) for act in acts))
        assert (await found(api, message.id)).status == "delivered"
        assert (await kinds(api, message.id)) == ["mail.sent", *["mail.delivered"] * 6]


async def test_the_status_is_what_the_recipients_say(api: Api):
    message = await begun(api, outbound(api, "a@x.test", "b@x.test"))
    seen: list[str] = []
    for act in (
        accepted(api),
        fate(api, "a@x.test", "deferred"),
        fate(api, "b@x.test", "deferred"),
        fate(api, "a@x.test", "deferred", 2),
        fate(api, "a@x.test", "delivered", 3),
        fate(api, "b@x.test", "delivered", 2),
        fate(api, "b@x.test", "bounced", 3),  # too late: it is delivered
        fate(api, "a@x.test", "deferred", 1),  # and so is that
    ):
        await do(api, message, act)
        seen.append((await found(api, message.id)).status)
    assert seen == ["queued", "partial", "deferred", "deferred", "partial", "delivered", "delivered", "delivered"]
    # A deferral is told at the first time only.
    assert await kinds(api, message.id) == ["mail.sent", *["mail.bounced"] * 2, *["mail.delivered"] * 2]


async def test_an_answer_is_news_once_also_after_a_fate(api: Api):
    message = await begun(api, outbound(api, "a@x.test"))
    await do(api, message, fate(api, "a@x.test", "delivered"))
    async with api.app.db.tx() as conn:
        assert await service.accept(conn, api.clock(), [(message, "Q1")], status="queued") == [message.id]
    async with api.app.db.tx() as conn:
        assert await service.accept(conn, api.clock(), [(message, "Q1")], status="queued") == []
    assert await kinds(api, message.id) == ["mail.sent", "mail.delivered"]


async def test_a_lost_attempt_that_was_taken_after_all(api: Api):
    message = await begun(api, outbound(api, "a@x.test"))
    ended = [(message.id, "unknown", "connection lost")]
    async with api.app.db.tx() as conn:
        assert set(await service.end_submissions(conn, api.clock(), ended)) == {message.id}
        assert not await service.end_submissions(conn, api.clock(), ended)
    assert (await found(api, message.id)).status == "unknown"
    await do(api, message, fate(api, "a@x.test", "delivered"))
    assert (await found(api, message.id)).status == "delivered"
    async with api.app.db.tx() as conn:
        assert not await service.end_submissions(conn, api.clock(), [(message.id, "lost", None)])
    assert await kinds(api, message.id) == ["mail.sent", "mail.delivered"]


async def test_a_fate_of_nobody_says_nothing(api: Api):
    message = await begun(api, outbound(api, "a@x.test"))
    await do(api, message, accepted(api), fate(api, "stranger@x.test", "bounced"))
    await do(api, outbound(api, "a@x.test"), fate(api, "a@x.test", "bounced"))  # never begun
    assert await kinds(api, message.id) == ["mail.sent"]
    assert (await found(api, message.id)).status == "queued"
