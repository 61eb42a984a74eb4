"""Where a request comes from: the client's address behind trusted proxies, and protection from cross-site requests."""

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

UNIX_PEER = "unix:"
"""The address of a peer on the Unix socket; no other peer has it."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def is_from_nginx(request: Request) -> bool:
    """Whether the request came by the Unix socket, to which only nginx can connect."""
    return request.client is not None and request.client.host == UNIX_PEER


def client_address(request: Request, trusted: Sequence[str]) -> str:
    """The peer's address; behind nginx and trusted proxies the right-most address of X-Forwarded-For that is no trusted
    proxy.
    """
    address = _canonical_address(request.client.host if request.client else "")
    if address != UNIX_PEER and (not trusted or not is_within(address, trusted)):
        return address
    hops = [hop.strip() for value in request.headers.getlist("x-forwarded-for") for hop in value.split(",")]
    for hop in reversed(hops):
        try:
            ipaddress.ip_address(hop)
        except ValueError:
            break
        address = _canonical_address(hop)
        if not is_within(address, trusted):
            break
    return address


def is_secure(request: Request, settings: Settings) -> bool:
    """Whether the client uses TLS: to this listener, to `http.public_url`, or to a trusted proxy that reports it."""
    if request.scope.get("scheme") == "https" or settings.http.public_url.startswith("https:"):
        return True
    if request.headers.get("x-forwarded-proto", "").strip().lower() != "https":
        return False
    return is_from_nginx(request) or is_within(
        _canonical_address(request.client.host if request.client else ""), settings.http.trusted_proxies
    )


@lru_cache(maxsize=4096)
def _canonical_address(address: str) -> str:
    """The canonical form of an address; an IPv4-mapped IPv6 address becomes IPv4."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str((isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped) or ip)


def refuse_cross_site(request: Request, call: Call, settings: Settings) -> None:
    """Reject cross-site requests that change something (CSRF): with the user's cookie, or a forged login.

    SameSite=Strict and the JSON content type also prevent them. Requests with a Bearer API key are exempt, since no
    browser sends one by itself; those with any other Authorization (such as Basic) are checked.
    """
    if request.method in _SAFE or (call.who is not None and call.who.key_id is not None):
        return
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise Forbidden(f"Another site sent the request (Sec-Fetch-Site: {site[:100]}).", reason="cross_site")
    origin = request.headers.get("origin")
    if origin is None:
        return
    own_hosts = {request.headers.get("host", "").lower(), urlsplit(settings.http.public_url).netloc.lower()}
    scheme, _, host = origin.lower().partition("://")
    if scheme not in ("http", "https") or host not in own_hosts:
        raise Forbidden(
            f"Another site sent the request (Origin: {origin[:100]}). If this is the address of this server, set the "
            "setting http.public_url to it.",
            reason="cross_site",
        )
