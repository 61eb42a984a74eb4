"""Count sent and forwarded mail; set, lift and list suspensions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import Address, parse_address
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound, Refusal
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import ActorType, Principal, Role, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import service as admins
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.rules import DELIMITERS
from mailkeep.features.directory.mailboxes import rules as mailbox_rules, service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.mailflow.abuse import rules, store
from mailkeep.features.mailflow.abuse.model import (
    ExternalCopies,
    SendCharge,
    SenderSuspension,
    SendingStatus,
    SendVerdict,
)
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertProblem
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events

# Longer than counts are used, so that no other transaction has locked the rows to delete.
_COUNT_RETENTION = timedelta(hours=2)
_RULES = Principal(None, "abuse rules", Role.SUPER_ADMIN, ActorType.SYSTEM)
_NO_DOMAIN = UUID(int=0)  # nobody is assigned to it: only those who see all domains pass


async def count(app: App, who: Principal, at: datetime, charges: Sequence[SendCharge]) -> list[Refusal | None]:
    """Count messages that are about to be submitted; returns for each, in order, the refusal or None.

    MAILBOX_SUSPENDED; RATE_LIMIT_EXCEEDED with `details.reason` message_above_threshold, domain_rate or sender_rate,
    which suspends the sender. Uses its own short transactions: a suspension stays even if the caller fails.
    """
    limits = app.settings.abuse
    async with app.db.autocommit() as conn:
        charges = await charge_mailboxes(conn, charges)
        verdicts = await store.count(conn, at, charges, limits, may_suspend=False)
    if any(verdict.kind == "sender_rate" for verdict in verdicts):
        async with app.db.tx() as conn:
            verdicts = await store.count(conn, at, charges, limits, may_suspend=True)
            await _suspend_for_rate(conn, who, at, list(zip(charges, verdicts, strict=True)))
    return refusals(charges, verdicts)


async def charge_mailboxes(
    conn: Conn, charges: Sequence[SendCharge], *, check_suspensions: bool = True
) -> list[SendCharge]:
    """Replace senders by the mailboxes for which they count: an address with a tag counts for its mailbox.

    An address that is itself suspended counts for itself, and is refused because of that.
    """
    addresses = {each.written or each.sender for each in charges if each.written or _may_have_tag(each.sender)}
    statuses = await store.sending_statuses(conn, addresses) if addresses else {}
    return [_charge_mailbox(each, statuses, check_suspensions) for each in charges]


async def counted_senders(conn: Conn, addresses: Sequence[Address]) -> list[str]:
    """The senders (address keys) for which mail of these addresses counts, in their order."""
    charges = await charge_mailboxes(conn, [SendCharge(each, None, 1) for each in addresses], check_suspensions=False)
    return await store.counted_senders(conn, [each.sender.key for each in charges])


def _charge_mailbox(charge: SendCharge, statuses: Mapping[str, SendingStatus], check_suspensions: bool) -> SendCharge:
    address = charge.written or charge.sender
    status = statuses.get(address.key)
    if status is None:
        return charge
    if status.suspended and check_suspensions:
        return replace(charge, sender=address)
    return charge if charge.written or not status.mailbox else replace(charge, sender=status.mailbox)


def _may_have_tag(sender: Address) -> bool:
    """Whether the address has any delimiter; only the database knows that of its domain."""
    return not DELIMITERS.isdisjoint(sender.local_part)


def count_arguments(app: App, charges: Sequence[SendCharge]) -> dict[str, Any]:
    """The arguments of the SQL function `count_sends` for messages, after `charge_mailboxes`."""
    return store.count_arguments(charges, app.settings.abuse)


def refusals(charges: Sequence[SendCharge], verdicts: Sequence[SendVerdict]) -> list[Refusal | None]:
    """The refusal of each message, or None, by its verdict."""
    return [rules.refusal(charge, verdict) for charge, verdict in zip(charges, verdicts, strict=True)]


async def uncount(conn: Conn, counts: Sequence[tuple[datetime, SendCharge]]) -> None:
    """Uncount messages that were certainly not submitted, each with the time at which it was counted.

    Call it last in a transaction: it locks their senders and domains until the transaction ends.
    """
    if counts:
        charges = await charge_mailboxes(conn, [charge for _, charge in counts], check_suspensions=False)
        await store.uncount(conn, [(at, charge) for (at, _), charge in zip(counts, charges, strict=True)])


async def delete_old_counts(conn: Conn, at: datetime) -> None:
    """Delete counts that are no longer used. Run it a few times an hour."""
    await store.delete_counts(conn, at - _COUNT_RETENTION)


async def external_copies(conn: Conn, addresses: Sequence[Address]) -> list[ExternalCopies]:
    """Those of these recipients whose aliases and forwards have external destinations, in their order."""
    return await store.external_copies(conn, [f"{each.local_part}@{each.domain}" for each in addresses])


find_over_limit = rules.find_over_limit
is_permanent = rules.is_permanent
copies_by_domain = rules.copies_by_domain


async def charge_forwards(app: App, at: datetime, charge_id: str | None, copies: Mapping[str, int]) -> Refusal | None:
    """Count the external copies that domains forward for a message about to be accepted; returns the refusal or None.

    RATE_LIMIT_EXCEEDED `forward_rate` or `message_above_threshold`: then nothing is counted. A message is counted once
    per charge_id (the queue ID), which also uncounts it if it is not accepted in the end.
    """
    limit = app.settings.abuse.forward_per_hour
    async with app.db.autocommit() as conn:
        excesses = await store.count_forwards(conn, at, charge_id, copies, limit)
    return rules.forward_refusal(excesses) if excesses else None


async def forward_use(app: App, conn: Conn, domain: str) -> tuple[int, int]:
    """The number of copies that a domain has forwarded in the last hour, and its limit. Does not count any."""
    return await store.forward_use(conn, app.clock(), domain, app.settings.abuse.forward_per_hour)


async def refuse_suspended(conn: Conn, charges: Sequence[SendCharge]) -> list[Refusal | None]:
    """MAILBOX_SUSPENDED for each message whose sender is suspended now. Nothing is counted."""
    charges = await charge_mailboxes(conn, charges)
    statuses = await store.sending_statuses(conn, {each.sender for each in charges})
    suspended = {key for key, status in statuses.items() if status.suspended}
    verdicts = [SendVerdict("suspended" if each.sender.key in suspended else "counted", None) for each in charges]
    return refusals(charges, verdicts)


async def is_suspended(conn: Conn, addresses: Collection[Address]) -> bool:
    """Whether sending is suspended for one of these addresses."""
    return any(status.suspended for status in (await store.sending_statuses(conn, addresses)).values())


async def uncount_forwards(conn: Conn, charge_ids: Collection[str]) -> None:
    """Uncount the messages with these charge IDs."""
    if charge_ids:
        await store.uncount_forwards(conn, charge_ids)


async def _suspend_for_rate(
    conn: Conn, who: Principal, at: datetime, checked: Sequence[tuple[SendCharge, SendVerdict]]
) -> None:
    problems: list[AlertProblem] = []
    for charge, verdict in checked:
        if verdict.kind == "sender_rate":
            suspension = rules.rate_suspension(uuid7(at), charge, verdict.limit or 0, at)
            if await _suspend_by_rules(conn, who, at, suspension):
                problems.append(rules.rate_problem(suspension))
    if problems:
        subjects = {each.subject for each in problems}
        await alerts.report(conn, at, "abuse", problems, kinds=[rules.RATE_ALERT], subjects=subjects)


async def report_suspended(conn: Conn, at: datetime) -> None:
    """End the alerts about senders beyond their limit whose suspension was lifted. Run it as the last thing in a
    transaction, every few minutes.
    """
    subjects = await alerts.list_subjects(conn, "abuse", [rules.RATE_ALERT])
    found = [rules.rate_problem(each) for each in await store.list_by_rules(conn, subjects)]
    await alerts.report(conn, at, "abuse", found, kinds=[rules.RATE_ALERT], subjects=subjects)


async def suspend_by_rules(conn: Conn, at: datetime, sender: Address, domain_id: UUID | None, reason: str) -> bool:
    """Suspend a sender by the rules, with its event; False if the rules or an admin have. Locks it."""
    if not rules.rules_may_replace(await store.lock_and_find(conn, sender.key)):
        return False
    await _suspend_by_rules(conn, _RULES, at, rules.rules_suspension(uuid7(at), sender, domain_id, reason, at))
    return True


async def _suspend_by_rules(conn: Conn, who: Principal, at: datetime, suspension: SenderSuspension) -> bool:
    actor = replace(_RULES, ip_address=who.ip_address, user_agent=who.user_agent, request_id=who.request_id)
    if not await store.upsert(conn, suspension):
        return False
    before, after = _audit_sender_fields(suspension, None), _audit_sender_fields(suspension, suspension)
    await audit.record(conn, actor, at, AuditAction("sender.suspend", _target_sender(suspension), before, after))
    await events.emit(conn, at, rules.suspension_event(suspension))
    return True


async def page(conn: Conn, who: Principal, domain_id: UUID | None, page_request: PageRequest) -> Page[SenderSuspension]:
    """A page of the suspensions that the caller may see, or of one domain. DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    if domain_id is not None:
        await domains.get(conn, who, "suspension.list", domain_id)
    return await store.page(conn, who.domains(), domain_id, page_request)


async def list_newest(conn: Conn, domain_ids: list[UUID] | None, limit: int) -> list[SenderSuspension]:
    """The newest suspensions in these domains (None: in all). Does not check the caller's permission."""
    return (await store.page(conn, domain_ids, None, PageRequest(limit, "created_at", "desc", None))).rows


async def get(conn: Conn, who: Principal, suspension_id: UUID) -> SenderSuspension:
    """The suspension with this ID. NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    return await _get(conn, who, "suspension.read", suspension_id)


async def lift(
    conn: Conn, who: Principal, at: datetime, suspension_id: UUID, if_match: IfMatch = ANY_VERSION
) -> SenderSuspension:
    """Lift a suspension, whether or not its address has a mailbox; an admin also resets the sender's counters.

    NOT_FOUND, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED; FORBIDDEN if a higher-ranked administrator owns the address.
    """
    suspension = await _get(conn, who, "suspension.lift", suspension_id)
    mailbox_rules.refuse_lower_rank(who, await admins.find_owner_role(conn, parse_address(suspension.address)))
    current = await store.lock_and_find(conn, suspension.address_key)
    if current is None or current.id != suspension_id:
        raise NotFound
    rules.refuse_lifting(who, current)
    if_match.check(current.created_at)
    await _delete(conn, who, at, current)
    return current


async def lift_of_deleted(conn: Conn, who: Principal, at: datetime, suspension_ids: Collection[UUID]) -> bool:
    """Lift those of these suspensions that last, though their mailboxes are deleted or have another address; whether
    there was one. FORBIDDEN if a higher rank set it. Does not check the caller's permission.
    """
    lifted = False
    for suspension_id in suspension_ids:
        suspension = await store.find_by_id(conn, suspension_id)
        current = suspension and await store.lock_and_find(conn, suspension.address_key)
        if current is not None and current.id == suspension_id:
            rules.refuse_lifting(who, current)
            await _delete(conn, who, at, current)
            lifted = True
    return lifted


async def _delete(conn: Conn, who: Principal, at: datetime, current: SenderSuspension) -> None:
    await store.delete(conn, current.address_key, reset=rules.resets_counters(who))
    before, after = _audit_sender_fields(current, current), _audit_sender_fields(current, None)
    await audit.record(conn, who, at, AuditAction("sender.unsuspend", _target_sender(current), before, after))


async def _get(conn: Conn, who: Principal, action: str, suspension_id: UUID) -> SenderSuspension:
    suspension = await store.find_by_id(conn, suspension_id)
    if suspension is None:
        raise NotFound
    allow_on(who, action, suspension.domain_id or _NO_DOMAIN)
    return suspension


async def suspend(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID, reason: str) -> Mailbox:
    """Suspend sending for the address of a mailbox, and return the mailbox. NOT_FOUND, FORBIDDEN.

    A suspension by the abuse rules or a higher rank is kept.
    """
    mailbox = await mailboxes.get_for_state_change(conn, who, mailbox_id)
    address = mailbox.address
    current = await store.lock_and_find(conn, address.key)
    if rules.may_replace(who, current):
        suspension = SenderSuspension(
            id=uuid7(at),
            domain_id=mailbox.domain_id,
            address=address.text,
            address_key=address.key,
            reason=reason,
            by_kind="admin",
            by_label=who.label,
            by_rank=who.rank,
            created_at=at,
        )
        await store.upsert(conn, suspension)
        audit_action = AuditAction(
            "mailbox.suspend", _target(mailbox), _audit_fields(current), _audit_fields(suspension)
        )
        await audit.record(conn, who, at, audit_action)
        await events.emit(conn, at, rules.suspension_event(suspension))
    return await mailboxes.get(conn, who, mailbox_id)


async def find(conn: Conn, address_key: str) -> SenderSuspension | None:
    """The suspension of an address. Does not check the caller's permission."""
    return await store.find(conn, address_key)


async def lock_and_find(conn: Conn, address: Address) -> SenderSuspension | None:
    """The suspension of an address, locked until the transaction ends. Does not check the caller's permission."""
    return await store.lock_and_find(conn, address.key)


async def unsuspend(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID) -> Mailbox:
    """Lift the suspension of a mailbox's address, and return the mailbox. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get_for_state_change(conn, who, mailbox_id)
    current = await store.lock_and_find(conn, mailbox.address.key)
    if current is not None:
        rules.refuse_lifting(who, current)
        await store.delete(conn, current.address_key, reset=rules.resets_counters(who))
        audit_action = AuditAction("mailbox.unsuspend", _target(mailbox), _audit_fields(current), _audit_fields(None))
        await audit.record(conn, who, at, audit_action)
    return await mailboxes.get(conn, who, mailbox_id)


def _audit_fields(suspension: SenderSuspension | None) -> dict[str, object]:
    if suspension is None:
        return {"suspended": None}
    return {"suspended": {"reason": suspension.reason, "by": suspension.by_label}}


def _target(mailbox: Mailbox) -> AuditTarget:
    return AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)


def _audit_sender_fields(sender: SenderSuspension, suspension: SenderSuspension | None) -> dict[str, object]:
    return {"address": sender.address} | _audit_fields(suspension)


def _target_sender(suspension: SenderSuspension) -> AuditTarget:
    return AuditTarget("suspension", suspension.id, suspension.domain_id, suspension.domain_name)
