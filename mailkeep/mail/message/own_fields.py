"""Fields that only Mailkeep writes (`X-Mailkeep-*`), taken out of what others send.

Whatever reads such a field believes it, so none may come from outside. The whole header section is read, however long
it is, line by line: up to the first empty line, lines that are no field included, as the most lenient reader does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_OWN = re.compile(rb"x-mailkeep(?:-[^\s:]*)?[ \t]*:", re.IGNORECASE)


def without_own_fields(chunks: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """The message without them; `chunks` opens it."""
    for own, piece in _pieces(chunks()):
        if not own:
            yield piece


def own_field_octets(chunks: Iterable[bytes]) -> int:
    """How many octets of a message they take; reads only its header section."""
    return sum(len(piece) for own, piece in _pieces(chunks, whole=False) if own)


def first_octets(chunks: Iterable[bytes], limit: int) -> bytes:
    """At most the first `limit` octets of a message."""
    found = bytearray()
    for chunk in chunks:
        found += chunk
        if len(found) >= limit:
            break
    return bytes(found[:limit])


def _pieces(chunks: Iterable[bytes], *, whole: bool = True) -> Iterator[tuple[bool, bytes]]:
    """The message in pieces, each with whether it is a part of such a field; `whole`: its body too."""
    source = iter(chunks)
    held = b""
    own = False
    for chunk in source:
        lines = (held + chunk).split(b"\n")
        held = lines.pop()
        for place, line in enumerate(lines):
            if line in (b"", b"\r"):
                if whole:
                    yield False, b"\n".join((*lines[place:], held))
                    yield from ((False, rest) for rest in source)
                return
            if line[:1] not in (b" ", b"\t"):
                own = _OWN.match(line) is not None
            yield own, line + b"\n"
    if held:
        yield own if held[:1] in (b" ", b"\t") else _OWN.match(held) is not None, held
