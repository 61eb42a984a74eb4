"""JSON of DNS records and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso_or_none
from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.features.directory.dns.model import TTL, DnsRecord, Purpose, ServerIdentity
from mailkeep.features.directory.dns_checks import rules
from mailkeep.features.directory.dns_checks.model import CheckStatus, DnsCheck, RecordFinding, RecordStatus
from mailkeep.features.directory.dns_checks.service import CheckReport
from mailkeep.web.fields import Query, Timestamp


class DnsRecordResult(Struct, frozen=True):
    """A record to publish, and the result of its last check."""

    purpose: Annotated[Purpose, Meta(description="What the record is for.")]
    type: Annotated[str, Meta(description="Its type, such as MX or TXT.")]
    name: Annotated[str, Meta(description="Its name, without a trailing dot.")]
    value: Annotated[
        str | None,
        Meta(
            description="Its value; names without a trailing dot, TXT in one piece. Null: there is none to recommend, "
            "or it is not known before `server.hostname` is set."
        ),
    ]
    ttl: Annotated[int, Meta(description="Seconds for which name servers may remember it.")]
    required: Annotated[bool, Meta(description="Whether mail suffers without it.")]
    description: Annotated[str, Meta(description="What it does, in a sentence.")]
    status: Annotated[
        RecordStatus,
        Meta(
            description="`mismatch`: another value, or only some name servers see it; `multiple`: several where one is "
            "allowed; `dns_error`: no name server answered, which says nothing about the record."
        ),
    ]
    found: Annotated[list[str], Meta(description="What the name servers answered.")]
    problem: Annotated[str | None, Meta(description="What is wrong, in words.")]
    advice: Annotated[str | None, Meta(description="What to do; also for a right record that could be better.")]
    checked_at: Timestamp | None


class CheckProgress(Struct, frozen=True):
    """`waiting`: a check was requested and has not begun."""

    state: Literal["idle", "waiting", "running"]
    requested_at: Timestamp | None
    checked_at: Timestamp | None


class DnsSetup(Struct, frozen=True):
    """What has to be set before anything can be checked."""

    problem: str
    advice: str


class DomainDnsReport(Struct, frozen=True):
    """The DNS records of a domain. `setup`: null unless something has to be set first."""

    domain_id: UUID
    name: str
    hostname: Annotated[str | None, Meta(description="The server's public name.")]
    status: CheckStatus
    checked_at: Timestamp | None
    check: CheckProgress
    setup: DnsSetup | None
    records: list[DnsRecordResult]


class ServerDnsReport(Struct, frozen=True):
    """The DNS records of the server's own name and addresses, and what blocklists say about its addresses."""

    hostname: Annotated[str | None, Meta(description="The server's public name.")]
    addresses: Annotated[
        list[str], Meta(description="Its public addresses: of `server.addresses`, else those of its name in DNS.")
    ]
    name_servers: Annotated[list[str], Meta(description="Those that are asked: `dns.servers`, or the system's.")]
    status: CheckStatus
    checked_at: Timestamp | None
    check: CheckProgress
    setup: DnsSetup | None
    records: list[DnsRecordResult]
    blocklists: list[BlocklistResult]


class ZoneRecord(Struct, frozen=True):
    """A record of a zone file."""

    name: str
    ttl: int
    type: str
    value: str


class ZoneFileQuery(Query, frozen=True):
    """`bind`: lines for a zone file (RFC 1035), as text; `json`: a list."""

    format: Literal["bind", "json"] = "bind"


def to_domain_report(report: CheckReport, server: ServerIdentity, at: datetime) -> DomainDnsReport:
    """The response for a domain."""
    domain, check = report.domain, report.check
    assert domain is not None
    return DomainDnsReport(
        domain_id=domain.id,
        name=domain.name,
        hostname=server.hostname,
        status=check.status,
        checked_at=iso_or_none(check.checked_at),
        check=to_progress(check, at),
        setup=_to_setup(server),
        records=_to_records(report),
    )


def to_server_report(
    report: CheckReport, server: ServerIdentity, name_servers: Sequence[str], at: datetime
) -> ServerDnsReport:
    """The response for the server."""
    check = report.check
    return ServerDnsReport(
        hostname=server.hostname,
        addresses=[str(each) for each in server.addresses] or list(check.addresses),
        name_servers=list(name_servers),
        status=check.status,
        checked_at=iso_or_none(check.checked_at),
        check=to_progress(check, at),
        setup=_to_setup(server),
        records=_to_records(report),
        blocklists=list(check.blocklists),
    )


def to_progress(check: DnsCheck, at: datetime) -> CheckProgress:
    """The response for a request."""
    return CheckProgress(check.progress(at), iso_or_none(check.requested_at), iso_or_none(check.checked_at))


def to_zone(records: Sequence[DnsRecord]) -> list[ZoneRecord]:
    """The records that have a value."""
    return [ZoneRecord(each.name, TTL, each.type, each.value) for each in records if each.value is not None]


def _to_setup(server: ServerIdentity) -> DnsSetup | None:
    return DnsSetup(rules.NO_HOSTNAME, rules.SET_HOSTNAME) if server.hostname is None else None


def _to_records(report: CheckReport) -> list[DnsRecordResult]:
    return [_to_record(record, finding, report.check.checked_at) for record, finding in report.records]


def _to_record(record: DnsRecord, finding: RecordFinding, checked_at: datetime | None) -> DnsRecordResult:
    return DnsRecordResult(
        purpose=record.purpose,
        type=record.type,
        name=record.name,
        value=record.value,
        ttl=TTL,
        required=record.required,
        description=record.description,
        status=finding.status,
        found=list(finding.found),
        problem=finding.problem,
        advice=finding.advice,
        checked_at=None if finding.status == "not_checked" else iso_or_none(checked_at),
    )
