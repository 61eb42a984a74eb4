"""The sections for DNS: look-ups, checks of records, updates of zones, and the rotation of DKIM keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import BLOCKLISTS, DNS_SERVERS, DOMAINS, ENDPOINT, TSIG_KEY, TSIG_SECRET

_PROVIDER = "dns.provider"
"""What belongs to the provider takes effect with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsSettings:
    """DNS look-ups, checks of DNS records, and updates of DNS zones."""

    servers: tuple[str, ...] = _setting(
        (),
        "The DNS servers for all look-ups, after /etc/hosts, with a timeout of 3 seconds; empty: the system's.",
        DNS_SERVERS,
        read_at_start=("worker", "api"),
    )
    resolver: Literal["system", "unbound"] = _setting(
        "system",
        "Full profile: the resolver for deliveries to other servers and (without `servers`) the filter: that of "
        "/etc/resolv.conf, or a private Unbound, which validates DNSSEC and forwards to `servers` if there are any.",
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
    provider: Literal["none", "rfc2136"] = _setting(
        "none",
        "How Mailkeep writes the DNS records of domains with `dns_managed`: `rfc2136` by DNS UPDATE, signed with a "
        "TSIG key; docs/howto/dns-updates.md.",
    )
    update_server: str = _setting(
        "", "The primary name server that accepts updates, as host:port.", ENDPOINT, applies_with=_PROVIDER
    )
    update_zones: tuple[str, ...] = _setting(
        (),
        "The zones that may be updated; empty: the zone of each name is found by its SOA record at `update_server`.",
        DOMAINS,
        applies_with=_PROVIDER,
    )
    tsig_key: str = _setting("", "The name of the TSIG key (RFC 8945).", TSIG_KEY, applies_with=_PROVIDER)
    tsig_algorithm: Literal["hmac-sha256", "hmac-sha384", "hmac-sha512"] = _setting(
        "hmac-sha256", "The algorithm of the TSIG key.", applies_with=_PROVIDER
    )
    tsig_secret: str = _setting(
        "", "The secret of the TSIG key, in base64.", TSIG_SECRET, secret=True, applies_with=_PROVIDER
    )
    manage_server: bool = _setting(
        False,
        "Whether Mailkeep also writes the TXT records of the server's host name: its SPF record, its DKIM keys, and "
        "those of domains with `dkim_delegated`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DkimSettings:
    """DKIM keys of domains."""

    rotate_days: int = _setting(
        0,
        "The age in days at which active DKIM keys are replaced; 0: only by an administrator. docs/howto/dkim.md says "
        "what to expect.",
        low=0,
        high=3650,
    )
