"""Metrics in the Prometheus text format, and the application of the internal listener that serves them.

Labels have few values: declared paths of endpoints, HTTP methods, published error codes; never addresses, domains or
ids.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mailkeep.core.counters import LATENCY_BOUNDS, Count, Gauge
from mailkeep.core.errors import Unavailable
from mailkeep.web.metrics_files import IN_FLIGHT_MODE, MetricsFiles
from mailkeep.web.pipeline import AnsweredRequest

# From the database, so each process reports the sum of all: do not add them up.
_STORED_COUNTERS = {
    "messages_accepted": ("Accepted messages, for the whole installation.", ("direction", "source")),
    "deliveries": (
        "Delivery outcomes of recipients, including deferrals, for the whole installation.",
        ("direction", "status"),
    ),
    "dns_checks": ("Checks of DNS records by the status of the domain or server.", ("status",)),
    "dns_queries": ("Queries to name servers for these checks.", ()),
    "filter_lessons": ("Messages that owners moved to or from Junk, by what the filter learned.", ("outcome",)),
    "reports": ("Mailed DMARC, TLS and abuse reports by outcome.", ("outcome",)),
    "submissions": ("Messages submitted by SMTP with an API key, by outcome.", ("outcome",)),
    "logins": (
        "Logins, by protocol and result; at the dashboard with a password, passkey or OIDC.",
        ("protocol", "result"),
    ),
    "webhook_attempts": ("Webhook delivery attempts by outcome.", ("outcome",)),
}
# From the database too: the counters `NAME_bucket` by the upper bound, and `NAME_milliseconds`.
_STORED_HISTOGRAMS = {"webhook_attempt_seconds": "Time that webhook delivery attempts took."}
# Measured when the metrics are read, for the whole installation.
_GAUGES = {
    "component_status": ("Whether a component of the health has a status.", ("component", "status")),
    "alerts_open": ("Alerts that have not ended.", ("area", "severity")),
    "queue_messages": ("Messages in the mail server's queue.", ("state",)),
    "queue_oldest_timestamp_seconds": ("When the oldest message arrived that waits in the queue.", ()),
    "disk_free_bytes": ("Free space of the data directory's disk.", ()),
    "disk_size_bytes": ("Size of the data directory's disk.", ()),
    "disk_free_inodes": ("Free inodes of the data directory's disk.", ()),
    "disk_inodes": ("Inodes of the data directory's disk.", ()),
    "disk_full_seconds": ("Time until the disk is full, if it goes on growing; absent if that is over a year.", ()),
    "clock_offset_seconds": ("How far the clock is ahead of another one.", ("source",)),
    "certificate_end_timestamp_seconds": ("When the first of the certificates in use expires.", ()),
    "probe_latency_seconds": ("Time until the last probe message was in its mailbox; absent if it failed.", ()),
    "backup_last_timestamp_seconds": ("When the last backup that succeeded began.", ()),
    "job_last_success_timestamp_seconds": ("When a background job last succeeded.", ("job",)),
}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The metrics of the process or processes that serve the API, in a registry of their own."""

    def __init__(self, files: MetricsFiles | None = None, pids: Callable[[], Iterable[int]] = tuple) -> None:
        """`files`: several processes count together; `pids` are their IDs."""
        self._files, self._pids = files, pids
        self._registry = registry = prometheus.CollectorRegistry()
        if files is None:
            for collector in (prometheus.ProcessCollector, prometheus.PlatformCollector, prometheus.GCCollector):
                collector(registry=registry)
        labels = ("method", "path", "status")
        self._requests = prometheus.Counter("mailkeep_http_requests", "Completed requests.", labels, registry=registry)
        self._durations = prometheus.Histogram(
            "mailkeep_http_request_duration_seconds",
            "Time until the response starts.",
            ("method", "path"),
            buckets=_SECONDS,
            registry=registry,
        )
        # Cached, because finding a metric by its labels takes longer than counting.
        self._request_metrics: dict[tuple[str, str, int], tuple[prometheus.Counter, prometheus.Histogram]] = {}
        self._in_flight = prometheus.Gauge(
            "mailkeep_http_requests_in_flight",
            "Requests in progress.",
            registry=registry,
            multiprocess_mode=IN_FLIGHT_MODE,
        )
        self._refusals = prometheus.Counter(
            "mailkeep_http_refusals", "Refused requests by error code.", ("status", "code"), registry=registry
        )
        self._sessions = prometheus.Counter(
            "mailkeep_smtp_sessions", "Opened SMTP sessions.", ("listener",), registry=registry
        )

    def track_in_flight(self) -> AbstractContextManager[object]:
        """Return a context manager that counts a request as in flight."""
        return self._in_flight.track_inprogress()

    def observe(self, answered: AnsweredRequest) -> None:
        """Count one request and its time."""
        method = answered.method if answered.method in _METHODS else "other"
        metrics = self._request_metrics.get((method, answered.path, answered.status))
        if metrics is None:
            metrics = self._request_metrics[method, answered.path, answered.status] = (
                self._requests.labels(method, answered.path, str(answered.status)),
                self._durations.labels(method, answered.path),
            )
        metrics[0].inc()
        metrics[1].observe(answered.seconds)
        if answered.code is not None:
            self._refusals.labels(str(answered.status), answered.code).inc()

    def count_smtp_session(self, listener: str) -> None:
        """Count a session on a listener: `inbound`."""
        self._sessions.labels(listener).inc()

    def text(self, stored: Iterable[Count] = (), gauges: Iterable[Gauge] = ()) -> bytes:
        """All metrics in the text format, with the counters of all processes (`core/counters`), and measured values."""
        sums = prometheus.CollectorRegistry()
        sums.register(_StoredCounters(stored))
        sums.register(_Measured(gauges))
        registry = self._registry
        if self._files:
            registry = prometheus.CollectorRegistry()
            self._files.register(registry, self._pids())
            prometheus.PlatformCollector(registry=registry)
        return prometheus.generate_latest(registry) + prometheus.generate_latest(sums)


class _StoredCounters(Collector):
    """Counters from the database."""

    def __init__(self, stored: Iterable[Count]) -> None:
        self._stored = list(stored)

    def collect(self) -> Iterator[Metric]:
        """Yield one metric family for each of `_STORED_COUNTERS`."""
        for name, (description, labels) in _STORED_COUNTERS.items():
            family = CounterMetricFamily(f"mailkeep_{name}", description, labels=labels)
            for (counter, values), count in self._stored:
                if counter == name and len(values) == len(labels):
                    family.add_metric(values, count)
            yield family
        for name, description in _STORED_HISTOGRAMS.items():
            yield self._make_histogram(name, description)

    def _make_histogram(self, name: str, description: str) -> Metric:
        counts = {values[0]: count for (counter, values), count in self._stored if counter == f"{name}_bucket"}
        milliseconds = sum(count for (counter, _), count in self._stored if counter == f"{name}_milliseconds")
        buckets: list[tuple[str, float]] = []
        total = 0
        for bound in LATENCY_BOUNDS:
            total += counts.get(bound, 0)
            buckets.append((bound, total))
        family = HistogramMetricFamily(f"mailkeep_{name}", description)
        family.add_metric([], buckets, sum_value=milliseconds / 1000)
        return family


class _Measured(Collector):
    """Values that may fall."""

    def __init__(self, gauges: Iterable[Gauge]) -> None:
        self._gauges = list(gauges)

    def collect(self) -> Iterator[Metric]:
        """Yield one metric family for each of `_GAUGES`."""
        for name, (description, labels) in _GAUGES.items():
            family = GaugeMetricFamily(f"mailkeep_{name}", description, labels=labels)
            for (gauge, values), value in self._gauges:
                if gauge == name:
                    family.add_metric(values, value)
            yield family


def internal_app(
    metrics: Metrics,
    ready: Callable[[], Awaitable[bool]],
    stored: Callable[[], Awaitable[Iterable[Count]]],
    measured: Callable[[], Awaitable[Iterable[Gauge]]],
    *,
    token: str = "",
) -> ASGIApp:
    """The application of the internal listener: `/metrics`, `/healthz` (the process runs), `/readyz` (it can serve).

    `/metrics` requires `token` (`Authorization: Bearer`); if it is empty, only loopback may read the metrics.
    `stored` reads the counters of all processes; they are omitted while the database is unavailable. `measured` reads
    values of now.
    """

    async def counts() -> Iterable[Count]:
        try:
            return await stored()
        except Unavailable:
            return ()

    async def answer(scope: Scope) -> Response:
        path = scope["path"]
        if path == "/metrics" and (refused := _refusal(scope, token)):
            return refused
        if path == "/metrics":
            return Response(metrics.text(await counts(), await measured()), media_type=prometheus.CONTENT_TYPE_LATEST)
        if path == "/healthz":
            return JSONResponse({"status": "ok"})
        if path == "/readyz":
            is_ready = await ready()
            return JSONResponse({"status": "ok" if is_ready else "down"}, 200 if is_ready else 503)
        return JSONResponse({"status": "not found"}, 404)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        is_read = scope["method"] in ("GET", "HEAD")
        response = await answer(scope) if is_read else Response(status_code=405, headers={"allow": "GET, HEAD"})
        await response(scope, receive, send)

    return application


def _refusal(scope: Scope, token: str) -> Response | None:
    """The error for a client that may not read the metrics; None if it may."""
    if token:
        values = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, credentials = (values[0] if len(values) == 1 else b"").partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(credentials.strip(), token.encode()):
            return None
        body = {"status": "Send the token of the setting http.metrics_token as `Authorization: Bearer TOKEN`."}
        return JSONResponse(body, 401, headers={"www-authenticate": "Bearer"})
    if _is_loopback(scope):
        return None
    body = {"status": "Only loopback may read the metrics. To allow others, set the setting http.metrics_token."}
    return JSONResponse(body, 403)


def _is_loopback(scope: Scope) -> bool:
    """Whether the client is on this machine: 127.0.0.0/8, ::1 and their IPv4-mapped form."""
    client = scope.get("client")
    try:
        address = ipaddress.ip_address(client[0]) if client else None
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address is not None and address.is_loopback
