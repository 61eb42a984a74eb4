"""The use cases of suspensions and of the counts of sending."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import Address, parse_address
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
    HourlyUsage,
    SendCharge,
    SenderSuspension,
    SendingStatus,
    SendVerdict,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events

# Longer than counts matter, so that what is forgotten is touched by nobody.
_COUNTS_KEPT = timedelta(hours=2)
_NO_DOMAIN = UUID(int=0)  # nobody is assigned to it: only who sees all domains


async def count(app: App, who: Principal, at: datetime, uses: Sequence[SendCharge]) -> list[Refusal | None]:
    """Count messages that are about to be submitted; for each, in order, why it may not go out, or None.

    MAILBOX_SUSPENDED; RATE_LIMIT_EXCEEDED with `details.reason` message_above_threshold, domain_rate or sender_rate,
    which suspends the sender. All in short transactions of its own: a suspension stays whatever the caller does.
    """
    limits = app.settings.abuse
    async with app.db.autocommit() as conn:
        uses = await charge_mailboxes(conn, uses)
        verdicts = await store.count(conn, at, uses, limits, may_suspend=False)
    if any(verdict.kind == "sender_rate" for verdict in verdicts):
        async with app.db.tx() as conn:
            verdicts = await store.count(conn, at, uses, limits, may_suspend=True)
            await _suspend_by_rules(conn, who, at, list(zip(uses, verdicts, strict=True)), limits.sender_per_hour)
    return refusals(app, uses, verdicts)


async def charge_mailboxes(
    conn: Conn, uses: Sequence[SendCharge], *, heed_suspensions: bool = True
) -> list[SendCharge]:
    """Messages by the senders that they count for: an address with a tag of a mailbox is that mailbox.

    Of an address that is suspended itself they count for the address, and are refused by that.
    """
    asked = {each.written or each.sender for each in uses if each.written or _may_have_tag(each.sender)}
    found = await store.sending_statuses(conn, asked) if asked else {}
    return [_charge_mailbox(each, found, heed_suspensions) for each in uses]


def _charge_mailbox(use: SendCharge, found: Mapping[str, SendingStatus], heed_suspensions: bool) -> SendCharge:
    address = use.written or use.sender
    standing = found.get(address.key)
    if standing is None:
        return use
    if standing.suspended and heed_suspensions:
        return replace(use, sender=address)
    return use if use.written or not standing.mailbox else replace(use, sender=standing.mailbox)


def _may_have_tag(sender: Address) -> bool:
    """Whether it is worth to ask: which delimiter its domain has is the database's matter."""
    return not DELIMITERS.isdisjoint(sender.local_part)


def count_arguments(app: App, uses: Sequence[SendCharge]) -> dict[str, Any]:
    """Messages (`of_mailboxes`) as the database's `count_sends` takes them, for a statement that does more."""
    return store.count_arguments(uses, app.settings.abuse)


def refusals(app: App, uses: Sequence[SendCharge], verdicts: Sequence[SendVerdict]) -> list[Refusal | None]:
    """Why messages may not go out, or None, by the verdicts about them."""
    limits = app.settings.abuse
    return [
        rules.refusal(use, verdict, limits.sender_per_hour, limits.domain_per_hour)
        for use, verdict in zip(uses, verdicts, strict=True)
    ]


async def uncount(conn: Conn, counted: Sequence[tuple[datetime, SendCharge]]) -> None:
    """Take back messages, each with the time at which it was counted, that were certainly not submitted.

    Their senders and domains are locked until the transaction ends: it comes last in it.
    """
    if counted:
        uses = await charge_mailboxes(conn, [use for _, use in counted], heed_suspensions=False)
        await store.uncount(conn, [(at, use) for (at, _), use in zip(counted, uses, strict=True)])


async def forget_counts(conn: Conn, at: datetime) -> None:
    """Drop counts that no hour reaches back to. Run it a few times an hour."""
    await store.forget_counts(conn, at - _COUNTS_KEPT)


async def external_copies(conn: Conn, addresses: Sequence[Address]) -> list[ExternalCopies]:
    """The recipients among these that aliases and forwards of managed domains lead outside, in their order."""
    return await store.external_copies(conn, [f"{each.local_part}@{each.domain}" for each in addresses])


find_over_limit = rules.find_over_limit
copies_by_domain = rules.copies_by_domain


async def charge_forwards(app: App, at: datetime, charge_id: str | None, copies: Mapping[str, int]) -> Refusal | None:
    """Count the external copies that domains forward for a message that is about to be accepted; why it may not be.

    RATE_LIMIT_EXCEEDED `forward_rate` or `message_above_threshold`: then nothing is counted. A message is counted once
    for its charge_id (the queue id), by which it is taken back where it is not accepted after all.
    """
    limit = app.settings.abuse.forward_per_hour
    async with app.db.autocommit() as conn:
        full = await store.count_forwards(conn, at, charge_id, copies, limit)
    return rules.forward_refusal(full, limit) if full else None


async def may_forward(conn: Conn, at: datetime, domain: str, copies: int, limit: int) -> bool:
    """Whether a domain may forward so many copies now. Nothing is counted."""
    return await store.hourly_forwards(conn, at, domain) + copies <= limit


async def usage(conn: Conn, who: Principal, at: datetime, domain_id: UUID) -> HourlyUsage:
    """What a domain has sent and forwarded in the hour before `at`. DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    domain = await domains.get(conn, who, "domain.list", domain_id)
    return await store.usage(conn, at, domain.name)


async def uncount_forwards(conn: Conn, charge_ids: Collection[str]) -> None:
    """Messages that were charged under these ids are not accepted."""
    if charge_ids:
        await store.uncount_forwards(conn, charge_ids)


async def _suspend_by_rules(
    conn: Conn, who: Principal, at: datetime, judged: Sequence[tuple[SendCharge, SendVerdict]], threshold: int
) -> None:
    actor = Principal(
        None,
        "abuse rules",
        Role.SUPER_ADMIN,
        ActorType.SYSTEM,
        ip_address=who.ip_address,
        user_agent=who.user_agent,
        request_id=who.request_id,
    )
    for use, verdict in judged:
        if verdict.kind != "sender_rate":
            continue
        suspension = rules.rate_suspension(uuid7(at), use, threshold, at)
        if await store.upsert(conn, suspension):
            before, after = _audit_sender_fields(suspension, None), _audit_sender_fields(suspension, suspension)
            await audit.record(
                conn, actor, at, AuditAction("sender.suspend", _target_sender(suspension), before, after)
            )
            await events.emit(conn, at, rules.suspension_event(suspension))


async def page(conn: Conn, who: Principal, domain_id: UUID | None, asked: PageRequest) -> Page[SenderSuspension]:
    """A page of the suspensions that the caller may see; DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE for a domain asked
    for.
    """
    if domain_id is not None:
        await domains.get(conn, who, "suspension.list", domain_id)
    return await store.page(conn, who.domains(), domain_id, asked)


async def get(conn: Conn, who: Principal, suspension_id: UUID) -> SenderSuspension:
    """The suspension with this id. NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    return await _get(conn, who, "suspension.read", suspension_id)


async def lift(conn: Conn, who: Principal, at: datetime, suspension_id: UUID) -> SenderSuspension:
    """Lift a suspension, whether or not its address has a mailbox; what is counted for the sender begins anew.

    NOT_FOUND, API_KEY_DOMAIN_SCOPE; FORBIDDEN where a higher-ranked administrator owns the address.
    """
    seen = await _get(conn, who, "suspension.lift", suspension_id)
    mailbox_rules.refuse_lower_rank(who, await admins.find_owner_role(conn, parse_address(seen.address)))
    present = await store.lock_and_find(conn, seen.address_key)
    if present is None or present.id != suspension_id:
        raise NotFound
    rules.refuse_lifting(who, present)
    await store.delete(conn, present.address_key)
    before, after = _audit_sender_fields(present, present), _audit_sender_fields(present, None)
    await audit.record(conn, who, at, AuditAction("sender.unsuspend", _target_sender(present), before, after))
    return present


async def _get(conn: Conn, who: Principal, action: str, suspension_id: UUID) -> SenderSuspension:
    found = await store.find_by_id(conn, suspension_id)
    if found is None:
        raise NotFound
    allow_on(who, action, found.domain_id or _NO_DOMAIN)
    return found


async def suspend(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID, reason: str) -> Mailbox:
    """Suspend sending for a mailbox's address; answers the mailbox as it is then. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get_for_state_change(conn, who, mailbox_id)
    address = mailbox.address
    present = await store.lock_and_find(conn, address.key)
    if rules.takes_over(who, present):
        suspension = SenderSuspension(
            id=uuid7(at),
            domain_id=mailbox.domain_id,
            address=address.text,
            address_key=address.key,
            reason=reason,
            by_kind="admin",
            by_label=who.label,
            by_rank=who.role.rank,
            created_at=at,
        )
        await store.upsert(conn, suspension)
        audit_action = AuditAction(
            "mailbox.suspend", _target(mailbox), _audit_fields(present), _audit_fields(suspension)
        )
        await audit.record(conn, who, at, audit_action)
        await events.emit(conn, at, rules.suspension_event(suspension))
    return await mailboxes.get(conn, who, mailbox_id)


async def unsuspend(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID) -> Mailbox:
    """Lift the suspension of a mailbox's address; answers the mailbox as it is then. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get_for_state_change(conn, who, mailbox_id)
    present = await store.lock_and_find(conn, mailbox.address.key)
    if present is not None:
        rules.refuse_lifting(who, present)
        await store.delete(conn, present.address_key)
        audit_action = AuditAction("mailbox.unsuspend", _target(mailbox), _audit_fields(present), _audit_fields(None))
        await audit.record(conn, who, at, audit_action)
    return await mailboxes.get(conn, who, mailbox_id)


def _audit_fields(suspension: SenderSuspension | None) -> dict[str, object]:
    if suspension is None:
        return {"suspended": None}
    return {"suspended": {"reason": suspension.reason, "by": suspension.by_label}}


def _target(mailbox: Mailbox) -> AuditTarget:
    return AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)


def _audit_sender_fields(of: SenderSuspension, suspension: SenderSuspension | None) -> dict[str, object]:
    return {"address": of.address} | _audit_fields(suspension)


def _target_sender(suspension: SenderSuspension) -> AuditTarget:
    return AuditTarget("suspension", suspension.id, suspension.domain_id, suspension.domain_name)
