"""JSON of the folders and the usage of a mailbox."""

from __future__ import annotations

from msgspec import Struct

from mailkeep.features.directory.mailbox_usage.model import MailboxUsage, MailFolder


class MailFolderRecord(Struct, frozen=True):
    """A folder by its path, such as `INBOX` or `Archive/2026`; `bytes` as the quota counts them."""

    name: str
    messages: int
    unseen: int
    bytes: int


class MailboxUsageRecord(Struct, frozen=True):
    """The usage of a mailbox, all folders together."""

    used_bytes: int
    message_count: int


def to_folder(folder: MailFolder) -> MailFolderRecord:
    """The response for a folder."""
    return MailFolderRecord(folder.name, folder.messages, folder.unseen, folder.size)


def to_usage(usage: MailboxUsage) -> MailboxUsageRecord:
    """The response for the usage."""
    return MailboxUsageRecord(usage.used_bytes, usage.message_count)
