"""What nginx costs: requests over HTTPS through nginx compared with plain HTTP to http.listen, of a full instance.

`GET /auth/me` on persistent connections, 10 at a time, interleaved rounds; and a new TLS connection for each request;
CPU of nginx. Promise: with persistent connections at most 1.5 times as long. Root only, after `mailkeep install`.
`python -m bench.edge [REQUESTS] [ROUNDS]`.
"""

from __future__ import annotations

import http.client
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import child, process
from tests.stack import harness
from tests.stack.edge import Connection
from tests.stack.harness import Stack

PROMISED = 1.5
CLIENTS = 10
SINK = ("smtp-sink", "-u", "nobody", "-4", f"{harness.INTERNET}:{{port}}", "1000")

Connect = Callable[[], http.client.HTTPConnection]


def send(connect: Connect, cookie: str, count: int, *, persistent: bool = True) -> None:
    connection = connect()
    for _ in range(count):
        connection.request("GET", "/api/v1/auth/me", headers={"Cookie": cookie})
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        if not persistent:
            connection.close()
    connection.close()


def measure(connect: Connect, cookie: str, count: int) -> float:
    """Seconds per request."""
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(send, connect, cookie, count // CLIENTS) for _ in range(CLIENTS)]:
            done.result()
    return (time.perf_counter() - began) / count


def cpu_of_nginx(stack: Stack) -> float:
    """The seconds of CPU that all of its processes have used."""
    pid = process.find_service_pid(run_folder(stack.data_dir), "nginx")
    assert pid
    ticks = 0
    for each in child.list_session(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / 100


def main() -> int:
    count, rounds = (int(text) for text in (*sys.argv[1:], *("2000", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    try:
        harness.start(folder, SINK, LIMITS__REQUESTS_PER_SECOND="0")
        stack = Stack(folder)
        place = urlsplit(stack.api)
        ways: dict[str, Connect] = {
            "http.listen": lambda: http.client.HTTPConnection(place.hostname or "", place.port, timeout=60),
            "nginx": lambda: Connection(stack.ports["https"]),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        before = cpu_of_nginx(stack)
        for _ in range(rounds):
            for name, connect in ways.items():
                seconds[name].append(measure(connect, stack.cookie, count))
        cpu = (cpu_of_nginx(stack) - before) / (count * rounds)
        medians = {name: statistics.median(each) for name, each in seconds.items()}
        ratio = medians["nginx"] / medians["http.listen"]
        for name, each in medians.items():
            print(f"{name:12} {each * 1e6:7.0f} µs a request, {1 / each:6.0f} a second")
        began = time.perf_counter()
        send(ways["nginx"], stack.cookie, 200, persistent=False)
        print(f"a new TLS connection and a request: {(time.perf_counter() - began) / 200 * 1e3:.1f} ms")
        print(f"CPU of nginx: {cpu * 1e6:.0f} µs a request   ratio {ratio:.2f} (promised ≤ {PROMISED})")
        return ratio > PROMISED
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
