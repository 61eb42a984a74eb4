"""Metrics in Prometheus' text format, and the small application of the internal listener that serves them.

Labels have few values by construction: endpoints by their declared path, methods that HTTP knows, published codes.
No address, domain or id ever becomes a label.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

import prometheus_client as prometheus
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mailkeep.web.pipeline import Answered

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
        self._messages = prometheus.Counter(
            "mailkeep_messages_accepted", "Messages taken.", ("direction", "source"), registry=registry
        )
        self._deliveries = prometheus.Counter(
            "mailkeep_deliveries", "Recipients that a fate was learnt of.", ("direction", "status"), registry=registry
        )

    def in_flight(self) -> AbstractContextManager[object]:
        """Stands around one request."""
        return self._flying.track_inprogress()

    def observe(self, answered: Answered) -> None:
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

    def message_accepted(self, direction: str, source: str) -> None:
        """Count a message that a listener took, by its direction and source as in the history."""
        self._messages.labels(direction, source).inc()

    def delivery(self, direction: str, status: str) -> None:
        """Count what became of a recipient at a listener: `received`, `rejected`."""
        self._deliveries.labels(direction, status).inc()

    def text(self) -> bytes:
        """All of it in the text format."""
        return prometheus.generate_latest(self._registry)


def internal_app(metrics: Metrics, ready: Callable[[], Awaitable[bool]]) -> ASGIApp:
    """What the internal listener answers: `/metrics`, `/healthz` (the process lives), `/readyz` (it can serve)."""

    async def answer(path: str) -> Response:
        if path == "/metrics":
            return Response(metrics.text(), media_type=prometheus.CONTENT_TYPE_LATEST)
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
        response = await answer(scope["path"]) if known else Response(status_code=405, headers={"allow": "GET, HEAD"})
        await response(scope, receive, send)

    return application
