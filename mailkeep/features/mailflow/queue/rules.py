"""Filter, select and paginate queue entries; distinguish deferrals by this server from those by remote servers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mailkeep.features.mailflow.queue.model import (
    QueueEntry,
    QueueFilter,
    QueueRecipient,
    QueueSelection,
    QueueSlice,
    SenderQueue,
)
from mailkeep.mail.postfix.queue import PostqueueEntry, PostqueueRecipient

# How Postfix's reasons begin if it defers recipients because of this server (lookups, processes, disk). The replies of
# remote servers follow "host ... said:".
_LOCAL_REASONS = (
    "address resolver failure",
    "bounce or trace service failure",
    "defer service failure",
    "mail transport unavailable",
    "queue file write error",
    "unknown mail transport error",
)
_SUSPENDED = "delivery temporarily suspended: "
# The mailbox is full or the domain is inactive: the delivery service works, and an immediate retry is pointless.
_MAILBOX_STATE = re.compile(r" said: 4\d\d[ -]4\.2\.[12] ")


def queue_entry(message: PostqueueEntry) -> QueueEntry:
    """The queue entry of a message in Postfix's listing."""
    to = [QueueRecipient(each.address, each.delay_reason) for each in message.recipients]
    return QueueEntry(
        message.queue_id, message.queue_name, message.arrived_at, message.message_size, message.sender, to
    )


def select(messages: Iterable[PostqueueEntry], selection: QueueSelection) -> list[PostqueueEntry]:
    """Those of the messages that are in a selection."""
    if selection.filter is None:
        ids = set(selection.ids)
        return [each for each in messages if each.queue_id in ids]
    return [each for each in messages if matches(each, selection.filter)]


def matches(message: PostqueueEntry, filters: QueueFilter) -> bool:
    """Whether a message matches a filter."""
    if filters.queue_id is not None and message.queue_id != filters.queue_id:
        return False
    if filters.state is not None and message.queue_name != filters.state:
        return False
    if filters.since is not None and message.arrived_at < filters.since:
        return False
    if filters.until is not None and message.arrived_at >= filters.until:
        return False
    if filters.sender is not None and filters.sender.casefold() not in message.sender.casefold():
        return False
    addresses = [each.address.casefold() for each in message.recipients]
    if filters.recipient is not None and not any(filters.recipient.casefold() in each for each in addresses):
        return False
    return filters.domain is None or any(each.endswith("@" + filters.domain.casefold()) for each in addresses)


def group_by_sender(messages: Iterable[PostqueueEntry]) -> list[SenderQueue]:
    """The queue IDs of the messages, by sender."""
    groups: dict[str, SenderQueue] = {}
    for message in messages:
        group = groups.setdefault(message.sender, SenderQueue(message.sender))
        (group.on_hold if message.queue_name == "hold" else group.waiting).append(message.queue_id)
    return list(groups.values())


def sort_and_slice(messages: Iterable[PostqueueEntry], page: QueueSlice) -> list[PostqueueEntry]:
    """The messages of a page, in its order, and the one that follows, which shows that there is a next page."""

    def position(message: PostqueueEntry) -> tuple[object, str]:
        return message.arrived_at, message.queue_id

    ordered = sorted(messages, key=position, reverse=page.descending)
    if page.after is not None:
        after = page.after
        ordered = [each for each in ordered if (position(each) < after if page.descending else position(each) > after)]
    return ordered[: page.limit + 1]


def is_local_deferral(message: PostqueueEntry, managed: Collection[str], lmtp: str, relay: str) -> bool:
    """Whether a message was deferred because of a service of this server, not because of a remote server.

    `managed`: those of the recipients' domains that are managed; `lmtp`, `relay`: the paths of the sockets of these
    processes, which are in Postfix's reasons. If no recipient has a reason, Postfix could not write it: the disk was
    full.
    """
    if message.queue_name != "deferred":
        return False
    reasons = [each for each in message.recipients if each.delay_reason]
    return not reasons or any(_is_local(each, managed, lmtp, relay) for each in reasons)


def _is_local(recipient: PostqueueRecipient, managed: Collection[str], lmtp: str, relay: str) -> bool:
    reason = recipient.delay_reason.removeprefix(_SUSPENDED)
    if reason.startswith(_LOCAL_REASONS):
        return True
    if f"[{relay}]" in reason:
        return " said: " not in reason  # otherwise it passes on the relay's answer
    domain = recipient.address.rpartition("@")[2].lower()
    return (domain in managed or f"[{lmtp}]" in reason) and not _MAILBOX_STATE.search(reason)
