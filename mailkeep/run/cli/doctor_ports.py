"""`mailkeep doctor --ports`: which ports others must reach, and whether they do.

A port is *open* if what answers is the service: its greeting, over TLS where the port begins with TLS. The certificate
is not checked here. From inside, each address where the service listens is tried. From outside, the public addresses:
from another address of this machine (`--from`), or on another machine or in another network namespace (`--host`).
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from mailkeep.core.errors import Failure
from mailkeep.features.directory.dns.rules import is_public
from mailkeep.run.runtime.context import load_with_copy
from mailkeep.settings import Settings, parse_endpoint

SECONDS = 5.0
"""For the connection, the TLS handshake and the greeting of a port."""
_WEB = "API, dashboard, client setup, MTA-STS policies"
_PLAIN_WEB = "certificates by ACME, redirects to HTTPS"
_ANY = ("0.0.0.0", "::")  # noqa: S104 - where a service listens

PortStatus = Literal["open", "refused", "no_answer", "unreachable", "other_service"]
Need = Literal["required", "recommended", "optional"]


@dataclass(frozen=True, slots=True)
class PublicPort:
    """A port that others must reach. `greeting`: how its first line begins; `tls`: it begins with TLS, for the server
    name `name`; `asks`: what the client says first; `before_tls`: what comes before all that, in plain text.
    """

    service: str
    port: int
    need: Need
    purpose: str
    greeting: bytes
    tls: bool = False
    asks: bytes = b""
    name: str = ""
    before_tls: bytes = b""


@dataclass(frozen=True, slots=True)
class PortResult:
    """What answered at an address."""

    service: str
    port: int
    address: str
    seen_from: Literal["inside", "outside"]
    status: PortStatus
    detail: str


@dataclass(frozen=True, slots=True)
class PortReport:
    """The ports, the results, and why something was not tested."""

    ports: list[PublicPort]
    results: list[PortResult]
    notes: list[str]

    def list_closed(self) -> list[PortResult]:
        """The results that need something to be done."""
        needs = {(each.service, each.port): each.need for each in self.ports}
        return [each for each in self.results if each.status != "open" and needs[each.service, each.port] != "optional"]


async def examine(data_dir: Path, host: str | None, source: str | None) -> PortReport:
    """Test the ports of the instance on this data directory, or those of `host`. Failure."""
    if source is not None and not _is_address(source):
        raise Failure(f"--from must be an IP address of this machine (got {source}).", permanent=True)
    settings = load_with_copy(data_dir).settings
    is_full = settings.is_full_profile or (data_dir / "postfix").is_dir() or host is not None
    ports, notes = list_ports(settings, host, is_full=is_full)
    if host is not None:
        return PortReport(ports, await _try_all(ports, await _resolve(host), "outside", source), notes)
    results = await _try_inside(ports, settings)
    if source is None:
        notes.append(
            "Not tested from outside. Run `mailkeep doctor --ports --host NAME` on another machine, or name another "
            "address of this one with --from."
        )
    elif addresses := await _public_addresses(settings):
        web, mail = _split(ports)
        results += await _try_all(mail, addresses, "outside", source)
        results += await _try_all(web, _edge_addresses(settings) or addresses, "outside", source)
        notes.append(f"From {source}, an address of this machine: a firewall in front of it is not tested.")
    else:
        notes.append("Not tested from outside: set server.addresses or server.hostname.")
    return PortReport(ports, results, notes)


def list_ports(settings: Settings, host: str | None, *, is_full: bool) -> tuple[list[PublicPort], list[str]]:
    """The ports that others must reach, and notes on those that are not known. `host`: another server to test."""
    ports = settings.ports
    found = [
        PublicPort("smtp", ports.smtp, "required", "mail from other servers", b"220"),
        PublicPort("submissions", ports.submissions, "recommended", "sending by mail programs", b"220", tls=True),
        PublicPort("submission", ports.submission, "recommended", "sending by mail programs (STARTTLS)", b"220"),
        PublicPort("imaps", ports.imaps, "recommended", "reading mail by IMAP", b"* OK", tls=True),
        PublicPort("imap", ports.imap, "optional", "reading mail by IMAP (STARTTLS)", b"* OK"),
        PublicPort("pop3s", ports.pop3s, "optional", "reading mail by POP3", b"+OK", tls=True),
        PublicPort("pop3", ports.pop3, "optional", "reading mail by POP3 (STARTTLS)", b"+OK"),
        PublicPort("sieve", ports.sieve, "optional", "editing filters by ManageSieve", b'"'),
    ]
    if not is_full:
        found = [PublicPort("smtp", parse_endpoint(settings.smtp.listen)[1], "required", "incoming mail", b"220")]
    name = host or settings.server.hostname
    mail = [replace(each, name=name) for each in found if each.port]
    if settings.edge.enabled and is_full:
        return [*mail, *_list_edge_ports(settings, settings.server.name if _is_address(name) else name)], []
    web, notes = _list_web_ports(settings.http.public_url, host)
    return [*mail, *web], notes


def _list_edge_ports(settings: Settings, name: str) -> list[PublicPort]:
    """The ports of nginx, which answers only to names that it serves."""
    edge = settings.edge
    header = b"PROXY UNKNOWN\r\n" if edge.proxy_networks else b""
    asks = _ask(name)
    https = PublicPort("https", edge.https_port, "required", _WEB, b"HTTP/1.", tls=True, asks=asks, name=name)
    http = PublicPort("http", edge.http_port, "recommended", _PLAIN_WEB, b"HTTP/1.", asks=asks)
    return [replace(each, before_tls=header) for each in (https, http) if each.port]


def _list_web_ports(public_url: str, host: str | None) -> tuple[list[PublicPort], list[str]]:
    """The port of `http.public_url`, where API and dashboard are, and port 80 in addition to HTTPS."""
    url = urlsplit(public_url)
    name = url.hostname or ""
    if name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback):
        if host is None:
            return [], ["http.public_url is an address of this machine only: the API is not public."]
        url = urlsplit(f"https://[{host}]" if ":" in host else f"https://{host}")
        name = host
    asks = _ask(url.netloc)
    if url.scheme != "https":
        return [PublicPort("http", url.port or 80, "required", _WEB, b"HTTP/1.", asks=asks)], []
    return [
        PublicPort("https", url.port or 443, "required", _WEB, b"HTTP/1.", tls=True, asks=asks, name=name),
        PublicPort("http", 80, "recommended", _PLAIN_WEB, b"HTTP/1.", asks=asks),
    ], []


def _ask(host: str) -> bytes:
    return f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


async def _resolve(host: str) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Failure(f"{host} has no address: {error.strerror}.", permanent=True) from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def _public_addresses(settings: Settings) -> list[str]:
    """`server.addresses`, public ones if there are any; without them those of `server.hostname`."""
    own = list(settings.server.addresses)
    if own:
        return [each for each in own if is_public(ipaddress.ip_address(each))] or own
    if not settings.server.hostname:
        return []
    try:
        return await _resolve(settings.server.hostname)
    except Failure:
        return []


async def _try_inside(ports: Sequence[PublicPort], settings: Settings) -> list[PortResult]:
    """Mail ports at `server.addresses`, or on loopback; the web's where nginx listens, or without it where
    `http.public_url` leads from here.
    """
    web, mail = _split(ports)
    own = [each for each in settings.server.addresses if each not in _ANY] or ["127.0.0.1"]
    results = await _try_all(mail, own, "inside", None)
    if settings.edge.enabled:
        results += await _try_all(web, _edge_addresses(settings) or own, "inside", None)
    elif web:
        try:
            addresses = await _resolve(urlsplit(settings.http.public_url).hostname or "")
        except Failure as failure:
            return results + [
                PortResult(each.service, each.port, "", "inside", "unreachable", str(failure)) for each in web
            ]
        results += await _try_all(web, addresses, "inside", None)
    return results


def _split(ports: Sequence[PublicPort]) -> tuple[list[PublicPort], list[PublicPort]]:
    """Those of the web, and those of mail."""
    return [each for each in ports if each.asks], [each for each in ports if not each.asks]


def _edge_addresses(settings: Settings) -> list[str]:
    """The addresses that nginx listens on; empty: all."""
    found = settings.edge.listen if settings.edge.enabled else ()
    return [] if set(found) & set(_ANY) else list(found)


async def _try_all(
    ports: Sequence[PublicPort],
    addresses: Sequence[str],
    seen_from: Literal["inside", "outside"],
    source: str | None,
) -> list[PortResult]:
    """Try each port at each address of the source's version."""
    wanted = [each for each in addresses if source is None or (":" in each) == (":" in source)]
    pairs = [(port, address) for port in ports for address in wanted]
    tried = await asyncio.gather(*(_try(port, address, source) for port, address in pairs))
    return [
        PortResult(port.service, port.port, address, seen_from, status, detail)
        for (port, address), (status, detail) in zip(pairs, tried, strict=True)
    ]


async def _try(port: PublicPort, address: str, source: str | None) -> tuple[PortStatus, str]:
    """Connect as a client does, and read the greeting."""
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(SECONDS):
            local = (source, 0) if source else None
            reader, writer = await asyncio.open_connection(address, port.port, local_addr=local)
            writer.write(port.before_tls)
            if port.tls:
                await writer.start_tls(_any_certificate(), server_hostname=port.name or address)
            writer.write(port.asks)
            line = await reader.readline()
    except TimeoutError:
        return ("no_answer", "It accepts connections, but says nothing.") if writer else (
            "no_answer",
            f"No answer within {SECONDS:.0f} s: a firewall may drop the packets.",
        )  # fmt: skip
    except ConnectionRefusedError:
        return "refused", "Nothing listens there, or a firewall refuses it."
    except ssl.SSLError as error:
        return "other_service", f"TLS failed: {error.reason}."
    except OSError as error:
        if error.errno in (errno.ECONNRESET, errno.EPIPE):
            return "other_service", "The connection was closed without a greeting."
        return "unreachable", f"{error.strerror or error}."
    except ValueError:  # a line without an end
        return "other_service", "It does not greet as this service does."
    finally:
        if writer is not None:
            writer.transport.abort()
    text = line.decode("ascii", "replace").strip()[:200]
    shown = "".join(each if each.isprintable() else "?" for each in text)
    if not line.startswith(port.greeting):
        return "other_service", f"It does not greet as this service does: {shown}" if shown else "It closes at once."
    return "open", shown


def _any_certificate() -> ssl.SSLContext:
    """Without verification: whether the certificate is right is another check."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
