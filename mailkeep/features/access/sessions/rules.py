"""Which calls the settings block, and the cookies of sessions."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import timedelta

from mailkeep.core.network import is_within
from mailkeep.core.principal import BlockReason, Role
from mailkeep.core.secret import Vault
from mailkeep.features.access.accounts.model import AccountKind
from mailkeep.features.access.sessions.model import COOKIES

_PURPOSES: dict[AccountKind, str] = {"admin": "session", "mailbox": "session of an owner"}


def network_block(address: str, *allowed: Sequence[str]) -> BlockReason | None:
    """NETWORK if one of the lists has networks but none with this address, else None."""
    return None if all(not networks or is_within(address, networks) for networks in allowed) else BlockReason.NETWORK


def account_block(
    role: Role, *, must_change_password: bool, second_factor: bool, required: Collection[str]
) -> BlockReason | None:
    """PASSWORD if the account must change its password, else as `second_factor_block`."""
    return BlockReason.PASSWORD if must_change_password else second_factor_block(role, second_factor, required)


def second_factor_block(role: Role, second_factor: bool, required: Collection[str]) -> BlockReason | None:
    """SECOND_FACTOR if the role is in `required` and the account has no second factor, else None."""
    return BlockReason.SECOND_FACTOR if role.value in required and not second_factor else None


def sign_token(vault: Vault, kind: AccountKind, token: str) -> str:
    """The cookie's value for a session's token."""
    return f"{token}.{vault.sign(_PURPOSES[kind], token.encode())}"


def verify_token(vault: Vault, kind: AccountKind, value: str) -> str | None:
    """The token in a cookie's value, None if the signature is not valid."""
    token, _, signature = value.rpartition(".")
    return token if vault.verify(_PURPOSES[kind], token.encode("utf-8", "replace"), signature) else None


def set_cookie(kind: AccountKind, value: str, lifetime: timedelta) -> str:
    """The Set-Cookie value for a session; `lifetime` 0 removes the cookie."""
    seconds = math.ceil(lifetime.total_seconds())
    return f"{COOKIES[kind]}={value}; Max-Age={seconds}; Path=/; HttpOnly; Secure; SameSite=Strict"


def clear_cookie(kind: AccountKind) -> str:
    """The Set-Cookie value that removes the session's cookie."""
    return set_cookie(kind, "", timedelta(0))
