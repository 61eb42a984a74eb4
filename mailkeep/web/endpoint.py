"""The declaration of an endpoint: method, path, access, request and response types, errors, examples.

The router, the permission check, the OpenAPI document and the permission tests are derived from it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from msgspec import Struct

from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import Forbidden, NotFound, PreconditionFailed, Refusal
from mailkeep.core.ids import parse_uuid
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.web.fields import OneOf
from mailkeep.web.string_views import JsonText

PREFIX = "/api/v1"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
XML = ("text/xml", "application/xml")
RECENT_SIGN_IN = timedelta(minutes=10)
"""The age of a session up to which it allows changes that need a recent sign-in."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A paginated list: the fields it can be sorted by. The first is the default (newest first)."""

    sorts: tuple[str, ...] = ("created_at",)


@dataclass(frozen=True, slots=True)
class Example:
    """A request that the OpenAPI document shows and the tests run.

    `{name}` in the path or in values is replaced by ids of the tests' data, and by example values in the document.
    """

    path: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    response: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One method on one path. `path` starts after /api/v1; see `bare` and `prefixed` for paths without it.

    `action` is the action in the access policy (None: open to everybody); `audit` the audit action of a mutating call;
    `data` the type of `data` in the response; `refusals` the errors in addition to those of the pipeline.
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
    any_query: bool = False  # the query is documented, but neither checked nor decoded
    listing: Listing | None = None
    status: int = 200
    audit: str | None = None
    resource: str | None = None  # the type of object that `{id}` names, for the audit entry of a refused call
    refusals: tuple[type[Refusal], ...] = ()
    examples: tuple[Example, ...] = ()
    content: str = "application/json"  # media type of the successful response; only JSON has an envelope
    alternative_content: tuple[str, ...] = ()  # other media types, which the query can request
    enveloped: bool = True  # False: JSON without the envelope
    body_limit: Callable[[Any], int] | None = None  # bytes, from the settings; None: 1 MiB
    csv_rows: int = 0  # the body may also be CSV, with at most this number of rows: `Call.body` is a `CsvTable` then
    is_page: bool = False  # a page for people: what `refusals` names is also answered by a page
    raw_body: tuple[str, ...] = ()  # media types of a body that is not decoded (`Call.raw_body`); from any site
    any_case: bool = False  # upper and lower case are the same in the path
    header_parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """Header fields that hold an id, and their descriptions."""
    login: bool = False  # subject to the login rate limit
    public_page: bool = False  # subject to the rate limit of public pages
    bare: bool = False  # also served without the prefix
    prefixed: bool = True  # served with the prefix
    versioned: bool = False  # its object has an entity tag: a response has it, a change checks `Call.if_match`
    documented: bool = True  # part of the OpenAPI document
    recover: Callable[[Any, Call, UUID], Awaitable[HttpResponse | None]] | None = None
    """Set if the endpoint takes an Idempotency-Key. Returns the response of an interrupted request (by its id) from the
    records of its effect, None if it had no effect. Raises IdempotencyInProgress while that is unknown."""
    webhook_payloads: Mapping[str, tuple[type[Struct], Mapping[str, Any]]] = field(
        default_factory=dict[str, tuple[type[Struct], Mapping[str, Any]]]
    )
    """What webhooks created by this endpoint receive: by kind of event, the type of its data and an example."""
    secrets: tuple[str, ...] = ()  # fields of `data` that are shown once: null in a replayed response

    @property
    def takes_if_match(self) -> bool:
        """Whether a request may have the field If-Match."""
        return self.method in ("PATCH", "PUT", "DELETE") or PreconditionFailed in self.refusals


@dataclass(slots=True)
class Call:
    """One request: its content and its caller."""

    endpoint: Endpoint
    request_id: UUID
    ip_address: str
    user_agent: str | None
    secure: bool  # the client uses TLS
    headers: Mapping[str, str]
    path: Mapping[str, str]  # the path's parameters by name
    query_pairs: Sequence[tuple[str, str]]
    cookies: Mapping[str, str]  # never valid if a name occurs more than once (`web/cookies`)
    listener: str | None = None  # the ID of nginx's HTTPS listener, if the request came by it
    who: Principal | None = None  # None: not authenticated
    reauthenticate: Callable[[], Awaitable[Principal]] | None = None
    """For streams: authenticates the caller and checks access again, without counting a request."""
    check_password: Callable[[str, str], Awaitable[None]] | None = None
    """Implements `verify_password`."""
    counted: bool = False  # whether the request was counted in its API key's rate limit
    if_match: IfMatch = ANY_VERSION  # which version of the object may be changed
    rate: Rate | None = None
    raw_body: JsonText = b""
    body: Any = None
    query: Any = None
    page: PageRequest | None = None

    def id(self, name: str = "id") -> UUID:
        """The id in the path; NOT_FOUND if it is malformed."""
        value = parse_uuid(self.path[name])
        if value is None:
            raise NotFound
        return value

    async def verify_password(self, current: str, action: str) -> None:
        """Check that `current` is the caller's password; `action` is the audit action that needs it.

        INVALID_CREDENTIALS if it is not, which counts as a failed login; RATE_LIMIT_EXCEEDED after many of them.
        """
        assert self.check_password is not None
        await self.check_password(current, action)

    async def require_recent_sign_in(self, at: datetime, current: str | None, action: str) -> None:
        """FORBIDDEN `recent_sign_in_required` unless the caller's session was opened within 10 minutes before `at`, or
        `current` is the password of the session's account; INVALID_CREDENTIALS if it is not. Never with an API key.

        `action`: the audit action that needs it.
        """
        who = self.caller()
        if who.key_id is None and current is not None:
            await self.verify_password(current, action)
        elif who.signed_in_at is None or abs(at - who.signed_in_at) > RECENT_SIGN_IN:
            raise Forbidden(
                "This change needs a sign-in within the last 10 minutes: send `current_password`, or sign in again. "
                "An API key can't make it.",
                reason="recent_sign_in_required",
            )

    def caller(self) -> Principal:
        """The authenticated caller (always set if the endpoint has an `action`)."""
        assert self.who is not None
        return self.who


@dataclass(frozen=True, slots=True)
class Rate:
    """The RateLimit header fields: requests in the window, remaining ones, and seconds.

    `reset`: for an API key or a refused request, until the next request is accepted; otherwise until the limit of the
    address is unused.
    """

    limit: int
    remaining: int
    reset: int


@dataclass(slots=True)
class HttpResponse:
    """A handler's response: `data` (ready for JSON) in the envelope, or `content` (bytes or a stream) without it.

    `changed_at` is the time of the last change of the object in `data`, for its entity tag.
    `page`, whose rows are in `data`, adds `meta.pagination`; `meta_details` becomes `meta.details`. `cookies` are whole
    Set-Cookie values.
    """

    data: Any = None
    page: Page[Any] | None = None
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cookies: list[str] = field(default_factory=list[str])
    content: bytes | AsyncIterator[bytes] | None = None
    content_type: str = "application/json"
    meta_details: Mapping[str, Any] | None = None
    changed_at: datetime | None = None
