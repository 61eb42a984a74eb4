"""JSON of the history."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct, convert

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.record.history.model import MessageTotals, TimelineEntry
from mailkeep.features.record.messages import model
from mailkeep.mail.smtp.bounce_class import BounceClass
from mailkeep.web.fields import Query, Text, Timestamp

Status = Literal[model.OutboundStatus, model.InboundStatus]


class SuppressionResponse(Struct, frozen=True):
    """The suppression because of which a recipient got nothing."""

    id: UUID
    reason: str


class MessageRecipientResponse(Struct, frozen=True, rename={"bounce_class": "class"}):
    """A recipient and its delivery status; `diagnostic` is the reply of the remote server.

    `class` (why, one of 16) and `provider` (of the remote server; null if there was none) are set for the statuses
    deferred, bounced and failed, `suppression` for suppressed.
    """

    address: str
    status: str
    attempts: int
    smtp_code: int | None
    enhanced_code: str | None
    diagnostic: str | None
    remote_host: str | None
    next_attempt_at: Timestamp | None
    bounce_class: BounceClass | None
    provider: str | None
    suppression: SuppressionResponse | None


class SpamRule(Struct, frozen=True):
    """The rule that decided, its scope, and the list entry if it was one (it may be deleted since)."""

    scope: Literal["server", "domain", "mailbox"]
    rule: Literal["allow_entry", "deny_entry", "junk_score", "reject_score", "virus", "encrypted", "no_verdict"]
    entry_id: UUID | None = None


class Spam(Struct, frozen=True):
    """The result of the spam filter; null if it did not check the message.

    `action`: `no action` (inbox), `add header` (Junk), `reject`. `decided_by`: the rule that decided; null if none did.
    """

    score: float | None
    action: str | None
    symbols: list[str]
    decided_by: SpamRule | None


class AuthenticationResults(Struct, frozen=True):
    """Results of sender authentication; null if not evaluated."""

    spf: str | None
    dkim: str | None
    dmarc: str | None


class MessageTemplate(Struct, frozen=True):
    """The template that a message was rendered from, and its version."""

    id: UUID
    version: int


class MessageResponse(Struct, frozen=True, rename={"from_": "from"}):
    """A message of the history."""

    id: UUID
    direction: Literal["outbound", "inbound"]
    message_id: str
    queue_id: str | None
    domain_id: UUID | None
    mailbox_id: UUID | None
    source: model.Source
    api_key_id: UUID | None
    from_: str
    to: list[str]
    cc: list[str]
    subject: str
    size: int
    tags: list[str]
    metadata: dict[str, Any]
    template: MessageTemplate | None
    status: Status
    recipients: list[MessageRecipientResponse]
    spam: Spam
    auth: AuthenticationResults
    scheduled_at: Timestamp | None
    created_at: Timestamp


class TimelineDetail(Struct, frozen=True):
    """Details: number of the attempt, reply of the remote server, time of the next attempt."""

    attempt: int | None
    smtp_code: int | None
    enhanced_code: str | None
    diagnostic: str | None
    remote_host: str | None
    next_attempt_at: Timestamp | None
    queue_id: str | None


class TimelineEntryResponse(Struct, frozen=True):
    """An entry of the timeline; `recipient` is null if it concerns the whole message."""

    at: Timestamp
    kind: Literal[
        "scheduled",
        "cancelled",
        "submitted",
        "accepted",
        "deferred",
        "delivered",
        "relayed",
        "bounced",
        "failed",
        "lost",
        "unknown",
        "suppressed",
        "complained",
        "received",
        "rejected",
    ]
    recipient: str | None
    detail: TimelineDetail


class MessageQuery(Query, frozen=True, rename={"from_": "from"}):
    """Filters; `from`, `to` and `subject` match substrings case-insensitively, `q` words in any of the three.

    `status` also finds `partial` messages with a recipient in that status. With `provider` or `bounce_class` (of a
    delivery attempt) it is the result of this attempt.
    """

    direction: Literal["outbound", "inbound"] | None = None
    status: Status | None = None
    from_: Text | None = None
    to: Text | None = None
    subject: Text | None = None
    message_id: Text | None = None
    queue_id: Text | None = None
    tag: Text | None = None
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    api_key_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    provider: Annotated[str, Meta(max_length=64, description="Such as `google`; `other`: unknown ones.")] | None = None
    bounce_class: BounceClass | None = None
    q: Annotated[str, Meta(max_length=200)] | None = None


class TotalsQuery(Query, frozen=True):
    """Filters of the totals."""

    domain_id: UUID | None = None
    since: datetime | None = None


class MessageTotalsResponse(Struct, frozen=True):
    """How many messages are in each status; a `partial` message counts once for each status of its recipients. A total
    that is `most` may be larger: counting ends there.
    """

    since: Timestamp | None
    totals: dict[str, int]
    most: int


def to_totals(totals: MessageTotals) -> MessageTotalsResponse:
    """The JSON of totals."""
    return MessageTotalsResponse(iso_or_none(totals.since), totals.by_status, totals.most)


def to_message(message: model.Message) -> MessageResponse:
    """The JSON of a message."""
    return MessageResponse(
        id=message.id,
        direction=message.direction,
        message_id=message.message_id,
        queue_id=message.queue_id,
        domain_id=message.domain_id,
        mailbox_id=message.mailbox_id,
        source=message.source,
        api_key_id=message.api_key_id,
        from_=message.from_address,
        to=message.to_addresses,
        cc=message.cc_addresses,
        subject=message.subject,
        size=message.size,
        tags=message.tags,
        metadata=dict(message.metadata),
        template=_template(message),
        status=message.status,  # pyright: ignore[reportArgumentType] limited by a CHECK constraint
        recipients=[_recipient(recipient) for recipient in message.recipients],
        spam=Spam(
            message.spam_score,
            message.spam_action,
            message.spam_symbols,
            to_spam_rule(message),
        ),
        auth=AuthenticationResults(message.auth.get("spf"), message.auth.get("dkim"), message.auth.get("dmarc")),
        scheduled_at=iso_or_none(message.scheduled_at),
        created_at=iso(message.created_at),
    )


def to_spam_rule(message: model.Message) -> SpamRule | None:
    """The JSON of the rule that decided about a message."""
    return convert(message.spam_decided_by, SpamRule | None)


def _template(message: model.Message) -> MessageTemplate | None:
    if message.template_id is None or message.template_version is None:
        return None
    return MessageTemplate(message.template_id, message.template_version)


def _recipient(recipient: model.Recipient) -> MessageRecipientResponse:
    bounce_class, provider = recipient.bounce or (None, None)
    suppression = recipient.suppression
    return MessageRecipientResponse(
        address=recipient.address,
        status=recipient.status,
        attempts=recipient.attempts,
        smtp_code=recipient.reply.smtp_code,
        enhanced_code=recipient.reply.enhanced_code,
        diagnostic=recipient.reply.diagnostic,
        remote_host=recipient.reply.remote_host,
        next_attempt_at=iso_or_none(recipient.next_attempt_at),
        bounce_class=bounce_class,
        provider=provider,
        suppression=suppression and SuppressionResponse(suppression.id, suppression.reason),
    )


def to_entry(entry: TimelineEntry) -> TimelineEntryResponse:
    """The JSON of a timeline entry."""
    return TimelineEntryResponse(
        at=iso(entry.at),
        kind=entry.kind,  # pyright: ignore[reportArgumentType] limited by a CHECK constraint
        recipient=entry.recipient,
        detail=TimelineDetail(
            attempt=entry.attempt,
            smtp_code=entry.reply.smtp_code,
            enhanced_code=entry.reply.enhanced_code,
            diagnostic=entry.reply.diagnostic,
            remote_host=entry.reply.remote_host,
            next_attempt_at=iso_or_none(entry.next_attempt_at),
            queue_id=entry.queue_id,
        ),
    )
