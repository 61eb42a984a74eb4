"""Parsing messages in our own child processes, and in a ProcessPoolExecutor with the same parser and limits.

Each run is a process of its own with two children; the two kinds alternate. CPU time is that of parent and children,
memory their proportional set size (PSS). Then a child that is killed: which messages fail, and does the pool go on?
`python -m bench.parse_pool [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

from bench.rig.calls import cpu_of
from mailkeep.core.confinement import confine, limit_cpu_time
from mailkeep.mail.message import parse_worker
from mailkeep.mail.message.parse import parse
from mailkeep.mail.message.parse_process import ParseLimits, Parser
from tests.support.processes import descendants, memory_mib, process_tree

KINDS = ("ours", "executor")
LIMITS = ParseLimits(cpu_seconds=60, seconds=60.0, wait_seconds=60.0)
HEAD = b"From: a@b.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee below\r\n--b\r\n"
FILE = b"Content-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\n"


def attached(size: int) -> bytes:
    return HEAD + FILE + (b"A" * 76 + b"\r\n") * (size // 57) + b"--b--\r\n"


MESSAGES = {"2 KB": (attached(1500), 400), "200 KB": (attached(150_000), 100), "20 MB": (attached(15_000_000), 6)}


def start_worker() -> None:
    """Start as our own child does."""
    parse_worker._load_codecs()
    confine(LIMITS.memory)


def work(content: bytes) -> tuple[bytes, bytes]:
    """Parse a message as our own child does; an executor copies message and result through pipes."""
    limit_cpu_time(LIMITS.cpu_seconds)
    return parse_worker._message(parse(content), LIMITS.content)


async def measure(call: Callable[[bytes], Awaitable[object]]) -> dict[str, float]:
    """The first message, CPU and elapsed time of each size, then the memory."""
    start, found = time.perf_counter(), dict[str, float]()
    await asyncio.gather(call(MESSAGES["2 KB"][0]), call(MESSAGES["2 KB"][0]))
    found["first messages, ms"] = (time.perf_counter() - start) * 1000
    found["memory after them, MiB"] = memory()
    for name, (content, count) in MESSAGES.items():
        start, before = time.perf_counter(), cpu()
        for _ in range(count // 2):
            await asyncio.gather(call(content), call(content))
        found[f"{name}, CPU ms"] = (cpu() - before) / count * 1000
        found[f"{name}, messages/s"] = count / (time.perf_counter() - start)
    found["memory at the end, MiB"] = memory()
    return found


def cpu() -> float:
    """CPU seconds of this process and of those below it."""
    return sum(map(cpu_of, process_tree(os.getpid())))


def memory() -> float:
    return sum(map(memory_mib, process_tree(os.getpid())))


async def after_kill(call: Callable[[bytes], Awaitable[object]]) -> str:
    """Kill a child while two messages are parsed and two wait; then send another message."""
    tasks = [asyncio.ensure_future(call(MESSAGES["20 MB"][0])) for _ in range(4)]
    used = {pid: cpu_of(pid) for pid in descendants(os.getpid())}
    busiest = max(used, key=lambda pid: used[pid])
    while cpu_of(busiest) < used[busiest] + 0.02:
        await asyncio.sleep(0.01)
        busiest = max(used, key=lambda pid: cpu_of(pid) - used[pid])
    os.kill(busiest, signal.SIGKILL)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    failed = sum(isinstance(result, Exception) for result in results)
    try:
        await call(MESSAGES["2 KB"][0])
    except Exception as error:  # noqa: BLE001 - the pool's error is the result
        return f"{failed} of 4 fail, then {type(error).__name__}"
    return f"{failed} of 4 fail, then parses"


async def child(kind: str) -> None:
    if kind == "ours":
        parser = Parser(None, LIMITS)
        call: Callable[[bytes], Awaitable[object]] = lambda content: parser.parse(lambda: [content])  # noqa: E731
        found: dict[str, Any] = await measure(call)
        found["a child is killed"] = await after_kill(call)
        await parser.close()
    else:
        pool = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), start_worker)
        loop = asyncio.get_running_loop()
        call = lambda content: loop.run_in_executor(pool, work, content)  # noqa: E731
        found = await measure(call)
        found["a child is killed"] = await after_kill(call)
        pool.shutdown(wait=False, cancel_futures=True)
    print(json.dumps(found))


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for number in range(rounds):
        for kind in KINDS[:: 1 if number % 2 else -1]:
            command = [sys.executable, "-m", "bench.parse_pool", kind]
            runs[kind].append(
                json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=300).stdout)
            )
    ours, others = runs.values()
    print(f"{'':26} {'ours':>10} {'executor':>10}   ratio: minimum, median, maximum")
    for name, value in ours[0].items():
        if isinstance(value, str):
            print(f"{name}: " + ", ".join(f"{kind}: {sorted({run[name] for run in runs[kind]})}" for kind in KINDS))
            continue
        one, other = (median(run[name] for run in each) for each in (ours, others))
        ratios = sorted(right[name] / left[name] for left, right in zip(ours, others, strict=True))
        print(f"{name:26} {one:10,.1f} {other:10,.1f} {ratios[0]:8.2f} {median(ratios):8.2f} {ratios[-1]:8.2f}")
    print(json.dumps({"bench": "parse_pool", "promise": None, "ratio": None, "held": None}))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in KINDS:
        asyncio.run(child(sys.argv[1]))
    else:
        main()
