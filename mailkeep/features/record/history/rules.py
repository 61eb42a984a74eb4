"""How a search is split, how far it walks, and how a timeline is put together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from mailkeep.core.address import fold_local
from mailkeep.core.ids import uuid7_floor
from mailkeep.features.record.history.model import (
    INBOUND,
    OUTBOUND,
    HistoryFilter,
    SearchField,
    SearchTerm,
    TimelineEntry,
)
from mailkeep.features.record.messages.model import DeliveryAttempt, Message

FIRST_WALK = 1_000
LONGEST_WALK = 40_000
_PIECE = 8
_MOST_PIECES = 8
_TRIGRAM = re.compile(r"[^\W_]{3}")
_COMMON = frozenset("etaoinsrlcdmu.@- ")


def like_pattern(text: str) -> str:
    """The LIKE pattern for "contains"; `%`, `_` and the backslash stand for themselves."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def words(q: str | None) -> list[str]:
    """The words of a search, each once."""
    return list(dict.fromkeys(q.split())) if q else []


def search_terms(wanted: HistoryFilter) -> list[SearchTerm]:
    """What is looked for within texts, folded as they are."""
    named: list[tuple[SearchField, str | None]] = [
        ("sender", wanted.from_),
        ("recipients", wanted.to),
        ("subject", wanted.subject),
    ]
    parts = [SearchTerm(place, fold_local(text)) for place, text in named if text]
    return parts + [SearchTerm("any", fold_local(word)) for word in words(wanted.q)]


def index_terms(parts: Sequence[SearchTerm]) -> list[SearchTerm]:
    """Pieces of what is looked for, one of which is to be asked of the trigram index; the rest is looked at then.

    The index reads a list of postings for each trigram, and those of the commonest cost most: eight characters that
    are rare cost a tenth of a whole address. Pieces without a trigram (three letters or digits) are left out.
    """
    found = [
        SearchTerm(part.field, part.text[start : start + _PIECE])
        for part in parts
        for start in [*range(0, max(1, len(part.text) - _PIECE), _PIECE // 2), max(0, len(part.text) - _PIECE)]
    ]
    able = [piece for piece in dict.fromkeys(found) if _TRIGRAM.search(piece.text)]
    step = -(-len(able) // _MOST_PIECES) or 1
    return able[::step]


def rarest_terms(able: Sequence[SearchTerm], counts: Sequence[int]) -> list[SearchTerm]:
    """The pieces to ask the index for, by how often each was seen in a walk: two where no piece is really rare."""
    order = sorted(range(len(able)), key=lambda number: (counts[number], -_oddity(able[number].text)))
    return [able[number] for number in order[: 1 if counts[order[0]] == 0 else 2]]


def _oddity(text: str) -> int:
    """How much there is in a text that is seldom seen."""
    return sum(character not in _COMMON for character in text)


def statuses(wanted: HistoryFilter) -> list[str] | None:
    """The statuses that a list is about, None for all: received and rejected are those of inbound mail."""
    if wanted.direction is None:
        return None if wanted.status is None else [wanted.status]
    possible = INBOUND if wanted.direction == "inbound" else OUTBOUND
    if wanted.status is None:
        return list(possible)
    return [wanted.status] if wanted.status in possible else []


def header_id(text: str) -> str:
    """A Message-ID as it stands in the header, also where it is asked for without its angle brackets."""
    return text if text.startswith("<") else f"<{text}>"


def next_walk(seen: int, found: int, missing: int) -> int | None:
    """How many rows to walk next, after `seen` of which `found` were hits; None: take the index.

    Hits come by chance: twice as far as they came so far on average.
    """
    if seen >= LONGEST_WALK or not found:
        return None
    far = 2 * missing * seen // found
    return far if seen + far <= LONGEST_WALK else None


def is_narrow(wanted: HistoryFilter) -> bool:
    """Whether a list may be much shorter than what the trigram index knows (which knows of domains alone)."""
    return any((wanted.direction, wanted.status, wanted.mailbox_id, wanted.tag))


def index_pays(walked: int, hits: int) -> bool:
    """Whether `hits` rows from the index cost less than a walk of `walked` rows, which lie closer together."""
    return 2 * hits < walked


def initial_entries(message: Message) -> list[TimelineEntry]:
    """What a timeline begins with, by the message itself; the ids fit between those of its tries."""
    if message.direction == "inbound":
        return [
            TimelineEntry(
                UUID(int=message.id.int + position),
                message.created_at,
                recipient.status,
                recipient.address,
                recipient.attempts,
                recipient.reply,
                queue_id=message.queue_id,
            )
            for position, recipient in enumerate(message.recipients)
        ]
    entries = [TimelineEntry(message.id, message.created_at, "submitted")]
    if message.accepted_at is not None:
        # Fates may be told in the millisecond of the acceptance, never before it; nor is it before the submission.
        at = max(uuid7_floor(message.accepted_at), UUID(int=message.id.int + 1))
        entries.append(TimelineEntry(at, message.accepted_at, "accepted", queue_id=message.queue_id))
    return entries


def attempt_entry(attempt: DeliveryAttempt) -> TimelineEntry:
    """A try, as the timeline shows it."""
    return TimelineEntry(
        attempt.id,
        attempt.at,
        attempt.kind,
        attempt.recipient,
        attempt.number,
        attempt.reply,
        attempt.next_attempt_at,
    )


def timeline(
    message: Message, attempts: Sequence[DeliveryAttempt], after: UUID | None, *, down: bool
) -> list[TimelineEntry]:
    """The entries beyond `after`, in order: the message's own beginnings among tries that are beyond it already."""
    own = [
        entry for entry in initial_entries(message) if after is None or (entry.id < after if down else entry.id > after)
    ]
    return sorted([*own, *map(attempt_entry, attempts)], key=lambda entry: entry.id, reverse=down)
