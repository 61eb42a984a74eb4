"""Strict parsing of URLs: ambiguous ones are rejected, none is corrected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from mailkeep.net.guard import Host, MalformedHost, parse_host

_MAX_LENGTH = 2048
# Scheme, authority, path and query, each with only its own characters (RFC 3986 §3); hosts may be Unicode. There is no
# userinfo, backslash, fragment, space or control character.
_URL = re.compile(
    r"(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?)://"
    r"(?P<host>\[[0-9A-Fa-f:.]*\]|[^\x00-\x20\x7f-\x9f\\/?#@:\[\]%<>\"^`{|}]+)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)"
    r"(?:\?(?P<query>(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\[\]|-]|%[0-9A-Fa-f]{2})*))?"
)


class MalformedUrl(ValueError):
    """A URL that is not allowed; the message fits after "the URL"."""


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A parsed URL; `path` includes the query, as on the request line."""

    scheme: str
    host: Host
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header field: host, and port if it is not the scheme's default."""
        text = f"[{self.host.text}]" if ":" in self.host.text else self.host.text
        return text if self.port == _PORTS[self.scheme] else f"{text}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in its canonical form."""
        return f"{self.scheme}://{self.authority}{self.path}"


_PORTS = {"https": 443, "http": 80}


@lru_cache(maxsize=1024)
def parse_url(url: str, *, allow_http: bool = False) -> ParsedUrl:
    """Parse a URL; MalformedUrl if it is not https (or http if allowed), or has userinfo, a fragment, an ambiguous host
    or an invalid character.
    """
    if len(url) > _MAX_LENGTH:
        raise MalformedUrl(f"is longer than {_MAX_LENGTH} characters")
    match = _URL.fullmatch(url)
    if match is None:
        raise MalformedUrl("is not of the form https://host[:port][/path][?query]")
    scheme = match["scheme"].lower()
    if scheme == "http" and not allow_http:
        raise MalformedUrl("does not start with https://")
    try:
        host = parse_host(match["host"])
    except MalformedHost as error:
        raise MalformedUrl(f"has an invalid host: {error}") from error
    port = int(match["port"]) if match["port"] else _PORTS[scheme]
    if not 1 <= port <= 65535:
        raise MalformedUrl(f"has the port {port}, which is not 1 to 65535")
    path = (match["path"] or "/") + (f"?{match['query']}" if match["query"] is not None else "")
    return ParsedUrl(scheme, host, port, path)
