"""A pipeline with test endpoints and fake authentication, meter and clock, without a database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailkeep.core.errors import (
    ApiKeyInvalid,
    AuthRequired,
    Conflict,
    RateLimitExceeded,
    Refusal,
    Unavailable,
)
from mailkeep.core.page import Page
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import Vault
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.db.pool import DatabasePool
from mailkeep.settings import Settings
from mailkeep.web.endpoint import Call, Endpoint, HttpResponse, Listing, Rate
from mailkeep.web.fields import Body, Query, Text
from mailkeep.web.pipeline import AccessControl, AnsweredRequest, Pipeline
from mailkeep.web.router import Router
from tests.support.caller import Caller

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA = UUID("01890000-0000-7000-8000-0000000000a1")
BOB = UUID("01890000-0000-7000-8000-0000000000b0")
KEYS = {
    "svc_ada": Principal(ADA, "ada", Role.SUPER_ADMIN, ActorType.API_KEY, key_id=ADA),
    "svc_bob": Principal(BOB, "bob", Role.DOMAIN_ADMIN, ActorType.API_KEY, key_id=BOB),
}


class Thing(Body, frozen=True):
    name: Text


class ThingFilter(Query, frozen=True):
    colour: Text | None = None


async def _echo(_: Any, call: Call) -> HttpResponse:
    return HttpResponse(
        {"ip": call.ip_address, "secure": call.secure, "path": dict(call.path), "size": len(call.raw_body)}
    )


async def _conflict(_: Any, call: Call) -> HttpResponse:
    raise Conflict("taken", name=call.body.name)


async def _break(_: Any, call: Call) -> HttpResponse:
    raise ZeroDivisionError("a secret")


async def _away(_: Any, call: Call) -> HttpResponse:
    raise Unavailable


async def _count(_: Any, call: Call) -> HttpResponse:
    assert call.page
    first = int(call.page.after[0]) + 1 if call.page.after else 0
    rows = list(range(first, first + call.page.limit))
    return HttpResponse(rows, Page(rows, (str(rows[-1]),) if rows[-1] < 100 else None))


async def _text(_: Any, call: Call) -> HttpResponse:
    return HttpResponse(content=b"hello", content_type="text/plain", cookies=["a=1; Path=/", "b=2; Path=/"])


open_flows: list[str] = []


async def _flow(_: Any, call: Call) -> HttpResponse:
    async def content() -> AsyncIterator[bytes]:
        open_flows.append("flow")
        try:
            while True:
                yield b"drop"
        finally:
            open_flows.remove("flow")

    return HttpResponse(content=content(), content_type="text/plain")


def endpoint(method: str, path: str, handler: Any, action: str | None = "domain.list", **more: Any) -> Endpoint:
    return Endpoint(method=method, path=path, handler=handler, action=action, summary="", tag="", data=None, **more)


ENDPOINTS = (
    endpoint("GET", "/open", _echo, None, bare=True),
    endpoint("GET", "/live", _echo, None, bare=True, prefixed=False),
    endpoint("POST", "/login", _echo, None, login=True),
    endpoint("GET", "/things", _count, query=ThingFilter, listing=Listing(("created_at", "name"))),
    endpoint("GET", "/domains/{id}/things", _count, listing=Listing()),
    endpoint("POST", "/things", _conflict, "domain.create", body=Thing, audit="thing.create"),
    endpoint("POST", "/echo", _echo, "domain.create"),
    endpoint("POST", "/large", _echo, body_limit=lambda settings: settings.limits.message_size_bytes),
    endpoint("GET", "/things/{id}", _echo),
    endpoint("GET", "/broken", _break, None),
    endpoint("GET", "/away", _away, None),
    endpoint("GET", "/text", _text, None),
    endpoint("GET", "/flow", _flow, None),
)


@dataclass
class FakeContext:
    settings: Settings = field(default_factory=Settings)
    now: datetime = NOW
    vault: Vault = field(default_factory=lambda: Vault(b"x" * 32))
    db: DatabasePool = field(default_factory=lambda: DatabasePool(""))  # never opened
    memory: SharedMemory = field(default_factory=SharedMemory)

    def clock(self) -> datetime:
        return self.now

    def change(self, section: str, **values: Any) -> None:
        changed = replace(getattr(self.settings, section), **values)
        self.settings = replace(self.settings, **{section: changed})


@dataclass
class FakeAccess:
    recorded: list[str] = field(default_factory=list)
    used_up: bool = False

    @property
    def control(self) -> AccessControl:
        return AccessControl(self.authenticate, self.verify_password, self.record_refusal)

    async def authenticate(self, app: Any, call: Call) -> None:
        kind, _, key = call.headers.get("authorization", "").partition(" ")
        if not kind:
            raise AuthRequired
        call.who = KEYS.get(key)
        if call.who is None:
            raise ApiKeyInvalid
        call.rate = Rate(60, 0 if self.used_up else 59, 30)
        if self.used_up:
            raise RateLimitExceeded(retry_after=30)

    async def verify_password(self, app: Any, call: Call, current: str, action: str) -> None:
        raise NotImplementedError

    async def record_refusal(self, app: Any, call: Call, wrong: Refusal) -> None:
        self.recorded.append(f"{call.endpoint.audit} {wrong.code}")


@dataclass
class FakeMeter:
    flying: int = 0
    seen: list[AnsweredRequest] = field(default_factory=list)

    @contextmanager
    def track_in_flight(self) -> Iterator[None]:
        self.flying += 1
        yield
        self.flying -= 1

    def observe(self, answered: AnsweredRequest) -> None:
        assert self.flying
        self.seen.append(answered)


class PipelineSetup:
    """A pipeline with fakes around it, and calls to it."""

    def __init__(self, **limits: float) -> None:
        self.app, self.access, self.meter = FakeContext(), FakeAccess(), FakeMeter()
        self.app.change("limits", **limits)
        self.pipeline = Pipeline(self.app, Router(ENDPOINTS), self.access.control, self.meter)
        self.call = Caller(self.pipeline)
        self.post = self.call.post


ADA_KEY = {"authorization": "Bearer svc_ada"}
BOB_KEY = {"authorization": "Bearer svc_bob"}
JSON_TYPE = {"content-type": "application/json"}
API = "/api/v1"
