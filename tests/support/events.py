"""Emits events with arbitrary data, and checks readers of events."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast
from uuid import UUID

import msgspec
import psycopg

from mailkeep.features.record.events import service
from mailkeep.features.record.events.model import Event, EventPayload
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api


def sample_event(kind: str, domain_id: UUID | None, message_id: UUID | None, data: Mapping[str, Any]) -> Event:
    """An event of this kind, with data that the kind need not have."""
    names = {f"field_{number}": name for number, name in enumerate(data)}
    payload_type = msgspec.defstruct(
        "SamplePayload",
        [(field, Any) for field in names],
        bases=(EventPayload,),
        namespace={"kind": kind},
        rename=names,
        frozen=True,
        kw_only=True,
    )
    payload = cast(EventPayload, payload_type(**{field: data[name] for field, name in names.items()}))
    return Event(domain_id, message_id, payload)


async def emit(api: Api, kind: str = "mail.sent", domain: str | None = EXAMPLE, **data: Any) -> None:
    """Emit an event with this data in its own transaction."""
    async with api.app.db.tx() as conn:
        await service.emit(conn, api.clock(), sample_event(kind, DOMAIN_IDS[domain] if domain else None, None, data))


async def assert_each_event_read_once(api: Api, read: Callable[[random.Random], AsyncIterator[list[int]]]) -> None:
    """Concurrent transactions emit numbers `n`, some roll back; `read` yields the numbers that a reader gets."""
    chance = random.Random(8)
    emitted: list[int] = []
    done = asyncio.Event()

    async def write(seed: int) -> None:
        for number in range(12):
            async with api.app.db.tx() as conn:
                values = [seed * 1000 + number * 10 + each for each in range(chance.randint(1, 3))]
                for value in values:
                    event = sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": value})
                    await service.emit(conn, api.clock(), event)
                    await asyncio.sleep(chance.random() * 0.01)  # meanwhile others commit later IDs
                if chance.random() < 0.2:
                    raise psycopg.Rollback
                emitted.extend(values)

    async def read_all() -> list[int]:
        seen: list[int] = []
        async for numbers in read(chance):
            seen += numbers
            if done.is_set() and len(seen) >= len(emitted):
                break
            await asyncio.sleep(0.001)
        return seen

    reading = asyncio.create_task(read_all())
    await asyncio.gather(*(write(seed) for seed in range(5)))
    done.set()
    assert sorted(await asyncio.wait_for(reading, 60)) == sorted(emitted)
