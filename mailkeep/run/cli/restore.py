"""`mailkeep restore`: an instance from a backup, in an empty folder, before its first start."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mailkeep.run.cli.backup import read_key
from mailkeep.run.cli.output import AsJson, CommandResult, examples, run_command

if TYPE_CHECKING:
    from datetime import datetime

    from mailkeep.backup.restic import Repository
    from mailkeep.run.runtime.full_restore import Report, RestoredInstance, RestorePlan


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "restore",
        epilog=examples(
            "mailkeep restore /mnt/disk/mailkeep --data-dir /var/lib/mailkeep --dry-run",
            "mailkeep restore s3:https://s3.example.com/backups --data-dir /var/lib/mailkeep --key-file recovery.key",
        ),
    )(restore)


def restore(
    repository: Annotated[
        str, typer.Argument(metavar="REPOSITORY", help="Where the backups are, as in the setting backup.repository.")
    ],
    data_dir: Annotated[
        Path, typer.Option("--data-dir", metavar="DIR", help="The new data directory: empty, or not there yet.")
    ],
    backup: Annotated[
        str | None,
        typer.Option("--backup", metavar="ID", help="The backup, or the beginning of its ID; default: the newest."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Bring the database to this time, as 2026-11-25T14:30:00Z; needs the setting backup.wal_archive.",
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", metavar="FILE", help="A file with the recovery key, or the repository's password."),
    ] = None,
    profile: Annotated[
        Literal["embedded", "full"] | None, typer.Option("--profile", help="Another profile than that of the backup.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be restored, and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a whole instance from a backup, before its first start.

    The key is read from --key-file, from MAILKEEP_RECOVERY_KEY, from standard input, or asked for in a terminal.
    Credentials of the repository are taken from the environment (MAILKEEP_BACKUP__S3_ACCESS_KEY and so on). Nothing is
    ever restored into a folder with data. After the first `mailkeep up`, what was queued in the backup stays on hold
    until `mailkeep queue act release --all`: it may have been sent after the backup.
    """
    run_command(as_json, _restore(repository, data_dir, (backup, profile, at), key_file, dry_run))


async def _restore(
    location: str,
    data_dir: Path,
    choice: tuple[str | None, str | None, str | None],
    key_file: Path | None,
    dry_run: bool,
) -> CommandResult:
    from mailkeep.core.clock import utc_now
    from mailkeep.run.runtime import full_restore

    data_dir = data_dir.resolve()
    full_restore.require_empty(data_dir)
    backup, profile, time = choice
    at = _read_time(time) if time else None
    async with _open_repository(location, read_key(key_file)) as (repository, scratch):
        plan = await full_restore.make_plan(repository, scratch, data_dir, backup, profile, at)
        if dry_run:
            return _show(plan, data_dir, None)
        report = _show_progress() if sys.stderr.isatty() else None
        result = await full_restore.perform(plan, repository, data_dir, utc_now(), report)
    return _show(plan, data_dir, result)


@asynccontextmanager
async def _open_repository(location: str, key: str) -> AsyncGenerator[tuple[Repository, Path]]:
    """The repository and its key, and a folder for temporary files."""
    import tempfile
    from dataclasses import replace

    from mailkeep.backup import secrets
    from mailkeep.backup.restic import Repository
    from mailkeep.settings import load_settings

    with tempfile.TemporaryDirectory(prefix="mailkeep-restore-") as folder:
        scratch = Path(folder)
        # An empty folder has no settings: those of the environment, and of the argument, which is checked with them.
        settings = load_settings(scratch, options={"backup.repository": location}).settings.backup
        secrets.write_password(scratch / "password", secrets.read_recovery_key(key))
        repository = Repository.from_settings(replace(settings, upload_kib_per_second=0), scratch)
        yield repository, scratch


def _read_time(text: str) -> datetime:
    from datetime import datetime

    from mailkeep.core.errors import Failure

    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise Failure(f"--at needs a time with its zone, as 2026-11-25T14:30:00Z, not {text!r}.", permanent=True)
    return at


def _show_progress() -> Report:
    async def report(done: int) -> None:
        print(f"\rRestored {done >> 20} MiB", end="", file=sys.stderr, flush=True)

    return report


def _show(plan: RestorePlan, data_dir: Path, result: RestoredInstance | None) -> CommandResult:
    from mailkeep.core.clock import iso

    manifest, counts = plan.manifest, plan.manifest.counts
    data = {
        "dry_run": result is None,
        "backup_id": str(plan.backup.id),
        "snapshot": plan.backup.snapshot.id,
        "began_at": iso(manifest.began_at),
        "instance_id": manifest.instance_id,
        "version": manifest.mailkeep_version,
        "profile": plan.profile,
        "counts": {"domains": counts.domains, "mailboxes": counts.mailboxes, "messages": counts.messages},
        "mail_bytes": manifest.mail_bytes,
        "other_backups": plan.others,
        "database_at": iso(plan.target.to) if plan.target else None,
        "data_dir": str(data_dir),
    }
    what = f"{counts.domains} domains, {counts.mailboxes} mailboxes and {counts.messages} messages"
    source = f"the backup {plan.backup.id} of {iso(manifest.began_at)} (Mailkeep {manifest.mailkeep_version})"
    database = _describe_target(plan)
    if result is None:
        lines = [
            f"Would restore {source}: {what}, {manifest.mail_bytes >> 20} MiB of mail, into {data_dir}.",
            *database,
            f"The repository has {plan.others} other backups. Nothing was changed.",
        ]
        return CommandResult(data, lines)
    data |= {"messages_on_hold": result.held, "database": str(result.cluster), "warning": result.warning}
    option = " --profile full" if plan.profile == "full" else ""
    lines = [
        f"Restored {source}: {what}.",
        *database,
        *([f"{result.held} messages of the mail queue are on hold."] if result.held else []),
        *([f"Warning: {result.warning}"] if result.warning else []),
        f"Start it with `mailkeep up{option} --data-dir {data_dir}`. Then release what is on hold:",
        f"`mailkeep queue act release --all --data-dir {data_dir}`.",
    ]
    return CommandResult(data, lines)


def _describe_target(plan: RestorePlan) -> list[str]:
    from mailkeep.core.clock import iso

    if plan.target is None:
        return []
    minutes = (plan.target.to - plan.manifest.began_at).total_seconds() / 60
    text = "Mail, contents and the mail queue are those of the backup"
    return [f"The database is that of {iso(plan.target.to)}. {text}, {minutes:.0f} minutes older."]
