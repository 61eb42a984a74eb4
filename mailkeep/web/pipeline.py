"""One request from the socket to the envelope: an ASGI application around a router.

What it needs from above is handed in as a `Gate`: who calls, and what becomes of refused changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from mailkeep.core.clock import Clock
from mailkeep.core.errors import (
    InternalError,
    InvalidField,
    InvalidJson,
    PayloadTooLarge,
    RateLimitExceeded,
    Refusal,
    UnsupportedMediaType,
)
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import allow
from mailkeep.core.secret import Vault
from mailkeep.settings import Settings
from mailkeep.web import cors, envelope, listing
from mailkeep.web.decode import decode_body, decode_query, parse_json
from mailkeep.web.endpoint import Call, Endpoint, Rate, Reply
from mailkeep.web.limits import AddressLimit
from mailkeep.web.origin import client_address, refuse_foreign_origin
from mailkeep.web.router import Router

log = structlog.get_logger("mailkeep.web")

BODY_LIMIT = 1 << 20


class Toolbox(Protocol):
    """What the pipeline uses of the application's toolbox."""

    @property
    def settings(self) -> Settings: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def vault(self) -> Vault: ...


class Gate(Protocol):
    """What the pipeline asks of identity and audit."""

    async def authenticate(self, app: Any, call: Call) -> None:
        """Set `call.who` and `call.rate`, or refuse (401; 429 where the key's rate is used up)."""
        ...

    async def refused(self, app: Any, call: Call, wrong: Refusal) -> None:
        """Record that a mutating call of an authenticated caller was refused."""
        ...


class Meter(Protocol):
    """Counts requests for the metrics."""

    def observe(self, method: str, path: str, status: int, seconds: float) -> None:
        """One answered request; `path` is the endpoint's, with its placeholders."""
        ...


class Pipeline:
    """The ASGI application. `app` is the toolbox that handlers receive."""

    def __init__(self, app: Toolbox, router: Router, gate: Gate, meter: Meter | None = None) -> None:
        limits = app.settings.limits
        self._app = app
        self._router = router
        self._gate = gate
        self._meter = meter
        self._addresses = AddressLimit(limits.requests_per_second, 2 * limits.requests_per_second)
        self._logins = AddressLimit(limits.login_per_second, max(1, round(limits.login_per_second)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; other scopes are not ours."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        now = self._app.clock()
        request_id = uuid7(now)
        state = _State(request_id)
        started = asyncio.get_running_loop().time()
        try:
            response = await self._answer(request, state, now)
        except Refusal as wrong:
            response = self._refuse(wrong, state)
        except ClientDisconnect:
            return
        except Exception:
            log.exception("request failed", request_id=str(request_id), method=request.method, path=request.url.path)
            response = self._refuse(InternalError(), state)
        response.headers["x-request-id"] = str(request_id)
        for name, value in envelope.SECURITY_HEADERS:
            response.headers.setdefault(name, value)
        response.headers.update(envelope.rate_headers(state.rate))
        response.headers.update(cors.headers(request.headers, self._app.settings.cors.origins))
        if self._meter:
            path = state.call.endpoint.path if state.call else "other"
            self._meter.observe(request.method, path, response.status_code, asyncio.get_running_loop().time() - started)
        await response(scope, receive, send)

    def _refuse(self, wrong: Refusal, state: _State) -> Response:
        body = envelope.refusal(wrong, state.request_id, self._app.clock())
        return Response(body, wrong.status, envelope.refusal_headers(wrong), "application/json")

    async def _answer(self, request: Request, state: _State, now: datetime) -> Response:
        settings = self._app.settings
        address = client_address(request, settings.http.trusted_proxies)
        state.rate = self._limit(self._addresses, address, now, state)
        preflight = cors.preflight(request, settings.cors.origins)
        if preflight is not None:
            return preflight
        path = request.url.path
        endpoint, values = self._router.match(request.method, path)
        if endpoint.login:
            state.rate = self._limit(self._logins, address, now, state)
        call = state.call = Call(
            endpoint=endpoint,
            request_id=state.request_id,
            ip_address=address,
            user_agent=(request.headers.get("user-agent") or "")[:500].replace("\x00", "") or None,
            secure=request.url.scheme == "https" or settings.http.public_url.startswith("https:"),
            headers=request.headers,
            path=values,
            query_pairs=request.query_params.multi_items(),
            cookies=request.cookies,
        )
        if endpoint.action is not None:
            try:
                await self._gate.authenticate(self._app, call)
            finally:
                state.rate = call.rate or state.rate
        try:
            refuse_foreign_origin(request, call, settings)
            await self._decode(request, call, now)
            reply = await endpoint.handler(self._app, call)
        except Refusal as wrong:
            if call.who is not None and endpoint.audit is not None:
                await self._gate.refused(self._app, call, wrong)
            raise
        return self._response(call, reply)

    def _limit(self, limit: AddressLimit, address: str, now: datetime, state: _State) -> Rate | None:
        allowed, rate = limit.take(address, now)
        if not allowed:
            state.rate = rate
            raise RateLimitExceeded(retry_after=rate.reset if rate else 1)
        return rate or state.rate

    async def _decode(self, request: Request, call: Call, now: datetime) -> None:
        endpoint = call.endpoint
        limit = endpoint.body_limit(self._app.settings) if endpoint.body_limit else BODY_LIMIT
        call.raw_body = await _read(request, limit, self._app.settings.http.body_timeout_seconds)
        if call.who is not None and endpoint.action is not None:
            allow(call.who, endpoint.action)
        pairs = list(call.query_pairs)
        if endpoint.listing is not None:
            pairs = listing.split(pairs)[1]
        if endpoint.query is not None:
            call.query = decode_query(pairs, endpoint.query)
        elif pairs:
            raise InvalidField([{"field": name, "reason": "is no parameter of this path"} for name, _ in pairs])
        if endpoint.listing is not None:
            call.page = listing.request(call, endpoint.listing, self._app.vault, now)
        _decode_body(call)

    def _response(self, call: Call, reply: Reply) -> Response:
        status = reply.status or call.endpoint.status
        if reply.content is None:
            pagination = None
            if reply.page is not None:
                pagination = listing.pagination(call, reply.page, self._app.vault, self._app.clock())
            body = envelope.success(reply.data, call.request_id, self._app.clock(), pagination)
            response = Response(body, status, reply.headers, "application/json")
        elif isinstance(reply.content, bytes):
            response = Response(reply.content, status, reply.headers, reply.content_type)
        else:
            response = StreamingResponse(reply.content, status, reply.headers, reply.content_type)
        for cookie in reply.cookies:
            response.headers.append("set-cookie", cookie)
        return response


class _State:
    """What is known of a request when it is answered, however far it came."""

    __slots__ = ("call", "rate", "request_id")

    def __init__(self, request_id: UUID) -> None:
        self.request_id = request_id
        self.rate: Rate | None = None
        self.call: Call | None = None


async def _read(request: Request, limit: int, seconds: float) -> bytes:
    """The body, at most `limit` bytes of it, refused by its announced length before a byte is read."""
    headers = request.headers
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
    if "content-encoding" in headers and headers["content-encoding"].lower() != "identity":
        raise UnsupportedMediaType("Encoded bodies are not taken.")
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
                chunks.append(chunk)
    except TimeoutError as slow:
        raise InvalidJson("The body did not arrive in time.") from slow
    if size and not _is_json(headers):
        raise UnsupportedMediaType
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _is_json(headers: Mapping[str, str]) -> bool:
    kind, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.strip().removeprefix("charset=").strip('"')
    return kind.strip() == "application/json" and charset in ("", "utf-8", "utf8")


def _decode_body(call: Call) -> None:
    endpoint: Endpoint = call.endpoint
    if endpoint.body is not None:
        if not call.raw_body:
            raise InvalidJson("The call needs a JSON body.")
        call.body = decode_body(parse_json(call.raw_body), endpoint.body)
    elif call.raw_body:
        given = parse_json(call.raw_body)
        if given not in ({}, None):
            raise InvalidField([{"field": "", "reason": "the call takes no fields"}])
