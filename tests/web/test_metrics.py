"""Metrics, and the listener that nobody outside sees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from prometheus_client import values

from mailkeep.core.counters import Count, Counters, Gauge
from mailkeep.core.errors import Unavailable
from mailkeep.web import metrics_files
from mailkeep.web.metrics import Metrics, internal_app
from mailkeep.web.metrics_files import MetricsFiles
from mailkeep.web.pipeline import AnsweredRequest, Pipeline
from mailkeep.web.router import Router
from tests.support.caller import Caller
from tests.web.pipeline_setup import API, ENDPOINTS, PipelineSetup


def lines(metrics: Metrics) -> set[str]:
    return set(metrics.text().decode().splitlines())


async def test_requests_are_counted_by_endpoint_and_refusals_by_code():
    metrics, setup = Metrics(), PipelineSetup()
    call = Caller(Pipeline(setup.app, Router(ENDPOINTS), setup.access.control, metrics))
    await call("GET", f"{API}/open")
    await call("GET", f"{API}/things/017")
    await call("GET", f"{API}/nowhere/alice@example.test")
    await call("BREW", f"{API}/open")
    found = lines(metrics)
    assert 'mailkeep_http_requests_total{method="GET",path="/open",status="200"} 1.0' in found
    assert 'mailkeep_http_requests_total{method="GET",path="/things/{id}",status="401"} 1.0' in found
    assert 'mailkeep_http_requests_total{method="GET",path="other",status="404"} 1.0' in found
    assert 'mailkeep_http_requests_total{method="other",path="other",status="405"} 1.0' in found
    assert 'mailkeep_http_refusals_total{code="AUTH_REQUIRED",status="401"} 1.0' in found
    assert 'mailkeep_http_request_duration_seconds_count{method="GET",path="/open"} 1.0' in found
    assert "mailkeep_http_requests_in_flight 0.0" in found
    assert not any("alice" in line or "BREW" in line for line in found)


def test_mail_is_counted():
    metrics = Metrics()
    metrics.count_smtp_session("inbound")
    counters = Counters()
    counters.add("messages_accepted", "inbound", "smtp")
    counters.add("deliveries", "inbound", "received")
    counters.add("webhook_attempts", "delivered", times=3)
    counters.add("of_another_version", "delivered")
    text = metrics.text(counters.drain()).decode()
    assert "of_another_version" not in text
    assert {
        'mailkeep_webhook_attempts_total{outcome="delivered"} 3.0',
        'mailkeep_smtp_sessions_total{listener="inbound"} 1.0',
        'mailkeep_messages_accepted_total{direction="inbound",source="smtp"} 1.0',
        'mailkeep_deliveries_total{direction="inbound",status="received"} 1.0',
    } <= set(text.splitlines())


def test_two_processes_of_a_test_do_not_share_counters():
    first, second = Metrics(), Metrics()
    first.observe(AnsweredRequest("GET", "/open", 200, 0.1, None))
    assert not any(line.startswith("mailkeep_http_requests_total") for line in lines(second))


@pytest.mark.parametrize(
    "method, path, ready, status",
    [
        ("GET", "/metrics", True, 200),
        ("GET", "/healthz", False, 200),
        ("GET", "/readyz", True, 200),
        ("GET", "/readyz", False, 503),
        ("HEAD", "/healthz", True, 200),
        ("POST", "/metrics", True, 405),
        ("GET", "/", True, 404),
        ("GET", "/api/v1/domains", True, 404),
    ],
)
async def test_the_internal_listener(method: str, path: str, ready: bool, status: int):
    async def is_ready() -> bool:
        return ready

    async def counted() -> list[Count]:
        return [(("deliveries", ("outbound", "delivered")), 7)]

    answer = await Caller(internal_app(Metrics(), is_ready, counted, _no_gauges), "127.0.0.1")(method, path)
    assert answer.status == status
    if path == "/metrics" and status == 200:
        assert answer.headers["content-type"].startswith("text/plain")
        assert b"process_" in answer.body
        assert b'mailkeep_deliveries_total{direction="outbound",status="delivered"} 7.0' in answer.body


async def test_without_the_database_the_counts_of_this_process_are_shown():
    async def is_ready() -> bool:
        return False

    async def away() -> list[Count]:
        raise Unavailable

    answer = await Caller(internal_app(Metrics(), is_ready, away, _no_gauges), "::1")("GET", "/metrics")
    assert answer.status == 200
    assert b"mailkeep_http_requests_in_flight" in answer.body
    assert b"mailkeep_deliveries_total{" not in answer.body


async def _ready() -> bool:
    return True


async def _nothing() -> list[Count]:
    return []


async def _no_gauges() -> list[Gauge]:
    return []


@pytest.mark.parametrize("client", ["192.0.2.1", "10.0.0.1", "::ffff:192.0.2.1", "2001:db8::1", "unix"])
async def test_without_a_token_only_loopback_reads_the_metrics(client: str):
    """Issue 17, number 19: whoever reached the internal listener read the metrics."""
    served = internal_app(Metrics(), _ready, _nothing, _no_gauges)
    answer = await Caller(served, client)("GET", "/metrics")
    assert answer.status == 403
    assert b"http.metrics_token" in answer.body
    assert b"process_" not in answer.body
    assert (await Caller(served, client)("GET", "/healthz")).status == 200
    for near in ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"):
        assert (await Caller(served, near)("GET", "/metrics")).status == 200


async def test_with_a_token_it_is_required_from_everywhere():
    served = internal_app(Metrics(), _ready, _nothing, _no_gauges, token="a long token")
    for client in ("127.0.0.1", "192.0.2.1"):
        call = Caller(served, client)
        for given in ({}, {"authorization": "Bearer another"}, {"authorization": "Basic a long token"}):
            answer = await call("GET", "/metrics", given)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert b"process_" not in answer.body
        assert (await call("GET", "/metrics", {"authorization": "Bearer a long token"})).status == 200


def test_several_processes_report_the_sum_and_a_successor_continues_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)  # restored at the end

    opened: list[MetricsFiles] = []

    def start(slot: int) -> Metrics:
        opened.append(MetricsFiles(tmp_path, slot))
        metrics = Metrics(opened[-1], lambda: [os.getpid(), os.getppid()])
        metrics.track_in_flight().__enter__()
        return metrics

    def answer(metrics: Metrics, seconds: float) -> None:
        metrics.observe(AnsweredRequest("GET", "/open", 200, seconds, None))

    first, second = start(0), start(1)
    answer(first, 0.002)
    answer(second, 0.2)
    metrics_files.forget_gauges(tmp_path, 1)
    answer(start(1), 0.2)
    assert {
        'mailkeep_http_requests_total{method="GET",path="/open",status="200"} 3.0',
        'mailkeep_http_request_duration_seconds_count{method="GET",path="/open"} 3.0',
        'mailkeep_http_request_duration_seconds_bucket{le="0.0025",method="GET",path="/open"} 1.0',
        'mailkeep_http_request_duration_seconds_bucket{le="+Inf",method="GET",path="/open"} 3.0',
        "mailkeep_http_requests_in_flight 2.0",
    } <= lines(first)
    (memory,) = [line for line in lines(first) if line.startswith("process_resident_memory_bytes ")]
    own = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in (os.getpid(), os.getppid()))
    assert float(memory.split()[1]) == pytest.approx(own * os.sysconf("SC_PAGE_SIZE"), rel=0.5)
    for files in opened:
        files.close()
    metrics_files.clear(tmp_path)
    assert not any(tmp_path.iterdir())
