"""Judges what name servers answered about a record, in words that a beginner understands."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from mailkeep.core.errors import RateLimitExceeded
from mailkeep.features.directory.dns.model import Address, DnsRecord, ServerIdentity
from mailkeep.features.directory.dns_checks.model import CheckOutcome, CheckStatus, DnsCheck, RecordFinding
from mailkeep.net.dns_query import DnsAnswer, presentable
from mailkeep.net.mail_records import (
    POLICIES,
    check_dkim,
    check_dmarc,
    check_sts,
    check_tls_rpt,
    is_dmarc,
    is_sts,
    is_tls_rpt,
    list_report_addresses,
    parse_tags,
)

REQUEST_PAUSE = timedelta(seconds=10)
"""Between the end of a check and the next requested one of the same domain."""
_MAX_FOUND = 20
_JITTER = 0.05  # of the interval, so that checks that began together spread
NO_HOSTNAME = "The server has no public name yet, so nothing can be compared."
SET_HOSTNAME = (
    "Set `server.hostname` to the name under which other servers find this one, such as mx.example.com, and restart "
    "Mailkeep."
)
Judge = Callable[[DnsAnswer], RecordFinding]


def combine(findings: Sequence[RecordFinding | None], errors: Sequence[str]) -> RecordFinding:
    """One finding from those of all name servers; None for one without an answer, whose `errors` say why.

    Right if all that answered say so; if only some do, it is not visible everywhere yet.
    """
    known = [each for each in findings if each is not None]
    found = tuple(sorted(set(chain.from_iterable(each.found for each in known))))
    if not known:
        reasons = "; ".join(dict.fromkeys(errors)) or "no name server is configured"
        return RecordFinding(
            "dns_error", f"No name server answered: {reasons}.",
            "This says nothing about the record. If it lasts, check the server's network and the setting dns.servers.",
        )  # fmt: skip
    right = [each for each in known if each.status == "ok"]
    if len(right) == len(known):
        noted = next((each for each in right if each.advice), right[0])
        return RecordFinding("ok", noted.problem, noted.advice, noted.partial, found)
    if right:
        return RecordFinding(
            "mismatch", f"The record is not yet visible everywhere: {len(right)} of {len(known)} name servers see it.",
            "Wait until all of them have forgotten the old answer, which can take an hour or more, and check again.",
            partial=True, found=found,
        )  # fmt: skip
    worst = next((each for each in known if each.status != "missing"), known[0])
    return RecordFinding(worst.status, worst.problem, worst.advice, found=found)


def make_presentable(finding: RecordFinding) -> RecordFinding:
    """`presentable` for all texts of a finding, and at most 20 values."""
    found = tuple(presentable(each) for each in finding.found[:_MAX_FOUND])
    problem, advice = (text and presentable(text) for text in (finding.problem, finding.advice))
    return replace(finding, found=found, problem=problem, advice=advice)


def judge_answers(answers: Sequence[DnsAnswer], judge: Judge) -> RecordFinding:
    """`combine` of what `judge` says about each answer."""
    findings = [None if answer.outcome == "error" else judge(answer) for answer in answers]
    return combine(findings, [f"{answer.server} {answer.error}".strip() for answer in answers if answer.error])


def missing(record: DnsRecord, what: str) -> RecordFinding:
    """The record does not exist."""
    advice = f"Add this record: type {record.type}, name {record.name}, value {record.value}"
    return RecordFinding("missing", f"There is no {what}.", advice if record.value else None)


def judge_mx(record: DnsRecord, server: ServerIdentity) -> Judge:
    """The best preference must be ours alone (RFC 5321 §5.1)."""

    def judge(answer: DnsAnswer) -> RecordFinding:
        if not answer.values:
            return missing(record, "MX record")
        pairs = [(int(value.split()[0]), value.split()[1].rstrip(".")) for value in answer.values]
        best = min(preference for preference, _ in pairs)
        others = sorted(
            {host or "no server at all" for preference, host in pairs if preference == best} - {server.hostname}
        )
        if all(host != server.hostname for _, host in pairs):
            problem = f"Mail for the domain goes to {', '.join(others)}, not to this server."
            advice = f"Replace the MX records by {record.value}, when this server is to receive the mail."
        elif others:
            problem = f"{', '.join(others)} has the best preference too or a better one, so it also receives mail."
            advice = f"Give {server.hostname} the lowest number of all MX records, or remove the others."
        else:
            return RecordFinding("ok", found=answer.values)
        return RecordFinding("mismatch", problem, advice, found=answer.values)

    return judge


def judge_dkim(record: DnsRecord) -> Judge:
    """The published key must be the one that signs."""
    assert record.key is not None
    wanted = parse_tags(record.key.dns_value) or {}

    def judge(answer: DnsAnswer) -> RecordFinding:
        if not answer.values:
            return missing(record, "DKIM record with this key")
        text, *others = answer.values
        if others:
            return RecordFinding(
                "multiple", f"The name has {len(answer.values)} TXT records, and receivers take any of them.",
                "Remove all but the one with this value.", found=answer.values,
            )  # fmt: skip
        problem, note = check_dkim(text, wanted.get("p", ""), wanted.get("k", "rsa"))
        if problem is None:
            return RecordFinding("ok", None, note, found=answer.values)
        advice = "Copy the value whole. Some providers cut long values: then paste it in pieces of 255 characters."
        return RecordFinding("mismatch", f"Signatures fail: {problem}.", advice, found=answer.values)

    return judge


def judge_dmarc(record: DnsRecord) -> Judge:
    """Any valid policy is right; advice if it is weaker than the recommended one, or its reports go elsewhere."""
    ours = parse_tags(record.value or "") or {}

    def judge(answer: DnsAnswer) -> RecordFinding:
        policies = [value for value in answer.values if is_dmarc(value)]
        if len(policies) != 1:
            return _not_one(record, policies, "DMARC record")
        if problem := check_dmarc(policies[0]):
            return RecordFinding(
                "mismatch", f"The policy is not valid: {problem}.", _replace(record), found=tuple(policies)
            )
        tags = parse_tags(policies[0]) or {}
        advice = None
        if POLICIES.index(tags["p"].lower()) < POLICIES.index(ours.get("p", "none")):
            advice = f"The policy is weaker than the recommended p={ours['p']}."
        elif not set(list_report_addresses(ours)) & set(list_report_addresses(tags)):
            wanted = ", ".join(f"mailto:{each}" for each in list_report_addresses(ours))
            advice = f"Add {wanted} to `rua=`, so that Mailkeep can show the reports." if wanted else None
        return RecordFinding("ok", None, advice, found=tuple(policies))

    return judge


def judge_sts(record: DnsRecord) -> Judge:
    """One valid record; its ID is the administrator's."""

    def judge(answer: DnsAnswer) -> RecordFinding:
        policies = [value for value in answer.values if is_sts(value)]
        if len(policies) != 1:
            return _not_one(record, policies, "MTA-STS record")
        if problem := check_sts(policies[0]):
            return RecordFinding(
                "mismatch", f"The record is not valid: {problem}.", _replace(record), found=tuple(policies)
            )
        if policies[0].split() != (record.value or "").split():
            text = "The ID differs from this one, so senders may keep an older policy."
            return RecordFinding("ok", None, f"{text} {_replace(record)}", found=tuple(policies))
        return RecordFinding("ok", found=tuple(policies))

    return judge


def judge_tls_rpt(record: DnsRecord) -> Judge:
    """Any valid record is right; advice if its reports go elsewhere."""
    ours = set(list_report_addresses(parse_tags(record.value or "") or {}))

    def judge(answer: DnsAnswer) -> RecordFinding:
        policies = [value for value in answer.values if is_tls_rpt(value)]
        if len(policies) != 1:
            return _not_one(record, policies, "TLS-RPT record")
        if problem := check_tls_rpt(policies[0]):
            return RecordFinding(
                "mismatch", f"The record is not valid: {problem}.", _replace(record), found=tuple(policies)
            )
        theirs = set(list_report_addresses(parse_tags(policies[0]) or {}))
        advice = None if ours & theirs else "Reports go elsewhere, so Mailkeep can't show them."
        return RecordFinding("ok", None, advice, found=tuple(policies))

    return judge


def judge_host(record: DnsRecord, server: ServerIdentity, addresses: Sequence[Address]) -> Judge:
    """A name that must lead to this server, by CNAME or by its addresses."""

    def judge(answer: DnsAnswer) -> RecordFinding:
        found = (*answer.aliases, *answer.values)
        if server.hostname in answer.aliases:
            return RecordFinding("ok", found=found)
        if not found:
            return missing(record, "such name")
        if answer.values and {ipaddress.ip_address(each) for each in answer.values} <= set(addresses):
            return RecordFinding("ok", found=found)
        return RecordFinding("mismatch", "The name leads to another server.", _replace(record), found=found)

    return judge


def judge_srv(record: DnsRecord) -> Judge:
    """The record with the lowest priority must name this server and port (RFC 2782)."""
    wanted = (record.value or "").split()[2:]

    def judge(answer: DnsAnswer) -> RecordFinding:
        if not answer.values:
            return missing(record, "such SRV record")
        best = min(int(value.split()[0]) for value in answer.values)
        targets = [value.split()[2:] for value in answer.values if int(value.split()[0]) == best]
        if any([port, host.rstrip(".")] != wanted for port, host in targets):
            text = "Mail clients are sent to another server or port."
            return RecordFinding("mismatch", text, _replace(record), found=answer.values)
        return RecordFinding("ok", found=answer.values)

    return judge


def judge_address(record: DnsRecord, own: Sequence[Address]) -> Judge:
    """The server's name must have this address, and only addresses of the server."""

    def judge(answer: DnsAnswer) -> RecordFinding:
        if answer.aliases:
            return RecordFinding(
                "mismatch", f"The server's name is an alias (CNAME) of {answer.aliases[-1]}.",
                "The name of a mail server must have addresses of its own (RFC 2181 section 10.3): replace the CNAME.",
                found=(*answer.aliases, *answer.values),
            )  # fmt: skip
        if not answer.values:
            what = f"{record.type} record for the server's name"
            if record.value is None:
                return RecordFinding(
                    "missing", f"There is no {what}.",
                    f"Add this record: type {record.type}, name {record.name}, value: the server's public address.",
                )  # fmt: skip
            return missing(record, what)
        if record.value is None:
            return RecordFinding("ok", found=answer.values)
        found = {ipaddress.ip_address(each) for each in answer.values}
        if ipaddress.ip_address(record.value) not in found:
            text = f"The server's name leads to {', '.join(answer.values)}, not to {record.value}."
            return RecordFinding("mismatch", text, _replace(record), found=answer.values)
        if foreign := sorted(map(str, found - set(own))):
            text = f"The name also has {', '.join(foreign)}, which is not in server.addresses: mail may go there."
            return RecordFinding("ok", None, text, found=answer.values)
        return RecordFinding("ok", found=answer.values)

    return judge


def judge_ptr(record: DnsRecord, confirmed: bool | None) -> Judge:
    """The address must have the server's name; `confirmed`: the name leads back to it (None: no answer)."""

    def judge(answer: DnsAnswer) -> RecordFinding:
        advice = f"Ask the provider of the address to set its reverse DNS to {record.value}."
        if not answer.values:
            return RecordFinding("missing", "The address has no reverse DNS. Many servers refuse its mail.", advice)
        if record.value not in answer.values:
            text = f"The reverse DNS of the address is {', '.join(answer.values)}, not the server's name."
            return RecordFinding("mismatch", text, advice, found=answer.values)
        if confirmed is False:
            text = f"{record.value} does not lead back to this address."
            return RecordFinding("mismatch", text, f"Add the address to {record.value}.", found=answer.values)
        if len(answer.values) > 1:
            return RecordFinding(
                "ok", None, "The address has several names; keep only the server's.", found=answer.values
            )
        return RecordFinding("ok", found=answer.values)

    return judge


def judge_authorization(record: DnsRecord) -> Judge:
    """The record with which the server accepts reports about other domains."""

    def judge(answer: DnsAnswer) -> RecordFinding:
        if any(is_dmarc(value) for value in answer.values):
            return RecordFinding("ok", found=answer.values)
        return missing(record, "record that allows reports about other domains to be sent here")

    return judge


def _not_one(record: DnsRecord, policies: Sequence[str], what: str) -> RecordFinding:
    if not policies:
        return missing(record, what)
    text = f"There are {len(policies)} of them, so receivers ignore all."
    return RecordFinding("multiple", f"{what}: {text}", "Keep exactly one.", found=tuple(policies))


def _replace(record: DnsRecord) -> str:
    return f"Replace it by: {record.value}"


# The whole check


def summarize(findings: Sequence[tuple[DnsRecord, RecordFinding]]) -> CheckStatus | None:
    """The status of a domain or the server. None if name servers did not answer enough to tell.

    `failing`: a required record is not right. `attention`: a record is not visible everywhere, has advice, or an
    optional one is wrong. A server without a network has only records without an answer, and reports no failure.
    """
    required = [finding for record, finding in findings if record.required]
    if any(each.status in ("missing", "mismatch", "multiple") and not each.partial for each in required):
        return "failing"
    if any(each.status == "dns_error" for each in required) or not findings:
        return None
    if all(finding.status in ("dns_error", "not_checked") for _, finding in findings):
        return None
    return "attention" if any(_needs_attention(*each) for each in findings) else "ok"


def _needs_attention(record: DnsRecord, finding: RecordFinding) -> bool:
    if finding.status == "missing":
        return record.required or record.key is not None
    return finding.status in ("mismatch", "multiple") or (finding.status == "ok" and finding.advice is not None)


def add_blocklists(status: CheckStatus | None, outcome: CheckOutcome) -> CheckStatus | None:
    """The server's status, with its blocklists: an address that is listed needs attention."""
    if status == "ok" and any(each.status == "listed" for each in outcome.blocklists):
        return "attention"
    return status


def next_confirmation(
    check: DnsCheck, status: CheckStatus | None, at: datetime, confirm: timedelta
) -> tuple[bool | None, datetime | None, bool]:
    """What is confirmed after a check with this status, since when checks differ from it, and whether that is news.

    A change is confirmed by a second check, `confirm` later. A domain that was never in order does not fail.
    """
    if status is None:
        return check.confirmed_failing, check.differs_since, False
    failing = status == "failing"
    if check.confirmed_failing is None:
        return (None if failing else False), None, False
    if failing == check.confirmed_failing:
        return failing, None, False
    if check.differs_since is None:
        if confirm:
            return check.confirmed_failing, at, False
    elif at - check.differs_since < confirm:
        return check.confirmed_failing, check.differs_since, False
    return failing, None, True


def next_due(
    check: DnsCheck, differs_since: datetime | None, at: datetime, interval: timedelta, confirm: timedelta
) -> datetime:
    """When the next check is due; without an `interval` (0) it is claimed only after a request."""
    if check.requested_at is not None:
        return at
    share = (check.id.int + check.claims * 7919) % 1000 / 1000
    due = at + (interval or timedelta(days=1)) * (1 - _JITTER * share)
    if differs_since is None:
        return due
    second_look = differs_since + confirm
    return min(due, second_look if second_look > at else at + confirm)  # the second look got no answers: once more


def refuse_too_early(check: DnsCheck, at: datetime) -> None:
    """RATE_LIMIT_EXCEEDED shortly after a check: name servers would give the same answers."""
    if check.checked_at is None:
        return
    left = check.checked_at + REQUEST_PAUSE - at
    if left > timedelta():
        raise RateLimitExceeded(
            f"These records were checked less than {REQUEST_PAUSE.seconds} seconds ago.",
            retry_after=math.ceil(left.total_seconds()),
        )


def list_problems(findings: Sequence[tuple[DnsRecord, RecordFinding]]) -> list[tuple[DnsRecord, RecordFinding]]:
    """The required records that are not right."""
    return [
        (record, finding)
        for record, finding in findings
        if record.required and finding.status in ("missing", "mismatch", "multiple") and not finding.partial
    ]
