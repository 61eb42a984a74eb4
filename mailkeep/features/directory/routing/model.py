"""Routes, and the steps that led to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Decision = Literal[
    "deliver",
    "bounce",
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
    """Where mail is delivered: a mailbox, with any tag in its address, or (`mailbox_id` None) an external address, or
    the reader of reports.
    """

    type: Literal["mailbox", "external", "report"]
    address: str
    mailbox_id: UUID | None


@dataclass(frozen=True, slots=True)
class Route:
    """The decision for an address; `deliveries` is empty unless it is `deliver`, and has each destination once.

    `external` is the number of external destinations. `depends_on_size`: the recipient is accepted, but a larger
    message could exceed the quota of every destination.
    """

    decision: Decision
    deliveries: tuple[RouteDestination, ...]
    external: int = 0
    depends_on_size: bool = False


@dataclass(frozen=True, slots=True)
class RouteStep:
    """One lookup: what was looked up under which address, the result, and the row that matched.

    `step`: bounce, domain_alias, domain, mailbox, alias, plus, catch_all, forward, postmaster, report, reject.
    """

    step: str
    result: str
    address: str
    row: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RouteExplanation:
    """A route with its steps, and a sentence for each destination that leads nowhere."""

    route: Route
    steps: tuple[RouteStep, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """Whose filter settings and lists apply to a recipient: its mailboxes, each with its domain, and, if it has
    external destinations (`is_forwarded`), the domain that forwards to them (None: the server's host name). An alias
    domain has those of its target. Nobody's, if no mail is delivered to the recipient.
    """

    mailboxes: Mapping[UUID, UUID]
    is_forwarded: bool
    forwarding_id: UUID | None
