"""The errors and access rules of an endpoint, for the OpenAPI document: those of the pipeline and those it declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import inspect as mi

from mailkeep.core import errors
from mailkeep.core.errors import Refusal
from mailkeep.core.principal import POLICY, ActionScope, Role
from mailkeep.web.endpoint import Endpoint
from mailkeep.web.fields import variants

COMMON_ERRORS: tuple[type[Refusal], ...] = (
    errors.InvalidJson,
    errors.InvalidField,
    errors.PayloadTooLarge,
    errors.UnsupportedMediaType,
    errors.RateLimitExceeded,
    errors.InternalError,
)
"""Errors of every endpoint, also for a request with an unexpected body."""

_SAFE = frozenset({"GET", "HEAD"})
SECURITY_SCHEMES: dict[str, dict[str, Any]] = {
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "svc_session",
        "description": "Set by POST /auth/login.",
    },
    "mailbox_session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "svc_mailbox",
        "description": "Set by POST /me/login, for owners of mailboxes.",
    },
    "api_key": {"type": "http", "scheme": "bearer", "description": "An API key, `svc_…`."},
}


def refusals(endpoint: Endpoint) -> list[type[Refusal]]:
    """All errors of an endpoint, sorted by status and code."""
    found = {*COMMON_ERRORS, *endpoint.refusals, *_by_declaration(endpoint), *_by_policy(endpoint)}
    if is_for_owners(endpoint):  # also endpoints that administrators have too
        found -= {errors.ApiKeyInvalid, errors.ApiKeyDomainScope}
    return sort_errors(found)


def is_for_owners(endpoint: Endpoint) -> bool:
    """Whether only owners of mailboxes have access."""
    return endpoint.action is not None and POLICY[endpoint.action].role is None


def sort_errors(refusals: Iterable[type[Refusal]]) -> list[type[Refusal]]:
    """Sorted by status, then code, without duplicates."""
    return sorted({(each.status, each.code): each for each in refusals}.values(), key=lambda e: (e.status, e.code))


def _by_declaration(endpoint: Endpoint) -> Iterable[type[Refusal]]:
    if endpoint.listing is not None:
        yield errors.InvalidPagination
    if any("domain_id" in kind.__struct_fields__ for kind in variants(endpoint.query)):
        # The domain may be outside the access of the caller or its API key.
        yield from (errors.Forbidden, errors.ApiKeyDomainScope)
    if any(_has_required_field(mi.type_info(kind)) for kind in (*variants(endpoint.body), *variants(endpoint.query))):
        yield errors.MissingFields
    if "{" in endpoint.path:
        yield errors.NotFound
    if endpoint.takes_if_match:
        yield errors.PreconditionFailed
    if endpoint.recover is not None:
        yield from (errors.InvalidField, errors.IdempotencyMismatch, errors.IdempotencyInProgress)


def _by_policy(endpoint: Endpoint) -> Iterable[type[Refusal]]:
    if endpoint.method not in _SAFE:
        yield errors.Forbidden  # a cross-site request
        yield errors.Unavailable
    if endpoint.action is None:
        return
    yield from (errors.AuthRequired, errors.SessionInvalid, errors.ApiKeyInvalid, errors.Unavailable)
    rule = POLICY[endpoint.action]
    if rule.role is not Role.DOMAIN_ADMIN or rule.scope in (ActionScope.DOMAIN, ActionScope.CREDENTIALS):
        yield errors.Forbidden
    if rule.scope in (ActionScope.DOMAIN, ActionScope.GLOBAL):
        yield errors.ApiKeyDomainScope


def _has_required_field(kind: mi.Type) -> bool:
    """Whether a type contains a required field, or fields of which one is required, at any depth."""
    match kind:
        case mi.StructType():
            return bool(getattr(kind.cls, "one_of", ())) or any(
                field.required or _has_required_field(field.type) for field in kind.fields
            )
        case mi.Metadata():
            return _has_required_field(kind.type)
        case mi.UnionType():
            return any(_has_required_field(each) for each in kind.types)
        case mi.ListType():
            return _has_required_field(kind.item_type)
        case mi.DictType():
            return _has_required_field(kind.value_type)
        case _:
            return False


def minimum_role(endpoint: Endpoint) -> str | None:
    """The lowest role with access, `mailbox` if only owners of mailboxes have it; None if the endpoint is open."""
    if endpoint.action is None:
        return None
    role = POLICY[endpoint.action].role
    return "mailbox" if role is None else role.value


def security_requirements(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The OpenAPI security requirements (alternatives); none for an open endpoint."""
    if endpoint.action is None:
        return []
    rule = POLICY[endpoint.action]
    schemes = ["session", "api_key", "mailbox_session"]
    if rule.scope is ActionScope.CREDENTIALS:
        schemes.remove("api_key")
    if rule.role is None:
        schemes = ["mailbox_session"]
    elif not rule.owners:
        schemes.remove("mailbox_session")
    return [{scheme: []} for scheme in schemes]


def scoped_key_rule(endpoint: Endpoint) -> str | None:
    """What the endpoint gives to an API key with `scoped_domain_ids`, for the documentation; None if it is open."""
    if endpoint.action is None or is_for_owners(endpoint):
        return None
    return {
        ActionScope.DOMAIN: "only for their domains",
        ActionScope.LISTING: "only the entries of their domains",
        ActionScope.GLOBAL: "not accepted",
        ActionScope.ACCOUNT: "the data of the key's owner",
        ActionScope.CREDENTIALS: "not accepted (no API key is)",
    }[POLICY[endpoint.action].scope]
