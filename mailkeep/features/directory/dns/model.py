"""A DNS record to publish."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """A record; `name` without a trailing dot, `value` in one piece (zone files split TXT at 255 octets), `purpose` a
    sentence for the reader.
    """

    name: str
    type: str
    value: str
    purpose: str
