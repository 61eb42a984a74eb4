"""Formats of setting values: a check, and a description for errors and documentation."""

from __future__ import annotations

import base64
import dataclasses
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mailkeep.core.address import normalize_domain, parse_address
from mailkeep.core.clock import is_time_zone
from mailkeep.core.identity_provider import is_loopback_name
from mailkeep.core.principal import Role
from mailkeep.settings.dns_lists import check_dns_lists
from mailkeep.settings.overlays import check_dovecot_conf, check_local_files, check_main_cf
from mailkeep.settings.providers import check_providers, read_client_secrets

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_endpoint(text: str) -> tuple[str, int]:
    """`host:port` (IPv6 in brackets) as host and port; ValueError for anything else."""
    host, colon, port = text.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ValueError("no port")
    if host.startswith("[") and host.endswith("]"):
        return str(ipaddress.IPv6Address(host[1:-1])), int(port)
    _check_host(host)
    return host, int(port)


def parse_dns_servers(texts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """`ip` or `ip:port` (IPv6 in brackets before a port) as address and port; ValueError for anything else."""
    return tuple(_dns_server(text) for text in texts)


def _dns_server(text: str) -> tuple[str, int]:
    try:
        return str(ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))), 53
    except ValueError:
        host, port = parse_endpoint(text)
        if port == 0:
            raise
        return str(ipaddress.ip_address(host)), port


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Networks in CIDR notation (or a single address); ValueError for anything else."""
    return tuple(ipaddress.ip_network(text) for text in texts)


def _check_host(text: str) -> None:
    """A host name of letters, digits and inner hyphens (RFC 1123 §2.1), or an IPv4 address."""
    for label in text.removesuffix(".").split("."):
        is_ldh = label.isascii() and label.replace("-", "").isalnum()
        if not is_ldh or len(label) > 63 or label.strip("-") != label or len(text) > 253:
            raise ValueError("not a host name")


def _check_ip_endpoint(text: str) -> None:
    """An IP address with a port."""
    ipaddress.ip_address(parse_endpoint(text)[0])


def _check_path(text: str) -> None:
    if not text.startswith("/") or any(char.isspace() or char in "$\"'{};,#" for char in text):
        raise ValueError("not an absolute path without characters that are special in daemons' configuration")


def _check_url(text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or text.removesuffix("/") != f"{parts.scheme}://{parts.netloc}":
        raise ValueError("not the URL of a site")
    parse_endpoint(parts.netloc if parts.port is not None else f"{parts.netloc}:80")


def _check_dsn(text: str) -> None:
    if urlsplit(text).scheme not in ("postgresql", "postgres"):
        raise ValueError("not a database URL")


def _check_origins(texts: Iterable[str]) -> None:
    for text in texts:
        _check_url(text)
        if text != text.lower() or text.endswith("/"):
            raise ValueError("not an origin")


def _check_blocklists(zones: tuple[str, ...]) -> None:
    if len(zones) > 20 or len(set(zones)) < len(zones):
        raise ValueError("too many, or repeated")
    for zone in zones:
        if normalize_domain(zone, min_labels=2) != zone:
            raise ValueError("not a domain name in lower case")


def _check_delays(delays: tuple[int, ...]) -> None:
    if not 1 <= len(delays) <= 20 or not all(1 <= delay <= 86_400 for delay in delays):
        raise ValueError("not a list of delays")


def _check_ports(ports: tuple[int, ...]) -> None:
    if not all(1 <= port <= 65_535 for port in ports):
        raise ValueError("no port")


def _check_roles(texts: Iterable[str]) -> None:
    for text in texts:
        Role(text)


def _check_domains(texts: Iterable[str]) -> None:
    for text in texts:
        normalize_domain(text.removesuffix("."))


def _check_base64(text: str) -> None:
    """Base64 of at least 16 bytes: HMAC with less is weak (RFC 8945 §8)."""
    if len(base64.b64decode(text, validate=True)) < 16:
        raise ValueError("too short")


class Table(dict[str, Any]):
    """A dict as the default of a dataclass field, which must be hashable; it is never changed."""

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] dict's is None
        return hash(tuple(self.items()))


def _check_senders(table: Mapping[str, Iterable[str]]) -> None:
    for entries in table.values():
        for entry in entries:
            normalize_domain(entry) if "@" not in entry else parse_address(entry)


def _check_directory(text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.fragment or not text.isascii():
        raise ValueError("not an https URL")


def _check_email(text: str) -> None:
    if parse_address(text).text != text or not text.isascii():
        raise ValueError("not an address in ASCII")


def _check_eab_key(text: str) -> None:
    if len(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))) < 16:
        raise ValueError("too short")


def _check_profile(text: str) -> None:
    if len(text) > 64 or not text.isascii() or not text.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise ValueError("not a profile's name")


def _check_names(labels: tuple[str, ...]) -> None:
    if len(set(labels)) < len(labels) or not set(labels) <= {"autoconfig", "autodiscover", "mta-sts", "mail"}:
        raise ValueError("repeated, or unknown")


_ACCOUNT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def _check_repository(text: str) -> None:
    """An absolute path, or the location of a restic repository at a server. Plain HTTP only to this machine."""
    kind, colon, rest = text.partition(":")
    if text.startswith("/"):
        _check_path(text)
        return
    if not colon or not rest or not text.isascii() or any(char.isspace() or char in "\"'\\" for char in text):
        raise ValueError("not a location")
    if kind == "sftp" and rest.startswith("//"):
        parts = urlsplit(text)
        _check_host(parts.hostname or "")
        if not _ACCOUNT.fullmatch(parts.username or "") or parts.password or not parts.path.strip("/"):
            raise ValueError("not //user@host:port/path")
        if parts.port == 0:
            raise ValueError("no port")
        return
    if kind == "sftp":
        user, at, place = rest.partition("@")
        host, colon, path = place.partition(":")
        _check_host(host)
        if not at or not colon or not path or not _ACCOUNT.fullmatch(user):
            raise ValueError("not user@host:path")
        return
    parts = urlsplit(rest)
    if kind not in ("s3", "rest") or parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError("not an s3: or rest: URL without user name")
    if parts.scheme == "http" and not is_loopback_name(parts.hostname):
        raise ValueError("plain HTTP")
    if kind == "s3" and not parts.path.strip("/"):
        raise ValueError("no bucket")


def _check_time_of_day(text: str) -> None:
    hours, colon, minutes = text.partition(":")
    digits = hours + minutes
    if not colon or len(text) != 5 or not (digits.isascii() and digits.isdecimal()):
        raise ValueError("not a time")
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError("not a time")


def _check_quiet_hours(text: str) -> None:
    begin, _, end = text.partition("-")
    _check_time_of_day(begin)
    _check_time_of_day(end)
    if begin == end:
        raise ValueError("no time in between")


def _check_time_zone(name: str) -> None:
    if not is_time_zone(name):
        raise ValueError("not a time zone")


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """The format of a value: a description (`expected`), and a check that raises ValueError.

    `keywords` are texts that mean a value. With `reports_reason` an error shows the check's message instead of the
    value. `convert` turns a checked value into the value of the setting. With `has_lines` the check decides about
    control characters.
    """

    expected: str
    check: Callable[[Any], object]
    keywords: Mapping[str, object] = dataclasses.field(default_factory=dict[str, object])
    reports_reason: bool = False
    has_lines: bool = False
    convert: Callable[[Any], object] | None = None


ENDPOINT = ValueFormat("host:port", parse_endpoint)
NETWORKS = ValueFormat("a list of networks in CIDR form", parse_networks)
HOST = ValueFormat("a host name", _check_host)
HOST_OR_NONE = ValueFormat("a host name, or an empty string", lambda text: text and _check_host(text))
DNS_SERVERS = ValueFormat("a list of DNS servers, each an IP address with or without :port", parse_dns_servers)
BLOCKLISTS = ValueFormat("a list of at most 20 domain names, each once", _check_blocklists)
DOMAINS = ValueFormat("a list of domain names", _check_domains)
TSIG_KEY = ValueFormat("the name of a key", lambda text: normalize_domain(text.removesuffix(".")))
TSIG_SECRET = ValueFormat("base64 of at least 16 bytes", _check_base64)
ACME_DIRECTORY = ValueFormat("an https:// URL", _check_directory)
ACME_NAMES = ValueFormat("a list of autoconfig, autodiscover, mta-sts and mail, each at most once", _check_names)
ACME_PROFILE = ValueFormat("the name of a profile", _check_profile)
EAB_KEY = ValueFormat("base64url of at least 16 bytes", _check_eab_key)
EMAIL = ValueFormat("an email address", _check_email)
DELAYS = ValueFormat("a list of 1 to 20 delays, each 1 to 86400 seconds", _check_delays)
PORTS = ValueFormat("a list of ports, each 1 to 65535", _check_ports)
URL = ValueFormat("http:// or https:// with a host, without path", _check_url)
DSN = ValueFormat("postgresql://…", _check_dsn)
ADDRESSES = ValueFormat("a list of IP addresses", lambda texts: [ipaddress.ip_address(text) for text in texts])
ENDPOINTS = ValueFormat("a list of ip:port", lambda texts: [_check_ip_endpoint(text) for text in texts])
PATH = ValueFormat("an absolute path", _check_path)
REPOSITORY = ValueFormat(
    "an absolute path, sftp:user@host:path, s3:https://host/bucket or rest:https://host", _check_repository
)
QUIET_HOURS = ValueFormat("two times like 22:00-07:00", _check_quiet_hours)
TIME_ZONE = ValueFormat("the name of a time zone, such as Europe/Berlin", _check_time_zone)
TIME_OF_DAY = ValueFormat("a time like 02:30", _check_time_of_day)
SENDERS = ValueFormat("a table of lists of addresses and domains by account", _check_senders)
ROLES = ValueFormat(f"a list of roles ({', '.join(Role)}), or `off`", _check_roles, {"off": ()})
ORIGINS = ValueFormat("a list of origins, each like https://app.example", _check_origins)
PROVIDERS = ValueFormat(
    "a list of providers, each with `id`, `issuer` and `client_id` (see docs/howto/oidc.md)",
    check_providers,
    reports_reason=True,
    convert=read_client_secrets,
)
DNS_LISTS = ValueFormat(
    "a list of tables with `zone`, `codes` and `score` (see docs/howto/scanning.md)",
    check_dns_lists,
    reports_reason=True,
)
MAIN_CF_LINES = ValueFormat(
    "lines for main.cf (see docs/howto/overlays.md)", check_main_cf, reports_reason=True, has_lines=True
)
DOVECOT_LINES = ValueFormat(
    "lines for dovecot.conf (see docs/howto/overlays.md)", check_dovecot_conf, reports_reason=True, has_lines=True
)
RSPAMD_FILES = ValueFormat(
    "a table of lines by file in local.d (see docs/howto/overlays.md)", check_local_files, reports_reason=True
)
