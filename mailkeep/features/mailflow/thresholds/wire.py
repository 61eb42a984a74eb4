"""JSON of thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from mailkeep.core.errors import MissingFields, invalid_field
from mailkeep.features.mailflow.thresholds.model import EffectiveThreshold, HourlyUsage, ThresholdSource
from mailkeep.web.fields import Body, Patch, Query


class ThresholdQuery(Query, frozen=True):
    """The scope: `global` (the settings `abuse.*`), a domain or a mailbox."""

    scope: ThresholdSource = "global"
    id: UUID | None = None

    def subject_id(self) -> UUID | None:
        """The ID of the domain or mailbox. MISSING_FIELDS, INVALID_FIELD."""
        return check_subject(self.scope, self.id)


class ThresholdChanges(Patch, frozen=True):
    """Changed thresholds; null: as the wider scope."""

    sender_per_hour: int | UnsetType | None = UNSET
    domain_per_hour: int | UnsetType | None = UNSET
    forward_per_hour: int | UnsetType | None = UNSET
    bounce_warn: float | UnsetType | None = UNSET
    bounce_act: float | UnsetType | None = UNSET
    complaint_warn: float | UnsetType | None = UNSET
    complaint_act: float | UnsetType | None = UNSET


class ThresholdPatch(Body, frozen=True):
    """Thresholds of a domain or a mailbox."""

    scope: ThresholdSource
    values: ThresholdChanges
    id: UUID | None = None


class Threshold(Struct, frozen=True):
    """A threshold: recipients per hour, or a percentage. `value`: the one in force; `source`: where it is set.
    `inherited`: the value of the wider scope; `highest`: what a domain_admin may set at most. `used`:
    the domain's recipients or copies in the last hour; null for other thresholds and scopes.
    """

    value: float
    source: ThresholdSource
    inherited: float
    highest: float
    used: int | None


class Thresholds(Struct, frozen=True):
    """The thresholds of a scope, by name; a mailbox has none of a whole domain."""

    scope: ThresholdSource
    id: UUID | None
    values: dict[str, Threshold]


def check_subject(scope: ThresholdSource, subject_id: UUID | None) -> UUID | None:
    """The ID of a domain or mailbox. MISSING_FIELDS, INVALID_FIELD."""
    if scope != "global" and subject_id is None:
        raise MissingFields(["id"])
    if scope == "global" and subject_id is not None:
        raise invalid_field("id", "is allowed with scope domain or mailbox only")
    return subject_id


def changes_of(body: ThresholdPatch) -> dict[str, float | None]:
    """The changed values."""
    values = {name: getattr(body.values, name) for name in ThresholdChanges.__struct_fields__}
    return {name: value if value is None else float(value) for name, value in values.items() if value is not UNSET}


def thresholds(
    scope: ThresholdSource,
    subject_id: UUID | None,
    effective: Mapping[str, EffectiveThreshold],
    inherited: Mapping[str, EffectiveThreshold],
    usage: HourlyUsage | None,
) -> Thresholds:
    """The JSON of thresholds, with the usage of a domain."""
    used = {"domain_per_hour": usage.sent, "forward_per_hour": usage.forwarded} if usage else {}
    return Thresholds(
        scope=scope,
        id=subject_id,
        values={
            name: Threshold(
                _number(each.value),
                each.source,
                _number(inherited[name].value),
                _number(each.highest),
                used.get(name),
            )
            for name, each in effective.items()
        },
    )


def _number(value: float) -> float:
    """The number; a whole one without decimals in JSON."""
    return int(value) if value.is_integer() else value
