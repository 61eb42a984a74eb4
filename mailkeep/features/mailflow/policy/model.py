"""A message transaction of one Postfix process."""

from __future__ import annotations

from dataclasses import dataclass, field

from mailkeep.features.directory.routing.model import Route


@dataclass(slots=True)
class Transaction:
    """The recipients of a message so far, and the routes of those that have external copies or whose quota the message
    may exceed. `instance`: Postfix's ID of the transaction.
    """

    instance: str
    recipients: list[str] = field(default_factory=list[str])
    routes: dict[str, Route] = field(default_factory=dict[str, Route])
