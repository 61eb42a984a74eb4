"""What becomes of a recipient outside, by its local part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.features.messages.model import Reply

RETRY_SECONDS = 2
_HOST = "sandbox"


@dataclass(frozen=True, slots=True)
class Fate:
    """The outcome of a try: final, or `deferred` for another one."""

    status: Literal["delivered", "bounced", "deferred", "failed"]
    reply: Reply


def outside(recipient: str, attempts: int) -> Fate:
    """The fate of a recipient elsewhere at its try number `attempts` (from 1)."""
    local = recipient.rpartition("@")[0].partition("+")[0].lower()
    if local == "bounce":
        return Fate("bounced", Reply(550, "5.1.1", "No such user here (sandbox)", _HOST))
    if local == "defer" and attempts == 1:
        return Fate("deferred", Reply(451, "4.2.0", "Try again later (sandbox)", _HOST))
    if local == "fail":
        if attempts == 1:
            return Fate("deferred", Reply(451, "4.4.1", "No answer from the host (sandbox)", _HOST))
        return Fate("failed", Reply(None, "4.4.7", "Delivery time expired (sandbox)", _HOST))
    return Fate("delivered", Reply(250, "2.0.0", "Ok (sandbox)", _HOST))


_INSIDE: dict[str, Fate] = {
    "deliver": Fate("delivered", Reply(250, "2.0.0", "Delivered to mailbox", "localhost")),
    "unknown_user": Fate("bounced", Reply(550, "5.1.1", "User unknown", "localhost")),
    "mailbox_full": Fate("bounced", Reply(552, "5.2.2", "Mailbox full", "localhost")),
    "mailbox_inactive": Fate("bounced", Reply(550, "5.2.1", "Mailbox disabled", "localhost")),
    "receiving_disabled": Fate("bounced", Reply(550, "5.7.1", "The domain takes no mail", "localhost")),
    "domain_inactive": Fate("deferred", Reply(450, "4.2.1", "The domain is deactivated", "localhost")),
}
_MAX_TRIES_INSIDE = 60


def inside(decision: str, attempts: int) -> Fate:
    """The fate of a recipient at a managed domain, by where routing says that it goes."""
    fate = _INSIDE[decision]
    if fate.status == "deferred" and attempts >= _MAX_TRIES_INSIDE:
        return Fate("failed", Reply(None, "4.4.7", "Delivery time expired", "localhost"))
    return fate
