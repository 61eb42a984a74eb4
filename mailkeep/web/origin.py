"""Where a request comes from: the client's address behind trusted proxies, and calls by a foreign site."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request

from mailkeep.core.errors import Forbidden
from mailkeep.core.network import is_within
from mailkeep.settings import Settings
from mailkeep.web.endpoint import Call

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def client_address(request: Request, trusted: Sequence[str]) -> str:
    """The peer's address; behind trusted proxies the right-most X-Forwarded-For hop that is none of them."""
    peer = _plain(request.client.host if request.client else "")
    if not trusted or not is_within(peer, trusted):
        return peer
    hops = [hop.strip() for value in request.headers.getlist("x-forwarded-for") for hop in value.split(",")]
    for hop in reversed(hops):
        try:
            ipaddress.ip_address(hop)
        except ValueError:
            break
        peer = _plain(hop)
        if not is_within(peer, trusted):
            break
    return peer


def is_secure(request: Request, settings: Settings) -> bool:
    """Whether the client speaks TLS: to us, to the public address, or to a trusted proxy that says so."""
    if request.scope.get("scheme") == "https" or settings.http.public_url.startswith("https:"):
        return True
    if request.headers.get("x-forwarded-proto", "").strip().lower() != "https":
        return False
    return is_within(_plain(request.client.host if request.client else ""), settings.http.trusted_proxies)


@lru_cache(maxsize=4096)
def _plain(address: str) -> str:
    """An address in its shortest form; an IPv4 address also where a socket shows it as ::ffff:a.b.c.d."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str((isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped) or ip)


def refuse_cross_site(request: Request, call: Call, settings: Settings) -> None:
    """Refuse an unsafe call that another site makes with the user's cookie, or a login that it forges.

    SameSite=Strict and the JSON content type stand in front of this. No browser sends a Bearer key unasked; with any
    other Authorization (Basic, which a browser does send) it is the cookie that counts.
    """
    if request.method in _SAFE or (call.who is not None and call.who.key_id is not None):
        return
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise Forbidden("The call comes from another site.", reason="cross_site")
    origin = request.headers.get("origin")
    if origin is None:
        return
    own = {request.headers.get("host", "").lower(), urlsplit(settings.http.public_url).netloc.lower()}
    scheme, _, host = origin.lower().partition("://")
    if scheme not in ("http", "https") or host not in own:
        raise Forbidden("The call comes from another site.", reason="cross_site")
