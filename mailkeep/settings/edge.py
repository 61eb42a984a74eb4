"""The section for nginx, in front of the API."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import ADDRESSES, NETWORKS


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSettings:
    """Full profile: nginx with TLS, in front of the API and the dashboard; docs/howto/edge.md."""

    enabled: bool = _setting(
        False,
        "Whether nginx serves API and dashboard over HTTPS, as `server.hostname`. `http.listen` still answers.",
    )
    listen: tuple[str, ...] = _setting((), "The addresses that nginx listens on; empty: all.", ADDRESSES)
    http_port: int = _setting(
        80,
        "The port for plain HTTP: it redirects to HTTPS, and answers the certificate authority. 0: none.",
        low=0,
        high=65535,
    )
    https_port: int = _setting(443, "The port for HTTPS.", low=1, high=65535)
    proxy_networks: tuple[str, ...] = _setting(
        (),
        "Networks of load balancers that send the PROXY protocol (version 1 or 2), from which the client's address is "
        "taken. If set, each connection to nginx must begin with it; in connections from other networks it is ignored.",
        NETWORKS,
    )
