"""Which requests are refused, and what is overdue."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailkeep.backup.restic import INSTALL_COMMAND
from mailkeep.core.errors import Conflict, Unavailable, invalid_field
from mailkeep.features.operations.backups.model import Backup, RestoreRequest

_INTERVALS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
    "monthly": timedelta(days=30),
}
_RESTORE_COMMAND = "mailkeep restore REPOSITORY --data-dir DIR"


def is_overdue(every: str, last: datetime, at: datetime) -> bool:
    """Whether two intervals have passed since the last one; never if they are off."""
    interval = _INTERVALS.get(every)
    return interval is not None and at - last > 2 * interval


def require_program(program: str | None) -> None:
    """UNAVAILABLE `needs_restic` with the command that installs it, if restic was not found."""
    if program is None:
        raise Unavailable(
            f"restic is not installed on this server: {INSTALL_COMMAND}", reason="needs_restic", command=INSTALL_COMMAND
        )


def require_own_database(url: str) -> None:
    """UNAVAILABLE `external_database` if the database is not Mailkeep's own server."""
    if url:
        raise Unavailable(
            "The database at database.url is not Mailkeep's own server, so that it can't be backed up here: "
            "docs/howto/backups.md.",
            reason="external_database",
        )


def require_snapshot(backup: Backup) -> None:
    """CONFLICT `not_stored` unless the repository has the backup."""
    if backup.state != "succeeded" or not backup.snapshot:
        raise Conflict("Only a backup that has succeeded can be used.", reason="not_stored")


def require_deletable(backup: Backup, *, append_only: bool) -> None:
    """CONFLICT `running` or `append_only`."""
    if backup.state == "running":
        raise Conflict("The backup is being made: cancel it first.", reason="running")
    if backup.snapshot and append_only:
        raise Conflict(
            "The repository accepts no deletions (backup.append_only): remove the snapshot on its server.",
            reason="append_only",
        )


def check_restore(request: RestoreRequest) -> None:
    """What is restored has its ID, and the restore is confirmed, or a dry run. INVALID_FIELD; CONFLICT
    `needs_empty_data_directory` for the whole instance.
    """
    if request.scope == "all":
        raise Conflict(
            f"A whole instance is restored before its first start, into an empty data directory: {_RESTORE_COMMAND}",
            reason="needs_empty_data_directory",
            command=_RESTORE_COMMAND,
        )
    for name, value in (("domain_id", request.domain_id), ("mailbox_id", request.mailbox_id)):
        is_needed = name == f"{request.scope}_id"
        if is_needed and value is None:
            raise invalid_field(name, f"is required with the scope {request.scope}")
        if not is_needed and value is not None:
            raise invalid_field(name, f"does not belong to the scope {request.scope}")
    if not request.dry_run and not request.is_confirmed:
        raise invalid_field("confirm", "must be true, because a restore changes mailboxes; or set dry_run")


def to_argument(request: RestoreRequest) -> dict[str, Any]:
    """The argument of the operation that restores."""
    name = f"{request.scope}_id"
    value: UUID | None = request.domain_id if request.scope == "domain" else request.mailbox_id
    return {"scope": request.scope, name: str(value), "into": request.into, "dry_run": request.dry_run}
