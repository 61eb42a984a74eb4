"""Revisions of the stored settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from mailkeep.core.entity_tag import ANY_VERSION, IfMatch

RevisionState = Literal["applied", "desired", "superseded"]
Values = Mapping[str, Any]
"""Stored values by key, as in JSON."""


@dataclass(frozen=True, slots=True)
class SettingsRevision:
    """A revision: who changed what. `changes` has each changed key with its value before and after (None: not stored);
    secrets are masked.
    """

    n: int
    author_id: UUID | None
    author: str
    comment: str
    changes: Mapping[str, Mapping[str, Any]]
    state: RevisionState
    created_at: datetime


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """The newest revision (0: none) with its values, and the applied one with its values. `use_at_start`: whether a
    start applies the newest one, which it does not after an apply was rolled back. `is_full_profile`: the profile that
    says which changes need an apply or a start.
    """

    n: int = 0
    values: Values = field(default_factory=dict[str, Any], repr=False)
    applied: Values = field(default_factory=dict[str, Any], repr=False)
    applied_n: int = 0
    use_at_start: bool = True
    is_full_profile: bool = False


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A change of the stored settings. `edit` returns the new values, and refuses what is not valid; it is called while
    no other change can happen. `if_match`: the expected revision. A rollback adds a revision in any case, another
    change only if something differs.
    """

    edit: Callable[[StoredSettings], Values]
    comment: str = ""
    if_match: IfMatch = ANY_VERSION
    is_rollback: bool = False


@dataclass(frozen=True, slots=True)
class UndoneApply:
    """An apply that was rolled back: the revisions before it (0: none) and of it."""

    base: int
    target: int
