"""Metrics in Prometheus' text format, and the small application of the internal listener that serves them.

Labels have few values by construction: endpoints by their declared path, methods that HTTP knows, published codes.
No address, domain or id ever becomes a label.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mailkeep.core.counters import Count
from mailkeep.core.errors import Unavailable
from mailkeep.web.pipeline import AnsweredRequest

# Of the whole installation, kept in the database: nodes are not to be added up.
_STORED_COUNTERS = {
    "messages_accepted": ("Messages taken, of the whole installation.", ("direction", "source")),
    "deliveries": ("Fates of recipients, and tries put off, of the whole installation.", ("direction", "status")),
    "webhook_attempts": ("Attempts to deliver an event, by what they made of it.", ("outcome",)),
}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one process, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        for collector in (prometheus.ProcessCollector, prometheus.PlatformCollector, prometheus.GCCollector):
            collector(registry=registry)
        labels = ("method", "path", "status")
        self._requests = prometheus.Counter("mailkeep_http_requests", "Answered requests.", labels, registry=registry)
        self._durations = prometheus.Histogram(
            "mailkeep_http_request_duration_seconds",
            "Time until the answer is made.",
            ("method", "path"),
            buckets=_SECONDS,
            registry=registry,
        )
        # Looked up by label they take longer than to count.
        self._counted: dict[tuple[str, str, int], tuple[prometheus.Counter, prometheus.Histogram]] = {}
        self._flying = prometheus.Gauge(
            "mailkeep_http_requests_in_flight", "Requests being answered.", registry=registry
        )
        self._refusals = prometheus.Counter(
            "mailkeep_http_refusals", "Refused requests by code.", ("status", "code"), registry=registry
        )
        self._sessions = prometheus.Counter(
            "mailkeep_smtp_sessions", "SMTP sessions that were opened.", ("listener",), registry=registry
        )

    def in_flight(self) -> AbstractContextManager[object]:
        """Stands around one request."""
        return self._flying.track_inprogress()

    def observe(self, answered: AnsweredRequest) -> None:
        """Count one answered request."""
        method = answered.method if answered.method in _METHODS else "other"
        counted = self._counted.get((method, answered.path, answered.status))
        if counted is None:
            counted = self._counted[method, answered.path, answered.status] = (
                self._requests.labels(method, answered.path, str(answered.status)),
                self._durations.labels(method, answered.path),
            )
        counted[0].inc()
        counted[1].observe(answered.seconds)
        if answered.code is not None:
            self._refusals.labels(str(answered.status), answered.code).inc()

    def smtp_session(self, listener: str) -> None:
        """Count a session on a listener: `inbound`, `sandbox`."""
        self._sessions.labels(listener).inc()

    def text(self, tallied: Iterable[Count] = ()) -> bytes:
        """All of it in the text format, with what all processes have counted (`core/counters`)."""
        sums = prometheus.CollectorRegistry()
        sums.register(_StoredCounters(tallied))
        return prometheus.generate_latest(self._registry) + prometheus.generate_latest(sums)


class _StoredCounters(Collector):
    """Counters that others have kept."""

    def __init__(self, tallied: Iterable[Count]) -> None:
        self._tallied = list(tallied)

    def collect(self) -> Iterator[Metric]:
        """A family for each name that we know, with its labels."""
        for name, (what, labels) in _STORED_COUNTERS.items():
            family = CounterMetricFamily(f"mailkeep_{name}", what, labels=labels)
            for (counted, values), count in self._tallied:
                if counted == name and len(values) == len(labels):
                    family.add_metric(values, count)
            yield family


def internal_app(
    metrics: Metrics,
    ready: Callable[[], Awaitable[bool]],
    tallied: Callable[[], Awaitable[Iterable[Count]]],
    *,
    token: str = "",
) -> ASGIApp:
    """What the internal listener answers: `/metrics`, `/healthz` (the process lives), `/readyz` (it can serve).

    `/metrics` requires `token` (`Authorization: Bearer`); if it is empty, only loopback may read the metrics.
    `tallied` reads what all processes have counted; left out while the database is away.
    """

    async def counts() -> Iterable[Count]:
        try:
            return await tallied()
        except Unavailable:
            return ()

    async def answer(scope: Scope) -> Response:
        path = scope["path"]
        if path == "/metrics" and (refused := _refusal(scope, token)):
            return refused
        if path == "/metrics":
            return Response(metrics.text(await counts()), media_type=prometheus.CONTENT_TYPE_LATEST)
        if path == "/healthz":
            return JSONResponse({"status": "ok"})
        if path == "/readyz":
            good = await ready()
            return JSONResponse({"status": "ok" if good else "down"}, 200 if good else 503)
        return JSONResponse({"status": "not found"}, 404)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        known = scope["method"] in ("GET", "HEAD")
        response = await answer(scope) if known else Response(status_code=405, headers={"allow": "GET, HEAD"})
        await response(scope, receive, send)

    return application


def _refusal(scope: Scope, token: str) -> Response | None:
    """Why this client may not read the metrics; None if it may."""
    if token:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, shown = (given[0] if len(given) == 1 else b"").partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(shown.strip(), token.encode()):
            return None
        said = {"status": "The metrics need the token of the setting http.metrics_token: Authorization: Bearer."}
        return JSONResponse(said, 401, headers={"www-authenticate": "Bearer"})
    if _is_loopback(scope):
        return None
    said = {"status": "The metrics are read from loopback only, unless the setting http.metrics_token is set."}
    return JSONResponse(said, 403)


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
