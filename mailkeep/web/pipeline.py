"""The ASGI application: handles a request from its head to the response.

`AccessControl` is given to it: authentication, and the record of refused changes.
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
from mailkeep.db.wait_limits import limit_database_waits
from mailkeep.settings import Settings
from mailkeep.web import cors, envelope, listing
from mailkeep.web.body import read_body
from mailkeep.web.decode import decode_query, requires_body
from mailkeep.web.decode_process import Decoder
from mailkeep.web.endpoint import Call, Endpoint, HttpResponse, Rate
from mailkeep.web.fields import variants
from mailkeep.web.idempotency import IdempotencyContext, IdempotencyKeys
from mailkeep.web.limits import AddressLimit
from mailkeep.web.memory_budget import MemoryBudget, MemoryReservation
from mailkeep.web.origin import client_address, is_secure, refuse_cross_site
from mailkeep.web.router import Router

log = structlog.get_logger("mailkeep.web")

BODY_LIMIT = 1 << 20
_OPEN_BODIES = 16 << 20  # the memory budget of requests without credentials
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
        """The settings; rate limits are read once, the rest on each request."""
        ...

    @property
    def vault(self) -> Vault:
        """Seals pagination cursors."""
        ...


@dataclass(frozen=True, slots=True)
class AccessControl:
    """Authentication and audit, which features implement; every function receives the application context first."""

    authenticate: Callable[[Any, Call], Awaitable[None]]
    """Set `call.who` and `call.rate`, or refuse: 401; 429 if the API key's rate is used up."""
    prove_password: Callable[[Any, Call, str, str], Awaitable[None]]
    """Refuse if the given password is not the caller's own; the last argument is the audit action."""
    record_refusal: Callable[[Any, Call, Refusal], Awaitable[None]]
    """Record that a mutating call of an authenticated caller was refused."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A completed request: the path with placeholders (`other` if unknown), and the error code of a refusal."""

    method: str
    path: str
    status: int
    seconds: float
    code: str | None


class RequestMeter(Protocol):
    """Counts requests for the metrics."""

    def in_flight(self) -> AbstractContextManager[object]:
        """Counts a request as in flight, from its head to the end of the response."""
        ...

    def observe(self, answered: AnsweredRequest) -> None:
        """Count one completed request; its body may still be being sent."""
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
        self._budget = MemoryBudget(limits.body_budget_mb << 20)
        self._open_budget = MemoryBudget(_OPEN_BODIES)
        self._meter = meter
        kinds = {kind.__module__ for endpoint in router.endpoints for kind in variants(endpoint.body)}
        self._decoder = Decoder(sorted(kinds))
        self._addresses = AddressLimit(limits.requests_per_second, max(1, round(2 * limits.requests_per_second)))
        self._logins = AddressLimit(limits.login_per_second, max(1, round(limits.login_per_second)))

    async def close(self) -> None:
        """End the child processes, after the last request."""
        await self._decoder.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request; other scopes are ignored."""
        if scope["type"] == "http":
            with self._meter.in_flight() if self._meter else nullcontext():
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
        except Refusal as wrong:
            response = self._refuse(wrong, state)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # Only the server cancels requests, at the end of its grace period.
            response = self._refuse(Unavailable("The server is shutting down."), state)
        except Exception as error:
            log.exception("request failed", request_id=str(request_id), method=request.method, path=scope["path"])
            response = self._refuse(_unexpected_error(error), state)
        finally:
            state.share.release()
        own = {name for name, _ in response.raw_headers}
        response.raw_headers += [
            (b"x-request-id", str(request_id).encode()),
            *(field for field in envelope.SECURITY_HEADERS if field[0] not in own),
            *envelope.rate_headers(state.rate),
        ]
        cors.add_headers(request.headers, self._app.settings.cors.origins, response.headers)
        if self._meter:
            path = state.endpoint.path if state.endpoint else "other"
            seconds = asyncio.get_running_loop().time() - started
            self._meter.observe(AnsweredRequest(request.method, path, response.status_code, seconds, state.code))
        await response(scope, receive, send)

    def _refuse(self, wrong: Refusal, state: _RequestState) -> Response:
        state.code = wrong.code
        body = envelope.failure(wrong, state.request_id, self._app.clock())
        return Response(body, wrong.status, envelope.refusal_headers(wrong), "application/json")

    async def _answer(self, request: Request, state: _RequestState, now: datetime) -> Response:
        settings = self._app.settings
        address = client_address(request, settings.http.trusted_proxies)
        state.rate = self._limit(self._addresses, address, now, state)
        preflight = cors.preflight(request, settings.cors.origins)
        if preflight is not None:
            return preflight
        # The raw path: Starlette's URL also depends on the Host header field.
        endpoint, values = self._match(request, state)
        if endpoint.login:
            state.rate = self._limit(self._logins, address, now, state)
        call = Call(
            endpoint=endpoint,
            request_id=state.request_id,
            ip_address=address,
            user_agent=(request.headers.get("user-agent") or "")[:500].replace("\x00", "") or None,
            secure=is_secure(request, settings),
            headers=request.headers,
            path=values,
            query_pairs=parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True),
            cookies=request.cookies,
        )
        if endpoint.action is not None:
            try:
                await self._access.authenticate(self._app, call)
            finally:
                state.rate = call.rate or state.rate
            # A copy, because a reference to itself would keep the body alive after its reservation was released.
            copy = replace(call)
            call.reauthenticate = partial(self._reauthenticate, copy, endpoint.action)
            call.check_password = partial(self._access.prove_password, self._app, copy)
        try:
            refuse_cross_site(request, call, settings)
            await self._decode(request, call, state.share, now)
            reply = await self._keys.run(call, lambda: endpoint.handler(self._app, call))
        except Refusal as wrong:
            if call.who is not None and endpoint.audit is not None:
                await self._access.record_refusal(self._app, call, wrong)
            raise
        if request.method == "HEAD" and isinstance(reply.content, AsyncIterator):
            reply.content = _nothing()  # a stream may have no end
        return self._response(call, reply)

    def _match(self, request: Request, state: _RequestState) -> tuple[Endpoint, dict[str, str]]:
        path = _path(request.scope)
        try:
            state.endpoint, values = self._router.match(request.method, path)
        except NotFound:
            page = self._router.page_for_unknown(request.method, path, request.headers.get("accept", ""))
            if page is None:
                raise
            return page, {}
        return state.endpoint, values

    async def _reauthenticate(self, call: Call, action: str) -> Principal:
        await self._access.authenticate(self._app, call)
        allow(call.caller(), action)
        return call.caller()

    def _limit(self, limit: AddressLimit, address: str, now: datetime, state: _RequestState) -> Rate | None:
        allowed, rate = limit.take(address, now)
        if not allowed:
            state.rate = rate
            raise RateLimitExceeded(retry_after=rate.reset if rate else 1)
        return rate or state.rate

    async def _decode(self, request: Request, call: Call, share: MemoryReservation, now: datetime) -> None:
        endpoint = call.endpoint
        limit = endpoint.body_limit(self._app.settings) if endpoint.body_limit else BODY_LIMIT
        if endpoint.action is None:  # anonymous callers must not use up the memory of others
            share.use_budget(self._open_budget)
        call.raw_body = await read_body(request, limit, share, self._app.settings.http)
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
        if call.raw_body:
            call.body = await self._decoder.read(call.raw_body, endpoint.body)
        elif endpoint.body is not None and requires_body(endpoint.body):
            raise InvalidJson("The request needs a JSON body.")
        elif endpoint.body is not None:
            call.body = variants(endpoint.body)[0]()

    def _response(self, call: Call, reply: HttpResponse) -> Response:
        status = reply.status or call.endpoint.status
        if reply.content is None:
            pagination = None
            if reply.page is not None:
                pagination = listing.pagination(call, reply.page, self._app.vault, self._app.clock())
            more = {"pagination": pagination, "details": reply.meta_details}
            body = envelope.success(reply.data, call.request_id, self._app.clock(), **more)
            response = Response(body, status, reply.headers, "application/json")
        elif isinstance(reply.content, bytes):
            response = Response(reply.content, status, reply.headers, reply.content_type)
        else:
            response = _Stream(reply.content, status, reply.headers, reply.content_type)
        for cookie in reply.cookies:
            response.headers.append("set-cookie", cookie)
        return response


class _Stream(StreamingResponse):
    """A streamed response. It closes its content at the end, even if it was interrupted: otherwise a stream or file
    would stay open until garbage collection, minutes later.
    """

    def __init__(self, content: AsyncIterator[bytes], *more: Any) -> None:
        super().__init__(content, *more)
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            close: Callable[[], Awaitable[None]] | None = getattr(self._content, "aclose", None)
            if close is not None:
                await close()


class _RequestState:
    """What is known of a request when its response is sent, however early it failed."""

    __slots__ = ("code", "endpoint", "rate", "request_id", "share")

    def __init__(self, request_id: UUID, share: MemoryReservation) -> None:
        self.request_id = request_id
        self.share = share
        self.rate: Rate | None = None
        self.endpoint: Endpoint | None = None
        self.code: str | None = None


async def _nothing() -> AsyncIterator[bytes]:
    for each in ():
        yield each


def _path(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return raw.decode("latin-1") if raw is not None else quote(scope["path"])


def _unexpected_error(error: Exception) -> Refusal:
    """The response to an unexpected exception: UNAVAILABLE if a retry may help, else an internal error."""
    message = _RESOURCE_ERRORS.get(error.errno or 0) if isinstance(error, OSError) else None
    return Unavailable(message, retry_after=30) if message else InternalError()
