"""Events with arbitrary data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

import msgspec

from mailkeep.features.record.events.model import Event, EventPayload


def sample_event(kind: str, domain_id: UUID | None, message_id: UUID | None, data: Mapping[str, Any]) -> Event:
    """An event of this kind, with data that the kind need not have."""
    names = {f"field_{number}": name for number, name in enumerate(data)}
    shape = msgspec.defstruct(
        "SamplePayload",
        [(field, Any) for field in names],
        bases=(EventPayload,),
        namespace={"kind": kind},
        rename=names,
        frozen=True,
        kw_only=True,
    )
    payload = cast(EventPayload, shape(**{field: data[name] for field, name in names.items()}))
    return Event(domain_id, message_id, payload)
