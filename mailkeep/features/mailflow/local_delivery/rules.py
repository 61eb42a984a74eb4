"""Read what Postfix and Rspamd wrote about a message, and mark each delivery with a header field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import get_args
from uuid import UUID

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.features.mailflow.external_copies.model import MARKER_FIELD
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import DecidedBy, Decision, Facts, Policy, Rule
from mailkeep.features.mailflow.local_delivery.model import DELIVERY_FIELD, FilterResult
from mailkeep.features.mailflow.receiving.model import InboundMail, SpamVerdict
from mailkeep.features.mailflow.receiving.rules import filter_fields
from mailkeep.mail.message.header_fields import MessageHeader
from mailkeep.mail.message.own_fields import without_own_fields
from mailkeep.mail.smtp.reply import SmtpReply

_SYMBOL = re.compile(r"([A-Z][A-Z0-9_]{1,63}+)\([-+0-9.]++\)")
_MAX_SYMBOLS, _MAX_SCORE = 200, 1e6
_MARGIN = 60  # seconds by which clocks and file times may differ
_COMMON_RESULTS = ("pass", "fail", "none", "temperror", "permerror")
_RESULTS: Mapping[str, Collection[str]] = {
    "spf": (*_COMMON_RESULTS, "softfail", "neutral"),
    "dkim": _COMMON_RESULTS,
    "dmarc": _COMMON_RESULTS,
    "from": ("pass", "fail", "temperror"),
}
_QUEUE_ID = re.compile(r"[0-9A-Za-z]{5,30}")
_RECEIVED_ID = re.compile(r"\(Postfix[^)]{0,40}+\)\s*+(?:with \S{1,40}+ )?id ([0-9A-Za-z]{5,30}+)(?=[\s;]|$)")


def read_result(mail: InboundMail) -> FilterResult | None:
    """What Rspamd found; None if it did not check the message, which is of this server then.

    Its fields are removed from what other servers send. X-Spam without the others: it could not say more.
    """
    by_name: dict[str, str] = {}
    for field in mail.head.fields:
        by_name.setdefault(field.name.lower(), field.value.strip())
    is_diverted = by_name.get("x-spam") == "Yes"
    if mail.source != "smtp" or ("x-rspamd-action" not in by_name and not is_diverted):
        return None
    score = _parse_score(by_name.get("x-rspamd-score", ""))
    author, auth = by_name.get("x-rspamd-author", ""), _parse_auth(by_name.get("x-rspamd-auth", ""))
    possible_authors = tuple(by_name.get("x-rspamd-from", "").split())
    symbols = _SYMBOL.findall(by_name.get("x-spamd-result", ""))[:_MAX_SYMBOLS]
    junk_rule = by_name.get("x-rspamd-virus")
    return FilterResult(
        Facts(mail.client_address, mail.mail_from, author, auth, score, possible_authors=possible_authors),
        tuple(dict.fromkeys(symbols)),
        next((rule for rule in get_args(Rule) if rule == junk_rule), None),
        is_diverted,
    )


def _parse_score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if abs(score) < _MAX_SCORE else None


def judge(policy: Policy, result: FilterResult) -> SpamVerdict:
    """The verdict for a copy. A refusal means Junk here: Postfix has accepted the message, and would send a bounce."""
    decision = filtering.decide(policy, result.facts)
    if decision.action == "inbox" and result.rule:
        decision = Decision("junk", DecidedBy("server", result.rule))
    elif decision.decided_by is None and result.facts.score is None and result.is_diverted:
        decision = Decision("junk", DecidedBy("server", "no_verdict"))
    action = "no action" if decision.action == "inbox" else "add header"
    return SpamVerdict(result.facts.score, action, result.symbols, decision.decided_by)


def read_auth(head: MessageHeader) -> dict[str, str]:
    """Rspamd's authentication results (RFC 8601 §2.7) by method: `spf`, `dkim` and `dmarc`, each if it was checked.

    Authentication-Results fields are ignored: anybody can write them.
    """
    results = _parse_auth(next((field.value for field in head.fields if field.name.lower() == "x-rspamd-auth"), ""))
    return {method: result for method, result in results.items() if method != "from"}


def _parse_auth(text: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return {method: result for method, _, result in pairs if result in _RESULTS.get(method, ())}


def is_sender_authenticated(mail: InboundMail) -> bool:
    """Whether automatic replies reach the real sender: it passed SPF or DMARC, or is of this server (not scanned)."""
    results = read_auth(mail.head)
    return read_result(mail) is None or "pass" in (results.get("spf"), results.get("dmarc"))


def proved_domain(mail: InboundMail) -> str:
    """The domain of the sender (From) if Rspamd found that the message passed DMARC; else empty.

    Only for mail of other servers, with exactly one From address: Rspamd has removed its fields from what they sent.
    """
    if read_result(mail) is None or read_auth(mail.head).get("dmarc") != "pass":
        return ""
    from_fields = [field for field in mail.head.fields if field.name.lower() == "from"]
    if len(from_fields) != 1 or len(mail.head.senders) != 1:
        return ""
    try:
        return normalize_domain(mail.head.from_address.rpartition("@")[2])
    except AddressError:
        return ""


def proved_author(mail: InboundMail) -> str:
    """The From address if `proved_domain` finds its domain proved; else empty."""
    return mail.head.from_address if proved_domain(mail) else ""


def read_queue_id(forwarded: Mapping[str, str], head: MessageHeader) -> str | None:
    """Postfix's queue ID: from XFORWARD, or, for bounces, which have none there, from the first Received field.

    `forwarded`: the attributes of XFORWARD.
    """
    ident = forwarded.get("IDENT", "")
    if _QUEUE_ID.fullmatch(ident):
        return ident
    match = _RECEIVED_ID.search(_first_received(head))
    return match[1] if match else None


def read_arrival_time(head: MessageHeader) -> datetime | None:
    """When Postfix accepted a message, from the first Received field (RFC 5321 §4.4); None if invalid."""
    try:
        arrived_at = parsedate_to_datetime(_first_received(head).rpartition(";")[2])
    except ValueError:
        return None
    return arrived_at if arrived_at.tzinfo else arrived_at.replace(tzinfo=UTC)


def _first_received(head: MessageHeader) -> str:
    return next((field.value for field in head.fields if field.name.lower() == "received"), "")


def is_local(forwarded: Mapping[str, str]) -> bool:
    """Whether a message is of this server: generated by Postfix, or submitted on a Unix socket (XFORWARD port 0)."""
    return forwarded.get("SOURCE") == "LOCAL" or (
        forwarded.get("ADDR") in (None, "127.0.0.1", "::1") and forwarded.get("PORT", "0") == "0"
    )


def defer_if_full(mail: InboundMail, reply: SmtpReply) -> SmtpReply:
    """Dovecot's reply, but a temporary one if a full mailbox refuses mail of this server without a sender, such as
    mail of Mailkeep itself: Postfix retries it, since a bounce would reach nobody.
    """
    if mail.source == "system" and not mail.mail_from and (reply.code, reply.enhanced) == (552, "5.2.2"):
        return SmtpReply(452, "4.2.2", reply.text)
    return reply


def client_address(forwarded: Mapping[str, str]) -> str:
    """The address of the server that sent a message, from XFORWARD; empty if unknown."""
    address = forwarded.get("ADDR", "")
    return address[5:] if address[:5].upper() == "IPV6:" else address


def compose_copy(
    delivery_id: str, since: float | None, verdict: SpamVerdict | None, chunks: Iterable[bytes]
) -> Iterator[bytes]:
    """A copy for mailboxes: with the delivery field and the verdict, without the fields of Rspamd and Mailkeep that the
    message came with.

    `since` (seconds since 1970): an earlier attempt, then or later, may have delivered the message.
    """
    since_text = "" if since is None else f" since {max(0, int(since) - _MARGIN)}"
    yield f"{DELIVERY_FIELD}: {delivery_id}{since_text}\r\n".encode("ascii")
    if verdict is not None:
        yield filter_fields(verdict).encode("ascii")
    yield from without_own_fields(lambda: chunks)


def compose_external(marker: UUID, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """An external copy to return to Postfix: with the marker, without the fields of Rspamd and Mailkeep."""
    yield f"{MARKER_FIELD}: {marker}\r\n".encode("ascii")
    yield from without_own_fields(lambda: chunks)
