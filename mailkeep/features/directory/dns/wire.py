"""JSON of DNS records."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.web.fields import Timestamp


class DkimDnsRecord(Struct, frozen=True):
    """The TXT record of a key: `value` in one piece (zone files split it at 255 octets)."""

    name: str
    value: str
    status: str
    checked_at: Timestamp | None


class DkimKeyRecord(Struct, frozen=True):
    """A DKIM key, without its private key."""

    id: UUID
    selector: str
    algorithm: str
    stage: str
    dns: DkimDnsRecord
    created_at: Timestamp
    activated_at: Timestamp | None
    safe_to_remove_from_dns: bool
    fingerprint_sha256: str


def to_dkim_key(key: DkimKey, domain_name: str) -> DkimKeyRecord:
    """The response for a key."""
    return DkimKeyRecord(
        id=key.id,
        selector=key.selector,
        algorithm=key.algorithm,
        stage=key.stage,
        dns=DkimDnsRecord(key.dns_name(domain_name), key.dns_value, "not_checked", None),
        created_at=iso(key.created_at),
        activated_at=iso_or_none(key.activated_at),
        safe_to_remove_from_dns=key.stage == "retired",
        fingerprint_sha256=key.fingerprint_sha256,
    )
