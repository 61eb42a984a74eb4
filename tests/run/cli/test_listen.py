"""`mailkeep listen` with a running instance: events are signed like webhooks and posted once."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from standardwebhooks.webhooks import Webhook
from typer.testing import CliRunner, Result

from bench.flood import ALICE, DOMAIN, LoadedInstance, set_up
from bench.login_flood import SETTINGS
from mailkeep.run.cli.main import app
from tests.support import instance as instances
from tests.support.instance import Launch
from tests.support.ports import free_port
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def house() -> Iterator[LoadedInstance]:
    folder = new_directory("mailkeep-listen-", 0o755)
    running = instances.start(folder / "data", SETTINGS)
    yield set_up(running)
    assert running.stop() == 0, running.log
    shutil.rmtree(folder)


@dataclass
class Sink:
    """A program under development: it stores requests and answers with `status`."""

    port: int
    status: int = 200
    posted: list[tuple[dict[str, str], bytes]] = field(default_factory=list[tuple[dict[str, str], bytes]])

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}/hook?from=mailkeep"


@pytest.fixture
def sink() -> Iterator[Sink]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            assert self.path == "/hook?from=mailkeep"
            sink.posted.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(sink.status)
            self.send_header("location", "/elsewhere")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sink = Sink(server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield sink
        server.shutdown()


class Listener:
    """The running command; `lines` are its output."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mailkeep.run.cli.main", "listen", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=Launch().environment,
            cwd=instances.ROOT,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.errors = ""
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors += line

    def close(self) -> None:
        for reader in self._readers:
            reader.join(60)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def line(self, seconds: float = 60) -> str:
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"it printed nothing: {self.process.poll()} {self.errors}") from None

    def read_json(self) -> Any:
        return json.loads(self.line())

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Its exit code and standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        for reader in self._readers:
            reader.join(60)
        assert "Traceback" not in self.errors, self.errors
        return code, self.errors


@contextlib.contextmanager
def listening(*args: str) -> Iterator[Listener]:
    listener = Listener(*args)
    try:
        yield listener
    finally:
        if listener.process.poll() is None:
            listener.process.kill()
        listener.process.wait(60)
        listener.close()


def fail(*args: str) -> Result:
    """Run the command in this process, which costs a tenth of the program; it must end by itself."""
    ended = CliRunner().invoke(app, ["listen", *args])
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended


def send(house: LoadedInstance, subject: str, to: str = ALICE) -> str:
    connection = http.client.HTTPConnection(house.netloc, timeout=60)
    body = {"from": {"email": f"shop@{DOMAIN}"}, "to": [{"email": to}], "subject": subject, "text_body": "Hi."}
    headers = {"content-type": "application/json", "authorization": f"Bearer {house.key}"}
    connection.request("POST", "/api/v1/send", json.dumps(body), headers)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    assert answer.status == 200, content
    return content["data"]["id"]


def test_events_are_posted_and_signed_like_webhooks_until_ctrl_c(house: LoadedInstance, sink: Sink):
    place = ("--data-dir", str(house.running.data_dir))
    with listening("--forward", sink.url, "--json", *place) as listener:
        begun = listener.read_json()["listening"]
        assert (begun["from"], begun["forward"]) == (house.running.http, sink.url)
        message_id = send(house, "first", to="customer@elsewhere.test")
        results = [listener.read_json(), listener.read_json()]
        assert [(each["event"], each["message_id"], each["status"]) for each in results] == [
            ("mail.sent", message_id, 200),
            ("mail.delivered", message_id, 200),
        ]
        assert all(each["error"] is None and each["duration_ms"] >= 0 for each in results)
        sink.status = 301  # redirects are not followed and count as failures
        send(house, "second", to="customer@elsewhere.test")
        assert [listener.read_json()["status"] for _ in range(2)] == [301, 301]
        assert listener.end() == (0, "")
        assert listener.read_json() == {"ended": {"forwarded": 4, "failed": 2}}
    assert len(sink.posted) == 4
    for headers, body in sink.posted:
        event = Webhook(begun["secret"]).verify(body, headers)
        assert set(event) == {"id", "event", "event_id", "timestamp", "data"}
        assert headers["webhook-id"] == event["event_id"]
        assert headers["x-svc-event"] == event["event"]
    assert json.loads(sink.posted[0][1])["data"]["subject"] == "first"
    with listening("--forward", sink.url, *place) as again:
        assert begun["secret"] in again.line(), "the secret stays the same"
        assert again.line() == "Stop with Ctrl-C.\n"
        assert again.end(signal.SIGTERM)[0] == 0
        assert again.line() == "Events posted: 0; failed: 0.\n"


def test_only_selected_events_are_posted_and_failures_are_shown(house: LoadedInstance, sink: Sink):
    nowhere = f"http://127.0.0.1:{free_port()}/"
    args = (
        "--data-dir",
        str(house.running.data_dir),
        "--domain",
        DOMAIN.upper(),
        "--events",
        "mail.received,mail.spam",
    )
    with listening("--forward", nowhere, "--json", *args) as listener:
        listener.read_json()
        send(house, "to Alice")
        result = listener.read_json()
        assert (result["event"], result["status"]) == ("mail.received", None)
        assert result["error"].startswith("connect: ")
        assert listener.end()[0] == 0
        assert listener.read_json() == {"ended": {"forwarded": 1, "failed": 1}}
    with listening("--forward", sink.url, "--data-dir", args[1], "--domain", "unknown.test") as listener:
        assert listener.process.wait(60) == 1
        assert "There is no domain unknown.test." in listener.end()[1]


class Proxy:
    """A TCP proxy between the command and the server that can close all connections."""

    def __init__(self, netloc: str) -> None:
        parts = urlsplit(f"//{netloc}")
        self._behind = (parts.hostname or "", parts.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._behind, timeout=60)
                self._open += [client, server]
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            one.settimeout(None)
            while data := one.recv(100):
                other.sendall(data)
        for each in (one, other):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        opened, self._open = self._open, []
        for each in opened:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()


def test_each_remote_event_is_posted_once_despite_broken_connections(house: LoadedInstance, sink: Sink, tmp_path: Path):
    key_file = tmp_path / "key"
    key_file.write_text(house.key + "\n")
    proxy = Proxy(house.netloc)
    server = ("--url", f"http://127.0.0.1:{proxy.port}/", "--key-file", str(key_file))
    with listening("--forward", sink.url, "--events", "mail.received", "--json", *server) as listener:
        assert listener.read_json()["listening"]["from"] == server[1].rstrip("/")
        expected = [f"number {number}" for number in range(24)]
        for sent, subject in enumerate(expected, 1):
            send(house, subject)
            if sent in (4, 12, 20):
                # Wait for events of the new connection, so that there is one to close.
                wait_until(lambda known=sent - 8: len(sink.posted) > known)
                proxy.cut()
            time.sleep(0.1)
        wait_until(lambda: len(sink.posted) >= len(expected))
        wait_until(lambda: listener.errors.count("; connecting again in ") >= 3)
        code, _ = listener.end()
    proxy.close()
    assert code == 0
    assert [json.loads(body)["data"]["subject"] for _, body in sink.posted] == expected


def test_a_refused_key_stops_it(house: LoadedInstance, sink: Sink, tmp_path: Path):
    key_file = tmp_path / "key"
    key_file.write_text("svc_sk_" + "x" * 43)
    with listening("--forward", sink.url, "--url", house.running.http, "--key-file", str(key_file)) as listener:
        assert listener.process.wait(60) == 1
        assert "API_KEY_INVALID" in listener.end()[1]


@pytest.mark.parametrize("content", [b"svc_\xff\xfe", b"\xff\xfes\0v\0c\0", "svc_sk_Ä".encode(), b"", b"hush"])
def test_a_key_file_without_a_key_is_an_error(sink: Sink, tmp_path: Path, content: bytes):
    key_file = tmp_path / "key"
    key_file.write_bytes(content)
    ended = fail("--forward", sink.url, "--url", "http://localhost:1", "--key-file", str(key_file))
    assert (ended.exit_code, ended.stderr) == (1, f"error: {key_file} does not contain an API key (svc_…).\n")


@contextlib.contextmanager
def answering(status: int, body: bytes, key_file: Path) -> Iterator[tuple[str, ...]]:
    """The options for a server that answers every request with this."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    key_file.write_text("svc_sk_" + "x" * 43)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "--url", f"http://127.0.0.1:{server.server_port}", "--key-file", str(key_file)
        server.shutdown()


@pytest.mark.parametrize("status", [429, 503])
def test_the_exit_code_is_75_if_the_server_is_busy(sink: Sink, tmp_path: Path, status: int):
    busy = b'{"error": {"code": "BUSY", "message": "Not now."}}'
    with answering(status, busy, tmp_path / "key") as place:
        ended = fail("--forward", sink.url, *place, "--domain", DOMAIN, "--json")
    assert ended.exit_code == 75
    assert json.loads(ended.stdout)["error"] == {"code": "UNAVAILABLE", "message": "127.0.0.1 answers BUSY: Not now."}


@pytest.mark.parametrize(
    "body, args, message",
    [
        (b"<html>Welcome!</html>\n", ["--domain", DOMAIN], "is not a Mailkeep server."),
        (b'{"data": [{"name": "example.test"}]}', ["--domain", DOMAIN], "is not a Mailkeep server."),
        (b"x" * (4 << 20) + b"x", ["--domain", DOMAIN], "the answer is larger than 4 MiB."),
        (b"<html>\n\nWelcome!</html>\n", [], "The server sent an invalid event stream."),
        (b"id: 1\nevent: mail.sent\ndata: {}\n\n", [], "The server sent an invalid event stream."),
        (b'data: {"message_id": 5}\n\n', [], "The server sent an invalid event stream."),
        (b"data: \xff\n\n", [], "The server sent an invalid event stream."),
    ],
)
def test_answers_of_another_server_are_an_error(sink: Sink, tmp_path: Path, body: bytes, args: list[str], message: str):
    with answering(200, body, tmp_path / "key") as place:
        ended = fail("--forward", sink.url, *place, *args)
    assert ended.exit_code == 1
    assert message in ended.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["--forward", "http://localhost:3000/", "--events", "mail.lost"],
        ["--forward", "http://localhost:3000/", "--events", ","],
        ["--forward", "localhost:3000"],
        ["--forward", "http://localhost:3000/", "--url", "https://mail.example.com"],
        ["--forward", "http://localhost:3000/", "--url", "http://192.0.2.1", "--key-file", "/dev/null"],
        ["--forward", "http://localhost:3000/", "--url", "https://192.0.2.1/api/v1", "--key-file", "/dev/null"],
    ],
)
def test_invalid_options_are_usage_errors(args: list[str]):
    ran = CliRunner().invoke(app, ["listen", *args])
    assert (ran.exit_code, "Error" in ran.output) == (2, True)


def test_without_a_running_instance_it_fails(tmp_path: Path):
    with listening("--forward", "http://localhost:3000/", "--data-dir", str(tmp_path)) as listener:
        assert listener.process.wait(60) == 75
        assert "is not running" in listener.end()[1]


def wait_until(condition: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
