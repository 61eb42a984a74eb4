"""The outbound HTTP client. What it promises stands in the package's docstring."""

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

_IN_USE = 512
_IN_USE_PER_ENDPOINT = 64
_KEPT_ENDPOINTS = 128
_KEPT_SECONDS = 15.0
_CONTEXTS = 16
_LARGE_BODY = 64 * 1024
_MAX_READ = 2 * 1024 * 1024  # of one answer, with chunk sizes and trailers; above each `max_answer`


class OutboundError(Exception):
    """A request has no answer. `kind` is one of KINDS; `detail` is for logs and operators, without secrets.

    url: not one to call · dns: the host has no address · address_refused: it has one that is not to be reached ·
    connect: nobody takes the connection · tls: whom it reaches is not who it should be · timeout: it took longer than
    it may · protocol: what came is no HTTP, or ended early.

    `detail` may name addresses of the inside network, and is for operators only. `certificate` says what is wrong with
    the server's certificate, without an address, if that is the cause.
    """

    def __init__(self, kind: str, detail: str, certificate: str | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.certificate = certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRequest:
    """One request. `timeout` are seconds for all of it: look-up, connection, TLS, writing, reading.

    Of the answer's body `max_answer` bytes are read. `allow_http` opens http:// as well; `allowed_networks` are
    networks that may be reached although they are special; `extra_ca_file` (PEM) adds authorities to the system's.
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
    """What was answered, whatever the status; header names in lower case, repeated ones joined by `, `.

    `truncated`: the body was longer than was read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool
    remote_address: str
    duration_ms: int


class OutboundClient:
    """The client: open from its first request until `close`."""

    def __init__(self, dns_servers: Sequence[tuple[str, int]] = (), resolver: Resolver | None = None) -> None:
        self._resolver = resolver or Resolver(dns_servers)
        self._places = asyncio.Semaphore(_IN_USE)
        self._sessions: dict[bool, aiohttp.ClientSession] = {}  # by whether connections are kept
        self._contexts: OrderedDict[tuple[str, int, int] | None, ssl.SSLContext] = OrderedDict()
        self._kept_endpoints: OrderedDict[tuple[str, int, str, int], float] = OrderedDict()

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Answer the request, or raise OutboundFailed; nothing is tried again once a connection stood."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            target = parse_url(request.url, allow_http=request.allow_http)
        except MalformedUrl as error:
            raise OutboundError("url", f"The URL {error}.") from error
        try:
            async with asyncio.timeout(request.timeout), self._places:
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
            known = headers.get(name.lower())
            headers[name.lower()] = value if known is None else f"{known}, {value}"
        elapsed = round((loop.time() - started) * 1000)
        return OutboundResponse(response.status, headers, body, truncated, str(address), elapsed)

    async def _resolve(self, target: ParsedUrl, allowed: Sequence[Network]) -> list[Address]:
        """The addresses to connect to. One that may not be reached refuses the name with all its others."""
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
        """The head of the answer, from the first address that takes a connection."""
        share = max(1.0, request.timeout / len(addresses))
        for address in addresses:
            last = address is addresses[-1]
            try:
                return await self._request(request, target, address, context, None if last else share), address
            except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
                detail = f"{target.host.text} at {address}: {_describe_error(error)}"
                raise OutboundError("tls", detail, _certificate_fault(error)) from error
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                if last:
                    raise OutboundError(
                        "connect", f"{target.host.text} at {address}: {_describe_error(error)}"
                    ) from error
        raise AssertionError("a resolver answers at least one address")

    async def _request(
        self,
        request: OutboundRequest,
        target: ParsedUrl,
        address: Address,
        context: ssl.SSLContext | None,
        connect_seconds: float | None,
    ) -> aiohttp.ClientResponse:
        literal = f"[{address}]" if isinstance(address, ipaddress.IPv6Address) else str(address)
        # To the address itself, so that no second look-up can answer otherwise; the name stands in Host and in TLS.
        url = URL(f"{target.scheme}://{literal}:{target.port}{target.path}", encoded=True)
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", **request.headers}
        headers["Host"] = target.authority
        return await self._session(self._may_keep_alive(target, address, context)).request(
            request.method,
            url,
            # A large body as bytes would be written in one go, and everybody else would wait.
            data=io.BytesIO(request.body) if len(request.body) > _LARGE_BODY else request.body or None,
            headers=headers,
            ssl=context if context is not None else True,
            server_hostname=target.host.text if context is not None else None,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds),
            allow_redirects=False,
        )

    def _may_keep_alive(self, target: ParsedUrl, address: Address, context: ssl.SSLContext | None) -> bool:
        """Whether the connection may serve a later request, so that idle ones stay few."""
        now = asyncio.get_running_loop().time()
        while self._kept_endpoints and next(iter(self._kept_endpoints.values())) < now - _KEPT_SECONDS:
            self._kept_endpoints.popitem(last=False)
        endpoint = (str(address), target.port, target.host.text, id(context))
        if endpoint not in self._kept_endpoints and len(self._kept_endpoints) >= _KEPT_ENDPOINTS:
            return False
        self._kept_endpoints[endpoint] = now
        self._kept_endpoints.move_to_end(endpoint)
        return True

    def _context(self, extra_ca_file: Path | None) -> ssl.SSLContext:
        """TLS by the system's authorities and the file's; read anew where the file has changed."""
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
                    raise OutboundError("tls", f"{extra_ca_file} holds no certificates in PEM.") from error
            self._contexts[key] = context
            if len(self._contexts) > _CONTEXTS:
                self._contexts.popitem(last=False)
        return context

    def _session(self, keep: bool) -> aiohttp.ClientSession:
        if keep not in self._sessions:
            kept: dict[str, Any] = {"keepalive_timeout": _KEPT_SECONDS} if keep else {"force_close": True}
            connector = BoundedConnector(
                max_read=_MAX_READ,
                limit=0,
                limit_per_host=_IN_USE_PER_ENDPOINT,
                use_dns_cache=False,
                resolver=_NoResolver(),
                **kept,
            )
            self._sessions[keep] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                skip_auto_headers=("Accept", "Content-Type"),
                max_line_size=8190,
                max_field_size=8190,
                max_headers=100,
            )
        return self._sessions[keep]

    async def close(self) -> None:
        """End all connections."""
        while self._sessions:
            await self._sessions.popitem()[1].close()


class _NoResolver(AbstractResolver):
    """aiohttp is only ever shown addresses; should it look a name up, that is a bug."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        raise RuntimeError(f"an unchecked look-up of {host}")

    async def close(self) -> None:
        """Nothing is open."""


async def _read(response: aiohttp.ClientResponse, limit: int) -> tuple[bytes, bool]:
    """The body up to `limit`, and whether there is more; the connection is kept only where there isn't."""
    pieces = bytearray()
    try:
        while len(pieces) <= limit:
            piece = await response.content.read(limit + 1 - len(pieces))
            if not piece:
                return bytes(pieces), False
            pieces += piece
        return bytes(pieces[:limit]), True
    finally:
        response.close()


def _certificate_fault(error: BaseException) -> str | None:
    """What OpenSSL has against a certificate: "self-signed certificate", "certificate has expired"."""
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    return inner.verify_message if isinstance(inner, ssl.SSLCertVerificationError) else None


def _describe_error(error: BaseException) -> str:
    """An error in words, on one line; where aiohttp wraps what the system said, that."""
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    text = str(inner) or type(error).__name__
    return " ".join(text.split())[:300]
