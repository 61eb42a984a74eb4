"""A client of nginx, and nginx alone: with a rendered configuration, in front of a stub of the API."""

from __future__ import annotations

import contextlib
import http.client
import json
import pwd
import signal
import socket
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mailkeep.core.clock import utc_now
from mailkeep.mail.daemons import nginx, render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.smtp.unix_socket import bind_unix_socket
from mailkeep.run.cli import install
from mailkeep.run.runtime import certificate
from mailkeep.run.runtime.child import ENVIRONMENT
from mailkeep.settings import load_settings
from tests.mail.daemons.test_render import FACTS
from tests.stack.harness import ADDRESS, HOSTNAME, eventually, trusting
from tests.support.ports import free_port


class Connection(http.client.HTTPSConnection):
    """To nginx, with this server name (SNI), from this address, after these bytes (PROXY protocol)."""

    def __init__(
        self, port: int, name: str = HOSTNAME, source: str = ADDRESS, first: bytes = b"", verify: str | None = None
    ) -> None:
        super().__init__(name, port, timeout=30)
        self._source, self._first = source, first
        self._tls = ssl.create_default_context(cafile=verify) if verify else trusting()

    def connect(self) -> None:
        connection = socket.create_connection((ADDRESS, self.port), 30, (self._source, 0))
        try:
            connection.sendall(self._first)
            self.sock = self._tls.wrap_socket(connection, server_hostname=self.host)
        except BaseException:
            connection.close()
            raise


@dataclass
class Reply:
    """A response."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The error in the envelope, which must be complete."""
        content = json.loads(self.body)
        assert (content["data"], set(content["meta"])) == (None, {"request_id", "timestamp"}), content
        assert self.get("x-request-id") == [content["meta"]["request_id"]]
        assert content["meta"]["request_id"][14] == "7", content
        assert self.get("content-type") == ["application/json"]
        return content["error"]

    def get(self, name: str) -> list[str]:
        """All values of a header field."""
        return [value for each, value in self.fields if each.lower() == name]


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None, **fields: str) -> Reply:
    """Send a request; `fields` are header fields with `_` for `-`."""
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return Reply(response.status, response.getheaders(), response.read())


@dataclass
class Request:
    """What the stub received."""

    line: str
    fields: dict[str, str]
    size: int


@dataclass
class Edge:
    """A running nginx with a stub behind it. `pid`: of the master process."""

    pid: int
    paths: InstancePaths
    https: int
    http: int
    received: list[Request] = field(default_factory=list[Request])

    def ask(self, method: str, path: str, body: Any = None, name: str = HOSTNAME, **fields: str) -> Reply:
        """A request over TLS."""
        return ask(Connection(self.https, name), method, path, body, **fields)

    def memory(self) -> int:
        """The private memory of all of its processes, in bytes."""
        pids = [self.pid, *map(int, Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split())]
        texts = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
        lines = [line for text in texts for line in text.splitlines() if line.startswith("Private_Dirty")]
        return sum(int(line.split()[1]) for line in lines) << 10

    @contextlib.contextmanager
    def growth(self) -> Generator[list[int]]:
        """A list with one number: by how much its memory grew at most during the block."""
        before, most, is_over = self.memory(), [0], threading.Event()

        def measure() -> None:
            while not is_over.wait(0.02):
                most[0] = max(most[0], self.memory() - before)

        measuring = threading.Thread(target=measure)
        measuring.start()
        try:
            yield most
        finally:
            is_over.set()
            measuring.join()

    def list_temporary_files(self) -> list[Path]:
        """What it has written to disk of bodies and responses."""
        return [path for path in self.paths.nginx_tmp.rglob("*") if path.is_file()]

    def upload(self, path: str, file: Path, *options: str) -> tuple[Reply, str]:
        """POST a file over HTTP/2 (http.client can't), with these options of curl: the response, and its protocol."""
        name = f"{HOSTNAME}:{self.https}"
        command = ["curl", "-sk", "-i", "--http2", "--max-time", "120", "--resolve", f"{name}:{ADDRESS}", "-X", "POST"]
        command += ["-T", str(file), "-H", "Content-Type: application/json", "-H", "Expect:", *options]
        output = subprocess.check_output([*command, f"https://{name}{path}"], timeout=150)
        head, _, body = output.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        protocol, status = first.split()[:2]
        fields = [(key, value) for key, _, value in (line.partition(": ") for line in lines)]
        return Reply(int(status), fields, body), protocol


class _Stub(socketserver.StreamRequestHandler):
    """Answers each request, like the API on its Unix socket, after the body has come."""

    edge: Edge

    def handle(self) -> None:
        while line := self.rfile.readline().decode():
            fields: dict[str, str] = {}
            while (text := self.rfile.readline().decode().strip()) != "":
                name, _, value = text.partition(": ")
                fields[name.lower()] = value
            size, length = 0, int(fields.get("content-length", 0))
            while size < length and (chunk := self.rfile.read(min(1 << 16, length - size))):
                size += len(chunk)
            self.edge.received.append(Request(line.strip(), fields, size))
            if "/die" in line:
                return
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Frame-Options: DENY\r\n\r\nok")


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@contextlib.contextmanager
def running(folder: Path, sites: Sequence[tuple[Sequence[str], str, str]] = (), **environ: str) -> Generator[Edge]:
    """nginx with these settings (`EDGE__PROXY_NETWORKS`) in this folder, which all accounts can reach."""
    paths = InstancePaths(folder, folder / "run")
    ports = free_port(ADDRESS), free_port(ADDRESS)
    defaults: Mapping[str, str] = {
        "EDGE__ENABLED": "true",
        "EDGE__LISTEN": json.dumps([ADDRESS]),
        "EDGE__HTTPS_PORT": str(ports[0]),
        "EDGE__HTTP_PORT": str(ports[1]),
        "SERVER__HOSTNAME": HOSTNAME,
    }
    names = {f"MAILKEEP_{name}": value for name, value in {**defaults, **environ}.items()}
    settings = load_settings(Path("/nowhere"), names).settings
    for each in (paths.run, paths.conf("nginx"), paths.nginx_tmp, paths.tls):
        each.mkdir(mode=0o755, parents=True, exist_ok=True)
    served = certificate.install(settings, paths.tls, HOSTNAME, utc_now())
    facts = replace(FACTS, paths=paths, certificate_file=served, edge_account=install.EDGE_ACCOUNT)
    for name, text in render.render_nginx(settings, facts).items():
        (paths.conf("nginx") / name).write_text(text)
    paths.nginx_sites.write_text(nginx.render_sites(sites))
    edge = Edge(0, paths, *ports)
    handler = type("Handler", (_Stub,), {"edge": edge})
    listening = bind_unix_socket(paths.api_socket, 0o660, pwd.getpwnam(install.EDGE_ACCOUNT).pw_gid)
    server = _Server(str(paths.api_socket), handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    command = ["nginx", "-c", str(paths.conf("nginx") / "nginx.conf"), "-e", "stderr", "-g", "daemon off;"]
    with (folder / "nginx.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True)
    try:
        edge.pid = process.pid
        eventually(lambda: _answers(edge, process, folder), 30, "nginx")
        edge.received.clear()
        yield edge
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        server.shutdown()
        server.server_close()


def _answers(edge: Edge, process: subprocess.Popen[bytes], folder: Path) -> bool:
    assert process.poll() is None, (folder / "nginx.log").read_text()
    with socket.socket() as probe:
        return probe.connect_ex((ADDRESS, edge.https)) == 0
