"""The decision about a sign-in, and the keys of accounts and passwords."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.secret import Vault
from mailkeep.features.access.accounts.model import AccountKind
from mailkeep.features.access.sign_in_protection.model import (
    Attempt,
    NewBlock,
    SignInBlock,
    SignInDecision,
    SignInHistory,
)

WINDOW = timedelta(minutes=15)
"""How long a failure counts; also in `sign_in_history` (db/functions)."""
RETENTION = timedelta(hours=1)
"""How long a failure is kept, to be shown."""
SOURCE_RETENTION = timedelta(days=180)
ACCOUNT_FAILURES, KNOWN_FAILURES = 10, 50
SOURCE_FAILURES, SOURCE_ACCOUNTS = 30, 3
_FIRST_WAIT, _LONGEST_WAIT = timedelta(seconds=15), timedelta(minutes=15)
_KNOWN_BLOCK, _SOURCE_BLOCK = timedelta(minutes=15), timedelta(hours=1)
_UNDELAYED = 4
LONGEST_DELAY = 4
"""Seconds. Postfix gives up after 10, within which Dovecot also verifies the password, and delays a failure by 2."""


def decide(attempt: Attempt, history: SignInHistory, at: datetime) -> SignInDecision:
    """Decide about an attempt at the time `at`."""
    if history.blocked_until is not None:
        return SignInDecision(refused_until=history.blocked_until)
    earlier = history.account_failures
    if not history.known_source:
        earlier = max(earlier, history.source_failures)
    delay = 0 if earlier < _UNDELAYED else min(LONGEST_DELAY, 1 << min(earlier - _UNDELAYED, 10))
    if history.repeated:
        return SignInDecision(delay=delay)
    failures, from_source = history.account_failures + 1, history.source_failures + 1
    blocks: list[NewBlock] = []
    if history.known_source:
        if failures >= KNOWN_FAILURES:
            blocks.append(NewBlock(attempt.account, attempt.source, failures, at + _KNOWN_BLOCK))
    else:
        if failures >= ACCOUNT_FAILURES and address_of(attempt.account) is not None:
            blocks.append(NewBlock(attempt.account, None, failures, at + _wait_after(failures)))
        if from_source >= SOURCE_FAILURES and history.source_accounts >= SOURCE_ACCOUNTS:
            blocks.append(NewBlock(None, attempt.source, from_source, at + _SOURCE_BLOCK))
    return SignInDecision(delay=delay, counted=True, blocks=tuple(blocks))


def _wait_after(failures: int) -> timedelta:
    """How long unknown sources wait after this many failures of an account, at least ACCOUNT_FAILURES."""
    return min(_LONGEST_WAIT, _FIRST_WAIT * (1 << min(failures - ACCOUNT_FAILURES, 10)))


def account_of(kind: AccountKind, name: str, vault: Vault) -> str:
    """The key of an account by the name that was entered: `mailbox:alice@example.org`, folded.

    A name that is no address is hashed: it may be a password typed into the wrong field.
    """
    try:
        return f"{kind}:{parse_address(name).key}"
    except AddressError:
        return f"{kind}:{vault.sign('names of sign-ins', name.encode('utf-8', 'surrogatepass'))[:22]}"


def tag_of(account: str, password: str, vault: Vault) -> str:
    """12 bits of a keyed hash of a password."""
    return vault.sign("passwords of sign-ins", f"{account}\0{password}".encode("utf-8", "surrogatepass"))[:2]


def address_of(account: str) -> str | None:
    """The address in an account's key; None if the name was none."""
    address = account.partition(":")[2]
    return address if "@" in address else None


def kind_of(account: str) -> AccountKind:
    """The kind in an account's key."""
    return "mailbox" if account.startswith("mailbox:") else "admin"


def describe(block: SignInBlock | NewBlock) -> str:
    """What a block refuses, after "sign-ins": `to the mailbox alice@example.org from unknown addresses`."""
    account = "all accounts"
    if block.account is not None:
        kind = "the mailbox" if kind_of(block.account) == "mailbox" else "the administrator"
        account = f"{kind} {address_of(block.account)}"
    return f"to {account} from {block.source or 'unknown addresses'}"
