"""Limits on passkeys, and whether an assertion (a use of a passkey) matches its registration."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from mailkeep.core.errors import Conflict
from mailkeep.core.passkey import CredentialResponse, VerifiedAssertion
from mailkeep.features.access.accounts.model import Account
from mailkeep.features.access.admins.model import NO_PASSWORD
from mailkeep.features.access.passkeys.model import MAX_PASSKEYS, Passkey

# An ES256 key without a known private key. Uses of unknown passkeys are verified against it, so that they take as long.
DUMMY_PUBLIC_KEY = bytes.fromhex(
    "a50102032620012158201490fcaaac64eb04c23d61b826eae7bae755067cdd5cd7827cb3cb7838"
    "b6ffea22582098772f96c40afc150f02e7abc354a1f57579b8a970ecc36f477f888991e7762b"
)


def hash_challenge(challenge: bytes) -> bytes:
    """The stored hash of a challenge."""
    return hashlib.sha256(challenge).digest()


def refuse_over_limit(owner: Account) -> None:
    """CONFLICT `limit_reached` if the account has the maximum number of passkeys."""
    if owner.passkeys >= MAX_PASSKEYS:
        text = f"An account has at most {MAX_PASSKEYS} passkeys: delete one first."
        raise Conflict(text, reason="limit_reached", limit=MAX_PASSKEYS)


def refuse_last_factor(owner: Account, required: Collection[str]) -> None:
    """CONFLICT `last_factor` if the role requires a second factor and this passkey is the only one."""
    if owner.role is not None and owner.role.value in required and not owner.totp_enabled and owner.passkeys <= 1:
        raise Conflict(
            "Your role requires two-factor authentication and this is your only second factor. Add another passkey or "
            "an authenticator first.",
            reason="last_factor",
        )


def refuse_last_way_in(owner: Account) -> None:
    """CONFLICT `last_way_in` if the account has no password and no identity, and this is its only passkey."""
    if owner.password_hash == NO_PASSWORD and owner.oidc_provider is None and owner.passkeys <= 1:
        raise Conflict(
            "This passkey is your only way to sign in. First add another one, or ask a super_admin for a password.",
            reason="last_way_in",
        )


def matches_registration(
    passkey: Passkey, response: CredentialResponse, assertion: VerifiedAssertion, *, alone: bool
) -> bool:
    """Whether a verified assertion has the account and backup eligibility of the passkey's registration (Web
    Authentication Level 3 §7.2). A passkey that logs in `alone` (without a password) must name its account.
    """
    handle = response.user_handle
    matches_account = handle == passkey.account_id.bytes or (handle is None and not alone)
    return matches_account and assertion.backup_eligible == passkey.backup_eligible
