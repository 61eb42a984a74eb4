"""What Rspamd says as facts, and the reply for all destinations."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import get_args

from mailkeep.features.mailflow.filtering.model import DecidedBy, Decision, Facts, Policy, Rule, Subject
from mailkeep.features.mailflow.filtering.service import combine, decide
from mailkeep.features.mailflow.receiving.rules import is_postmaster
from mailkeep.features.mailflow.verdicts.model import (
    Destinations,
    FilteredMail,
    MailVerdict,
    RecipientDecisions,
    RefusedMail,
    RefusedRecipient,
)

_RESULT = re.compile(r"(spf|dkim|dmarc|from)=([a-z]{1,20})")
_RULES: tuple[str, ...] = get_args(Rule)
_MAX_SCORE = 1e6


def facts_of(mail: FilteredMail) -> Facts:
    """The facts for the decisions."""
    auth, others = dict(_RESULT.findall(mail.auth)), tuple(mail.possible_authors.split())
    return Facts(mail.client, mail.mail_from, mail.author, auth, score_of(mail), possible_authors=others)


def score_of(mail: FilteredMail) -> float:
    """The score; 0 if it is no sensible number."""
    try:
        score = float(mail.score)
    except ValueError:
        return 0.0
    return score if math.isfinite(score) and abs(score) < _MAX_SCORE else 0.0


def judge(
    mail: FilteredMail, destinations: Mapping[str, Destinations], policies: Mapping[Subject, Policy]
) -> MailVerdict:
    """The verdict for a message, from the policies of its destinations. A recipient without destinations accepts it."""
    facts = facts_of(mail)
    recipients = [_decide_recipient(mail, facts, name, each, policies) for name, each in destinations.items()]
    decisions = [decision for each in recipients for decision in each.decisions]
    reply = "refuse" if mail.refused_by else combine(decisions)
    return MailVerdict(reply, any(decision.action != "inbox" for decision in decisions), recipients)


def _decide_recipient(
    mail: FilteredMail, facts: Facts, recipient: str, to: Destinations, policies: Mapping[Subject, Policy]
) -> RecipientDecisions:
    decisions: list[Decision] = []
    for subject in to.mailboxes:
        decision = _decide(mail, facts, policies[subject])
        if decision.action == "refuse" and is_postmaster(recipient) and _is_by_list(decision):
            decision = Decision("junk", decision.decided_by)
        decisions.append(decision)
    if to.has_external:
        decision = _decide(mail, facts, policies[to.forwarding])
        # Spam is not forwarded: it would harm the reputation of this server.
        decisions.append(Decision("refuse", decision.decided_by) if decision.action == "junk" else decision)
    mailbox_id = to.mailboxes[0].mailbox_id if len(to.mailboxes) == 1 and not to.has_external else None
    return RecipientDecisions(recipient, mailbox_id, decisions or [Decision("inbox")])


def _decide(mail: FilteredMail, facts: Facts, policy: Policy) -> Decision:
    if rule := _known_rule(mail.refused_by):
        return Decision("refuse", DecidedBy("server", rule))
    decision = decide(policy, facts)
    if decision.action == "inbox" and (rule := _known_rule(mail.junk_rule)):
        return Decision("junk", DecidedBy("server", rule))
    return decision


def _known_rule(name: str) -> Rule | None:
    return next((rule for rule in get_args(Rule) if rule == name), None)


def _is_by_list(decision: Decision) -> bool:
    return decision.decided_by is not None and decision.decided_by.rule == "deny_entry"


def refuses_at_rcpt(facts: Facts, subjects: Sequence[Subject], policies: Mapping[Subject, Policy]) -> list[Decision]:
    """The decisions by which a recipient is refused at RCPT; empty if a destination accepts, or there is none."""
    decisions = [decide(policies[subject], facts) for subject in subjects]
    return decisions if combine(decisions) == "refuse" else []


def refused_mail(mail: FilteredMail, verdict: MailVerdict, at: datetime) -> RefusedMail:
    """What is stored about a refused message."""
    facts = facts_of(mail)
    return RefusedMail(
        queue_id=mail.queue_id,
        client=mail.client,
        mail_from=mail.mail_from,
        from_address=mail.author or mail.from_ or mail.mail_from,
        subject=mail.subject,
        message_id=mail.message_id,
        size=mail.size,
        score=score_of(mail),
        symbols=mail.symbols.split(),
        auth={method: result for method, result in facts.auth.items() if method != "from"},
        recipients=[
            RefusedRecipient(each.address, each.mailbox_id, _reason(each.decisions)) for each in verdict.recipients
        ],
        refused_at=at,
    )


def _reason(decisions: Sequence[Decision]) -> DecidedBy | None:
    return next((each.decided_by for each in decisions if each.decided_by and each.action != "inbox"), None)
