"""Use cases of second factors, and the counting of attempts.

Every change of an account's factors locks the account until its transaction ends. The refusal of a code is raised after
the transaction, because the counted failure must be committed.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import totp
from mailkeep.core.errors import Conflict, RateLimitExceeded, Refusal, TotpInvalid
from mailkeep.core.principal import Principal
from mailkeep.core.secret import Vault, new_recovery_code
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountRef
from mailkeep.features.access.second_factors import rules, store, wire
from mailkeep.features.access.second_factors.model import (
    ISSUER,
    RECOVERY_CODES,
    SETUP_LIFETIME,
    SecondFactorCode,
    TotpFactor,
    TotpSetup,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction

_PURPOSE = "totp"

TotpSetupResponse, to_setup = wire.TotpSetupResponse, wire.to_setup
"""The response to a setup, for the endpoint of owners of mailboxes."""


async def count_attempt(conn: Conn, key: str, at: datetime) -> int:
    """Count an attempt under `key` as a failure; returns the seconds to wait, 0 if the attempt may be made.

    The count is locked until the commit.
    """
    previous = await store.lock_failures(conn, key, at)
    counted, wait = rules.count_attempt(previous, at)
    await store.save_failures(conn, key, counted)
    await store.delete_old_failures(conn, at - rules.WINDOW)
    return wait


async def undo_failure(conn: Conn, key: str) -> None:
    """Uncount an attempt that was right."""
    await store.decrement_failures(conn, key)


def failures_key(account_id: UUID, source: str | None = None) -> str:
    """The key under which an account's wrong codes are counted: from one source, or with None from all others."""
    return f"totp:{account_id}" + (f":{source}" if source else "")


async def verify_code(
    conn: Conn, vault: Vault, account_id: UUID, code: SecondFactorCode, at: datetime, key: str
) -> Refusal | None:
    """Use up a code of the account, which the caller has locked; the attempt is counted under `key`.

    None if it was right, else the refusal to raise after the commit: TOTP_INVALID, or RATE_LIMIT_EXCEEDED after many of
    them. Without an enabled authenticator every TOTP code is wrong.
    """
    factor = await store.find(conn, account_id)
    secret = None
    if factor is not None and factor.enabled_at is not None and not code.is_recovery:
        secret = _decrypt_secret(vault, account_id, factor)
    return await _verify_code(conn, account_id, secret, code, at, key)


async def _verify_code(
    conn: Conn, account_id: UUID, secret: bytes | None, code: SecondFactorCode, at: datetime, key: str
) -> Refusal | None:
    """`verify_code` with the authenticator's secret, None for a recovery code or without an authenticator."""
    wait = await count_attempt(conn, key, at)
    if wait:
        return RateLimitExceeded("Too many wrong codes; try again later.", retry_after=wait)
    if code.is_recovery:
        is_right = await store.use_recovery_code(conn, account_id, rules.hash_recovery_code(account_id, code.code))
    else:
        step = totp.match(secret, code.code, at) if secret else None
        is_right = step is not None and await store.use_step(conn, account_id, step)
    if not is_right:
        return TotpInvalid()
    await undo_failure(conn, key)
    return None


def _decrypt_secret(vault: Vault, account_id: UUID, factor: TotpFactor) -> bytes:
    secret = vault.open(_PURPOSE, factor.secret, account_id.bytes)
    if secret is None:
        raise RuntimeError(
            f"the TOTP secret of account {account_id} can't be decrypted: it was encrypted with another master secret"
        )
    return secret


async def begin_setup(app: App, who: Principal) -> TotpSetup:
    """Create a secret for the caller, replacing a pending one; CONFLICT `totp_enabled`."""
    at = app.clock()
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        secret = totp.new_secret()
        rules.refuse_if_enabled(await store.find(conn, own.id))
        await store.replace(conn, own, app.vault.seal(_PURPOSE, secret, own.id.bytes), at)
        account = await accounts.get(conn, own)
        await audit.record(conn, who, at, AuditAction("totp.setup", accounts.target(account)))
    return TotpSetup(totp.provisioning_uri(secret, account.name, ISSUER), at + SETUP_LIFETIME)


async def enable(app: App, who: Principal, code: str) -> list[str]:
    """Complete the caller's enrolment with a first code; returns the recovery codes, which are shown only once.

    CONFLICT `no_setup`, `totp_enabled`; TOTP_INVALID; RATE_LIMIT_EXCEEDED after many wrong codes.
    """
    at = app.clock()
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        factor = rules.require_pending(await store.find(conn, own.id), at)
        secret = _decrypt_secret(app.vault, own.id, factor)
        refusal = await _verify_code(conn, own.id, secret, SecondFactorCode(code), at, failures_key(own.id))
        if refusal is None:
            await store.enable(conn, own.id, at)
            codes = await replace_recovery_codes(conn, own)
            await accounts.set_totp(conn, who, at, own, "totp.enable", enabled=True)
            return codes
        await _record_failure(conn, who, at, "totp.enable", refusal)
    raise refusal


async def disable(app: App, who: Principal, code: SecondFactorCode) -> None:
    """Disable the caller's authenticator, after verifying a code. CONFLICT `totp_off`, TOTP_INVALID,
    RATE_LIMIT_EXCEEDED.
    """
    at = app.clock()
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        rules.require_enabled(await store.find(conn, own.id))
        refusal = await verify_code(conn, app.vault, own.id, code, at, failures_key(own.id))
        if refusal is None:
            await store.delete(conn, own.id)
            await accounts.set_totp(conn, who, at, own, "totp.disable", enabled=False)
            return
        await _record_failure(conn, who, at, "totp.disable", refusal)
    raise refusal


async def renew_recovery_codes(app: App, who: Principal, code: str) -> list[str]:
    """Replace the caller's recovery codes, after verifying a code of the authenticator; refusals of `disable`."""
    at = app.clock()
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        rules.require_enabled(await store.find(conn, own.id))
        refusal = await verify_code(conn, app.vault, own.id, SecondFactorCode(code), at, failures_key(own.id))
        if refusal is None:
            codes = await replace_recovery_codes(conn, own)
            await accounts.set_totp(conn, who, at, own, "totp.recovery_codes", enabled=True)
            return codes
        await _record_failure(conn, who, at, "totp.recovery_codes", refusal)
    raise refusal


async def reset(conn: Conn, who: Principal, at: datetime, account: AccountRef) -> None:
    """Delete an account's authenticator and, unless it has a passkey, its recovery codes; for the command line.

    CONFLICT `totp_off`.
    """
    await accounts.lock(conn, account)
    if await store.find(conn, account.id) is None:
        raise Conflict("The account has no authenticator.", reason="totp_off")
    await store.delete(conn, account.id)
    await accounts.set_totp(conn, who, at, account, "totp.reset", enabled=False)


async def replace_recovery_codes(conn: Conn, account: AccountRef) -> list[str]:
    """Create recovery codes that replace the account's old ones; the caller has locked the account."""
    codes = [new_recovery_code() for _ in range(RECOVERY_CODES)]
    hashes = [rules.hash_recovery_code(account.id, code) for code in codes]
    await store.replace_recovery_codes(conn, account, hashes)
    return codes


async def delete_recovery_codes(conn: Conn, account: AccountRef) -> None:
    """Delete the recovery codes of an account without any second factor."""
    await store.replace_recovery_codes(conn, account, [])


async def _record_failure(conn: Conn, who: Principal, at: datetime, action: str, refusal: Refusal) -> None:
    """Write a wrong code to the audit log; RATE_LIMIT_EXCEEDED is only counted in the metrics."""
    if isinstance(refusal, TotpInvalid):
        target = accounts.own_target(who)
        audit_action = AuditAction(action, target, outcome="failed", error_code=refusal.code)
        await audit.record(conn, who, at, audit_action)
