"""Carry out and undo single actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import NotFound, Unavailable
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountRef
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.admins.model import AdminChanges
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.key_sessions import service as key_sessions
from mailkeep.features.directory.app_passwords import service as app_passwords
from mailkeep.features.directory.mailbox_sessions import service as mailbox_sessions
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.incidents import rules, store
from mailkeep.features.mailflow.incidents.model import ActionState, Incident, IncidentAction, SubjectType
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.features.mailflow.queue.model import SenderQueue
from mailkeep.features.record.restrictions import service as restrictions
from mailkeep.features.record.restrictions.model import RestrictionKind
from mailkeep.features.record.scheduled import service as scheduled

_REASON = "Suspended by an incident."
_KINDS: Mapping[IncidentAction, RestrictionKind] = {
    "disable_sign_in": "sign_in",
    "disable_keys": "key",
    "disable_app_passwords": "app_password",
    "block_app_passwords": "new_app_passwords",
    "disable_forwards": "forwards",
    "disable_sieve": "sieve",
}
_HOLDS_SCHEDULED = ("suspend", "disable_keys", "hold_queue")

Changed = tuple[bool, int]
"""Whether an action changed anything, and how many objects it affected."""


async def carry_out(
    app: App, conn: Conn, who: Principal, at: datetime, incident: Incident, state: ActionState
) -> ActionState:
    """Carry out an action in the caller's transaction, which has locked the incident. Refusals of what it does.

    Of `hold_queue` and `delete_queue` it does what the database knows: the functions with these names do the rest.
    """
    if state.action == "disable_sieve" and not app.settings.is_full_profile:
        raise Unavailable("Sieve is available in the full profile only.", reason="needs_full_profile")
    is_changed, affected = await _CARRY_OUT[state.action](conn, who, at, incident)
    if state.action in _HOLDS_SCHEDULED:
        await _hold_scheduled(conn, incident)
    return replace(state, result="done" if is_changed else "unchanged", affected=affected, error=None)


async def _suspend(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    if incident.subject_type == "admin":
        return await _disable_account(conn, who, at, incident)
    mailbox = await mailboxes.get_for_state_change(conn, who, incident.subject_id)
    current = await abuse.lock_and_find(conn, mailbox.address)
    if current is None:
        await abuse.suspend(conn, who, at, mailbox.id, incident.note or _REASON)
        current = await abuse.lock_and_find(conn, mailbox.address)
        assert current is not None
    elif not await restrictions.is_restricted(conn, "suspension", current.id):
        return False, 0
    await restrictions.add(conn, incident.id, "suspension", [str(current.id)])
    return True, 1


async def _disable_account(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    admin_id = incident.subject_id
    admin = await admins.find(conn, admin_id)
    if admin is None:
        raise NotFound
    if admin.active:
        await admins.change(conn, who, at, admin_id, AdminChanges(active=False))
    elif not await restrictions.is_restricted(conn, "account", admin_id):
        return False, 0
    await restrictions.add(conn, incident.id, "account", [str(admin_id)])
    return True, 1


async def _disable_sign_in(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    await restrictions.add(conn, incident.id, "sign_in", [str(incident.subject_id)])
    await mailbox_sessions.end_of_mailbox(conn, incident.subject_id, at)
    return True, 1


async def _disable_keys(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    key_ids = await _list_keys(conn, incident.subject_type, incident.subject_id)
    await restrictions.add(conn, incident.id, "key", [str(each) for each in key_ids])
    await key_sessions.end_of_keys(conn, key_ids, at)
    return bool(key_ids), len(key_ids)


async def _list_keys(conn: Conn, subject_type: SubjectType, subject_id: UUID) -> list[UUID]:
    if subject_type == "api_key":
        return await api_keys.list_with_descendants(conn, subject_id)
    return await api_keys.list_of_owner(conn, subject_id) if subject_type == "admin" else []


async def _disable_app_passwords(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    ids = [each.id for each in await app_passwords.list_of_mailbox(conn, who, incident.subject_id)]
    await restrictions.add(conn, incident.id, "app_password", [str(each) for each in ids])
    await app_passwords.end_sessions(conn, ids, at)
    return bool(ids), len(ids)


def _restrict_mailbox(kind: RestrictionKind) -> Callable[[Conn, Principal, datetime, Incident], Awaitable[Changed]]:
    async def restrict(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
        await restrictions.add(conn, incident.id, kind, [str(incident.subject_id)])
        return True, 1

    return restrict


async def _end_sessions(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    match incident.subject_type:
        case "mailbox":
            await mailbox_sessions.end_of_mailbox(conn, incident.subject_id, at)
        case "admin":
            await accounts.end_sessions(conn, who, at, AccountRef("admin", incident.subject_id))
        case "api_key":
            await key_sessions.end_of_keys(conn, await _list_keys(conn, "api_key", incident.subject_id), at)
    return True, 1


async def _leave_to_queue(conn: Conn, who: Principal, at: datetime, incident: Incident) -> Changed:
    return True, 0


_CARRY_OUT: Mapping[IncidentAction, Callable[[Conn, Principal, datetime, Incident], Awaitable[Changed]]] = {
    "suspend": _suspend,
    "disable_sign_in": _disable_sign_in,
    "disable_keys": _disable_keys,
    "disable_app_passwords": _disable_app_passwords,
    "block_app_passwords": _restrict_mailbox("new_app_passwords"),
    "disable_forwards": _restrict_mailbox("forwards"),
    "disable_sieve": _restrict_mailbox("sieve"),
    "end_sessions": _end_sessions,
    "hold_queue": _leave_to_queue,
    "delete_queue": _leave_to_queue,
}


async def _hold_scheduled(conn: Conn, incident: Incident) -> None:
    subject = incident.subject_id
    message_ids = await scheduled.list_of_sender(
        conn,
        subject if incident.subject_type == "mailbox" else None,
        await _list_keys(conn, incident.subject_type, subject),
        subject if incident.subject_type == "admin" else None,
    )
    await restrictions.add(conn, incident.id, "scheduled_message", [str(each) for each in message_ids])
    await scheduled.hold(conn, message_ids)


async def hold_queue(app: App, incident: Incident) -> int:
    """Hold what the subject has in the queue; returns how many messages. UNAVAILABLE.

    They are recorded first, so that the undo releases them, however this ends. What another incident holds is recorded
    too; what somebody else has put on hold is not.
    """
    selected = await select_queue(app, incident.subject_type, incident.subject_id)
    async with app.db.tx() as conn:
        held = await restrictions.filter_restricted(conn, "queued_message", selected.on_hold)
        await restrictions.add(conn, incident.id, "queued_message", [*selected.waiting, *held])
    await queue.apply(app, "hold", selected.waiting)
    return len(selected.waiting) + len(held)


async def delete_queue(app: App, subject_type: SubjectType, subject_id: UUID) -> int:
    """Delete what a subject has in the queue; returns how many messages. UNAVAILABLE."""
    selected = await select_queue(app, subject_type, subject_id)
    return await queue.apply(app, "delete", [*selected.waiting, *selected.on_hold])


async def release_queue(app: App, incident_id: UUID) -> None:
    """Release what this incident holds in the queue, and no other one. UNAVAILABLE."""
    async with app.db.autocommit() as conn:
        queue_ids = await restrictions.list_sole(conn, incident_id, "queued_message")
    if queue_ids:
        await queue.apply(app, "release", queue_ids)


async def select_queue(app: App, subject_type: SubjectType, subject_id: UUID) -> SenderQueue:
    """A subject's messages in the queue. UNAVAILABLE."""
    groups = await queue.list_by_sender(app)
    queue_ids = [queue_id for each in groups for queue_id in (*each.waiting, *each.on_hold)]
    async with app.db.tx() as conn:
        if subject_type == "mailbox":
            senders = await store.filter_senders(conn, subject_id, [each.sender for each in groups])
            own = await store.filter_submitted(conn, subject_id, queue_ids)
            groups = [each if each.sender in senders else rules.keep_messages(each, own) for each in groups]
        else:
            key_ids = await _list_keys(conn, subject_type, subject_id)
            own = await store.filter_queue_ids(
                conn, queue_ids, key_ids, subject_id if subject_type == "admin" else None
            )
            groups = [rules.keep_messages(each, own) for each in groups]
    return SenderQueue("", [x for each in groups for x in each.waiting], [x for each in groups for x in each.on_hold])


async def undo(conn: Conn, who: Principal, at: datetime, incident: Incident, state: ActionState) -> ActionState:
    """Undo an action in the caller's transaction, which has locked the incident; `release_queue` comes before."""
    if state.action in _HOLDS_SCHEDULED:
        await scheduled.release(conn, await _parse(conn, incident, "scheduled_message"))
        await restrictions.end_of_incident(conn, incident.id, "scheduled_message")
    ended, is_restored = 0, True
    if state.action == "suspend":
        ended, is_restored = await _unsuspend(conn, who, at, incident)
    elif state.action == "hold_queue":
        ended = await restrictions.end_of_incident(conn, incident.id, "queued_message")
    elif kind := _KINDS.get(state.action):
        ended = await restrictions.end_of_incident(conn, incident.id, kind)
    result = rules.undo_result(state, ended, is_restored=is_restored)
    return replace(state, undo=result, error=None if state.undo == "failed" else state.error)


async def _parse(conn: Conn, incident: Incident, kind: RestrictionKind) -> list[UUID]:
    return [UUID(each) for each in await restrictions.list_sole(conn, incident.id, kind)]


async def _unsuspend(conn: Conn, who: Principal, at: datetime, incident: Incident) -> tuple[int, bool]:
    """End the suspension, or enable the account, unless another incident wants it too. Returns how many restrictions
    ended, and whether they were still as the incident left them.
    """
    kind: RestrictionKind = "account" if incident.subject_type == "admin" else "suspension"
    sole = await _parse(conn, incident, kind)
    ended = await restrictions.end_of_incident(conn, incident.id, kind)
    if not sole:
        return ended, True
    if incident.subject_type == "admin":
        admin = await admins.find(conn, incident.subject_id)
        if admin is None or admin.active:
            return ended, False
        await admins.change(conn, who, at, admin.id, AdminChanges(active=True))
        return ended, True
    mailbox = await mailboxes.find(conn, incident.subject_id)
    current = mailbox and await abuse.lock_and_find(conn, mailbox.address)
    if mailbox and current and current.id in sole:
        await abuse.unsuspend(conn, who, at, mailbox.id)
        return ended, True
    # A suspension stays with the address of a mailbox that was deleted or moved.
    return ended, await abuse.lift_of_deleted(conn, who, at, sole)
