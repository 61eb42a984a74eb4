"""What failed logins are counted by, what the installation's policy bars, and the session's cookie."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import timedelta

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.network import is_within
from mailkeep.core.principal import BlockReason, Role
from mailkeep.core.secret import Vault
from mailkeep.features.access.sessions.model import COOKIE, LoginAccount, SecondFactorMethod


def account_key(email: str) -> tuple[str, str]:
    """What failures are counted by, and the name for the audit log, for an email that may be no address at all.

    What is no address isn't named: people type their password into the wrong field.
    """
    try:
        address = parse_address(email)
    except AddressError:
        return f"malformed:{email[:320]}", "(no address)"
    return address.key, address.text


def known_source_key(email: str) -> str:
    """What failures are counted by of sources that have logged into the account before, and of its sessions."""
    return f"known:{account_key(email)[0]}"


def network_bar(address: str, *allowed: Sequence[str]) -> BlockReason | None:
    """What stands against a call from this address: each of the lists must have it, but for those that are empty."""
    return None if all(not networks or is_within(address, networks) for networks in allowed) else BlockReason.NETWORK


def second_factor_bar(role: Role, second_factor: bool, required: Collection[str]) -> BlockReason | None:
    """What stands against an account of this role while it has no second factor."""
    return BlockReason.SECOND_FACTOR if role.value in required and not second_factor else None


def available_methods(account: LoginAccount) -> tuple[SecondFactorMethod, ...]:
    """By which of its factors the account may go on after the password; none: it has no second factor."""
    own: tuple[tuple[bool, SecondFactorMethod], ...] = (
        (account.totp_enabled, "totp"),
        (account.passkeys, "passkey"),
        (account.totp_enabled or account.passkeys, "recovery_code"),
    )
    return tuple(method for has, method in own if has)


def sign_token(vault: Vault, token: str) -> str:
    """The cookie's value for a session's token."""
    return f"{token}.{vault.sign('session', token.encode())}"


def verify_token(vault: Vault, value: str) -> str | None:
    """The token in a cookie's value, None where we did not sign it."""
    token, _, signature = value.rpartition(".")
    return token if vault.verify("session", token.encode("utf-8", "replace"), signature) else None


def set_cookie(value: str, lifetime: timedelta) -> str:
    """Set-Cookie for a session; `lifetime` 0 clears it."""
    seconds = math.ceil(lifetime.total_seconds())
    return f"{COOKIE}={value}; Max-Age={seconds}; Path=/; HttpOnly; Secure; SameSite=Strict"


def clear_cookie() -> str:
    """Set-Cookie that takes the session's cookie away."""
    return set_cookie("", timedelta(0))
