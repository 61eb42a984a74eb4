"""The overall status, and the status and advice of components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from mailkeep.core.clock import iso
from mailkeep.features.operations.health.model import Component, HealthCheck, ServerHealth, State, Status
from mailkeep.mail.daemons.node_report import (
    Certificate,
    DnsListStatus,
    NodeReport,
    ProbeResult,
    ScannerStatus,
    SendingAddress,
)

_MIN_FREE = 0.05
_MIN_FREE_BYTES = 64 << 20
_MIN_FREE_FILES = 0.02
_LONG_QUEUE = 1000
# Renewal is due in the last third of the lifetime, but at most 21 days before the end.
_RENEWAL_DAYS = timedelta(days=21)
MAX_REPORT_AGE = timedelta(minutes=1)
_MAX_PROBE_AGE = timedelta(minutes=5)


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


def disk(free: int, total: int) -> Status:
    """Degraded with less than 5 % of free space; down with less than 64 MiB: no mail can be accepted."""
    if free < _MIN_FREE_BYTES:
        return "down"
    return "degraded" if free < total * _MIN_FREE else "ok"


def disk_component(free: int, total: int, free_files: int, total_files: int) -> Component:
    """The disk of the data directory: free bytes and inodes."""
    status = disk(free, total)
    if status == "ok" and total_files and free_files < total_files * _MIN_FREE_FILES:
        status = "degraded"
    advice = (
        None
        if status == "ok"
        else "Free up disk space: with a full disk no mail is accepted, and deliveries are deferred."
    )
    details = {"free_bytes": free, "total_bytes": total, "free_inodes": free_files, "total_inodes": total_files}
    return Component("disk", status, advice, details)


def certificates(certificate: Certificate | None, at: datetime, problem: str | None = None) -> Component:
    """The certificate of the mail services: down once it has expired, degraded while a renewal is overdue or failed,
    also of the certificates of domains (`problem`).
    """
    name = "certificates"
    if certificate is None:
        return Component(name, "degraded", "No certificate is in use yet: see log/node.log.")
    ends_at = iso(certificate.not_after)
    details = {"ends_at": ends_at, "self_signed": certificate.self_signed, "renewal_error": certificate.problem}
    if certificate.not_after <= at:
        advice = f"The certificate expired at {ends_at}: renew it, or replace the files in tls.certificate_file."
        return Component(name, "down", advice, details)
    if certificate.problem:
        advice = f"The renewed certificate can't be used: {certificate.problem} The previous one stays in use."
        return Component(name, "degraded", advice, details)
    if problem:
        return Component(name, "degraded", f"{problem} `mailkeep certificates list` shows the reasons.", details)
    if certificate.not_after - at <= min(_RENEWAL_DAYS, (certificate.not_after - certificate.not_before) / 3):
        return Component(name, "degraded", f"The certificate expires at {ends_at}: renew it.", details)
    if certificate.self_signed:
        advice = (
            "Mail clients do not trust the self-signed certificate: set acme.enabled, or tls.certificate_file and "
            "tls.key_file (docs/howto/certificates.md)."
        )
        return Component(name, "ok", advice, details)
    return Component(name, "ok", None, details)


def queue(counts: Mapping[str, int]) -> Component:
    """The mail server's queue: degraded from 1000 messages, not counting those on hold."""
    waiting = sum(count for name, count in counts.items() if name != "hold")
    advice = None
    if waiting >= _LONG_QUEUE:
        advice = f"{waiting} messages are waiting: `mailkeep queue list` shows the reasons."
    return Component("queue", "degraded" if advice else "ok", advice, {"messages": waiting, **counts})


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
        advice = f"Mail does not arrive, or nobody can log in: {result.problem} See log/mail.log and log/dovecot.log."
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
    advice = f"Not running: {', '.join(down)}. The supervisor restarts them; see the folder log." if down else None
    return Component(name, "down" if down else "ok", advice, {"processes": states})


def with_filter_problem(component: Component, report: NodeReport | None) -> Component:
    """The component `filter` with what the process `node` has found: degraded if a part does not answer."""
    if component.name != "filter" or component.status != "ok" or report is None or not report.filter_problem:
        return component
    return replace(component, status="degraded", advice=report.filter_problem)


def node_components(report: NodeReport | None, hostname: str, at: datetime) -> list[Component]:
    """The components that the process `node` reports; degraded if there is no report of the last minute."""
    if report is None or at - report.created_at > MAX_REPORT_AGE:
        advice = "The process node has not reported for a minute: see log/node.log."
        names = ("queue", "certificates", "dns", "probe", "antivirus", "dns_lists")
        return [Component(name, "degraded", advice) for name in names]
    served = certificates(report.certificate, at, report.certificates_problem)
    names = dns(hostname, report.sending, report.dane_problem)
    filters = [antivirus(report.scanner), dns_lists(report.dns_lists)]
    return [queue(report.queue), served, names, probe(report.probe, at), *filters]
