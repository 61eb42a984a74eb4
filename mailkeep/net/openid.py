"""A relying party of OpenID Connect, without product rules (Discovery 1.0, Core 1.0 §3.1; RFC 6749, 7636, 9207).

A provider's metadata and keys are cached for an hour; if they can't be fetched again, for a day. For a token with an
unknown key, the keys are fetched again, at most every 30 seconds, since anyone can invent key IDs. A failed fetch is
not repeated for 5 seconds, so that logins are not delayed by a provider that is down.
"""

from __future__ import annotations

import asyncio
import hashlib
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode

import msgspec
import structlog

from mailkeep.core.identity_provider import OidcProvider, is_loopback_name
from mailkeep.core.network import Network
from mailkeep.core.secret import encode_base64url
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest, OutboundResponse
from mailkeep.net.openid_token import (
    ExpectedClaims,
    InvalidToken,
    PublicKey,
    find_key,
    parse_header,
    parse_keys,
    verify_token,
)
from mailkeep.net.url import MalformedUrl, parse_url

log = structlog.get_logger("mailkeep.openid")

T = TypeVar("T")

CACHE_TIME = timedelta(hours=1)
STALE_TIME = timedelta(days=1)
REFETCH = timedelta(seconds=30)
RETRY = timedelta(seconds=5)
_SECONDS = 8.0
_MAX_DOCUMENT = 256 * 1024


class ProviderError(Exception):
    """An error of the provider, not of the person who signs in: it is down, unreachable or misconfigured.

    `reason` is one word; `detail` is for logs and operators.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class InvalidCode(Exception):
    """The provider rejects the code as invalid, used or expired (RFC 6749 §5.2 `invalid_grant`)."""


@dataclass(frozen=True, slots=True)
class OutboundAccess:
    """How providers may be reached: allowed special-purpose networks, CAs in addition to the system's."""

    allowed_networks: tuple[Network, ...] = ()
    extra_ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """A provider's metadata, as far as we use it."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    secret_in_body: bool  # the client secret is sent in the body, not in Authorization
    sends_issuer: bool  # responses have `iss` (RFC 9207)


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The result of an authorization code: verified claims of the ID token, and an access token for more claims."""

    claims: Mapping[str, Any]
    access_token: str | None


@dataclass(slots=True)
class _Cached(Generic[T]):
    """A cached value with the times of the last fetch and the last failure. One task fetches at a time."""

    value: T | None = None
    fetched_at: datetime | None = None
    failed_at: datetime | None = None
    failure: ProviderError | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, at: datetime, fetch: Callable[[], Awaitable[T]], max_age: timedelta = CACHE_TIME) -> T:
        """The value; it is fetched if it is older than `max_age`."""
        async with self.lock:
            if self.value is not None and self._age(at) < max_age:
                return self.value
            if self.failure is None or self.failed_at is None or abs(at - self.failed_at) >= RETRY:
                try:
                    self.value, self.fetched_at, self.failure = await fetch(), at, None
                    return self.value
                except ProviderError as failure:
                    self.failure, self.failed_at = failure, at
                    log.warning("identity provider failed", reason=failure.reason, detail=failure.detail)
            if self.value is not None and self._age(at) < STALE_TIME:
                return self.value
            raise ProviderError(self.failure.reason, self.failure.detail)

    def _age(self, at: datetime) -> timedelta:
        return abs(at - self.fetched_at) if self.fetched_at else timedelta.max


class OpenIdClient:
    """A client of identity providers, which caches their metadata and keys. One per process."""

    def __init__(self, outbound: OutboundClient) -> None:
        self._outbound = outbound
        self._metadata: dict[OidcProvider, _Cached[Metadata]] = {}
        self._keys: dict[tuple[OidcProvider, str], _Cached[tuple[PublicKey, ...]]] = {}

    async def get_metadata(self, provider: OidcProvider, access: OutboundAccess, at: datetime) -> Metadata:
        """The provider's metadata. Raises ProviderError if it can't be fetched or has invalid URLs."""
        cached = self._metadata.setdefault(provider, _Cached[Metadata]())
        return await cached.get(at, lambda: self._discover(provider, access))

    async def get_keys(
        self, provider: OidcProvider, access: OutboundAccess, at: datetime, max_age: timedelta = CACHE_TIME
    ) -> tuple[PublicKey, ...]:
        """The provider's signature keys; fetched again if they are older than `max_age`."""
        uri = (await self.get_metadata(provider, access, at)).jwks_uri
        cached = self._keys.setdefault((provider, uri), _Cached[tuple[PublicKey, ...]]())
        return await cached.get(at, lambda: self._fetch_keys(provider, access, uri), max_age)

    async def exchange_code(
        self, provider: OidcProvider, access: OutboundAccess, code: Mapping[str, str], nonce: str, at: datetime
    ) -> TokenClaims:
        """Exchange a code (`code`, `code_verifier`, `redirect_uri`) for the identity of the person.

        Raises InvalidCode, InvalidToken (the ID token is not valid) or ProviderError.
        """
        tokens = await self._exchange(provider, access, code, at)
        token, text = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(token, str):
            raise InvalidToken("missing")
        access_token = text if isinstance(text, str) and text.isascii() and text.isprintable() else None
        header = parse_header(token)
        key = find_key(await self.get_keys(provider, access, at), header)
        if key is None:
            key = find_key(await self.get_keys(provider, access, at, REFETCH), header)
        if key is None:
            raise InvalidToken("unknown_key")
        expected = ExpectedClaims(provider.issuer, provider.client_id, nonce, at, access_token)
        return TokenClaims(verify_token(token, header, key, expected), access_token)

    async def get_userinfo(
        self, provider: OidcProvider, access: OutboundAccess, identity: TokenClaims, at: datetime
    ) -> Mapping[str, Any]:
        """More claims of the same person (Core §5.3); none if the provider has no such endpoint."""
        endpoint = (await self.get_metadata(provider, access, at)).userinfo_endpoint
        if endpoint is None or identity.access_token is None:
            return {}
        headers = {"Accept": "application/json", "Authorization": f"Bearer {identity.access_token}"}
        answer = await self._send(provider, access, OutboundRequest(method="GET", url=endpoint, headers=headers))
        if answer.status != 200:
            raise ProviderError("userinfo", f"{endpoint} answered {answer.status}.")
        claims = _document(answer, endpoint)
        if claims.get("sub") != identity.claims["sub"]:
            raise InvalidToken("userinfo_subject")
        return claims

    async def _discover(self, provider: OidcProvider, access: OutboundAccess) -> Metadata:
        url = f"{provider.issuer.removesuffix('/')}/.well-known/openid-configuration"
        document = await self._get(provider, access, url)
        if document.get("issuer") != provider.issuer:
            raise ProviderError("issuer", f"{url} has the issuer {document.get('issuer')!r}, not {provider.issuer}.")
        methods: object = document.get("token_endpoint_auth_methods_supported")
        auth_methods = cast(list[object], methods) if isinstance(methods, list) else ["client_secret_basic"]
        return Metadata(
            authorization_endpoint=_endpoint(document, "authorization_endpoint", provider),
            token_endpoint=_endpoint(document, "token_endpoint", provider),
            jwks_uri=_endpoint(document, "jwks_uri", provider),
            userinfo_endpoint=(
                _endpoint(document, "userinfo_endpoint", provider) if document.get("userinfo_endpoint") else None
            ),
            secret_in_body="client_secret_basic" not in auth_methods and "client_secret_post" in auth_methods,
            sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        )

    async def _fetch_keys(self, provider: OidcProvider, access: OutboundAccess, uri: str) -> tuple[PublicKey, ...]:
        keys = await asyncio.to_thread(parse_keys, await self._get(provider, access, uri))
        if not keys:
            raise ProviderError("keys", f"{uri} has no key that can verify signatures.")
        return keys

    async def _exchange(
        self, provider: OidcProvider, access: OutboundAccess, code: Mapping[str, str], at: datetime
    ) -> Mapping[str, Any]:
        metadata = await self.get_metadata(provider, access, at)
        form = {"grant_type": "authorization_code", **code}
        headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        if not provider.client_secret:
            form["client_id"] = provider.client_id
        elif metadata.secret_in_body:
            form |= {"client_id": provider.client_id, "client_secret": provider.client_secret}
        else:  # RFC 6749 §2.3.1: both are form-encoded
            pair = f"{quote(provider.client_id, safe='')}:{quote(provider.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        url = metadata.token_endpoint
        request = OutboundRequest(method="POST", url=url, headers=headers, body=urlencode(form).encode())
        answer = await self._send(provider, access, request)
        if answer.status == 200:
            return _document(answer, url)
        error = _document(answer, url).get("error") if answer.status in (400, 401) else None
        if error == "invalid_grant":
            raise InvalidCode
        raise ProviderError("token_endpoint", f"{url} answered {answer.status}, error {str(error)[:100]!r}.")

    async def _get(self, provider: OidcProvider, access: OutboundAccess, url: str) -> dict[str, Any]:
        request = OutboundRequest(method="GET", url=url, headers={"Accept": "application/json"})
        answer = await self._send(provider, access, request)
        if answer.status != 200:
            raise ProviderError("status", f"{url} answered {answer.status}.")
        return _document(answer, url)

    async def _send(self, provider: OidcProvider, access: OutboundAccess, request: OutboundRequest) -> OutboundResponse:
        full_request = replace(
            request,
            allowed_networks=access.allowed_networks,
            extra_ca_file=access.extra_ca_file,
            timeout=_SECONDS,
            max_answer=_MAX_DOCUMENT,
            allow_http=provider.is_plain,
        )
        try:
            return await self._outbound.send(full_request)
        except OutboundError as error:
            raise ProviderError(error.kind, error.detail) from error


def code_challenge(verifier: str) -> str:
    """The S256 code challenge of a verifier (RFC 7636 §4.2)."""
    return encode_base64url(hashlib.sha256(verifier.encode()).digest())


def _endpoint(document: Mapping[str, Any], name: str, provider: OidcProvider) -> str:
    """An endpoint of the discovery document: https, or http on loopback if the issuer is."""
    url = document.get(name)
    try:
        if not isinstance(url, str):
            raise MalformedUrl("is missing")
        target = parse_url(url, allow_http=provider.is_plain)
    except MalformedUrl as error:
        raise ProviderError("endpoint", f"{provider.issuer}: its {name} {error}.") from error
    if target.scheme == "http" and not is_loopback_name(target.host.text):
        raise ProviderError("endpoint", f"{provider.issuer}: its {name} is http:// and not on loopback.")
    return url


def _document(answer: OutboundResponse, url: str) -> dict[str, Any]:
    if answer.truncated:
        raise ProviderError("oversized", f"{url} answered more than {_MAX_DOCUMENT} bytes.")
    try:
        value = msgspec.json.decode(answer.body)
    except (ValueError, RecursionError) as error:
        raise ProviderError("malformed", f"{url} answered something other than JSON.") from error
    if not isinstance(value, dict):
        raise ProviderError("malformed", f"{url} answered JSON that is not an object.")
    return cast(dict[str, Any], value)
