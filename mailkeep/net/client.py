"""The outbound HTTP client; see the package's docstring."""

from __future__ import annotations

import asyncio
import io
import ipaddress
import ssl
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from mailkeep import __version__
from mailkeep.core.network import Network
from mailkeep.net.connection import BoundedConnector
from mailkeep.net.guard import Address, refuse_address
from mailkeep.net.resolver import DnsLookupError, Resolver
from mailkeep.net.url import MalformedUrl, ParsedUrl, parse_url

FAILURE_KINDS = ("url", "dns", "address_refused", "connect", "tls", "timeout", "protocol")
USER_AGENT = f"Mailkeep/{__version__}"

_MAX_IN_USE = 512
_MAX_IN_USE_PER_ENDPOINT = 64
_MAX_IDLE_ENDPOINTS = 128
_IDLE_SECONDS = 15.0
_CONTEXTS = 16
_LARGE_BODY = 64 * 1024
_MAX_READ = 2 * 1024 * 1024  # per response, with chunk sizes and trailers; larger than every `max_answer`


class OutboundError(Exception):
    """A request got no response. `kind` is one of FAILURE_KINDS:

    url: malformed or not allowed · dns: the host has no address · address_refused: it has a forbidden address ·
    connect: no connection · tls: the server's certificate or TLS failed · timeout: no response in time · protocol: the
    response is not HTTP, or incomplete.

    `detail` has no secrets but may name internal addresses: it is for logs and operators only. `certificate` is the
    problem with the server's certificate, without addresses, if that is the cause.
    """

    def __init__(self, kind: str, detail: str, certificate: str | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.certificate = certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRequest:
    """One request. `timeout` is in seconds for all steps: look-up, connection, TLS, writing, reading.

    At most `max_answer` bytes of the response's body are read. `allow_http` also allows http:// URLs;
    `allowed_networks` are reachable although they are special-purpose; `extra_ca_file` (PEM) adds CAs to the system's.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    allowed_networks: tuple[Network, ...] = ()
    extra_ca_file: Path | None = None
    timeout: float = 10.0
    max_answer: int = 16 * 1024
    allow_http: bool = False


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """A response with any status. Header names are in lower case; repeated fields are joined by `, `.

    `truncated`: the body is longer than what was read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool
    remote_address: str
    duration_ms: int


class OutboundClient:
    """The client. Connections exist from the first request until `close`."""

    def __init__(self, dns_servers: Sequence[tuple[str, int]] = (), resolver: Resolver | None = None) -> None:
        self._resolver = resolver or Resolver(dns_servers)
        self._slots = asyncio.Semaphore(_MAX_IN_USE)
        self._sessions: dict[bool, aiohttp.ClientSession] = {}  # by whether connections are kept alive
        self._contexts: OrderedDict[tuple[str, int, int] | None, ssl.SSLContext] = OrderedDict()
        self._idle_endpoints: OrderedDict[tuple[str, int, str, int], float] = OrderedDict()

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send the request; raises OutboundError. There is no retry after a connection was established."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            target = parse_url(request.url, allow_http=request.allow_http)
        except MalformedUrl as error:
            raise OutboundError("url", f"The URL {error}.") from error
        try:
            async with asyncio.timeout(request.timeout), self._slots:
                addresses = await self._resolve(target, request.allowed_networks)
                context = self._context(request.extra_ca_file) if target.scheme == "https" else None
                response, address = await self._connect(request, target, addresses, context)
                body, truncated = await _read(response, request.max_answer)
        except TimeoutError as error:
            raise OutboundError("timeout", f"No answer within {request.timeout:g} s.") from error
        except (aiohttp.ClientError, ValueError, OSError) as error:
            raise OutboundError("protocol", _describe_error(error)) from error
        headers: dict[str, str] = {}
        for name, value in response.headers.items():
            previous = headers.get(name.lower())
            headers[name.lower()] = value if previous is None else f"{previous}, {value}"
        elapsed = round((loop.time() - started) * 1000)
        return OutboundResponse(response.status, headers, body, truncated, str(address), elapsed)

    async def _resolve(self, target: ParsedUrl, allowed: Sequence[Network]) -> list[Address]:
        """The addresses to connect to. One forbidden address rejects the name with all its addresses."""
        if target.host.address is not None:
            addresses = [target.host.address]
        else:
            try:
                addresses = await self._resolver.resolve(target.host.text)
            except DnsLookupError as error:
                raise OutboundError("dns", f"{target.host.text}: {error}.") from error
        for address in addresses:
            if reason := refuse_address(address, allowed):
                raise OutboundError("address_refused", f"{target.host.text} is at {address}: {reason}.")
        return addresses

    async def _connect(
        self, request: OutboundRequest, target: ParsedUrl, addresses: Sequence[Address], context: ssl.SSLContext | None
    ) -> tuple[aiohttp.ClientResponse, Address]:
        """The head of the response, from the first address that accepts a connection."""
        share = max(1.0, request.timeout / len(addresses))
        for address in addresses:
            is_last = address is addresses[-1]
            try:
                return await self._request(request, target, address, context, None if is_last else share), address
            except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
                detail = f"{target.host.text} at {address}: {_describe_error(error)}"
                raise OutboundError("tls", detail, _certificate_fault(error)) from error
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                if is_last:
                    raise OutboundError(
                        "connect", f"{target.host.text} at {address}: {_describe_error(error)}"
                    ) from error
        raise AssertionError("a resolver returns at least one address")

    async def _request(
        self,
        request: OutboundRequest,
        target: ParsedUrl,
        address: Address,
        context: ssl.SSLContext | None,
        connect_seconds: float | None,
    ) -> aiohttp.ClientResponse:
        literal = f"[{address}]" if isinstance(address, ipaddress.IPv6Address) else str(address)
        # The URL has the address, so that there is no second look-up; the name is in Host and TLS.
        url = URL(f"{target.scheme}://{literal}:{target.port}{target.path}", encoded=True)
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", **request.headers}
        headers["Host"] = target.authority
        return await self._session(self._may_keep_alive(target, address, context)).request(
            request.method,
            url,
            # A large body as bytes would be written at once and block the event loop.
            data=io.BytesIO(request.body) if len(request.body) > _LARGE_BODY else request.body or None,
            headers=headers,
            ssl=context if context is not None else True,
            server_hostname=target.host.text if context is not None else None,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds),
            allow_redirects=False,
        )

    def _may_keep_alive(self, target: ParsedUrl, address: Address, context: ssl.SSLContext | None) -> bool:
        """Whether to keep the connection alive; limits the number of idle connections."""
        now = asyncio.get_running_loop().time()
        while self._idle_endpoints and next(iter(self._idle_endpoints.values())) < now - _IDLE_SECONDS:
            self._idle_endpoints.popitem(last=False)
        endpoint = (str(address), target.port, target.host.text, id(context))
        if endpoint not in self._idle_endpoints and len(self._idle_endpoints) >= _MAX_IDLE_ENDPOINTS:
            return False
        self._idle_endpoints[endpoint] = now
        self._idle_endpoints.move_to_end(endpoint)
        return True

    def _context(self, extra_ca_file: Path | None) -> ssl.SSLContext:
        """A TLS context with the CAs of the system and of the file; created again if the file has changed."""
        key = None
        if extra_ca_file is not None:
            try:
                stat = extra_ca_file.stat()
            except OSError as error:
                raise OutboundError("tls", f"{extra_ca_file}: {error.strerror}.") from error
            key = (str(extra_ca_file), stat.st_mtime_ns, stat.st_size)
        context = self._contexts.get(key)
        if context is None:
            context = ssl.create_default_context()
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            if extra_ca_file is not None:
                try:
                    context.load_verify_locations(extra_ca_file)
                except (OSError, ssl.SSLError) as error:
                    raise OutboundError("tls", f"{extra_ca_file} contains no certificates in PEM.") from error
            self._contexts[key] = context
            if len(self._contexts) > _CONTEXTS:
                self._contexts.popitem(last=False)
        return context

    def _session(self, keep_alive: bool) -> aiohttp.ClientSession:
        if keep_alive not in self._sessions:
            options: dict[str, Any] = {"keepalive_timeout": _IDLE_SECONDS} if keep_alive else {"force_close": True}
            connector = BoundedConnector(
                max_read=_MAX_READ,
                limit=0,
                limit_per_host=_MAX_IN_USE_PER_ENDPOINT,
                use_dns_cache=False,
                resolver=_NoResolver(),
                **options,
            )
            self._sessions[keep_alive] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                skip_auto_headers=("Accept", "Content-Type"),
                max_line_size=8190,
                max_field_size=8190,
                max_headers=100,
            )
        return self._sessions[keep_alive]

    async def close(self) -> None:
        """End all connections."""
        while self._sessions:
            await self._sessions.popitem()[1].close()


class _NoResolver(AbstractResolver):
    """aiohttp only gets addresses: a look-up of a name is a bug."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        raise RuntimeError(f"an unchecked look-up of {host}")

    async def close(self) -> None:
        """Nothing to close."""


async def _read(response: aiohttp.ClientResponse, limit: int) -> tuple[bytes, bool]:
    """The body up to `limit` bytes, and whether there is more, in which case the connection is closed."""
    content = bytearray()
    try:
        while len(content) <= limit:
            chunk = await response.content.read(limit + 1 - len(content))
            if not chunk:
                return bytes(content), False
            content += chunk
        return bytes(content[:limit]), True
    finally:
        response.close()


def _certificate_fault(error: BaseException) -> str | None:
    """OpenSSL's error about a certificate: "self-signed certificate", "certificate has expired"."""
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    return inner.verify_message if isinstance(inner, ssl.SSLCertVerificationError) else None


def _describe_error(error: BaseException) -> str:
    """The message of an error on one line; if aiohttp wraps a system error, the message of the system error."""
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    text = str(inner) or type(error).__name__
    return " ".join(text.split())[:300]
