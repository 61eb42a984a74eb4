"""JSON of unsubscribe groups."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.unsubscribe.model import UnsubscribeGroup
from mailkeep.web.fields import Body, Patch, Query, Timestamp

GroupName = Annotated[str, Meta(max_length=200, description="Recipients see it on the page of the link.")]


class UnsubscribeGroupRecord(Struct, frozen=True):
    """Messages of a domain from which recipients can unsubscribe."""

    id: UUID
    domain_id: UUID
    name: str
    created_at: Timestamp
    updated_at: Timestamp


class UnsubscribeGroupCreate(Body, frozen=True):
    """A group to create; its name is unique in the domain."""

    domain_id: UUID
    name: GroupName


class UnsubscribeGroupPatch(Patch, frozen=True):
    """Changes of a group."""

    name: GroupName | UnsetType = UNSET


class UnsubscribeGroupQuery(Query, frozen=True):
    """Filters of the list."""

    domain_id: UUID | None = None


class UnsubscribeGroupDeletion(Struct, frozen=True):
    """A group was deleted, with this number of suppressions."""

    message: str
    id: UUID
    suppressions: int


def to_record(group: UnsubscribeGroup) -> UnsubscribeGroupRecord:
    """The response for a group."""
    return UnsubscribeGroupRecord(group.id, group.domain_id, group.name, iso(group.created_at), iso(group.updated_at))
