"""Limits on passkeys, and whether a use matches its registration."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from mailkeep.core.errors import Conflict
from mailkeep.core.passkey import CredentialResponse, VerifiedAssertion
from mailkeep.features.access.admins.model import NO_PASSWORD, Admin
from mailkeep.features.access.passkeys.model import MAX_PASSKEYS, Passkey

# An ES256 key without a known private key. Uses of unknown passkeys are verified against it, so that they take as long.
DUMMY_PUBLIC_KEY = bytes.fromhex(
    "a50102032620012158201490fcaaac64eb04c23d61b826eae7bae755067cdd5cd7827cb3cb7838"
    "b6ffea22582098772f96c40afc150f02e7abc354a1f57579b8a970ecc36f477f888991e7762b"
)


def hash_challenge(challenge: bytes) -> bytes:
    """The stored hash of a challenge."""
    return hashlib.sha256(challenge).digest()


def refuse_over_limit(owner: Admin) -> None:
    """CONFLICT `limit_reached` where the account has the maximum number of passkeys."""
    if owner.passkeys >= MAX_PASSKEYS:
        raise Conflict(f"An account has at most {MAX_PASSKEYS} passkeys.", reason="limit_reached", limit=MAX_PASSKEYS)


def refuse_last_factor(owner: Admin, required: Collection[str]) -> None:
    """CONFLICT `last_factor` where the role requires a second factor and this passkey is the only one."""
    if owner.role.value in required and not owner.totp_enabled and owner.passkeys <= 1:
        raise Conflict(
            "Your role requires two-factor authentication and this is your only second factor. Add another passkey or "
            "an authenticator first.",
            reason="last_factor",
        )


def refuse_last_way_in(owner: Admin, password_hash: str) -> None:
    """CONFLICT `last_way_in` where the account has no password and no identity, and this is its only passkey."""
    if password_hash == NO_PASSWORD and owner.oidc_provider is None and owner.passkeys <= 1:
        raise Conflict(
            "This passkey is your only way to sign in. Set a password or add another passkey first.",
            reason="last_way_in",
        )


def matches_registration(
    passkey: Passkey, response: CredentialResponse, used: VerifiedAssertion, *, alone: bool
) -> bool:
    """Whether a verified use matches the registration: its account, and its backup eligibility (§7.2).

    A passkey that logs in alone must name its account.
    """
    handle = response.user_handle
    named = handle == passkey.admin_id.bytes or (handle is None and not alone)
    return named and used.backup_eligible == passkey.backup_eligible
