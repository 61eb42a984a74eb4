"""Decides about the copies of a message for the built-in listener, by thresholds and lists (`mailflow/filtering`).

There is no filter: no score, except for the test string GTUBE, and no proof of a sender. So allow entries for addresses
and domains never apply; those for networks do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailkeep.app import App
from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import Decision, Facts, Policy
from mailkeep.features.mailflow.receiving import rules, store
from mailkeep.features.mailflow.receiving.model import InboundMail, SpamVerdict, TargetMailbox
from mailkeep.mail.smtp.reply import SmtpReply

_MAX_AUTHORS = 10
CountHit = Callable[[UUID | None], None]
"""Counts a match of a list entry (`HitCounter.count`)."""


@dataclass(frozen=True, slots=True)
class JudgedMail:
    """The mailboxes of a message with the verdicts for their copies, and the verdicts for the external copies of each
    domain, by its name. `is_refused`: every copy is; otherwise a refusal means Junk, or that nothing is forwarded.
    """

    targets: Mapping[UUID, TargetMailbox]
    verdicts: Mapping[UUID, SpamVerdict]
    domains: Mapping[str, SpamVerdict]
    is_refused: bool


def ignore_hit(entry_id: UUID | None) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """What the listener keeps of its clients: hits of entries, and whether a refusal may have rows in the history."""

    count_hit: CountHit = ignore_hit
    may_record: Callable[[], bool] = bool


NO_ACCOUNTS = Accounts()


async def check_sender(
    app: App, address: str, route: Route, domain: str, facts: Facts, count_hit: CountHit = ignore_hit
) -> SmtpReply | None:
    """The refusal at RCPT if every destination of `address` denies the client or the envelope sender; None: continue.

    `domain`: the one that forwards the external copies. `postmaster` and `abuse` take mail of everybody.
    """
    mailbox_ids = [each.mailbox_id for each in route.deliveries if each.mailbox_id is not None]
    if not (mailbox_ids or route.external) or rules.is_postmaster(address):
        return None
    async with app.db.autocommit() as conn:
        names = [domain] if route.external else []
        policies = await store.find_policies(conn, mailbox_ids, names, filtering.list_keys(facts))
    decisions = [filtering.decide(policy, facts) for policy in policies]
    if filtering.combine(decisions) != "refuse":
        return None
    _count_hits(decisions, count_hit)
    return rules.DENIED


async def judge(
    app: App,
    mail: InboundMail,
    recipients: Mapping[UUID, Sequence[str]],
    domains: Collection[str],
    count_hit: CountHit = ignore_hit,
) -> JudgedMail:
    """Find the mailboxes that still exist, by the recipients that lead to them, and decide about the copies. Mail of
    this server is not refused, nor do lists apply: its senders have logged in.
    """
    is_test = await asyncio.to_thread(rules.has_test_string, mail.content())
    score = rules.TEST_SCORE if is_test else None
    is_foreign = mail.source == "smtp"
    facts = Facts(score=score)
    if is_foreign:
        author = rules.author_of(mail.head)
        others = () if author else [each.email for each in mail.head.senders[:_MAX_AUTHORS]]
        facts = Facts(mail.client_address, mail.mail_from, author, score=score, possible_authors=others)
    values = filtering.list_keys(facts)
    async with app.db.autocommit() as conn:
        found = await store.find_mailboxes(conn, recipients, values, always_full=app.settings.events.received_full)
        by_domain = await store.find_policies_by_name(conn, domains, values) if domains else {}

    decisions = {
        mailbox_id: _decide(policy, facts, recipients[mailbox_id]) for mailbox_id, (_, policy) in found.items()
    }
    external = {name: filtering.decide(policy, facts) for name, policy in by_domain.items()}
    _count_hits([*decisions.values(), *external.values()], count_hit)
    # Spam is not forwarded: an external copy for Junk is refused too.
    forwarded = (Decision("refuse") if is_spam(each) else each for each in external.values())
    is_refused = is_foreign and filtering.combine([*decisions.values(), *forwarded]) == "refuse"
    symbols = rules.TEST_SYMBOLS if is_test else ()
    return JudgedMail(
        {mailbox_id: target for mailbox_id, (target, _) in found.items()},
        {mailbox_id: verdict_of(each, score, symbols) for mailbox_id, each in decisions.items()},
        {name: verdict_of(each, score, symbols) for name, each in external.items()},
        is_refused,
    )


def _decide(policy: Policy, facts: Facts, recipients: Sequence[str]) -> Decision:
    decision = filtering.decide(policy, facts)
    is_by_list = decision.decided_by is not None and decision.decided_by.rule == "deny_entry"
    if decision.action == "refuse" and is_by_list and any(map(rules.is_postmaster, recipients)):
        return Decision("junk", decision.decided_by)
    return decision


def is_spam(decision: Decision) -> bool:
    """Whether a copy is not for the inbox."""
    return decision.action != "inbox"


def verdict_of(decision: Decision, score: float | None, symbols: Iterable[str]) -> SpamVerdict:
    """The verdict for a copy that is delivered: a refusal means Junk."""
    return SpamVerdict(score, "add header" if is_spam(decision) else "no action", tuple(symbols), decision.decided_by)


def _count_hits(decisions: Iterable[Decision], count_hit: CountHit) -> None:
    """Each entry counts once for a message."""
    entry_ids = {each.decided_by.entry_id for each in decisions if each.decided_by}
    for entry_id in entry_ids:
        count_hit(entry_id)
