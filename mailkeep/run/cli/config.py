"""`mailkeep config`: shows and changes the settings, with and without a running server."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mailkeep.core.errors import FieldError, InvalidField
from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, Line, examples, open_app, run_command, table

if TYPE_CHECKING:
    from mailkeep.app import App
    from mailkeep.features.operations.configuration.model import ConfigChange

_STATES = {"applied": "in effect", "desired": "not applied yet", "superseded": "replaced"}
"""The states of a revision in words, as in the dashboard."""

Comment = Annotated[str, typer.Option("--comment", help="Why, for the history.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check the change and show the plan, and store nothing.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    config = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Settings.")
    config.command("show", epilog=examples("mailkeep config show --changed", "mailkeep config show --json"))(show)
    config.command(
        "set",
        epilog=examples(
            "mailkeep config set abuse.sender_per_hour=500 filter.spam_score=7",
            "mailkeep config set outbound.relay_password=- < password.txt",
            "mailkeep config set 'dns.servers=[\"192.0.2.53\"]' --dry-run",
        ),
    )(set_values)
    config.command("unset", epilog=examples("mailkeep config unset auth.allowed_networks"))(unset)
    config.command("history", epilog=examples("mailkeep config history", "mailkeep config history --limit 5"))(history)
    config.command("rollback", epilog=examples("mailkeep config rollback 3", "mailkeep config rollback 0"))(rollback)
    app.add_typer(config, name="config")


def show(
    data_dir: DataDir = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Show the defaults instead of the current values.")
    ] = False,
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that are not the default.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every setting and where it comes from.

    Secrets are masked. The output is valid in mailkeep.toml.
    """
    if defaults and changed:
        raise typer.BadParameter("--defaults and --changed exclude each other.")
    run_command(as_json, _show(data_dir, defaults, changed))


def set_values(
    assignments: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE...", help="Text as it is, other values in JSON; -: standard input."),
    ],
    comment: Comment = "",
    dry_run: DryRun = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Store settings in the database.

    They win over mailkeep.toml and the environment; a setting that one of these sets can't be stored. Running processes
    take over most changes at once; the command says which apply with the next apply or start. `--dry-run` shows the
    plan: which files would change, and what the services would do.
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} is not KEY=VALUE, such as filter.spam_score=7.")
        changes[key] = _value(key, sys.stdin.read().rstrip("\r\n") if text == "-" else text)
    run_command(as_json, _change(data_dir, changes, comment, dry_run))


def unset(
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="Settings, such as abuse.sender_per_hour.")],
    comment: Comment = "",
    dry_run: DryRun = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Remove settings from the database.

    The value of the environment, of mailkeep.toml or the default applies again.
    """
    run_command(as_json, _change(data_dir, dict.fromkeys(keys), comment, dry_run))


def history(
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number, newest first.")] = 20,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the revisions of the stored settings."""
    run_command(as_json, _history(data_dir, limit))


def rollback(
    number: Annotated[int, typer.Argument(metavar="N", min=0, help="A revision; 0: before the first.")],
    comment: Comment = "",
    dry_run: DryRun = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Store the settings of an earlier revision again, as a new revision."""
    run_command(as_json, _roll_back(data_dir, number, comment, dry_run))


@asynccontextmanager
async def open_settings(data_dir: Path | None) -> AsyncGenerator[tuple[App, bool]]:
    """The App, and whether an instance runs; without one, the copy of the stored settings gets changes too."""
    from mailkeep.run.runtime import state, stored_settings
    from mailkeep.run.runtime.context import resolve_data_dir

    async with open_app(data_dir) as app:
        is_running = state.read(resolve_data_dir(data_dir)) is not None
        with _name_settings():
            yield app, is_running
        if not is_running:  # a running instance does it itself
            async with app.db.autocommit() as conn:
                await stored_settings.refresh_copy(app, conn)


@contextmanager
def _name_settings() -> Generator[None]:
    """Let errors name settings as the command line does: without the API's `changes.`."""
    try:
        yield
    except InvalidField as error:
        faults: list[FieldError] = (error.details or {})["fields"]
        raise InvalidField(
            [{"field": each["field"].removeprefix("changes."), "reason": each["reason"]} for each in faults]
        ) from error


async def _show(data_dir: Path | None, defaults: bool, changed: bool) -> CommandResult:
    from dataclasses import asdict

    from mailkeep.run.runtime.context import load_with_copy, resolve_data_dir
    from mailkeep.settings import SettingDescription, SettingValue, describe_settings, list_settings

    settings: Sequence[SettingDescription | SettingValue]
    if defaults:
        settings = describe_settings()
    else:
        settings = list_settings(load_with_copy(resolve_data_dir(data_dir)), changed_only=changed)
    lines = [
        _line(setting.key, setting.default, "default")
        if isinstance(setting, SettingDescription)
        else _line(setting.key, setting.value, setting.source)
        for setting in settings
    ]
    return CommandResult(
        {"settings": [asdict(setting) for setting in settings]}, lines or ["All settings have their defaults."]
    )


async def _change(data_dir: Path | None, changes: dict[str, Any], comment: str, dry_run: bool) -> CommandResult:
    from mailkeep.features.operations.configuration import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_settings(data_dir) as (app, is_running):
        change = await service.change(app, cli_principal(), changes, comment=comment, dry_run=dry_run)
        return _result(app, change, dry_run=dry_run, is_running=is_running)


async def _roll_back(data_dir: Path | None, number: int, comment: str, dry_run: bool) -> CommandResult:
    from mailkeep.features.operations.configuration import service
    from mailkeep.run.cli.accounts import cli_principal

    async with open_settings(data_dir) as (app, is_running):
        change = await service.roll_back(app, cli_principal(), number, comment=comment, dry_run=dry_run)
        return _result(app, change, dry_run=dry_run, is_running=is_running)


def _result(app: App, change: ConfigChange, *, dry_run: bool, is_running: bool) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.run.cli.orchestrator import describe_plan

    lines: list[Line] = [
        f"{key}: {_format(each['before'])} -> {_format(each['after'])}" for key, each in change.changes.items()
    ]
    if not lines:
        lines = [f"Nothing changes: revision {change.n} has these values."]
    elif dry_run:
        lines.append("Nothing was stored.")
    else:
        lines.append(f"Stored as revision {change.n}.")
    if change.plan:
        lines += describe_plan(change.plan)
    lines += change.warnings
    if change.needs_restart and not dry_run:
        how = "Apply with `mailkeep orchestrator apply`"
        if not app.settings.is_full_profile:
            how = "Restart Mailkeep to apply"
        elif not change.use_at_start:
            how = f"An apply was rolled back, so the next start does not use these. {how}"
        elif not is_running:
            how = "The next start uses"
        lines.append(f"{how}: {', '.join(change.needs_restart)}.")
    data = {"revision": change.n, "changes": change.changes, "needs_restart": change.needs_restart, "dry_run": dry_run}
    if dry_run:
        data |= {"plan": to_builtins(change.plan), "warnings": change.warnings}
    return CommandResult(data, lines)


async def _history(data_dir: Path | None, limit: int) -> CommandResult:
    from dataclasses import asdict

    from mailkeep.core.clock import iso
    from mailkeep.core.page import PageRequest
    from mailkeep.features.record.settings_revisions import service as revisions

    async with open_settings(data_dir) as (app, _), app.db.autocommit() as conn:
        page = await revisions.page(conn, PageRequest(limit, "created_at", "desc", None))
    rows = [{"at": iso(each.created_at)} | asdict(each) for each in page.rows]
    for row in rows:
        del row["created_at"]
    lines = table(
        ["N", "AT", "STATE", "AUTHOR", "CHANGES", "COMMENT"],
        [
            [each["n"], each["at"], _STATES[each["state"]], each["author"], ", ".join(each["changes"]), each["comment"]]
            for each in rows
        ],
    )
    return CommandResult({"revisions": rows}, lines if rows else ["No setting was ever stored."])


def _value(key: str, text: str) -> Any:
    """The value of a text: text for settings that are text, else JSON; what is not JSON stays text, and is refused."""
    import json

    from mailkeep.settings import SETTING_FIELDS

    if key not in SETTING_FIELDS or SETTING_FIELDS[key].is_text:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _format(value: Any) -> str:
    return "(not stored)" if value is None else _toml(value)


def _line(key: str, value: object, source: str) -> str:
    """A line of TOML; a line with a masked secret is a comment."""
    from mailkeep.settings import MASK

    text = f"{key} = {_toml(value)}"
    if f'"{MASK}"' in text:
        return f"# {text}  # {source}"
    return text if source == "default" else f"{text}  # {source}"


def _toml(value: object) -> str:
    """A value as TOML on one line: strings, numbers and booleans are written as in JSON, tables are not."""
    import msgspec

    match value:
        case dict():
            members = cast(dict[str, object], value).items()
            return "{" + ", ".join(f"{name} = {_toml(member)}" for name, member in members) + "}"
        case list() | tuple():
            return "[" + ",".join(_toml(each) for each in cast(Sequence[object], value)) + "]"
        case _:
            return msgspec.json.encode(value).decode()
