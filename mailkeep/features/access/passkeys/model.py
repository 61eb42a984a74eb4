"""Passkeys and challenges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from mailkeep.core.passkey import RelyingParty

CHALLENGE_LIFETIME = timedelta(minutes=5)
MAX_PASSKEYS = 20
"""Maximum number of passkeys of an account."""


class Purpose(StrEnum):
    """What a challenge may be used for."""

    REGISTER = "register"
    LOGIN = "login"
    SECOND_FACTOR = "second_factor"


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered credential (Web Authentication). `public_key` is a COSE key; `backed_up` as of its last use."""

    id: UUID
    account_id: UUID
    credential_id: bytes
    public_key: bytes
    sign_count: int
    name: str
    aaguid: UUID
    transports: tuple[str, ...]
    backup_eligible: bool
    backed_up: bool
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class PasskeyChallenge:
    """A challenge for a browser, valid until `expires_at`, with the account's `passkeys` (empty for a login with a
    passkey alone: the account is not known yet).
    """

    party: RelyingParty
    challenge: bytes
    expires_at: datetime
    passkeys: Sequence[Passkey]


@dataclass(frozen=True, slots=True)
class PasskeyOwner:
    """The account that a passkey is created for."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Registration:
    """A new passkey; `recovery_codes` only if it is the account's first second factor."""

    passkey: Passkey
    recovery_codes: list[str] | None
