"""The context that a use case receives: settings, clock, secrets, database, the mail clients and the HTTP client.

`conn` as a parameter is the caller's transaction; `app` means that the use case opens short ones itself and holds
none during network calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mailkeep.core.clock import Clock
from mailkeep.core.counters import Counters
from mailkeep.core.minute_limit import MinuteLimit
from mailkeep.core.principal import Principal
from mailkeep.core.secret import Vault
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.db.pool import DatabasePool
from mailkeep.db.wait_limits import limit_database_waits
from mailkeep.jobs.batches import BatchWriter
from mailkeep.mail.daemons.node_report import Certificate, NodeReport
from mailkeep.mail.message.parse_process import Parser
from mailkeep.mail.reports.reader import ReportReader
from mailkeep.mail.sieve.checker import SieveChecker
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.relay_pools import RelayPools
from mailkeep.mail.templates.render_process import Renderer
from mailkeep.net.client import OutboundClient
from mailkeep.net.dns_query import DnsQuery
from mailkeep.net.openid import OpenIdClient
from mailkeep.settings import LoadedSettings, Settings, no_sources, parse_dns_servers
from mailkeep.web.streams import Streams

T = TypeVar("T")
R = TypeVar("R")

REFUSALS_PER_MINUTE = 60
"""Audit entries for refused calls per principal and minute; further ones are counted in one entry."""
_BATCH_INTERVAL = 0.01  # minimum seconds between two batches


@dataclass(slots=True)
class App:
    """The context of a process."""

    settings: Settings  # replaced as a whole when stored settings change: read it at each use
    data_dir: Path
    clock: Clock
    vault: Vault
    db: DatabasePool
    loaded: LoadedSettings = field(default_factory=no_sources)
    """The settings of file, environment and options, which stored settings are added to."""
    audit_db: DatabasePool | None = (
        None  # connects as the role that seals the audit log; None: another process seals it
    )
    mta: SmtpPool | None = None  # where outbound mail is submitted; None: sending is not configured
    smtp_address: str = ""  # embedded profile: HOST:PORT of the SMTP listener; empty: this process does not know it
    mta_restarts: Callable[[], bool] | None = None
    """Full profile: whether Postfix is expected to accept mail again soon (an administrator has not stopped it)."""
    filter_controller: Path | None = (
        None  # full profile: the socket of Rspamd's controller; None: nothing can be taught
    )
    relay_pools: RelayPools = field(default_factory=RelayPools)  # connections to relays
    running_services: Callable[[], Mapping[str, bool]] | None = None
    """Full profile: which services run, from the supervisor."""
    node_report: Callable[[], NodeReport | None] | None = None  # full profile: the node agent's last report
    served_certificate: Callable[[], Certificate | None] | None = None  # embedded profile: of the SMTP listener
    parser: Parser = field(default_factory=Parser)  # parses received messages in child processes
    report_reader: ReportReader = field(default_factory=ReportReader)  # reads reports of other servers
    renderer: Renderer = field(default_factory=Renderer)  # renders templates in child processes
    memory: SharedMemory = field(default_factory=SharedMemory)  # where the processes of the API count together
    sieve: SieveChecker = field(init=False)  # checks Sieve scripts
    streams: Streams = field(init=False)  # event streams
    outbound: OutboundClient = field(default_factory=OutboundClient)  # outbound HTTP
    counters: Counters = field(default_factory=Counters)  # of this process, for the metrics
    cpu_limit: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    """Limits CPU-intensive work in threads to two at a time, because they share the interpreter with the event loop."""
    refusal_limit: MinuteLimit[Principal] = field(init=False)
    openid: OpenIdClient = field(init=False)  # caches metadata of identity providers
    _batch_writers: dict[Any, BatchWriter[Any, Any]] = field(
        init=False, default_factory=dict[Any, BatchWriter[Any, Any]]
    )

    def __post_init__(self) -> None:
        self.openid = OpenIdClient(self.outbound)
        self.sieve = SieveChecker(self.memory)
        self.streams = Streams(self.memory)
        self.refusal_limit = MinuteLimit[Principal](REFUSALS_PER_MINUTE, self.memory, "refusals")

    @property
    def dns_query(self) -> DnsQuery:
        """Queries to each of the configured name servers."""
        return DnsQuery(parse_dns_servers(self.settings.dns.servers))

    async def write_in_batch(self, write: Callable[[App, Sequence[T]], Awaitable[Sequence[R]]], item: T) -> R:
        """Write the item together with those of concurrent calls, by `write(self, items)`; returns the item's result.

        `write` is a function of a module and writes all items or none, in one statement. If it fails, it is called
        again with each item alone.
        """
        writer: BatchWriter[T, R] | None = self._batch_writers.get(write)
        if writer is None:
            writer = self._batch_writers[write] = BatchWriter(
                partial(_write, write, self), max_batch=50, min_interval=_BATCH_INTERVAL, retry_singly=True
            )
        return await writer.add(item)


async def _write(
    write: Callable[[App, Sequence[T]], Awaitable[Sequence[R]]], app: App, items: Sequence[T]
) -> Sequence[R]:
    with limit_database_waits():  # requests wait for the result
        return await write(app, items)
