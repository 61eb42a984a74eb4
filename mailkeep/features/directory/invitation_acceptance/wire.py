"""JSON of the use of an invitation."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.features.access.invitations.model import AccountKind
from mailkeep.features.directory.invitation_acceptance.model import InvitedAccount
from mailkeep.web.fields import Body, Text, Timestamp

# Not validated here: a bad password is WEAK_PASSWORD.
Password = Annotated[
    str,
    Meta(
        description="8 to 256 characters, not a common password, not the address of the account.",
        extra_json_schema={"format": "password", "writeOnly": True},
    ),
]


class InvitationLookup(Body, frozen=True):
    """The token of a link: what is behind its `#`."""

    token: Text


class InvitationPassword(Body, frozen=True):
    """The password that the account gets."""

    password: Password


class InvitedAccountRecord(Struct, frozen=True):
    """The account of an invitation: an administrator, who signs in to the dashboard with `address`, or a mailbox."""

    type: AccountKind
    address: str
    expires_at: Timestamp


class InvitationAcceptance(Struct, frozen=True):
    """The password was set; the link works no more."""

    message: str
    type: AccountKind
    address: str


def to_record(account: InvitedAccount) -> InvitedAccountRecord:
    """The response for the account of an invitation."""
    return InvitedAccountRecord(account.type, account.address, iso(account.expires_at))
