"""The parts of nginx's configuration that depend on settings, and the servers for the names of hosted domains."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from mailkeep.core.errors import (
    BadRequest,
    HeadTooLarge,
    InternalError,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    RateLimitExceeded,
    Refusal,
    Unavailable,
)
from mailkeep.core.security_headers import SECURITY_HEADERS
from mailkeep.mail.daemons import webmail
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.settings import Settings

Fill = Callable[[str, Mapping[str, str]], str]
_FILES = ("nginx.conf", "https.conf", "errors.conf", "errors.js", "hosted.conf")
_TO_LOOPBACK: Mapping[str, str] = {"0.0.0.0": "127.0.0.1", "[::]": "::1"}  # noqa: S104
_LISTEN = re.compile(r"\blisten (\S+):([0-9]+)\b")
_LISTENER_DIGITS = 32
_LARGEST_IMPORT = 16 << 20
"""Of any endpoint's body but messages, in bytes; the API knows the limit of each."""
_BODY_GRACE_SECONDS = 3
"""nginx waits longer than the API for the next part of a body: it would close the connection without an answer."""
# By nginx's status, which may be one of its own (ngx_http_request.h): the refusal that is answered instead.
ERRORS: Mapping[int, Refusal] = {
    400: BadRequest(),
    404: NotFound(),
    405: MethodNotAllowed("No path supports this method."),
    411: BadRequest("A request with a body needs Content-Length."),
    413: PayloadTooLarge(),
    414: HeadTooLarge("The request line is too long."),
    421: BadRequest("This server has no such host name."),
    429: RateLimitExceeded(),
    494: HeadTooLarge(),
    495: BadRequest("The client certificate is not valid."),
    496: BadRequest("A client certificate is missing."),
    497: BadRequest("This port accepts only HTTPS."),
    500: InternalError(),
    501: BadRequest("The transfer coding is not known."),
    502: Unavailable(reason="api_away"),
    503: Unavailable(),
    504: Unavailable(reason="api_timeout"),
    505: BadRequest("The HTTP version is not supported."),
}


def list_server_names(settings: Settings) -> list[str]:
    """The names of the API and the dashboard: that of the server, and that of `http.public_url` if it is https."""
    public = urlsplit(settings.http.public_url)
    names = [settings.server.name, (public.hostname or "") if public.scheme == "https" else ""]
    return list(dict.fromkeys(name.lower().removesuffix(".") for name in names if name))


def make_public_url(settings: Settings) -> str:
    """The URL of the HTTPS listener."""
    return f"https://{list_server_names(settings)[0]}{_port_in_urls(settings)}"


def identify_listener(settings: Settings) -> str:
    """The ID of the HTTPS listener: another one if its address, protocol, names or certificate change by settings.
    Empty if there is none.
    """
    if not settings.edge.enabled:
        return ""
    edge, tls = settings.edge, settings.tls
    certificate = tls.certificate_file, tls.key_file
    parts = [edge.listen, edge.https_port, edge.proxy_networks, list_server_names(settings), certificate]
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:_LISTENER_DIGITS]


def find_largest_body(settings: Settings) -> int:
    """The largest body of any request, in bytes."""
    return max(_LARGEST_IMPORT, settings.limits.message_size_bytes * 3 // 2)


@dataclass(frozen=True, slots=True)
class EdgeConfig:
    """What the configuration depends on besides settings."""

    paths: InstancePaths
    certificate_file: str
    account: str
    has_ipv6: bool


def render(settings: Settings, config: EdgeConfig, fill: Fill) -> dict[str, str]:
    """The files of nginx; none if it is off."""
    if not settings.edge.enabled:
        return {}
    edge, http, limits = settings.edge, settings.http, settings.limits
    errors = {
        str(status): {
            "status": refusal.status,
            "code": refusal.code,
            "message": refusal.message,
            "details": refusal.details,
            "retry_after": refusal.retry_after,
        }
        for status, refusal in ERRORS.items()
    }
    fields = {name.decode(): value.decode() for name, value in SECURITY_HEADERS}
    tls = "ssl http2 proxy_protocol" if edge.proxy_networks else "ssl http2"
    # Twice: a connection of a client and one to the API.
    connections = 2 * http.max_connections
    addresses = edge.listen or (("0.0.0.0", "::") if config.has_ipv6 else ("0.0.0.0",))  # noqa: S104
    values = {
        "edge_account": config.account,
        "nginx_pid": str(config.paths.nginx_pid),
        "nginx_tmp": str(config.paths.nginx_tmp),
        "api_socket": str(config.paths.api_socket),
        "sites_file": str(config.paths.nginx_sites),
        "descriptors": str(2 * connections),
        "connections": str(connections),
        "client_connections": str(http.max_connections_per_address),
        "request_rate": _rate(limits.requests_per_second),
        "request_burst": str(max(1, round(2 * limits.requests_per_second))),
        "login_rate": _rate(limits.login_per_second),
        "login_burst": str(max(1, round(limits.login_per_second))),
        "header_seconds": _milliseconds(http.header_timeout_seconds),
        "body_seconds": _milliseconds(http.body_timeout_seconds + _BODY_GRACE_SECONDS),
        "read_seconds": _milliseconds(http.read_timeout_seconds),
        "max_body": str(find_largest_body(settings)),
        "api": "/api/v1",
        "listener": identify_listener(settings),
        "server_names": " ".join(list_server_names(settings)),
        "certificate_file": config.certificate_file,
        "error_pages": " ".join(
            f"error_page {status} ={refusal.status} /_error/{status};" for status, refusal in ERRORS.items()
        ),
        "errors": msgspec.json.encode(errors).decode(),
        "error_fields": msgspec.json.encode(fields).decode(),
        "proxy_networks": " ".join(f"set_real_ip_from {network};" for network in edge.proxy_networks),
        "https_listen": _listen(addresses, edge.https_port, tls),
        "http_port": str(edge.http_port or ""),
        "http_listen": _listen(addresses, edge.http_port, "proxy_protocol" if edge.proxy_networks else ""),
        "port_in_urls": _port_in_urls(settings),
        "webmail": "yes" if settings.webmail.enabled else "",
        "webmail_host": settings.webmail.host.lower(),
        "webmail_body": str(webmail.count_post_bytes(settings)),
        "document_root": webmail.DOCUMENT_ROOT,
        "php_socket": str(config.paths.php_socket),
    }
    files = (*_FILES, *(("webmail.conf",) if settings.webmail.enabled else ()))
    return {name: fill(f"nginx/{name}", values) for name in files}


def render_sites(sites: Sequence[tuple[Sequence[str], str, str]]) -> str:
    """The servers for the names of hosted domains: each with its certificate and its key."""
    return "# The names of hosted domains. Written by the process `node`.\n" + "".join(
        f"server {{\n    include https.conf;\n    server_name {' '.join(names)};\n    ssl_certificate {certificate};\n"
        f"    ssl_certificate_key {key};\n    include hosted.conf;\n}}\n"
        for names, certificate, key in sites
    )


def list_listeners(conf: Path) -> list[tuple[str, int]]:
    """Where nginx listens with the files in this folder: an address that can be connected to, and the port."""
    found: dict[tuple[str, int], None] = {}
    for name in ("https.conf", "nginx.conf"):
        for address, port in _find_listens((conf / name).read_text("utf-8")):
            found[_TO_LOOPBACK.get(address, address.strip("[]")), int(port)] = None
    return list(found)


def _find_listens(text: str) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in _LISTEN.finditer(text)]


def _listen(addresses: Sequence[str], port: int, options: str) -> str:
    end = f":{port} {options}".rstrip()
    return " ".join(f"listen [{each}]{end};" if ":" in each else f"listen {each}{end};" for each in addresses)


def _port_in_urls(settings: Settings) -> str:
    return "" if settings.edge.https_port == 443 else f":{settings.edge.https_port}"


def _rate(per_second: float) -> str:
    """A rate as nginx has them: whole numbers, per second or minute. Empty: no limit."""
    if not per_second:
        return ""
    return f"{per_second:.0f}r/s" if per_second == int(per_second) else f"{max(1, round(60 * per_second))}r/m"


def _milliseconds(seconds: float) -> str:
    return f"{round(1000 * seconds)}ms"
