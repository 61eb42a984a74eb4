"""Open, retry, undo and list incidents."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import Conflict, NotFound, Refusal
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.directory.app_passwords import service as app_passwords
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.mailflow.abuse import rules as abuse_rules, service as abuse
from mailkeep.features.mailflow.incidents import actions, rules, store
from mailkeep.features.mailflow.incidents.model import (
    ActionState,
    AlertResolution,
    Incident,
    IncidentFilter,
    IncidentSubject,
    NewIncident,
    ResolvedAlert,
    SubjectType,
)
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import Alert
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events

_WRITE = "incident.write"
_NO_DOMAIN = UUID(int=0)  # nobody is assigned to it: only those who see all domains pass


async def page(conn: Conn, who: Principal, filters: IncidentFilter, page_request: PageRequest) -> Page[Incident]:
    """A page of the incidents that the caller may see. DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    if filters.domain_id is not None:
        await domains.get(conn, who, "incident.list", filters.domain_id)
    return await store.page(conn, filters, page_request)


async def get(conn: Conn, who: Principal, incident_id: UUID) -> Incident:
    """The incident. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    incident = await store.find(conn, incident_id)
    if incident is None:
        raise NotFound
    allow_on(who, "incident.read", incident.domain_id or _NO_DOMAIN)
    return incident


async def create(app: App, who: Principal, new: NewIncident) -> Incident:
    """Open an incident and carry out its actions. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; refusals of single
    actions are in their results.
    """
    at = app.clock()
    async with app.db.tx() as conn:
        subject = await _get_subject(conn, who, new.subject_type, new.subject_id)
        incident = Incident(
            id=uuid7(at),
            domain_id=subject.domain_id,
            domain_name=subject.domain_name,
            subject_type=new.subject_type,
            subject_id=new.subject_id,
            subject=subject.label,
            note=new.note,
            by_label=who.label,
            by_rank=who.rank,
            created_at=at,
            undone_at=None,
            undone_by=None,
            undone_rank=None,
            actions=tuple(ActionState(action, "pending") for action in new.actions),
        )
        await store.insert(conn, incident)
        after = {"subject": incident.subject, "actions": list(new.actions), "note": new.note}
        await audit.record(conn, who, at, AuditAction("incident.create", _target(incident), after=after))
        await events.emit(conn, at, rules.incident_event(incident, is_undone=False))
    return await _carry_out(app, who, incident)


async def retry(app: App, who: Principal, incident_id: UUID) -> Incident:
    """Carry out the actions that have failed or were not begun. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; CONFLICT
    `undone`, `undo_begun`.
    """
    async with app.db.tx() as conn:
        incident = await _lock(conn, who, incident_id)
        rules.refuse_retry(incident)
        await audit.record(conn, who, app.clock(), AuditAction("incident.retry", _target(incident)))
    return await _carry_out(app, who, incident)


async def undo(app: App, who: Principal, incident_id: UUID) -> Incident:
    """End what an incident does; it is undone when no action's undo has failed, otherwise this can be repeated.

    NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, CONFLICT `undone`.
    """
    async with app.db.tx() as conn:
        incident = await _lock(conn, who, incident_id)
    for state in reversed(incident.actions):
        if rules.is_to_be_undone(state):
            await _undo_action(app, who, incident_id, state)
    at = app.clock()
    async with app.db.tx() as conn:
        incident = await _lock(conn, who, incident_id)
        results = {each.action: each.undo for each in incident.actions}
        if not any(rules.is_to_be_undone(each) for each in incident.actions):
            incident = replace(incident, undone_at=at, undone_by=who.label, undone_rank=who.rank)
            await store.save_undo(conn, incident)
            await events.emit(conn, at, rules.incident_event(incident, is_undone=True))
        await audit.record(conn, who, at, AuditAction("incident.undo", _target(incident), after=results))
    return incident


async def resolve_alert(app: App, who: Principal, new: AlertResolution) -> ResolvedAlert:
    """Resolve an alert about abuse, and do what is requested about the sender that it is about; nothing of it if one
    is refused. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED; CONFLICT `resolved`, `no_mailbox`;
    UNAVAILABLE for the queue.
    """
    async with app.db.autocommit() as conn:
        alert = await alerts.get(conn, who, "abuse", new.change.alert_id)
        new.change.if_match.check(alert.changed_at)
        rules.refuse_resolved(alert)
        mailbox = await _find_mailbox(conn, who, alert) if new.acts else None
        if new.unsuspend and mailbox and (current := await abuse.lock_and_find(conn, mailbox.address)):
            abuse_rules.refuse_lifting(who, current)  # before mail is deleted
    if (new.revoke_app_passwords or new.purge_queue) and mailbox is None:
        raise Conflict(f"{alert.subject} is not a mailbox.", reason="no_mailbox")
    deleted = await actions.delete_queue(app, "mailbox", mailbox.id) if mailbox and new.purge_queue else 0
    at, revoked, is_lifted = app.clock(), 0, False
    async with app.db.tx() as conn:
        if new.unsuspend:
            is_lifted = await _lift(conn, who, at, alert, mailbox)
        if mailbox and new.revoke_app_passwords:
            for each in await app_passwords.list_of_mailbox(conn, who, mailbox.id):
                await app_passwords.delete(conn, who, at, mailbox.id, each.id)
                revoked += 1
        if deleted and mailbox:
            target = AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
            await audit.record(conn, who, at, AuditAction("queue.delete", target, details={"messages": deleted}))
        alert = await alerts.resolve(conn, who, at, new.change)
    return ResolvedAlert(alert, is_lifted, revoked, deleted)


async def _find_mailbox(conn: Conn, who: Principal, alert: Alert) -> Mailbox | None:
    """The mailbox that an alert is about, if the caller may act on it. FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    address = rules.find_address(alert.subject)
    mailbox = address and await mailboxes.find_by_address(conn, address.key)
    return await mailboxes.get_for_state_change(conn, who, mailbox.id) if mailbox else None


async def _lift(conn: Conn, who: Principal, at: datetime, alert: Alert, mailbox: Mailbox | None) -> bool:
    """Lift the suspension of the sender that an alert is about; whether there was one."""
    address = rules.find_address(alert.subject)
    current = address and await abuse.lock_and_find(conn, address)
    if current is None:
        return False
    if mailbox is None:
        await abuse.lift(conn, who, at, current.id)
    else:
        await abuse.unsuspend(conn, who, at, mailbox.id)
    return True


async def _carry_out(app: App, who: Principal, incident: Incident) -> Incident:
    for state in incident.actions:
        if rules.is_to_be_done(state):
            try:
                await _carry_out_action(app, who, incident.id, state)
            except Refusal as refusal:
                async with app.db.tx() as conn:
                    await _save_result(conn, app.clock(), who, incident, rules.fail(state, refusal))
    async with app.db.autocommit() as conn:
        return await store.find(conn, incident.id) or incident


async def _carry_out_action(app: App, who: Principal, incident_id: UUID, state: ActionState) -> None:
    at = app.clock()
    async with app.db.tx() as conn:
        incident = await _lock(conn, who, incident_id)
        state = rules.find_state(incident, state.action)
        if not rules.is_to_be_done(state):
            return
        rules.refuse_retry(incident)
        state = await actions.carry_out(app, conn, who, at, incident, state)
        if state.action not in rules.QUEUE_ACTIONS:
            await _save_result(conn, at, who, incident, state)
            return
    if state.action == "hold_queue":
        affected = await actions.hold_queue(app, incident)
    else:
        affected = await actions.delete_queue(app, incident.subject_type, incident.subject_id)
    state = replace(state, affected=affected)
    async with app.db.tx() as conn:
        await _save_result(conn, at, who, incident, state)
        current = await store.lock(conn, incident_id)
    if state.action == "hold_queue" and current and any(each.undo for each in current.actions):
        # It was undone while the messages were put on hold.
        await actions.release_queue(app, incident_id)
        async with app.db.tx() as conn:
            await actions.undo(conn, who, at, current, state)


async def _undo_action(app: App, who: Principal, incident_id: UUID, state: ActionState) -> None:
    at = app.clock()
    try:
        if state.action == "hold_queue":
            await actions.release_queue(app, incident_id)
        async with app.db.tx() as conn:
            incident = await _lock(conn, who, incident_id)
            state = rules.find_state(incident, state.action)
            if rules.is_to_be_undone(state):
                state = await actions.undo(conn, who, at, incident, state)
                await store.save_undo_result(conn, incident_id, state)
                await _audit_action(conn, at, who, incident, state, {"undo": state.undo})
    except Refusal as refusal:
        async with app.db.tx() as conn:
            await store.save_undo_result(conn, incident_id, rules.fail_undo(state, refusal))


async def _save_result(conn: Conn, at: datetime, who: Principal, incident: Incident, state: ActionState) -> None:
    await store.save_result(conn, incident.id, state)
    await _audit_action(conn, at, who, incident, state, {"result": state.result})


async def _audit_action(
    conn: Conn, at: datetime, who: Principal, incident: Incident, state: ActionState, result: dict[str, Any]
) -> None:
    details = {"action": state.action, "affected": state.affected} | result
    await audit.record(conn, who, at, AuditAction("incident.act", _target(incident), details=details))


async def _lock(conn: Conn, who: Principal, incident_id: UUID) -> Incident:
    """An incident that the caller may change, which is not undone, locked until the transaction ends."""
    incident = await store.lock(conn, incident_id)
    if incident is None:
        raise NotFound
    allow_on(who, _WRITE, incident.domain_id or _NO_DOMAIN)
    rules.refuse_lower_rank(who, incident)
    try:
        await _get_subject(conn, who, incident.subject_type, incident.subject_id)
    except NotFound:
        pass  # what is left of the incident can still be undone
    rules.refuse_undone(incident)
    return incident


async def _get_subject(conn: Conn, who: Principal, subject_type: SubjectType, subject_id: UUID) -> IncidentSubject:
    """What an incident is about, if the caller may act on it. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if subject_type == "mailbox":
        mailbox = await mailboxes.get_for_state_change(conn, who, subject_id, _WRITE)
        return IncidentSubject(mailbox.address.text, mailbox.domain_id, mailbox.domain_name)
    allow_on(who, _WRITE, _NO_DOMAIN)
    key = await api_keys.get(conn, subject_id) if subject_type == "api_key" else None
    owner_id = key.admin_id if key else subject_id
    owner = await admins.find(conn, owner_id)
    if owner is None:
        raise NotFound
    rules.refuse_account(who, owner.role, is_own=owner_id == who.admin_id, is_key=key is not None)
    return IncidentSubject(key.name if key else owner.email, None, None)


def _target(incident: Incident) -> AuditTarget:
    return AuditTarget("incident", incident.id, incident.domain_id, incident.domain_name)
