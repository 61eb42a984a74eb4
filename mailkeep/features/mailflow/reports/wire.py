"""JSON of reports."""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.errors import invalid_field
from mailkeep.features.mailflow.reports import rules
from mailkeep.features.mailflow.reports.model import (
    AdviceItem,
    DmarcSummary,
    Period,
    Reporter,
    ReportKind,
    SourceKind,
    SourceRow,
    StoredReport,
    TlsSummary,
)
from mailkeep.web.fields import OWN_CODE, Body, Query, Timestamp

Day = Annotated[str, Meta(extra_json_schema={"format": "date"}, description="A UTC day.")]
PolicyField = Literal["none", "quarantine", "reject"]


class PeriodQuery(Query, frozen=True):
    """The time before now that the reports are about."""

    period: Annotated[Period, Meta(extra=OWN_CODE)] = "30d"


class ReportQuery(Query, frozen=True):
    """Filters of the list. `proved`: whether the reports count."""

    kind: ReportKind | None = None
    proved: bool | None = None


class ReportUpload(Body, frozen=True):
    """A report as a file: XML or JSON, also in gzip or in a zip archive with one file, or the message with such an
    attachment. The content decides on its kind, not the name.
    """

    filename: Annotated[str, Meta(max_length=255)]
    content: Annotated[str, Meta(extra_json_schema={"contentEncoding": "base64"}, description="The file, in base64.")]

    def read_content(self) -> bytes:
        """The file. INVALID_FIELD."""
        try:
            content = b64decode(self.content, validate=True)
        except (binascii.Error, ValueError):
            raise invalid_field("content", "is not base64") from None
        if not content:
            raise invalid_field("content", "is empty")
        return content


class UploadedReport(Struct, frozen=True):
    """The report, which may have been stored before."""

    id: UUID
    kind: ReportKind
    domain_id: UUID


class AbuseDetails(Struct, frozen=True):
    """The message that an abuse report is about. `feedback_type`: abuse, fraud, virus, not-spam, … (RFC 5965, 6650);
    `signed`: the report has the whole message, with a valid DKIM signature of the domain; then abuse and fraud
    are a complaint of its recipient.
    """

    feedback_type: str
    source_ip: str
    mail_from: str
    recipients: list[str]
    message_id: str
    subject: str
    signed: bool


class ReportRecord(Struct, frozen=True):
    """A report. `proved`: it counts, because its sender passed DMARC or an administrator uploaded it. `messages`: for
    TLS reports sessions, for abuse reports incidents. `abuse`: only of abuse reports (kind `arf`).
    """

    id: UUID
    domain_id: UUID
    kind: ReportKind
    source: Literal["mail", "upload"]
    proved: bool
    sender_domain: str | None
    organisation: str
    report_id: str
    contact: str
    begin_at: Timestamp
    end_at: Timestamp
    messages: int
    abuse: AbuseDetails | None
    created_at: Timestamp


class AdviceRecord(Struct, frozen=True):
    """A sentence for the administrator; `code` is stable."""

    code: str
    level: Literal["ok", "info", "warning"]
    text: str


class DmarcPolicyAdvice(Struct, frozen=True):
    """Which `p=` is safe, and since which day; `published`: what reporters last saw (null: no report yet)."""

    published: PolicyField | None
    safe: PolicyField
    since: Day | None


class DmarcTotals(Struct, frozen=True):
    """Messages of the period. `sources`: the number of addresses; `unproved_reports` are in no other figure."""

    messages: int
    aligned: int
    quarantined: int
    rejected: int
    sources: int
    unproved_reports: int


class DmarcSource(Struct, frozen=True):
    """Messages from one address. `kind`: ours, forwarder, sender (another system of yours, set up correctly), other
    (authenticated for `authenticated_for` only), unknown. `name`: the confirmed reverse name; `organisation`: its
    domain.
    """

    ip: str
    name: str | None
    organisation: str | None
    kind: SourceKind
    ours: bool
    authenticated_for: str | None
    messages: int
    aligned: int
    spf_aligned: int
    dkim_aligned: int
    quarantined: int
    rejected: int
    last_seen: Day


class DmarcDay(Struct, frozen=True):
    """Messages of a day. `failed`: of ours, forwarders and other senders; `unknown`: not authenticated at all."""

    date: Day
    messages: int
    aligned: int
    failed: int
    unknown: int
    quarantined: int
    rejected: int


class ReporterRecord(Struct, frozen=True):
    """An organisation whose reports count. `sender_domain`: the domain of its mail; null for uploads."""

    organisation: str
    sender_domain: str | None
    reports: int
    messages: int
    last_report_at: Timestamp


class DmarcSummaryRecord(Struct, frozen=True):
    """The DMARC reports about a domain. `advice` rests on the last 90 days, whatever the period. `sources`: the 200
    with the most messages. `days`: those with reports, oldest first.
    """

    period: Period
    since: Timestamp
    until: Timestamp
    policy: DmarcPolicyAdvice
    advice: list[AdviceRecord]
    totals: DmarcTotals
    sources: list[DmarcSource]
    days: list[DmarcDay]
    reporters: list[ReporterRecord]


class TlsPolicyRecord(Struct, frozen=True):
    """Sessions under a type of policy: sts (MTA-STS), tlsa (DANE), no-policy-found."""

    type: str
    successful: int
    failed: int


class TlsFailureRecord(Struct, frozen=True):
    """Failed sessions with the same result (RFC 8460 §4.3) and receiving host."""

    result_type: str
    receiving_host: str | None
    sessions: int


class TlsDay(Struct, frozen=True):
    """Sessions of a day."""

    date: Day
    successful: int
    failed: int


class TlsTotals(Struct, frozen=True):
    """Sessions of the period; `unproved_reports` are in no other figure."""

    successful: int
    failed: int
    unproved_reports: int


class TlsSummaryRecord(Struct, frozen=True):
    """The TLS reports about a domain."""

    period: Period
    since: Timestamp
    until: Timestamp
    advice: list[AdviceRecord]
    totals: TlsTotals
    policies: list[TlsPolicyRecord]
    failures: list[TlsFailureRecord]
    days: list[TlsDay]
    reporters: list[ReporterRecord]


def to_uploaded(report: StoredReport) -> UploadedReport:
    """The response to an upload."""
    return UploadedReport(report.id, report.kind, report.domain_id)


def to_record(report: StoredReport) -> ReportRecord:
    """A report of the list."""
    abuse = {name: report.content[name] for name in AbuseDetails.__struct_fields__} if report.kind == "arf" else None
    return ReportRecord(
        id=report.id,
        domain_id=report.domain_id,
        kind=report.kind,
        source=report.source,
        proved=report.proved,
        sender_domain=report.sender_domain or None,
        organisation=report.organisation,
        report_id=report.report_id,
        contact=report.contact,
        begin_at=iso(report.begin_at),
        end_at=iso(report.end_at),
        messages=report.messages,
        abuse=AbuseDetails(**abuse) if abuse else None,
        created_at=iso(report.received_at),
    )


def to_dmarc(period: Period, summary: DmarcSummary) -> DmarcSummaryRecord:
    """The response for a domain's DMARC reports."""
    advice, days = summary.advice, summary.days
    return DmarcSummaryRecord(
        period=period,
        since=iso(summary.since),
        until=iso(summary.until),
        policy=DmarcPolicyAdvice(advice.published, advice.safe, advice.since.isoformat() if advice.since else None),
        advice=[_advice(item) for item in advice.items],
        totals=DmarcTotals(
            messages=sum(day.messages for day in days),
            aligned=sum(day.aligned for day in days),
            quarantined=sum(day.quarantined for day in days),
            rejected=sum(day.rejected for day in days),
            sources=summary.source_count,
            unproved_reports=summary.unproved,
        ),
        sources=[_source(row) for row in summary.sources],
        days=[
            DmarcDay(
                day.day.isoformat(),
                day.messages,
                day.aligned,
                day.failing_ours + day.failing_forwarded + day.failing_other,
                day.unknown,
                day.quarantined,
                day.rejected,
            )
            for day in days
        ],
        reporters=[_reporter(each) for each in summary.reporters],
    )


def _source(row: SourceRow) -> DmarcSource:
    return DmarcSource(
        ip=row.source_ip,
        name=row.name or None,
        organisation=rules.organisation_of(row.name) or None,
        kind=row.kind,
        ours=row.kind == "ours",
        authenticated_for=row.other_domain or None,
        messages=row.messages,
        aligned=row.aligned,
        spf_aligned=row.spf,
        dkim_aligned=row.dkim,
        quarantined=row.quarantined,
        rejected=row.rejected,
        last_seen=row.last_seen.isoformat(),
    )


def to_tls(period: Period, summary: TlsSummary) -> TlsSummaryRecord:
    """The response for a domain's TLS reports."""
    return TlsSummaryRecord(
        period=period,
        since=iso(summary.since),
        until=iso(summary.until),
        advice=[_advice(item) for item in summary.advice],
        totals=TlsTotals(
            sum(each.successful for each in summary.policies),
            sum(each.failed for each in summary.policies),
            summary.unproved,
        ),
        policies=[TlsPolicyRecord(each.type, each.successful, each.failed) for each in summary.policies],
        failures=[
            TlsFailureRecord(each.result_type, each.receiving_host or None, each.sessions) for each in summary.failures
        ],
        days=[TlsDay(day.isoformat(), successful, failed) for day, successful, failed in summary.days],
        reporters=[_reporter(each) for each in summary.reporters],
    )


def _advice(item: AdviceItem) -> AdviceRecord:
    return AdviceRecord(item.code, item.level, item.text)


def _reporter(each: Reporter) -> ReporterRecord:
    return ReporterRecord(
        each.organisation, each.sender_domain or None, each.reports, each.messages, iso(each.last_report_at)
    )
