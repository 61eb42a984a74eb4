"""A send of 49 MB, from JSON to an SMTP sink, compared with Starlette, pydantic, EmailMessage and aiosmtplib.

Both get the same body (37 MB in one attachment) over an open connection and respond after the sink's 250; the product
also validates and writes attempt, history, event and audit log. Measured: time at the client; CPU and memory growth
(peak above the initial resident memory) of the serving process; the longest delay of another request (/version).
Medians of interleaved pairs. Promise: ≥ 6 × less time; memory grows by < 1.5 × the body.
`python -m bench.send_large [PAIRS]`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

import uvloop

from bench.rig.calls import Server, call_all, cpu_of, memory_of, reset_peak
from bench.rig.sends import Product, message
from bench.smtp_submit import Child

FASTER, GROWTH = 6.0, 1.5


class Run(NamedTuple):
    seconds: float
    cpu: float
    growth: float  # MB
    waited: float  # seconds


async def longest_wait(port: int, ended: asyncio.Event) -> float:
    longest = 0.0
    while not ended.is_set():
        before = time.perf_counter()
        await call_all(port, "GET", "/api/v1/version", {}, [b""], 1)
        longest = max(longest, time.perf_counter() - before)
        await asyncio.sleep(0.002)
    return longest


async def send(port: int, pid: int, headers: Mapping[str, str], body: bytes, *, watch: bool = False) -> Run:
    ended = asyncio.Event()
    watcher = asyncio.create_task(longest_wait(port, ended)) if watch else None
    resident, used, before = reset_peak(pid), cpu_of(pid), time.perf_counter()
    await call_all(port, "POST", "/api/v1/send", headers, [body], 1)
    seconds = time.perf_counter() - before
    ended.set()
    waited = await watcher if watcher else 0.0
    return Run(seconds, cpu_of(pid) - used, memory_of(pid, "VmHWM") - resident, waited)


async def measure(pairs: int, product: Product, other: Server) -> tuple[list[Run], list[Run], list[Run], float]:
    content = base64.b64encode(os.urandom(36_750_000)).decode()
    file = {"filename": "film.bin", "content_type": "application/octet-stream", "content": content}
    body = json.dumps(message(attachments=[file])).encode()
    small = json.dumps(message()).encode()
    mine: list[Run] = []
    theirs: list[Run] = []
    watched: list[Run] = []
    for _ in range(pairs):
        # A small message first, so that memory loaded by the first request does not count.
        await send(product.port, product.pid, product.headers, small)
        mine.append(await send(product.port, product.pid, product.headers, body))
        await send(other.ports[0], other.process.pid, {}, small)
        theirs.append(await send(other.ports[0], other.process.pid, {}, body))
        watched.append(await send(product.port, product.pid, product.headers, body, watch=True))
    return mine, theirs, watched, len(body) / 1e6


def show(name: str, runs: list[Run]) -> None:
    seconds, used, growth = (median(run[column] for run in runs) for column in (0, 1, 2))
    print(f"{name:34} {seconds * 1e3:8.0f} ms {used * 1e3:8.0f} ms of CPU {growth:8.1f} MB more")


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    sink = Child("sink")
    product, other = Product(sink.port), Server(["bench.rig.sends", str(sink.port)])
    try:
        mine, theirs, watched, size = uvloop.run(measure(pairs, product, other))
    finally:
        product.end()
        other.end()
        sink.end()
    print(f"one send of {size:.1f} MB, {pairs} pairs")
    show("mailkeep", mine)
    show("Starlette, EmailMessage, aiosmtplib", theirs)
    ratio = median(other.seconds / own.seconds for own, other in zip(mine, theirs, strict=True))
    growth = max(run.growth for run in mine) / size
    wait = median(run.waited for run in watched)
    print(f"{ratio:.1f} × less time; memory grows by {growth:.2f} × the body at most; others wait {wait * 1e3:.0f} ms")
    held = ratio >= FASTER and growth < GROWTH
    result = {"bench": "send_large", "promise": [FASTER, GROWTH], "ratio": [round(ratio, 1), round(growth, 2)]}
    print(json.dumps(result | {"held": held}))


if __name__ == "__main__":
    main()
