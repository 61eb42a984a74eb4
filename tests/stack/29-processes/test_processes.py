"""Several processes serve the API as one would: what is counted, remembered and streamed is that of all of them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import threading
import time
import tomllib
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.cli import doctor_mail
from mailkeep.run.runtime import service_status
from mailkeep.run.runtime.finding import Level
from mailkeep.settings import load_settings
from tests.stack.api_processes import ApiProcesses
from tests.stack.edge import Connection
from tests.stack.harness import Stack, eventually

pytestmark = pytest.mark.timeout(200)
DOMAIN = "processes.test"
VERSIONS = 'mailkeep_http_requests_total{method="GET",path="/version",status="200"}'
IN_FLIGHT = "mailkeep_http_requests_in_flight"


@pytest.fixture(scope="module", params=[2, 4])
def count(request: pytest.FixtureRequest, stack_folder: Path) -> Iterator[int]:
    """The number of processes of the API while these tests run."""
    processes, wanted = ApiProcesses(Stack(stack_folder)), int(request.param)
    file = processes.stack.data_dir / "mailkeep.toml"
    before = file.read_text() if file.exists() else ""
    assert "http" not in tomllib.loads(before)
    file.write_text(f"{before}\n[http]\nprocesses = {wanted}\nbody_timeout_seconds = 1\n")
    try:
        processes.restart()
        yield wanted
    finally:
        file.write_text(before)
        processes.restart()


@pytest.fixture
def processes(count: int, alone: Stack) -> Iterator[ApiProcesses]:
    processes = ApiProcesses(alone)
    eventually(lambda: len(processes.pids) == count, what=f"{count} processes")
    alone.get_domain(DOMAIN)
    yield processes
    processes.close()


@contextlib.contextmanager
def changed(stack: Stack, changes: dict[str, object]) -> Iterator[None]:
    """Stored settings for a block."""
    stack.do("PATCH", "/config", {"changes": changes})
    try:
        yield
    finally:
        back = {"changes": dict.fromkeys(changes)}
        eventually(lambda: stack.ask("PATCH", "/config", back).status == 200, 30, "the old settings")


@contextlib.contextmanager
def restarted(processes: ApiProcesses, lines: str) -> Iterator[None]:
    """The API with these settings too, for a block: limits of requests change by an apply, which takes longer."""
    file = processes.stack.data_dir / "mailkeep.toml"
    before = file.read_text()
    file.write_text(f"{before}\n{lines}\n")
    try:
        processes.restart()
        yield
    finally:
        file.write_text(before)
        processes.restart()


def test_limits_count_the_requests_to_all_processes(processes: ApiProcesses) -> None:
    key = processes.stack.do("POST", "/api-keys", {"name": "limited", "rate_limit": 10})["key"]
    headers = {"Cookie": "", "Authorization": f"Bearer {key}"}
    with restarted(processes, "[limits]\nrequests_per_second = 10"):  # 20 at once
        connections, statuses, began = processes.connect(), list[int](), time.monotonic()
        while 429 not in statuses and time.monotonic() - began < 30:
            statuses += [answer.status for answer in processes.ask_all(connections, "GET", "/version")]
        most = 20 + 10 * (time.monotonic() - began) + 1
    assert set(statuses) == {200, 429}
    assert statuses.count(200) <= most
    processes.close()
    connections = processes.connect()
    calls = [each.status for _ in range(10) for each in processes.ask_all(connections, "GET", "/domains", **headers)]
    assert sorted(calls) == [200] * 10 + [429] * (len(calls) - 10)


def test_event_streams_reach_all_processes_and_are_limited_together(processes: ApiProcesses) -> None:
    key = processes.stack.do("POST", "/api-keys", {"name": "streams"})["key"]
    streaming, calling = processes.connect(), processes.connect()
    fields = {"Authorization": f"Bearer {key}"}
    with changed(processes.stack, {"limits.event_streams_per_caller": len(streaming)}):
        time.sleep(1.5)
        answers: list[http.client.HTTPResponse] = []
        for connection in streaming.values():
            connection.request("GET", "/api/v1/events/stream", headers=fields)
            answers.append(connection.getresponse())
            assert answers[-1].status == 200
            assert answers[-1].fp.readline()  # the stream is open, and counted
        refused = processes.ask_all(calling, "GET", "/events/stream?duration=0", Cookie="", **fields)
        assert {(each.status, each.body["error"]["details"]["reason"]) for each in refused} == {
            (429, "too_many_streams")
        }
        subject = f"Streamed {uuid.uuid4()}"
        assert processes.stack.send(f"shop@{DOMAIN}", "anna@remote.test", subject=subject).status == 200
        for answer in answers:
            line = b""
            while subject.encode() not in line:
                line = answer.fp.readline()
                assert line, "the stream has ended"
    processes.close()
    again = processes.connect()
    eventually(lambda: processes.metrics()[IN_FLIGHT] <= 1, 30, "the end of the streams")
    for connection in again.values():
        assert processes.ask(connection, "GET", "/version").status == 200


def test_a_body_that_pauses_is_refused_through_nginx(processes: ApiProcesses) -> None:
    with contextlib.closing(Connection(processes.stack.ports["https"])) as connection:
        connection.putrequest("POST", "/api/v1/send")
        for field in (
            ("Cookie", processes.stack.cookie),
            ("Content-Type", "application/json"),
            ("Content-Length", "99"),
        ):
            connection.putheader(*field)
        connection.endheaders(b"{")
        answer = connection.getresponse()
        assert (answer.status, json.load(answer)["error"]["code"]) == (400, "INVALID_JSON")


def test_one_key_at_the_same_time_in_all_processes_sends_once(processes: ApiProcesses) -> None:
    connections, key, to = processes.connect(), str(uuid.uuid4()), f"once-{uuid.uuid4()}@remote.test"
    body = {"from": {"email": f"shop@{DOMAIN}"}, "to": [{"email": to}], "subject": "Once", "text_body": "Hello."}
    headers = {"Idempotency-Key": key}
    answers = processes.ask_all(connections, "POST", "/send", body, **headers)
    later = processes.ask_all(connections, "POST", "/send", body, **headers)
    assert {each.status for each in answers} <= {200, 409}
    assert len({json.dumps(each.data) for each in later}) == 1
    assert all(each.data == later[0].data for each in answers if each.status == 200)
    assert all(each.body["error"]["code"] == "IDEMPOTENCY_IN_PROGRESS" for each in answers if each.status == 409)
    assert len(processes.stack.do("GET", f"/messages?to={to}")) == 1
    processes.stack.arrived(to)
    assert len(processes.stack.caught(to)) == 1


def test_a_killed_process_is_replaced_and_costs_only_its_own_requests(processes: ApiProcesses) -> None:
    connections, streams = processes.connect(), processes.connect()
    before, counted = processes.pids, processes.metrics()[VERSIONS]
    killed = before[-1]
    for connection in streams.values():
        connection.request("GET", "/api/v1/events/stream", headers={"Cookie": processes.stack.cookie})
        assert connection.getresponse().status == 200
    body = {"from": {"email": f"shop@{DOMAIN}"}, "to": [{"email": "k@remote.test"}], "subject": "K", "text_body": "K"}
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    with ThreadPoolExecutor() as pool:
        stop = threading.Event()

        def keep_asking(connection: http.client.HTTPConnection) -> int:
            done = 0
            while not stop.is_set():
                assert processes.ask(connection, "GET", "/version").status == 200
                done += 1
                time.sleep(0.02)  # less than the limit of requests
            return done

        others = [pool.submit(keep_asking, each) for pid, each in connections.items() if pid != killed]
        os.kill(killed, signal.SIGSTOP)
        lost = pool.submit(processes.ask, connections[killed], "POST", "/send", body, **headers)
        time.sleep(0.5)
        os.kill(killed, signal.SIGKILL)
        with pytest.raises((OSError, http.client.HTTPException)):
            lost.result(60)
        eventually(lambda: len(processes.pids) == len(before) and killed not in processes.pids, 60, "the next process")
        time.sleep(0.5)
        stop.set()
        asked = sum(each.result(60) for each in others)
    assert set(before) - {killed} < set(processes.pids)
    new = eventually(lambda: _connect_to_all(processes), 60, "connections to all")
    # What it had claimed is free, and what it counted stays counted.
    retried = processes.ask_all(new, "POST", "/send", body, **headers)
    assert {each.status for each in retried} <= {200, 409}
    eventually(lambda: processes.ask_all(new, "POST", "/send", body, **headers)[0].status == 200, 30, "the answer")
    assert len(processes.stack.do("GET", "/messages?to=k@remote.test&limit=100")) >= 1
    assert asked
    assert processes.metrics()[VERSIONS] >= counted + asked


def _connect_to_all(processes: ApiProcesses) -> dict[int, http.client.HTTPConnection] | None:
    with contextlib.suppress(AssertionError, StopIteration):
        return processes.connect()
    return None


def test_a_restart_refuses_no_connection(processes: ApiProcesses) -> None:
    before, parent = processes.pids, processes.parent
    stop, statuses = threading.Event(), []

    def keep_asking() -> None:
        while not stop.is_set():
            statuses.append(processes.stack.ask("GET", "/version").status)

    with ThreadPoolExecutor() as pool:
        asking = [pool.submit(keep_asking) for _ in range(4)]
        processes.restart()
        stop.set()
        for each in asking:
            each.result(60)
    assert set(statuses) <= {200, 429}, "refused connections"
    assert processes.parent != parent
    assert not set(before) & set(processes.pids)
    (status,) = [
        each for each in service_status.list_services(run_folder(processes.stack.data_dir)) if each.name == "api"
    ]
    assert status.pid == processes.parent
    settings = load_settings(processes.stack.data_dir).settings
    paths = InstancePaths(processes.stack.data_dir, run_folder(processes.stack.data_dir))
    (found,) = doctor_mail.check_api_processes(settings, paths)
    assert (found.level, found.message) == (Level.OK, f"{len(before)} of {len(before)} processes serve the API.")
    more = replace(settings, http=replace(settings.http, processes=len(before) + 1))
    assert [each.level for each in doctor_mail.check_api_processes(more, paths)] == [Level.WARNING]
    assert status.processes >= len(before) + 1
