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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Apply the migrations, and roll them back.")] = False,
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
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that are not the default.")] = False,
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

    path = resolve_data_dir(data_dir)
    if dry_run:
        require_data_dir(path)
    files = [step.file for step in await migrate_data_dir(path, dry_run=dry_run)]
    head = "Would be applied:" if dry_run else "Applied:"
    lines = [head, *(f"  {file}" for file in files)] if files else ["Nothing to apply: the schema is up to date."]
    return CommandResult({"dry_run": dry_run, "migrations": files}, lines)


async def _show(data_dir: Path | None, defaults: bool, changed: bool) -> CommandResult:
    from dataclasses import asdict

    from mailkeep.run.runtime.context import resolve_data_dir
    from mailkeep.settings import SettingDescription, SettingValue, describe_settings, list_settings, load_settings

    settings: Sequence[SettingDescription | SettingValue]
    if defaults:
        settings = describe_settings()
    else:
        settings = list_settings(load_settings(resolve_data_dir(data_dir)), changed_only=changed)
    lines = [
        _line(setting.key, setting.default, "default")
        if isinstance(setting, SettingDescription)
        else _line(setting.key, setting.value, setting.source)
        for setting in settings
    ]
    return CommandResult(
        {"settings": [asdict(setting) for setting in settings]}, lines or ["All settings have their defaults."]
    )


def _line(key: str, value: object, source: str) -> str:
    """A line of TOML; a line with a masked secret is a comment."""
    from mailkeep.settings.sources import MASK

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
