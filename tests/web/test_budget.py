"""The memory budget of request bodies: bounded, first come first served, and always released."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.web import body as bodies
from mailkeep.web.memory_budget import SMALL, MemoryBudget, MemoryReservation
from tests.support.caller import Answer
from tests.web.pipeline_setup import ADA_KEY, API, JSON_TYPE, PipelineSetup

MIB = 1 << 20
HEADERS = ADA_KEY | JSON_TYPE


@pytest.fixture
def setup() -> PipelineSetup:
    setup = PipelineSetup(message_size_mb=2, body_budget_mb=4)
    setup.pipeline._budget = MemoryBudget(4 * MIB, wait_seconds=0.2)
    return setup


def send(setup: PipelineSetup, size: int, pause: float = 0, **headers: str) -> asyncio.Task[Answer]:
    """Send a body in four chunks."""
    chunks = [b'"', b" " * (size // 2), b" " * (size - size // 2 - 2), b'"']
    return asyncio.create_task(setup.call("POST", f"{API}/large", HEADERS | headers, chunks, pause))


def send_with_length(setup: PipelineSetup, size: int, pause: float = 0) -> asyncio.Task[Answer]:
    return send(setup, size, pause, **{"content-length": str(size)})


async def outcomes(*tasks: asyncio.Task[Answer]) -> list[tuple[int, str | None]]:
    return [(answer.status, answer.code) for answer in await asyncio.gather(*tasks)]


async def test_bodies_over_the_budget_wait_and_then_get_retry_after(setup: PipelineSetup):
    accepted = [send_with_length(setup, 2 * MIB, pause=0.3) for _ in range(2)]
    await asyncio.sleep(0.05)
    late = await send_with_length(setup, 2 * MIB)
    assert (late.status, late.code, late.headers["retry-after"]) == (503, "UNAVAILABLE", "5")
    # The route accepts no fields: this refusal means that the bodies were read.
    assert await outcomes(*accepted) == [(400, "INVALID_FIELD")] * 2
    assert setup.pipeline._budget.free == 4 * MIB


async def test_a_waiting_body_is_read_when_another_is_done(setup: PipelineSetup):
    setup.pipeline._budget = MemoryBudget(4 * MIB, wait_seconds=30)
    tasks = [send_with_length(setup, 2 * MIB, pause=0.005) for _ in range(6)]
    assert await outcomes(*tasks) == [(400, "INVALID_FIELD")] * 6


async def test_small_bodies_never_wait(setup: PipelineSetup):
    large = [send_with_length(setup, 2 * MIB, pause=3600) for _ in range(2)]
    await asyncio.sleep(0.05)
    assert setup.pipeline._budget.free == 0
    small = await send_with_length(setup, SMALL)
    assert (small.status, small.code) == (400, "INVALID_FIELD")
    for each in large:
        each.cancel()
    await asyncio.wait(large)


async def test_bodies_of_unknown_size_never_wait_for_each_other(setup: PipelineSetup):
    """Each reserves the maximum at once and releases what it does not use."""
    setup.pipeline._budget = MemoryBudget(4 * MIB, wait_seconds=30)
    assert await outcomes(*[send(setup, 2 * MIB - 8, pause=0.01) for _ in range(4)]) == [(400, "INVALID_FIELD")] * 4
    assert setup.pipeline._budget.free == 4 * MIB


async def test_a_body_larger_than_the_budget_gets_all_of_it(setup: PipelineSetup):
    setup.pipeline._budget = MemoryBudget(MIB, wait_seconds=0.2)
    assert await outcomes(send_with_length(setup, 2 * MIB - 8)) == [(400, "INVALID_FIELD")]
    assert setup.pipeline._budget.free == MIB


async def test_memory_is_released_however_a_request_ends(setup: PipelineSetup, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(bodies, "_GRACE_SECONDS", 0.1)
        slow = await send_with_length(setup, 2 * MIB, pause=0.2)
    assert slow.code == "INVALID_JSON"
    cut = send_with_length(setup, 2 * MIB, pause=3600)
    await asyncio.sleep(0.05)
    assert setup.pipeline._budget.free == 2 * MIB
    cut.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cut
    assert setup.pipeline._budget.free == 4 * MIB


async def test_memory_is_released_when_the_client_disconnects(setup: PipelineSetup):
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": f"{API}/large",
        "raw_path": f"{API}/large".encode(),
        "query_string": b"",
        "headers": [(k.encode(), v.encode()) for k, v in (HEADERS | {"content-length": str(MIB)}).items()],
        "client": ("192.0.2.1", 1),
        "scheme": "http",
    }

    async def receive() -> dict[str, Any]:
        assert setup.pipeline._budget.free == 3 * MIB
        return {"type": "http.disconnect"}

    async def send_nothing(_: Any) -> None:
        raise AssertionError("the client is gone")

    await setup.pipeline(scope, receive, send_nothing)
    assert setup.pipeline._budget.free == 4 * MIB


async def test_requests_without_credentials_have_a_separate_budget(setup: PipelineSetup):
    body = b'{"text": "' + b"x" * (2 * SMALL) + b'"}'
    await setup.pipeline._budget.acquire(4 * MIB)
    answer = await setup.call("POST", f"{API}/login", JSON_TYPE | {"content-length": str(len(body))}, [body])
    assert answer.code != "UNAVAILABLE"
    setup.pipeline._budget.release(4 * MIB)
    reservations = [MemoryReservation(setup.pipeline._budget) for _ in range(16)]
    for reservation in reservations:
        reservation.use_budget(setup.pipeline._anonymous_budget)
        await reservation.reserve(MIB)
    assert (setup.pipeline._anonymous_budget.free, setup.pipeline._budget.free) == (0, 4 * MIB)
    for reservation in reservations:
        reservation.release()
    assert setup.pipeline._anonymous_budget.free == 16 * MIB


async def test_memory_is_acquired_in_order():
    budget = MemoryBudget(10, wait_seconds=60)
    order: list[str] = []
    assert await budget.acquire(8) == 8

    async def acquire(name: str, size: int) -> None:
        await budget.acquire(size)
        order.append(name)

    first = asyncio.create_task(acquire("first", 6))
    await asyncio.sleep(0)
    second = asyncio.create_task(acquire("second", 1))  # would fit now
    await asyncio.sleep(0.01)
    assert order == []
    budget.release(8)
    await asyncio.gather(first, second)
    assert order == ["first", "second"]
    assert budget.free == 3


async def test_a_cancelled_request_lets_the_next_one_pass():
    budget = MemoryBudget(10, wait_seconds=60)
    await budget.acquire(8)
    first = asyncio.create_task(budget.acquire(6))
    await asyncio.sleep(0)
    second = asyncio.create_task(budget.acquire(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await asyncio.wait_for(second, 30) == 2
    assert budget.free == 0


async def test_cancellations_and_timeouts_keep_the_budget_exact():
    chance = random.Random(12)
    budget = MemoryBudget(100, wait_seconds=0.01)

    async def one() -> None:
        reservation = MemoryReservation(budget)
        try:
            async with asyncio.timeout(chance.choice((0.0, 0.003, 1))):
                await reservation.reserve(SMALL + chance.randrange(200))
                assert 0 <= budget.free < 100
                await asyncio.sleep(chance.choice((0, 0.001, 0.004)))
        except (Unavailable, TimeoutError):
            pass
        finally:
            reservation.shrink(chance.randrange(50))
            reservation.release()

    await asyncio.gather(*(one() for _ in range(300)))
    assert budget.free == 100


async def test_a_body_must_arrive_at_a_minimum_rate(setup: PipelineSetup, monkeypatch: pytest.MonkeyPatch):
    """A client that sends a byte now and then would hold its memory for hours."""
    monkeypatch.setattr(bodies, "_GRACE_SECONDS", 0.2)
    headers = HEADERS | {"content-length": "1000000"}
    slow_body = await setup.call("POST", f"{API}/large", headers, [b" "] * 100, pause=0.02)
    assert (slow_body.status, slow_body.code) == (400, "INVALID_JSON")
    assert "32768 bytes per second" in slow_body.json["error"]["message"]

    def chunks() -> Iterator[bytes]:
        # The first chunk covers pauses of the machine; the rest takes longer than `_GRACE_SECONDS`.
        yield b" " * MIB
        for _ in range(4):
            time.sleep(0.1)
            yield b" " * 8192

    steady = await setup.call("POST", f"{API}/large", HEADERS, chunks())
    assert steady.json["error"]["message"] != slow_body.json["error"]["message"]
