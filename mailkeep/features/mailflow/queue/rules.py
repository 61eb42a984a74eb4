"""Which messages of a queue are meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mailkeep.features.mailflow.queue.model import QueueEntry, QueueFilter, QueueRecipient, QueueSelection, QueueSlice
from mailkeep.mail.postfix import queue as postfix_queue

# What Postfix says of a recipient that it could not try because of this server itself: its look-ups, its processes,
# its disk. These are whole reasons; what a remote server answers stands behind "host ... said:".
_LOCAL_REASONS = (
    "address resolver failure",
    "bounce or trace service failure",
    "defer service failure",
    "mail transport unavailable",
    "queue file write error",
    "unknown mail transport error",
)
_SUSPENDED = "delivery temporarily suspended: "
# A mailbox that is full, or a domain that is deactivated: the delivery service works, and trying at once is no use.
_MAILBOX_STATE = re.compile(r" said: 4\d\d[ -]4\.2\.[12] ")


def queue_entry(found: postfix_queue.PostqueueEntry) -> QueueEntry:
    """A message as Postfix tells of it."""
    recipients = [QueueRecipient(each.address, each.delay_reason) for each in found.recipients]
    return QueueEntry(found.queue_id, found.queue_name, found.arrived_at, found.message_size, found.sender, recipients)


def select(found: Iterable[postfix_queue.PostqueueEntry], wanted: QueueSelection) -> list[postfix_queue.PostqueueEntry]:
    """The messages of a queue that a selection means."""
    if wanted.filter is None:
        ids = set(wanted.ids)
        return [each for each in found if each.queue_id in ids]
    return [each for each in found if matches(each, wanted.filter)]


def matches(found: postfix_queue.PostqueueEntry, wanted: QueueFilter) -> bool:
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


def take_slice(found: Iterable[postfix_queue.PostqueueEntry], part: QueueSlice) -> list[postfix_queue.PostqueueEntry]:
    """A part of a list, in its order, and one more where there is more."""

    def key(each: postfix_queue.PostqueueEntry) -> tuple[object, str]:
        return each.arrived_at, each.queue_id

    ordered = sorted(found, key=key, reverse=part.down)
    if part.after is not None:
        after = part.after
        ordered = [each for each in ordered if (key(each) < after if part.down else key(each) > after)]
    return ordered[: part.most + 1]


def is_local_deferral(message: postfix_queue.PostqueueEntry, managed: Collection[str], agent: str) -> bool:
    """Whether a deferred message waits because of a service of this server, not because of a remote server.

    `managed` are the domains among its recipients that have their mailboxes here, `agent` is the LMTP agent's socket,
    which Postfix names in its reasons. A message without any reason could not be recorded as deferred: the disk was
    full, or a bounce could not be written.
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
