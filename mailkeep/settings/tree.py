"""The tree itself: each section a frozen dataclass, each field with default, meaning and bounds."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from mailkeep.core.principal import Role

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def endpoint(text: str) -> tuple[str, int]:
    """`host:port` (IPv6 in brackets) as host and port; ValueError if it is neither."""
    host, colon, port = text.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ValueError("no port")
    if host.startswith("[") and host.endswith("]"):
        return str(ipaddress.IPv6Address(host[1:-1])), int(port)
    _check_host(host)
    return host, int(port)


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """CIDR texts (a bare address is a network of one) as networks; ValueError for anything else."""
    return tuple(ipaddress.ip_network(text) for text in texts)


def _check_host(text: str) -> None:
    """A name of letters, digits and inner hyphens (RFC 1123 §2.1), or an IPv4 address."""
    for label in text.removesuffix(".").split("."):
        plain = label.isascii() and label.replace("-", "").isalnum()
        if not plain or len(label) > 63 or label.strip("-") != label or len(text) > 253:
            raise ValueError("no host name")


def _check_url(text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or text.removesuffix("/") != f"{parts.scheme}://{parts.netloc}":
        raise ValueError("no address of a site")
    endpoint(parts.netloc if parts.port is not None else f"{parts.netloc}:80")


def _check_dsn(text: str) -> None:
    if urlsplit(text).scheme not in ("postgresql", "postgres"):
        raise ValueError("no address of a database")


def _check_origins(texts: Iterable[str]) -> None:
    for text in texts:
        _check_url(text)
        if text != text.lower() or text.endswith("/"):
            raise ValueError("no origin")


def _check_roles(texts: Iterable[str]) -> None:
    for text in texts:
        Role(text)


@dataclass(frozen=True, slots=True)
class _Grammar:
    expected: str
    check: Callable[[Any], object]
    words: Mapping[str, object] = dataclasses.field(default_factory=dict[str, object])  # texts that stand for a value


_ENDPOINT = _Grammar("host:port", endpoint)
_NETWORKS = _Grammar("a list of networks in CIDR form", networks)
_HOST = _Grammar("a host name", _check_host)
_URL = _Grammar("http:// or https:// with a host, without path", _check_url)
_DSN = _Grammar("postgresql://…", _check_dsn)
_ROLES = _Grammar(f"a list of roles ({', '.join(Role)}), or `off`", _check_roles, {"off": ()})
_ORIGINS = _Grammar("a list of origins, each like https://app.example", _check_origins)


def _setting(
    default: Any,
    doc: str,
    grammar: _Grammar | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
) -> Any:
    """A field: an empty text passes its grammar only where it is the default."""
    told = {"doc": doc, "grammar": grammar, "low": low, "high": high, "secret": secret}
    return dataclasses.field(default=default, metadata=told, repr=not secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """The API over HTTP."""

    listen: str = _setting("127.0.0.1:8080", "Where the API listens.", _ENDPOINT)
    public_url: str = _setting("http://localhost:8080", "The API's address as people and programs reach it.", _URL)
    trusted_proxies: tuple[str, ...] = _setting(
        (), "Networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed; no others are.", _NETWORKS
    )
    internal: str = _setting(
        "127.0.0.1:8081", "Where metrics are served, not to the public; port 0: a free one.", _ENDPOINT
    )
    header_timeout_seconds: float = _setting(10, "How long a client may take for a request's head.", low=1, high=300)
    body_timeout_seconds: float = _setting(30, "How long a client may stay silent within a body.", low=1, high=600)
    read_timeout_seconds: float = _setting(
        30, "How long a client may take next to nothing of its answer.", low=1, high=600
    )
    slowest_bytes_per_second: int = _setting(
        32_768, "The pace that a body must keep, on the whole, after its first minute.", low=1, high=10**9
    )
    max_connections: int = _setting(
        4096, "Most connections at a time; more are answered 503, and closed.", low=16, high=1_000_000
    )
    max_connections_per_address: int = _setting(
        1024, "The same for one client address (IPv6: one /64), `trusted_proxies` excepted.", low=1, high=1_000_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """PostgreSQL 15 or newer."""

    url: str = _setting("", "The database; empty: a private server in the data directory.", _DSN, secret=True)
    owner_url: str = _setting(
        "", "The same as the role that owns the tables, to migrate; empty: `url`.", _DSN, secret=True
    )
    pool_size: int = _setting(10, "Most connections that one process keeps open.", low=2, high=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Smtp:
    """The built-in listener for incoming mail."""

    listen: str = _setting("127.0.0.1:2525", "Where mail for the managed domains is taken.", _ENDPOINT)
    max_sessions: int = _setting(200, "Most connections at a time; more are answered 421.", low=1, high=10_000)
    timeout_seconds: float = _setting(
        300, "How long a client may stay silent (RFC 5321 §4.5.3.2.7 asks for 300).", low=1, high=3600
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mta:
    """The way out for mail that is sent."""

    mode: Literal["sandbox", "smtp", "none"] = _setting(
        "sandbox", "`sandbox` keeps mail and shows it, `smtp` hands it to `host`, `none` refuses to send."
    )
    host: str = _setting("", "The mail server that takes outbound mail in mode `smtp`.", _HOST)
    port: int = _setting(587, "Its port.", low=1, high=65535)
    tls: Literal["none", "starttls", "tls"] = _setting(
        "starttls", "Encryption on the way there; `tls`: from the start."
    )
    username: str = _setting("", "The account there; empty: no authentication.")
    password: str = _setting("", "The account's password.", secret=True)
    sandbox_port: int = _setting(0, "The sandbox's own port on loopback; 0: a free one.", low=0, high=65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one caller may ask for."""

    message_size_mb: int = _setting(
        50,
        "Largest message, headers and encoded attachments together, in units of 2^20 bytes.",
        low=1,
        high=100,
    )
    body_budget_mb: int = _setting(
        512,
        "Memory for all request bodies above 64 KiB at a time, in units of 2^20 bytes; more wait, or get 503.",
        low=1,
        high=1 << 20,
    )
    login_per_second: float = _setting(5, "Logins per second and client address; 0: no limit.", low=0, high=10_000)
    requests_per_second: float = _setting(
        500,
        "Requests per second and client address, twice that in a burst; 0: no limit.",
        low=0,
        high=100_000,
    )

    @property
    def message_size_bytes(self) -> int:
        """`message_size_mb` in bytes, as messages are measured."""
        return self.message_size_mb << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Sessions of people who logged in."""

    ttl_hours: float = _setting(24, "How long a login lasts; fractions allowed.", low=0.0001, high=8760)


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """What is asked of administrators, whatever their rights."""

    require_second_factor: tuple[str, ...] = _setting(
        (), "Roles that need a second factor: until they have enrolled one, they can do nothing else.", _ROLES
    )
    allowed_networks: tuple[str, ...] = _setting(
        (), "Networks from which administrators, and API keys, may call; empty: from everywhere.", _NETWORKS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Abuse:
    """Recipients per rolling hour at which sending stops."""

    sender_per_hour: int = _setting(1000, "For one sender address, which is then suspended.", low=1, high=10**9)
    domain_per_hour: int = _setting(10_000, "For one domain; what goes beyond is refused.", low=1, high=10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long things are kept."""

    content_days: int = _setting(7, "Days for which the content of messages is kept.", low=1, high=3650)
    history_days: int = _setting(
        90, "Days for which at least the history of messages is kept; it goes by whole months.", low=1, high=3650
    )
    event_days: int = _setting(30, "The same for events.", low=1, high=3650)
    audit_days: int = _setting(400, "The same for the audit log.", low=31, high=36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What is told of mail."""

    received_full: bool = _setting(
        False, "Whether every received message is told whole (`mail.received.full`), its content kept for 3 days."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cors:
    """Browsers' access from other origins; without origins no such header is sent."""

    origins: tuple[str, ...] = _setting((), "Exact origins that may call the API from a browser.", _ORIGINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The log: JSON lines on standard error."""

    level: Literal["debug", "info", "warning", "error"] = _setting("info", "The least severity that is logged.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """This machine."""

    hostname: str = _setting("", "The name in SMTP greetings and headers; empty: the system's own.", _HOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole tree."""

    http: Http = Http()
    database: Database = Database()
    smtp: Smtp = Smtp()
    mta: Mta = Mta()
    limits: Limits = Limits()
    sessions: Sessions = Sessions()
    auth: Auth = Auth()
    abuse: Abuse = Abuse()
    retention: Retention = Retention()
    events: Events = Events()
    cors: Cors = Cors()
    log: Log = Log()
    server: Server = Server()


@dataclass(frozen=True, slots=True)
class Field:
    """One setting: its type and what its declaration tells."""

    base: Any
    default: object
    doc: str
    grammar: _Grammar | None
    low: float | None
    high: float | None
    secret: bool

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        if self.grammar:
            return self.grammar.expected + (", or nothing" if self.default == "" else "")
        if get_origin(self.base) is Literal:
            return "one of " + ", ".join(get_args(self.base))
        if self.base is str:
            return "text"
        if self.base is bool:
            return "true or false"
        return f"{'a whole number' if self.base is int else 'a number'} from {self.low} to {self.high}"


SECTIONS: dict[str, type[Any]] = get_type_hints(Settings)
FIELDS = {
    f"{name}.{field.name}": Field(get_type_hints(section)[field.name], field.default, **field.metadata)
    for name, section in SECTIONS.items()
    for field in dataclasses.fields(section)
}
"""Every setting there is, by key, in the order of this file."""
