"""Removes header fields of filters, and Mailkeep's own, from messages.

Mailkeep writes these fields and trusts them, so none may come from outside. The header is read line by line up to the
first empty line. Invalid lines do not end it, since lenient parsers read past them too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_SUBMISSION = re.compile(
    rb"(?:x-(?:mailkeep|rspamd|spamd|spam)(?:-[^\s:]*)?|idempotency-key|authentication-results)[ \t]*:", re.IGNORECASE
)
# Of other servers: any program's verdict, and results that nobody here has checked (RFC 8601 §5).
_FOREIGN = re.compile(rb"(?:x-(?:mailkeep|rspamd|spam|virus)[^\s:]*|authentication-results)[ \t]*:", re.IGNORECASE)
# What the filter passes to the lmtp agent. Its symbols (X-Spamd-Result) are for the mailbox.
_OWN = re.compile(rb"x-(?:mailkeep|rspamd|spam)(?:-[^\s:]*)?[ \t]*:", re.IGNORECASE)


def without_own_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield a message without Mailkeep's own fields and the filter's verdict; `chunks` opens it."""
    for is_own, piece in _pieces(chunks(), _OWN):
        if not is_own:
            yield piece


def without_foreign_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield a message of another server without verdicts and authentication results, and fields like Mailkeep's own."""
    for is_foreign, piece in _pieces(chunks(), _FOREIGN):
        if not is_foreign:
            yield piece


def without_submission_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield a message that a client submits without the fields that are for Mailkeep, and those that only filters set
    (RFC 8601 §5), as in the full profile (`mail/daemons/templates/postfix/submission_headers`).
    """
    for is_removed, piece in _pieces(chunks(), _SUBMISSION):
        if not is_removed:
            yield piece


def foreign_field_octets(chunks: Iterable[bytes]) -> int:
    """Return the total size of the fields that `without_foreign_fields` removes, in octets. Reads only the header."""
    return sum(len(piece) for is_foreign, piece in _pieces(chunks, _FOREIGN, with_body=False) if is_foreign)


def first_octets(chunks: Iterable[bytes], limit: int) -> bytes:
    """Return at most the first `limit` octets of a message."""
    octets = bytearray()
    for chunk in chunks:
        octets += chunk
        if len(octets) >= limit:
            break
    return bytes(octets[:limit])


def _pieces(
    chunks: Iterable[bytes], pattern: re.Pattern[bytes], *, with_body: bool = True
) -> Iterator[tuple[bool, bytes]]:
    """Yield the message in pieces, each with whether it belongs to a field that `pattern` matches."""
    remaining_chunks = iter(chunks)
    partial = b""
    is_own = False
    for chunk in remaining_chunks:
        lines = (partial + chunk).split(b"\n")
        partial = lines.pop()
        for index, line in enumerate(lines):
            if line in (b"", b"\r"):
                if with_body:
                    yield False, b"\n".join((*lines[index:], partial))
                    yield from ((False, body_chunk) for body_chunk in remaining_chunks)
                return
            if line[:1] not in (b" ", b"\t"):
                is_own = pattern.match(line) is not None
            yield is_own, line + b"\n"
    if partial:
        yield is_own if partial[:1] in (b" ", b"\t") else pattern.match(partial) is not None, partial
