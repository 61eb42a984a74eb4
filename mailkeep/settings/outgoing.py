"""The sections about mail that leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mailkeep.settings.declaration import setting as _setting
from mailkeep.settings.formats import ENDPOINT, NETWORKS, PATH, SENDERS, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundSettings:
    """How mail leaves in the full profile; `relay_networks` and `extra_ca_file` also hold for the embedded one."""

    relay: str = _setting(
        "",
        "A server that takes all outbound mail but that of domains with a relay of their own, as host:port; empty: by "
        "MX records.",
        ENDPOINT,
    )
    relay_tls: Literal["none", "starttls", "tls"] = _setting(
        "starttls",
        "Encryption to `relay`, whose certificate must be valid for its name; `tls`: from the start; `none` only "
        "without a user name.",
    )
    relay_username: str = _setting("", "The account at `relay`; empty: no authentication.")
    relay_password: str = _setting("", "The account's password.", secret=True)
    relay_networks: tuple[str, ...] = _setting(
        (),
        "Networks in which relays, also those of domains, may be although they are private, loopback or otherwise "
        "special.",
        NETWORKS,
    )
    extra_ca_file: str = _setting(
        "", "Certificates (PEM) of authorities that are trusted for relays beside the system's.", PATH
    )
    tls: Literal["none", "may", "encrypt", "dane"] = _setting(
        "may", "Encryption to other servers: never, where offered, always, or as DANE has it (RFC 7672)."
    )
    hide_client: bool = _setting(
        True, "Whether the `Received` field of mail that clients submit leaves out their name and address."
    )
    first_retry_seconds: int = _setting(300, "The pause before a deferred message is tried again.", low=1, high=86_400)
    longest_retry_seconds: int = _setting(4000, "The longest pause, after several tries.", low=1, high=86_400)
    give_up_hours: float = _setting(
        120,
        "How long a message is tried before it is returned to its sender (RFC 5321 §4.5.4.1).",
        low=0.001,
        high=2400,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SendmailSettings:
    """Mail of programs on this machine (`mailkeep sendmail`)."""

    allowed: Mapping[str, tuple[str, ...]] = _setting(
        Table(),
        "By account, the addresses and domains that it may send as besides `account@` the server's host name, as in "
        '`{"www-data": ["shop@example.com", "example.org"]}`.',
        SENDERS,
    )
