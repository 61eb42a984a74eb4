"""The checks of `mailkeep doctor` for the full profile: host name, PTR records, certificate, queue, probe.

The rules are those of `GET /health/details` (`features/operations/health/rules`).
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure
from mailkeep.db.instance import lock_holder, run_folder
from mailkeep.features.operations.health import rules
from mailkeep.features.operations.health.model import Component
from mailkeep.mail.daemons import nginx, node_report
from mailkeep.mail.daemons.node_report import Certificate
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.cli import inspection
from mailkeep.run.runtime import certificate, node_health, process, process_group, state
from mailkeep.run.runtime.finding import Finding, Level
from mailkeep.settings import Settings


async def run_checks(data_dir: Path, settings: Settings, at: datetime) -> list[Finding]:
    """The findings of all checks; call it only on a machine that can run the full profile."""
    paths = InstancePaths(data_dir, run_folder(data_dir)) if (data_dir / "postfix").is_dir() else None
    findings = [_check_hostname(settings), *await _check_sending_addresses(settings)]
    if paths:
        findings += [_check_certificate(settings, paths, at), _check_queue(paths), *_check_probe(paths, at)]
        findings += [*check_api_processes(settings, paths), *await _check_health(data_dir)]
        findings += _check_edge(settings, paths)
    elif settings.tls.certificate_file:
        findings.append(_check_first_certificate(settings, at))
    return findings


def _check_hostname(settings: Settings) -> Finding:
    name = "host name"
    if settings.server.hostname:
        return Finding(name, Level.OK, f"server.hostname is {settings.server.hostname}.")
    message = "server.hostname is not set: SMTP greetings use the system's host name."
    return Finding(name, Level.WARNING, message, "Set server.hostname to the name in this server's PTR record.")


async def _check_sending_addresses(settings: Settings) -> list[Finding]:
    findings: list[Finding] = []
    for sending in await node_health.find_sending_addresses(settings):
        problem = rules.sending_problem(sending, settings.server.hostname)
        name = f"PTR of {sending.address}"
        if problem is None:
            message = f"{sending.address} and {settings.server.hostname} resolve to each other."
            findings.append(Finding(name, Level.OK, message))
        else:
            message, _, advice = problem.partition(": ")
            findings.append(Finding(name, Level.WARNING, f"{message}.", advice[:1].upper() + advice[1:]))
    return findings


def _check_certificate(settings: Settings, paths: InstancePaths, at: datetime) -> Finding:
    name = "certificate"
    try:
        served = node_health.find_certificate(settings, paths.tls, at)
    except (OSError, Failure) as error:
        return Finding(name, Level.WARNING, f"The certificate can't be read: {error}", "Run the command as root.")
    if served is None:
        return Finding(name, Level.OK, "There is none yet; the first `mailkeep up --profile full` creates one.")
    return _to_finding(name, f"The certificate is valid until {iso(served.not_after)}.", rules.certificates(served, at))


def _check_edge(settings: Settings, paths: InstancePaths) -> list[Finding]:
    """Whether browsers find the dashboard at its names, and trust it."""
    name, hosts = "https", nginx.list_server_names(settings)
    if not settings.edge.enabled:
        return []
    if not settings.http.public_url.startswith("https://"):
        message = f"http.public_url is {settings.http.public_url}, but nginx serves {nginx.make_public_url(settings)}."
        return [
            Finding(
                name,
                Level.WARNING,
                message,
                "Set http.public_url to that in mailkeep.toml and restart: links and passkeys need it.",
            )
        ]
    try:
        missing = certificate.find_missing_names(paths.tls, hosts)
    except (OSError, Failure) as error:
        return [Finding(name, Level.WARNING, f"The certificate can't be read: {error}", "Run the command as root.")]
    if missing:
        message = f"The certificate is not for {', '.join(missing)}."
        ordered = settings.acme.enabled and not settings.tls.certificate_file
        advice = (
            "Run `mailkeep certificates renew server`; `mailkeep certificates list` shows what is wrong with a name."
            if ordered
            else "Set tls.certificate_file to one for all names of the server, or acme.enabled to order one."
        )
        return [Finding(name, Level.WARNING, message, advice)]
    return [Finding(name, Level.OK, f"nginx serves {', '.join(hosts)}, with a certificate for it.")]


def _check_first_certificate(settings: Settings, at: datetime) -> Finding:
    """Check the operator's files before the first start of the full profile."""
    name = "certificate"
    if not settings.tls.key_file:
        return Finding(name, Level.WRONG, "tls.key_file is not set.", "Set it to the certificate's private key.")
    try:
        begins, ends = certificate.find_validity(certificate.read_pair(settings))
    except Failure as failure:
        return Finding(name, Level.WRONG, str(failure), "Set tls.certificate_file and tls.key_file to a valid pair.")
    if begins > at:
        advice = "Set tls.certificate_file and tls.key_file to a valid pair, or correct the system clock."
        return Finding(name, Level.WRONG, f"The certificate is valid only from {iso(begins)}.", advice)
    valid = Certificate(begins, ends, self_signed=False, problem=None)
    return _to_finding(name, f"The certificate is valid until {iso(ends)}.", rules.certificates(valid, at))


def _check_queue(paths: InstancePaths) -> Finding:
    name = "queue"
    try:
        counts = postfix_queue.count_by_state(paths.postfix_queue)
    except OSError as error:
        return Finding(name, Level.WARNING, f"The queue can't be read: {error.strerror}.", "Run the command as root.")
    message = ", ".join(f"{count} {state}" for state, count in counts.items())
    return _to_finding(name, f"Messages in the queue: {message}.", rules.queue(counts))


def _check_probe(paths: InstancePaths, at: datetime) -> list[Finding]:
    """The last probe message of a running instance."""
    report = node_report.load(paths.run)
    if report is None or report.probe is None or at - report.created_at > rules.MAX_REPORT_AGE:
        return []
    result = report.probe
    message = {
        "ok": f"A message from port 25 was in a mailbox after {result.latency_ms or 0:.0f} ms.",
        "failed": "A message from port 25 did not arrive in a mailbox.",
        "not_checked": "No message was sent.",
    }[result.status]
    return [_to_finding("mail flow", message, rules.probe(result, at))]


async def _check_health(data_dir: Path) -> list[Finding]:
    """What a running instance says of its services and checks."""
    instance = state.read(data_dir) if lock_holder(data_dir) is not None else None
    if instance is None:
        return []
    health = await inspection.fetch_health(instance.http)
    wrong = [f"{each.component} ({each.status})" for each in health.checks if each.status in ("down", "degraded")]
    if health.status == "ok":
        return [Finding("health", Level.OK, "The running instance reports that it is in order.")]
    message = f"Not in order: {', '.join(wrong)}." if wrong else f"The API reports the health {health.status}."
    advice = (
        "The dashboard says what to do (Insight, Health). `mailkeep orchestrator service start NAME` starts a service "
        "that was stopped by command."
    )
    return [Finding("health", Level.WRONG, message, advice)]


def check_api_processes(settings: Settings, paths: InstancePaths) -> list[Finding]:
    """The processes that serve the API of a running instance."""
    parent = process.find_ready_pid(paths.run, "api")
    wanted = process_group.count_processes(settings.http.processes)
    if parent is None or wanted == 1 or not (pids := process_group.list_processes(parent)):
        return []
    message = f"{len(pids)} of {wanted} processes serve the API."
    if len(pids) == wanted:
        return [Finding("API", Level.OK, message)]
    advice = f"If http.processes was changed, restart the service api; else see {paths.log / 'api.log'}."
    return [Finding("API", Level.WARNING, message, advice)]


def _to_finding(name: str, message: str, component: Component) -> Finding:
    level = {"down": Level.WRONG, "degraded": Level.WARNING}.get(component.status, Level.OK)
    return Finding(name, level, message, component.advice)
