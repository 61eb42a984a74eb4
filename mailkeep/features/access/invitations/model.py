"""An invitation to set the password of an account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from mailkeep.core.address import Address
from mailkeep.features.record.audit.model import AuditTarget

LIFETIME = timedelta(hours=72)
"""How long a link works."""
PAGE = "/invitation"
"""The page of the link."""

AccountKind = Literal["admin", "mailbox"]
"""The kinds of accounts that have invitations."""
Invite = Annotated[
    bool, Meta(description="Instead of a password: create a link with which the account's owner sets one.")
]
InviteTo = Annotated[
    str,
    Meta(
        max_length=320,
        extra_json_schema={"format": "email"},
        description="Mail the link to this address instead of showing it.",
    ),
]


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation to create for an account, whose address is in `domain`. `target`: the account in the audit log;
    `send_to`: where to mail the link, None: it is shown.
    """

    kind: AccountKind
    account_id: UUID
    target: AuditTarget
    domain: str
    send_to: Address | None


@dataclass(frozen=True, slots=True)
class StoredInvitation:
    """An invitation without its link, of an administrator or a mailbox."""

    id: UUID
    kind: AccountKind
    account_id: UUID
    sent_to: str | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation for the response to its creation; `url` is None if it was mailed to `sent_to`, or shown before."""

    url: str | None
    sent_to: str | None
    expires_at: datetime
