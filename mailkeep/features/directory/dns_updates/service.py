"""Write the DNS records of domains and of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import rules as dkim_rules, service as dkim
from mailkeep.features.directory.dns import service as dns
from mailkeep.features.directory.dns_updates import rules, store
from mailkeep.features.directory.dns_updates.model import (
    DomainUpdates,
    JobState,
    UpdateJob,
    UpdateRecord,
    WantedRecord,
)
from mailkeep.features.directory.domains import service as domains
from mailkeep.net.dns_update import (
    DnsUpdateError,
    PrimaryServer,
    RecordChange,
    RecordsChanged,
    apply,
    find_zone,
    read,
)
from mailkeep.net.guard import MalformedHost, parse_host
from mailkeep.net.resolver import DnsLookupError, Resolver
from mailkeep.settings import parse_dns_servers, parse_endpoint

_NOT_CONFIGURED = "Set dns.provider, dns.update_server and the TSIG key: without them no record can be written."
_TEXT_ATTEMPTS = 3

Group = tuple[str, str]


class JobLost(Exception):
    """Another worker has claimed the job."""


async def get_of_domain(conn: Conn, who: Principal, domain_id: UUID) -> DomainUpdates:
    """What Mailkeep writes for a domain. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    domain = await domains.get_by_path(conn, who, "dkim.read", domain_id)
    job = await store.find(conn, domain.name)
    if job is None:
        return DomainUpdates(domain.dns_managed, None)
    return DomainUpdates(domain.dns_managed, job, tuple(await store.list_records(conn, job.id)))


async def add_server_job(app: App) -> None:
    """Add the job of the server's host name, with `dns.manage_server`."""
    host_name = app.settings.server.mail_domain
    if app.settings.dns.manage_server and dkim_rules.is_public(host_name):
        async with app.db.autocommit() as conn:
            await store.add(conn, uuid7(app.clock()), host_name, app.clock())


async def write(app: App, job: UpdateJob) -> tuple[JobState, str]:
    """Bring the records of a job to what is wanted; its state and the problem in words. DnsUpdateError."""
    wanted = await _list_wanted(app, job.subject)
    async with app.db.autocommit() as conn:
        noted = await store.list_records(conn, job.id)
    if not wanted and not noted:
        return "ok", ""
    server = await _find_server(app)
    groups = sorted({(each.name, each.type) for each in wanted} | {(each.name, each.type) for each in noted})
    found: list[UpdateRecord] = []
    for group in groups:
        values = sorted(each.value for each in wanted if (each.name, each.type) == group)
        rows = [each for each in noted if (each.name, each.type) == group]
        found += await _write_group(app, server, job, group, values, rows)
    conflicts = [each.problem for each in found if each.state == "conflict"]
    return ("conflict", conflicts[0]) if conflicts else ("ok", "")


async def _write_group(
    app: App, server: PrimaryServer, job: UpdateJob, group: Group, wanted: Sequence[str], noted: Sequence[UpdateRecord]
) -> tuple[UpdateRecord, ...]:
    """Bring the records of one name and type to the `wanted` values; their states."""
    zone = noted[0].zone if noted else await _find_zone(app, server, group[0])
    published = await read(server, *group)
    own = {each.value for each in noted if each.state in ("written", "waiting")}
    plan = rules.plan(group, wanted, own, zone, published)
    if plan.change is not None:
        # Those to be removed stay noted until they are.
        intended = {record.value: replace(record, state="waiting") for record in plan.records}
        kept = {record.value: record for record in plan.records if record.value in published.values}
        stale = {value: UpdateRecord(*group, value, zone, "written") for value in plan.change.remove}
        await _note(app, job, group, list((stale | intended | kept).values()))
        failpoint.reach("dns_update.noted")
        try:
            await apply(server, zone, plan.change)
        except RecordsChanged as error:
            if group[1] != "CNAME":
                raise
            conflict = tuple(replace(record, state="conflict", problem=str(error)) for record in plan.records)
            await _note(app, job, group, conflict)
            return conflict
        failpoint.reach("dns_update.applied")
    await _note(app, job, group, plan.records)
    return plan.records


async def _note(app: App, job: UpdateJob, group: Group, records: Sequence[UpdateRecord]) -> None:
    async with app.db.tx() as conn:
        if not await store.holds(conn, job):
            raise JobLost
        await store.save_records(conn, job.id, group, records)


async def _list_wanted(app: App, subject: str) -> set[WantedRecord]:
    """The records that Mailkeep writes for a domain or for the server's host name."""
    wanted: set[WantedRecord] = set()
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, subject)
        delegated = await dkim.list_delegated(conn, subject) if app.settings.dns.manage_server else []
    if domain is not None and domain.dns_managed:
        wanted |= rules.select_own(await dns.list_domain_records(app, domain), subject)
    if app.settings.dns.manage_server:
        wanted |= rules.select_delegated(delegated)
        if subject == app.settings.server.mail_domain and domain is None:
            wanted |= rules.select_own(await dns.list_server_records(app, ()), subject, ("TXT",))
    return wanted


async def _find_server(app: App) -> PrimaryServer:
    settings = app.settings.dns
    if settings.provider == "none":
        raise DnsUpdateError(_NOT_CONFIGURED)
    host, port = parse_endpoint(settings.update_server)
    try:
        address = parse_host(host).address or (await Resolver(parse_dns_servers(settings.servers)).resolve(host))[0]
    except (DnsLookupError, MalformedHost) as error:
        raise DnsUpdateError(f"The address of the name server {host} was not found: {error}.") from None
    return PrimaryServer(str(address), port, settings.tsig_key, settings.tsig_algorithm, settings.tsig_secret)


async def _find_zone(app: App, server: PrimaryServer, name: str) -> str:
    zones = [zone.removesuffix(".").lower() for zone in app.settings.dns.update_zones]
    zone = rules.in_zones(name, zones) if zones else await find_zone(server, name)
    if zone is None:
        raise DnsUpdateError(f"{name} is in none of the zones in dns.update_zones.")
    return zone


async def add_text(app: App, name: str, value: str) -> None:
    """Publish a TXT record beside others of the name. DnsUpdateError, also if others keep changing it meanwhile."""
    await _change_text(app, name, value, is_wanted=True)


async def remove_text(app: App, name: str, value: str) -> None:
    """Remove a TXT record, if it is there. DnsUpdateError."""
    await _change_text(app, name, value, is_wanted=False)


async def _change_text(app: App, name: str, value: str, *, is_wanted: bool) -> None:
    server = await _find_server(app)
    zone = await _find_zone(app, server, name)
    for attempt in range(_TEXT_ATTEMPTS):
        published = await read(server, name, "TXT")
        if published.cname:
            raise DnsUpdateError(f"{name} is a CNAME to {published.cname}, so no TXT record can be written there.")
        if (value in published.values) == is_wanted:
            return
        add, remove = ((value,), ()) if is_wanted else ((), (value,))
        try:
            await apply(server, zone, RecordChange(name, "TXT", published.rows, add, remove))
            return
        except RecordsChanged:
            if attempt == _TEXT_ATTEMPTS - 1:
                raise


async def require_zone(app: App, name: str) -> None:
    """DnsUpdateError if no record of a name could be written: its zone is not at the server, or none is configured."""
    await _find_zone(app, await _find_server(app), name)
