"""SMTP replies, recipient addresses, the built-in spam test, and the retries of forwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.features.mailflow.filtering.model import Decision
from mailkeep.features.mailflow.filtering.service import combine
from mailkeep.features.mailflow.receiving.model import Denial, InboundMail, SpamVerdict
from mailkeep.features.mailflow.reports.model import ArrivedMail
from mailkeep.features.record.messages.model import HeaderSummary
from mailkeep.mail.message.header_fields import MessageHeader
from mailkeep.mail.message.header_text import parse_addresses
from mailkeep.mail.smtp.reply import SmtpReply

CRLF = "\r\n"
MAX_HOPS = 100  # Received fields; more are a loop (RFC 5321 §6.3)

HAM = SpamVerdict(0.0, "no action")
# The test string that every spam filter recognises: https://spamassassin.apache.org/gtube/
GTUBE = b"XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
TEST_SCORE = 1000.0
TEST_SYMBOLS = ("GTUBE",)

DENIED = SmtpReply(550, "5.7.1", "Refused by the recipient's filter")
REFUSED = SmtpReply(554, "5.7.1", "Refused by the recipient's filter")
_REPLIES = {
    "deliver": SmtpReply(250, "2.1.5", "Ok"),
    "bounce": SmtpReply(250, "2.1.5", "Ok"),
    "unknown_user": SmtpReply(550, "5.1.1", "User unknown"),
    "mailbox_full": SmtpReply(452, "4.2.2", "Mailbox full"),
    "message_too_large": SmtpReply(552, "5.2.2", "The message is larger than the mailbox's quota"),
    "refused": REFUSED,
    "report_refused": SmtpReply(552, "5.3.4", "The message is too large for a report"),
    "report_deferred": SmtpReply(452, "4.3.1", "Too many reports wait to be read, try again later"),
    "mailbox_inactive": SmtpReply(550, "5.2.1", "Mailbox disabled"),
    "receiving_disabled": SmtpReply(550, "5.7.1", "The domain does not accept mail"),
    "domain_inactive": SmtpReply(450, "4.2.1", "The domain is inactive; try again later"),
    "no_administrator": SmtpReply(451, "4.3.5", "No administrator has an address that receives mail"),
    "expansion_limit": SmtpReply(550, "5.7.1", "The address has too many external destinations"),
    "too_many_destinations": SmtpReply(550, "5.7.1", "The address has too many destinations"),
    "not_managed": SmtpReply(554, "5.7.1", "Relay access denied"),
}
# Only in the history: a full mailbox gets no copy if the message has other destinations, and there is no retry.
SKIPPED_MAILBOX = SmtpReply(552, "5.2.2", "Mailbox full")
TOO_MANY_HOPS = SmtpReply(554, "5.4.6", f"Mail loop: the message has more than {MAX_HOPS} Received fields")
TOO_MANY_COPIES = SmtpReply(452, "4.5.3", "Too many external recipients, send this recipient a separate message")
FORWARDS_TOO_MUCH = SmtpReply(450, "4.7.1", "The domain forwards too much mail at present, try again later")
_NEVER_REFUSED = ("postmaster", "abuse")
_RETRY_SECONDS = (5, 60, 300, 900, 3600)  # the last one repeats
MAX_ATTEMPTS = 40


def spare_postmaster(decision: Decision, recipients: Iterable[str]) -> Decision:
    """The decision for a mailbox with these recipients: what a deny entry refuses to `postmaster` goes to Junk."""
    is_by_list = decision.decided_by is not None and decision.decided_by.rule == "deny_entry"
    if decision.action == "refuse" and is_by_list and any(map(is_postmaster, recipients)):
        return Decision("junk", decision.decided_by)
    return decision


def client_of(mail: InboundMail) -> str | None:
    """The address of the server from which a message came; None for mail of this server, and if it is not known."""
    return mail.client_address or None if mail.source == "smtp" else None


def find_denial(decisions: Sequence[Decision], mailbox_id: UUID | None) -> Denial | None:
    """Why a recipient is refused at RCPT, by the decisions for its destinations; None: it is not. `mailbox_id`: the
    only mailbox that it leads to, if it leads to one.
    """
    if combine(decisions) != "refuse":
        return None
    decided_by = next((each.decided_by for each in decisions if each.decided_by), None)
    return Denial(decided_by, mailbox_id) if decided_by else None


def arrived_mail(
    mail: InboundMail, recipients: Sequence[str], sender_domain: str = "", auth: Mapping[str, str] | None = None
) -> ArrivedMail:
    """A message for report addresses. `sender_domain`: that of From, if the message passed DMARC."""
    return ArrivedMail(
        mail.queue_id,
        mail.mail_from,
        recipients,
        mail.head,
        mail.size,
        mail.content,
        mail.source,
        sender_domain,
        auth or {},
    )


def smtp_reply(decision: str) -> SmtpReply:
    """The SMTP reply to a routing decision or to the outcome of a delivery (enhanced codes: RFC 3463)."""
    return _REPLIES[decision]


def is_postmaster(recipient: str) -> bool:
    """Whether lists never refuse mail for a recipient, with any tag (RFC 5321 §4.5.1, RFC 2142): it goes to Junk."""
    local_part = recipient.rpartition("@")[0] or recipient
    return re.split(r"[^a-z]", local_part.strip('"').lower(), maxsplit=1)[0] in _NEVER_REFUSED


def recipient_domain(address: str) -> str:
    """The domain of an address, as A-labels if it is a domain name; empty without one."""
    domain = address.rpartition("@")[2] if "@" in address else ""
    try:
        return normalize_domain(domain)
    except AddressError:
        return domain.lower()


def has_test_string(chunks: Iterable[bytes]) -> bool:
    """Whether the unparsed message contains the GTUBE string."""
    carry = b""
    for chunk in chunks:
        window = carry + chunk
        if GTUBE in window:
            return True
        carry = window[-len(GTUBE) + 1 :]
    return False


def header_summary(mail: InboundMail) -> HeaderSummary:
    """What the history shows of a message's header."""
    head = mail.head
    sender = head.from_address or mail.mail_from
    return HeaderSummary(head.message_id, sender, head.to_addresses, head.cc_addresses, head.subject, mail.size)


def filter_fields(verdict: SpamVerdict) -> str:
    """The header fields with the verdict for a copy. `X-Spam: Yes` only if it is for Junk."""
    parts = ["junk" if verdict.is_spam else "inbox"]
    if verdict.score is not None:
        parts.append(f"score={verdict.score:.2f}")
    if verdict.decided_by:
        parts += [f"rule={verdict.decided_by.rule}", f"scope={verdict.decided_by.scope}"]
    return f"{'X-Spam: Yes' + CRLF if verdict.is_spam else ''}X-Mailkeep-Verdict: {'; '.join(parts)}{CRLF}"


def authors_of(head: MessageHeader) -> tuple[str, list[str]]:
    """The address of From; if there are several, none, and all of them (`Facts.possible_authors`)."""
    values = [field.value for field in head.fields if field.name.lower() == "from"]
    if len(values) == 1 and len(head.senders) == 1:
        return head.from_address, []
    return "", list(dict.fromkeys(each.email for value in values for each in parse_addresses(value)))


def retry_delay(attempts: int) -> timedelta | None:
    """The delay after attempt number `attempts` of a forward; None to give up (after about 36 hours)."""
    if attempts >= MAX_ATTEMPTS:
        return None
    return timedelta(seconds=_RETRY_SECONDS[min(attempts, len(_RETRY_SECONDS)) - 1])
