"""A DNS record to publish."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Literal

from mailkeep.features.directory.dkim.model import DkimKey

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Purpose = Literal[
    "mx", "spf", "dkim", "dmarc", "mta_sts", "mta_sts_host", "tls_rpt", "autoconfig", "autodiscover", "srv",
    "address", "ptr", "report_authorization", "caa", "dnssec", "tlsa",
]  # fmt: skip
TTL = 3600
"""Seconds for which name servers may remember a record."""


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """A record to publish. `name` and names in `value` are without a trailing dot; a TXT `value` is in one piece (zone
    files split it at 255 octets). `value` None: any is right, or it is not known yet. `required`: mail suffers without
    it. `description`: a sentence for the reader. `key`: of DKIM records.
    """

    purpose: Purpose
    type: str
    name: str
    value: str | None
    description: str
    required: bool = False
    key: DkimKey | None = None

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes it the same record in two checks."""
        return self.purpose, self.type, self.name, self.value or ""


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """The server as others see it: its public name (`server.hostname`; None: not set) and its public addresses (empty:
    not known).
    """

    hostname: str | None
    addresses: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class MailServices:
    """The services for mail clients as pairs of name (RFC 6186, RFC 8314) and port."""

    ports: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DomainMail:
    """How a domain's mail flows. `relay`: the host through which its mail leaves; None: this server delivers it.
    `mta_sts`: the value of its MTA-STS record; None: it has no policy.
    """

    name: str
    keys: tuple[DkimKey, ...]
    sends: bool = True
    receives: bool = True
    relay: str | None = None
    mta_sts: str | None = None
