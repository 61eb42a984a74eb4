"""The outcome of deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.features.mailflow.receiving.rules import smtp_reply
from mailkeep.features.record.messages.model import ServerReply

RETRY_SECONDS = 2
_REMOTE, _LOCAL = "sandbox", "localhost"  # host names in the replies
_MAX_LOCAL_ATTEMPTS = 60


@dataclass(frozen=True, slots=True)
class SandboxOutcome:
    """The outcome of a delivery attempt; `deferred`: there will be another attempt. `is_complaint`: the recipient then
    reports the message as spam.
    """

    status: Literal["delivered", "bounced", "deferred", "failed"]
    reply: ServerReply
    is_complaint: bool = False


def remote_outcome(recipient: str, attempt: int) -> SandboxOutcome:
    """The outcome for an external recipient at this attempt (from 1), by its local part."""
    local = recipient.rpartition("@")[0].partition("+")[0].lower()
    if local == "bounce":
        return SandboxOutcome("bounced", ServerReply(550, "5.1.1", "No such user here (sandbox)", _REMOTE))
    if local == "defer" and attempt == 1:
        return SandboxOutcome("deferred", ServerReply(451, "4.2.0", "Try again later (sandbox)", _REMOTE))
    if local == "fail":
        if attempt == 1:
            return SandboxOutcome("deferred", ServerReply(451, "4.4.1", "No answer from the host (sandbox)", _REMOTE))
        return SandboxOutcome("failed", ServerReply(None, "4.4.7", "Delivery time expired (sandbox)", _REMOTE))
    return SandboxOutcome("delivered", ServerReply(250, "2.0.0", "Ok (sandbox)", _REMOTE), local == "complaint")


def is_test_address(recipient: str) -> bool:
    """Whether a recipient is an address that fails or complains on purpose, without a tag: it is not suppressed."""
    return recipient.rpartition("@")[0].lower() in ("bounce", "fail", "complaint")


def local_outcome(decision: str, attempt: int) -> SandboxOutcome:
    """The outcome for a recipient at a managed domain at this attempt (from 1), by the decision of routing. Its reply
    is that of RCPT on port 25.
    """
    if decision == "deliver":
        return SandboxOutcome("delivered", ServerReply(250, "2.0.0", "Delivered to mailbox", _LOCAL))
    reply = smtp_reply(decision)
    if not reply.is_permanent and attempt >= _MAX_LOCAL_ATTEMPTS:
        return SandboxOutcome("failed", ServerReply(None, "4.4.7", "Delivery time expired", _LOCAL))
    status = "bounced" if reply.is_permanent else "deferred"
    return SandboxOutcome(status, ServerReply(reply.code, reply.enhanced, reply.text, _LOCAL))
