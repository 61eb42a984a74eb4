"""Endpoints that are served twice, for administrators and for owners of mailboxes: what differs in their declarations.

`/auth` (the caller's account) and `/mailboxes/{id}` (any mailbox) are for administrators; `/me` is both for an owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from mailkeep.web.endpoint import Call


@dataclass(frozen=True, slots=True)
class Area:
    """Where endpoints are served. `actions`: those of owners, by the action of administrators. `account`: the kind of
    the caller's account in the audit log. `path`: the parameters of `prefix` in examples.
    """

    prefix: str
    tag: str
    account: str = "admin"
    actions: Mapping[str, str] = field(default_factory=dict[str, str])
    path: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def is_own_mailbox(self) -> bool:
        """Whether it is that of owners."""
        return bool(self.actions)

    def action(self, name: str) -> str:
        """The action in the access policy."""
        return self.actions.get(name, name)


ACCOUNT = Area("/auth", "Authentication")
MAILBOX = Area("/mailboxes/{id}", "Mailboxes", path={"id": "{mailbox_id}"})
SIEVE = Area("/mailboxes/{id}", "Sieve", path={"id": "{mailbox_id}"})
OWN_MAILBOX = Area(
    "/me",
    "Own mailbox",
    "mailbox",
    {
        "session.list": "me.read",
        "session.leave": "me.leave",
        "account.change": "me.credentials",
        "factor.enrol": "me.credentials",
        "factor.change": "me.credentials",
        "passkey.list": "me.read",
        "mailbox.read": "me.read",
        "mailbox.write": "me.write",
        "app_password.write": "me.credentials",
        "filter.read": "me.read",
        "filter.write": "me.write",
        "sieve.read": "me.read",
        "sieve.write": "me.write",
    },
)


def mailbox_id(call: Call) -> UUID:
    """The mailbox that a call is about: the caller's own, else that in the path. NOT_FOUND if its ID is malformed."""
    own = call.caller().mailbox
    return own.id if own else call.id()
