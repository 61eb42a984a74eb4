"""A key to create, what name servers answer about a key, and the event that asks for the publication of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.features.directory.dkim.model import Algorithm, DkimKey, DnsStatus
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.record.events.model import EventPayload, Kind

MAX_KEYS = 10
"""How many keys that are not retired a domain may have."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to create: generated with `algorithm`, or imported from `private_key` (PEM)."""

    algorithm: Algorithm | None = None
    selector: str | None = None
    private_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class LockedKeys:
    """A domain that a transaction has locked, and all its keys."""

    domain: Domain
    keys: Sequence[DkimKey]


@dataclass(frozen=True, slots=True)
class ServerFinding:
    """What a name server answers about the record of a key. `found`: the TXT records; `problem` in words, or empty."""

    server: str
    status: DnsStatus
    found: tuple[str, ...]
    problem: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """What all configured name servers answer about the record of a key."""

    status: DnsStatus
    findings: tuple[ServerFinding, ...]

    @property
    def is_published(self) -> bool:
        """Whether every name server finds the record."""
        return self.status == "ok"


@dataclass(frozen=True, slots=True)
class DkimJob:
    """The next step of a key that a worker has claimed; `claims` is the fencing token. `requests`: how often the
    publication of its record was asked for, `checks`: how often it was looked for.
    """

    key: DkimKey
    claims: int
    checks: int
    requests: int


class DkimRecord(Struct, frozen=True, kw_only=True):
    """A DNS record to publish."""

    name: Annotated[str, Meta(description="Without a trailing dot.")]
    type: Annotated[str, Meta(description="`TXT`, or `CNAME` if the domain's records are delegated.")]
    value: Annotated[str, Meta(description="Its value, in one piece.")]


class DomainDkimDue(EventPayload, frozen=True, kw_only=True):
    """DNS records of new DKIM keys must be published, before the keys of a domain can be rotated."""

    kind: ClassVar[Kind] = "domain.dkim_due"
    example: ClassVar[Mapping[str, Any]] = {
        "domain": "example.com",
        "reminder": 0,
        "records": [{"name": "mk202603x7qf._domainkey.example.com", "type": "TXT", "value": "v=DKIM1; k=rsa; p=MII…"}],
    }

    domain: Annotated[str, Meta(description="The domain.")]
    records: Annotated[Sequence[DkimRecord], Meta(description="The records that are missing.")]
    reminder: Annotated[int, Meta(description="0 for the first event about these records, then 1, 2 and 3.")]


@dataclass(frozen=True, slots=True)
class RotationClaim:
    """Which keys are due: active ones that were activated until `rotate_before` (None: none), and retiring ones that
    are so since `retire_before`.
    """

    at: datetime
    until: datetime
    rotate_before: datetime | None
    retire_before: datetime
    limit: int


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """Which keys of a domain to list."""

    domain_id: UUID
    stage: str | None = None
    algorithm: str | None = None
