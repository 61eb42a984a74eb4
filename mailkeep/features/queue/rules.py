"""Which messages of a queue are meant."""

from __future__ import annotations

from collections.abc import Iterable

from mailkeep.features.queue.model import Cut, Filter, Queued, Recipient, Selection
from mailkeep.mail import postfix_queue


def queued(found: postfix_queue.Queued) -> Queued:
    """A message as Postfix tells of it."""
    recipients = [Recipient(each.address, each.delay_reason) for each in found.recipients]
    return Queued(found.queue_id, found.queue_name, found.arrived_at, found.message_size, found.sender, recipients)


def selected(found: Iterable[postfix_queue.Queued], wanted: Selection) -> list[postfix_queue.Queued]:
    """The messages of a queue that a selection means."""
    if wanted.filter is None:
        ids = set(wanted.ids)
        return [each for each in found if each.queue_id in ids]
    return [each for each in found if matches(each, wanted.filter)]


def matches(found: postfix_queue.Queued, wanted: Filter) -> bool:
    """Whether a filter means a message."""
    if wanted.queue_id is not None and found.queue_id != wanted.queue_id:
        return False
    if wanted.state is not None and found.queue_name != wanted.state:
        return False
    if wanted.since is not None and found.arrived_at < wanted.since:
        return False
    if wanted.until is not None and found.arrived_at >= wanted.until:
        return False
    if wanted.sender is not None and wanted.sender.casefold() not in found.sender.casefold():
        return False
    addresses = [each.address.casefold() for each in found.recipients]
    if wanted.recipient is not None and not any(wanted.recipient.casefold() in each for each in addresses):
        return False
    return wanted.domain is None or any(each.endswith("@" + wanted.domain.casefold()) for each in addresses)


def cut(found: Iterable[postfix_queue.Queued], part: Cut) -> list[postfix_queue.Queued]:
    """A part of a list, in its order, and one more where there is more."""

    def key(each: postfix_queue.Queued) -> tuple[object, str]:
        return each.arrived_at, each.queue_id

    ordered = sorted(found, key=key, reverse=part.down)
    if part.after is not None:
        after = part.after
        ordered = [each for each in ordered if (key(each) < after if part.down else key(each) > after)]
    return ordered[: part.most + 1]
