"""The ASGI application: handles a request from its head to the response.

The features implement authentication and the audit of refused calls; the pipeline gets them as an `AccessControl`.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote
from uuid import UUID

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from mailkeep.core.entity_tag import entity_tag, parse_if_match
from mailkeep.core.errors import (
    InternalError,
    InvalidField,
    InvalidJson,
    NotFound,
    RateLimitExceeded,
    Refusal,
    Unavailable,
)
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal, allow
from mailkeep.core.secret import Vault
from mailkeep.core.security_headers import SECURITY_HEADERS
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.db.wait_limits import limit_database_waits
from mailkeep.settings import Settings
from mailkeep.settings.tree import LimitsSettings
from mailkeep.web import cors, envelope, listing
from mailkeep.web.body import is_csv, read_body
from mailkeep.web.cookies import read_cookies
from mailkeep.web.csv_table import parse_csv
from mailkeep.web.decode import decode_query, requires_body
from mailkeep.web.decode_process import Decoder
from mailkeep.web.endpoint import Call, Endpoint, HttpResponse, Rate
from mailkeep.web.fields import variants
from mailkeep.web.idempotency import IdempotencyContext, IdempotencyKeys
from mailkeep.web.limits import AddressLimit
from mailkeep.web.memory_budget import MemoryBudget, MemoryReservation
from mailkeep.web.origin import client_address, is_from_nginx, is_secure, refuse_cross_site
from mailkeep.web.router import Router

log = structlog.get_logger("mailkeep.web")

BODY_LIMIT = 1 << 20
_ANONYMOUS_BODIES = 16 << 20  # bytes of memory for the bodies of requests to endpoints without credentials
_PAGES_PER_SECOND, _PAGES_AT_ONCE = (
    20,
    200,
)  # of public pages, per address; a provider unsubscribes for many of its users
_PROMPT_SECONDS = 2.0  # a request whose body takes longer to arrive and decode is authenticated again
_RESOURCE_ERRORS = {
    errno.ENOSPC: "The disk is full.",
    errno.EDQUOT: "The disk is full.",
    errno.EMFILE: "Too many files are open.",
    errno.ENFILE: "Too many files are open.",
}


class PipelineContext(IdempotencyContext, Protocol):
    """What the pipeline uses of the application context."""

    @property
    def settings(self) -> Settings:
        """The settings; the memory for bodies is read once, the rest on each request."""
        ...

    @property
    def vault(self) -> Vault:
        """Seals pagination cursors."""
        ...

    @property
    def memory(self) -> SharedMemory:
        """Where the processes of the API count together."""
        ...


@dataclass(frozen=True, slots=True)
class AccessControl:
    """Authentication and audit, which features implement; every function receives the application context first."""

    authenticate: Callable[[Any, Call], Awaitable[None]]
    """Set `call.who` and `call.rate`, or refuse: 401; 429 if the API key's rate is used up."""
    verify_password: Callable[[Any, Call, str, str], Awaitable[None]]
    """Refuse if the password (third argument) is not the caller's; the last argument is the audit action."""
    record_refusal: Callable[[Any, Call, Refusal], Awaitable[None]]
    """Record that a mutating call of an authenticated caller was refused."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request with its response: the endpoint's path with placeholders (or `other`), the error code or None."""

    method: str
    path: str
    status: int
    seconds: float
    code: str | None


class RequestMeter(Protocol):
    """Counts requests for the metrics."""

    def track_in_flight(self) -> AbstractContextManager[object]:
        """Return a context manager that counts a request as in flight, from its head to the end of the response."""
        ...

    def observe(self, answered: AnsweredRequest) -> None:
        """Count one request before its response is sent; `seconds` is the time that it took."""
        ...


class Pipeline:
    """The ASGI application. `app` is the context that handlers receive."""

    def __init__(
        self, app: PipelineContext, router: Router, access: AccessControl, meter: RequestMeter | None = None
    ) -> None:
        limits = app.settings.limits
        self._app = app
        self._router = router
        self._access = access
        self._keys = IdempotencyKeys(app)
        self._budget = MemoryBudget(limits.body_budget_mb << 20, memory=app.memory, name="bodies")
        self._anonymous_budget = MemoryBudget(_ANONYMOUS_BODIES, memory=app.memory, name="anonymous bodies")
        self._meter = meter
        modules = {kind.__module__ for endpoint in router.endpoints for kind in variants(endpoint.body)}
        self._decoder = Decoder(sorted(modules), memory=app.memory)
        self._set_limits(limits)

    def _set_limits(self, limits: LimitsSettings) -> None:
        self._limits = limits
        requests, logins = limits.requests_per_second, limits.login_per_second
        memory = self._app.memory
        self._address_limit = AddressLimit(requests, max(1, round(2 * requests)), memory, "requests")
        self._login_limit = AddressLimit(logins, max(1, round(logins)), memory, "logins")
        self._page_limit = AddressLimit(_PAGES_PER_SECOND, _PAGES_AT_ONCE, memory, "pages")

    async def close(self) -> None:
        """End the child processes, after the last request."""
        await self._decoder.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request; other scopes are ignored."""
        if scope["type"] == "http":
            with self._meter.track_in_flight() if self._meter else nullcontext():
                await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        now = self._app.clock()
        request_id = uuid7(now)
        state = _RequestState(request_id, MemoryReservation(self._budget))
        started = asyncio.get_running_loop().time()
        try:
            with limit_database_waits():
                response = await self._answer(request, state, now)
        except Refusal as refusal:
            response = self._refusal_response(refusal, state)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # Only the server cancels requests, at the end of its grace period.
            response = self._refusal_response(Unavailable("The server is shutting down."), state)
        except Exception as error:
            # The endpoint's path: the path itself may contain a token.
            path = state.endpoint.path if state.endpoint else "other"
            log.exception("request failed", request_id=str(request_id), method=request.method, path=path)
            response = self._refusal_response(_unexpected_error(error), state)
        finally:
            state.reservation.release()
        present = {name for name, _ in response.raw_headers}
        response.raw_headers += [
            (b"x-request-id", str(request_id).encode()),
            *(field for field in SECURITY_HEADERS if field[0] not in present),
            *envelope.rate_headers(state.rate),
        ]
        cors.add_headers(request.headers, self._app.settings.cors.origins, response.headers)
        if self._meter:
            path = state.endpoint.path if state.endpoint else "other"
            seconds = asyncio.get_running_loop().time() - started
            self._meter.observe(AnsweredRequest(request.method, path, response.status_code, seconds, state.code))
        await response(scope, receive, send)

    def _refusal_response(self, refusal: Refusal, state: _RequestState) -> Response:
        state.code = refusal.code
        body = envelope.failure(refusal, state.request_id, self._app.clock())
        return Response(body, refusal.status, envelope.refusal_headers(refusal), "application/json")

    async def _answer(self, request: Request, state: _RequestState, now: datetime) -> Response:
        settings = self._app.settings
        if settings.limits != self._limits:
            self._set_limits(settings.limits)
        address = client_address(request, settings.http.trusted_proxies)
        state.rate = self._apply_limit(self._address_limit, address, now, state)
        preflight = cors.preflight(request, settings.cors.origins)
        if preflight is not None:
            return preflight
        # The raw path: Starlette's URL also depends on the Host header field.
        endpoint, parameters = self._match(request, state)
        limit = self._login_limit if endpoint.login else self._page_limit if endpoint.public_page else None
        if limit:
            state.rate = self._apply_limit(limit, address, now, state)
        call = Call(
            endpoint=endpoint,
            request_id=state.request_id,
            ip_address=address,
            user_agent=(request.headers.get("user-agent") or "")[:500].replace("\x00", "") or None,
            secure=is_secure(request, settings),
            headers=request.headers,
            path=parameters,
            query_pairs=parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True),
            cookies=read_cookies(request.headers),
            listener=request.headers.get("x-mailkeep-listener") if is_from_nginx(request) else None,
        )
        if endpoint.action is not None:
            try:
                await self._access.authenticate(self._app, call)
            finally:
                state.rate = call.rate or state.rate
            # A copy, because a reference to itself would keep the body alive after its reservation was released.
            copy = replace(call)
            call.reauthenticate = partial(self._reauthenticate, copy, endpoint.action)
            call.check_password = partial(self._access.verify_password, self._app, copy)
        try:
            if not endpoint.raw_body:
                refuse_cross_site(request, call, settings)
            started_at = asyncio.get_running_loop().time()
            await self._read_request(request, call, state.reservation, now)
            if endpoint.action is not None and asyncio.get_running_loop().time() - started_at > _PROMPT_SECONDS:
                await self._reauthenticate(call, endpoint.action)
            if endpoint.takes_if_match:
                call.if_match = parse_if_match(request.headers.get("if-match"))
                if not endpoint.versioned:
                    call.if_match.check(None)
            response = await self._keys.run(call, lambda: endpoint.handler(self._app, call))
        except Refusal as refusal:
            if call.who is not None and endpoint.audit is not None:
                await self._access.record_refusal(self._app, call, refusal)
            raise
        if request.method == "HEAD" and isinstance(response.content, AsyncIterator):
            response.content = _empty_stream()  # the handler's stream may have no end
        return self._encode(call, response)

    def _match(self, request: Request, state: _RequestState) -> tuple[Endpoint, dict[str, str]]:
        """The endpoint and the path's parameters; for a browser's unknown path the page that says so."""
        path = _path(request.scope)
        try:
            state.endpoint, parameters = self._router.match(request.method, path)
        except NotFound:
            page = self._router.page_for_unknown(request.method, path, request.headers.get("accept", ""))
            if page is None:
                raise
            return page, {}
        return state.endpoint, parameters

    async def _reauthenticate(self, call: Call, action: str) -> Principal:
        await self._access.authenticate(self._app, call)
        allow(call.caller(), action)
        return call.caller()

    def _apply_limit(self, limit: AddressLimit, address: str, now: datetime, state: _RequestState) -> Rate | None:
        """Count the request; returns the values of the RateLimit header fields, or raises RATE_LIMIT_EXCEEDED."""
        allowed, rate = limit.take(address, now)
        if not allowed:
            state.rate = rate
            raise RateLimitExceeded(retry_after=rate.reset if rate else 1)
        return rate or state.rate

    async def _read_request(self, request: Request, call: Call, reservation: MemoryReservation, now: datetime) -> None:
        """Read the body, check the caller's access, and decode query and body into `call`."""
        endpoint = call.endpoint
        limit = endpoint.body_limit(self._app.settings) if endpoint.body_limit else BODY_LIMIT
        if endpoint.action is None:  # they must not use up the memory of callers with credentials
            reservation.use_budget(self._anonymous_budget)
        accepts_csv = endpoint.csv_rows > 0
        http = self._app.settings.http
        call.raw_body = await read_body(
            request, limit, reservation, http, accepts_csv=accepts_csv, raw_types=endpoint.raw_body
        )
        if call.who is not None and endpoint.action is not None:
            allow(call.who, endpoint.action)
        pairs = list(call.query_pairs)
        if endpoint.listing is not None:
            pairs = listing.split_paging_parameters(pairs)[1]
        if endpoint.any_query:
            pairs = []
        if endpoint.query is not None and not endpoint.any_query:
            call.query = decode_query(pairs, endpoint.query)
        elif pairs:
            raise InvalidField(
                [{"field": name[:100], "reason": "is not a parameter of this path"} for name, _ in pairs]
            )
        if endpoint.listing is not None:
            call.page = listing.parse_page_request(call, endpoint.listing, self._app.vault, now)
        if call.raw_body and accepts_csv and is_csv(request.headers):
            call.body = await asyncio.to_thread(parse_csv, bytes(call.raw_body), endpoint.csv_rows)
        elif call.raw_body and not endpoint.raw_body:
            call.body = await self._decoder.read(call.raw_body, endpoint.body)
        elif endpoint.body is not None and requires_body(endpoint.body):
            raise InvalidJson("The request needs a JSON body.")
        elif endpoint.body is not None:
            call.body = variants(endpoint.body)[0]()

    def _encode(self, call: Call, response: HttpResponse) -> Response:
        status = response.status or call.endpoint.status
        if response.content is None:
            pagination = None
            if response.page is not None:
                pagination = listing.pagination(call, response.page, self._app.vault, self._app.clock())
            meta = {"pagination": pagination, "details": response.meta_details}
            body = envelope.success(response.data, call.request_id, self._app.clock(), **meta)
            encoded = Response(body, status, response.headers, "application/json")
            if response.changed_at is not None:
                encoded.headers["etag"] = entity_tag(response.changed_at)
        elif isinstance(response.content, bytes):
            encoded = Response(response.content, status, response.headers, response.content_type)
        else:
            encoded = _Stream(response.content, status, response.headers, response.content_type)
        for cookie in response.cookies:
            encoded.headers.append("set-cookie", cookie)
        return encoded


class _Stream(StreamingResponse):
    """A streamed response. It closes its content at the end, even if it was interrupted: otherwise a stream or file
    would stay open until garbage collection, minutes later.
    """

    def __init__(self, content: AsyncIterator[bytes], *options: Any) -> None:
        super().__init__(content, *options)
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            close: Callable[[], Awaitable[None]] | None = getattr(self._content, "aclose", None)
            if close is not None:
                await close()


class _RequestState:
    """What the response's header fields and the metrics need of a request; unset if it failed before that was known."""

    __slots__ = ("code", "endpoint", "rate", "request_id", "reservation")

    def __init__(self, request_id: UUID, reservation: MemoryReservation) -> None:
        self.request_id = request_id
        self.reservation = reservation
        self.rate: Rate | None = None
        self.endpoint: Endpoint | None = None
        self.code: str | None = None


async def _empty_stream() -> AsyncIterator[bytes]:
    for each in ():
        yield each


def _path(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return raw.decode("latin-1") if raw is not None else quote(scope["path"])


def _unexpected_error(error: Exception) -> Refusal:
    """The response to an unexpected exception: UNAVAILABLE if a retry may help, else an internal error."""
    message = _RESOURCE_ERRORS.get(error.errno or 0) if isinstance(error, OSError) else None
    return Unavailable(message, retry_after=30) if message else InternalError()
