"""An alias."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from mailkeep.core.entity_tag import ANY_VERSION, IfMatch

MAX_DESTINATIONS = 10
"""The default of limits.alias_destinations."""


class Alias(Struct, frozen=True):
    """An alias; `source_local_part` in NFC, empty for the catch-all; destinations as written, and folded (keys).

    A Struct, because lists create hundreds of them, and a frozen dataclass takes four times as long.
    """

    id: UUID
    domain_id: UUID
    source_local_part: str
    destinations: tuple[str, ...]
    destination_keys: tuple[str, ...]
    active: bool
    created_at: datetime
    updated_at: datetime


AliasState = Literal["ok", "partial", "nowhere", "unused", "inactive", "domain_inactive", "receiving_disabled"]
"""Whether mail for an alias reaches anybody: `partial`: not all destinations; `unused`: a mailbox has the address."""


@dataclass(frozen=True, slots=True)
class AliasStatus:
    """The state of an alias, with a sentence for each destination that leads nowhere, and about limits."""

    state: AliasState
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewAlias:
    """An alias to create, not parsed yet."""

    domain_id: UUID
    source_local_part: str
    destination: str
    active: bool


@dataclass(frozen=True, slots=True)
class AliasChanges:
    """Changes of an alias in the version that `if_match` names; None changes nothing.

    `destination` is not parsed yet.
    """

    destination: str | None = None
    active: bool | None = None
    if_match: IfMatch = ANY_VERSION
