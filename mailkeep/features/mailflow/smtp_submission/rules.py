"""Replies about submissions, and the message as it is sent on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain

from mailkeep.features.mailflow.key_submission.rules import MISMATCH, PENDING
from mailkeep.features.mailflow.smtp_submission.model import Claim, SubmittedMail
from mailkeep.features.record.messages.model import Message
from mailkeep.mail.message.header_fields import MAX_HEAD, head_end
from mailkeep.mail.message.own_fields import without_submission_fields
from mailkeep.mail.message.submission_fields import SubmissionDigest
from mailkeep.mail.smtp.client import ConnectionLost, SmtpRefusal
from mailkeep.mail.smtp.reply import SmtpReply

AUTHENTICATE_TO_RELAY = SmtpReply(554, "5.7.1", "Relay access denied")
NOT_CONFIGURED = SmtpReply(451, "4.3.5", "Sending is not configured (setting mta.mode)")
TOO_MANY_HOPS = SmtpReply(554, "5.4.6", "Mail loop: the message has more than 100 Received fields")
MAX_HOPS = 100
_FIELD_END = re.compile(rb"\r\n(?![ \t])")
RETENTION = timedelta(hours=24)
"""How long an Idempotency-Key is claimed, as by API."""
REPLAYED = SmtpReply(250, "2.0.0", "Ok: the message with this Idempotency-Key was accepted before")


def judge_claim(
    earlier: Claim, message: Message | None, *, running: bool, digest: bytes, at: datetime
) -> SmtpReply | None:
    """The reply to a message whose Idempotency-Key is claimed; None if the claim is free. `message`: the row of the
    message that has claimed it, `running`: whether it is being submitted.
    """
    is_settled = message is None or message.status not in ("submitting", "unknown")
    is_accepted = message is not None and message.accepted_at is not None
    if earlier.claimed_at <= at - RETENTION or (is_settled and not is_accepted and not running):
        return None
    if earlier.digest != digest:
        return MISMATCH
    return REPLAYED if is_accepted else PENDING


def digest_of(mail: SubmittedMail) -> bytes:
    """The digest of what a submission asks for."""
    digest = SubmissionDigest()
    digest.add_envelope(mail.mail_from, mail.recipients)
    head = mail.content.head(MAX_HEAD + 4)
    skip = head_end(head) or 0
    for field in _FIELD_END.split(head[:skip]):  # all fields, and the whole of each
        name, _, value = field.partition(b":")
        digest.add_field(name.strip().decode("latin-1"), value)
    for chunk in mail.content.chunks():
        digest.add_body(chunk[skip:])
        skip = max(0, skip - len(chunk))
    return digest.digest()


def sent_chunks(mail: SubmittedMail, added: Sequence[tuple[str, str]]) -> Iterator[bytes]:
    """The message as it is sent: with a trace field and the fields that it lacks, without those for Mailkeep."""
    head = mail.trace + "".join(f"{name}: {value}\r\n" for name, value in added).encode()
    return chain((head,), without_submission_fields(mail.content.chunks))


def failure_reply(result: SmtpRefusal | ConnectionLost) -> SmtpReply:
    """The reply if the server for outbound mail has not accepted the message: permanent if it refused it for good."""
    if isinstance(result, ConnectionLost):
        advice = "try again later" if result.submitted == "no" else "its outcome is not known"
        return SmtpReply(451, "4.4.2", f"The mail transfer agent did not accept the message: {advice}")
    reply = result.reply
    if result.permanent:
        return SmtpReply(550, reply.enhanced or "5.0.0", f"The mail transfer agent refused the message: {reply}")
    return SmtpReply(451, reply.enhanced if reply.enhanced.startswith("4.") else "4.3.0", f"Try again later: {reply}")
