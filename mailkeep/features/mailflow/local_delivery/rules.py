"""What the filter says, the delivery's field, and what the history says of Dovecot's word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from mailkeep.features.mailflow.local_delivery.model import DELIVERY_FIELD
from mailkeep.features.mailflow.receiving.model import SpamVerdict
from mailkeep.mail.message.header_fields import MessageHeader
from mailkeep.mail.message.own_fields import without_own_fields

_SYMBOL = re.compile(r"([A-Z][A-Z0-9_]{1,63}+)\([-+0-9.]++\)")
_MAX_SYMBOLS = 200
_MARGIN = 60  # seconds that clocks and times of files may be apart
_ANY = ("pass", "fail", "none", "temperror", "permerror")
_RESULTS = {"spf": (*_ANY, "softfail", "neutral"), "dkim": _ANY, "dmarc": _ANY}
_ID = re.compile(r"[0-9A-Za-z]{5,30}")
_RECEIVED_ID = re.compile(r"\(Postfix[^)]{0,40}+\)\s*+(?:with \S{1,40}+ )?id ([0-9A-Za-z]{5,30}+)(?=[\s;]|$)")


def read_verdict(head: MessageHeader) -> SpamVerdict | None:
    """What the filter says of a message; None where it was not asked (mail of our own)."""
    by_name: dict[str, str] = {}
    for field in head.fields:
        by_name.setdefault(field.name.lower(), field.value)
    action = by_name.get("x-rspamd-action")
    if action is None:
        return None
    try:
        score = float(by_name.get("x-rspamd-score", ""))
    except ValueError:
        score = 0.0
    symbols = _SYMBOL.findall(by_name.get("x-spamd-result", ""))[:_MAX_SYMBOLS]
    return SpamVerdict(score if abs(score) < 1e6 else 0.0, action.strip().lower()[:40], tuple(dict.fromkeys(symbols)))


def is_spam(head: MessageHeader) -> bool:
    """Whether the filter takes a message for spam."""
    told = read_verdict(head)
    return told is not None and told.is_spam


def read_auth(head: MessageHeader) -> dict[str, str]:
    """What the filter says of the sender's authentication (RFC 8601 §2.7): `spf`, `dkim`, `dmarc`, each where checked.

    Authentication-Results, which anybody may write, count for nothing.
    """
    told = next((field.value for field in head.fields if field.name.lower() == "x-rspamd-auth"), "")
    pairs = (part.strip().partition("=") for part in told.split(";"))
    return {method: result for method, _, result in pairs if result in _RESULTS.get(method, ())}


def is_sender_authenticated(head: MessageHeader) -> bool:
    """Whether the sender is who it says, so that an answer hits nobody else: by SPF or DMARC, or mail of our own, which
    the filter is not asked about.
    """
    told = read_auth(head)
    return read_verdict(head) is None or "pass" in (told.get("spf"), told.get("dmarc"))


def read_queue_id(forwarded: Mapping[str, str], head: MessageHeader) -> str | None:
    """Postfix's id of a message: as XFORWARD has it, else (bounces have none there) from its own field on top."""
    ident = forwarded.get("IDENT", "")
    if _ID.fullmatch(ident):
        return ident
    found = _RECEIVED_ID.search(_top_received(head))
    return found[1] if found else None


def read_arrival_time(head: MessageHeader) -> datetime | None:
    """When Postfix took a message, by its own field on top (RFC 5321 §4.4); to the second."""
    try:
        found = parsedate_to_datetime(_top_received(head).rpartition(";")[2])
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _top_received(head: MessageHeader) -> str:
    return next((field.value for field in head.fields if field.name.lower() == "received"), "")


def is_local(forwarded: Mapping[str, str]) -> bool:
    """Whether a message began here: made by Postfix, or handed in on a socket, where clients have none (Postfix: 0)."""
    return forwarded.get("SOURCE") == "LOCAL" or (
        forwarded.get("ADDR") in (None, "127.0.0.1", "::1") and forwarded.get("PORT", "0") == "0"
    )


def add_delivery_field(delivery_id: str, since: float | None, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """A message with its delivery's field before it, and without any field of ours that came along.

    `since`, in seconds since 1970, is for one that may have been delivered before: not before then.
    """
    doubt = "" if since is None else f" since {max(0, int(since) - _MARGIN)}"
    yield f"{DELIVERY_FIELD}: {delivery_id}{doubt}\r\n".encode("ascii")
    yield from without_own_fields(lambda: chunks)
