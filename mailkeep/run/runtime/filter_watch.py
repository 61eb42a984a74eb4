"""Whether the filter's parts, its scanner and its DNS lists answer: for health, and an alert for each change.

The scanner and the other parts (`filter_parts`) are asked every ten seconds. A list is tested every hour, every five
minutes while it fails, and when the settings change, with its test entries (RFC 5782 §5) at the filter's own name
servers. What counts for a message does not depend on it: the filter tests a list each time that it lists an address
(`lua/dnsbl.lua`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
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
from mailkeep.run.runtime import filter_parts
from mailkeep.settings import Settings, parse_dns_servers

_CHECK_SECONDS = 10.0
_ANSWER_SECONDS = 5.0
_FAILURES = 3  # in a row, until an alert: a process may be restarted, and a scanner then loads its signatures
_LACKING = 180  # checks in a row, half an hour: the first download of signatures takes minutes
_TEST_EVERY, _TEST_FAILED_EVERY = timedelta(hours=1), timedelta(minutes=5)
_QUERIES = 8
_ANTIVIRUS, _PART = "antivirus", "filter:"


class FilterWatch:
    """The last results, and the problems that were reported: `antivirus`, `filter:PART`, or the zone of a list."""

    def __init__(self, app: App, paths: InstancePaths) -> None:
        self._app, self._paths = app, paths
        self.scanner: ScannerStatus | None = None
        self.dns_lists: list[DnsListStatus] = []
        self.filter_problem: str | None = None
        report = node_report.load(paths.run)
        self.alerted: set[str] = set(report.alerted) if report else set()
        self._failures = self._lacking = 0
        self._unanswered = Counter[str]()
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
        silent = await filter_parts.find_silent(settings, self._paths)
        self._unanswered = Counter({part: self._unanswered[part] + 1 for part in silent})
        self.filter_problem = " ".join(self._find_part_problems().values()) or None
        await self._test_lists(settings, at)
        await self._report(self._find_problems())

    def _find_part_problems(self) -> dict[str, str]:
        """The parts that were silent three times in a row, or since they were reported."""
        return {
            f"{_PART}{part}": problem
            for part, problem in filter_parts.PROBLEMS.items()
            if self._unanswered[part] >= _FAILURES or (self._unanswered[part] and f"{_PART}{part}" in self.alerted)
        }

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
        pause = _TEST_FAILED_EVERY if any(each.problem for each in self.dns_lists) else _TEST_EVERY
        if self._tested and self._tested[0] == subject and at - self._tested[1] < pause:
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
        return problems | self._find_part_problems()

    async def _report(self, problems: dict[str, str]) -> None:
        if problems.keys() == self.alerted:
            return
        async with self._app.db.tx() as conn:
            for name in sorted(problems.keys() ^ self.alerted):
                kind = name if name == _ANTIVIRUS else "filter" if name.startswith(_PART) else "dns_list"
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
    if name.startswith(_PART):
        part = name.removeprefix(_PART)
        return "A name server of the filter answers again." if part == "dns" else f"{part} answers again."
    return "The virus scanner works again, or is off." if name == _ANTIVIRUS else f"{name} works again, or is not used."
