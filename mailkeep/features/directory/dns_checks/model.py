"""The results of checks of DNS records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.features.directory.dns.model import DnsRecord
from mailkeep.features.record.events.model import EventPayload, Kind

RecordStatus = Literal["ok", "missing", "mismatch", "multiple", "dns_error", "not_checked"]
CheckStatus = Literal["unchecked", "ok", "attention", "failing"]
SERVER = UUID(int=0)
"""The ID of the server's check."""


@dataclass(frozen=True, slots=True)
class RecordFinding:
    """What a look at a record found, in words: the problem, and what to do. `partial`: some name servers do see it."""

    status: RecordStatus
    problem: str | None = None
    advice: str | None = None
    partial: bool = False
    found: tuple[str, ...] = ()


class StoredFinding(Struct, frozen=True):
    """A finding as it is stored, with the identity of its record."""

    identity: tuple[str, str, str, str]
    status: RecordStatus
    found: tuple[str, ...]
    problem: str | None
    advice: str | None


@dataclass(frozen=True, slots=True)
class DnsCheck:
    """The check of a domain, or of the server (`domain_id` None): its state and its last results.

    `claims` is the token of the worker that runs it. `confirmed_failing`: what events have said, None if it was never
    in order; `differs_since`: results have differed from that since.
    """

    id: UUID
    domain_id: UUID | None
    due_at: datetime
    claims: int
    running: bool
    requested_at: datetime | None
    checked_at: datetime | None
    status: CheckStatus
    results: tuple[StoredFinding, ...]
    addresses: tuple[str, ...]
    blocklists: tuple[BlocklistResult, ...]
    confirmed_failing: bool | None
    differs_since: datetime | None

    def progress(self, at: datetime) -> Literal["idle", "waiting", "running"]:
        """Whether a check runs now, or waits after a request."""
        if self.running and self.due_at > at:
            return "running"
        return "idle" if self.requested_at is None else "waiting"


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check: a finding for each record; of the server also its addresses and the blocklists."""

    findings: Sequence[tuple[DnsRecord, RecordFinding]]
    lookups: int = 0
    addresses: Sequence[str] = ()
    blocklists: Sequence[BlocklistResult] = field(default_factory=list[BlocklistResult])


class DnsProblem(Struct, frozen=True):
    """A required record that is not right."""

    purpose: Annotated[str, Meta(description="What it is for, as in GET /domains/{id}/dns.")]
    type: Annotated[str, Meta(description="Its type.")]
    name: Annotated[str, Meta(description="Its name.")]
    status: Annotated[str, Meta(description="`missing`, `mismatch` or `multiple`.")]
    problem: Annotated[str, Meta(description="What is wrong, in words.")]


class DomainDnsFailed(EventPayload, frozen=True, kw_only=True):
    """A DNS record that the domain's mail needs is missing or wrong, after all were right. Two checks, 5 minutes apart
    (`dns.confirm_seconds`), have found that. Name servers that do not answer are no reason for this event.
    """

    kind: ClassVar[Kind] = "domain.dns_failed"
    example: ClassVar[Mapping[str, Any]] = {
        "domain": "example.com",
        "problems": [
            {
                "purpose": "mx",
                "type": "MX",
                "name": "example.com",
                "status": "missing",
                "problem": "There is no MX record.",
            }
        ],
    }

    domain: Annotated[str, Meta(description="The domain.")]
    problems: Annotated[list[DnsProblem], Meta(description="The required records that are not right.")]


class DomainDnsRecovered(EventPayload, frozen=True, kw_only=True):
    """All DNS records that the domain's mail needs are right again, after `domain.dns_failed`; two checks have found
    that.
    """

    kind: ClassVar[Kind] = "domain.dns_recovered"
    example: ClassVar[Mapping[str, Any]] = {"domain": "example.com"}

    domain: Annotated[str, Meta(description="The domain.")]
