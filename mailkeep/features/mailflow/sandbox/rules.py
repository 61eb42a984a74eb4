"""What becomes of a recipient outside, by its local part; how a caught message is shown."""

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
    """The outcome of a try: final, or `deferred` for another one."""

    status: Literal["delivered", "bounced", "deferred", "failed"]
    reply: ServerReply


def remote_outcome(recipient: str, attempts: int) -> SandboxOutcome:
    """The fate of a recipient elsewhere at its try number `attempts` (from 1)."""
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
        "deferred", ServerReply(451, "4.3.5", "No administrator can be reached", "localhost")
    ),
    "expansion_limit": SandboxOutcome(
        "bounced", ServerReply(550, "5.7.1", "Too many external destinations", "localhost")
    ),
    "too_many_destinations": SandboxOutcome("bounced", ServerReply(550, "5.7.1", "Too many destinations", "localhost")),
    "mailbox_inactive": SandboxOutcome("bounced", ServerReply(550, "5.2.1", "Mailbox disabled", "localhost")),
    "receiving_disabled": SandboxOutcome("bounced", ServerReply(550, "5.7.1", "The domain takes no mail", "localhost")),
    "domain_inactive": SandboxOutcome("deferred", ServerReply(450, "4.2.1", "The domain is deactivated", "localhost")),
}
_MAX_LOCAL_ATTEMPTS = 60


def local_outcome(decision: str, attempts: int) -> SandboxOutcome:
    """The fate of a recipient at a managed domain, by where routing says that it goes."""
    fate = _LOCAL_OUTCOMES[decision]
    if fate.status == "deferred" and attempts >= _MAX_LOCAL_ATTEMPTS:
        return SandboxOutcome("failed", ServerReply(None, "4.4.7", "Delivery time expired", "localhost"))
    return fate


_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MAX_IMAGE_CHARACTERS = 16 << 20  # characters that they may add to a page
_REFERENCE = re.compile(r"(?i)\bcid:([^\s\"'<>()\\]{1,800})")
_PLACE = re.compile(r"[1-9][0-9]{0,3}")
_UNRESERVED = "!#$&+-.^_`|~"  # with letters and digits, the attr-char of RFC 8187 §3.2.1


@dataclass(frozen=True, slots=True)
class InlineImage:
    """A part of a message that its HTML may show."""

    content_type: str
    content_base64: str


def embed_images(html: str, images: Mapping[str, InlineImage]) -> str:
    """HTML with each `cid:` (RFC 2392) that names one of these images, by its Content-ID, replaced by the image itself.

    Nothing has to be fetched then, and what is put in holds no character that could end an attribute. Other types and
    what goes beyond 16 MiB altogether stay as they were written: a browser shows them as missing.
    """
    room = _MAX_IMAGE_CHARACTERS

    def shown(reference: re.Match[str]) -> str:
        nonlocal room
        image = images.get(unquote(unescape(reference[1])))
        if image is None or image.content_type not in _IMAGE_TYPES or len(image.content_base64) > room:
            return reference[0]
        room -= len(image.content_base64)
        return f"data:{image.content_type};base64,{image.content_base64}"

    return _REFERENCE.sub(shown, html)


def attachment_index(written: str) -> int | None:
    """The place of an attachment as it stands in a path, counted from 0 then; None for what is no number from 1."""
    return int(written) - 1 if _PLACE.fullmatch(written) else None


def content_disposition(file_name: str) -> str:
    """Content-Disposition (RFC 6266) of what is to be saved by a stranger's name for it, never shown."""
    return f"attachment; filename*=UTF-8''{quote(file_name or 'attachment', safe=_UNRESERVED)}"
