"""JSON of blocks."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.access.accounts.model import AccountKind
from mailkeep.features.access.sign_in_protection import rules
from mailkeep.features.access.sign_in_protection.model import SignInBlock
from mailkeep.web.fields import Timestamp


class SignInBlockResponse(Struct, frozen=True):
    """Sign-ins that are refused until `until`, after `failures` wrong passwords.

    Only `address` (an IPv4 address or an IPv6 /64 network): all sign-ins from it, except to accounts that have signed
    in from it before. Only `account`: sign-ins to it from addresses that have never signed in to it. Both: sign-ins to
    the account from an address that has signed in to it. `account_kind` is null without an account.
    """

    id: UUID
    address: str | None
    account: str | None
    account_kind: AccountKind | None
    failures: int
    created_at: Timestamp
    until: Timestamp


class RemovedBlock(Struct, frozen=True):
    """Confirmation that a block was removed."""

    message: str
    id: UUID


def block_response(block: SignInBlock) -> SignInBlockResponse:
    """The JSON of a block."""
    return SignInBlockResponse(
        id=block.id,
        address=block.source,
        account=block.account and rules.address_of(block.account),
        account_kind=rules.kind_of(block.account) if block.account else None,
        failures=block.failures,
        created_at=iso(block.created_at),
        until=iso(block.until),
    )


def removed_response(block: SignInBlock) -> RemovedBlock:
    """The JSON of a block that was removed."""
    return RemovedBlock(f"Sign-ins {rules.describe(block)} are possible again.", block.id)
