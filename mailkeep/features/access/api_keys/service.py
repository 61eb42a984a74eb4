"""Use cases of API keys."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailkeep.core.errors import ApiKeyInvalid, NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal, allow_on
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.api_keys import rules, store, wire
from mailkeep.features.access.api_keys.model import (
    KEY_PREFIX,
    PREFIX_LENGTH,
    ApiKey,
    AuthenticatedKey,
    NewApiKey,
    SubmissionServer,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.restrictions import service as restrictions
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.settings import Settings, parse_endpoint


async def list_visible(conn: Conn, who: Principal) -> list[ApiKey]:
    """The keys that the caller may see, newest first."""
    return await store.list_visible(conn, rules.visible_owner(who), rules.visible_key(who))


async def get(conn: Conn, key_id: UUID) -> ApiKey:
    """The key with this id; NOT_FOUND. Does not check the caller's permission."""
    key = await store.find(conn, key_id)
    if key is None:
        raise NotFound
    return key


async def find_valid(conn: Conn, key_id: UUID, at: datetime) -> ApiKey | None:
    """The key with this id; None if it was revoked or disabled, or has expired by `at`."""
    key = await store.find(conn, key_id)
    if key is None or (key.expires_at is not None and key.expires_at <= at):
        return None
    return None if await restrictions.is_restricted(conn, "key", key_id) else key


async def list_of_owner(conn: Conn, admin_id: UUID) -> list[UUID]:
    """The keys of an administrator. Does not check the caller's permission."""
    return [key.id for key in await store.list_visible(conn, admin_id, None)]


async def list_with_descendants(conn: Conn, key_id: UUID) -> list[UUID]:
    """A key and the keys that it created, and so on, locked until the transaction ends."""
    return [key_id, *await store.lock_descendants(conn, key_id)]


async def create(conn: Conn, who: Principal, owner_id: UUID, at: datetime, new_key: NewApiKey) -> tuple[ApiKey, str]:
    """Create a key for an administrator; returns its record and the key itself, which is shown only once.

    DOMAIN_NOT_FOUND for an unknown domain; FORBIDDEN for a domain that is not the caller's, or if the new key exceeds
    the key that creates it.
    """
    await admins.refuse_unknown_domains(conn, new_key.scoped_domain_ids)
    for domain_id in new_key.scoped_domain_ids:
        allow_on(who, "api_key.write", domain_id)
    parent = await _find_parent(conn, who)
    new_key = rules.apply_parent_limits(new_key, parent)
    raw_key = KEY_PREFIX + new_token()
    key = ApiKey(
        id=uuid7(at),
        admin_id=owner_id,
        parent_id=parent.id if parent else None,
        name=new_key.name,
        key_prefix=raw_key[:PREFIX_LENGTH],
        is_scoped=bool(new_key.scoped_domain_ids),
        scoped_domain_ids=tuple(sorted(new_key.scoped_domain_ids)),
        rate_limit=new_key.rate_limit or 0,
        allowed_networks=new_key.allowed_networks,
        permissions=new_key.permissions,
        last_used_at=None,
        expires_at=new_key.expires_at,
        created_at=at,
    )
    await store.insert(conn, key, token_hash(raw_key))
    await audit.record(conn, who, at, AuditAction("api_key.create", _target(key), after=wire.audit_fields(key)))
    return key, raw_key


async def _find_parent(conn: Conn, who: Principal) -> ApiKey | None:
    """The key with which the caller creates keys, None with a session."""
    if who.key_id is None:
        return None
    parent = await store.find(conn, who.key_id)
    if parent is None:
        raise ApiKeyInvalid
    return parent


async def revoke(conn: Conn, who: Principal, at: datetime, key_id: UUID) -> tuple[ApiKey, int]:
    """Delete a key and its descendants (the keys that it created, and so on); NOT_FOUND, FORBIDDEN. Returns the key and
    the number of messages scheduled with them, which will not be sent.
    """
    key = await store.find(conn, key_id)
    if key is None:
        raise NotFound
    rules.refuse_other_owner(who, key)
    descendants = await store.lock_descendants(conn, key_id)
    # The foreign key of `parent_id` deletes the descendants with it.
    if not await store.delete(conn, key_id):
        raise NotFound
    # No foreign key deletes rates. Those of this key may still be locked by requests; a later call deletes them.
    await store.delete_old_rates(conn, at - timedelta(hours=1))
    waiting = await scheduled.count_of_keys(conn, [key_id, *descendants])
    details: dict[str, Any] = {"revoked_with_it": [str(each) for each in descendants]} if descendants else {}
    details |= {"scheduled_messages": waiting} if waiting else {}
    await audit.record(
        conn, who, at, AuditAction("api_key.delete", _target(key), before=wire.audit_fields(key), details=details)
    )
    return key, waiting


async def authenticate(conn: Conn, raw_key: str, at: datetime, address: str, *, count: bool) -> AuthenticatedKey:
    """The key of a request from this address; with `count` the request is counted. API_KEY_INVALID, with
    `details.reason` expired or revoked for a former key.

    `conn` is in autocommit. A request from an address where the key is not allowed is never counted, so that a thief of
    the key can't use up its owner's requests.
    """
    if not rules.is_raw_key(raw_key):
        raise ApiKeyInvalid
    key = await store.authenticate(conn, token_hash(raw_key), at, rules.strip_zone(address), count)
    if key is None:
        reason = await store.find_invalid_reason(conn, token_hash(raw_key), at)
        raise ApiKeyInvalid(f"The API key is {reason}: create a new one.", reason=reason) if reason else ApiKeyInvalid
    return key


async def find_authenticated(
    conn: Conn, key_id: UUID, at: datetime, address: str, *, count: bool
) -> AuthenticatedKey | None:
    """The key of a session that it opened from this address, with its owner's present rights; None if it is not valid
    any more. With `count` a request is counted, as by `authenticate`.
    """
    return await store.authenticate(conn, key_id, at, rules.strip_zone(address), count)


async def opens_submission(conn: Conn, digest: str, address: str, at: datetime) -> bool:
    """Whether the key with this SHA-256 in hexadecimal opens a submission session from this address now."""
    return await store.find_for_submission(conn, digest, address, at) is not None


async def find_for_submission(conn: Conn, raw_key: str, address: str, at: datetime) -> UUID | None:
    """The key if it opens a submission session from this address now."""
    if not rules.is_raw_key(raw_key):
        return None
    return await store.find_for_submission(conn, token_hash(raw_key).hex(), address, at)


async def filter_valid(conn: Conn, key_ids: Collection[UUID], at: datetime) -> set[UUID]:
    """Which of these keys are valid: not revoked or expired, and their owner is not disabled."""
    return await store.filter_valid(conn, key_ids, at)


def _target(key: ApiKey) -> AuditTarget:
    return AuditTarget("api_key", key.id)


def submission_server(settings: Settings, listener: str = "") -> SubmissionServer | None:
    """Where keys send by SMTP; None if no port is open. `listener`: the address of the running listener of the embedded
    profile, if it is not that of the settings.
    """
    if settings.is_full_profile:
        host, starttls_port, tls_port = settings.server.name, settings.ports.submission, settings.ports.submissions
    else:
        (host, starttls_port), tls_port = parse_endpoint(listener or settings.smtp.listen), 0
    if not (starttls_port or tls_port):
        return None
    return SubmissionServer(host, starttls_port or None, tls_port or None)
