"""JSON of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso
from mailkeep.features.operations.configuration.model import ConfigChange
from mailkeep.features.operations.orchestrator.plan_json import PlanResponse, to_plan
from mailkeep.features.record.settings_revisions.model import RevisionState, SettingsRevision
from mailkeep.settings import MASK, SETTING_FIELDS, Effect, LoadedSettings, is_storable, list_settings
from mailkeep.web.fields import Body, OwnPassword, Text, Timestamp
from mailkeep.web.string_views import read_views

SettingSource = Literal["default", "file", "env", "database"]


class SettingResponse(Struct, frozen=True):
    """A setting. `source`: who set `value`; options of the command line count as `env`. `pending`: the stored value
    that applies with the next apply or start, absent without one. `effect`: what `services` must do before a stored
    change applies, the strongest if they differ; `mailkeep`: all of Mailkeep. `storable`: whether PATCH accepts it if
    neither file nor environment sets it.
    """

    key: str
    value: Any
    default: Any
    source: SettingSource
    effect: Effect
    services: list[str]
    storable: bool
    secret: bool
    expected: str
    description: str
    pending: Any = UNSET


class ConfigPatch(Body, frozen=True):
    """Changes by key; null: the value is no longer stored. A secret that is written as `********` is refused. `dry_run`
    only checks them, and returns a plan. `current_password` is needed for
    sensitive settings if the session is older than ten minutes.
    """

    changes: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=100)], Any], Meta(max_length=200)]
    comment: Text = ""
    dry_run: bool = False
    current_password: OwnPassword | UnsetType = UNSET


class ConfigRollback(Body, frozen=True):
    """A comment on the rollback; `current_password` as in a change."""

    comment: Text = ""
    current_password: OwnPassword | UnsetType = UNSET


class SettingChange(Struct, frozen=True):
    """A changed setting: what was stored before and after (null: nothing); secrets are masked."""

    before: Any
    after: Any


class ConfigChangeResponse(Struct, frozen=True):
    """The result of a change, or with `dry_run` what it would be: the number of the newest revision, and the changed
    settings. `needs_restart`: all stored settings that are not in effect yet. In the full profile the next apply is
    enough (POST /orchestrator/apply; its plan says which services restart, if any), in the embedded profile Mailkeep
    must be started again. Only with `dry_run`: `plan`, as of GET
    /orchestrator/plan, if the changes were stored; null if the process `node` does not answer, which is in `warnings`.
    """

    revision: int
    changes: dict[str, SettingChange]
    needs_restart: list[str]
    dry_run: bool
    plan: PlanResponse | UnsetType | None = UNSET
    warnings: list[str] = []


class RevisionResponse(Struct, frozen=True):
    """A revision. `state`: `desired` until the next apply or start, `applied` or `superseded`."""

    n: int
    author: str
    author_id: UUID | None
    at: Timestamp
    comment: str
    changes: dict[str, SettingChange]
    state: RevisionState


def to_settings(running: LoadedSettings, newest: LoadedSettings, pending: Iterable[str]) -> list[SettingResponse]:
    """All settings with their values in running processes, and the newest values of the `pending` ones."""
    pending_values = {each.key: each.value for each in list_settings(newest) if each.key in set(pending)}
    return [
        SettingResponse(
            key=each.key,
            value=each.value,
            default=MASK if SETTING_FIELDS[each.key].secret and each.default else each.default,
            source="env" if each.source == "option" else each.source,
            effect=each.effect,
            services=list(each.services),
            storable=is_storable(each.key),
            secret=SETTING_FIELDS[each.key].secret,
            expected=SETTING_FIELDS[each.key].expectation,
            description=each.doc,
            pending=pending_values.get(each.key, UNSET),
        )
        for each in list_settings(running)
    ]


def to_change(changed: ConfigChange, *, dry_run: bool) -> ConfigChangeResponse:
    """The response for a change."""
    return ConfigChangeResponse(
        revision=changed.n,
        changes=to_changes(changed.changes),
        needs_restart=list(changed.needs_restart),
        dry_run=dry_run,
        plan=(to_plan(changed.plan) if changed.plan else None) if dry_run else UNSET,
        warnings=list(changed.warnings),
    )


def to_revision(revision: SettingsRevision) -> RevisionResponse:
    """The response for a revision."""
    return RevisionResponse(
        n=revision.n,
        author=revision.author,
        author_id=revision.author_id,
        at=iso(revision.created_at),
        comment=revision.comment,
        changes=to_changes(revision.changes),
        state=revision.state,
    )


def to_changes(changes: Mapping[str, Mapping[str, Any]]) -> dict[str, SettingChange]:
    """The response for changed settings."""
    return {key: SettingChange(each["before"], each["after"]) for key, each in changes.items()}


def read_changes(body: ConfigPatch) -> dict[str, Any]:
    """The changes of a body, in types of JSON."""
    return {key: read_views(value) for key, value in body.changes.items()}


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of all settings that can be stored: an object with a property for each key."""
    properties = {
        key: msgspec.json.schema(field.base)
        | {"description": field.doc, "default": None if field.secret else msgspec.to_builtins(field.default)}
        | ({"minimum": field.low, "maximum": field.high} if field.low is not None else {})
        for key, field in SETTING_FIELDS.items()
        if is_storable(key)
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
