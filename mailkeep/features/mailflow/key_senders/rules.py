"""The SMTP reply for each refusal of a message that an API key submits."""

from __future__ import annotations

from mailkeep.core.errors import (
    ApiKeyDomainScope,
    DomainInactive,
    Forbidden,
    MailboxSuspended,
    PayloadTooLarge,
    RateLimitExceeded,
    RecipientSuppressed,
    Refusal,
    SenderDomainUnknown,
    SendFailed,
    Unavailable,
)
from mailkeep.core.principal import BlockReason
from mailkeep.features.mailflow.abuse.service import is_permanent
from mailkeep.mail.smtp.reply import SmtpReply

KEY_ENDED = SmtpReply(
    421, "4.7.0", "The API key is not valid any more: it was revoked, has expired, or its owner is disabled"
)
NO_SENDER = SmtpReply(553, "5.7.1", "Mail with an API key needs a sender: an address of a domain that the key may use")
_NOT_THE_SENDER = {"key_permissions", *(each.value for each in BlockReason)}


def refusal_reply(refusal: Refusal) -> SmtpReply:
    """The reply that says why: 553 5.7.1 for a sender that the key may not use, 450 while the same message may be
    accepted later, else 550.
    """
    reason, text = (refusal.details or {}).get("reason"), refusal.message
    match refusal:
        case DomainInactive() if reason != "sending_disabled":
            return SmtpReply(450, "4.2.1", text)
        case Forbidden() if reason in _NOT_THE_SENDER:
            return SmtpReply(550, "5.7.1", text)
        case SenderDomainUnknown() | Forbidden() | ApiKeyDomainScope():
            return SmtpReply(553, "5.7.1", text)
        case MailboxSuspended() | RateLimitExceeded() if not is_permanent(refusal):
            return SmtpReply(450, "4.7.1", text)
        case DomainInactive() | MailboxSuspended() | RateLimitExceeded() | RecipientSuppressed():
            return SmtpReply(550, "5.7.1", text)
        case PayloadTooLarge():
            return SmtpReply(552, "5.3.4", text)
        case Unavailable() | SendFailed():
            return SmtpReply(451, "4.3.0", text)
        case _:
            return SmtpReply(550 if refusal.status < 500 else 451, "5.6.0" if refusal.status < 500 else "4.3.0", text)
