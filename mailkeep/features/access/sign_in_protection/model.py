"""Attempts to sign in, the decision about them, and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt to sign in. `account`: its key (`rules.account_of`); `tag` tells different passwords apart."""

    account: str
    source: str
    tag: str


@dataclass(frozen=True, slots=True)
class SignInHistory:
    """What is known about an attempt, from the last 15 minutes.

    `account_failures`: from all unknown sources, or from this source if it is known. `repeated`: the same password is
    already counted. `source_accounts`: the accounts with failures from the source, and this one.
    """

    known_source: bool
    blocked_until: datetime | None
    repeated: bool
    account_failures: int
    source_failures: int
    source_accounts: int


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block that begins if the attempt fails; `account` or `source` None: it applies to all."""

    account: str | None
    source: str | None
    failures: int
    until: datetime


@dataclass(frozen=True, slots=True)
class SignInDecision:
    """Whether the password may be verified: not before `refused_until`, if that is set, else after `delay` seconds.

    `counted`: the attempt is a further failure, unless the password is right. `blocks` begin then.
    """

    refused_until: datetime | None = None
    delay: int = 0
    counted: bool = False
    blocks: tuple[NewBlock, ...] = ()


FailureKey = Literal["source", "account"]


@dataclass(frozen=True, slots=True)
class SignInFailures:
    """Failures from a source (`others`: to how many accounts) or to an account (`others`: from how many sources).

    `name`: the source, or the key of the account. `blocked_until`: of the block of this source or account, if any.
    """

    name: str
    failures: int
    others: int
    last_at: datetime
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class SignInBlock:
    """A block, with the number of failures that caused it."""

    id: UUID
    account: str | None
    source: str | None
    failures: int
    created_at: datetime
    until: datetime
