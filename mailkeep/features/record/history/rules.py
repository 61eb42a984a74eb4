"""Search terms, the length of walks, and timelines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args
from uuid import UUID

from mailkeep.core.address import fold_local
from mailkeep.core.ids import uuid7_floor
from mailkeep.features.record.history.model import HistoryFilter, SearchField, SearchTerm, TimelineEntry
from mailkeep.features.record.messages.model import (
    OUTCOMES,
    DeliveryAttempt,
    InboundStatus,
    Message,
    OutboundStatus,
)

STATUSES: dict[str, tuple[str, ...]] = {"inbound": get_args(InboundStatus), "outbound": get_args(OutboundStatus)}
"""The statuses of messages by direction."""
COUNTED_STATUSES = tuple(dict.fromkeys(status for each in STATUSES.values() for status in each if status != "partial"))
MOST_COUNTED = 10_000
FIRST_WALK = 1_000
LONGEST_WALK = 40_000
_TERM_LENGTH = 8
_MAX_TERMS = 8
_TRIGRAM = re.compile(r"[^\W_]{3}")
_COMMON = frozenset("etaoinsrlcdmu.@- ")


def like_pattern(text: str) -> str:
    """The LIKE pattern for "contains"; `%`, `_` and backslashes are escaped."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def words(q: str | None) -> list[str]:
    """The words of a search, without duplicates."""
    return list(dict.fromkeys(q.split())) if q else []


def search_terms(filters: HistoryFilter) -> list[SearchTerm]:
    """The terms of a search, case-folded as the searched texts are."""
    fields: list[tuple[SearchField, str | None]] = [
        ("sender", filters.from_),
        ("recipients", filters.to),
        ("subject", filters.subject),
    ]
    terms = [SearchTerm(field, fold_local(text)) for field, text in fields if text]
    return terms + [SearchTerm("any", fold_local(word)) for word in words(filters.q)]


def index_terms(terms: Sequence[SearchTerm]) -> list[SearchTerm]:
    """Substrings of search terms, one or two of which are looked up in the trigram index. The rows that the index
    returns are then checked for the whole terms.

    The index reads the posting list of each trigram, and those of frequent trigrams cost most: eight rare characters
    cost a tenth of a whole address. Substrings without a trigram (three letters or digits) are omitted.
    """
    substrings = [
        SearchTerm(term.field, term.text[start : start + _TERM_LENGTH])
        for term in terms
        for start in [
            *range(0, max(1, len(term.text) - _TERM_LENGTH), _TERM_LENGTH // 2),
            max(0, len(term.text) - _TERM_LENGTH),
        ]
    ]
    usable = [term for term in dict.fromkeys(substrings) if _TRIGRAM.search(term.text)]
    step = -(-len(usable) // _MAX_TERMS) or 1
    return usable[::step]


def rarest_terms(terms: Sequence[SearchTerm], counts: Sequence[int]) -> list[SearchTerm]:
    """The terms to look up in the index, given their counts in a walk: one with count 0, otherwise the two rarest."""
    order = sorted(range(len(terms)), key=lambda number: (counts[number], -_rarity(terms[number].text)))
    return [terms[number] for number in order[: 1 if counts[order[0]] == 0 else 2]]


def _rarity(text: str) -> int:
    """The number of uncommon characters in a text."""
    return sum(character not in _COMMON for character in text)


def statuses(filters: HistoryFilter) -> list[str] | None:
    """The statuses of a list, None for all."""
    if filters.direction is None:
        return None if filters.status is None else [filters.status]
    possible = STATUSES[filters.direction]
    if filters.status is None:
        return list(possible)
    return [filters.status] if filters.status in possible else []


def attempt_kinds(filters: HistoryFilter) -> list[str] | None:
    """The results of the attempts that a list by provider or bounce class is about; None for other lists."""
    if filters.provider is None and filters.bounce_class is None:
        return None
    wanted = statuses(filters)
    return sorted(OUTCOMES if wanted is None else OUTCOMES.intersection(wanted))


def header_id(text: str) -> str:
    """A Message-ID with its angle brackets, as in the header."""
    return text if text.startswith("<") else f"<{text}>"


def next_walk(rows_read: int, hits: int, missing: int) -> int | None:
    """The number of rows to walk next, after `rows_read` rows with `hits` hits; None: use the index.

    It is twice the number in which `missing` more hits are expected, since hits are distributed at random.
    """
    if rows_read >= LONGEST_WALK or not hits:
        return None
    rows = 2 * missing * rows_read // hits
    return rows if rows_read + rows <= LONGEST_WALK else None


def is_narrow(filters: HistoryFilter) -> bool:
    """Whether a list may be much shorter than the result of the trigram index, which filters by domain only."""
    exact = filters.mailbox_id, filters.api_key_id, filters.tag, filters.provider, filters.bounce_class
    return any((filters.direction, filters.status, *exact))


def index_pays(walked: int, hits: int) -> bool:
    """Whether `hits` rows from the index cost less than a walk of `walked` rows, which are stored close together."""
    return 2 * hits < walked


def initial_entries(message: Message) -> list[TimelineEntry]:
    """The first entries of a timeline, from the message itself; their IDs sort before those of the attempts."""
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
    submitted_id, submitted_at = message.id, message.created_at
    entries: list[TimelineEntry] = []
    if message.scheduled_at is None:
        entries.append(TimelineEntry(message.id, message.created_at, "submitted"))
    else:
        entries.append(TimelineEntry(message.id, message.created_at, "scheduled"))
    if message.submitted_at is not None:
        submitted_id, submitted_at = (
            max(uuid7_floor(message.submitted_at), UUID(int=message.id.int + 1)),
            message.submitted_at,
        )
        entries.append(TimelineEntry(submitted_id, message.submitted_at, "submitted"))
    entries += [
        TimelineEntry(UUID(int=submitted_id.int + position), submitted_at, "suppressed", recipient.address)
        for position, recipient in enumerate(message.recipients, 1)
        if recipient.suppression
    ]
    if message.accepted_at is not None:
        # Attempts may be recorded in the millisecond of the acceptance, never before it. It is after the submission.
        at = max(uuid7_floor(message.accepted_at), UUID(int=submitted_id.int + len(message.recipients) + 1))
        entries.append(TimelineEntry(at, message.accepted_at, "accepted", queue_id=message.queue_id))
    return entries


def attempt_entry(attempt: DeliveryAttempt) -> TimelineEntry:
    """The timeline entry of a delivery attempt."""
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
    message: Message, attempts: Sequence[DeliveryAttempt], after: UUID | None, *, descending: bool
) -> list[TimelineEntry]:
    """The entries after `after`, in order: the initial entries and `attempts`, which are after it already."""
    initial = [
        entry
        for entry in initial_entries(message)
        if after is None or (entry.id < after if descending else entry.id > after)
    ]
    return sorted([*initial, *map(attempt_entry, attempts)], key=lambda entry: entry.id, reverse=descending)
