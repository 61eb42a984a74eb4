"""Removes header fields that only Mailkeep writes (`X-Mailkeep-*`) from messages of others.

Mailkeep trusts these fields, so none may come from outside. The whole header is read line by line, up to the first
empty line, including invalid lines, like the most lenient parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_OWN = re.compile(rb"x-mailkeep(?:-[^\s:]*)?[ \t]*:", re.IGNORECASE)


def without_own_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the message without them; `chunks` opens it."""
    for own, piece in _pieces(chunks()):
        if not own:
            yield piece


def own_field_octets(chunks: Iterable[bytes]) -> int:
    """Return their total size in a message in octets. Reads only its header."""
    return sum(len(piece) for own, piece in _pieces(chunks, whole=False) if own)


def first_octets(chunks: Iterable[bytes], limit: int) -> bytes:
    """Return at most the first `limit` octets of a message."""
    octets = bytearray()
    for chunk in chunks:
        octets += chunk
        if len(octets) >= limit:
            break
    return bytes(octets[:limit])


def _pieces(chunks: Iterable[bytes], *, whole: bool = True) -> Iterator[tuple[bool, bytes]]:
    """Yield the message in pieces, and whether each belongs to such a field. `whole`: also the body."""
    source = iter(chunks)
    partial = b""
    own = False
    for chunk in source:
        lines = (partial + chunk).split(b"\n")
        partial = lines.pop()
        for index, line in enumerate(lines):
            if line in (b"", b"\r"):
                if whole:
                    yield False, b"\n".join((*lines[index:], partial))
                    yield from ((False, rest) for rest in source)
                return
            if line[:1] not in (b" ", b"\t"):
                own = _OWN.match(line) is not None
            yield own, line + b"\n"
    if partial:
        yield own if partial[:1] in (b" ", b"\t") else _OWN.match(partial) is not None, partial
