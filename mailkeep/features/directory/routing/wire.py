"""JSON of routing."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.features.directory.routing.model import Explanation
from mailkeep.web.fields import Query

AskedAddress = Annotated[str, Meta(max_length=320, description="local@domain, tag and all")]
DecisionTold = Annotated[
    str,
    Meta(
        description=(
            "deliver, unknown_user, mailbox_inactive, receiving_disabled, domain_inactive, no_administrator (of"
            " postmaster and abuse), expansion_limit, too_many_destinations, not_managed"
        )
    ),
]


class StepTold(Struct, frozen=True):
    """One look-up: `step`: domain, mailbox, alias, plus, catch_all, forward, postmaster, reject; `row`: the match."""

    step: str
    result: str
    address: str
    row: dict[str, Any] | None


class DeliveryTold(Struct, frozen=True):
    """Where mail ends: `type` mailbox, or external (outside, or in a domain that the caller may not see)."""

    type: str
    address: str
    mailbox_id: UUID | None


class ExplanationTold(Struct, frozen=True):
    """Where an address goes, and why."""

    decision: DecisionTold
    steps: list[StepTold]
    deliveries: list[DeliveryTold]
    warnings: list[str]


class ExplainQuery(Query, frozen=True):
    """What to explain."""

    address: AskedAddress


def told(found: Explanation) -> ExplanationTold:
    """An explanation as it is answered."""
    return ExplanationTold(
        decision=found.route.decision,
        steps=[StepTold(s.step, s.result, s.address, dict(s.row) if s.row else None) for s in found.steps],
        deliveries=[DeliveryTold(d.type, d.address, d.mailbox_id) for d in found.route.deliveries],
        warnings=list(found.warnings),
    )
