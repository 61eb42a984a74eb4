"""Use cases of reports."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import DomainNotFound, invalid_field
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.bounce_reports import service as bounce_reports
from mailkeep.features.mailflow.bounce_reports.model import SignedComplaint
from mailkeep.features.mailflow.reports import rules, store
from mailkeep.features.mailflow.reports.model import (
    ArrivedMail,
    DmarcSummary,
    Outcome,
    Period,
    ReportMail,
    ReportOrigin,
    StoredReport,
    TlsPolicyCount,
    TlsSummary,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.content import save_contents
from mailkeep.features.record.messages.model import HeaderSummary, MessageDomain, Recipient, ServerReply
from mailkeep.features.record.messages.rules import inbound_message
from mailkeep.mail.message.dkim import has_signature
from mailkeep.mail.message.feedback import COMPLAINTS
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.reports.model import AbuseReport, DmarcReport, Report, TlsReport
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.reports")

_DAY = timedelta(days=1)
_MAX_KEYS = 200
_MAX_OTHER_SENDERS = 50
_MAX_TLS_REPORTS = 5000
_MAX_TLS_FAILURES = 100


def is_report_address(app: App, address: str) -> bool:
    """Whether an address is one to which other servers send reports. A mailbox or alias of that name wins."""
    local, _, domain = address.rpartition("@")
    return local.lower() in rules.LOCAL_PARTS and domain.lower() == app.settings.name_in_routing.lower() != ""


async def accept_mail(app: App, mail: ArrivedMail) -> SmtpReply:
    """Store mail to report addresses for the worker, with its row in the history, once per queue ID; returns the reply.

    There is no `mail.received`: it reaches no mailbox. UNAVAILABLE.
    """
    at, host = app.clock(), app.settings.server.mail_domain
    reply = rules.TOO_LARGE if mail.size > rules.MAX_MAIL_BYTES else rules.ACCEPTED
    head, server_reply = mail.head, ServerReply(reply.code, reply.enhanced, reply.text)
    status = "received" if reply.is_positive else "rejected"
    recipients = [Recipient(address, status, 1, server_reply) for address in dict.fromkeys(mail.recipients)]
    header = HeaderSummary(
        head.message_id,
        head.from_address or mail.mail_from,
        head.to_addresses,
        head.cc_addresses,
        head.subject,
        mail.size,
    )
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, host)
    message = inbound_message(
        at, mail.source, MessageDomain(domain.id if domain else None, host), header, mail.mail_from, recipients
    )
    message = replace(message, queue_id=mail.queue_id, auth=mail.auth)
    content = b"".join(mail.content()) if reply.is_positive else b""
    if content:
        await asyncio.to_thread(save_contents, app.data_dir, [(message.id, [content])])
    try:
        async with app.db.tx() as conn:
            if await messages.record_inbound(conn, at, [message]) and content:
                waiting = ReportMail(uuid7(at), mail.queue_id, content, mail.sender_domain, 0, at)
                if not await store.insert_mail(conn, waiting, rules.MAX_UNREAD):
                    raise _TooMuchMail
            failpoint.reach("reports.accepted")
    except _TooMuchMail:
        return rules.TOO_MUCH_WAITS
    app.counters.add("deliveries", "inbound", status)
    return reply


async def upload(app: App, who: Principal, content: bytes) -> StoredReport:
    """Read and store an uploaded report; the stored one if it counts already. INVALID_FIELD with the reason,
    DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    report = await _read(app, content)
    async with app.db.tx() as conn:
        domain = await domains.find_by_name(conn, report.domain)
        if domain is None:
            raise DomainNotFound(f"The report is about {report.domain}, which is no domain of this server.")
        allow_on(who, "report.upload", domain.id)
        stored, outcome = await _store(app, conn, domain, report, ReportOrigin("upload"))
        if outcome == "over_limit":
            raise invalid_field("content", "is one report too many for this domain today")
        if outcome == "no_domain":
            raise DomainNotFound
        target = AuditTarget("domain", domain.id, domain.id, domain.name)
        details = {"report": str(stored.id), "kind": stored.kind, "organisation": stored.organisation}
        await audit.record(conn, who, app.clock(), AuditAction("report.upload", target, details=details))
    return stored


async def _read(app: App, content: bytes) -> Report:
    try:
        report = await app.report_reader.read(lambda: [content])
        rules.check_times(report, app.clock())
    except UnparsableMessage as error:
        raise invalid_field("content", f"is no report that can be read: {error}") from None
    return report


async def read_mail(app: App, mail: ReportMail) -> Outcome:
    """Read mail to a report address, store its report, and delete the mail, in one transaction."""
    report, reason = await _try_to_read(app, mail)
    try:
        outcome = await _settle(app, mail, report)
    except _ReadByAnother:
        return "duplicate"
    app.counters.add("reports", outcome)
    about = report.domain if report else ""
    log.info(
        "a report was read", queue_id=mail.queue_id, sender=mail.sender_domain, outcome=outcome, about=about, why=reason
    )
    return outcome


async def _settle(app: App, mail: ReportMail, report: Report | None) -> Outcome:
    async with app.db.tx() as conn:
        outcome: Outcome = "invalid"
        if report is not None:
            domain = await domains.find_by_name(conn, report.domain)
            outcome = "no_domain"
            if domain is not None and domain.created_at <= mail.received_at:  # not added again meanwhile
                origin = ReportOrigin("mail", mail.sender_domain)
                _, outcome = await _store(app, conn, domain, report, origin)
        if not await store.delete_mail(conn, mail.id):
            raise _ReadByAnother
        failpoint.reach("reports.stored")
    return outcome


class _TooMuchMail(Exception):
    """Too much mail waits: the transaction is rolled back, and the sender retries."""


class _ReadByAnother(Exception):
    """Another worker has read the message: the transaction is rolled back."""


async def _try_to_read(app: App, mail: ReportMail) -> tuple[Report | None, str]:
    if mail.attempts > rules.MAX_ATTEMPTS:
        return None, "its reader died each time"
    try:
        report = await app.report_reader.read(lambda: [mail.content])
        rules.check_times(report, app.clock())
    except UnparsableMessage as error:
        return None, str(error)
    return report, ""


@dataclass(frozen=True, slots=True)
class _DmarcRows:
    """The records of a DMARC report to store, and the addresses with the most messages."""

    values: list[store.DmarcRowValues]
    largest: list[str]


async def _store(
    app: App, conn: Conn, domain: Domain, report: Report, origin: ReportOrigin
) -> tuple[StoredReport, Outcome]:
    """Store a report about a domain, once."""
    at = app.clock()
    rows = await _dmarc_rows(conn, domain, report) if isinstance(report, DmarcReport) and origin.is_proved else None
    stored = StoredReport(
        id=uuid7(at),
        domain_id=domain.id,
        kind="dmarc" if isinstance(report, DmarcReport) else "tls" if isinstance(report, TlsReport) else "arf",
        source=origin.source,
        proved=origin.is_proved,
        sender_domain=origin.sender_domain,
        organisation=report.organisation,
        report_id=report.report_id,
        contact=report.contact,
        begin_at=datetime.fromtimestamp(report.begin, UTC),
        end_at=datetime.fromtimestamp(report.end, UTC),
        messages=report.messages,
        rows=len(rows.values) if rows else 0,
        content=await _content(conn, report, domain),
        received_at=at,
    )
    if not await store.lock_domain(conn, domain.id):
        return stored, "no_domain"
    same = await store.find_same(conn, stored)
    if same:
        return replace(stored, id=same), "duplicate"
    proved, unproved, row_count = await store.count_recent(conn, domain.id, at - _DAY)
    full = unproved >= rules.MAX_DAILY_UNPROVED
    if origin.is_proved:
        full = proved >= rules.MAX_DAILY_REPORTS or row_count + stored.rows > rules.MAX_DAILY_ROWS
    if full:
        return stored, "over_limit"
    await store.insert(conn, stored, rules.day_of(report.begin, report.end), rows.values if rows else [])
    if rows:
        await store.request_names(conn, rows.largest, at)
    if isinstance(report, AbuseReport) and stored.content["signed"] and report.feedback_type in COMPLAINTS:
        author = report.contact if origin.sender_domain else ""
        complaint = SignedComplaint(report.message_id, report.recipients, author)
        await bounce_reports.apply_signed_complaint(conn, at, domain.id, complaint)
    return stored, "stored" if origin.is_proved else "unproved"


async def _dmarc_rows(conn: Conn, domain: Domain, report: DmarcReport) -> _DmarcRows:
    """What is stored of the records: those that are equal in it are added up. In a thread: 100,000 take seconds."""
    selectors = {key.selector for key in await _list_keys(conn, domain)}
    return await asyncio.to_thread(_summarize_rows, report, domain.name, selectors)


def _summarize_rows(report: DmarcReport, domain: str, selectors: Collection[str]) -> _DmarcRows:
    counts: dict[tuple[Any, ...], int] = {}
    by_address: dict[str, int] = {}
    for row in report.rows:
        own_key = rules.has_own_key(row, domain, selectors)
        values = (
            row.disposition, row.dkim, row.spf, own_key, rules.is_forwarded(row), rules.other_domain(row)
        )  # fmt: skip
        key = (row.source_ip, *values)
        counts[key] = counts.get(key, 0) + row.messages
        by_address[row.source_ip] = by_address.get(row.source_ip, 0) + row.messages
    largest = sorted(by_address, key=lambda address: -by_address[address])[: rules.MAX_NAMES]
    return _DmarcRows([(key[0], messages, *key[1:]) for key, messages in counts.items()], largest)


async def _list_keys(conn: Conn, domain: Domain) -> list[DkimKey]:
    """The domain's keys, newest first, retired ones included."""
    return (await dkim.page(conn, domain.id, PageRequest(_MAX_KEYS, "created_at", "desc", None))).rows


async def _content(conn: Conn, report: Report, domain: Domain) -> dict[str, Any]:
    if isinstance(report, DmarcReport):
        return msgspec.to_builtins(report.policy)
    if isinstance(report, TlsReport):
        return rules.shorten_tls(report)
    names = ("feedback_type", "source_ip", "mail_from", "recipients", "message_id", "subject", "incidents")
    keys = {key.selector: key.public_key for key in await _list_keys(conn, domain)}
    signed = await asyncio.to_thread(has_signature, report.original, domain.name, keys)
    return {name: msgspec.to_builtins(getattr(report, name)) for name in names} | {"signed": signed}


async def summarize_dmarc(app: App, conn: Conn, who: Principal, domain_id: UUID, period: Period) -> DmarcSummary:
    """What the DMARC reports about a domain add up to. The advice always rests on 90 days. NOT_FOUND, FORBIDDEN,
    API_KEY_DOMAIN_SCOPE, INVALID_PERIOD.
    """
    at = app.clock()
    since = at - rules.duration(period)
    domain = await domains.get_by_path(conn, who, "report.read", domain_id)
    scope = _scope(app, domain, since)
    long = scope | {"since": at - rules.ADVICE_PERIOD}
    others = await store.list_other_senders(conn, long, _MAX_OTHER_SENDERS)
    regular = [each.domain for each in rules.regular_senders(others)]
    policy = await store.find_policy(conn, domain_id)
    advice = rules.advise(await store.list_days(conn, long, regular), others, policy)  # pyright: ignore[reportArgumentType]
    sources, source_count = await store.list_sources(conn, scope, rules.MAX_SOURCES)
    return DmarcSummary(
        since=since,
        until=at,
        advice=advice,
        sources=sources,
        source_count=source_count,
        days=await store.list_days(conn, scope, None),
        reporters=await store.list_reporters(conn, domain_id, "dmarc", since),
        unproved=await store.count_unproved(conn, domain_id, "dmarc", since),
    )


def _scope(app: App, domain: Domain, since: datetime) -> dict[str, Any]:
    settings = app.settings
    relays = domain.relay is not None or bool(settings.outbound.relay)
    return {"domain_id": domain.id, "since": since, "addresses": list(settings.server.addresses), "relays": relays}


async def summarize_tls(app: App, conn: Conn, who: Principal, domain_id: UUID, period: Period) -> TlsSummary:
    """What the TLS reports about a domain add up to. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE,
    INVALID_PERIOD.
    """
    at = app.clock()
    since = at - rules.duration(period)
    await domains.get_by_path(conn, who, "report.read", domain_id)
    policies: dict[str, tuple[int, int]] = {}
    days: dict[date, tuple[int, int]] = {}
    for day, kind, *counts in await store.count_sessions(conn, domain_id, since, _MAX_TLS_REPORTS):
        policies[kind] = _add(policies.get(kind), counts)
        days[day] = _add(days.get(day), counts)
    policy_counts = [TlsPolicyCount(kind, *counts) for kind, counts in sorted(policies.items())]
    failure_counts = await store.list_failures(conn, domain_id, since, _MAX_TLS_REPORTS, _MAX_TLS_FAILURES)
    return TlsSummary(
        since=since,
        until=at,
        policies=policy_counts,
        failures=failure_counts,
        days=[(day, *counts) for day, counts in sorted(days.items())],
        reporters=await store.list_reporters(conn, domain_id, "tls", since),
        advice=rules.advise_tls(policy_counts, failure_counts),
        unproved=await store.count_unproved(conn, domain_id, "tls", since),
    )


def _add(before: tuple[int, int] | None, counts: Sequence[int]) -> tuple[int, int]:
    successful, failed = before or (0, 0)
    return successful + counts[0], failed + counts[1]


async def page(
    conn: Conn, who: Principal, domain_id: UUID, kind: str | None, proved: bool | None, request: PageRequest
) -> Page[StoredReport]:
    """A page of the reports about a domain. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    await domains.get_by_path(conn, who, "report.read", domain_id)
    return await store.page(conn, domain_id, kind, proved, request)
