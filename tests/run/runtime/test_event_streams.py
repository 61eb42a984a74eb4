"""Event streams of a running instance: they outlast request deadlines; clients that stop reading are disconnected."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from bench.flood import LoadedInstance, set_up
from bench.login_flood import SETTINGS
from mailkeep.db import postgres
from tests.run.cli.test_listen import listening, send
from tests.support import instance as instances
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(90)
BEGINNING = "00000000-0000-0000-0000-000000000000"
HURRIED = {
    "MAILKEEP_HTTP__HEADER_TIMEOUT_SECONDS": "1",
    "MAILKEEP_HTTP__READ_TIMEOUT_SECONDS": "1",
    "MAILKEEP_HTTP__SLOWEST_BYTES_PER_SECOND": "1000000",
    "MAILKEEP_LIMITS__EVENT_STREAMS": "2",
}


@pytest.fixture
def house() -> Iterator[LoadedInstance]:
    folder = new_directory("mailkeep-streams-", 0o755)
    running = instances.start(folder / "data", SETTINGS | HURRIED)
    yield set_up(running)
    if running.process.poll() is None:
        running.stop()
    shutil.rmtree(folder)


class Reader(threading.Thread):
    """Follows the stream and reads everything."""

    def __init__(self, house: LoadedInstance) -> None:
        super().__init__(daemon=True)
        self.connection, self.answer = ask(house)
        self.subjects: list[str] = []
        self.end: dict[str, str] | None = None
        self.whole = False
        self.start()

    def run(self) -> None:
        name = ""
        for line in self.answer:
            if line.startswith(b"event: "):
                name = line[7:].decode().strip()
            elif line.startswith(b"data: ") and name == "stream.end":
                self.end = json.loads(line[6:])
            elif line.startswith(b"data: "):
                self.subjects.append(json.loads(line[6:])["data"].get("subject"))
        self.whole = True  # http.client raises where the last chunk is missing
        self.connection.close()

    def until(self, subject: str) -> None:
        deadline = time.monotonic() + 30
        while subject not in self.subjects:
            assert self.is_alive(), self.end
            assert time.monotonic() < deadline
            time.sleep(0.05)


def ask(
    house: LoadedInstance, path: str = "/events/stream?kind=mail.sent"
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(house.netloc, timeout=20)
    connection.request("GET", f"/api/v1{path}", headers={"authorization": f"Bearer {house.key}"})
    return connection, connection.getresponse()


def follow_without_reading(house: LoadedInstance) -> socket.socket:
    """A connection whose stream has begun, with all events, and is not read."""
    idle = socket.create_connection(("127.0.0.1", int(house.netloc.rpartition(":")[2])), timeout=30)
    path = f"/api/v1/events/stream?after={BEGINNING}"
    idle.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {house.key}\r\n\r\n".encode())
    deadline = time.monotonic() + 30
    while b"\r\nretry: 2000\n" not in (seen := idle.recv(4096, socket.MSG_PEEK)):  # the first line of the stream
        assert seen.startswith(b"HTTP/1.1 200 "[: len(seen)]), seen
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return idle


def count_unread_bytes(connection: socket.socket) -> int:
    """The number of bytes until the end or a reset."""
    count = 0
    try:
        while piece := connection.recv(1 << 16):
            count += len(piece)
    except ConnectionResetError:
        pass
    return count


def emit_many(house: LoadedInstance, count: int) -> None:
    """Emit events of 8 KiB, of a kind that other readers do not follow: they may be too slow for them."""
    urls = postgres.running_urls(house.running.data_dir)
    assert urls
    with psycopg.connect(urls.owner, autocommit=True) as conn:
        conn.execute(
            """
            SELECT emit_events(e.at, jsonb_agg(jsonb_build_object('id', gen_random_uuid(), 'kind', 'mail.delivered',
                                                                  'data', jsonb_build_object('x', repeat('x', 8192)))))
            FROM generate_series(1, %s), (SELECT created_at AS at FROM events LIMIT 1) e GROUP BY e.at
            """,
            [count],
        )


@pytest.mark.timeout(120)
def test_streams_last_until_the_server_stops_or_a_reader_stalls(house: LoadedInstance):
    reader = Reader(house)
    assert reader.answer.status == 200
    assert reader.answer.headers["transfer-encoding"] == "chunked"
    time.sleep(2.5)  # longer than a head, and a reader, may take
    send(house, "still there")
    reader.until("still there")

    # Another client requests 20 MB and does not read: it is disconnected, so others get its slot.
    emit_many(house, 2500)
    with follow_without_reading(house) as idle:
        deadline = time.monotonic() + 60
        while True:
            third, answer = ask(house, "/events/stream?duration=0")
            answer.read()
            third.close()
            if answer.status == 200:
                break
            assert answer.status == 503
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert count_unread_bytes(idle) < 20_000_000

    # The first stream has continued.
    send(house, "to the end")
    reader.until("to the end")
    with listening("--forward", "http://127.0.0.1:9/", "--json", "--data-dir", str(house.running.data_dir)) as listener:
        assert "listening" in listener.read_json()
        started = time.monotonic()
        assert house.running.stop() == 0, house.running.log
        assert time.monotonic() - started < 8
        reader.join(5)
        assert reader.end is not None
        assert reader.end["code"] == "UNAVAILABLE"
        assert reader.whole

        # `mailkeep listen` waits for its server to come back.
        running = instances.start(house.running.data_dir, SETTINGS | HURRIED)
        try:
            send(LoadedInstance(running, house.key), "after the restart")
            while listener.read_json()["event"] != "mail.sent":  # "to the end" may arrive only after the restart
                pass
            assert listener.end() == (0, "")
        finally:
            assert running.stop() == 0, running.log
