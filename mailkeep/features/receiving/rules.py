"""What a sender is answered, and how often a forward is tried."""

from __future__ import annotations

from datetime import timedelta

from mailkeep.mail.reply import Reply

_REPLIES = {
    "deliver": Reply(250, "2.1.5", "Ok"),
    "unknown_user": Reply(550, "5.1.1", "User unknown"),
    "mailbox_inactive": Reply(550, "5.2.1", "Mailbox disabled"),
    "receiving_disabled": Reply(550, "5.7.1", "The domain takes no mail"),
    "domain_inactive": Reply(450, "4.2.1", "The domain is deactivated for now"),
    "not_managed": Reply(554, "5.7.1", "Relay access denied"),
}
_WAITS = (5, 60, 300, 900, 3600)
_GIVE_UP_AFTER = 40


def reply_to(decision: str) -> Reply:
    """The answer at RCPT for what routing decided (RFC 3463 for the enhanced codes)."""
    return _REPLIES[decision]


def next_try(attempts: int) -> timedelta | None:
    """How long a forward waits after try number `attempts`; None when it is given up (after about 36 hours)."""
    if attempts >= _GIVE_UP_AFTER:
        return None
    return timedelta(seconds=_WAITS[min(attempts, len(_WAITS)) - 1])
