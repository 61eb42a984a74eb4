"""Background work: read mail to the report addresses, look up reverse names, delete old reports."""

from __future__ import annotations

import asyncio
import ipaddress
from datetime import timedelta

import structlog

from mailkeep.app import App
from mailkeep.db.partitions import confirm_prune_time
from mailkeep.features.mailflow.reports import service, store
from mailkeep.net.dns_query import DnsQuery

log = structlog.get_logger("mailkeep.reports")

_LEASE = timedelta(minutes=5)  # longer than the limits of reading and storing a report
_NAMES = 20  # looked up by each call
_CONCURRENT_NAMES = 5


async def read_due(app: App) -> int:
    """Read the mail to the report addresses that waits; returns the number of messages."""
    count = 0
    while True:
        at = app.clock()
        async with app.db.autocommit() as conn:
            mail = await store.claim_mail(conn, at, at + _LEASE)
        if mail is None:
            return count
        await service.read_mail(app, mail)
        count += 1


async def look_up_names(app: App) -> int:
    """Look up the reverse names of some sources; returns how many. Failed look-ups are not repeated."""
    async with app.db.autocommit() as conn:
        addresses = await store.list_unnamed(conn, _NAMES)
    if not addresses:
        return 0
    limit = asyncio.Semaphore(_CONCURRENT_NAMES)

    async def look_up(address: str) -> tuple[str, str]:
        async with limit:
            return address, await find_name(app.dns_query, address)

    names = await asyncio.gather(*(look_up(address) for address in addresses))
    async with app.db.autocommit() as conn:
        await store.set_names(conn, names, app.clock())
    return len(names)


async def find_name(query: DnsQuery, address: str) -> str:
    """The reverse name of an address that leads back to it (at most 3 names are tried), or empty."""
    ip = ipaddress.ip_address(address)
    record_type = "A" if ip.version == 4 else "AAAA"
    for name in (await _values(query, ip.reverse_pointer, "PTR"))[:3]:
        if len(name) <= 253 and str(ip) in await _values(query, name, record_type):
            return name
    return ""


async def _values(query: DnsQuery, name: str, record_type: str) -> tuple[str, ...]:
    try:
        answers = await query.ask(name, record_type)
    except ValueError:
        return ()
    return next((answer.values for answer in answers if answer.outcome == "found"), ())


async def prune(app: App) -> None:
    """Delete reports older than `retention.report_days`."""
    async with app.db.tx() as conn:
        confirmed = await confirm_prune_time(conn, "messages", app.clock())
    if confirmed:
        async with app.db.autocommit() as conn:
            await store.prune(conn, confirmed - timedelta(days=app.settings.retention.report_days))
