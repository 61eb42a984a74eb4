"""What an endpoint declares: method, path, who may, what goes in and out, which refusals, an example.

Router, policy check, OpenAPI document and test matrix are all taken from this one declaration.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from msgspec import Struct

from mailkeep.core.errors import NotFound, Refusal
from mailkeep.core.ids import parse_uuid
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.web.fields import OneOf
from mailkeep.web.string_views import JsonText

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class Listing:
    """A paginated list: the fields it can be sorted by, the first of them the default (newest first)."""

    sorts: tuple[str, ...] = ("created_at",)


@dataclass(frozen=True, slots=True)
class Example:
    """A call that the OpenAPI document shows and the tests run.

    `{name}` in path or values is filled from the tests' cast, and with made-up values in the document.
    """

    path: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    answer: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One method on one path. `path` begins after /api/v1; see `bare` and `prefixed` for paths without it.

    `action` is the policy's name of what is done (None: open to everybody); `audit` the name that a mutating
    call has in the audit log; `data` the type of `data` in the answer; `refusals` what it can answer beyond
    what the pipeline itself answers for its kind.
    """

    method: str
    path: str
    handler: Callable[[Any, Call], Awaitable[HttpResponse]]
    action: str | None
    summary: str
    tag: str
    data: Any
    description: str = ""
    body: type[Struct] | OneOf | None = None
    query: type[Struct] | None = None
    any_query: bool = False  # others write the query: it is documented and handed on, not judged
    listing: Listing | None = None
    status: int = 200
    audit: str | None = None
    resource: str | None = None  # what `{id}` names, for the audit row of a refused call
    refusals: tuple[type[Refusal], ...] = ()
    examples: tuple[Example, ...] = ()
    content: str = "application/json"  # media type of the successful answer; others than JSON have no envelope
    alternative_content: tuple[str, ...] = ()  # media types that the query can ask for in its place
    enveloped: bool = True  # JSON without the envelope: False
    body_limit: Callable[[Any], int] | None = None  # bytes, from the settings; None: 1 MiB
    header_parameters: Mapping[str, str] = field(default_factory=dict[str, str])  # ids in headers, and their meaning
    login: bool = False  # held to the login throttle
    bare: bool = False  # also served without the prefix
    prefixed: bool = True  # served under the prefix
    documented: bool = True  # stands in the OpenAPI document
    recover: Callable[[Any, Call, UUID], Awaitable[HttpResponse | None]] | None = None
    """Set where an Idempotency-Key is taken: what a request (by its id) that was cut off has answered, from the
    records of its effect; None where it had none. Refuses with IdempotencyInProgress while nobody knows."""
    webhook_payloads: Mapping[str, tuple[type[Struct], Mapping[str, Any]]] = field(
        default_factory=dict[str, tuple[type[Struct], Mapping[str, Any]]]
    )
    """What is posted to a URL that the call gives: by kind of event the type of its data, and an example."""
    secrets: tuple[str, ...] = ()  # members of `data` that are shown once: null when it is answered again


@dataclass(slots=True)
class Call:
    """One request on its way: what came, and who sends it."""

    endpoint: Endpoint
    request_id: UUID
    ip_address: str
    user_agent: str | None
    secure: bool
    headers: Mapping[str, str]
    path: Mapping[str, str]
    query_pairs: Sequence[tuple[str, str]]
    cookies: Mapping[str, str]
    who: Principal | None = None
    reauthenticate: Callable[[], Awaitable[Principal]] | None = None
    """For answers that last: who calls, as of now; refuses what a new call would be refused. Counts as no call."""
    check_password: Callable[[str, str], Awaitable[None]] | None = None
    """Checks the caller's own password for an action (its name in the audit log): see `prove_password`."""
    counted: bool = False  # the call was counted against its key's rate
    rate: Rate | None = None
    raw_body: JsonText = b""
    body: Any = None
    query: Any = None
    page: PageRequest | None = None

    def id(self, name: str = "id") -> UUID:
        """The id in the path; one that is malformed names nothing (NOT_FOUND)."""
        found = parse_uuid(self.path[name])
        if found is None:
            raise NotFound
        return found

    async def prove_password(self, current: str, action: str) -> None:
        """Return where `current` is the caller's password. INVALID_CREDENTIALS, which counts as a failed login; and
        RATE_LIMIT_EXCEEDED after many such.
        """
        assert self.check_password is not None
        await self.check_password(current, action)

    def caller(self) -> Principal:
        """The authenticated caller (endpoints with an `action` always have one)."""
        assert self.who is not None
        return self.who


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit as the RateLimit headers tell it: allowed in the window, left, and the seconds until the next call is
    accepted (of a key), or until nothing is used of it (of an address).
    """

    limit: int
    remaining: int
    reset: int


@dataclass(slots=True)
class HttpResponse:
    """What a handler answers: `data` (JSON-ready) for the envelope, or `content` (bytes, a stream) as it is.

    `page` with its rows already in `data` adds `meta.pagination`, `meta_details` what else there is to say of them
    (`meta.details`). `cookies` are whole Set-Cookie values.
    """

    data: Any = None
    page: Page[Any] | None = None
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cookies: list[str] = field(default_factory=list[str])
    content: bytes | AsyncIterator[bytes] | None = None
    content_type: str = "application/json"
    meta_details: Mapping[str, Any] | None = None
