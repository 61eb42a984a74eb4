"""Why a server refused or deferred a message: one of 16 classes, and the provider that the server belongs to.

The class follows from the first of: a rule about the text of the reply, the enhanced status code (RFC 3463, RFC 5248
and its IANA registry), the basic code (RFC 5321 §4.2). Providers use the codes in their own ways, so the text decides
first. The class does not say whether a failure is permanent: the status does.
"""

from __future__ import annotations

import re
from typing import Literal

BounceClass = Literal[
    "invalid_recipient",
    "mailbox_disabled",
    "bad_domain",
    "mailbox_full",
    "rate_limited",
    "greylisted",
    "reputation",
    "content",
    "auth",
    "policy",
    "too_large",
    "relay_denied",
    "tls",
    "network",
    "expired",
    "unknown",
]

_PROVIDERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("google", (".google.com", ".googlemail.com")),
    ("microsoft", (".protection.outlook.com", ".mx.microsoft")),
    ("yahoo", (".yahoodns.net",)),
    ("apple", (".mail.icloud.com",)),
    ("proofpoint", (".pphosted.com", ".ppe-hosted.com")),
    ("mimecast", (".mimecast.com",)),
    ("united_internet", (".gmx.net", ".web.de", ".kundenserver.de")),
    ("t_online", (".t-online.de",)),
    ("orange", (".orange.fr",)),
    ("proton", (".protonmail.ch",)),
    ("fastmail", (".messagingengine.com",)),
    ("zoho", (".zoho.com", ".zoho.eu")),
    ("yandex", (".yandex.net", ".yandex.ru")),
    ("mail_ru", (".mail.ru",)),
    ("tencent", (".qq.com",)),
    ("comcast", (".comcast.net",)),
    ("ovh", (".ovh.net",)),
)
# (provider or None for all, class, patterns in the lower-case text): the first match counts.
_TEXTS: tuple[tuple[str | None, BounceClass, tuple[str, ...]], ...] = (
    # https://support.google.com/a/answer/3726730
    ("google", "content", ("nature of the content",)),
    ("google", "reputation", ("low reputation", "suspicious due to", "likely unsolicited", "likely suspicious")),
    ("google", "rate_limited", ("unusual rate", "at a rate that", "receiving mail too quickly", "daily .{0,20}limit")),
    ("google", "mailbox_full", ("out of storage", "over quota", "quota (?:has been )?exceeded", "inbox is out of")),
    ("google", "mailbox_disabled", ("account that you tried to reach is (?:disabled|inactive)", "account is disabled")),
    ("google", "invalid_recipient", ("account that you tried to reach does not exist", "no such user")),
    ("google", "content", ("blocked because its content", "potential security issue", "violat")),
    ("google", "auth", ("unauthenticated", "dmarc policy", "authentication (?:information|checks)", "ptr record")),
    ("google", "invalid_recipient", ("is not a valid rfc",)),
    # https://learn.microsoft.com/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online
    ("microsoft", "reputation", (r"\bs31[45]0\b", "block list", "banned sending ip", "banned sender")),
    ("microsoft", "rate_limited", ("throttl", r"as\(?4\d\d", "too many (?:connections|messages)", "server busy")),
    ("microsoft", "rate_limited", ("concurrent connections", "messages they can receive", "queue quota exceeded")),
    ("microsoft", "network", ("temporary server error",)),
    ("microsoft", "invalid_recipient", ("recipient address rejected: access denied", r"resolver\.adr\.")),
    ("microsoft", "invalid_recipient", ("recipientnotfound", "requested action not taken: mailbox unavailable")),
    ("microsoft", "relay_denied", (r"5\.7\.64\b", "tenantattribution")),
    # https://senders.yahooinc.com/smtp-error-codes/
    ("yahoo", "rate_limited", (r"\[tss?\d\d\]", "unexpected volume", "user complaints")),
    ("yahoo", "mailbox_disabled", ("mailbox .{0,40}disabled", r"account .{0,40}(?:disabled|deactivated|suspended)")),
    ("yahoo", "invalid_recipient", ("doesn't have an? .{0,30}account", "not a valid mailbox", r"\(554\.30\)")),
    ("yahoo", "invalid_recipient", ("is no longer valid",)),
    ("yahoo", "content", ("not rfc compliant",)),
    ("yahoo", "policy", (r"\[bl\d\d\]", r"\[phish", "not accepted for policy reasons")),
    # https://support.apple.com/102322
    ("apple", "content", (r"\[cs01\]", "message rejected due to content")),
    ("apple", "reputation", (r"\[hm0\d\]",)),
    ("comcast", "mailbox_full", ("quota violation",)),
    ("zoho", "policy", ("policy (?:violation|error)", "mailpolicy")),
    # https://postmaster.gmx.net/en/error-messages
    ("united_internet", "auth", ("bad dns ptr", "no ptr", "ptr resource record")),
    ("united_internet", "reputation", ("dns ?black", "sender ip", "reject due to policy restrictions.{0,80}ip=")),
    ("united_internet", "mailbox_full", ("exhausted allowed storage",)),
    ("united_internet", "rate_limited", ("requested action aborted", "rate limit", "too many")),
    ("united_internet", "invalid_recipient", ("requested action not taken: mailbox unavailable",)),
    ("proofpoint", "reputation", (r"https?://\S*ipcheck", "dynamic reputation", "blocked by proofpoint")),
    # https://community.mimecast.com/s/article/email-security-cloud-gateway-mimecast-smtp-error-codes
    ("mimecast", "policy", ("blocked sender",)),
    ("mimecast", "greylisted", ("internal resources? (?:is |are )?temporarily unavailable",)),
    ("mimecast", "content", ("signature detected", "virus", "spam")),
    ("mimecast", "auth", ("header.?based", "anti.?spoofing", "dns authentication")),
    ("mimecast", "policy", ("administrative prohibition", "envelope blocked", "envelope rejected")),
    # Other servers, and Postfix's own texts (relay=none)
    (None, "greylisted", ("gr[ea]y-?list", "postgrey", r"try again in \d+ (?:seconds|minutes)")),
    # About the sender's domain, and a lookup that failed: not about the recipient's domain.
    (None, "policy", ("sender (?:address )?(?:rejected|verify|denied|unknown)", "(?:bad|invalid) sender")),
    (None, "network", ("host not found, try again", "unverified address", "address verification in progress")),
    (None, "bad_domain", ("nullmx", "host or domain name not found", "domain not found", "no such domain")),
    (None, "bad_domain", ("unrouteable (?:mail )?domain", "bad destination system", r"domain \S+ does not exist")),
    (None, "policy", ("loops back to myself", "mail loop", "too many hops")),
    (None, "expired", ("(?:delivery|message) (?:time )?expired", "queue lifetime", "retry timeout")),
    (None, "tls", ("starttls", "tls (?:is |handshake|required|connection)", "encryption (?:needed|required)")),
    (None, "tls", ("certificate",)),
    (None, "network", ("connection (?:timed out|refused|reset)", "network is unreachable", "no route to host")),
    (None, "network", ("lost connection", "conversation with .{1,200} timed out")),
    (None, "reputation", ("spamhaus", "spamcop", "barracuda", "sorbs", r"rbl\b", "dnsbl", "black ?list", "blocklist")),
    (None, "reputation", ("(?:poor|bad|low) reputation", "client host .{0,80}blocked", r"\bip\b .{0,60}blocked")),
    (None, "mailbox_full", ("mailbox size limit", r"\bquota limit exceeded")),
    (None, "rate_limited", ("excessive volume", "messages? per connection", "receiving mail too quickly")),
    (None, "rate_limited", ("too (?:many|much) (?:messages|mails?|connections|recipients|errors)", "rate.?limit")),
    (None, "rate_limited", ("throttl", "exceeded .{0,40}rate", "sending too fast", "limit exceeded")),
    (None, "auth", (r"\bspf\b", r"\bdkim\b", r"\bdmarc\b", "reverse dns", "ptr record", "rdns")),
    (None, "auth", ("cannot find your (?:reverse )?hostname", r"\bspoof")),
    (None, "relay_denied", ("relay(?:ing)? (?:access )?(?:denied|not (?:permitted|allowed))", "unable to relay")),
    (
        None,
        "relay_denied",
        ("not permitted to relay", "relaying disallowed", "open relay", "use me .{1,80} as a relay"),
    ),
    (None, "mailbox_full", ("mailbox (?:is )?full", "over ?quota", "quota exceeded", "insufficient .{0,10}storage")),
    (None, "mailbox_full", ("exceed(?:s|ed)? .{0,30}quota", "mailbox .{0,60}exceed", "maildir .{0,20}over")),
    (
        None,
        "mailbox_disabled",
        (r"(?:mailbox|account|user|recipient)(?: \S+)? (?:is |has been )?(?:disabled|inactive)",),
    ),
    (None, "mailbox_disabled", ("(?:account|user)(?: is| has been)? (?:suspended|deactivated|locked|blocked)",)),
    (None, "mailbox_disabled", ("(?:disabled|inactive) (?:user|mailbox|recipient|account)",)),
    (
        None,
        "invalid_recipient",
        ("(?:unknown|invalid|no such|non-?existent)[ -](?:user|recipient|mailbox|address|local)",),
    ),
    (
        None,
        "invalid_recipient",
        (r"(?:user|recipient|mailbox|address(?:ee)?)(?: \S+)? (?:is )?(?:marked as )?(?:unknown|not found|invalid)",),
    ),
    (None, "invalid_recipient", ("does(?:n't| not) exist", "no mailbox here", "not our customer", "user doesn't have")),
    # Proxies pass on the reply of Exchange Online. "unrouteable address": Exim, mostly for an unknown local part.
    (None, "invalid_recipient", (r"5\.4\.1 .{0,100}recipient address rejected: access denied",)),
    (None, "invalid_recipient", ("unrouteable address", "not in recipient list", r"#?5\.1\.0 address rejected")),
    (None, "too_large", ("message (?:size|too (?:large|big))", "exceeds .{0,30}size", "size limit", "too large")),
    (None, "content", (r"\bspam\b", r"\bvirus", "malware", "phish", "content (?:rejected|filter|policy|denied)")),
    (None, "content", ("message content", "attachment", "banned content", "message filtered")),
    (None, "policy", ("policy rejection", r"\A\W*blocked\W*\Z")),
)
_COMPILED: tuple[tuple[str | None, re.Pattern[str], BounceClass], ...] = tuple(
    (provider, re.compile("|".join(patterns)), name) for provider, name, patterns in _TEXTS
)
_ENHANCED_EXACT: dict[str, BounceClass] = {
    "4.3.1": "network",
    "5.1.10": "bad_domain",
    "5.7.13": "mailbox_disabled",
    "5.7.18": "bad_domain",
    "5.4.7": "expired",
    "4.4.7": "expired",
    "5.4.4": "bad_domain",
    "4.4.4": "network",
    "5.2.0": "unknown",
    "4.2.0": "unknown",
}
_ENHANCED: dict[str, BounceClass] = {  # without the first digit
    "1.0": "invalid_recipient",
    "1.1": "invalid_recipient",
    "1.3": "invalid_recipient",
    "1.6": "invalid_recipient",
    "1.2": "bad_domain",
    "1.7": "policy",
    "1.8": "policy",
    "2.1": "mailbox_disabled",
    "2.2": "mailbox_full",
    "2.3": "too_large",
    "3.4": "too_large",
    "4.1": "network",
    "4.2": "network",
    "4.3": "network",
    "4.6": "policy",
    "5.3": "rate_limited",
    "7.28": "rate_limited",
    "7.5": "tls",
    "7.10": "tls",
    "7.64": "relay_denied",
    "7.511": "reputation",
    "7.650": "reputation",
}
_AUTH = frozenset({*range(20, 28), 30, 32, 9, 509, 515})
_BASIC: dict[int, BounceClass] = {
    421: "network",
    452: "network",
    523: "too_large",
    530: "auth",
    535: "auth",
    551: "relay_denied",
    552: "mailbox_full",
    554: "policy",
    555: "policy",
    556: "bad_domain",
}
_LEADING_ENHANCED = re.compile(r"\s*(?:[245]\d\d[ -])?\s*([45]\.\d{1,3}\.\d{1,3})\b")


def provider_of(host: str | None) -> str | None:
    """The provider of a mail server by its host name: `other` if it is none of the known, None without a server (the
    failure was found here).
    """
    if not host:
        return None
    name = f".{host.lower().rstrip('.')}"
    return next((provider for provider, suffixes in _PROVIDERS if name.endswith(suffixes)), "other")


def classify(code: int | None, enhanced: str | None, text: str | None, host: str | None) -> BounceClass:
    """The class of a reply: its basic and enhanced code, its text, and the name of the server that sent it (None: the
    failure was found by our own mail server).
    """
    lower = (text or "").lower()[:2000]
    if not enhanced and (match := _LEADING_ENHANCED.match(lower)):
        enhanced = match[1]
    provider = provider_of(host)
    for of_provider, pattern, name in _COMPILED:
        if of_provider in (None, provider) and pattern.search(lower):
            return name
    if enhanced and (found := _by_enhanced_code(enhanced, provider)):
        return found
    return _BASIC.get(code or 0, "unknown")


def _by_enhanced_code(enhanced: str, provider: str | None) -> BounceClass | None:
    if provider == "microsoft" and enhanced == "5.1.10":
        return "invalid_recipient"
    if exact := _ENHANCED_EXACT.get(enhanced):
        return exact
    _, _, rest = enhanced.partition(".")
    if found := _ENHANCED.get(rest):
        return found
    subject, _, detail = rest.partition(".")
    if subject != "7" or not detail.isascii() or not detail.isdigit():
        return None
    number = int(detail)
    if number in _AUTH:
        return "auth"
    if 323 <= number <= 325:
        return "tls"
    return "reputation" if 606 <= number <= 649 else "policy"
