"""JSON and CSV of filter settings and list entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.errors import EmptyBatch, FieldError, InvalidField, MissingFields, Refusal
from mailkeep.features.mailflow.filtering import rules
from mailkeep.features.mailflow.filtering.model import (
    MAX_IMPORT,
    OFF,
    Digest,
    EntryFilter,
    EntryKind,
    FilterOwner,
    FilterValues,
    ListName,
    NewEntry,
    OwnerValues,
    Scope,
    StoredEntry,
)
from mailkeep.web.csv_table import CsvTable
from mailkeep.web.decode import decode_body
from mailkeep.web.fields import DECODE_EACH, MAY_BE_EMPTY, Body, Patch, Query, Text, Timestamp

COLUMNS = ("list", "kind", "value", "comment", "enforced")
"""Of an import."""

# Settings

ScoreOrOff = float | Literal["off"]
NewScore = Annotated[float, Meta(ge=0, le=1000)] | Literal["off"] | None
EffectiveScope = Literal["server", "domain", "mailbox", "default"]


class EffectiveScore(Struct, frozen=True):
    """A score in force, and where it is set; `default`: nowhere."""

    value: ScoreOrOff
    scope: EffectiveScope


class EffectiveDigest(Struct, frozen=True):
    """How often a digest is sent, and where that is set."""

    value: Digest
    scope: EffectiveScope


class EffectiveLearn(Struct, frozen=True):
    """Whether the filter learns, and where that is set."""

    value: bool
    scope: EffectiveScope


class EffectiveFiltering(Struct, frozen=True):
    """The settings in force."""

    junk_score: EffectiveScore
    reject_score: EffectiveScore
    digest: EffectiveDigest
    learn: EffectiveLearn


class LessonsRecord(Struct, frozen=True):
    """Messages of a mailbox in the last hour that the filter learned from, and those that were dropped."""

    accepted: int
    dropped: int


class TrainingRecord(Struct, frozen=True):
    """What the filter has learned from moves to and from Junk. It uses it (`active`) when it has learned `required`
    messages of spam and as many others. `unavailable`: there is no filter (embedded profile), or it does not answer.
    `lessons`: null except for a mailbox.
    """

    state: Literal["unavailable", "collecting", "active"]
    spam_learned: int
    ham_learned: int
    required: int
    lessons: LessonsRecord | None


class FilteringRecord(Struct, frozen=True):
    """Filter settings; null: as the wider scope. `junk_score`, `reject_score`: the score from which mail goes to Junk,
    or is refused. `digest`: mail about what went to Junk or was refused. `learn`: from moves to and from Junk.
    """

    junk_score: ScoreOrOff | None
    reject_score: ScoreOrOff | None
    digest: Digest | None
    learn: bool | None
    effective: EffectiveFiltering
    training: TrainingRecord


class FilteringPatch(Patch, frozen=True):
    """Changed filter settings; null: as the wider scope, or the default."""

    junk_score: NewScore | UnsetType = UNSET
    reject_score: NewScore | UnsetType = UNSET
    digest: Digest | UnsetType | None = UNSET
    learn: bool | UnsetType | None = UNSET


def to_record(values: OwnerValues) -> FilteringRecord:
    """The response for settings."""
    own, effective, training, lessons = values.own, values.effective, values.training, values.lessons

    def scope(name: str) -> EffectiveScope:
        scope: Scope = getattr(effective, name).scope
        return "default" if scope == "server" and name in values.defaults else scope

    return FilteringRecord(
        junk_score=_show(own.junk_score),
        reject_score=_show(own.reject_score),
        digest=own.digest,
        learn=own.learn,
        effective=EffectiveFiltering(
            EffectiveScore(_show(effective.junk_score.value), scope("junk_score")),
            EffectiveScore(_show(effective.reject_score.value), scope("reject_score")),
            EffectiveDigest(effective.digest.value, scope("digest")),
            EffectiveLearn(effective.learn.value, scope("learn")),
        ),
        training=TrainingRecord(
            training.state,
            training.spam_learned,
            training.ham_learned,
            training.required,
            LessonsRecord(lessons.accepted, lessons.dropped) if lessons else None,
        ),
    )


def _show(value: Any) -> Any:
    return "off" if isinstance(value, float) and value <= OFF else value


def read_patch(body: FilteringPatch) -> dict[str, Any]:
    """The changed values; a threshold that is off is 0."""
    changes = {name: getattr(body, name) for name in ("junk_score", "reject_score", "digest", "learn")}
    return {
        name: OFF if value == "off" and name != "digest" else value
        for name, value in changes.items()
        if value is not UNSET
    }


def read_change(body: FilteringPatch) -> Callable[[FilterValues], FilterValues]:
    """The change of a body."""
    changes = read_patch(body)
    return lambda values: replace(values, **changes)


def audit_values(values: FilterValues) -> dict[str, Any]:
    """The audit log's fields of settings."""
    return {
        "junk_score": _show(values.junk_score),
        "reject_score": _show(values.reject_score),
        "digest": values.digest,
        "learn": values.learn,
    }


# Entries


class FilterEntryRecord(Struct, frozen=True):
    """An entry of an allow or deny list. `hits`: messages that it decided, to within a few seconds."""

    id: UUID
    list: ListName
    kind: EntryKind
    value: str
    enforced: bool
    comment: str
    created_by: str
    created_at: Timestamp
    hits: int
    last_hit_at: Timestamp | None


Comment = Annotated[str, Meta(max_length=200, extra=MAY_BE_EMPTY)]


class FilterEntryCreate(Body, frozen=True):
    """A new entry. `value`: an address; a domain, which includes its sub-domains; or an IP address or network.
    `enforced`: a deny entry of the server or a domain that narrower scopes can't override.
    """

    list: ListName
    kind: EntryKind
    value: Text
    enforced: bool = False
    comment: Comment = ""


class FilterEntryQuery(Query, frozen=True):
    """Filters of the list; `q`: a substring of value or comment."""

    list: ListName | None = None
    kind: EntryKind | None = None
    q: Text | None = None


class FilterEntryDeletion(Struct, frozen=True):
    """An entry was deleted."""

    message: str
    id: UUID


_ITEM: dict[str, Any] = {
    "type": "object",
    "required": ["list", "kind", "value"],
    "properties": {
        "list": {"type": "string", "enum": list(get_args(ListName))},
        "kind": {"type": "string", "enum": list(get_args(EntryKind))},
        "value": {"type": "string"},
        "comment": {"type": "string", "default": ""},
        "enforced": {"type": "boolean", "default": False},
    },
    "additionalProperties": False,
}


class FilterEntryImport(Body, frozen=True):
    """1 to 10,000 rows. An error in one does not affect the others."""

    items: Annotated[
        list[Any],
        Meta(
            extra=MAY_BE_EMPTY | {DECODE_EACH: (FilterEntryCreate, MAX_IMPORT)},
            extra_json_schema={"items": _ITEM},
        ),
    ]


class FilterImportResult(Struct, frozen=True, omit_defaults=True):
    """The outcome of the row at `index` (from 0): `id` of its entry, or `error`, `code` and `details`."""

    index: int
    id: UUID | None = None
    error: str | None = None
    code: str | None = None
    details: dict[str, Any] | None = None


class FilterImportAnswer(Struct, frozen=True):
    """The results in the order of the rows, and their counts."""

    total: int
    succeeded: int
    failed: int
    results: list[FilterImportResult]


def to_entry(entry: StoredEntry) -> FilterEntryRecord:
    """The response for an entry."""
    return FilterEntryRecord(
        id=entry.id,
        list=entry.list,
        kind=entry.kind,
        value=entry.value,
        enforced=entry.enforced,
        comment=entry.comment,
        created_by=entry.created_by,
        created_at=iso(entry.created_at),
        hits=entry.hits,
        last_hit_at=iso_or_none(entry.last_hit_at),
    )


def read_entry(body: FilterEntryCreate) -> NewEntry:
    """The new entry of a body; INVALID_FIELD."""
    return rules.parse_entry(body.list, body.kind, body.value, body.comment, enforced=body.enforced)


def read_filter(query: FilterEntryQuery) -> EntryFilter:
    """The filters of a list."""
    return EntryFilter(query.list, query.kind, query.q)


def audit_entry(entry: NewEntry | StoredEntry, owner: FilterOwner) -> dict[str, Any]:
    """The audit log's fields of an entry."""
    return {
        "owner": owner.name,
        "list": entry.list,
        "kind": entry.kind,
        "value": entry.value,
        "enforced": entry.enforced,
        "comment": entry.comment,
    }


def read_import(body: FilterEntryImport | CsvTable) -> list[NewEntry | Refusal]:
    """The rows of an import; an invalid one is replaced by its refusal. EMPTY_BATCH; INVALID_FIELD, MISSING_FIELDS for
    the columns of a table.
    """
    items = _read_table(body) if isinstance(body, CsvTable) else body.items
    if not items:
        raise EmptyBatch
    return read_items(items)


def read_items(items: Sequence[Any]) -> list[NewEntry | Refusal]:
    """The items of a JSON import; an invalid one is replaced by its refusal."""
    return [_read_item(each) for each in items]


def _read_table(table: CsvTable) -> list[Any]:
    """The rows as items of a JSON import. An empty cell is an absent field."""
    faults: list[FieldError] = [
        {"field": name[:100], "reason": f"is not a column of this table ({', '.join(COLUMNS)})"}
        for name in table.columns
        if name not in COLUMNS
    ]
    if faults:
        raise InvalidField(faults)
    if missing := [name for name in ("list", "kind", "value") if name not in table.columns]:
        raise MissingFields(missing)
    return [_read_row(table.columns, row) for row in table.rows]


def _read_row(columns: Sequence[str], row: Sequence[str]) -> dict[str, Any]:
    if len(row) > len(columns):
        return {"more cells than columns": ""}  # an unknown field
    item: dict[str, Any] = {name: cell.strip() for name, cell in zip(columns, row, strict=False) if cell.strip()}
    if (enforced := item.get("enforced")) is not None:
        item["enforced"] = {"true": True, "false": False}.get(enforced.lower(), enforced)
    return item


def _read_item(item: Any) -> NewEntry | Refusal:
    if isinstance(item, Refusal):
        return item
    try:
        return read_entry(item if isinstance(item, FilterEntryCreate) else decode_body(item, FilterEntryCreate))
    except Refusal as refusal:
        return refusal.with_traceback(None)


def import_answer(results: Sequence[UUID | Refusal]) -> FilterImportAnswer:
    """The response of an import."""
    rows = [
        FilterImportResult(
            index, error=each.message, code=each.code, details=dict(each.details) if each.details else None
        )
        if isinstance(each, Refusal)
        else FilterImportResult(index, each)
        for index, each in enumerate(results)
    ]
    failed = sum(isinstance(each, Refusal) for each in results)
    return FilterImportAnswer(len(rows), len(rows) - failed, failed, rows)
