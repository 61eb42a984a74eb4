"""What the parts add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from mailkeep.core.clock import iso
from mailkeep.features.operations.health.model import Component, HealthCheck, ServerHealth, Status
from mailkeep.mail.daemons.node_report import Certificate, NodeReport, SendingAddress

_LEAST_FREE = 0.05
_LEAST_FREE_BYTES = 64 << 20
_LEAST_FREE_FILES = 0.02
_LONG_QUEUE = 1000
# A third of the lifetime is when a renewal is due; of a long-lived certificate the last three weeks.
_LAST_DAYS = timedelta(days=21)
_STALE = timedelta(minutes=1)


def overall_health(checks: Sequence[HealthCheck]) -> ServerHealth:
    """Down where a part without which nothing goes is down, degraded where any part is not ok."""
    worst: Status = "ok"
    for check in checks:
        if check.status == "down":
            worst = "down"
        elif check.status == "degraded" and worst == "ok":
            worst = "degraded"
    return ServerHealth(worst, checks)


def service_checks(running: Mapping[str, bool]) -> list[HealthCheck]:
    """A part that does not run is being started again: what needs it waits."""
    return [HealthCheck(name, "ok" if up else "degraded") for name, up in sorted(running.items())]


def disk(free: int, total: int) -> Status:
    """Degraded with less than 5 % free, down with less than 64 MiB: then no mail can be taken."""
    if free < _LEAST_FREE_BYTES:
        return "down"
    return "degraded" if free < total * _LEAST_FREE else "ok"


def disk_component(free: int, total: int, free_files: int, total_files: int) -> Component:
    """The data directory's disk; too few free inodes are as bad as too few bytes."""
    status = disk(free, total)
    if status == "ok" and total_files and free_files < total_files * _LEAST_FREE_FILES:
        status = "degraded"
    advice = None if status == "ok" else "Make room: on a full disk nothing is accepted, and mail is deferred."
    details = {"free_bytes": free, "total_bytes": total, "free_inodes": free_files, "total_inodes": total_files}
    return Component("disk", status, advice, details)


def certificates(found: Certificate | None, at: datetime) -> Component:
    """The certificate of the mail services: down once it has expired, degraded while a renewal is overdue or failed."""
    name = "certificates"
    if found is None:
        return Component(name, "degraded", "No certificate is served yet.")
    details = {"ends_at": iso(found.not_after), "self_signed": found.self_signed, "renewal_error": found.problem}
    if found.not_after <= at:
        return Component(
            name, "down", f"The certificate expired at {iso(found.not_after)}: replace its files.", details
        )
    if found.problem:
        advice = f"The renewed certificate is not served: {found.problem} The one before is served on."
        return Component(name, "degraded", advice, details)
    if found.not_after - at <= min(_LAST_DAYS, (found.not_after - found.not_before) / 3):
        return Component(name, "degraded", f"The certificate expires at {iso(found.not_after)}: renew it.", details)
    if found.self_signed:
        advice = "Mail programs do not trust a self-signed certificate: set tls.certificate_file and tls.key_file."
        return Component(name, "ok", advice, details)
    return Component(name, "ok", None, details)


def queue(counts: Mapping[str, int]) -> Component:
    """The mail server's queue: degraded from a thousand messages on; those on hold wait for an operator."""
    waiting = sum(count for name, count in counts.items() if name != "hold")
    advice = None
    if waiting >= _LONG_QUEUE:
        advice = f"{waiting} messages wait: `mailkeep queue list` shows why."
    return Component("queue", "degraded" if advice else "ok", advice, {"messages": waiting, **counts})


def sending_problem(found: SendingAddress, hostname: str) -> str | None:
    """What is wrong with the PTR record of an address that mail leaves from, and what to do; None: nothing."""
    match found.status:
        case "ok":
            return None
        case "missing":
            return f"{found.address} has no PTR record: ask the provider of the address to set it to {hostname}."
        case "mismatch":
            names = ", ".join(found.names)
            return (
                f"The PTR record of {found.address} is {names}, not server.hostname ({hostname}): change one of them."
            )
        case "unconfirmed":
            return f"{hostname} does not resolve to {found.address}: publish that A or AAAA record."
        case "dns_error":
            return f"The PTR record of {found.address} could not be looked up: check the name servers (dns.servers)."


def dns(hostname: str, sending: Sequence[SendingAddress] | None) -> Component:
    """The host's own name and the PTR records of its addresses; many servers refuse mail where they are wrong."""
    if not hostname:
        advice = "Set server.hostname to this server's full name, as its PTR record has it."
        return Component("dns", "degraded", advice, {"hostname": None, "addresses": []})
    shown = [{"address": each.address, "names": each.names, "status": each.status} for each in sending or ()]
    problems = [problem for each in sending or () if (problem := sending_problem(each, hostname))]
    details = {"hostname": hostname, "addresses": shown}
    return Component("dns", "degraded" if problems else "ok", " ".join(problems) or None, details)


def processes(name: str, running: Mapping[str, bool], needed: Sequence[str]) -> Component:
    """A component that is made of supervised processes: down while one of them does not run."""
    states = {each: running.get(each, False) for each in needed}
    away = [each for each, up in states.items() if not up]
    advice = f"Not running: {', '.join(away)}. They are started again; their logs say why." if away else None
    return Component(name, "down" if away else "ok", advice, {"processes": states})


def node_components(report: NodeReport | None, hostname: str, at: datetime) -> list[Component]:
    """What the node's agent tells; degraded where it has been silent for a minute."""
    if report is None or at - report.created_at > _STALE:
        advice = "The node's agent does not report: see log/node.log."
        return [Component(name, "degraded", advice) for name in ("queue", "certificates", "dns")]
    return [queue(report.queue), certificates(report.certificate, at), dns(hostname, report.sending)]
