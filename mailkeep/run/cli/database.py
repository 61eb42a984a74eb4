"""The command for the database schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, require_data_dir, run_command


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate", epilog=examples("mailkeep migrate --dry-run", "mailkeep migrate --data-dir /srv/mail"))(
        migrate
    )


def migrate(
    data_dir: DataDir = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Apply the migrations, and roll them back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Migrate the database schema to this version.

    `mailkeep up` does the same when it starts.
    """
    run_command(as_json, _migrate(data_dir, dry_run))


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
