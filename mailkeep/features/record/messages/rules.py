"""New messages, one constructor for each direction, and the events of messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import asdict

from mailkeep.core.ids import uuid7
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.features.record.messages.model import (
    DeliveryOutcome,
    HeaderSummary,
    MailBounced,
    MailComplained,
    MailDelivered,
    MailFailed,
    MailReceived,
    MailSent,
    MailSuppressed,
    Message,
    MessageDomain,
    Recipient,
    RecipientSuppression,
    Source,
)


def outbound_message(
    at: datetime,
    source: Source,
    domain: MessageDomain,
    header: HeaderSummary,
    mail_from: str,
    recipients: Iterable[str],
) -> Message:
    """A message that is not submitted yet. `mail_from` and `recipients` are its envelope."""
    return Message(
        id=uuid7(at),
        direction="outbound",
        source=source,
        domain_id=domain.id,
        domain_name=domain.name,
        mail_from=mail_from,
        status="submitting",
        created_at=at,
        recipients=[Recipient(address, "submitting") for address in recipients],
        **_fields(header),
    )


def inbound_message(
    at: datetime,
    source: Source,
    domain: MessageDomain,
    header: HeaderSummary,
    mail_from: str,
    recipients: Sequence[Recipient],
) -> Message:
    """A message for one mailbox, or one that was rejected. All recipients and the message have the same status."""
    return Message(
        id=uuid7(at),
        direction="inbound",
        source=source,
        domain_id=domain.id,
        domain_name=domain.name,
        mail_from=mail_from,
        status=recipients[0].status,
        created_at=at,
        recipients=list(recipients),
        **_fields(header),
    )


def _fields(header: HeaderSummary) -> dict[str, Any]:
    return {name: getattr(header, name) for name in HeaderSummary.__slots__}


def sent_event(message: Message) -> Event | None:
    """The `mail.sent` of a message; None for mail of Mailkeep itself, which has no events."""
    if message.source == "mailkeep":
        return None
    payload = MailSent(
        message_id=message.message_id,
        from_=message.from_address,
        to=message.to_addresses,
        subject=message.subject,
        domain=message.domain_name,
        tags=message.tags,
        metadata=dict(message.metadata),
    )
    return Event(message.domain_id, message.id, payload)


def acceptance_events(message: Message) -> list[Event]:
    """What is published with the acceptance of a message: `mail.sent`, and `mail.suppressed` for each recipient to whom
    it was not submitted.
    """
    sent = sent_event(message)
    suppressed = [
        Event(message.domain_id, message.id, MailSuppressed(**_recipient_fields(message, each, each.suppression)))
        for each in message.recipients
        if each.suppression
    ]
    return [sent, *suppressed] if sent else []


def complained_event(message: Message, recipient: Recipient, suppression: RecipientSuppression) -> Event:
    """The `mail.complained` of a recipient."""
    payload = MailComplained(**_recipient_fields(message, recipient, suppression))
    return Event(message.domain_id, message.id, payload)


def _recipient_fields(message: Message, recipient: Recipient, suppression: RecipientSuppression) -> dict[str, Any]:
    return {
        "message_id": message.message_id,
        "from_": message.from_address,
        "to": recipient.address,
        "domain": message.domain_name,
        "subject": message.subject,
        "queue_id": message.queue_id,
        "tags": message.tags,
        "metadata": dict(message.metadata),
        "reason": suppression.reason,
        "suppression_id": str(suppression.id),
    }


def received_event(message: Message) -> Event:
    """The `mail.received` of a message."""
    payload = MailReceived(
        message_id=message.message_id,
        from_=message.from_address,
        domain=message.domain_name,
        subject=message.subject,
        size=message.size,
        queue_id=message.queue_id or "",
    )
    return Event(message.domain_id, message.id, payload)


def outcome_event(message: Message, outcome: DeliveryOutcome, attempt: int) -> Event | None:
    """The event of a delivery attempt with this number; None if it has none.

    Relayed mail has none, as its delivery is unknown. A deferral is a `mail.bounced` with `bounce_type` temporary,
    published after the first attempt only. Mail of Mailkeep itself has only an alert, if it is not delivered.
    """
    reply = outcome.reply
    if message.source == "mailkeep":
        reason = " ".join(str(part) for part in (reply.smtp_code, reply.enhanced_code, reply.diagnostic) if part)
        is_lost = outcome.status in ("bounced", "failed")
        return undelivered_alert(message, outcome.address, reason) if is_lost else None
    is_first_attempt = attempt <= 1
    if outcome.status == "relayed" or (outcome.status == "deferred" and not is_first_attempt):
        return None
    payload = MailDelivered(
        message_id=message.message_id,
        from_=message.from_address,
        to=outcome.address,
        domain=message.domain_name,
        subject=message.subject,
        queue_id=message.queue_id or outcome.queue_id,
        smtp_code=reply.smtp_code,
        enhanced_code=reply.enhanced_code,
        diagnostic=reply.diagnostic,
        remote_host=reply.remote_host,
        attempts=attempt,
        tags=message.tags,
        metadata=dict(message.metadata),
        source="system" if message.source == "system" else "",
    )
    bounce_class, provider = reply.bounce
    match outcome.status:
        case "bounced":
            payload = MailBounced(**asdict(payload), bounce_type="permanent", class_=bounce_class, provider=provider)
        case "deferred":
            payload = MailBounced(**asdict(payload), bounce_type="temporary", class_=bounce_class, provider=provider)
        case "failed":
            reason = outcome.reason or reply.diagnostic
            payload = MailFailed(**asdict(payload), reason=reason, class_=bounce_class, provider=provider)
        case "delivered":
            pass
    return Event(message.domain_id, message.id, payload)


def undelivered_alert(message: Message, recipient: str, reason: str) -> Event:
    """The alert that a recipient did not get mail of Mailkeep itself, whose null sender gets no bounce."""
    alert = SystemAlert(
        alert="system_mail_undelivered",
        message_id=message.message_id,
        from_=message.from_address,
        to=[recipient],
        subject=message.subject,
        queue_id=message.queue_id,
        reason=reason,
    )
    return Event(None, message.id, alert)
