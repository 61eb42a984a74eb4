"""Settings of the HTTP listeners."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.settings.declaration import ALL, setting as _setting
from mailkeep.settings.formats import ENDPOINT, NETWORKS, URL


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The API over HTTP."""

    listen: str = _setting("127.0.0.1:8080", "Address and port of the API.", ENDPOINT, read_at_start=ALL)
    public_url: str = _setting("http://localhost:8080", "The public URL of the API.", URL, read_at_start=ALL)
    trusted_proxies: tuple[str, ...] = _setting(
        (),
        "Networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.",
        NETWORKS,
        read_at_start=ALL,
    )
    internal: str = _setting(
        "127.0.0.1:8081",
        "Where metrics are served (not public); port 0: a free port, which is also used if this default is in use.",
        ENDPOINT,
        read_at_start=ALL,
    )
    metrics_token: str = _setting(
        "",
        "The token that `/metrics` requires (`Authorization: Bearer`); empty: only loopback may read the metrics.",
        secret=True,
        read_at_start=ALL,
    )
    header_timeout_seconds: float = _setting(
        10, "How long a client may take to send the header section.", low=1, high=300, read_at_start=ALL
    )
    body_timeout_seconds: float = _setting(
        30, "How long a client may pause while it sends a body.", low=1, high=600, read_at_start=ALL
    )
    read_timeout_seconds: float = _setting(
        30, "How long a client may read almost nothing of a response.", low=1, high=600, read_at_start=ALL
    )
    slowest_bytes_per_second: int = _setting(
        32_768, "The minimum average rate of a body after its first minute.", low=1, high=10**9, read_at_start=ALL
    )
    processes: int = _setting(
        0,
        "Number of processes that serve the API (full profile); 0: one for each core, at most 4. The embedded profile "
        "has one.",
        low=0,
        high=16,
        read_at_start=ALL,
    )
    max_connections: int = _setting(
        4096,
        "Maximum number of connections; further ones get 503 and are closed.",
        low=16,
        high=1_000_000,
        read_at_start=ALL,
    )
    max_connections_per_address: int = _setting(
        1024,
        "Maximum number of connections of one client address (IPv6: /64 network), except `trusted_proxies`.",
        low=1,
        high=1_000_000,
        read_at_start=ALL,
    )
