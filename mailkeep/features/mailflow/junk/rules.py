"""Which mail is listed, where its copy is, when digests are due and what they list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

from mailkeep.core.clock import iso
from mailkeep.core.errors import Conflict, Refusal, invalid_field
from mailkeep.features.mailflow.filtering.model import Decision, Facts
from mailkeep.features.mailflow.junk.model import CopyRequest, DueDigest, JunkResult, MovedCopy
from mailkeep.features.record.history.model import MailResult, MailSelection
from mailkeep.features.record.messages.model import Message
from mailkeep.mail.message.author import AuthorError, read_author
from mailkeep.mail.message.header_fields import MAX_HEAD, head_end

DIGEST_ROWS = 50
MOST_COUNTED = 1_000
"""A digest lists the newest messages, and counts further ones up to this number."""
SETTLING = timedelta(minutes=1)
"""A digest lists mail up to this time ago: a message is in the history some moments after its time."""
_FIRST_HOUR, _LAST_HOUR = 7, 20
# A copy can be older than its row: the delivery may have been repeated as long as Postfix retries.
_LONGEST_DELIVERY, _MARGIN = timedelta(days=6), timedelta(days=1)
_RESULTS: dict[JunkResult | None, MailResult | None] = {None: None, "junk": "junk", "refused": "rejected"}


def select(result: JunkResult | None = None) -> MailSelection:
    """What the list shows of the mail for a mailbox."""
    return MailSelection(_RESULTS[result], filtered=True)


def copy_period(messages: Sequence[Message]) -> tuple[datetime, datetime]:
    """When the copies of these messages (at least one) were delivered."""
    times = [message.created_at for message in messages]
    return min(times) - _LONGEST_DELIVERY, max(times) + _MARGIN


def copy_request(message: Message, mailbox_id: UUID, *, needs_author: bool) -> CopyRequest:
    """The request to move the copy of a message."""
    since, before = copy_period([message])
    return CopyRequest(mailbox_id, message.queue_id or "", since, before, needs_author)


def find_author(content: bytes) -> str:
    """The address in From of a message, or of its first bytes; empty if there is not exactly one (RFC 5322 §3.6.2)."""
    head = content[:MAX_HEAD]
    try:
        return read_author(head[: head_end(head)])[0].text
    except AuthorError:
        return ""


def refusal(moved: MovedCopy, address: str) -> Refusal | None:
    """Why a message was not released; None if it is in the inbox."""
    match moved.outcome:
        case "moved" | "in_inbox":
            return None
        case "elsewhere":
            text = f"The message is not in Junk any more: it was moved to the folder {moved.folder}."
            return Conflict(text, reason="moved", folder=moved.folder)
        case "gone":
            return Conflict("The message is not in the mailbox any more: it was deleted.", reason="deleted")
        case "inactive":
            text = f"{address} or its domain is inactive: Dovecot reads only active mailboxes."
            return Conflict(text, reason="inactive")
        case "no_author":
            return invalid_field("allow", "must be false: the message has no author, or several, or no valid address")


def facts_of(message: Message, author: str) -> Facts:
    """What the history knows about a message, for a decision."""
    auth = {method: str(result) for method, result in message.auth.items()}
    return Facts("", message.mail_from, author, auth, message.spam_score)


def list_warnings(decision: Decision, author: str) -> list[str]:
    """Warnings about an allow entry for the author of a message, about which `decision` is made with the entry."""
    rule = decision.decided_by.rule if decision.decided_by else None
    if rule == "allow_entry":
        return []
    if rule == "deny_entry" and decision.decided_by:
        return [f"A deny entry of the {decision.decided_by.scope} has priority: mail from {author} is still refused."]
    text = f"This message does not prove that it is from {author} (DMARC, SPF or DKIM): "
    return [f"{text}the allow entry does not apply to such messages."]


def is_digest_hour(at: datetime) -> bool:
    """Whether digests may leave now (local time)."""
    return _FIRST_HOUR <= at.astimezone().hour < _LAST_HOUR


def last_digest_time(at: datetime, *, weekly: bool = False) -> datetime:
    """The last time at which digests were due: 7 o'clock of a day, or of a Monday (local time)."""
    local = at.astimezone()
    day = local.date() - timedelta(days=local.hour < _FIRST_HOUR)
    if weekly:
        day -= timedelta(days=day.weekday())
    return datetime.combine(day, time(_FIRST_HOUR)).astimezone()


def digest_item(due: DueDigest, messages: Sequence[Message], found: int) -> dict[str, Any]:
    """What a digest reports: these messages, of the `found` ones."""
    return {
        "digest": due.digest,
        "messages": [
            {
                "at": iso(message.created_at),
                "from": message.from_address or message.mail_from,
                "subject": message.subject,
                "result": "refused" if message.status == "rejected" else "junk",
                "score": message.spam_score,
                "rule": (message.spam_decided_by or {}).get("rule"),
            }
            for message in messages
        ],
        "more": found - len(messages),
        "is_more_exact": found < MOST_COUNTED,
    }
