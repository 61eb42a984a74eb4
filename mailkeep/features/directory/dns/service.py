"""Lists the DNS records that a domain and the server need, with the settings and keys of now."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from mailkeep.app import App
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dns import rules
from mailkeep.features.directory.dns.model import DnsRecord
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain


async def list_domain_records(app: App, domain: Domain) -> list[DnsRecord]:
    """The records of a domain, and those of the server that it needs."""
    hostname = app.settings.server.mail_domain
    addresses = [text for text in app.settings.server.addresses if not ipaddress.ip_address(text).is_loopback]
    async with app.db.autocommit() as conn:
        keys = await dkim.list_records(conn, domain.id)
    return rules.required_records(domain.name, hostname, addresses, keys, await _list_host_keys(app, hostname))


async def list_server_records(app: App, addresses: Sequence[str]) -> list[DnsRecord]:
    """The records of the server's host name with these addresses."""
    hostname = app.settings.server.mail_domain
    keys = await _list_host_keys(app, hostname)
    records = rules.required_records("", hostname, addresses, (), keys)
    return [record for record in records if record.name not in ("", "_dmarc.")]


async def _list_host_keys(app: App, hostname: str) -> list[dkim.DkimKey]:
    async with app.db.autocommit() as conn:
        is_managed = await domains.find_by_name(conn, hostname) is not None
    return [] if is_managed else await dkim.ensure_host_keys(app, hostname)
