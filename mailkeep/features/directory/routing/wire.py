"""JSON of routing."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.features.directory.routing.model import RouteExplanation
from mailkeep.web.fields import Query

AddressField = Annotated[str, Meta(max_length=320, description="local@domain, with any tag")]
DecisionField = Annotated[
    str,
    Meta(
        description=(
            "deliver, bounce (reports about sent mail; no delivery), unknown_user,"
            " mailbox_inactive, receiving_disabled, domain_inactive, no_administrator (of"
            " postmaster and abuse), expansion_limit, too_many_destinations, not_managed"
        )
    ),
]


class RouteStepRecord(Struct, frozen=True):
    """One lookup. `step`: bounce, domain_alias, domain, mailbox, alias, plus (the tag), catch_all, forward, postmaster,
    report, reject; `row`: the matching record. The steps after domain_alias are about the target of the alias domain.
    """

    step: str
    result: str
    address: str
    row: dict[str, Any] | None


class RouteDeliveryRecord(Struct, frozen=True):
    """Where mail is delivered: `type` mailbox, external (also for domains that the caller may not see), or report: it
    is read as a report of another server.
    """

    type: str
    address: str
    mailbox_id: UUID | None


class RouteExplanationRecord(Struct, frozen=True):
    """Where mail for an address is delivered, and why."""

    decision: DecisionField
    steps: list[RouteStepRecord]
    deliveries: list[RouteDeliveryRecord]
    warnings: list[str]


class ExplainQuery(Query, frozen=True):
    """The address to explain."""

    address: AddressField


def to_record(explanation: RouteExplanation) -> RouteExplanationRecord:
    """The response for an explanation."""
    route, steps = explanation.route, explanation.steps
    return RouteExplanationRecord(
        decision=route.decision,
        steps=[RouteStepRecord(s.step, s.result, s.address, dict(s.row) if s.row else None) for s in steps],
        deliveries=[RouteDeliveryRecord(d.type, d.address, d.mailbox_id) for d in route.deliveries],
        warnings=list(explanation.warnings),
    )
