"""What would happen to a message, in plain words: from the steps of the decision itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from mailkeep.core.errors import invalid_field
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.mailflow.filter_test.model import DecisionPoint, Trial, TrialStep
from mailkeep.features.mailflow.filtering.model import OFF, DecidedBy, Decision, DecisionStep, Facts, Policy, Rule
from mailkeep.features.mailflow.filtering.rules import address_key, explain, public_suffixes
from mailkeep.features.record.messages.model import Message


def prove_author(auth: Mapping[str, str], author: str, mail_from: str) -> dict[str, str]:
    """Results of authentication with `from`, as the filter determines it: DMARC, or, without a DMARC record, SPF or
    DKIM for the author's organisation. A DKIM signature counts as one of the author's domain.
    """
    if "from" in auth or not author:
        return dict(auth)
    spf, dkim, dmarc = (auth.get(method, "none") for method in ("spf", "dkim", "dmarc"))
    organisation = _organisation(author)
    is_aligned = organisation is not None and organisation == _organisation(mail_from)
    if dmarc == "pass" or (dmarc == "none" and (dkim == "pass" or (spf == "pass" and is_aligned))):
        proof = "pass"
    else:
        proof = "temperror" if "temperror" in (spf, dkim, dmarc) else "fail"
    return {**auth, "from": proof}


def read_facts(message: Message) -> Facts:
    """The facts of an incoming message of the history. INVALID_FIELD."""
    if message.direction != "inbound":
        raise invalid_field("message_id", "must be the ID of an incoming message")
    auth = {name: value for name, value in message.auth.items() if isinstance(value, str)}
    return Facts(message.client_address or "", message.mail_from, message.from_address, auth, message.spam_score)


def is_for(message: Message, mailbox: Mailbox) -> bool:
    """Whether a message is mail for the mailbox, also if it was refused."""
    if message.direction != "inbound" or message.mailbox_id is not None:
        return message.direction == "inbound" and message.mailbox_id == mailbox.id
    since = mailbox.address_since or mailbox.created_at  # another mailbox may have had the address before
    keys = {address_key(each.address) for each in message.recipients}
    is_refused = message.status == "rejected" and message.domain_id == mailbox.domain_id
    return is_refused and message.created_at >= since and mailbox.address.key in keys


def find_scan_result(message: Message) -> Decision | None:
    """The virus scanner's decision about a message of the history; None if it did not decide."""
    rule = (message.spam_decided_by or {}).get("rule")
    decisions: Iterator[Decision] = (
        Decision("refuse" if message.status == "rejected" else "junk", DecidedBy("server", each))
        for each in _SCAN_RESULTS
        if each == rule
    )
    return next(decisions, None)


def try_out(
    policy: Policy, facts: Facts, *, is_full_profile: bool, has_score: bool = False, scan: Decision | None = None
) -> Trial:
    """What would happen to a message with these facts, step by step: at RCPT, then at the end of DATA or delivery.

    In the embedded profile nothing proves an author, nor gives a score, unless `has_score`: the message got one there
    (GTUBE). `scan`: what the virus scanner decided.
    """
    is_ignored = not is_full_profile and not has_score and (facts.score is not None or "pass" in facts.auth.values())
    auth = prove_author(facts.auth, facts.author, facts.mail_from) if is_full_profile else {}
    facts = replace(facts, auth=auth, score=facts.score if is_full_profile or has_score else None)
    envelope = Facts(facts.client_address, facts.mail_from, is_at_rcpt=True)
    at_rcpt = explain(policy, envelope)
    steps = [_EMBEDDED] if is_ignored else []
    steps += [_to_trial_step(each, "rcpt", envelope, at_rcpt.decision) for each in at_rcpt.steps]
    if at_rcpt.decision.action == "refuse":
        return Trial(at_rcpt.decision, "rcpt", steps)
    final = explain(policy, facts)
    if scan and scan.decided_by and (scan.action == "refuse" or final.decision.action == "inbox"):
        at = "data" if scan.action == "refuse" else "delivery"
        rule = scan.decided_by.rule
        found = f"{_SCAN_RESULTS[rule]}: {_OUTCOMES[scan.action]}."
        return Trial(scan, at, [*steps, TrialStep(at, "Virus scanner", found, True, "server", rule)])
    at = "data" if final.decision.action in ("refuse", "defer") else "delivery"
    return Trial(final.decision, at, steps + [_to_trial_step(each, at, facts, final.decision) for each in final.steps])


_SCAN_RESULTS: Mapping[Rule, str] = {
    "virus": "The message contains a virus",
    "encrypted": "The message contains an encrypted file, which can't be checked",
}
_EMBEDDED = TrialStep(
    "rcpt",
    "Embedded profile",
    "It has no spam filter: the score and results of SPF, DKIM and DMARC that are given here do not count.",
    is_deciding=False,
)
_OUTCOMES = {
    "inbox": "it goes to the inbox",
    "junk": "it goes to Junk",
    "refuse": "it is refused",
    "defer": "it is refused for now (451), because a list entry could not be checked",
}
_MATCHED = {"author": "the author (From)", "envelope": "the envelope sender", "network": "the client's address"}


def _to_trial_step(step: DecisionStep, at: DecisionPoint, facts: Facts, decision: Decision) -> TrialStep:
    is_deciding = step.result in ("applies", "none") and not (at == "rcpt" and decision.action != "refuse")
    scope = step.entry.scope if step.entry else step.threshold.scope if step.threshold else None
    entry_id = step.entry.id if step.entry else None
    text, result = _describe(step, at, facts, decision)
    return TrialStep(at, text, result, is_deciding, scope, step.rule, entry_id)


def _describe(step: DecisionStep, at: DecisionPoint, facts: Facts, decision: Decision) -> tuple[str, str]:
    """A step and its result in plain words."""
    outcome = _OUTCOMES[decision.action]
    if (entry := step.entry) and step.matched:
        enforced = "Enforced deny" if entry.enforced else entry.list.capitalize()
        text = f"{enforced} entry of the {entry.scope}: {entry.kind} {entry.value}"
        match = f"It matches {_MATCHED[step.matched]}"
        return text, {
            "applies": f"{match}: {outcome}.",
            "not_proved": f"{match}, but does not apply: {_lack_of_proof(step.matched, facts)}.",
            "not_checked": f"{match}, but the sender's DNS did not answer: whether it applies is unknown.",
            "later": f"{match}: whether it applies is decided when the message has arrived.",
        }[step.result]
    if threshold := step.threshold:
        name = "Reject" if step.rule == "reject_score" else "Junk"
        number = f"{threshold.score:g}" if threshold.score > OFF else "off"
        text = f"{name} score of the {threshold.scope}: {number}"
        return text, {
            "applies": f"The score {facts.score} reaches it: {outcome}.",
            "below": f"The score {facts.score} is below it.",
            "off": "It is off.",
            "no_score": "The message has no score.",
        }[step.result]
    if at == "rcpt":
        return "List entries for sender and client", "No entry matches: the message may be sent."
    return "No rule decides", f"No entry applies, and no score is reached: {outcome}."


def _lack_of_proof(matched: Literal["author", "envelope", "network"], facts: Facts) -> str:
    if matched == "author":
        return f"nothing proves the author (from={facts.auth.get('from') or 'none'})"
    if not facts.author:
        return "the message has no author, or several"
    if facts.auth.get("dmarc") == "fail":
        return "DMARC fails for the author"
    return f"SPF does not prove the sender (spf={facts.auth.get('spf') or 'none'})"


def _organisation(address: str) -> str | None:
    """The registered domain of an address."""
    return public_suffixes().privatesuffix(address_key(address).rpartition("@")[2])
