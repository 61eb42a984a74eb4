"""JSON of Junk."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.junk.model import JunkMessage, JunkResult, Release
from mailkeep.features.record.history import service as history
from mailkeep.web.fields import Body, Query, Timestamp


class JunkQuery(Query, frozen=True):
    """Filters; `since` is at most 90 days ago, default 30 days."""

    result: JunkResult | None = None
    since: datetime | None = None


class JunkRecord(Struct, frozen=True, rename={"from_": "from"}):
    """Mail that the filter filed in Junk (`junk`) or refused (`refused`). `decided_by`: the rule that decided; null if
    the filter alone did. `reply`: to the other server, of refused mail. `can_release`: it is still in the folder Junk.
    """

    id: UUID
    from_: str
    subject: str
    at: Timestamp
    score: float | None
    decided_by: history.SpamRule | None
    result: JunkResult
    reply: str | None
    can_release: bool


class JunkRelease(Body, frozen=True):
    """`allow`: also add the author to the mailbox's allow list."""

    allow: bool = False


class ReleaseResponse(Struct, frozen=True):
    """The message is in the inbox. `allow_entry_id`: the entry of the allow list; null if none was wanted, or if the
    list is full. `warnings` says that, and why the entry would not apply to this message.
    """

    id: UUID
    allow_entry_id: UUID | None
    warnings: list[str]


def to_record(junk: JunkMessage) -> JunkRecord:
    """The response for a message."""
    message = junk.message
    is_refused = message.status == "rejected"
    replies = [each.reply.diagnostic for each in message.recipients if each.reply.diagnostic]
    return JunkRecord(
        id=message.id,
        from_=message.from_address,
        subject=message.subject,
        at=iso(message.created_at),
        score=message.spam_score,
        decided_by=history.to_spam_rule(message),
        result="refused" if is_refused else "junk",
        reply=replies[0] if is_refused and replies else None,
        can_release=junk.can_release,
    )


def to_release(release: Release) -> ReleaseResponse:
    """The response for a release."""
    return ReleaseResponse(release.message_id, release.allow_entry_id, list(release.warnings))
