"""Where an address goes, and the way there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Decision = Literal[
    "deliver",
    "unknown_user",
    "mailbox_inactive",
    "mailbox_full",
    "message_too_large",
    "receiving_disabled",
    "domain_inactive",
    "no_administrator",
    "expansion_limit",
    "too_many_destinations",
    "not_managed",
]


@dataclass(frozen=True, slots=True)
class RouteDestination:
    """Where mail ends: a mailbox, its address with any tag, or (`mailbox_id` None) an address outside."""

    type: Literal["mailbox", "external"]
    address: str
    mailbox_id: UUID | None


@dataclass(frozen=True, slots=True)
class Route:
    """What is decided for an address; `deliveries` only with `deliver`, each place once.

    `external` counts the places outside. `depends_on_size`: a message may be too large for the quota of all places.
    """

    decision: Decision
    deliveries: tuple[RouteDestination, ...]
    external: int = 0
    depends_on_size: bool = False


@dataclass(frozen=True, slots=True)
class RouteStep:
    """One look-up: what was looked for under which address, what came of it, and the row that answered.

    `step`: domain, mailbox, alias, plus, catch_all, forward, postmaster, reject.
    """

    step: str
    result: str
    address: str
    row: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RouteExplanation:
    """A route with the steps that led to it, and a sentence for each dead end on the way."""

    route: Route
    steps: tuple[RouteStep, ...]
    warnings: tuple[str, ...]
