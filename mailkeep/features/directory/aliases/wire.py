"""JSON of aliases."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso
from mailkeep.core.entity_tag import IfMatch
from mailkeep.features.directory.aliases import rules
from mailkeep.features.directory.aliases.model import Alias, AliasChanges, AliasState, AliasStatus, NewAlias
from mailkeep.web.fields import MAY_BE_EMPTY, Body, Patch, Query, Text, Timestamp

Source = Annotated[
    str, Meta(max_length=64, extra=MAY_BE_EMPTY, description="The local part of the alias; empty is the catch-all")
]
Destination = Annotated[
    str,
    Meta(
        max_length=330_000,
        description="One address, or several separated by commas: at most `limits.alias_destinations` (default 10)",
    ),
]


class AliasStatusRecord(Struct, frozen=True):
    """Whether mail for an alias reaches anybody, and in `text` (empty for `ok`) why not. `partial`: it does not reach
    all destinations; `unused`: a mailbox has the address; `domain_inactive`, `receiving_disabled`: its own domain.
    """

    state: AliasState
    text: str


class AliasRecord(Struct, frozen=True):
    """An alias. `status`: in lists null without `with_status`, and after many destinations."""

    id: UUID
    domain_id: UUID
    source_local_part: str
    destination: str
    active: bool
    status: AliasStatusRecord | None
    created_at: Timestamp
    updated_at: Timestamp


class AliasDetail(AliasRecord, frozen=True):
    """An alias with `warnings`: destinations that lead nowhere now, and limits that reject its mail."""

    warnings: list[str]


class AliasCreate(Body, frozen=True):
    """An alias to create."""

    domain_id: UUID
    source_local_part: Source
    destination: Destination
    active: bool = True


class AliasPatch(Patch, frozen=True):
    """Changes of an alias; its source can't change."""

    destination: Destination | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class AliasQuery(Query, frozen=True):
    """Filters of the list; a domain_admin must give `domain_id`. `q` is a substring of the address or of a destination;
    `with_status` adds the status of each alias.
    """

    domain_id: UUID | None = None
    q: Text | None = None
    with_status: bool = False


class AliasBulkDeletion(Body, frozen=True):
    """An item of a bulk deletion, without what names the alias."""


class AliasDeletion(Struct, frozen=True):
    """An alias was deleted."""

    message: str
    id: UUID


def to_record(alias: Alias, status: AliasStatus | None) -> AliasRecord:
    """The response for an alias in a list."""
    created_at = iso(alias.created_at)
    return AliasRecord(
        id=alias.id,
        domain_id=alias.domain_id,
        source_local_part=alias.source_local_part,
        destination=",".join(alias.destinations),
        active=alias.active,
        status=status and _to_status(status),
        created_at=created_at,
        updated_at=created_at if alias.updated_at == alias.created_at else iso(alias.updated_at),
    )


def to_detail(alias: Alias, status: AliasStatus) -> AliasDetail:
    """The response for a single alias."""
    return AliasDetail(
        id=alias.id,
        domain_id=alias.domain_id,
        source_local_part=alias.source_local_part,
        destination=",".join(alias.destinations),
        active=alias.active,
        status=_to_status(status),
        created_at=iso(alias.created_at),
        updated_at=iso(alias.updated_at),
        warnings=list(status.warnings),
    )


def _to_status(status: AliasStatus) -> AliasStatusRecord:
    return AliasStatusRecord(status.state, rules.status_text(status))


def audit_fields(alias: Alias) -> dict[str, Any]:
    """The audit log's fields of an alias."""
    return {
        "source_local_part": alias.source_local_part,
        "destination": ",".join(alias.destinations),
        "active": alias.active,
    }


def read_new(body: AliasCreate) -> NewAlias:
    """The new alias of a body."""
    return NewAlias(body.domain_id, body.source_local_part, body.destination, body.active)


def read_changes(body: AliasPatch, if_match: IfMatch) -> AliasChanges:
    """The changes of a PATCH."""
    return AliasChanges(
        destination=None if body.destination is UNSET else body.destination,
        active=None if body.active is UNSET else body.active,
        if_match=if_match,
    )
