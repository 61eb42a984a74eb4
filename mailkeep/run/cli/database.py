"""Commands for the database schema and the settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, require_data_dir, run_command


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("migrate", epilog=examples("mailkeep migrate --dry-run", "mailkeep migrate --data-dir /srv/mail"))(
        migrate
    )
    config = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Settings.")
    config.command("show", epilog=examples("mailkeep config show --changed", "mailkeep config show --json"))(show)
    app.add_typer(config, name="config")


def migrate(
    data_dir: DataDir = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Try the migrations, and roll them back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Migrate the database schema to this version.

    `mailkeep up` does the same when it starts.
    """
    run_command(as_json, _migrate(data_dir, dry_run))


def show(
    data_dir: DataDir = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Show the defaults instead of the current values.")
    ] = False,
    changed: Annotated[bool, typer.Option("--changed", help="Only what is set, by file or environment.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every setting and where it comes from.

    Secrets are masked. The output is valid in mailkeep.toml.
    """
    if defaults and changed:
        raise typer.BadParameter("--defaults and --changed exclude each other.")
    run_command(as_json, _show(data_dir, defaults, changed))


async def _migrate(data_dir: Path | None, dry_run: bool) -> CommandResult:
    from mailkeep.run.runtime.context import resolve_data_dir
    from mailkeep.run.runtime.schema import migrate_data_dir

    place = resolve_data_dir(data_dir)
    if dry_run:
        require_data_dir(place)
    files = [step.file for step in await migrate_data_dir(place, dry_run=dry_run)]
    head = "Would be applied:" if dry_run else "Applied:"
    lines = [head, *(f"  {file}" for file in files)] if files else ["Nothing to apply: the schema is this version's."]
    return CommandResult({"dry_run": dry_run, "migrations": files}, lines)


async def _show(data_dir: Path | None, defaults: bool, changed: bool) -> CommandResult:
    from dataclasses import asdict

    from mailkeep.run.runtime.context import resolve_data_dir
    from mailkeep.settings import (
        SettingDescription,
        SettingValue,
        describe_settings,
        list_settings as shown_settings,
        load_settings,
    )

    settings: Sequence[SettingDescription | SettingValue]
    if defaults:
        settings = describe_settings()
    else:
        settings = shown_settings(load_settings(resolve_data_dir(data_dir)), changed_only=changed)
    lines = [
        _line(one.key, one.default, "default")
        if isinstance(one, SettingDescription)
        else _line(one.key, one.value, one.source)
        for one in settings
    ]
    return CommandResult(
        {"settings": [asdict(one) for one in settings]}, lines or ["Nothing is set; all settings have their defaults."]
    )


def _line(key: str, value: object, source: str) -> str:
    """A line of TOML; one with a masked secret in it is a comment."""
    from mailkeep.settings.sources import MASK

    written = f"{key} = {_toml(value)}"
    if f'"{MASK}"' in written:
        return f"# {written}  # {source}"
    return written if source == "default" else f"{written}  # {source}"


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
