"""Keys under which failed logins are counted, and the second factors of an account."""

from __future__ import annotations

from mailkeep.core.address import AddressError, parse_address
from mailkeep.features.access.logins.model import LoginAccount, SecondFactorMethod


def account_key(email: str) -> tuple[str, str]:
    """The key under which failures of an email are counted, and the caller's name in the audit log.

    Text that is no address is not logged: it may be a password typed into the wrong field.
    """
    try:
        address = parse_address(email)
    except AddressError:
        return f"malformed:{email[:320]}", "(no address)"
    return address.key, address.text


def available_methods(account: LoginAccount) -> tuple[SecondFactorMethod, ...]:
    """The second factors that can complete the account's login; empty if it has none."""
    methods: tuple[tuple[bool, SecondFactorMethod], ...] = (
        (account.totp_enabled, "totp"),
        (account.passkeys, "passkey"),
        (account.totp_enabled or account.passkeys, "recovery_code"),
    )
    return tuple(method for is_available, method in methods if is_available)
