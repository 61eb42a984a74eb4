"""Use cases of the server's filter settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import FieldError, InvalidField
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import SERVER_SETTINGS, OwnerValues
from mailkeep.features.operations.configuration import service as configuration


async def get(app: App) -> tuple[OwnerValues, str]:
    """The values, and their entity tag."""
    return await filtering.read_server(app)


async def change(
    app: App, who: Principal, changes: Mapping[str, Any], if_match: IfMatch = ANY_VERSION
) -> tuple[OwnerValues, str]:
    """Change values (None: the default). INVALID_FIELD if the file or environment sets one; PRECONDITION_FAILED."""
    settings = {SERVER_SETTINGS[name]: value for name, value in changes.items()}
    try:
        await configuration.change(app, who, settings, if_match=if_match)
    except InvalidField as error:
        raise InvalidField([_rename(fault) for fault in (error.details or {})["fields"]]) from None
    return await get(app)


def _rename(fault: FieldError) -> FieldError:
    """A fault of a setting as one of the field that stands for it."""
    key = fault["field"].removeprefix("changes.")
    names = [name for name, setting in SERVER_SETTINGS.items() if setting == key]
    return FieldError(field=names[0] if names else fault["field"], reason=fault["reason"])
