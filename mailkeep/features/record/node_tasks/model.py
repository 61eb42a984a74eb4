"""A task for the process `node`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

State = Literal["waiting", "running", "succeeded", "failed", "withdrawn"]


@dataclass(frozen=True, slots=True)
class NodeTask:
    """A task of a `kind` (`queue.list`, …) with its argument; `result` if it succeeded, `error` if it failed."""

    id: UUID
    kind: str
    argument: Mapping[str, Any]
    state: State
    result: Mapping[str, Any] | None = None
    error: str | None = None
