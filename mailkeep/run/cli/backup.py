"""`mailkeep backup`: makes, lists, verifies, browses and removes backups, and the keys of their repository."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.cli.output import (
    REFUSED,
    AsJson,
    CommandResult,
    DataDir,
    Line,
    StyledLine,
    examples,
    open_app,
    run_command,
    table,
)

if TYPE_CHECKING:
    from uuid import UUID

    from mailkeep.app import App
    from mailkeep.db.pool import Conn
    from mailkeep.features.operations.backups.model import Backup, BackupOperation

_POLL_SECONDS = 0.5
_UNITS = ("B", "KB", "MB", "GB", "TB")

Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end; exit code 1 if it fails.")]
BackupId = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="The backup; by default the newest that has succeeded.")
]


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
    commands.command(
        "contents",
        epilog=examples(
            "mailkeep backup contents",
            "mailkeep backup contents --domain example.com",
            "mailkeep backup contents --message-id '<report@example.com>'",
        ),
    )(contents)
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


def contents(
    backup: BackupId = None,
    domain: Annotated[str | None, typer.Option(metavar="DOMAIN", help="List the mailboxes of this domain.")] = None,
    mailbox: Annotated[str | None, typer.Option(metavar="ADDRESS", help="List the folders of this mailbox.")] = None,
    message_id: Annotated[str | None, typer.Option(metavar="ID", help="Find messages by their Message-ID.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List what a backup contains: domains, mailboxes, folders, or messages by Message-ID."""
    run_command(as_json, _contents(data_dir, backup, domain, mailbox, message_id))


def create_key(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print a new recovery key, once; it replaces the previous one."""
    run_command(as_json, _create_key(data_dir))


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

    async with open_app(data_dir) as app:
        async with app.db.tx() as conn:
            backup = await service.request_backup(conn, app, cli_principal())
            operation = await service.find_open_operation(conn)
        assert operation is not None
        return await _finish(app, operation, f"Backup {backup.id} is being made.", wait)


async def _verify(data_dir: Path | None, backup: str | None, wait: bool) -> CommandResult:
    from mailkeep.features.operations.backups import service

    async with open_app(data_dir) as app:
        async with app.db.tx() as conn:
            found = await _find(conn, backup)
            operation = await service.request_verification(conn, app, cli_principal(), found.id)
        return await _finish(app, operation, f"Backup {found.id} is being verified.", wait)


async def _prune(data_dir: Path | None, wait: bool) -> CommandResult:
    from mailkeep.features.operations.backups import service

    async with open_app(data_dir) as app:
        async with app.db.tx() as conn:
            operation = await service.request_prune(conn, app, cli_principal())
        return await _finish(app, operation, "Old backups are being removed.", wait)


async def _cancel(data_dir: Path | None) -> CommandResult:
    from mailkeep.core.errors import Conflict
    from mailkeep.features.operations.backups import service

    async with open_app(data_dir) as app, app.db.tx() as conn:
        operation = await service.find_open_operation(conn)
        if operation is None or operation.backup_id is None:
            raise Conflict("No operation on a backup waits or runs.", reason="not_running")
        await service.cancel(conn, app, cli_principal(), operation.backup_id)
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
            each["created_at"][:19] + "Z",
            each["state"],
            _size(each["size_bytes"]),
            _size(each["added_bytes"]),
            _describe_verification(each),
        ]
        for each in data
    ]
    lines: list[Line] = [*table(["BACKUP", "BEGUN", "STATE", "SIZE", "ADDED", "VERIFIED"], rows)]
    lines += [f"{each['id']}: {each['error']}" for each in data if each["error"]]
    if operation is not None:
        lines.append(f"Now: {operation.kind} {operation.state} {operation.phase} {_progress(operation)}".rstrip())
    return CommandResult({"backups": data}, lines)


async def _contents(
    data_dir: Path | None, backup: str | None, domain: str | None, mailbox: str | None, message_id: str | None
) -> CommandResult:
    from msgspec import to_builtins

    from mailkeep.backup.contents import ContentsQuery
    from mailkeep.core.errors import NotFound
    from mailkeep.features.operations.backup_contents import service as backup_contents

    async with open_app(data_dir) as app:
        async with app.db.autocommit() as conn:
            found = await _find(conn, backup)

        async def read(query: ContentsQuery) -> list[Any]:
            return await backup_contents.list_all(app, found.id, query)

        entries = await read(ContentsQuery(message_id=message_id))
        name = domain or (mailbox or "").partition("@")[2]
        if message_id is None and name:
            domain_id = next((str(each.domain_id) for each in entries if each.name == name), None)
            if domain_id is None:
                raise NotFound(f"The backup does not have the domain {name}.")
            entries = await read(ContentsQuery(domain_id=domain_id))
            if mailbox is not None:
                mailbox_id = next((str(each.mailbox_id) for each in entries if each.name == mailbox), None)
                if mailbox_id is None:
                    raise NotFound(f"The backup does not have the mailbox {mailbox}.")
                entries = await read(ContentsQuery(mailbox_id=mailbox_id))
    rows = [
        [
            each.name,
            each.folder or "",
            *("" if count is None else count for count in (each.mailboxes, each.messages)),
            _size(each.size_bytes),
        ]
        for each in entries
    ]
    lines = table(["NAME", "FOLDER", "MAILBOXES", "MESSAGES", "SIZE"], rows)
    return CommandResult({"backup_id": found.id, "contents": [to_builtins(each) for each in entries]}, lines)


async def _create_key(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.operations.recovery_key import service

    async with open_app(data_dir) as app:
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
    return CommandResult(
        {"changed": True}, ["The repository's password was replaced. The recovery key is still valid."]
    )


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


async def _find(conn: Conn, text: str | None) -> Backup:
    """The backup with this ID; without one the newest that has succeeded. NOT_FOUND."""
    from mailkeep.core.errors import NotFound
    from mailkeep.core.ids import parse_uuid
    from mailkeep.features.operations.backups import service

    if text is None:
        newest = await service.find_newest(conn)
        if newest is None:
            raise NotFound("No backup has succeeded yet.")
        return newest
    backup_id: UUID | None = parse_uuid(text)
    if backup_id is None:
        raise NotFound(f"{text[:100]} is not the ID of a backup.")
    return await service.get(conn, backup_id)


async def _finish(app: App, operation: BackupOperation, text: str, wait: bool) -> CommandResult:
    """The result of a command that has requested an operation, after its end if asked for."""
    import asyncio

    from mailkeep.features.operations.backups import service

    if not wait:
        return CommandResult(
            service.describe_operation(operation), [f"{text} `mailkeep backup list` shows the progress."]
        )
    current = operation
    while current.finished_at is None:
        await asyncio.sleep(_POLL_SECONDS)
        found = await service.find_operation(app, operation.id)
        assert found is not None
        current = found
    if current.state == "succeeded":
        return CommandResult(service.describe_operation(current), ["Done."])
    return CommandResult(service.describe_operation(current), [current.error or "It was cancelled."], REFUSED)


def _size(size: int | None) -> str:
    if size is None:
        return ""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {_UNITS[unit]}"


def _describe_verification(backup: dict[str, Any]) -> str:
    found = backup["verified"]
    if found is None:
        return "never" if backup["state"] == "succeeded" else ""
    return f"{found['at'][:19]}Z" if found["ok"] else f"failed: {found['detail']}"


def _progress(operation: BackupOperation) -> str:
    return f"{operation.done * 100 // operation.total} %" if operation.total else ""
