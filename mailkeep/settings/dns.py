"""The section for DNS: look-ups, and checks of the records that domains and the server need."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import BLOCKLISTS, DNS_SERVERS


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsSettings:
    """DNS look-ups, and checks of DNS records."""

    servers: tuple[str, ...] = _setting(
        (),
        "The DNS servers for all look-ups, after /etc/hosts, with a timeout of 3 seconds; empty: the system's.",
        DNS_SERVERS,
        read_at_start=("worker", "api"),
    )
    check_minutes: int = _setting(
        60,
        "The interval of the checks of each domain's and the server's DNS records; 0: only on request.",
        low=0,
        high=10_080,
    )
    confirm_seconds: int = _setting(
        300, "The time after which a changed result is checked again before an event reports it.", low=0, high=86_400
    )
    lookups_per_second: int = _setting(
        200, "The limit of DNS queries for all checks of the instance, in the long run.", low=1, high=10_000
    )
    blocklists: tuple[str, ...] = _setting(
        ("zen.spamhaus.org", "bl.spamcop.net"),
        "Blocklists (RFC 5782) in which the server's addresses are looked up with each check; docs/howto/dns.md says "
        "which name servers they answer.",
        BLOCKLISTS,
    )
