"""Filter, select and paginate queue entries; tell deferrals by our own services from those by remote servers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mailkeep.features.mailflow.queue.model import QueueEntry, QueueFilter, QueueRecipient, QueueSelection, QueueSlice
from mailkeep.mail.postfix import queue as postfix_queue

# Reasons with which Postfix defers recipients because of this server: look-ups, processes, disk. These are complete
# reasons; the reply of a remote server follows "host ... said:".
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


def queue_entry(found: postfix_queue.PostqueueEntry) -> QueueEntry:
    """The queue entry of a message in Postfix's listing."""
    recipients = [QueueRecipient(each.address, each.delay_reason) for each in found.recipients]
    return QueueEntry(found.queue_id, found.queue_name, found.arrived_at, found.message_size, found.sender, recipients)


def select(
    found: Iterable[postfix_queue.PostqueueEntry], selection: QueueSelection
) -> list[postfix_queue.PostqueueEntry]:
    """The messages of a queue in a selection."""
    if selection.filter is None:
        ids = set(selection.ids)
        return [each for each in found if each.queue_id in ids]
    return [each for each in found if matches(each, selection.filter)]


def matches(found: postfix_queue.PostqueueEntry, filters: QueueFilter) -> bool:
    """Whether a message matches a filter."""
    if filters.queue_id is not None and found.queue_id != filters.queue_id:
        return False
    if filters.state is not None and found.queue_name != filters.state:
        return False
    if filters.since is not None and found.arrived_at < filters.since:
        return False
    if filters.until is not None and found.arrived_at >= filters.until:
        return False
    if filters.sender is not None and filters.sender.casefold() not in found.sender.casefold():
        return False
    addresses = [each.address.casefold() for each in found.recipients]
    if filters.recipient is not None and not any(filters.recipient.casefold() in each for each in addresses):
        return False
    return filters.domain is None or any(each.endswith("@" + filters.domain.casefold()) for each in addresses)


def take_slice(found: Iterable[postfix_queue.PostqueueEntry], wanted: QueueSlice) -> list[postfix_queue.PostqueueEntry]:
    """The entries of a slice, in its order, and the next one if there is one."""

    def key(each: postfix_queue.PostqueueEntry) -> tuple[object, str]:
        return each.arrived_at, each.queue_id

    ordered = sorted(found, key=key, reverse=wanted.descending)
    if wanted.after is not None:
        after = wanted.after
        ordered = [each for each in ordered if (key(each) < after if wanted.descending else key(each) > after)]
    return ordered[: wanted.limit + 1]


def is_local_deferral(message: postfix_queue.PostqueueEntry, managed: Collection[str], agent: str) -> bool:
    """Whether a message was deferred because of a service of this server, not because of a remote server.

    `managed` are the recipients' domains whose mailboxes are here; `agent` is the socket of the LMTP agent, which
    Postfix names in its reasons. A message without any reason could not be recorded as deferred: the disk was full, or
    a bounce could not be written.
    """
    if message.queue_name != "deferred":
        return False
    reasons = [each for each in message.recipients if each.delay_reason]
    return not reasons or any(_is_local(each, managed, agent) for each in reasons)


def _is_local(waiting: postfix_queue.PostqueueRecipient, managed: Collection[str], agent: str) -> bool:
    reason = waiting.delay_reason.removeprefix(_SUSPENDED)
    if reason.startswith(_LOCAL_REASONS):
        return True
    domain = waiting.address.rpartition("@")[2].lower()
    return (domain in managed or f"[{agent}]" in reason) and not _MAILBOX_STATE.search(reason)
