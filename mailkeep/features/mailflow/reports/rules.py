"""Thresholds and texts of the advice, and what a record of a DMARC report says about its sender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from mailkeep.core.errors import InvalidPeriod
from mailkeep.features.mailflow.reports.model import (
    AdviceItem,
    DayCounts,
    OtherSender,
    Period,
    Policy,
    PolicyAdvice,
    TlsFailureCount,
    TlsPolicyCount,
)
from mailkeep.mail.reports.model import DmarcRow, InvalidReport, Report, TlsReport
from mailkeep.mail.smtp.reply import SmtpReply

PERIODS: dict[Period, timedelta] = {
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
}
ADVICE_PERIOD = timedelta(days=90)
LOCAL_PARTS = ("dmarc", "tls")
MAX_MAIL_BYTES = 10 << 20
MAX_UNREAD = 1000
MAX_ATTEMPTS = 5  # of a message whose worker died each time
MAX_DAILY_REPORTS = 1000
MAX_DAILY_UNPROVED = 100
MAX_DAILY_ROWS = 300_000
MAX_SOURCES = 200
MAX_STORED_FAILURES = 100  # of a TLS report
MAX_NAMES = 500  # reverse names that one report may request
ACCEPTED = SmtpReply(250, "2.0.0", "Ok: the report will be read")
TOO_LARGE = SmtpReply(552, "5.3.4", f"Mail with reports is limited to {MAX_MAIL_BYTES >> 20} MB")
TOO_MUCH_WAITS = SmtpReply(452, "4.3.1", "Too many reports wait to be read, try again later")
_FUTURE = timedelta(days=2)

BAD_SHARE = 0.01
"""A day is bad if more than this share of the domain's own mail failed SPF and DKIM."""
REGULAR_DAYS, REGULAR_MESSAGES = 3, 10
"""A sender that is authenticated for another domain counts as the domain's own from this many days and messages on."""
_FORWARDED = frozenset({"forwarded", "trusted_forwarder", "mailing_list"})
FORWARDERS = (
    "gmail.com", "google.com", "googlegroups.com", "groups.io", "outlook.com", "hotmail.com", "icloud.com",
    "fastmail.com", "messagingengine.com", "pobox.com", "yahoo.com", "yahoogroups.com", "simplelogin.co", "addy.io",
    "forwardemail.net", "improvmx.com", "duck.com", "mozmail.com",
)  # fmt: skip
"""Domains whose mail is mostly forwarded: SPF and DKIM pass for them, not for the original sender."""


def duration(period: Period) -> timedelta:
    """The length of a period; INVALID_PERIOD for another text."""
    if period not in PERIODS:
        raise InvalidPeriod(f"period must be one of {', '.join(PERIODS)} (got {period[:100]}).")
    return PERIODS[period]


@dataclass(frozen=True, slots=True)
class _Threshold:
    """What a policy needs: days without a bad one, days with reports, and the domain's own messages."""

    policy: Policy
    days: int
    days_with_reports: int
    messages: int


THRESHOLDS = (_Threshold("quarantine", 14, 7, 20), _Threshold("reject", 30, 14, 50))


def check_times(report: Report, at: datetime) -> None:
    """InvalidReport for a report about the future."""
    if datetime.fromtimestamp(report.end, UTC) > at + _FUTURE:
        raise InvalidReport("The report is about the future")


def shorten_tls(report: TlsReport) -> dict[str, Any]:
    """What is stored of a TLS report: the sessions by type of policy, and the failures with the most sessions."""
    sessions: dict[str, tuple[int, int]] = {}
    failures: Counter[tuple[str, str]] = Counter()
    for policy in report.policies:
        successful, failed = sessions.get(policy.type, (0, 0))
        sessions[policy.type] = successful + policy.successful, failed + policy.failed
        for each in policy.failures:
            failures[each.result_type, each.receiving_host] += each.sessions
    return {
        "policies": [{"type": kind, "successful": counts[0], "failed": counts[1]} for kind, counts in sessions.items()],
        "failures": [
            {"result_type": kind, "receiving_host": host, "sessions": count}
            for (kind, host), count in failures.most_common(MAX_STORED_FAILURES)
        ],
    }


def day_of(begin: int, end: int) -> date:
    """The UTC day that most of a report is about."""
    return datetime.fromtimestamp((begin + end) // 2, UTC).date()


def has_own_key(row: DmarcRow, domain: str, selectors: Collection[str]) -> bool:
    """Whether a signature with one of the domain's keys passed."""
    return any(
        each.result == "pass" and each.domain == domain and each.selector in selectors for each in row.signatures
    )


def other_domain(row: DmarcRow) -> str:
    """The domain for which SPF or DKIM passed, if no aligned check did; else empty."""
    if row.dkim or row.spf:
        return ""
    passed = [each.domain for each in (*row.signatures, *row.spf_checks) if each.result == "pass" and each.domain]
    return passed[0] if passed else ""


def is_forwarded(row: DmarcRow) -> bool:
    """Whether the reporter recognised forwarded mail, or it comes from a known forwarder."""
    foreign = other_domain(row)
    return not _FORWARDED.isdisjoint(row.reasons) or any(
        foreign == name or foreign.endswith(f".{name}") for name in FORWARDERS
    )


def organisation_of(name: str) -> str:
    """The registered domain of a reverse name, by a rule of thumb: two labels, three below a short second-level
    domain.
    """
    labels = name.split(".")
    is_country = (
        len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in ("co", "com", "net", "org", "ac", "gov", "or")
    )
    return ".".join(labels[-3:] if is_country else labels[-2:])


def regular_senders(others: Sequence[OtherSender]) -> list[OtherSender]:
    """Those that send often enough to be systems of the domain's owner."""
    return [each for each in others if each.days >= REGULAR_DAYS and each.messages >= REGULAR_MESSAGES]


def advise(days: Sequence[DayCounts], others: Sequence[OtherSender], published: Policy | None) -> PolicyAdvice:
    """The advice from the last 90 days, oldest first. `failing_other` of `days` counts the regular senders only."""
    if not days:
        text = "No reports yet. Publish the DMARC record with rua=; large providers report once a day."
        return PolicyAdvice(published, "none", None, [AdviceItem("no_reports", "info", text)])
    safe, since = find_safe_policy(days)
    items = [_policy_item(published, safe, since)]
    ours = sum(day.failing_ours for day in days)
    if ours:
        text = (
            f"In the last 90 days, {ours:,} messages from your own server failed SPF and DKIM. Check that the SPF "
            "record names its addresses and that the DKIM records are published."
        )
        items.append(AdviceItem("own_failures", "warning", text))
    for each in regular_senders(others)[:10]:
        text = (
            f"In the last 90 days, {each.messages:,} messages on {each.days} days were sent in your name and "
            f"authenticated for {each.domain} only. If you use that service, set up DKIM for your domain there, or "
            "add it to your SPF record. If not, this is somebody else, and p=quarantine or p=reject stops it."
        )
        items.append(AdviceItem("other_sender", "warning", text))
    if forwarded := sum(day.failing_forwarded for day in days):
        text = (
            f"In the last 90 days, {forwarded:,} messages failed after they were forwarded (mailing lists, "
            "redirections). This is normal and can't be fixed by you; receivers decide whether to trust the forwarder."
        )
        items.append(AdviceItem("forwarded", "info", text))
    if unknown := sum(day.unknown for day in days):
        text = (
            f"In the last 90 days, {unknown:,} messages in your name were not authenticated at all. Most likely they "
            "are forged; p=quarantine or p=reject stops them. A device or program that sends without SPF and DKIM "
            "looks the same."
        )
        items.append(AdviceItem("unknown_senders", "info", text))
    return PolicyAdvice(published, safe, since, items)


def find_safe_policy(days: Sequence[DayCounts]) -> tuple[Policy, date | None]:
    """The strictest policy that is safe on the last of these days, and since which day. A bad day starts over."""
    reached: dict[Policy, date] = {}
    first: date | None = None
    reported = messages = 0
    for day in days:
        failing = day.failing_ours + day.failing_other
        own = day.aligned + failing
        if failing > BAD_SHARE * own:
            reached, first, reported, messages = {}, None, 0, 0
            continue
        first = first or day.day
        reported += 1
        messages += own
        for each in THRESHOLDS:
            is_long = (day.day - first).days + 1 >= each.days
            if (
                each.policy not in reached
                and is_long
                and reported >= each.days_with_reports
                and messages >= each.messages
            ):
                reached[each.policy] = day.day
    safe: Policy = "reject" if "reject" in reached else "quarantine" if "quarantine" in reached else "none"
    return safe, reached.get(safe)


def _policy_item(published: Policy | None, safe: Policy, since: date | None) -> AdviceItem:
    order = ("none", "quarantine", "reject")
    current = published or "none"
    if safe == "none":
        first = THRESHOLDS[0]
        why = (
            f"p=quarantine is safe after {first.days} days in a row in which at least {1 - BAD_SHARE:.0%} of your "
            f"own mail "
            f"passes, with reports on {first.days_with_reports} of them about at least {first.messages} messages."
        )
        if current == "none":
            return AdviceItem("stay_at_none", "info", f"Stay at p=none for now. {why}")
        text = f"Reporters see p={current}, but some of your own mail fails: it may be lost. Go back to p=none. {why}"
        return AdviceItem("policy_too_strict", "warning", text)
    if order.index(current) > order.index(safe):
        text = f"Reporters see p={current}, but so far only p={safe} is safe (since {since})."
        return AdviceItem("policy_too_strict", "warning", text)
    if current == safe:
        return AdviceItem("policy_fits", "ok", f"Your policy p={current} is safe (since {since}).")
    text = f"p={safe} is safe since {since}: your own mail passes. Change p={current} in the DMARC record to p={safe}."
    return AdviceItem("raise_policy", "ok", text)


_TLS_ADVICE = {
    "starttls-not-supported": "The server did not offer STARTTLS. Check the certificate settings (tls.*).",
    "certificate-host-mismatch": "The certificate does not name the MX host. Get one for the host name in the MX "
    "record.",
    "certificate-expired": "The certificate has expired. Renew it.",
    "certificate-not-trusted": "The certificate is not from a public authority. MTA-STS needs one that is.",
    "validation-failure": "The TLS connection failed for another reason; the reporter's details say more.",
    "tlsa-invalid": "The TLSA record does not match the certificate. Publish the new one before you change the "
    "certificate.",
    "dnssec-invalid": "DNSSEC validation failed. Check the zone's signatures.",
    "dane-required": "The sender requires DANE, and found no usable TLSA record.",
    "sts-policy-fetch-error": "The MTA-STS policy could not be fetched. Check https://mta-sts.DOMAIN/.well-known/mta-sts.txt.",
    "sts-policy-invalid": "The MTA-STS policy is invalid.",
    "sts-webpki-invalid": "The certificate of the policy host mta-sts.DOMAIN is invalid.",
}


def advise_tls(policies: Sequence[TlsPolicyCount], failures: Sequence[TlsFailureCount]) -> list[AdviceItem]:
    """Advice from TLS reports."""
    failed, successful = sum(each.failed for each in policies), sum(each.successful for each in policies)
    if not failed + successful:
        text = "No reports yet. Publish the record _smtp._tls; some large providers report once a day."
        return [AdviceItem("no_reports", "info", text)]
    items = (
        [AdviceItem("all_encrypted", "ok", "All reported sessions to your server were encrypted.")]
        if not failed
        else []
    )
    counts: dict[str, int] = {}
    for each in failures:
        counts[each.result_type] = counts.get(each.result_type, 0) + each.sessions
    for kind, sessions in sorted(counts.items(), key=lambda each: -each[1])[:10]:
        text = _TLS_ADVICE.get(kind, "See RFC 8460 §4.3 for this result.")
        items.append(AdviceItem(kind, "warning", f"{sessions:,} sessions failed: {kind}. {text}"))
    if failed and not counts:
        items.append(AdviceItem("failures", "warning", f"{failed:,} sessions failed; the reporters gave no reason."))
    if all(each.type == "no-policy-found" for each in policies):
        text = "Reporters found neither MTA-STS nor DANE: senders may fall back to unencrypted delivery."
        items.append(AdviceItem("no_policy", "info", text))
    return items
