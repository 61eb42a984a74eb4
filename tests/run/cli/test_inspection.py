"""Measuring the memory of processes, and reading health answers."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mailkeep.run.cli import inspection
from mailkeep.run.cli.inspection import ComponentStatus, HealthSummary, fetch_health, tree_memory_bytes

Serve = Callable[[int, bytes], str]
CHECKS = [{"component": "database", "status": "down"}]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """A server on loopback that answers everything with this."""
    monkeypatch.setattr(inspection, "_TIMEOUT", 60)  # the server is in this process, which may be slow
    servers: list[tuple[http.server.HTTPServer, threading.Thread]] = []

    def start(status: int, body: bytes) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None: ...

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join(60)
        server.server_close()


def test_memory_counts_the_children_too():
    script = "import sys; held = b'x' * (64 << 20); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        with_child, alone = tree_memory_bytes(os.getpid()), tree_memory_bytes(child.pid)
        assert child.stdin
        child.stdin.close()
        child.wait(60)
    assert alone
    assert with_child
    assert 64 << 20 < alone < with_child


def test_the_memory_of_no_process_is_unknown():
    assert tree_memory_bytes(2**22 + 1) is None


@pytest.mark.parametrize(
    "status, body, health",
    [
        (200, {"data": {"status": "ok", "checks": []}, "error": None}, HealthSummary("ok")),
        (
            503,
            {"data": None, "error": {"details": {"status": "down", "checks": CHECKS}}},
            HealthSummary("down", (ComponentStatus("database", "down"),)),
        ),
        (503, {"data": None, "error": {"details": None}}, HealthSummary("unreachable")),
        (200, {}, HealthSummary("unreachable")),
        (200, [], HealthSummary("unreachable")),
        (200, {"data": {"status": "ok", "checks": 1}}, HealthSummary("unreachable")),
    ],
)
async def test_health_is_read_from_both_answers(serve: Serve, status: int, body: Any, health: HealthSummary):
    assert await fetch_health(serve(status, json.dumps(body).encode())) == health


async def test_health_of_another_server_is_unreachable(serve: Serve):
    assert await fetch_health(serve(200, b"hello")) == HealthSummary("unreachable")
    assert await fetch_health("http://127.0.0.1:1") == HealthSummary("unreachable")
