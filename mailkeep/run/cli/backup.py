"""`mailkeep backup`: makes, lists, verifies and removes backups, and the keys of their repository."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mailkeep.run.cli import backup_contents
from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.backup_operations import (
    BackupId,
    Wait,
    describe_progress,
    find_backup,
    finish,
    format_size,
    to_result,
    wait_for_end,
)
from mailkeep.run.cli.output import (
    REFUSED,
    AsJson,
    CommandResult,
    DataDir,
    Line,
    StyledLine,
    examples,
    open_app,
    open_instance,
    run_command,
    table,
)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    commands = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Backups, and the keys of their repository."
    )
    commands.command("create", epilog=examples("mailkeep backup create --wait"))(create)
    commands.command("list", epilog=examples("mailkeep backup list"))(list_backups)
    commands.command("verify", epilog=examples("mailkeep backup verify --wait"))(verify)
    commands.command("prune", epilog=examples("mailkeep backup prune --wait"))(prune)
    commands.command("cancel", epilog=examples("mailkeep backup cancel"))(cancel)
    backup_contents.add_commands(commands)
    keys = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="The recovery key, and the repository's password."
    )
    keys.command("create", epilog=examples("mailkeep backup key create"))(create_key)
    keys.command(
        "verify", epilog=examples("mailkeep backup key verify", "mailkeep backup key verify --key-file /media/usb/key")
    )(verify_key)
    keys.command("change", epilog=examples("mailkeep backup key change"))(change_key)
    commands.add_typer(keys, name="key")
    app.add_typer(commands, name="backup")


def create(wait: Wait = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Make a backup, in the background."""
    run_command(as_json, _create(data_dir, wait))


def list_backups(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List backups, the newest first, and what runs."""
    run_command(as_json, _list(data_dir))


def verify(backup: BackupId = None, wait: Wait = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Restore a backup into a temporary folder and compare it, in the background."""
    run_command(as_json, _verify(data_dir, backup, wait))


def prune(wait: Wait = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove the backups that the policy does not keep, in the background."""
    run_command(as_json, _prune(data_dir, wait))


def cancel(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Cancel the operation on a backup that waits or runs."""
    run_command(as_json, _cancel(data_dir))


def create_key(
    yes: Annotated[bool, typer.Option("--yes", help="Replace a previous key without a question.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print a new recovery key, once; it replaces the previous one. In a terminal it asks before that."""
    run_command(as_json, _create_key(data_dir, ask=sys.stdin.isatty() and not yes))


def verify_key(
    key_file: Annotated[Path | None, typer.Option(metavar="FILE", help="A file with the key.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Check a recovery key, from --key-file, MAILKEEP_RECOVERY_KEY, standard input or the terminal."""
    run_command(as_json, _verify_key(data_dir, key_file))


def change_key(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Replace the repository's own password; the recovery key stays valid."""
    run_command(as_json, _change_key(data_dir))


async def _create(data_dir: Path | None, wait: bool) -> CommandResult:
    from mailkeep.features.operations.backups import service

    async with open_instance(data_dir) as app:
        async with app.db.tx() as conn:
            backup = await service.request_backup(conn, app, cli_principal())
            operation = await service.find_open_operation(conn)
        assert operation is not None
        return await finish(app, operation, f"Backup {backup.id} is being made.", wait)


async def _verify(data_dir: Path | None, backup: str | None, wait: bool) -> CommandResult:
    from dataclasses import replace

    from mailkeep.features.operations.backups import service

    async with open_instance(data_dir) as app:
        async with app.db.tx() as conn:
            found = await find_backup(conn, backup)
            operation = await service.request_verification(conn, app, cli_principal(), found.id)
        if not wait:
            return await finish(app, operation, f"Backup {found.id} is being verified.", wait)
        ended = await wait_for_end(app, operation)
    compared = ended.result or {"ok": True, "detail": ""}
    return replace(to_result(ended, [compared["detail"]]), **({} if compared["ok"] else {"code": REFUSED}))


async def _prune(data_dir: Path | None, wait: bool) -> CommandResult:
    from mailkeep.features.operations.backups import service

    async with open_instance(data_dir) as app:
        async with app.db.tx() as conn:
            operation = await service.request_prune(conn, app, cli_principal())
        return await finish(app, operation, "Old backups are being removed.", wait)


async def _cancel(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.operations.backups import service

    async with open_app(data_dir) as app, app.db.tx() as conn:
        operation = await service.cancel_open(conn, app, cli_principal())
    return CommandResult(
        {"id": operation.id, "kind": operation.kind}, [f"The operation {operation.kind} is being cancelled."]
    )


async def _list(data_dir: Path | None) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.core.page import PageRequest
    from mailkeep.features.operations.backups import service

    async with open_app(data_dir) as app, app.db.autocommit() as conn:
        page, operation = await service.page(conn, PageRequest(200, "created_at", "desc", None))
        data = [to_builtins(service.describe(each, operation)) for each in page.rows]
    rows = [
        [
            each["id"],
            each["created_at"],
            each["state"],
            format_size(each["size_bytes"]),
            format_size(each["added_bytes"]),
            _describe_verification(each),
        ]
        for each in data
    ]
    titles = ["BACKUP", "BEGUN", "STATE", "SIZE", "ADDED", "VERIFIED"]
    lines: list[Line] = [*table(titles, rows)] if rows else ["There are no backups yet."]
    lines += [f"{each['id']}: {each['error']}" for each in data if each["error"]]
    if operation is not None:
        lines.append(f"Now: {describe_progress(operation)}")
    return CommandResult({"backups": data}, lines)


async def _create_key(data_dir: Path | None, ask: bool) -> CommandResult:
    from mailkeep.core.clock import iso
    from mailkeep.features.operations.recovery_key import service

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            previous = await service.find(conn, app.settings.backup.repository)
        if previous is not None and ask:
            text = f"The key of {iso(previous.created_at)[:19]}Z will not open the repository any more. Replace it?"
            typer.confirm(text, abort=True, err=True)
        key = await service.create(app, cli_principal())
    lines: list[Line] = [
        StyledLine(key, "bold"),
        "Write it down and keep it away from this server: it is not stored and not shown again.",
        "`mailkeep restore` needs it on a new machine. `mailkeep backup key verify` checks what you have written down.",
    ]
    return CommandResult({"key": key}, lines)


async def _verify_key(data_dir: Path | None, key_file: Path | None) -> CommandResult:
    from mailkeep.core.clock import iso
    from mailkeep.features.operations.recovery_key import service

    text = read_key(key_file)
    async with open_app(data_dir) as app:
        key = await service.verify(app, cli_principal(), text)
    created, verified = iso(key.created_at), iso(key.verified_at or key.created_at)
    return CommandResult({"created_at": created, "verified_at": verified}, ["The recovery key opens the repository."])


async def _change_key(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.operations.recovery_key import service

    async with open_app(data_dir) as app:
        await service.change_password(app, cli_principal())
    return CommandResult({"changed": True}, ["The repository's password was replaced. A recovery key stays valid."])


def read_key(key_file: Path | None) -> str:
    """The recovery key from a file, the environment, standard input or the terminal. Failure if it is empty."""
    from mailkeep.core.errors import Failure
    from mailkeep.settings import find_recovery_key

    if key_file is not None:
        text = key_file.read_text("utf-8", errors="replace")
    elif given := find_recovery_key():
        text = given
    elif sys.stdin.isatty():
        text = typer.prompt("Recovery key", hide_input=True, err=True)
    else:
        text = sys.stdin.readline()
    if not text.strip():
        raise Failure("No recovery key was given.", permanent=True)
    return text.strip()


def _describe_verification(backup: dict[str, Any]) -> str:
    found = backup["verified"]
    if found is None:
        return "never" if backup["state"] == "succeeded" else ""
    return f"{found['at'][:19]}Z" if found["ok"] else f"failed: {found['detail']}"
