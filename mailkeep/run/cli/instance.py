"""Commands about the running instance: up, down, status, doctor."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from mailkeep.core.errors import Failure
from mailkeep.run.cli.output import (
    DONE,
    REFUSED,
    TRY_AGAIN,
    AsJson,
    CommandResult,
    DataDir,
    MarkedLine,
    columns,
    examples,
    report_errors,
    run_command,
    to_json,
)

if TYPE_CHECKING:
    from mailkeep.run.runtime.service_status import ServiceStatus

_DOWN_SECONDS = 15.0

DataDirToStart = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="The data directory. Default: ./data; profile full: /var/lib/mailkeep."
    ),
]
Listen = Annotated[str | None, typer.Option("--http", metavar="HOST:PORT", help="Address of the API (http.listen).")]
ListenSmtp = Annotated[
    str | None, typer.Option("--smtp", metavar="HOST:PORT", help="Address of the SMTP listener (smtp.listen).")
]
ListenInternal = Annotated[
    str | None, typer.Option("--internal", metavar="HOST:PORT", help="Address of the metrics (http.internal).")
]


Profile = Annotated[
    Literal["embedded", "full"], typer.Option("--profile", help="One process for development, or a real mail server.")
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(
        "up",
        epilog=examples(
            "mailkeep up",
            "mailkeep up --data-dir /srv/mail --http 127.0.0.1:9090 --smtp 127.0.0.1:9025",
            "mailkeep up --profile full",
        ),
    )(up)
    app.command(
        "install", epilog=examples("mailkeep install --dry-run", "mailkeep install", "mailkeep install --antivirus")
    )(install)
    app.command("down", epilog=examples("mailkeep down --data-dir /srv/mail"))(down)
    app.command("status", epilog=examples("mailkeep status", "mailkeep status --json"))(status)
    app.command(
        "doctor",
        epilog=examples(
            "mailkeep doctor --data-dir /srv/mail",
            "mailkeep doctor --ports",
            "mailkeep doctor --ports --host mx.example.com",
        ),
    )(doctor)


def up(
    data_dir: DataDirToStart = None,
    http: Listen = None,
    smtp: ListenSmtp = None,
    internal: ListenInternal = None,
    profile: Profile = "embedded",
    as_json: AsJson = False,
) -> None:
    """Start Mailkeep in the foreground.

    Stop it with Ctrl-C, SIGTERM or `mailkeep down`. Port 0 means any free port. With --json it prints one object with
    the addresses once it accepts connections. The profile `full` is a real mail server: run it as root, after
    `mailkeep install`; its ports are settings (`ports.*`).
    """
    options = {"http.listen": http, "smtp.listen": smtp, "http.internal": internal}
    with report_errors(as_json):
        from mailkeep.run.runtime import upgrade_guard
        from mailkeep.run.runtime.context import data_dir_to_start

        if profile == "full":
            from mailkeep.run.profiles import full as instance
        else:
            from mailkeep.run.profiles import embedded as instance

        path = data_dir_to_start(data_dir, profile)
        with contextlib.redirect_stdout(_StateOutput(path, sys.stdout)) if as_json else contextlib.nullcontext():
            code = instance.run(path, {key: text for key, text in options.items() if text is not None})
        upgrade_guard.become_guard(path)
        raise typer.Exit(code)


def install(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")] = False,
    antivirus: Annotated[bool, typer.Option("--antivirus", help="With ClamAV, for filter.antivirus.")] = False,
    webmail: Annotated[bool, typer.Option("--webmail", help="With Roundcube, for webmail.enabled.")] = False,
    as_json: AsJson = False,
) -> None:
    """Install what the full profile needs: Debian packages and system accounts.

    Needs root. Starts nothing, and changes neither Debian's configuration nor what is already installed.
    """
    run_command(as_json, _install(dry_run, antivirus=antivirus, webmail=webmail))


def down(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Stop the running Mailkeep.

    Waits for at most 15 seconds until it has stopped. The exit code is 0 if it was not running.
    """
    run_command(as_json, _down(data_dir))


def status(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show whether Mailkeep is running, and its health.

    Exit codes: 0 running and healthy, 1 not running, 75 starting or not healthy.
    """
    run_command(as_json, _status(data_dir))


def doctor(
    ports: Annotated[
        bool, typer.Option("--ports", help="Instead: test the ports that others must reach, with Mailkeep running.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="ADDRESS", help="With --ports: also test from this address of the machine."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="NAME", help="With --ports: test this server from here; no instance has to be here."
        ),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Check what Mailkeep needs, and advise how to fix problems.

    Changes nothing. Mailkeep may be running or not; if not, its database is started for the checks. With --host the
    ports are those of this machine's settings, or the defaults.
    """
    if (source or host) and not ports:
        raise typer.BadParameter("--from and --host need --ports")
    run_command(as_json, _doctor_ports(data_dir, host, source) if ports else _doctor(data_dir))


class _StateOutput(io.TextIOBase):
    """Replaces standard output for `up --json`: text goes to standard error, and once the instance has written its
    state, the state goes to `stdout` as JSON.
    """

    def __init__(self, data_dir: Path, stdout: TextIO) -> None:
        self._data_dir, self._stdout, self._is_printed = data_dir, stdout, False

    def write(self, text: str, /) -> int:
        import os

        from mailkeep.features.access.admins.model import INITIAL_ADMIN_FILE
        from mailkeep.run.runtime import state

        instance = None if self._is_printed else state.read(self._data_dir)
        if instance and instance.pid == os.getpid():
            self._is_printed = True
            password_file = self._data_dir / INITIAL_ADMIN_FILE
            data: dict[str, Any] = asdict(instance) | {
                "data_dir": str(self._data_dir),
                "initial_admin_file": str(password_file) if password_file.exists() else None,
            }
            print(to_json(data), file=self._stdout, flush=True)
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


async def _install(dry_run: bool, *, antivirus: bool, webmail: bool) -> CommandResult:
    from mailkeep.run.cli import install as installation

    plan = (installation.make_plan if dry_run else installation.install)(antivirus=antivirus, webmail=webmail)
    data = {"dry_run": dry_run, "packages": list(plan.packages), "accounts": list(plan.accounts)}
    lines = [f"{'Would' if dry_run else 'Done:'} {step}" for step in plan.steps]
    lines = lines or ["Everything that the full profile needs is installed."]
    return CommandResult(data, [*lines, installation.ANTIVIRUS_COSTS] if antivirus else lines)


async def _down(data_dir: Path | None) -> CommandResult:
    import os
    import select
    import signal

    from mailkeep.db.instance import lock_holder
    from mailkeep.run.runtime.context import resolve_data_dir

    path = resolve_data_dir(data_dir)
    pid = lock_holder(path)
    try:
        process_handle = os.pidfd_open(pid) if pid else None
    except ProcessLookupError:
        process_handle = None
    if process_handle is None or lock_holder(path) != pid:
        return CommandResult({"was_running": False, "pid": None}, [f"Mailkeep is not running on {path}."])
    with contextlib.closing(os.fdopen(process_handle, "rb", buffering=0)):
        try:
            signal.pidfd_send_signal(process_handle, signal.SIGTERM)
        except PermissionError:
            raise Failure(f"Process {pid} belongs to another account: run this as root.", permanent=True) from None
        except ProcessLookupError:
            pass
        if not select.select([process_handle], [], [], _DOWN_SECONDS)[0]:
            raise Failure(f"Mailkeep (process {pid}) still runs {_DOWN_SECONDS:.0f} s after SIGTERM; see its log.")
    return CommandResult({"was_running": True, "pid": pid}, [f"Mailkeep (process {pid}) has stopped."])


async def _status(data_dir: Path | None) -> CommandResult:
    from mailkeep.db.instance import lock_holder, run_folder
    from mailkeep.mail.daemons import node_report
    from mailkeep.run.cli import inspection
    from mailkeep.run.runtime import service_status, state
    from mailkeep.run.runtime.context import resolve_data_dir

    path = resolve_data_dir(data_dir)
    pid, instance = lock_holder(path), state.read(path)
    if pid is None:
        result: dict[str, Any] = {"running": False, "data_dir": str(path)}
        return CommandResult(result, [f"Mailkeep is not running on {path}."], REFUSED)
    if instance is None:
        result = {"running": False, "data_dir": str(path), "pid": pid}
        return CommandResult(
            result, [f"Mailkeep is starting, or a command is using {path} (process {pid})."], TRY_AGAIN
        )
    database_problem = await inspection.find_database_problem(path)
    health = await inspection.fetch_health(instance.http)
    memory = inspection.tree_memory_bytes(instance.pid)
    services = service_status.list_services(run_folder(path)) if instance.profile == "full" else []
    report = node_report.load(run_folder(path)) if instance.profile == "full" else None
    is_self_signed = bool(report and report.certificate and report.certificate.self_signed)
    result = {
        "running": True,
        "data_dir": str(path),
        **asdict(instance),
        "database": {"up": database_problem is None, "error": database_problem},
        "memory_bytes": memory,
        "health": asdict(health),
        "services": [asdict(service) for service in services],
        "self_signed": is_self_signed,
    }
    lines = [
        f"Mailkeep {instance.version} is running on {path}: process {instance.pid}, since {instance.started_at}.",
        f"  API       {instance.http}",
        f"  SMTP      {instance.smtp}",
        f"  internal  {instance.internal}",
        f"  database  {'up' if database_problem is None else f'not available: {database_problem}'}",
        f"  memory    {'unknown' if memory is None else f'{memory / 2**20:.0f} MiB'}",
        *(["  TLS       a self-signed certificate, which mail clients do not trust"] if is_self_signed else []),
        f"  health    {health.status}",
        *(f"    {line}" for line in columns([[check.component, check.status] for check in health.checks])),
        *(f"  {line}" for line in columns([_describe(service) for service in services])),
    ]
    is_healthy = database_problem is None and health.status == "ok" and all(service.pid for service in services)
    return CommandResult(result, lines, DONE if is_healthy else TRY_AGAIN)


def _describe(service: ServiceStatus) -> tuple[str, str, str]:
    if not service.pid:
        return service.name, service.version, "not running"
    others = f" and {service.processes - 1} more" if service.processes > 1 else ""
    return service.name, service.version, f"process {service.pid}{others}, {service.memory_bytes / 2**20:.0f} MiB"


async def _doctor_ports(data_dir: Path | None, host: str | None, source: str | None) -> CommandResult:
    from mailkeep.run.cli.doctor_ports import examine
    from mailkeep.run.runtime.context import resolve_data_dir

    report = await examine(resolve_data_dir(data_dir), host, source)
    needs = {(each.service, each.port): each for each in report.ports}
    lines: list[str | MarkedLine] = []
    for each in report.results:
        port = needs[each.service, each.port]
        style = "green" if each.status == "open" else "yellow" if port.need == "optional" else "bold red"
        place = f"[{each.address}]" if ":" in each.address else each.address
        text = f"{each.seen_from}: {each.service} {place}:{each.port}, {port.purpose} ({port.need}): {each.detail}"
        lines.append(MarkedLine(f"{each.status:13}", style, text))
    closed = report.list_closed()
    lines += [*report.notes, f"Not open: {len(closed)} of {len(report.results)}." if closed else "No problems found."]
    data = {
        "ok": not closed,
        "ports": [
            {"service": each.service, "port": each.port, "need": each.need, "purpose": each.purpose}
            for each in report.ports
        ],
        "results": [asdict(each) for each in report.results],
        "notes": report.notes,
    }
    return CommandResult(data, lines, REFUSED if closed else DONE)


async def _doctor(data_dir: Path | None) -> CommandResult:
    from mailkeep.run.cli.doctor_checks import Level, run_checks
    from mailkeep.run.runtime.context import resolve_data_dir

    path = resolve_data_dir(data_dir)
    findings = await run_checks(path)
    styles = {Level.OK: "green", Level.WARNING: "yellow", Level.WRONG: "bold red"}
    lines: list[str | MarkedLine] = []
    for finding in findings:
        text = f"{finding.check}: {finding.message}"
        lines.append(MarkedLine(f"{finding.level.value:8}", styles[finding.level], text))
        lines += [f"         → {finding.advice}"] if finding.advice else []
    problems = sum(finding.level is Level.WRONG for finding in findings)
    lines.append(f"{problems} of {len(findings)} checks found a problem." if problems else "No problems found.")
    data = {"data_dir": str(path), "ok": not problems, "checks": [asdict(finding) for finding in findings]}
    return CommandResult(data, lines, REFUSED if problems else DONE)
