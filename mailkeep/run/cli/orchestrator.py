"""`mailkeep orchestrator`: the state of all services, edits of configuration by hand, and operations on services."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mailkeep.run.cli.output import (
    DONE,
    REFUSED,
    AsJson,
    CommandResult,
    DataDir,
    Line,
    StyledLine,
    examples,
    open_instance,
    print_lines,
    run_command,
    table,
)

if TYPE_CHECKING:
    from mailkeep.app import App
    from mailkeep.features.operations.orchestrator.model import (
        ApplyRefusal,
        ApplyRequest,
        ConfigurationPlan,
        DriftedFile,
        Operation,
        Overview,
        ServiceAction,
        Step,
    )

CHANGES = 2
"""The exit code of `plan --detailed-exitcode` if something would change."""
_WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.2
_STYLES = {"+": "green", "-": "red", "@": "cyan"}

Watch = Annotated[
    int, typer.Option("--watch", min=5, max=600, help="How long to watch the services afterwards, in seconds.")
]
ServiceName = Annotated[str, typer.Argument(metavar="NAME", help="A service, as `status` lists it.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    orchestrator = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Daemons and processes, and their configuration.",
    )
    add = orchestrator.command
    add("status", epilog=examples("mailkeep orchestrator status", "mailkeep orchestrator status --json"))(status)
    add("plan", epilog=examples("mailkeep orchestrator plan", "mailkeep orchestrator plan --detailed-exitcode --json"))(
        plan
    )
    add(
        "apply",
        epilog=examples(
            "mailkeep orchestrator apply",
            "mailkeep orchestrator apply --yes --watch 60",
            "mailkeep orchestrator apply --adopt-drift postfix/main.cf",
        ),
    )(apply)
    add("rollback", epilog=examples("mailkeep orchestrator rollback 12"))(rollback)
    add("confirm", epilog=examples("mailkeep orchestrator confirm"))(confirm)
    add("drift", epilog=examples("mailkeep orchestrator drift"))(drift)
    add("operations", epilog=examples("mailkeep orchestrator operations --limit 5"))(operations)
    add(
        "service",
        epilog=examples(
            "mailkeep orchestrator service restart dovecot", "mailkeep orchestrator service reload postfix"
        ),
    )(service)
    app.add_typer(orchestrator, name="orchestrator")


def status(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List all services."""
    run_command(as_json, _status(data_dir))


def plan(
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit code 2 if something would change.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what the newest settings would change in the daemons' configuration; exit code 1 if a check fails."""
    run_command(as_json, _plan(data_dir, detailed_exitcode))


def apply(
    yes: Annotated[bool, typer.Option("--yes", help="Apply without a question.")] = False,
    watch_seconds: Watch = 30,
    overwrite_drift: Annotated[
        list[str] | None, typer.Option("--overwrite-drift", help="A file (SERVICE/PATH) whose edit by hand is dropped.")
    ] = None,
    adopt_drift: Annotated[
        list[str] | None,
        typer.Option("--adopt-drift", help="A file (SERVICE/PATH) whose edit by hand becomes settings (overlays.*)."),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Apply the newest settings to the daemons, and watch them; what fails is rolled back.

    Shows the plan and asks, unless `--yes` is given; without a terminal it must be given. A change of ports must be
    confirmed within 120 seconds with `mailkeep orchestrator confirm` in another shell.
    """
    from mailkeep.features.operations.orchestrator.model import ApplyRequest

    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask on, so --yes must be given. `plan` shows the plan.")
    request = ApplyRequest("", watch_seconds, overwrite_drift or [], adopt_drift or [])
    run_command(as_json, _apply(data_dir, yes, request, shows_steps=not as_json and sys.stderr.isatty()))


def rollback(
    generation: Annotated[int, typer.Argument(min=1, help="A generation, as `status` lists them.")],
    watch_seconds: Watch = 30,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Apply the settings of an earlier generation, and watch the daemons."""
    run_command(as_json, _roll_back(data_dir, generation, watch_seconds, not as_json and sys.stderr.isatty()))


def confirm(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Confirm an apply that changes ports. If the HTTPS listener changes, confirm it in a browser at its new URL."""
    run_command(as_json, _confirm(data_dir))


def drift(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show which files of the daemons' configuration were edited by hand; exit code 1 if any."""
    run_command(as_json, _drift(data_dir))


def operations(
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number, newest first.")] = 20,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List operations on services."""
    run_command(as_json, _operations(data_dir, limit))


def service(
    action: Annotated[Literal["start", "stop", "restart", "reload"], typer.Argument(help="What to do.")],
    name: ServiceName,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Start, stop, restart or reload a service, and wait until it is done.

    A stopped service stays stopped until it is started again, or until the next start of Mailkeep.
    """
    run_command(as_json, _act(data_dir, action, name, as_json))


async def _status(data_dir: Path | None) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.core.clock import iso_or_none
    from mailkeep.features.operations.orchestrator import service as orchestrator

    async with open_instance(data_dir) as app:
        overview = await orchestrator.read_overview(app)
    overview = _name_process(overview, data_dir)
    lines = table(
        ["SERVICE", "STATE", "PID", "SINCE", "VERSION", "RESTARTS", "MEMORY"],
        [
            [
                each.name + (" (edited by hand)" if each.drift else ""),
                each.state,
                str(each.pid or "-"),
                iso_or_none(each.since) or "-",
                each.version,
                str(each.restarts),
                f"{each.memory_bytes >> 20} MB" if each.memory_bytes else "-",
            ]
            for each in overview.services
        ],
    )
    generation = [f"Configuration: generation {overview.generation.n}"] if overview.generation else []
    generation += [f"Kept: {', '.join(str(each.n) for each in overview.generations)}"] if overview.generations else []
    return CommandResult(to_builtins(overview), [*lines, *generation])


def _name_process(overview: Overview, data_dir: Path | None) -> Overview:
    """The embedded profile's one process is that of the instance, not of this command."""
    from dataclasses import replace

    from mailkeep.run.runtime import state
    from mailkeep.run.runtime.context import resolve_data_dir

    instance = state.read(resolve_data_dir(data_dir))
    if instance is None or instance.profile == "full":
        return overview
    return replace(overview, services=[replace(each, pid=instance.pid) for each in overview.services])


async def _plan(data_dir: Path | None, detailed_exitcode: bool) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.features.operations.orchestrator import service as orchestrator

    async with open_instance(data_dir) as app:
        made = await orchestrator.make_plan(app)
    failed = any(not check.ok for check in made.checks)
    code = REFUSED if failed else CHANGES if _has_changes(made) and detailed_exitcode else DONE
    return CommandResult(to_builtins(made), describe_plan(made), code)


def _has_changes(made: ConfigurationPlan) -> bool:
    return bool(made.settings) or any(file.change != "drifted" for file in made.files)


def describe_plan(made: ConfigurationPlan) -> list[Line]:
    """A plan for people: failed checks first."""
    failed = [check for check in made.checks if not check.ok]
    lines: list[Line] = [StyledLine(f"The check of {each.service} fails: {each.output}", "bold red") for each in failed]
    lines.append(f"Settings: revision {made.base} -> {made.target}")
    for file in made.files:
        lines += [f"{file.change} {file.service}/{file.path}", *_colour(file.diff)]
    for action in made.actions:
        lines.append(
            f"{action.service}: {action.action} ({', '.join(action.because)}). {action.interrupts or ''}".rstrip()
        )
    lines += [f"Takes effect: {key}" for key in made.settings] + list(made.warnings)
    if not _has_changes(made):
        lines.append("Nothing would change.")
    return lines


async def _apply(data_dir: Path | None, yes: bool, request: ApplyRequest, shows_steps: bool) -> CommandResult:
    from dataclasses import replace

    if twice := set(request.overwrite_drift) & set(request.adopt_drift):
        raise typer.BadParameter(f"--overwrite-drift and --adopt-drift both name {', '.join(sorted(twice))}.")
    from mailkeep.features.operations.orchestrator import service as orchestrator
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        made = await orchestrator.make_plan(app)
        if not yes:
            print_lines(describe_plan(made), sys.stderr)
            typer.confirm("Apply this plan?", abort=True, err=True)
        started = await orchestrator.request_apply(app, cli_principal(), replace(request, plan_id=made.id))
        return await _wait_for(app, started, request.watch_seconds, shows_steps)


async def _roll_back(data_dir: Path | None, generation: int, watch_seconds: int, shows_steps: bool) -> CommandResult:
    from mailkeep.features.operations.orchestrator import service as orchestrator
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        operation = await orchestrator.request_rollback(app, cli_principal(), generation, watch_seconds)
        return await _wait_for(app, operation, watch_seconds, shows_steps)


async def _confirm(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.operations.orchestrator import service as orchestrator
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        operation_id = await orchestrator.confirm(app, cli_principal())
    return CommandResult({"operation_id": str(operation_id)}, ["Confirmed."])


def _colour(diff: str) -> list[Line]:
    return [StyledLine(line, _STYLES[line[0]]) if line[:1] in _STYLES else line for line in diff.splitlines()]


async def _drift(data_dir: Path | None) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.core.clock import iso_or_none
    from mailkeep.features.operations.orchestrator import service as orchestrator

    async with open_instance(data_dir) as app:
        files = await orchestrator.list_drift(app)
    lines: list[Line] = []
    for file in files:
        lines.append(
            f"{file.service}/{file.path} was {file.kind}"
            + (f" at {iso_or_none(file.changed_at)}" if file.changed_at else "")
        )
        lines += _colour(file.diff)
        lines += _describe_adoption(file)
    code = REFUSED if files else DONE
    return CommandResult({"files": to_builtins(files)}, lines or ["No file was edited by hand."], code)


def _describe_adoption(file: DriftedFile) -> list[str]:
    adoption = file.adoption
    if adoption.refused:
        return ["Can't be adopted into the settings:", *(f"  {reason}" for reason in adoption.refused)]
    lines = [f"  {line}" for line in adoption.lines.splitlines()]
    return [f"Can be adopted: {adoption.setting} then has {'these lines:' if lines else 'no lines.'}", *lines]


async def _operations(data_dir: Path | None, limit: int) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.core.clock import iso
    from mailkeep.core.page import PageRequest
    from mailkeep.features.operations.orchestrator import service as orchestrator

    async with open_instance(data_dir) as app:
        page = await orchestrator.page(app, PageRequest(limit, "created_at", "desc", None))
    rows = page.rows
    lines = table(
        ["CREATED", "ID", "OPERATION", "STATE", "AUTHOR", "ERROR"],
        [
            [iso(each.created_at), each.id, each.title, _describe_state(each), each.author, each.error or ""]
            for each in rows
        ],
    )
    return CommandResult({"operations": to_builtins(rows), "more": page.next_key is not None}, lines)


def _describe_state(operation: Operation) -> str:
    from mailkeep.core.clock import iso

    until = operation.awaited_until
    return f"waits for your confirmation until {iso(until)}" if until else operation.state.replace("_", " ")


async def _act(data_dir: Path | None, action: ServiceAction, name: str, as_json: bool) -> CommandResult:
    from mailkeep.features.operations.orchestrator import service as orchestrator
    from mailkeep.features.operations.orchestrator.rules import describe_consequence
    from mailkeep.run.cli.accounts import cli_principal

    async with open_instance(data_dir) as app:
        operation = await orchestrator.request_action(app, cli_principal(), name, action)
        if not as_json:
            typer.echo(describe_consequence(name, action), err=True)
        return await _wait_for(app, operation)


async def _wait_for(
    app: App, started: Operation | ApplyRefusal, watch_seconds: int = 0, shows_steps: bool = False
) -> CommandResult:
    """The result of an operation, or why it did not begin. `shows_steps`: print each step as it ends."""
    import asyncio

    from msgspec import to_builtins

    from mailkeep.core.errors import Conflict, Failure
    from mailkeep.features.operations.orchestrator import service as orchestrator
    from mailkeep.features.operations.orchestrator.model import ApplyRefusal

    if isinstance(started, ApplyRefusal):
        output = [f"{check.service}: {check.output}" for check in started.checks]
        details = {name: value for name, value in to_builtins(started).items() if value and name != "text"}
        if started.reason == "drifted":
            file = started.files[0]
            output.append(f"Drop an edit with --overwrite-drift {file}, or adopt it with --adopt-drift {file}.")
        raise Conflict("\n".join([started.text, *output]), **details)
    operation, is_announced, shown = started, False, 0
    try:
        async with asyncio.timeout(_WAIT_SECONDS * 3 + watch_seconds):
            while operation.state == "running":
                await asyncio.sleep(_POLL_SECONDS)
                operation = await orchestrator.find(app, operation.id)
                if shows_steps:
                    shown += _print_ended(operation.steps[shown:])
                if operation.awaited_until and not is_announced:
                    text = "If the new ports answer, run `mailkeep orchestrator confirm` in another shell."
                    if operation.confirm_url:
                        text = f"Sign in at {operation.confirm_url}, and confirm it there (Services)."
                    typer.echo(f"{operation.title} {_describe_state(operation)}. {text}", err=True)
                    is_announced = True
    except TimeoutError:
        raise Failure("The operation is still running: see `mailkeep orchestrator operations`.") from None
    code = DONE if operation.state == "succeeded" else REFUSED
    line = f"{operation.title}: {_describe_state(operation)}" + (f": {operation.error}" if operation.error else "")
    if operation.kind == "apply" and operation.state == "rolled_back":
        line += "\nThe settings stay stored: change them, or remove them with `mailkeep config unset KEY`."
    return CommandResult(to_builtins(operation), [line], code)


def _print_ended(steps: Sequence[Step]) -> int:
    """Print the first steps that have ended; their number."""
    ended = list(takewhile(lambda step: step.state != "running", steps))
    for step in ended:
        seconds = (step.finished_at - step.started_at).total_seconds() if step.finished_at else 0
        typer.echo(f"{step.name}: {step.state} ({seconds:.1f} s)", err=True)
    return len(ended)
