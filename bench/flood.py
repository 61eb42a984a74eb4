"""Overload: 20 concurrent sends of 49 MB within the memory budget, and 2,000 deliberately slow connections.

Promise: the memory of all processes grows by less than the budget (512 MiB) plus 160 MiB; the 95th percentile of other
calls stays below 250 ms; every accepted message is delivered. Slow connections send a byte per second of a header or a
body, or request a large response and read it slowly; they reconnect when disconnected. Senders that get 503 retry
after the time in the response. Senders and slow connections run in separate processes.
`python -m bench.flood [SENDS] [CONNECTIONS]`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import json
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from bench.login_flood import EMAIL, PASSWORD, PATHS, SETTINGS, report
from tests.support import instance as instances
from tests.support.instance import Instance
from tests.support.processes import memory_mib, process_tree
from tests.support.scratch import new_directory

MIB = 1 << 20
BUDGET = 512
MORE = 160
PROMISED_P95 = 0.25
DOMAIN, ALICE = "example.test", "alice@example.test"
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class LoadedInstance:
    """An instance with a domain, a mailbox and a key."""

    running: Instance
    key: str

    @property
    def netloc(self) -> str:
        return urlsplit(self.running.http).netloc

    @property
    def delivered_messages(self) -> list[Path]:
        """The messages in Alice's mailbox."""
        return list((self.running.data_dir / "mail").glob("*/Maildir/new/*"))


def set_up(running: Instance) -> LoadedInstance:
    connection = http.client.HTTPConnection(urlsplit(running.http).netloc, timeout=60)
    headers = dict(JSON)

    def post(path: str, body: object) -> dict:
        connection.request("POST", f"/api/v1{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        assert answer.status in (200, 201), content
        if cookie := answer.headers["set-cookie"]:
            headers["cookie"] = cookie.partition(";")[0]
        return content["data"]

    post("/auth/login", {"email": EMAIL, "password": PASSWORD})
    domain_id = post("/domains", {"name": DOMAIN})["id"]
    post("/mailboxes", {"domain_id": domain_id, "local_part": "alice", "password_hash": "{SHA}x"})
    key = post("/api-keys", {"name": "flood", "rate_limit": 0})["key"]
    connection.close()
    return LoadedInstance(running, key)


# The load, in separate processes.


def send_all(netloc: str, key: str, sends: int, size: int, seconds: float) -> Counter[str]:
    """Make `sends` concurrent sends of `size` bytes, each until it is accepted or time is up; returns how often each
    response came.
    """
    seen: Counter[str] = Counter()
    content = base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()
    deadline = time.monotonic() + seconds

    def one(number: int) -> None:
        letter = {"from": {"email": f"shop@{DOMAIN}"}, "to": [{"email": ALICE}], "subject": f"number {number}"}
        file = {"filename": "big.bin", "content_type": "application/octet-stream", "content": content}
        body = json.dumps(letter | {"text_body": "There you are.", "attachments": [file]}).encode()
        headers = JSON | {"authorization": f"Bearer {key}", "idempotency-key": f"flood-{number}"}
        while time.monotonic() < deadline:
            try:
                connection = http.client.HTTPConnection(netloc, timeout=90)
                connection.request("POST", "/api/v1/send", body, headers)
                answer = connection.getresponse()
                response = answer.read()
                connection.close()
            except OSError as error:
                seen[type(error).__name__] += 1
                time.sleep(1)
                continue
            seen[str(answer.status)] += 1
            if answer.status < 500 and answer.status != 409:
                if answer.status != 200:
                    print(response, file=sys.stderr)
                return
            time.sleep(int(answer.headers.get("retry-after", 1)))
        seen["gave up"] += 1

    with ThreadPoolExecutor(sends) as senders:
        list(senders.map(one, range(sends)))
    return seen


async def keep_slow_connections(host: str, port: int, connections: int) -> None:
    """Open `connections` slow connections, from a few addresses, until killed."""
    login = "POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\ncontent-type: application/json"
    kinds = (b"GET /health HTTP/1.1\r\nhost: x\r\nx-slow: ", f"{login}\r\n\r\n".encode(), b"")
    large = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n"

    async def one(number: int) -> None:
        begin = kinds[number % 3]
        source = (f"127.0.1.{1 + number // 500}", 0)
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection(host, port, local_addr=source, limit=1024)
                writer.write(begin or large * 16)
                while not reader.at_eof() and not writer.is_closing():
                    await asyncio.sleep(1)
                    if begin:
                        writer.write(b"a")
                    else:
                        await reader.read(16)
                writer.transport.abort()
            await asyncio.sleep(1)

    await asyncio.gather(*(one(number) for number in range(connections)))


# Measurements.


@dataclass
class Measurements:
    """Memory in MiB at rest and at its peak, seconds of other calls, responses by status, delivered messages."""

    rest: float = 0
    peak: float = 0
    calls: list[float] = field(default_factory=list[float])
    sends: Counter[str] = field(default_factory=Counter[str])
    delivered: int = 0

    @property
    def p95(self) -> float:
        return quantiles(self.calls, n=100, method="inclusive")[94]


def memory(running: Instance) -> float:
    while True:
        with contextlib.suppress(OSError, StopIteration):  # the process is ending
            return sum(memory_mib(pid) for pid in process_tree(running.process.pid))


@contextmanager
def measure_in_background(instance: LoadedInstance, measurements: Measurements) -> Iterator[None]:
    """Measures memory and other calls in the background. A call that is refused for the moment (503), as on a machine
    that others use, is repeated: its time is that until its answer.
    """
    over = threading.Event()
    connection = http.client.HTTPConnection(instance.netloc, timeout=60)

    def ask(path: str) -> int:
        connection.request("GET", f"/api/v1{path}", headers={"authorization": f"Bearer {instance.key}"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status != 503 or answer.headers["retry-after"], path
        return answer.status

    def time_calls() -> None:
        while not over.wait(0.02):
            for path in PATHS:
                start = time.perf_counter()
                while (status := ask(path)) == 503 and not over.wait(0.1):
                    pass
                assert status in (200, 503), (path, status)
                measurements.calls.append(time.perf_counter() - start)

    def measure_memory() -> None:
        while not over.wait(0.2):
            measurements.peak = max(measurements.peak, memory(instance.running))

    with ThreadPoolExecutor(2) as pool:
        work = [pool.submit(time_calls), pool.submit(measure_memory)]
        try:
            yield
        finally:
            over.set()
    for each in work:
        each.result()
    connection.close()


def flood(instance: LoadedInstance, sends: int, size: int, connections: int, seconds: float = 300) -> Measurements:
    """Run senders and slow connections at once; wait until all accepted messages are delivered, at most 120 seconds."""
    measurements = Measurements(rest=memory(instance.running))
    me = [sys.executable, "-m", "bench.flood"]
    host, _, port = instance.netloc.rpartition(":")
    slow = subprocess.Popen([*me, "slow", host, port, str(connections)], cwd=instances.ROOT)
    try:
        time.sleep(1 + connections / 500)
        with measure_in_background(instance, measurements):
            command = [*me, "send", instance.netloc, instance.key, str(sends), str(size), str(seconds)]
            done = subprocess.run(
                command, cwd=instances.ROOT, capture_output=True, text=True, timeout=seconds + 120, check=True
            )
            measurements.sends = Counter(json.loads(done.stdout))
            deadline = time.monotonic() + 120
            while len(instance.delivered_messages) < measurements.sends["200"] and time.monotonic() < deadline:
                time.sleep(0.2)
        measurements.delivered = len(instance.delivered_messages)
    finally:
        slow.kill()
        slow.wait(60)
    return measurements


def main() -> int:
    sends = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    folder = new_directory("mailkeep-flood-", 0o755)
    (folder / "data").mkdir()
    (folder / "data").chmod(0o711)  # so that the database's account can enter
    try:
        running = instances.start(folder / "data", SETTINGS)
        try:
            instance = set_up(running)
            quiet = Measurements()
            with measure_in_background(instance, quiet):
                time.sleep(5)
            began = time.monotonic()
            measurements = flood(instance, sends, 49 * MIB, connections)
            took = time.monotonic() - began
        finally:
            assert running.stop() == 0, running.log
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report("other calls, at rest", quiet.calls)
    report("other calls, in the flood", measurements.calls)
    print(
        f"{sends} sends of 49 MiB beside {connections:,} slow connections in {took:.0f} s, "
        f"answered {dict(measurements.sends)}"
    )
    print(f"memory {measurements.rest:.0f} MiB at rest, {measurements.peak:.0f} MiB at most")
    print(f"{measurements.delivered} delivered")
    held = (
        measurements.peak - measurements.rest < BUDGET + MORE
        and measurements.p95 < PROMISED_P95
        and measurements.delivered == measurements.sends["200"] == sends
    )
    shown = {"bench": "flood", "peak_mib": round(measurements.peak), "p95": round(measurements.p95, 4), "held": held}
    print(json.dumps(shown))
    return 0 if held else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["slow"]:
        asyncio.run(keep_slow_connections(sys.argv[2], *map(int, sys.argv[3:5])))
    elif sys.argv[1:2] == ["send"]:
        netloc, key, count, octets, until = sys.argv[2:7]
        print(json.dumps(send_all(netloc, key, int(count), int(octets), float(until))))
    else:
        sys.exit(main())
