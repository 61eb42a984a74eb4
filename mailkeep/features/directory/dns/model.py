"""A record that a domain's administrator has to publish."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """`name` without a trailing dot; `value` in one piece (zone files split TXT at 255 octets); `why` in a sentence."""

    name: str
    type: str
    value: str
    purpose: str
