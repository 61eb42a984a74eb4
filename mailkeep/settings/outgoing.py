"""The sections for outgoing mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mailkeep.settings.declaration import ALL, setting as _setting
from mailkeep.settings.formats import ENDPOINT, NETWORKS, PATH, SENDERS, Table

_RELAY = "outbound.relay"
"""What belongs to the relay takes effect with it, so that no login is sent to another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundSettings:
    """Outgoing mail in the full profile; `relay_networks`, `mta_sts_networks` and `extra_ca_file` also apply to the
    embedded profile.
    """

    relay: str = _setting(
        "",
        "The relay for all outbound mail, as host:port, except of domains with a relay of their own; empty: delivery "
        "by MX records.",
        ENDPOINT,
    )
    relay_tls: Literal["none", "starttls", "tls"] = _setting(
        "starttls",
        "Encryption to `relay`, whose certificate must be valid for its name; `tls`: implicit TLS; `none` only "
        "without a user name.",
        applies_with=_RELAY,
    )
    relay_username: str = _setting("", "The user name at `relay`; empty: no authentication.", applies_with=_RELAY)
    relay_password: str = _setting("", "The password at `relay`.", secret=True, applies_with=_RELAY)
    relay_networks: tuple[str, ...] = _setting(
        (),
        "Private, loopback or other special-purpose networks in which relays (of the server or of domains) may be.",
        NETWORKS,
        read_at_start=ALL,
        stored=False,
    )
    extra_ca_file: str = _setting(
        "",
        "CA certificates (PEM) that are trusted for relays and hosts of MTA-STS policies in addition to the system's.",
        PATH,
        read_at_start=ALL,
    )
    mta_sts_networks: tuple[str, ...] = _setting(
        (),
        "Private, loopback or other special-purpose networks in which the hosts of MTA-STS policies may be.",
        NETWORKS,
        read_at_start=ALL,
        stored=False,
    )
    tls: Literal["none", "may", "encrypt"] = _setting(
        "may", "Encryption to other servers: never, if offered, or always."
    )
    dane: bool = _setting(
        False,
        "Whether mail for domains with TLSA records goes only to servers with the certificates that these name (DANE, "
        "RFC 7672). Needs a resolver that validates DNSSEC: see `dns.resolver`.",
    )
    mta_sts: bool = _setting(
        False,
        "Whether mail for domains that enforce an MTA-STS policy (RFC 8461) goes only to its servers, over TLS with "
        "valid certificates. DANE takes precedence.",
    )
    hide_client: bool = _setting(
        True, "Whether the `Received` field of submitted mail omits the client's name and address."
    )
    first_retry_seconds: int = _setting(
        300, "The delay before the first retry of a deferred message.", low=1, high=86_400
    )
    longest_retry_seconds: int = _setting(4000, "The longest delay between retries.", low=1, high=86_400)
    give_up_hours: float = _setting(
        120,
        "How long delivery is attempted before the message is returned to its sender (RFC 5321 §4.5.4.1).",
        low=0.001,
        high=2400,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SendmailSettings:
    """Mail from programs on this machine (`mailkeep sendmail`)."""

    allowed: Mapping[str, tuple[str, ...]] = _setting(
        Table(),
        "By account, the addresses and domains that it may send as, besides `account@` and the server's host name, as "
        'in `{"www-data": ["shop@example.com", "example.org"]}`.',
        SENDERS,
    )
