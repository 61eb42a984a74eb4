"""The processes that serve the API of a full instance, and connections to each of them."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import process, process_group
from tests.stack.harness import Answer, Stack, eventually

_MANY = 200


class ApiProcesses:
    """The processes that serve the API, and a connection to each."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        place = urlsplit(stack.api)
        self._place = (place.hostname or "", place.port or 0)
        self._opened: list[http.client.HTTPConnection] = []

    @property
    def parent(self) -> int:
        return process.find_ready_pid(run_folder(self.stack.data_dir), "api") or 0

    @property
    def pids(self) -> list[int]:
        """The process IDs, without the parent's."""
        return process_group.list_processes(self.parent)

    def connect(self) -> dict[int, http.client.HTTPConnection]:
        """A new connection to each process, by its ID."""
        found: dict[int, http.client.HTTPConnection] = {}
        wanted = set(self.pids)
        for _ in range(_MANY):
            connection = http.client.HTTPConnection(*self._place, timeout=60)
            connection.request("GET", "/api/v1/version")
            connection.getresponse().read()
            self._opened.append(connection)
            pid = next(pid for pid in wanted if _inode(connection.sock) in _sockets(pid))
            if found.setdefault(pid, connection) is not connection:
                connection.auto_open = 0  # stays open, so that the next one is accepted elsewhere
            if found.keys() == wanted:
                return found
        raise AssertionError(f"of {len(wanted)} processes only {len(found)} accept connections")

    def ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: object = None, **headers: str
    ) -> Answer:
        """A call over this connection, by default as the first administrator."""
        fields = {"Content-Type": "application/json", "Cookie": self.stack.cookie}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), fields)
        answer = connection.getresponse()
        text = answer.read()
        return Answer(answer.status, json.loads(text) if text else None)

    def ask_all(
        self,
        connections: Mapping[int, http.client.HTTPConnection],
        method: str,
        path: str,
        body: object = None,
        **more: str,
    ) -> list[Answer]:
        """The same call over all connections at the same time."""
        with ThreadPoolExecutor(len(connections)) as pool:
            return list(pool.map(lambda each: self.ask(each, method, path, body, **more), connections.values()))

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()

    def metrics(self) -> dict[str, float]:
        """The metrics without comments, by name and labels."""
        url = json.loads((self.stack.data_dir / "run.json").read_text())["internal"]
        with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
            found = re.findall(r"^([^#\n].*) (\S+)$", answer.read().decode(), re.MULTILINE)
        return {name: float(number) for name, number in found}

    def restart(self) -> None:
        """Restart the service by the orchestrator."""
        path = "/orchestrator/services/api/restart"
        accepted = eventually(lambda: each if (each := self.stack.ask("POST", path)).status == 202 else None, 30, path)
        operation_id = accepted.data["operation_id"]

        def has_succeeded() -> bool:
            with contextlib.suppress(OSError):
                answer = self.stack.ask("GET", f"/orchestrator/operations/{operation_id}")
                return answer.status == 200 and answer.data["state"] == "succeeded"
            return False

        eventually(has_succeeded, 60, "the restart of the API")


def _inode(connected: Any) -> str:
    """The inode of the other end of a connection on this machine, in the form of /proc/PID/fd."""
    ends = [f"{socket.inet_aton(address)[::-1].hex().upper()}:{port:04X}" for address, port in (
        connected.getpeername(), connected.getsockname()
    )]  # fmt: skip
    for line in Path("/proc/net/tcp").read_text().splitlines():
        fields = line.split()
        if fields[1:3] == ends:
            return f"socket:[{fields[9]}]"
    raise LookupError(ends)


def _sockets(pid: int) -> set[str]:
    found: set[str] = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(str(descriptor.readlink()))
    return found
