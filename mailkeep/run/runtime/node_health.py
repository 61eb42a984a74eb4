"""The node agent's report for health checks; `mailkeep doctor` uses the same functions."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.mail.daemons import node_report
from mailkeep.mail.daemons.node_report import Certificate, NodeReport, SenderStatus, SendingAddress
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.sieve.config import read_settings
from mailkeep.net.guard import Address
from mailkeep.net.resolver import DnsLookupError, Resolver
from mailkeep.run.runtime import certificate, dane, service_status
from mailkeep.run.runtime.certificate_files import CertificateFiles
from mailkeep.run.runtime.filter_watch import FilterWatch
from mailkeep.run.runtime.probe import Prober
from mailkeep.settings import Settings, parse_dns_servers

log = structlog.get_logger("mailkeep.node")

_REPORT_SECONDS = 10.0
_DNS_EVERY = timedelta(minutes=5)
_DAEMONS = ("postfix", "dovecot", "rspamd")


@dataclass(frozen=True, slots=True)
class Watches:
    """What other tasks of the process have found last."""

    prober: Prober
    filters: FilterWatch
    certificates: CertificateFiles


async def keep_reporting(app: App, paths: InstancePaths, watches: Watches) -> None:
    """Write a report every ten seconds, with DNS looked up every five minutes, and the last results of `watches`, until
    cancelled.
    """
    filters = watches.filters
    sending: list[SendingAddress] | None = None
    looked_up_at: datetime | None = None
    dane_problem: str | None = None
    versions = {name: await asyncio.to_thread(service_status.find_version, name) for name in _DAEMONS}
    while True:
        at = app.clock()
        try:
            if looked_up_at is None or at - looked_up_at >= _DNS_EVERY:
                sending, looked_up_at = await find_sending_addresses(app.settings), at
                dane_problem = await _find_dane_problem(app.settings)
            counts = await asyncio.to_thread(postfix_queue.count_by_state, paths.postfix_queue)
            oldest = await asyncio.to_thread(postfix_queue.find_oldest_arrival, paths.postfix_queue)
            served = await asyncio.to_thread(find_certificate, app.settings, paths.tls, at)
            sieve = await asyncio.to_thread(read_sieve_settings, paths)
            report = NodeReport(
                at, counts, served, sending, sieve, watches.prober.last, dane_problem,
                filters.scanner, filters.dns_lists, sorted(filters.alerted), filters.filter_problem,
                watches.certificates.problem, oldest, versions,
            )  # fmt: skip
            await asyncio.to_thread(node_report.save, paths.run, report)
        except Exception:
            log.exception("the report on the node could not be written")
        await asyncio.sleep(_REPORT_SECONDS)


async def _find_dane_problem(settings: Settings) -> str | None:
    if problem := await dane.find_problem(settings):
        log.warning("DANE does not protect deliveries", reason=problem)
    return problem


def read_sieve_settings(paths: InstancePaths) -> dict[str, str]:
    """The settings for scripts of mailboxes in the rendered dovecot.conf. Blocks; raises OSError."""
    return read_settings((paths.dovecot_conf / "dovecot.conf").read_text("utf-8"))


def find_certificate(settings: Settings, folder: Path, at: datetime) -> Certificate | None:
    """The served certificate. Blocks; raises OSError, and Failure if the files are invalid."""
    served = certificate.read_served(settings, folder, at)
    return Certificate(served.begins, served.ends, served.self_signed, served.problem) if served else None


async def find_sending_addresses(settings: Settings) -> list[SendingAddress]:
    """The addresses that mail is sent from, each with its DNS status.

    Without `server.addresses` these are the public source addresses of this machine. Loopback addresses are left out,
    since they have no public PTR record. Empty without `server.hostname`.
    """
    hostname = settings.server.hostname.lower()
    if not hostname:
        return []
    resolver = Resolver(parse_dns_servers(settings.dns.servers))
    addresses = _configured_addresses(settings.server.addresses) or _source_addresses()
    return list(await asyncio.gather(*(_look_up(resolver, hostname, address) for address in addresses)))


def _configured_addresses(addresses: Sequence[str]) -> list[Address]:
    parsed = [ipaddress.ip_address(text) for text in addresses]
    return [address for address in parsed if not address.is_loopback]


def _source_addresses() -> list[Address]:
    addresses: list[Address] = []
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 9))  # sends nothing
            address = ipaddress.ip_address(probe.getsockname()[0])
            if address.is_global:
                addresses.append(address)
    return addresses


async def _look_up(resolver: Resolver, hostname: str, address: Address) -> SendingAddress:
    try:
        names = await resolver.reverse(address)
    except DnsLookupError:
        return SendingAddress(str(address), [], "dns_error")
    status: SenderStatus = "ok" if hostname in names else ("mismatch" if names else "missing")
    if status == "ok":
        try:
            status = "ok" if address in await resolver.resolve(hostname) else "unconfirmed"
        except DnsLookupError:
            status = "unconfirmed"
    return SendingAddress(str(address), names, status)
