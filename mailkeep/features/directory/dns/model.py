"""A DNS record to publish."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """`name` without a trailing dot; `value` unsplit (zone files split TXT at 255 octets); `purpose` is a sentence."""

    name: str
    type: str
    value: str
    purpose: str
