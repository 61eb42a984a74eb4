"""The overall status, and the status and advice of components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.counters import CounterKey, Gauge
from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.features.operations.certificates.model import CertificateEnd
from mailkeep.features.operations.health.model import Component, HealthCheck, ServerHealth, State, Status
from mailkeep.features.operations.machine.model import Assessment
from mailkeep.features.record.alerts.model import Area, Severity
from mailkeep.jobs.runs import JobRun
from mailkeep.mail.daemons.node_report import (
    Certificate,
    DnsListStatus,
    NodeReport,
    ProbeResult,
    ScannerStatus,
    SendingAddress,
)

_LONG_QUEUE = 1000
# Renewal is due in the last third of the lifetime, but at most 21 days before the end.
_RENEWAL_DAYS = timedelta(days=21)
MAX_REPORT_AGE = timedelta(minutes=1)
_MAX_PROBE_AGE = timedelta(minutes=5)
_JOB_DELAY, _JOB_RUNS = timedelta(minutes=5), 3
_SECOND = timedelta(seconds=1)
ALERT_LABELS = tuple((area, severity) for area in get_args(Area) for severity in get_args(Severity))
"""The labels of the number of alerts."""
_GAUGES = {
    "disk_free_bytes": ("disk", "free_bytes", 1),
    "disk_size_bytes": ("disk", "total_bytes", 1),
    "disk_free_inodes": ("disk", "free_inodes", 1),
    "disk_inodes": ("disk", "total_inodes", 1),
    "disk_full_seconds": ("disk", "days_until_full", 86_400),
}
_NOT_HERE = "Available in the full profile only."


def overall_health(checks: Sequence[HealthCheck]) -> ServerHealth:
    """Down if a service is down, degraded if one is not ok."""
    worst: Status = "ok"
    for check in checks:
        if check.status == "down":
            worst = "down"
        elif check.status == "degraded" and worst == "ok":
            worst = "degraded"
    return ServerHealth(worst, checks)


def service_checks(running: Mapping[str, bool]) -> list[HealthCheck]:
    """The status of supervised services; one that does not run is being restarted, so it counts as degraded."""
    return [HealthCheck(name, "ok" if is_running else "degraded") for name, is_running in sorted(running.items())]


def make_component(name: str, found: Assessment) -> Component:
    """The component of the disk or the clock."""
    return Component(name, found.status, found.advice, found.details)


def certificates(
    certificate: Certificate | None,
    at: datetime,
    problem: str | None = None,
    others: Sequence[CertificateEnd] = (),
) -> Component:
    """The certificates: down once that of the mail services has expired, degraded while a renewal is overdue or failed
    or another one has expired (`others`: of the server and of domains; `problem`: which could not be renewed).
    """
    name = "certificates"
    if certificate is None:
        return Component(name, "degraded", "No certificate is in use yet: see log/node.log.")
    ends_at = iso(certificate.not_after)
    details = {
        "ends_at": ends_at,
        "self_signed": certificate.self_signed,
        "renewal_error": certificate.problem,
        "certificates": [{"name": each.name, "ends_at": iso(each.not_after)} for each in others],
    }
    late = [each for each in others if _is_late(each.not_before, each.not_after, at)]
    if certificate.not_after <= at:
        advice = f"The certificate expired at {ends_at}: renew it, or replace the files in tls.certificate_file."
        return Component(name, "down", advice, details)
    if certificate.not_before > at:
        advice = f"The certificate is valid only from {iso(certificate.not_before)}: replace it, or correct the clock."
        return Component(name, "down", advice, details)
    if certificate.problem:
        advice = f"The renewed certificate can't be used: {certificate.problem} The previous one stays in use."
        return Component(name, "degraded", advice, details)
    if problem:
        return Component(name, "degraded", f"{problem} `mailkeep certificates list` shows the reasons.", details)
    if _is_late(certificate.not_before, certificate.not_after, at):
        return Component(name, "degraded", f"The certificate expires at {ends_at}: renew it.", details)
    if late:
        first = late[0]
        state = "has expired" if first.not_after <= at else f"expires at {iso(first.not_after)}"
        more = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
        advice = f"The certificate of {first.name} {state}{more}: `mailkeep certificates list` shows why."
        return Component(name, "degraded", advice, details)
    if certificate.self_signed:
        advice = (
            "Mail clients do not trust the self-signed certificate: set acme.enabled, or tls.certificate_file and "
            "tls.key_file (docs/howto/certificates.md)."
        )
        return Component(name, "ok", advice, details)
    return Component(name, "ok", None, details)


def _is_late(begins: datetime, ends: datetime, at: datetime) -> bool:
    """Whether a certificate should have been renewed, or has expired."""
    return ends - at <= min(_RENEWAL_DAYS, (ends - begins) / 3)


def queue(counts: Mapping[str, int], oldest_at: datetime | None = None) -> Component:
    """The mail server's queue: degraded from 1000 messages, not counting those on hold."""
    waiting = sum(count for name, count in counts.items() if name != "hold")
    advice = None
    if waiting >= _LONG_QUEUE:
        advice = f"{waiting} messages are waiting: `mailkeep queue list` shows the reasons."
    details = {"messages": waiting, **counts, "oldest_at": iso_or_none(oldest_at)}
    return Component("queue", "degraded" if advice else "ok", advice, details)


def sending_problem(sender: SendingAddress, hostname: str) -> str | None:
    """The problem of the PTR record of a sending address, and what to do; None if it is right."""
    match sender.status:
        case "ok":
            return None
        case "missing":
            return f"{sender.address} has no PTR record: ask the provider of the address to set it to {hostname}."
        case "mismatch":
            names = ", ".join(sender.names)
            return (
                f"The PTR record of {sender.address} is {names}, not server.hostname ({hostname}): change one of them."
            )
        case "unconfirmed":
            return f"{hostname} does not resolve to {sender.address}: publish that A or AAAA record."
        case "dns_error":
            return f"The PTR record of {sender.address} could not be looked up: check the name servers (dns.servers)."


def dns(hostname: str, sending: Sequence[SendingAddress] | None, dane_problem: str | None = None) -> Component:
    """The host name and the PTR records of the sending addresses; many servers refuse mail if they are wrong. And
    whether DANE protects deliveries.
    """
    if not hostname:
        advice = "Set server.hostname to the full name of this server, as in its PTR record."
        return Component("dns", "degraded", advice, {"hostname": None, "addresses": []})
    addresses = [{"address": each.address, "names": each.names, "status": each.status} for each in sending or ()]
    problems = [problem for each in sending or () if (problem := sending_problem(each, hostname))]
    problems += [dane_problem] if dane_problem else []
    details = {"hostname": hostname, "addresses": addresses}
    return Component("dns", "degraded" if problems else "ok", " ".join(problems) or None, details)


def probe(result: ProbeResult | None, at: datetime) -> Component:
    """The last probe message from port 25 to a mailbox, and the login there: down if it failed."""
    name = "probe"
    if result is None:  # node has just started
        return Component(name, "ok", "The first probe message has not arrived yet.")
    details = {"at": iso(result.at), "stage": result.stage, "problem": result.problem}
    if at - result.at > _MAX_PROBE_AGE:
        return Component(name, "degraded", "No probe message was sent for five minutes: see log/node.log.", details)
    if result.status == "not_checked":
        return Component(name, "disabled", result.problem, details)
    if result.status == "failed":
        problem = f"{(result.problem or '').rstrip('.')}."
        advice = f"Mail does not arrive, or nobody can log in: {problem} See log/mail.log and log/dovecot.log."
        return Component(name, "down", advice, details)
    return Component(name, "ok", None, details, result.latency_ms)


def antivirus(scanner: ScannerStatus | None) -> Component:
    """The virus scanner: down if it does not answer, degraded if its signatures are missing or old."""
    name = "antivirus"
    if scanner is None:
        return Component(name, "disabled")
    signed_at = iso(scanner.signed_at) if scanner.signed_at else None
    details = {"signatures": scanner.signatures, "signatures_at": signed_at}
    status: State = "down" if scanner.problem else "degraded" if scanner.advice else "ok"
    return Component(name, status, scanner.problem or scanner.advice, details, version=scanner.version)


def dns_lists(lists: Sequence[DnsListStatus]) -> Component:
    """The DNS lists of the filter: degraded if one fails its test, so that its answers do not count."""
    name = "dns_lists"
    if not lists:
        return Component(name, "disabled")
    details = {"lists": [{"zone": each.zone, "at": iso(each.at), "problem": each.problem} for each in lists]}
    problems = [f"{each.zone}: {each.problem}" for each in lists if each.problem]
    return Component(name, "degraded" if problems else "ok", " ".join(problems) or None, details)


def processes(name: str, running: Mapping[str, bool], needed: Sequence[str]) -> Component:
    """A component of several supervised processes: down if one of those in `needed` does not run."""
    states = {each: running.get(each, False) for each in needed}
    down = [each for each, is_running in states.items() if not is_running]
    advice = None
    if down:
        start = f"`mailkeep orchestrator service start {down[0]}`"
        advice = (
            f"Not running: {', '.join(down)}. What has failed is restarted, see the folder log; what was stopped by "
            f"command waits for {start}."
        )
    return Component(name, "down" if down else "ok", advice, {"processes": states})


def with_report(component: Component, report: NodeReport) -> Component:
    """MTA, filter or mailboxes with what the process `node` has found: versions and times; the filter is degraded if a
    part does not answer.
    """
    probed = report.probe or ProbeResult(report.created_at, "not_checked")
    match component.name:
        case "mta":
            return replace(component, version=report.versions.get("postfix"), latency_ms=probed.accepted_ms)
        case "mailboxes":
            return replace(component, version=report.versions.get("dovecot"), latency_ms=probed.login_ms)
        case "filter":
            found = replace(component, version=report.versions.get("rspamd"))
            is_silent = component.status == "ok" and report.filter_problem
            return replace(found, status="degraded", advice=report.filter_problem) if is_silent else found
        case _:
            return component


def workers(jobs: Sequence[JobRun], at: datetime, running: Mapping[str, bool]) -> Component:
    """The background jobs: down if one of the processes in `running` does not run, degraded if a job has not succeeded
    for three of its pauses and five minutes more.
    """
    late = [each for each in jobs if at - each.succeeded_at > each.every_seconds * _JOB_RUNS * _SECOND + _JOB_DELAY]
    listed = [
        {"job": each.job, "succeeded_at": iso(each.succeeded_at), "every_seconds": each.every_seconds} for each in jobs
    ]
    found = processes("workers", running, list(running))
    details = {**found.details, "jobs": listed}
    if found.status == "down" or not late:
        return replace(found, details=details)
    names = ", ".join(f"{each.job} (since {iso(each.succeeded_at)})" for each in late[:3])
    more = f" and {len(late) - 3} more" if len(late) > 3 else ""
    advice = f"Background jobs do not succeed: {names}{more}. See log/worker.log and log/node.log."
    return Component("workers", "degraded", advice, details)


def blocklists(results: Sequence[BlocklistResult], checked_at: datetime | None, *, wanted: bool) -> Component:
    """The server's addresses in blocklists, by the last check of its DNS: degraded if one is listed. `wanted`: whether
    any lists are looked at.
    """
    name = "blocklists"
    if not wanted:
        return Component(name, "disabled", "Set server.hostname and dns.blocklists: then the addresses are looked up.")
    unavailable = sorted({each.zone for each in results if each.status == "unavailable"})
    details = {
        "checked_at": iso_or_none(checked_at),
        "listed": [
            {"zone": each.zone, "address": each.address, "reason": each.reason, "removal_url": each.removal_url}
            for each in results
            if each.status == "listed"
        ],
        "unavailable": unavailable,
    }
    if checked_at is None:
        return Component(name, "ok", "The first check of the server's DNS has not ended yet.", details)
    listed = [each for each in results if each.status == "listed"]
    if listed:
        places = "; ".join(
            f"{each.address} is on {each.zone}" + (f" ({each.removal_url})" if each.removal_url else "")
            for each in listed
        )
        return Component(name, "degraded", f"{places}. {listed[0].advice or ''}".strip(), details)
    if results and len(unavailable) == len({each.zone for each in results}):
        return Component(name, "ok", "No list answers these name servers: see the server's DNS.", details)
    return Component(name, "ok", None, details)


def checked_dns(hostname: str, problems: Sequence[str], checked_at: datetime | None) -> Component:
    """The server's DNS records by the last check, where no daemon sends mail (embedded profile)."""
    details = {"hostname": hostname or None, "checked_at": iso_or_none(checked_at)}
    if not hostname:
        return Component("dns", "disabled", "Set server.hostname: then the server's DNS records are checked.", details)
    return Component("dns", "degraded" if problems else "ok", " ".join(problems) or None, details)


def not_here(names: Sequence[str]) -> list[Component]:
    """Components that the embedded profile does not have."""
    return [Component(name, "disabled", _NOT_HERE) for name in names]


def to_gauges(components: Sequence[Component]) -> list[Gauge]:
    """The measured values of components, for `/metrics` (`web/metrics` describes them)."""
    found = {each.name: each for each in components}
    gauges: list[Gauge] = [
        (("component_status", (each.name, status)), float(each.status == status))
        for each in components
        for status in get_args(State)
    ]
    for name, values in _GAUGES.items():
        component, key, factor = values
        value = found[component].details.get(key) if component in found else None
        if isinstance(value, int | float):
            gauges.append(((name, ()), value * factor))
    for state, count in found["queue"].details.items() if "queue" in found else ():
        if isinstance(count, int) and state != "messages":
            gauges.append((("queue_messages", (state,)), count))
    for source in ("database", "ntp"):
        clock = found.get("clock")
        if clock and (offset := clock.details.get(f"{source}_offset_seconds")) is not None:
            gauges.append((("clock_offset_seconds", (source,)), offset))
    gauges += _times(found)
    if (probed := found.get("probe")) and probed.latency_ms is not None:
        gauges.append((("probe_latency_seconds", ()), probed.latency_ms / 1000))
    return gauges


def _times(found: Mapping[str, Component]) -> list[Gauge]:
    """The Unix times among the details."""
    times: list[tuple[CounterKey, str | None]] = []
    if served := found.get("certificates"):
        ends = [each["ends_at"] for each in served.details.get("certificates", ())]
        ends += [served.details["ends_at"]] if served.details.get("ends_at") else []
        times.append((("certificate_end_timestamp_seconds", ()), min(ends, default=None)))
    if waiting := found.get("queue"):
        times.append((("queue_oldest_timestamp_seconds", ()), waiting.details.get("oldest_at")))
    if backups := found.get("backups"):
        times.append((("backup_last_timestamp_seconds", ()), backups.details.get("last_backup_at")))
    jobs = found["workers"].details.get("jobs", ()) if "workers" in found else ()
    times += [(("job_last_success_timestamp_seconds", (each["job"],)), each["succeeded_at"]) for each in jobs]
    return [(key, datetime.fromisoformat(text).timestamp()) for key, text in times if text]


def unknown(name: str) -> Component:
    """A component that nothing is known of without the database."""
    return Component(name, "degraded", "Unknown, because the database does not answer.")


def replication() -> Component:
    """There is one machine."""
    return Component("replication", "disabled", "This server is one machine: nothing is replicated.")


def node_components(
    report: NodeReport | None, hostname: str, at: datetime, ends: Sequence[CertificateEnd] = ()
) -> list[Component]:
    """The components that the process `node` reports; degraded if there is no report of the last minute. `ends`: of
    the stored certificates.
    """
    if report is None or at - report.created_at > MAX_REPORT_AGE:
        advice = "The process node has not reported for a minute: see log/node.log."
        names = ("queue", "certificates", "dns", "probe", "antivirus", "dns_lists")
        return [Component(name, "degraded", advice) for name in names]
    served = certificates(report.certificate, at, report.certificates_problem, ends)
    names = dns(hostname, report.sending, report.dane_problem)
    filters = [antivirus(report.scanner), dns_lists(report.dns_lists)]
    waiting = queue(report.queue, report.queue_oldest_at)
    return [waiting, served, names, probe(report.probe, at), *filters]
