"""Read and change the stored settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import Failure, NotFound, PreconditionFailed
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Conn
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.settings_revisions import rules, store
from mailkeep.features.record.settings_revisions.model import (
    RevisionState,
    SettingsChange,
    SettingsRevision,
    StoredSettings,
    UndoneApply,
    Values,
)
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.features.record.system_mail.model import SuperAdminNotice

_PURPOSE = "stored settings"


async def read(conn: Conn, vault: Vault, *, is_full_profile: bool) -> StoredSettings:
    """The stored settings for a profile. Failure if they were sealed with another master secret."""
    by_state = {row["state"]: row for row in await store.find_current(conn)}
    applied = by_state.get("applied")
    newest = by_state.get("desired") or applied
    if newest is None:
        return StoredSettings(is_full_profile=is_full_profile)
    applied_values: Values = unseal(vault, applied["stored"]) if applied else {}
    return StoredSettings(
        newest["n"],
        unseal(vault, newest["stored"]),
        applied_values,
        applied["n"] if applied else 0,
        newest["use_at_start"],
        is_full_profile,
    )


async def page(conn: Conn, page_request: PageRequest) -> Page[SettingsRevision]:
    """A page of the revisions."""
    return await store.page(conn, page_request)


async def read_values(conn: Conn, vault: Vault, n: int) -> Values:
    """The stored values of revision `n`; NOT_FOUND."""
    sealed = await store.find_stored(conn, n)
    if sealed is None:
        newest = max((each["n"] for each in await store.find_current(conn)), default=0)
        known = f"The newest is {newest}." if newest else "None was ever stored."
        raise NotFound(f"There is no revision {n} of the settings. {known}")
    return unseal(vault, sealed)


async def add(
    conn: Conn, vault: Vault, who: Principal, at: datetime, change: SettingsChange, *, is_full_profile: bool
) -> StoredSettings:
    """Add a revision with the values that `change.edit` returns, unless nothing changes; returns what is stored then.

    PRECONDITION_FAILED with the keys in `changed` if the newest revision is not the expected one. All super_admins get
    mail about changes of sensitive settings.
    """
    await store.lock(conn)
    current = await read(conn, vault, is_full_profile=is_full_profile)
    try:
        change.if_match.check_tag(revision_tag(current.n))
    except PreconditionFailed as error:
        expected = _number(change.if_match)
        since = [] if expected is None else await store.list_changes_since(conn, expected)
        raise PreconditionFailed(**(error.details or {}), changed=rules.merge_keys(since)) from None
    values = change.edit(current)
    changes = rules.describe_changes(current.values, values)
    if not changes and not change.is_rollback:
        return current
    after = replace(current, n=current.n + 1, values=values)
    state: RevisionState = "desired" if rules.list_pending(after) else "applied"
    revision = SettingsRevision(after.n, who.admin_id, who.label, change.comment, changes, state, at)
    use_at_start = after.use_at_start or state == "applied"
    await store.insert(conn, revision, seal(vault, values), use_at_start=use_at_start)
    before_and_after = ({key: each[side] for key, each in changes.items()} for side in ("before", "after"))
    action = "config.rollback" if change.is_rollback else "config.update"
    details = {"revision": after.n} | ({"comment": change.comment} if change.comment else {})
    await audit.record(
        conn, who, at, AuditAction(action, AuditTarget("config", None), *before_and_after, details=details)
    )
    await _notify(conn, who, at, "rollback" if change.is_rollback else "update", changes)
    return replace(after, applied=values, applied_n=after.n, use_at_start=True) if state == "applied" else after


async def add_if_changed(
    conn: Conn, vault: Vault, who: Principal, at: datetime, change: SettingsChange, *, is_full_profile: bool
) -> int:
    """As `add`; returns the number of the new revision, 0 if nothing changes."""
    await store.lock(conn)
    before = await read(conn, vault, is_full_profile=is_full_profile)
    after = await add(conn, vault, who, at, change, is_full_profile=is_full_profile)
    return after.n if after.n != before.n else 0


async def _notify(conn: Conn, who: Principal, at: datetime, action: str, changes: Iterable[str]) -> None:
    """Tell all super_admins which sensitive settings were changed, without their values."""
    if sensitive := rules.list_sensitive(changes):
        item = {"action": action, "settings": sensitive}
        await system_mail.notify_super_admins(conn, who, at, SuperAdminNotice("settings_changed", item))


async def mark_applied(conn: Conn, n: int) -> bool:
    """Record that the desired revision `n` is in effect; False if it is not desired any more."""
    await store.lock(conn)
    return await store.mark_applied(conn, n)


async def restore_applied(
    conn: Conn, vault: Vault, who: Principal, at: datetime, undone: UndoneApply, *, is_full_profile: bool
) -> None:
    """Record that the revision before an apply is in effect again. The newest one is desired again, but a start does
    not apply it. All super_admins get mail if sensitive settings have other values now.

    Nothing if `undone.target` did not take effect and is not the newest any more: the newer one was not tried.
    """
    await store.lock(conn)
    by_state = {row["state"]: row["n"] for row in await store.find_current(conn)}
    if by_state.get("applied", 0) == undone.base and by_state.get("desired") != undone.target:
        return
    before = await read(conn, vault, is_full_profile=is_full_profile)
    await store.restore_applied(conn, undone.base)
    after = await read(conn, vault, is_full_profile=is_full_profile)
    if not rules.list_pending(after):  # as after `add`
        await store.mark_applied(conn, after.n)
    changes = rules.describe_changes(rules.select_effective(before), rules.select_effective(after))
    await _notify(conn, who, at, "restore", changes)


def revision_tag(n: int) -> str:
    """The entity tag of the settings in revision `n`."""
    return f'"{n}"'


def _number(if_match: IfMatch) -> int | None:
    text = (if_match.expected or "").strip('"')
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def seal(vault: Vault, values: Values) -> bytes:
    """The values, sealed with the master secret."""
    return vault.seal(_PURPOSE, msgspec.json.encode(values))


def unseal(vault: Vault, sealed: bytes) -> Mapping[str, Any]:
    """The values. Failure if they were sealed with another master secret."""
    plain = vault.open(_PURPOSE, bytes(sealed))
    if plain is None:
        raise Failure("The stored settings were sealed with another master secret.", permanent=True)
    return msgspec.json.decode(plain)
