"""The outcome of deliveries, and how messages are shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Literal
from urllib.parse import quote, unquote

from mailkeep.features.record.messages.model import ServerReply

RETRY_SECONDS = 2
_HOST = "sandbox"


@dataclass(frozen=True, slots=True)
class SandboxOutcome:
    """The outcome of a delivery attempt; `deferred`: there will be another one."""

    status: Literal["delivered", "bounced", "deferred", "failed"]
    reply: ServerReply


def remote_outcome(recipient: str, attempts: int) -> SandboxOutcome:
    """The outcome for an external recipient at attempt number `attempts` (from 1), by its local part."""
    local = recipient.rpartition("@")[0].partition("+")[0].lower()
    if local == "bounce":
        return SandboxOutcome("bounced", ServerReply(550, "5.1.1", "No such user here (sandbox)", _HOST))
    if local == "defer" and attempts == 1:
        return SandboxOutcome("deferred", ServerReply(451, "4.2.0", "Try again later (sandbox)", _HOST))
    if local == "fail":
        if attempts == 1:
            return SandboxOutcome("deferred", ServerReply(451, "4.4.1", "No answer from the host (sandbox)", _HOST))
        return SandboxOutcome("failed", ServerReply(None, "4.4.7", "Delivery time expired (sandbox)", _HOST))
    return SandboxOutcome("delivered", ServerReply(250, "2.0.0", "Ok (sandbox)", _HOST))


_LOCAL_OUTCOMES: dict[str, SandboxOutcome] = {
    "deliver": SandboxOutcome("delivered", ServerReply(250, "2.0.0", "Delivered to mailbox", "localhost")),
    "unknown_user": SandboxOutcome("bounced", ServerReply(550, "5.1.1", "User unknown", "localhost")),
    "mailbox_full": SandboxOutcome("deferred", ServerReply(452, "4.2.2", "Mailbox full", "localhost")),
    "message_too_large": SandboxOutcome(
        "bounced", ServerReply(552, "5.2.2", "The message is larger than the quota", "localhost")
    ),
    "no_administrator": SandboxOutcome(
        "deferred", ServerReply(451, "4.3.5", "No administrator has an address that receives mail", "localhost")
    ),
    "expansion_limit": SandboxOutcome(
        "bounced", ServerReply(550, "5.7.1", "Too many external destinations", "localhost")
    ),
    "too_many_destinations": SandboxOutcome("bounced", ServerReply(550, "5.7.1", "Too many destinations", "localhost")),
    "mailbox_inactive": SandboxOutcome("bounced", ServerReply(550, "5.2.1", "Mailbox disabled", "localhost")),
    "receiving_disabled": SandboxOutcome(
        "bounced", ServerReply(550, "5.7.1", "The domain does not accept mail", "localhost")
    ),
    "domain_inactive": SandboxOutcome("deferred", ServerReply(450, "4.2.1", "The domain is inactive", "localhost")),
}
_MAX_LOCAL_ATTEMPTS = 60


def local_outcome(decision: str, attempts: int) -> SandboxOutcome:
    """The outcome for a recipient at a managed domain, by the decision of routing."""
    outcome = _LOCAL_OUTCOMES[decision]
    if outcome.status == "deferred" and attempts >= _MAX_LOCAL_ATTEMPTS:
        return SandboxOutcome("failed", ServerReply(None, "4.4.7", "Delivery time expired", "localhost"))
    return outcome


_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MAX_IMAGE_CHARACTERS = 16 << 20  # that images may add to the HTML
_REFERENCE = re.compile(r"(?i)\bcid:([^\s\"'<>()\\]{1,800})")
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_UNRESERVED = "!#$&+-.^_`|~"  # with letters and digits, the attr-char of RFC 8187 §3.2.1


@dataclass(frozen=True, slots=True)
class InlineImage:
    """A part of a message that its HTML can show."""

    content_type: str
    content_base64: str


def embed_images(html: str, images: Mapping[str, InlineImage]) -> str:
    """Replace each `cid:` URL (RFC 2392) of one of these images, by Content-ID, by a `data:` URL.

    So nothing has to be fetched, and the URLs have no character that could end an attribute. Images of other types and
    beyond 16 MiB in total are left as they are: a browser shows them as missing.
    """
    left = _MAX_IMAGE_CHARACTERS

    def replace(reference: re.Match[str]) -> str:
        nonlocal left
        image = images.get(unquote(unescape(reference[1])))
        if image is None or image.content_type not in _IMAGE_TYPES or len(image.content_base64) > left:
            return reference[0]
        left -= len(image.content_base64)
        return f"data:{image.content_type};base64,{image.content_base64}"

    return _REFERENCE.sub(replace, html)


def attachment_index(number: str) -> int | None:
    """The index (from 0) of an attachment by its number (from 1) in the path, None if it is not a number."""
    return int(number) - 1 if _NUMBER.fullmatch(number) else None


def content_disposition(file_name: str) -> str:
    """Content-Disposition (RFC 6266) of a file that is saved under the sender's name for it, never shown."""
    return f"attachment; filename*=UTF-8''{quote(file_name or 'attachment', safe=_UNRESERVED)}"
