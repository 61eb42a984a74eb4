"""Messages per second: /send and /send/batch of the running product, into an SMTP sink and into the sandbox.

`/send` by 10 clients with one message of 2 KB each, `/send/batch` by 10 with 100 each. Compared with our SMTP client
alone (same bytes, same sink) and with a plain program (Starlette, pydantic, EmailMessage, aiosmtplib) that stores
nothing. CPU per message of the product and of its PostgreSQL. Medians of interleaved rounds. No promise, because there
is no real MTA. `python -m bench.send_rate [MESSAGES]`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import NamedTuple

import uvloop

from bench.rig.calls import Server, call_all, cpu_of, cpu_of_children
from bench.rig.sends import Product, message
from bench.smtp_submit import CONNECTIONS, ENVELOPE, SMALL, Child
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool

ROUNDS = 5
BATCH = 100


class Way(NamedTuple):
    """`send` sends that many messages; `pid` is the program, whose children include its database."""

    send: Callable[[int], Awaitable[object]]
    pid: int | None = None


class Round(NamedTuple):
    rate: float
    cpu: float  # of the program, seconds per message
    database: float


def product_way(product: Product, batch: int) -> Way:
    one = message()
    body = json.dumps(one if batch == 1 else {"messages": [one] * batch}).encode()
    path = "/api/v1/send" if batch == 1 else "/api/v1/send/batch"

    async def send(count: int) -> None:
        answers = await call_all(product.port, "POST", path, product.headers, [body] * (count // batch), CONNECTIONS)
        if batch > 1:
            assert all(json.loads(answer)["data"]["failed"] == 0 for answer in answers)

    return Way(send, product.pid)


def plain_way(server: Server) -> Way:
    body = json.dumps(message()).encode()
    return Way(
        lambda count: call_all(server.ports[0], "POST", "/api/v1/send", {}, [body] * count, CONNECTIONS),
        server.process.pid,
    )


def client_way(pool: SmtpPool) -> Way:
    async def send(count: int) -> None:
        async def work() -> None:
            for _ in range(count // CONNECTIONS):
                await pool.submit(ENVELOPE, [SMALL], stuffed=True)

        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))

    return Way(send)


async def once(way: Way, count: int) -> Round:
    before = used(way.pid)
    start = time.perf_counter()
    await way.send(count)
    seconds = time.perf_counter() - start
    program, database = (after - first for after, first in zip(used(way.pid), before, strict=True))
    return Round(count / seconds, program / count, database / count)


def used(pid: int | None) -> tuple[float, float]:
    """CPU seconds of the program and of its database."""
    return (cpu_of(pid), cpu_of_children(pid)) if pid else (0.0, 0.0)


async def main(count: int) -> None:
    sink = Child("sink")
    other = Server(["bench.rig.sends", str(sink.port)])
    products = [Product(sink.port), Product(None)]
    pool = SmtpPool(Relay("127.0.0.1", sink.port), size=CONNECTIONS)
    to_sink, to_sandbox = products
    ways = {
        "our SMTP client alone": client_way(pool),
        "plain program, 10 clients": plain_way(other),
        "/send, 10 clients": product_way(to_sink, 1),
        "/send/batch, 10 × 100": product_way(to_sink, BATCH),
        "/send into the sandbox": product_way(to_sandbox, 1),
        "/send/batch into the sandbox": product_way(to_sandbox, BATCH),
    }
    rounds: dict[str, list[Round]] = {name: [] for name in ways}
    try:
        for turn in range(ROUNDS + 1):
            for name, way in ways.items():
                done = await once(way, count)
                if turn:  # the first warms up
                    rounds[name].append(done)
    finally:
        await pool.close()
        for product in products:
            product.end()
        other.end()
        sink.end()
    report(rounds, count)


def report(rounds: dict[str, list[Round]], count: int) -> None:
    print(f"{ROUNDS} rounds of {count} messages of 2 KB{'CPU µs':>19}{'PostgreSQL':>12}")
    medians = {name: Round(*(median(column) for column in zip(*runs, strict=True))) for name, runs in rounds.items()}
    for name, each in medians.items():
        print(f"{name:30} {each.rate:8,.0f} a second {each.cpu * 1e6:8.0f} {each.database * 1e6:11.0f}")
    plain = medians["plain program, 10 clients"].rate
    result = {
        "send": round(medians["/send, 10 clients"].rate / plain, 2),
        "batch": round(medians["/send/batch, 10 × 100"].rate / plain, 2),
    }
    print(json.dumps({"bench": "send_rate", "promise": None, "ratio": result, "held": None}))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
