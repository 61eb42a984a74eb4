"""Use cases of second factors, and the counting of attempts.

Every change of an account's factors locks the account until its transaction ends. The refusal of a code is raised after
the transaction, because the counted failure must be committed.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import totp
from mailkeep.core.errors import Conflict, RateLimitExceeded, Refusal, SessionInvalid, TotpInvalid
from mailkeep.core.principal import Principal
from mailkeep.core.secret import Vault, new_recovery_code
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import rules as admin_rules, service as admins
from mailkeep.features.access.second_factors import rules, store
from mailkeep.features.access.second_factors.model import (
    ISSUER,
    RECOVERY_CODES,
    SETUP_LIFETIME,
    SecondFactorCode,
    TotpFactor,
    TotpSetup,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget

_PURPOSE = "totp"


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


def failures_key(admin_id: UUID, source: str | None = None) -> str:
    """The key under which an account's wrong codes are counted: from one source, or with None from all others."""
    return f"totp:{admin_id}" + (f":{source}" if source else "")


async def verify_code(
    conn: Conn, vault: Vault, admin_id: UUID, code: SecondFactorCode, at: datetime, key: str
) -> Refusal | None:
    """Use up a code of the account, which the caller has locked; the attempt is counted under `key`.

    None if it was right, else the refusal to raise after the commit: TOTP_INVALID, or RATE_LIMIT_EXCEEDED after many of
    them. Without an enabled authenticator every TOTP code is wrong.
    """
    factor = await store.find(conn, admin_id)
    secret = None
    if factor is not None and factor.enabled_at is not None and not code.is_recovery:
        secret = _decrypt_secret(vault, admin_id, factor)
    return await _verify_code(conn, admin_id, secret, code, at, key)


async def _verify_code(
    conn: Conn, admin_id: UUID, secret: bytes | None, code: SecondFactorCode, at: datetime, key: str
) -> Refusal | None:
    """`verify_code` with the authenticator's secret, None for a recovery code or without an authenticator."""
    wait = await count_attempt(conn, key, at)
    if wait:
        return RateLimitExceeded("Too many wrong codes; try again later.", retry_after=wait)
    if code.is_recovery:
        is_right = await store.use_recovery_code(conn, admin_id, rules.hash_recovery_code(admin_id, code.code))
    else:
        step = totp.match(secret, code.code, at) if secret else None
        is_right = step is not None and await store.use_step(conn, admin_id, step)
    if not is_right:
        return TotpInvalid()
    await undo_failure(conn, key)
    return None


def _decrypt_secret(vault: Vault, admin_id: UUID, factor: TotpFactor) -> bytes:
    secret = vault.open(_PURPOSE, factor.secret, admin_id.bytes)
    if secret is None:
        raise RuntimeError(
            f"the TOTP secret of account {admin_id} can't be decrypted: it was encrypted with another master secret"
        )
    return secret


async def begin_setup(app: App, who: Principal) -> TotpSetup:
    """Create a secret for the caller, replacing a pending one; CONFLICT `totp_enabled`."""
    admin_id, at = admin_rules.own_id(who), app.clock()
    secret = totp.new_secret()
    async with app.db.tx() as conn:
        await _lock(conn, admin_id)
        rules.refuse_if_enabled(await store.find(conn, admin_id))
        await store.replace(conn, admin_id, app.vault.seal(_PURPOSE, secret, admin_id.bytes), at)
        account = await admins.get(conn, who, admin_id)
        await audit.record(conn, who, at, AuditAction("totp.setup", AuditTarget("admin", admin_id)))
    return TotpSetup(totp.provisioning_uri(secret, account.email, ISSUER), at + SETUP_LIFETIME)


async def enable(app: App, who: Principal, code: str) -> list[str]:
    """Complete the caller's enrolment with a first code; returns the recovery codes, which are shown only once.

    CONFLICT `no_setup`, `totp_enabled`; TOTP_INVALID; RATE_LIMIT_EXCEEDED after many wrong codes.
    """
    admin_id, at = admin_rules.own_id(who), app.clock()
    async with app.db.tx() as conn:
        await _lock(conn, admin_id)
        factor = rules.require_pending(await store.find(conn, admin_id), at)
        secret = _decrypt_secret(app.vault, admin_id, factor)
        refusal = await _verify_code(conn, admin_id, secret, SecondFactorCode(code), at, failures_key(admin_id))
        if refusal is None:
            await store.enable(conn, admin_id, at)
            codes = await replace_recovery_codes(conn, admin_id)
            await admins.set_totp(conn, who, at, admin_id, "totp.enable", enabled=True)
            return codes
        await _record_failure(conn, who, at, "totp.enable", refusal)
    raise refusal


async def disable(app: App, who: Principal, code: SecondFactorCode) -> None:
    """Disable the caller's authenticator, after verifying a code. CONFLICT `totp_off`, TOTP_INVALID,
    RATE_LIMIT_EXCEEDED.
    """
    admin_id, at = admin_rules.own_id(who), app.clock()
    async with app.db.tx() as conn:
        await _lock(conn, admin_id)
        rules.require_enabled(await store.find(conn, admin_id))
        refusal = await verify_code(conn, app.vault, admin_id, code, at, failures_key(admin_id))
        if refusal is None:
            await store.delete(conn, admin_id)
            await admins.set_totp(conn, who, at, admin_id, "totp.disable", enabled=False)
            return
        await _record_failure(conn, who, at, "totp.disable", refusal)
    raise refusal


async def renew_recovery_codes(app: App, who: Principal, code: str) -> list[str]:
    """Replace the caller's recovery codes, after verifying a code of the authenticator; refusals of `disable`."""
    admin_id, at = admin_rules.own_id(who), app.clock()
    async with app.db.tx() as conn:
        await _lock(conn, admin_id)
        rules.require_enabled(await store.find(conn, admin_id))
        refusal = await verify_code(conn, app.vault, admin_id, SecondFactorCode(code), at, failures_key(admin_id))
        if refusal is None:
            codes = await replace_recovery_codes(conn, admin_id)
            await admins.set_totp(conn, who, at, admin_id, "totp.recovery_codes", enabled=True)
            return codes
        await _record_failure(conn, who, at, "totp.recovery_codes", refusal)
    raise refusal


async def reset(conn: Conn, who: Principal, at: datetime, admin_id: UUID) -> None:
    """Delete an account's authenticator and, unless it has a passkey, its recovery codes; for the command line.

    CONFLICT `totp_off`.
    """
    await _lock(conn, admin_id)
    if await store.find(conn, admin_id) is None:
        raise Conflict("The account has no authenticator.", reason="totp_off")
    await store.delete(conn, admin_id)
    await admins.set_totp(conn, who, at, admin_id, "totp.reset", enabled=False)


async def replace_recovery_codes(conn: Conn, admin_id: UUID) -> list[str]:
    """Create recovery codes that replace the account's old ones; the caller has locked the account."""
    codes = [new_recovery_code() for _ in range(RECOVERY_CODES)]
    await store.replace_recovery_codes(conn, admin_id, [rules.hash_recovery_code(admin_id, code) for code in codes])
    return codes


async def delete_recovery_codes(conn: Conn, admin_id: UUID) -> None:
    """Delete the recovery codes of an account without any second factor."""
    await store.replace_recovery_codes(conn, admin_id, [])


async def _lock(conn: Conn, admin_id: UUID) -> None:
    if not await admins.lock(conn, admin_id):
        raise SessionInvalid


async def _record_failure(conn: Conn, who: Principal, at: datetime, action: str, refusal: Refusal) -> None:
    """Write a wrong code to the audit log; RATE_LIMIT_EXCEEDED is only counted in the metrics."""
    if isinstance(refusal, TotpInvalid):
        target = AuditTarget("admin", who.admin_id)
        audit_action = AuditAction(action, target, outcome="failed", error_code=refusal.code)
        await audit.record(conn, who, at, audit_action)
