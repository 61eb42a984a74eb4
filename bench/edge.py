"""What nginx costs: the same calls through nginx over HTTPS, and as plain HTTP to http.listen, of one full instance.

- `GET /aliases?limit=50`, and `POST /send` with a message of 2 KB into Postfix and on to `smtp-sink`; 40 clients, each
  keeps its connection. Short rounds alternate, so that other load hits both sides. Opening connections is not counted.
- CPU time of nginx and of the API for each call. Promise: nginx uses at most a tenth of the API's for a send, and a
  fifth for a list. CPU varies little with other load.
- Calls per second, without a promise: the clients are one Python process on the same cores, whose TLS is in the ratio.
- A new TLS connection.

Root only, after `mailkeep install`. `python -m bench.edge [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import sys
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from statistics import median

import uvloop

from bench.processes import CLIENTS, Side
from bench.rig.calls import Stream, call_over, cpu_of, open_all
from bench.rig.sends import message
from mailkeep.db.instance import run_folder
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime import child, process
from tests.stack.harness import HOSTNAME, eventually, trusting

PROMISED = {"/aliases": 0.2, "/send": 0.1}
HANDSHAKES = 200


@dataclass(frozen=True)
class Round:
    """Of each call: seconds, and seconds of CPU of the API and of nginx."""

    seconds: float
    api: float
    nginx: float


class Edge:
    """The instance, and both ways to its API."""

    def __init__(self, side: Side) -> None:
        self.side = side
        run = run_folder(side.stack.data_dir)
        self.services = [process.find_service_pid(run, name) for name in ("api", "nginx")]
        self.headers = {**side.headers, "host": HOSTNAME}

    def _cpu(self) -> list[float]:
        return [sum(map(cpu_of, child.list_session(pid or 0))) for pid in self.services]

    def connect(self, tls: ssl.SSLContext | None, connections: int = CLIENTS) -> Awaitable[list[Stream]]:
        """Connections: to nginx if there is TLS."""
        return open_all(
            self.side.stack.ports["https"] if tls else self.side.port, connections, tls, HOSTNAME if tls else ""
        )

    async def run(self, method: str, path: str, bodies: Sequence[bytes], tls: ssl.SSLContext | None) -> Round:
        """These calls over new connections; opening them does not count."""
        streams = await self.connect(tls)
        before, began = self._cpu(), time.perf_counter()
        await call_over(streams, method, f"/api/v1{path}", self.headers, bodies)
        seconds, after = time.perf_counter() - began, self._cpu()
        for _, writer in streams:
            writer.close()
        queue = self.side.paths.postfix_queue
        eventually(lambda: not sum(postfix_queue.count_by_state(queue).values()), 300, "an empty queue")
        api, nginx = (end - start for start, end in zip(before, after, strict=True))
        return Round(seconds / len(bodies), api / len(bodies), nginx / len(bodies))

    async def handshake(self) -> tuple[float, float]:
        """Of a new TLS connection, without a request: seconds, and seconds of CPU of nginx."""
        before, began = self._cpu()[1], time.perf_counter()
        for _, writer in await self.connect(trusting(), HANDSHAKES):
            writer.close()
        return (time.perf_counter() - began) / HANDSHAKES, (self._cpu()[1] - before) / HANDSHAKES


def main() -> None:
    messages, rounds = (int(text) for text in (*sys.argv[1:], *("400", "9")[len(sys.argv) - 1 :]))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the instance too
    side = Side(0)
    try:
        uvloop.run(compare(Edge(side), messages, rounds))
    finally:
        side.end()


async def compare(edge: Edge, messages: int, rounds: int) -> None:
    tls = trusting()
    calls = {
        "/aliases": ("GET", "/aliases?limit=50", [b""] * (2 * messages)),
        "/send": ("POST", "/send", [json.dumps(message()).encode()] * messages),
    }
    ratios: dict[str, float] = {}
    parts: dict[str, float] = {}
    for name, call in calls.items():
        pairs: list[tuple[Round, Round]] = []
        for turn in range(rounds + 1):
            ways = (None, tls) if turn % 2 else (tls, None)
            found = {way: await edge.run(*call, way) for way in ways}
            if turn:  # the first warms up
                pairs.append((found[None], found[tls]))
        for way, results in zip(("http.listen", "nginx"), zip(*pairs, strict=True), strict=True):
            each, api, nginx = (median(getattr(one, part) for one in results) for part in ("seconds", "api", "nginx"))
            print(f"{name:9} {way:12} {1 / each:5.0f} a second, CPU: API {api * 1e6:5.0f} µs, nginx {nginx * 1e6:4.0f}")
        ratios[name] = round(median(nginx.seconds / direct.seconds for direct, nginx in pairs), 2)
        parts[name] = round(median(nginx.nginx / nginx.api for _, nginx in pairs), 3)
    seconds, cpu = await edge.handshake()
    print(f"a new TLS connection: {seconds * 1e3:.1f} ms, {cpu * 1e6:.0f} µs of CPU of nginx")
    print(f"elapsed time, nginx against http.listen: {ratios}")
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.0f}")
    held = all(part <= PROMISED[name] for name, part in parts.items())
    print(json.dumps({"bench": "edge", "promise": PROMISED, "ratio": parts, "held": held}))


if __name__ == "__main__":
    main()
