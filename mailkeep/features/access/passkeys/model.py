"""A passkey, and what is offered to a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from mailkeep.core.passkey import RelyingParty

CHALLENGE_LIFETIME = timedelta(minutes=5)
MAX_PASSKEYS = 20
"""Passkeys of one account."""


class Purpose(StrEnum):
    """What a challenge was made for; it is good for nothing else."""

    REGISTER = "register"
    LOGIN = "login"
    SECOND_FACTOR = "second_factor"


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered credential. `public_key` is a COSE key; `backed_up` as of its last use."""

    id: UUID
    admin_id: UUID
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
    """A challenge for a browser, until `expires_at`; `passkeys` are the account's (of a login alone: none)."""

    party: RelyingParty
    challenge: bytes
    expires_at: datetime
    passkeys: Sequence[Passkey]


@dataclass(frozen=True, slots=True)
class PasskeyOwner:
    """For whom a passkey is made."""

    id: UUID
    email: str


@dataclass(frozen=True, slots=True)
class Registration:
    """A new passkey; `recovery_codes` where it is the account's first factor, else None."""

    passkey: Passkey
    recovery_codes: list[str] | None
