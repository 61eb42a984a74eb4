"""Use cases of registering passkeys and logging in with them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import passkey as webauthn
from mailkeep.core.errors import Conflict, InvalidCredentials, NotFound, Refusal, SessionInvalid, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.passkey import CredentialResponse, RelyingParty, VerifiedAssertion
from mailkeep.core.principal import Principal
from mailkeep.core.secret import token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.logins.model import CompletedLogin, FailedLogin, LoginAccount
from mailkeep.features.access.passkeys import rules, store, wire
from mailkeep.features.access.passkeys.model import (
    CHALLENGE_LIFETIME,
    Passkey,
    PasskeyChallenge,
    PasskeyOwner,
    Purpose,
    Registration,
)
from mailkeep.features.access.second_factors import service as second_factors
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.endpoint import Call

_CHALLENGE_BYTES = 32
_UNKNOWN = "(unknown passkey)"
_NO_ACCOUNT = UUID(int=0)

PasskeyLogin = wire.PasskeyLogin
"""The body of a login, for endpoints of other features that open sessions."""


async def begin_registration(
    app: App, call: Call, current_password: str | None
) -> tuple[PasskeyChallenge, PasskeyOwner]:
    """Create a challenge for registering a passkey; returns it and the passkey's future owner.

    CONFLICT `limit_reached`; refusals of `logins.require_recent_login`; UNAVAILABLE without a usable `http.public_url`.
    """
    party, who = _relying_party(app), call.caller()
    await logins.require_recent_login(app, call, current_password, "passkey.setup")
    async with app.db.tx() as conn:
        owner = await accounts.get(conn, accounts.own(who))
        rules.refuse_over_limit(owner)
        passkeys = await store.list_for(conn, owner.ref.id)
        challenge = await _create_challenge(conn, party, app.clock(), Purpose.REGISTER, _session_bytes(who), passkeys)
        await audit.record(conn, who, app.clock(), AuditAction("passkey.setup", accounts.target(owner)))
    return challenge, PasskeyOwner(owner.ref.id, owner.name)


async def register(app: App, call: Call, name: str, credential: Mapping[str, Any]) -> Registration:
    """Store a new credential of the caller; ends the account's other sessions.

    INVALID_FIELD for a credential of another site or a malformed one; CONFLICT `no_challenge`, `limit_reached`,
    `credential_taken`.
    """
    party, who, at = _relying_party(app), call.caller(), app.clock()
    response = webauthn.parse_registration(credential)
    async with app.db.autocommit() as conn:
        challenge_hash = rules.hash_challenge(response.challenge)
        if not await store.use_challenge(conn, challenge_hash, Purpose.REGISTER, _session_bytes(who), at):
            raise Conflict(
                "The registration was begun over 5 minutes ago, in another session, or is completed: begin again.",
                reason="no_challenge",
            )
    registration = await asyncio.to_thread(webauthn.verify_registration, response, party)
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        owner = await accounts.get(conn, accounts.own(who))
        rules.refuse_over_limit(owner)
        passkey = Passkey(
            id=uuid7(at),
            account_id=own.id,
            credential_id=registration.credential_id,
            public_key=registration.public_key,
            sign_count=registration.sign_count,
            name=name,
            aaguid=registration.aaguid,
            transports=registration.transports,
            backup_eligible=registration.backup_eligible,
            backed_up=registration.backed_up,
            created_at=at,
            last_used_at=None,
        )
        await store.insert(conn, own, passkey)
        codes = None if owner.second_factor else await second_factors.replace_recovery_codes(conn, own)
        await accounts.end_sessions(conn, who, at, own)
        audit_action = AuditAction(
            "passkey.register", AuditTarget("passkey", passkey.id), after=wire.audit_fields(passkey)
        )
        await audit.record(conn, who, at, audit_action)
    return Registration(passkey, codes)


async def list_own(conn: Conn, who: Principal) -> list[Passkey]:
    """The caller's passkeys, newest first."""
    return await store.list_for(conn, accounts.own(who).id)


async def rename(app: App, who: Principal, passkey_id: UUID, name: str) -> Passkey:
    """Rename one of the caller's passkeys; NOT_FOUND for any other."""
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        before = await _require_own(conn, own.id, passkey_id)
        await store.rename(conn, passkey_id, name)
        after = await _require_own(conn, own.id, passkey_id)
        change = (wire.audit_fields(before), wire.audit_fields(after))
        await audit.record_change(conn, who, app.clock(), "passkey.rename", AuditTarget("passkey", passkey_id), change)
    return after


async def delete(app: App, call: Call, passkey_id: UUID, current_password: str | None) -> Passkey:
    """Delete one of the caller's passkeys and end its other sessions; with the last factor also the recovery codes.

    NOT_FOUND; CONFLICT `last_factor`, `last_way_in`; refusals of `logins.require_recent_login`.
    """
    who = call.caller()
    await logins.require_recent_login(app, call, current_password, "passkey.delete")
    at = app.clock()
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        passkey = await _require_own(conn, own.id, passkey_id)
        owner = await accounts.get(conn, accounts.own(who))
        rules.refuse_last_factor(owner, app.settings.auth.require_second_factor)
        rules.refuse_last_way_in(owner)
        await store.delete(conn, passkey_id)
        if owner.passkeys <= 1 and not owner.totp_enabled:
            await second_factors.delete_recovery_codes(conn, own)
        await accounts.end_sessions(conn, who, at, own)
        audit_action = AuditAction(
            "passkey.delete", AuditTarget("passkey", passkey_id), before=wire.audit_fields(passkey)
        )
        await audit.record(conn, who, at, audit_action)
    return passkey


async def delete_all(conn: Conn, who: Principal, at: datetime, account: AccountRef) -> int:
    """Delete an account's passkeys but not its recovery codes, for the command line; returns their number."""
    count = await store.delete_all(conn, account.id)
    if count:
        await accounts.end_sessions(conn, who, at, account)
        target = accounts.target(await accounts.get(conn, account))
        await audit.record(conn, who, at, AuditAction("passkey.reset", target, {"passkeys": count}, {"passkeys": 0}))
    return count


async def renew_recovery_codes(app: App, call: Call, current_password: str | None) -> list[str]:
    """Replace the caller's recovery codes and end its other sessions.

    CONFLICT `no_passkey`; refusals of `logins.require_recent_login`.
    """
    who, action = call.caller(), "passkey.recovery_codes"
    await logins.require_recent_login(app, call, current_password, action)
    at = app.clock()
    async with app.db.tx() as conn:
        own = await accounts.lock_own(conn, who)
        if not (await accounts.get(conn, own)).passkeys:
            raise Conflict(
                "You have no passkey. With an authenticator, renew the codes at POST /auth/totp/recovery-codes.",
                reason="no_passkey",
            )
        codes = await second_factors.replace_recovery_codes(conn, own)
        await accounts.end_sessions(conn, who, at, own)
        await audit.record(conn, who, at, AuditAction(action, accounts.own_target(who)))
    return codes


async def begin_login(app: App, call: Call, kind: AccountKind, token: str | None) -> PasskeyChallenge:
    """Create a challenge for logging in with a passkey alone or, with `token`, as second factor of that pending login.

    SESSION_INVALID if that login has expired; FORBIDDEN `network`; UNAVAILABLE as in `begin_registration`.
    """
    logins.refuse_network(app, call, kind)
    party, at = _relying_party(app), app.clock()
    async with app.db.tx() as conn:
        if token is None:
            return await _create_challenge(conn, party, at, Purpose.LOGIN, _bind(kind), [])
        account = await logins.find_pending(conn, call, kind, token, at)
        if account is None:
            raise SessionInvalid(logins.EXPIRED_SIGN_IN)
        passkeys = await store.list_for(conn, account.id)
        return await _create_challenge(conn, party, at, Purpose.SECOND_FACTOR, token_hash(token), passkeys)


def _bind(kind: AccountKind) -> bytes:
    """What the challenge of a login with a passkey alone is bound to."""
    return b"" if kind == "admin" else kind.encode()


@dataclass(frozen=True, slots=True)
class _PasskeyAttempt:
    """A login with a passkey whose challenge was valid. `token`: of the pending login, None for a passkey alone.

    `passkey` is None if its credential is unknown or belongs to another account than the pending login.
    """

    kind: AccountKind
    response: CredentialResponse
    token: str | None
    account: LoginAccount | None
    passkey: Passkey | None


async def login(
    app: App, call: Call, kind: AccountKind, credential: Mapping[str, Any], token: str | None
) -> CompletedLogin:
    """Open a session with a passkey: alone, with user verification, or as second factor of a pending login.

    SESSION_INVALID if the challenge or that login is unknown, used or expired; INVALID_CREDENTIALS for a passkey that
    is unknown, of another account or site, or whose counter has not increased; FORBIDDEN `network`, `self_service`.
    """
    logins.refuse_network(app, call, kind)
    party, at = _relying_party(app), app.clock()
    response = webauthn.parse_assertion(credential)
    async with app.db.tx() as conn:
        attempt = await _use_challenge(conn, call, kind, response, token, at)
    if attempt is None:
        raise SessionInvalid("The sign-in has expired, or this response of the passkey was used before: begin again.")
    key = attempt.passkey.public_key if attempt.passkey else rules.DUMMY_PUBLIC_KEY
    alone = token is None
    assertion = await asyncio.to_thread(webauthn.verify_assertion, response, party, key, user_verified=alone)
    async with app.db.tx() as conn:
        # Refusals are returned and raised after the commit, which keeps their entry in the audit log.
        result = await _open_session(app, conn, call, attempt, assertion, at)
    if isinstance(result, Refusal):
        raise result
    if result.admin is not None:
        admins.remove_initial_password(app)
    return result


async def _use_challenge(
    conn: Conn, call: Call, kind: AccountKind, response: CredentialResponse, token: str | None, at: datetime
) -> _PasskeyAttempt | None:
    """Use up the challenge and an attempt of the pending login; None if either has expired."""
    account = None
    if token is not None:
        account = await logins.use_attempt(conn, call, kind, token, at)
        if account is None:
            return None
    purpose, bound_to = (Purpose.SECOND_FACTOR, token_hash(token)) if token else (Purpose.LOGIN, _bind(kind))
    if not await store.use_challenge(conn, rules.hash_challenge(response.challenge), purpose, bound_to, at):
        return None
    passkey = await store.find_by_credential(conn, kind, response.credential_id)
    if account is None:  # also for an unknown passkey, so that it takes as long as a known one
        account = await logins.find_account(
            conn, call, AccountRef(kind, passkey.account_id if passkey else _NO_ACCOUNT)
        )
    is_foreign = passkey is not None and account is not None and passkey.account_id != account.id
    return _PasskeyAttempt(kind, response, token, account, None if is_foreign else passkey)


async def _open_session(
    app: App, conn: Conn, call: Call, attempt: _PasskeyAttempt, assertion: VerifiedAssertion | None, at: datetime
) -> CompletedLogin | Refusal:
    """Open the session, or return the refusal, which is recorded; `assertion` is None if it is not valid."""
    account, passkey, alone = attempt.account, attempt.passkey, attempt.token is None
    if account is None or passkey is None or assertion is None:
        return await _record_refusal(app, conn, call, attempt, "unknown" if passkey is None else "rejected")
    if not rules.matches_registration(passkey, attempt.response, assertion, alone=alone):
        return await _record_refusal(app, conn, call, attempt, "rejected")
    if refusal := logins.self_service_refusal(account):
        return await _record_refusal(app, conn, call, attempt, "self_service", refusal)
    if not await accounts.lock(conn, account.ref) or await store.find(conn, account.id, passkey.id) is None:
        return await _record_refusal(app, conn, call, attempt, "unknown")
    if not await store.record_use(conn, passkey.id, assertion, at):
        return await _record_refusal(app, conn, call, attempt, "counter")
    if attempt.token is not None and not await logins.end_pending(conn, attempt.token):
        return SessionInvalid(logins.EXPIRED_SIGN_IN)
    method = "passkey" if alone else "password+passkey"
    result = await logins.open_session(app, conn, call, account, at, method)
    return result or SessionInvalid("Your credentials changed during the sign-in: sign in again.")


async def _record_refusal(
    app: App, conn: Conn, call: Call, attempt: _PasskeyAttempt, reason: str, refusal: Refusal | None = None
) -> Refusal:
    account = attempt.account
    refusal = refusal or InvalidCredentials("The passkey was not accepted. Try another one, or sign in another way.")
    failed = FailedLogin.of(account) if account else FailedLogin(_UNKNOWN, attempt.kind)
    await logins.record_failed_login(
        app, conn, call, app.clock(), failed, type(refusal), method="passkey", reason=reason
    )
    return refusal


async def _create_challenge(
    conn: Conn, party: RelyingParty, at: datetime, purpose: Purpose, bound_to: bytes, passkeys: list[Passkey]
) -> PasskeyChallenge:
    challenge, expires_at = os.urandom(_CHALLENGE_BYTES), at + CHALLENGE_LIFETIME
    await store.delete_expired_challenges(conn, at)
    await store.insert_challenge(conn, rules.hash_challenge(challenge), purpose, bound_to, expires_at)
    return PasskeyChallenge(party, challenge, expires_at, passkeys)


def _relying_party(app: App) -> RelyingParty:
    party = webauthn.relying_party(app.settings.http.public_url)
    if party is None:
        raise Unavailable(
            "Passkeys require that http.public_url is an https URL with a host name instead of an IP address, or "
            f"localhost (it is {app.settings.http.public_url}).",
            reason="public_url",
        )
    return party


def _session_bytes(who: Principal) -> bytes:
    assert who.session_id is not None  # the policy refuses this action with a key
    return who.session_id.bytes


async def _require_own(conn: Conn, account_id: UUID, passkey_id: UUID) -> Passkey:
    passkey = await store.find(conn, account_id, passkey_id)
    if passkey is None:
        raise NotFound
    return passkey
