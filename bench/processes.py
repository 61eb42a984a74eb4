"""Several processes of the API against one, in two instances of the full profile, and what it costs to count together.

- `POST /send` with a message of 2 KB by 40 clients, into Postfix and on to `smtp-sink`; `GET /aliases?limit=50` by 40
  clients. Each client keeps its connection. The clients are one process on the same machine. CPU is that of the API.
- Counting one request: in shared memory without a lock (one process), with its lock (four processes that all count the
  same source), by a process that is asked over a Unix socket, and by a statement of PostgreSQL.

Root only, after `mailkeep install`. `python -m bench.processes [MESSAGES] [ROUNDS] [PROCESSES]`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import psycopg
import uvloop

from bench.full import SINK
from bench.rig.calls import call_all, cpu_of
from bench.rig.sends import message
from mailkeep.core.clock import utc_now
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.db import postgres
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime import child
from mailkeep.web.limits import AddressLimit
from tests.stack import harness
from tests.stack.api_processes import ApiProcesses
from tests.stack.harness import Stack, eventually

CLIENTS, ALIASES = 40, 100
COUNTED = 20_000
QUERY = "INSERT INTO rates VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET used = rates.used + 1 RETURNING used"


class Side:
    """An instance with this number of processes of the API."""

    def __init__(self, processes: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
        try:
            harness.start(
                self.folder,
                SINK,
                HTTP__PROCESSES=str(processes),
                LIMITS__REQUESTS_PER_SECOND="0",
                ABUSE__SENDER_PER_HOUR="1000000000",
                ABUSE__DOMAIN_PER_HOUR="1000000000",
            )
        except BaseException:
            self.end()
            raise
        self.stack = Stack(self.folder)
        self.paths = InstancePaths(self.stack.data_dir, run_folder(self.stack.data_dir))
        domain = self.stack.make_domain("example.test")
        for number in range(ALIASES):
            alias = {"domain_id": domain, "source_local_part": f"a{number}", "destination": "a@example.net"}
            self.stack.do("POST", "/aliases", alias)
        key = self.stack.do("POST", "/api-keys", {"name": "bench", "rate_limit": 1_000_000})["key"]
        self.headers = {"authorization": f"Bearer {key}"}
        self.port = int(self.stack.api.rpartition(":")[2])

    async def run(self, method: str, path: str, bodies: Sequence[bytes]) -> tuple[float, float]:
        """Calls per second, and CPU seconds of the API for each."""
        pids = child.list_session(ApiProcesses(self.stack).parent)
        before, began = sum(map(cpu_of, pids)), time.perf_counter()
        await call_all(self.port, method, f"/api/v1{path}", self.headers, bodies, CLIENTS)
        seconds = time.perf_counter() - began
        cpu = (sum(map(cpu_of, pids)) - before) / len(bodies)
        queue = self.paths.postfix_queue
        eventually(lambda: not sum(postfix_queue.count_by_state(queue).values()), 300, "an empty queue")
        return len(bodies) / seconds, cpu

    def end(self) -> None:
        harness.stop(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def count_in_memory(processes: int) -> float:
    """Seconds for each count while all processes count the same source."""
    memory = SharedMemory(processes)
    limit, now = AddressLimit(1e6, 1_000_000, memory), utc_now()
    children: list[int] = []
    for _ in range(processes - 1):
        pid = os.fork()
        if not pid:
            while True:
                limit.take("192.0.2.1", now)
        children.append(pid)
    began = time.process_time() if processes > 1 else time.perf_counter()
    for _ in range(COUNTED):
        limit.take("192.0.2.1", now)
    seconds = (time.process_time() if processes > 1 else time.perf_counter()) - began
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return seconds / COUNTED


def count_by_process() -> float:
    """The same by a process that counts, with an event loop on both sides as in the API."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if not pid:
        ours.close()
        uvloop.run(_serve_counts(theirs))
        os._exit(0)
    theirs.close()
    seconds = uvloop.run(_ask_counts(ours))
    os.waitpid(pid, 0)
    return seconds


async def _serve_counts(channel: socket.socket) -> None:
    limit = AddressLimit(1e6, 1_000_000)
    reader, writer = await asyncio.open_connection(sock=channel)
    while question := await reader.read(64):
        allowed, _ = limit.take(question.decode(), utc_now())
        writer.write(b"1" if allowed else b"0")
    writer.close()


async def _ask_counts(channel: socket.socket) -> float:
    reader, writer = await asyncio.open_connection(sock=channel)
    began = time.perf_counter()
    for _ in range(COUNTED):
        writer.write(b"192.0.2.1")
        await reader.read(1)
    seconds = time.perf_counter() - began
    writer.close()
    return seconds / COUNTED


async def count_in_database(url: str) -> float:
    """The same by PostgreSQL."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
        await conn.execute("CREATE UNLOGGED TABLE IF NOT EXISTS rates (id int PRIMARY KEY, used int)")
        count = COUNTED // 20
        began = time.perf_counter()
        for _ in range(count):
            await conn.execute(QUERY, prepare=True)
        seconds = time.perf_counter() - began
        await conn.execute("DROP TABLE rates")
    return seconds / count


def main() -> None:
    messages, rounds, several = (int(text) for text in (*sys.argv[1:], *("1000", "5", "4")[len(sys.argv) - 1 :]))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends child processes too
    counting = {"memory": count_in_memory(1), "memory, 4 processes": count_in_memory(4), "process": count_by_process()}
    sides: dict[int, Side] = {}
    try:
        for processes in (1, several):
            sides[processes] = Side(processes)
        urls = postgres.running_urls(sides[1].stack.data_dir)
        assert urls
        counting["PostgreSQL"] = uvloop.run(count_in_database(urls.owner))
        uvloop.run(compare(sides, messages, rounds))
    finally:
        for side in sides.values():
            side.end()
    print("one count: " + ", ".join(f"{way} {seconds * 1e6:.1f} µs" for way, seconds in counting.items()))


async def compare(sides: dict[int, Side], messages: int, rounds: int) -> None:
    calls = {
        "/send": ("POST", "/send", [json.dumps(message()).encode()] * messages),
        "/aliases": ("GET", "/aliases?limit=50", [b""] * (4 * messages)),
    }
    ratios: dict[str, float] = {}
    for name, call in calls.items():
        found: dict[int, list[tuple[float, float]]] = {processes: [] for processes in sides}
        for turn in range(rounds + 1):
            for processes, side in sides.items():
                result = await side.run(*call)
                if turn:  # the first warms up
                    found[processes].append(result)
        for processes, results in found.items():
            rate, cpu = (median(column) for column in zip(*results, strict=True))
            print(f"{name}, {processes} processes: {rate:,.0f} a second, {cpu * 1e6:,.0f} µs of CPU each")
        one, many = (median(rate for rate, _ in results) for results in found.values())
        ratios[name] = round(many / one, 2)
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.0f}")
    print(json.dumps({"bench": "processes", "promise": None, "ratio": ratios, "held": None}))


if __name__ == "__main__":
    main()
