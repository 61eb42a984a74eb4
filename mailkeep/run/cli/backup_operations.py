"""What the commands of `mailkeep backup` share: which backup, and the end of an operation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mailkeep.run.cli.output import REFUSED, CommandResult, Line

if TYPE_CHECKING:
    from collections.abc import Sequence
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


async def find_backup(conn: Conn, text: str | None) -> Backup:
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
        raise NotFound(f"{text[:100]} is not the ID of a backup: `mailkeep backup list` shows them.")
    try:
        return await service.get(conn, backup_id)
    except NotFound:
        raise NotFound(f"There is no backup {backup_id}: `mailkeep backup list` shows them.") from None


async def finish(app: App, operation: BackupOperation, text: str, wait: bool) -> CommandResult:
    """The result of a command that has requested an operation, after its end if asked for."""
    from mailkeep.features.operations.backups import service

    if not wait:
        return CommandResult(
            service.describe_operation(operation), [f"{text} `mailkeep backup list` shows the progress."]
        )
    ended = await wait_for_end(app, operation)
    return to_result(ended, ["Done."])


async def wait_for_end(app: App, operation: BackupOperation) -> BackupOperation:
    """The operation when it has ended. A terminal shows what it does meanwhile. Failure if the instance stops."""
    import asyncio

    from mailkeep.core.errors import Failure
    from mailkeep.features.operations.backups import service
    from mailkeep.run.runtime import state

    current, shown = operation, ""
    while current.finished_at is None:
        text = describe_progress(current)
        if text != shown and sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            shown = text
        await asyncio.sleep(_POLL_SECONDS)
        if state.read(app.data_dir) is None:
            raise Failure("Mailkeep was stopped meanwhile: `mailkeep backup list` shows what came of it.")
        found = await service.find_operation(app, operation.id)
        assert found is not None
        current = found
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return current


def to_result(operation: BackupOperation, lines: Sequence[Line]) -> CommandResult:
    """The result of an operation that has ended: these lines if it has succeeded."""
    from mailkeep.features.operations.backups import service

    data = service.describe_operation(operation)
    if operation.state == "succeeded":
        return CommandResult(data, lines)
    return CommandResult(data, [operation.error or "It was cancelled."], REFUSED)


def describe_progress(operation: BackupOperation) -> str:
    """What an operation does now, and how much of it is done."""
    share = f"{operation.done * 100 // operation.total} %" if operation.total else ""
    words = (operation.kind, operation.state, operation.phase, share)
    return " ".join(filter(None, words))


def format_size(size: int | None) -> str:
    """A number of bytes for people."""
    if size is None:
        return ""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {_UNITS[unit]}"
