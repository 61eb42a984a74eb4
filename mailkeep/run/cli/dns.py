"""The command that shows and checks DNS records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.output import (
    DONE,
    REFUSED,
    TRY_AGAIN,
    AsJson,
    CommandResult,
    DataDir,
    Line,
    MarkedLine,
    examples,
    open_app,
    run_command,
)

if TYPE_CHECKING:
    from mailkeep.app import App
    from mailkeep.features.directory.dns.model import DnsRecord
    from mailkeep.features.directory.dns_checks.model import RecordFinding
    from mailkeep.features.directory.dns_checks.service import CheckReport

_STYLES = {"ok": "green", "missing": "red", "mismatch": "red", "multiple": "red"}


def register(app: typer.Typer) -> None:
    """Add these commands."""
    lines = ("mailkeep dns example.com", "mailkeep dns example.com --check", "mailkeep dns --server --check --json")
    app.command("dns", epilog=examples(*lines))(dns)


def dns(
    domain: Annotated[str | None, typer.Argument(metavar="[DOMAIN]", help="A managed domain.")] = None,
    server: Annotated[bool, typer.Option("--server", help="The records of the server itself.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Look the records up now, and say what is wrong.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the DNS records that a domain, or the server, needs.

    Prints lines for a zone file. The server's name in them is the setting server.hostname, its addresses are
    server.addresses. With --check each record is looked up at every name server (dns.servers), and the problem and the
    advice are printed; the exit code is 1 if mail suffers, or if server.hostname is not set, and 75 if the name servers
    do not answer.
    """
    if (domain is None) != server:
        raise typer.BadParameter("name either a domain or --server")
    run_command(as_json, _dns(data_dir, domain, check))


async def _dns(data_dir: Path | None, name: str | None, check: bool) -> CommandResult:
    from mailkeep.core.address import AddressError, normalize_domain
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.dns import service as records
    from mailkeep.features.directory.dns_checks.rules import NO_HOSTNAME, SET_HOSTNAME

    try:
        name = name and normalize_domain(name)
    except AddressError as error:
        raise Failure(f"{name} is not a domain name: {error.reason}.", permanent=True) from None
    async with open_app(data_dir) as app:
        report = await _read(app, name, check)
        hostname = records.server_identity(app.settings).hostname
    data = {"hostname": hostname} | _to_data(report, name)
    lines = _to_lines(report, hostname is not None) if check else _to_zone([record for record, _ in report.records])
    if hostname is None:
        return CommandResult(data, [f"; {NO_HOSTNAME}", f"; {SET_HOSTNAME}", *lines], REFUSED if check else DONE)
    return CommandResult(data, lines, _exit_code(report) if check else DONE)


async def _read(app: App, name: str | None, check: bool) -> CheckReport:
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.dns_checks import service
    from mailkeep.features.directory.domains import service as domains

    domain = None
    if name is not None:
        async with app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, name)
        if domain is None:
            raise Failure(f"There is no domain {name} on this server.", permanent=True)
    if check:
        return await service.check_now(app, domain)
    return await (service.read_server(app) if domain is None else service.report_domain(app, domain))


def _to_data(report: CheckReport, name: str | None) -> dict[str, Any]:
    from mailkeep.core.clock import iso_or_none

    checked = report.check
    records = [
        {
            "purpose": record.purpose,
            "type": record.type,
            "name": record.name,
            "value": record.value,
            "required": record.required,
            "description": record.description,
            "status": finding.status,
            "found": list(finding.found),
            "problem": finding.problem,
            "advice": finding.advice,
        }
        for record, finding in report.records
    ]
    data = {"status": checked.status, "checked_at": iso_or_none(checked.checked_at), "records": records}
    return {"domain": name} | data if name else data | {"blocklists": list(checked.blocklists)}


def _to_zone(records: Sequence[DnsRecord]) -> list[str]:
    from mailkeep.features.directory.dns.rules import to_zone_file

    return to_zone_file("Records to publish", records).splitlines()


def _to_lines(report: CheckReport, has_hostname: bool) -> list[Line]:
    lines: list[Line] = []
    for record, finding in report.records:
        # Without a host name all findings say the same, which stands above them.
        lines += _describe(record, finding if has_hostname else replace(finding, problem=None, advice=None))
    for each in report.check.blocklists:
        style = "red" if each.status == "listed" else "green" if each.status == "not_listed" else "yellow"
        lines.append(MarkedLine(f"{each.status:12}", style, f"{each.address} in {each.zone}"))
        lines += _indent(each.problem, each.reason, each.advice, each.removal_url)
    return [*lines, f"Status: {report.check.status}."]


def _describe(record: DnsRecord, finding: RecordFinding) -> list[Line]:
    is_optional = not record.required and finding.status == "missing"
    style = "yellow" if is_optional else _STYLES.get(finding.status, "yellow")
    note = " (optional)" if is_optional else ""
    first = MarkedLine(f"{finding.status:11}", style, f"{record.type} {record.name}{note}")
    return [first, *_indent(finding.problem, finding.advice)]


def _indent(*texts: str | None) -> list[str]:
    return [f"            {text}" for text in texts if text]


def _exit_code(report: CheckReport) -> int:
    """0: mail works; 1: it suffers; 75: the name servers did not answer enough to tell."""
    from mailkeep.features.directory.dns_checks.rules import summarize

    status = summarize(report.records)
    return TRY_AGAIN if status is None else REFUSED if status == "failing" else DONE
