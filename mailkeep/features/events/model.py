"""An event about a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is one of the published kinds (`mail.sent`, …); `message_id` the id of the message row."""

    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]
