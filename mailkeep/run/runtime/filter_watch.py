"""Whether the filter gets answers from scanner, DNS lists and Mailkeep: for health, and an alert for each change.

The scanner and the process `keys`, which decides about messages, are asked every ten seconds. A list is tested every
hour, and when the settings change, with its test entries (RFC 5782 §5) at the filter's own name servers. What counts
for a message does not depend on it: the filter tests a list each time that it lists an address (`lua/dnsbl.lua`).
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime, timedelta

from mailkeep.app import App
from mailkeep.features.directory.blocklists import service as blocklists
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.daemons import clamd, node_report, scanning
from mailkeep.mail.daemons.clamd import ScannerVersion
from mailkeep.mail.daemons.node_report import DnsListStatus, ScannerStatus
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.net.dns_lookups import Lookups
from mailkeep.net.dns_query import DnsQuery
from mailkeep.settings import Settings, parse_dns_servers

_CHECK_SECONDS = 10.0
_ANSWER_SECONDS = 5.0
_FAILURES = 3  # in a row, until an alert: a scanner that is restarted loads its signatures first
_LACKING = 180  # checks in a row, half an hour: the first download of signatures takes minutes
_TEST_EVERY = timedelta(hours=1)
_QUERIES = 8
_ANTIVIRUS, _FILTER = "antivirus", "filter"
_UNANSWERED = 2  # in a row, until the filter is said to get no answer: a process may be restarted

_NO_VERDICTS = (
    "The process keys does not answer the filter: incoming mail is not refused by score or list, and mail that is sent "
    "waits. See log/keys.log and log/rspamd.log."
)


class FilterWatch:
    """The last results, and the problems that were reported: `antivirus`, `filter`, or the zone of a list."""

    def __init__(self, app: App, paths: InstancePaths) -> None:
        self._app, self._paths = app, paths
        self.scanner: ScannerStatus | None = None
        self.dns_lists: list[DnsListStatus] = []
        self.filter_problem: str | None = None
        report = node_report.load(paths.run)
        self.alerted: set[str] = set(report.alerted) if report else set()
        self._failures = self._lacking = self._unanswered = 0
        self._tested: tuple[object, datetime] | None = None

    async def run(self) -> None:
        """Check until cancelled."""
        await repeat(_CHECK_SECONDS, "checks of the virus scanner and of DNS lists", self.check)

    async def check(self) -> None:
        """Ask the scanner, test the lists if that is due, and emit an event for each change."""
        settings, at = self._app.settings, self._app.clock()
        self.scanner = await self._ask_scanner(settings, at) if settings.filter.antivirus else None
        self._failures = self._failures + 1 if self.scanner and self.scanner.problem else 0
        self._lacking = self._lacking + 1 if self.scanner and self.scanner.advice else 0
        self._unanswered = 0 if await self._answers_filter() else self._unanswered + 1
        is_reported = self._unanswered > 0 and _FILTER in self.alerted
        self.filter_problem = _NO_VERDICTS if self._unanswered >= _UNANSWERED or is_reported else None
        await self._test_lists(settings, at)
        await self._report(self._find_problems())

    async def _answers_filter(self) -> bool:
        """Whether the process `keys` answers, as the filter asks it."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                reader, writer = await asyncio.open_unix_connection(self._paths.keys_socket)
                with contextlib.closing(writer):
                    writer.write(b"/ping/\n")
                    return (await reader.readline()).startswith(b"200 ")
        except (OSError, TimeoutError):
            return False

    async def _ask_scanner(self, settings: Settings, at: datetime) -> ScannerStatus:
        try:
            version = clamd.parse_version(await clamd.ask(self._paths.clamd_socket, "VERSION", _ANSWER_SECONDS))
        except (OSError, TimeoutError, ValueError) as error:
            effect = "accepted unscanned" if settings.filter.antivirus_on_failure == "accept" else "deferred"
            reason = str(error) or "no answer"
            problem = f"The virus scanner does not answer, so mail is {effect}: {reason} (see log/clamd.log)."
            return ScannerStatus(problem=problem)
        return ScannerStatus(
            version.engine, version.signatures, version.signed_at, advice=judge_signatures(version, settings, at)
        )

    async def _test_lists(self, settings: Settings, at: datetime) -> None:
        zones = scanning.list_zones(settings)
        servers = scanning.list_dns_servers(settings, self._paths)
        subject = settings.filter.dnsbl, settings.filter.network_checks, servers
        if self._tested and self._tested[0] == subject and at - self._tested[1] < _TEST_EVERY:
            return
        lookups = Lookups(DnsQuery(parse_dns_servers(servers)), asyncio.Semaphore(_QUERIES))
        try:
            problems = await asyncio.gather(*(blocklists.find_problem(lookups, zone) for zone in zones))
        finally:
            await lookups.close()
        self.dns_lists = [DnsListStatus(zone, at, problem) for zone, problem in zip(zones, problems, strict=True)]
        self._tested = subject, at

    def _find_problems(self) -> dict[str, str]:
        problems = {each.zone: f"{each.zone}: {each.problem}" for each in self.dns_lists if each.problem}
        if self.scanner and self.scanner.problem:
            if self._failures >= _FAILURES or _ANTIVIRUS in self.alerted:
                problems[_ANTIVIRUS] = self.scanner.problem
        elif self.scanner and self.scanner.advice and (self._lacking >= _LACKING or _ANTIVIRUS in self.alerted):
            problems[_ANTIVIRUS] = self.scanner.advice
        if self.filter_problem:
            problems[_FILTER] = self.filter_problem
        return problems

    async def _report(self, problems: dict[str, str]) -> None:
        if problems.keys() == self.alerted:
            return
        async with self._app.db.tx() as conn:
            for name in sorted(problems.keys() ^ self.alerted):
                kind = name if name in (_ANTIVIRUS, _FILTER) else "dns_list"
                is_new = name in problems
                reason = problems[name] if is_new else _describe_end(name)
                alert = SystemAlert(alert=f"{kind}_{'failed' if is_new else 'recovered'}", reason=reason)
                await events.emit(conn, self._app.clock(), Event(None, None, alert))
        self.alerted = set(problems)


def judge_signatures(version: ScannerVersion, settings: Settings, at: datetime) -> str | None:
    """What is wrong with the signatures of a scanner that downloads them; None if nothing is."""
    filtering = settings.filter
    if not filtering.antivirus_mirror:
        return None
    if version.signed_at is None:
        return "The virus scanner has no downloaded signatures yet, and finds almost nothing: see log/freshclam.log."
    days = (at - version.signed_at).days
    if days >= filtering.antivirus_signature_days:
        return f"The virus signatures are {days} days old: see log/freshclam.log."
    return None


def _describe_end(name: str) -> str:
    if name == _FILTER:
        return "The filter gets answers again."
    return "The virus scanner works again, or is off." if name == _ANTIVIRUS else f"{name} works again, or is not used."
