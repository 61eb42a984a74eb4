"""The header fields by which a program that submits mail by SMTP with an API key says what the API takes as JSON.

    X-Mailkeep-Tags: welcome, order
    Idempotency-Key: order-1734-confirmation

Both are removed from the message before it is sent. The rules are those of the API: at most 10 tags of 1 to 100
characters, and a key of 1 to 255 visible ASCII characters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mailkeep.mail.message.header_text import decode_words

TAGS = "X-Mailkeep-Tags"
IDEMPOTENCY_KEY = "Idempotency-Key"
MAX_TAGS = 10
MAX_TAG_LENGTH = 100
_NAMES = frozenset({TAGS.lower(), IDEMPOTENCY_KEY.lower()})
_KEY = re.compile(r"[!-~]{1,255}")
_FOLD = re.compile(r"\r?\n(?=[ \t])")
# Fields that differ when a program composes or submits the same message again.
_CHANGING = _NAMES | {"date", "message-id", "received", "return-path"}


class SubmissionFieldError(ValueError):
    """One of the fields is malformed. The text is an SMTP reply's: it names the field and says what is allowed."""


@dataclass(frozen=True, slots=True)
class SubmissionFields:
    """What the fields say: the tags in their order, and the Idempotency-Key if there is one."""

    tags: Sequence[str] = ()
    idempotency_key: str | None = None


def is_submission_field(name: str) -> bool:
    """Whether a header field with this name, in any case, is removed from the message."""
    return name.lower() in _NAMES


def read_submission_fields(fields: Iterable[tuple[str, str]]) -> SubmissionFields:
    """Read both fields from a message's header: pairs of name and value, folded or not. Raises `SubmissionFieldError`.

    Tags may be in several fields. An empty tag between two commas, or an empty field, is an error as in the API.
    """
    tags: list[str] = []
    keys: list[str] = []
    for name, value in fields:
        match name.lower():
            case "x-mailkeep-tags":
                tags += [each.strip() for each in decode_words(_FOLD.sub("", value)).split(",")]
            case "idempotency-key":
                keys.append(_FOLD.sub("", value).strip())
            case _:
                pass
    if len(keys) > 1:
        raise SubmissionFieldError(f"{IDEMPOTENCY_KEY} must not be repeated")
    if keys and not _KEY.fullmatch(keys[0]):
        raise SubmissionFieldError(f"{IDEMPOTENCY_KEY} must be 1 to 255 visible ASCII characters")
    _check_tags(tags)
    return SubmissionFields(tags, keys[0] if keys else None)


def _check_tags(tags: Sequence[str]) -> None:
    if len(tags) > MAX_TAGS:
        raise SubmissionFieldError(f"{TAGS} must have at most {MAX_TAGS} tags (got {len(tags)})")
    for tag in tags:
        if not 1 <= len(tag) <= MAX_TAG_LENGTH:
            raise SubmissionFieldError(f"{TAGS}: each tag must have 1 to {MAX_TAG_LENGTH} characters")


class SubmissionDigest:
    """SHA-256 of what a submission asks for. Two submissions with one Idempotency-Key must have the same.

    It covers envelope, header and body. Message-ID, Date and trace fields are not part of it: a program that composes
    its message again for a retry writes others. The order of the calls matters: use the same for all messages.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add_envelope(self, sender: str, recipients: Iterable[str]) -> None:
        """The envelope; the order of the recipients does not matter."""
        for each in (sender, *sorted(set(recipients)), ""):
            self._hash.update(each.encode("utf-8", "surrogateescape") + b"\n")

    def add_field(self, name: str, value: bytes) -> None:
        """A header field. Folding and white space around the value do not matter."""
        if name.lower() not in _CHANGING:
            self._hash.update(name.lower().encode("ascii", "replace") + b":" + b" ".join(value.split()) + b"\n")

    def add_body(self, piece: bytes | memoryview) -> None:
        """A piece of the body, with line ends CR LF."""
        self._hash.update(piece)

    def digest(self) -> bytes:
        """The digest."""
        return self._hash.digest()
