"""Requests checks of DNS records, shows their results, and writes them."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.principal import Principal
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dkim.model import DnsStatus
from mailkeep.features.directory.dns import service as dns
from mailkeep.features.directory.dns.model import DnsRecord
from mailkeep.features.directory.dns_checks import rules, store
from mailkeep.features.directory.dns_checks.examine import Context, examine_domain, examine_server, find_addresses
from mailkeep.features.directory.dns_checks.model import (
    SERVER,
    CheckOutcome,
    DnsCheck,
    DnsProblem,
    DomainDnsFailed,
    DomainDnsRecovered,
    RecordFinding,
    StoredFinding,
)
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mta_sts import service as mta_sts
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.net.dns_lookups import Lookups
from mailkeep.net.guard import Address

LEASE = timedelta(seconds=120)
"""Of a claim: longer than all look-ups of a check may take together."""
QUERIES = 64
"""Questions at a time, of all checks of a process."""
_MAX_QUESTIONS = 150  # of a check of a domain, whose SPF record may ask for hundreds; most need 20


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A check, and the records of now with what it found; `domain` None: of the server."""

    domain: Domain | None
    check: DnsCheck
    records: Sequence[tuple[DnsRecord, RecordFinding]]


async def read_domain(app: App, who: Principal, domain_id: UUID) -> CheckReport:
    """The records of a domain with the results of its last check. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    async with app.db.autocommit() as conn:
        domain = await domains.get_by_path(conn, who, "dns.read", domain_id)
    return await report_domain(app, domain)


async def report_domain(app: App, domain: Domain) -> CheckReport:
    """`read_domain` for a command."""
    async with app.db.autocommit() as conn:
        check = await store.find(conn, domain.id)
    check = check or _new_check(app, domain.id)
    return CheckReport(domain, check, _match(app, check, await dns.list_domain_records(app, domain)))


async def read_server(app: App) -> CheckReport:
    """The records of the server with the results of its last check."""
    async with app.db.autocommit() as conn:
        check = await store.find(conn, SERVER)
    check = check or _new_check(app, None)
    records = await dns.list_server_records(app, _addresses(check.addresses))
    return CheckReport(None, check, _match(app, check, records))


def list_problems(report: CheckReport) -> list[str]:
    """What is wrong with required records, in words."""
    return [finding.problem for _, finding in rules.list_problems(report.records) if finding.problem]


async def request_domain(app: App, who: Principal, domain_id: UUID) -> DnsCheck:
    """Request a check of a domain, which a worker carries out. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE;
    RATE_LIMIT_EXCEEDED shortly after the last one. While one waits, a further request changes nothing.
    """
    async with app.db.autocommit() as conn:
        domain = await domains.get_by_path(conn, who, "dns.check", domain_id)
    return await _request(app, who, domain.id, AuditTarget("domain", domain.id, domain.id, domain.name))


async def request_server(app: App, who: Principal) -> DnsCheck:
    """Request a check of the server; as `request_domain`."""
    async with app.db.autocommit() as conn:
        await store.ensure_server(conn, app.clock())
    return await _request(app, who, None, AuditTarget("server", None, None, app.settings.server.name))


async def _request(app: App, who: Principal, domain_id: UUID | None, target: AuditTarget) -> DnsCheck:
    at = app.clock()
    async with app.db.tx() as conn:
        check = await store.lock(conn, domain_id or SERVER, domain_id)
        if check is None:  # deleted meanwhile
            return _new_check(app, domain_id)
        if check.requested_at is None:
            rules.refuse_too_early(check, at)
            await store.request(conn, check, at)
            check = replace(check, requested_at=at)
        action = "domain.dns_check" if domain_id else "server.dns_check"
        await audit.record(conn, who, at, AuditAction(action, target))
    return check


async def check_now(app: App, domain: Domain | None) -> CheckReport:
    """Check a domain, or the server (None), in this process, and write the results, unless a worker is checking it."""
    check_id, domain_id = (SERVER, None) if domain is None else (domain.id, domain.id)
    at = app.clock()
    async with app.db.tx() as conn:
        await store.ensure_server(conn, at)
        check = await store.claim_one(conn, check_id, at, at + LEASE)
    lookups = make_lookups(app, domain_id, asyncio.Semaphore(QUERIES))
    try:
        _, outcome = await run(app, check or _new_check(app, domain_id), lookups)
    finally:
        await lookups.close()
    if check is not None:
        await write(app, check, domain, outcome, 0)
    report = await (read_server(app) if domain is None else report_domain(app, domain))
    return replace(report, records=outcome.findings)


def make_lookups(app: App, domain_id: UUID | None, slots: asyncio.Semaphore) -> Lookups:
    """The look-ups of a check. Those of the server (None) depend on settings only."""
    return Lookups(app.dns_query, slots, None if domain_id is None else _MAX_QUESTIONS)


async def run(app: App, check: DnsCheck, lookups: Lookups) -> tuple[Domain | None, CheckOutcome]:
    """Look up and judge the records of a domain or of the server; writes only whether the MTA-STS policy is served. The
    domain is None of the server, and if it was deleted, without findings.
    """
    identity = dns.server_identity(app.settings)
    if check.domain_id is None:
        identity = await find_addresses(lookups, identity)
        records = await dns.list_server_records(app, identity.addresses)
        context = Context(lookups, identity)
        return None, await examine_server(context, records, app.settings.dns.blocklists)
    async with app.db.autocommit() as conn:
        domain = await domains.find(conn, check.domain_id)
    if domain is None:
        return None, CheckOutcome([])
    records = await dns.list_domain_records(app, domain)
    identity = await find_addresses(lookups, identity)
    fetch_policy = partial(mta_sts.check, app, domain)
    context = Context(lookups, identity, dns.relay_of(domain, app.settings), fetch_policy)
    return domain, await examine_domain(context, records)


async def write(
    app: App, claimed: DnsCheck, domain: Domain | None, outcome: CheckOutcome, expected_lookups: int
) -> bool:
    """Write the results of a check, its status, and the event that is due, in one transaction. False, and without
    effect, if the check was claimed again meanwhile, or its domain was deleted.
    """
    at, settings = app.clock(), app.settings.dns
    confirm, interval = timedelta(seconds=settings.confirm_seconds), timedelta(minutes=settings.check_minutes)
    async with app.db.tx() as conn:
        await store.spend(conn, outcome.lookups - expected_lookups, settings.lookups_per_second)
        check = await store.lock(conn, claimed.id, claimed.domain_id)
        if check is None or check.claims != claimed.claims:
            return False
        is_checked = any(finding.status != "not_checked" for _, finding in outcome.findings)
        status = rules.add_blocklists(rules.summarize(outcome.findings), outcome)
        confirmed, differs_since, is_news = rules.next_confirmation(check, status, at, confirm)
        check = replace(
            check,
            checked_at=at if is_checked else check.checked_at,
            status=status or check.status,
            results=tuple(_store(*each) for each in outcome.findings) if is_checked else check.results,
            addresses=tuple(outcome.addresses),
            blocklists=tuple(outcome.blocklists),
            confirmed_failing=confirmed,
            differs_since=differs_since,
            due_at=rules.next_due(check, differs_since, at, interval, confirm),
        )
        await store.write(conn, check)
        if domain is not None:
            await store.write_domain_status(conn, check)
            keys: dict[UUID, DnsStatus] = {
                record.key.id: finding.status
                for record, finding in outcome.findings
                if record.key is not None and finding.status != "not_checked"
            }
            if keys:
                await dkim.record_checks(conn, keys, at)
            if is_news:
                await events.emit(conn, at, Event(domain.id, None, _payload(domain, outcome, failing=bool(confirmed))))
    app.counters.add("dns_checks", check.status)
    app.counters.add("dns_queries", times=outcome.lookups)
    return True


def _payload(domain: Domain, outcome: CheckOutcome, *, failing: bool) -> DomainDnsFailed | DomainDnsRecovered:
    if not failing:
        return DomainDnsRecovered(domain=domain.name)
    problems = [
        DnsProblem(record.purpose, record.type, record.name, finding.status, finding.problem or "")
        for record, finding in rules.list_problems(outcome.findings)
    ]
    return DomainDnsFailed(domain=domain.name, problems=problems)


def _store(record: DnsRecord, finding: RecordFinding) -> StoredFinding:
    return StoredFinding(record.identity, finding.status, finding.found, finding.problem, finding.advice)


def _match(app: App, check: DnsCheck, records: Sequence[DnsRecord]) -> list[tuple[DnsRecord, RecordFinding]]:
    """The results of those records that are the same as at the check."""
    stored = {each.identity: each for each in check.results}
    has_name = dns.server_identity(app.settings).hostname is not None
    unknown = (
        RecordFinding("not_checked")
        if has_name
        else RecordFinding("not_checked", rules.NO_HOSTNAME, rules.SET_HOSTNAME)
    )
    pairs: list[tuple[DnsRecord, RecordFinding]] = []
    for record in records:
        result = stored.get(record.identity) if has_name else None
        finding = result and RecordFinding(result.status, result.problem, result.advice, found=result.found)
        pairs.append((record, finding or unknown))
    return pairs


def _new_check(app: App, domain_id: UUID | None) -> DnsCheck:
    return DnsCheck(
        domain_id or SERVER, domain_id, app.clock(), 0, False, None, None, "unchecked", (), (), (), None, None
    )


def _addresses(texts: Sequence[str]) -> tuple[Address, ...]:
    return tuple(ipaddress.ip_address(text) for text in texts)
