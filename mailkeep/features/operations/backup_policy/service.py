"""Read and change the policy of backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import FieldError, InvalidField
from mailkeep.core.principal import Principal
from mailkeep.features.operations.backups import service as backups
from mailkeep.features.operations.backups.model import BackupOperation
from mailkeep.features.operations.backups.service import BackupTimes
from mailkeep.features.operations.configuration import service as configuration
from mailkeep.features.operations.recovery_key import service as recovery_keys
from mailkeep.features.operations.recovery_key.model import RecoveryKey
from mailkeep.features.record.settings_revisions import service as revisions
from mailkeep.settings.backup import BackupSettings

_SETTINGS: Mapping[str, str] = {
    **{name: f"backup.{name}" for name in ("schedule", "start_time", "repository", "verify_every", "append_only")},
    **{f"retention.{period}": f"backup.keep_{period}" for period in ("hourly", "daily", "weekly", "monthly")},
}
"""The setting of each field."""


@dataclass(frozen=True, slots=True)
class BackupPolicy:
    """The settings, what is due, what waits or runs, and the entity tag."""

    settings: BackupSettings
    times: BackupTimes
    operation: BackupOperation | None
    recovery_key: RecoveryKey | None
    tag: str


async def get(app: App) -> BackupPolicy:
    """The policy with the newest settings."""
    async with app.db.autocommit() as conn:
        current = await configuration.read(conn, app)
        settings = current.newest.settings.backup
        times = await backups.read_times(conn, app, settings)
        operation = await backups.find_open_operation(conn)
        key = await recovery_keys.find(conn, settings.repository)
    return BackupPolicy(settings, times, operation, key, revisions.revision_tag(current.n))


async def change(app: App, who: Principal, changes: Mapping[str, Any], if_match: IfMatch = ANY_VERSION) -> BackupPolicy:
    """Change fields (None: the default). INVALID_FIELD if the file or the environment sets one; PRECONDITION_FAILED."""
    try:
        await configuration.change(
            app, who, {_SETTINGS[name]: value for name, value in changes.items()}, if_match=if_match
        )
    except InvalidField as error:
        raise InvalidField([_rename(fault) for fault in (error.details or {})["fields"]]) from None
    return await get(app)


def _rename(fault: FieldError) -> FieldError:
    """A fault of a setting as one of the field that stands for it."""
    key = fault["field"].removeprefix("changes.")
    names = [name for name, setting in _SETTINGS.items() if setting == key]
    return FieldError(field=names[0] if names else fault["field"], reason=fault["reason"])
