"""Messages of the message history, and the steps of their delivery."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from mailkeep.db.pool import Conn
from mailkeep.features.record.messages import service
from mailkeep.features.record.messages.model import (
    DeliveryOutcome,
    HeaderSummary,
    Message,
    MessageDomain,
    ServerReply,
)
from mailkeep.features.record.messages.rules import outbound_message
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

Step = Callable[[Conn, Message], Awaitable[object]]


def outbound(api: Api, *addresses: str, **columns: Any) -> Message:
    """A message of the API to these recipients, not inserted yet."""
    sender = f"shop@{EXAMPLE}"
    header = HeaderSummary("", sender, list(addresses), [], "Order", 1)
    domain = MessageDomain(DOMAIN_IDS[EXAMPLE], EXAMPLE)
    row = outbound_message(api.clock(), "api", domain, header, sender, addresses)
    # The API also sets the Message-ID from the ID; the log refers to it.
    return replace(row, **{"message_id": f"<{row.id}@{EXAMPLE}>", **columns})


async def insert(api: Api, message: Message) -> Message:
    async with api.app.db.tx() as conn:
        await service.insert_messages(conn, [message])
    return message


def acceptance(api: Api) -> Step:
    return lambda conn, message: service.accept(conn, api.clock(), [(message, "Q1")], status="queued")


def outcome(api: Api, to: str, status: Any, attempts: int = 1, queue_id: str | None = "Q1") -> Step:
    reply = ServerReply(250, "2.0.0", "Ok", "mx.test")
    return lambda conn, message: service.record_outcome(
        conn, api.clock(), DeliveryOutcome(message.id, to, status, attempts, reply, queue_id=queue_id)
    )


async def run_steps(api: Api, message: Message, *steps: Step) -> None:
    """Run each step in its own transaction."""
    for step in steps:
        async with api.app.db.tx() as conn:
            await step(conn, message)
