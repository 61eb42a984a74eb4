"""Removes `X-Mailkeep-*` header fields from messages of other servers.

Mailkeep writes these fields and trusts them, so none may come from outside. The header is read line by line up to the
first empty line. Invalid lines do not end it, since lenient parsers read past them too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_SUBMISSION = re.compile(
    rb"(?:x-(?:mailkeep|rspamd|spamd|spam)(?:-[^\s:]*)?|idempotency-key|authentication-results)[ \t]*:", re.IGNORECASE
)
_OWN = re.compile(rb"x-mailkeep(?:-[^\s:]*)?[ \t]*:", re.IGNORECASE)


def without_own_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the message without these fields; `chunks` opens it."""
    for is_own, piece in _pieces(chunks()):
        if not is_own:
            yield piece


def without_submission_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield a message that a client submits without the fields that are for Mailkeep, and those that only filters set
    (RFC 8601 §5), as in the full profile (`mail/daemons/templates/postfix/submission_headers`).
    """
    for is_removed, piece in _pieces(chunks(), _SUBMISSION):
        if not is_removed:
            yield piece


def own_field_octets(chunks: Iterable[bytes]) -> int:
    """Return the total size of these fields in a message, in octets. Reads only the header."""
    return sum(len(piece) for is_own, piece in _pieces(chunks, with_body=False) if is_own)


def first_octets(chunks: Iterable[bytes], limit: int) -> bytes:
    """Return at most the first `limit` octets of a message."""
    octets = bytearray()
    for chunk in chunks:
        octets += chunk
        if len(octets) >= limit:
            break
    return bytes(octets[:limit])


def _pieces(
    chunks: Iterable[bytes], pattern: re.Pattern[bytes] = _OWN, *, with_body: bool = True
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
