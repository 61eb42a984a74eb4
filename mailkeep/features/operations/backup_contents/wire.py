"""JSON of what a backup contains."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.backup.contents import ContentsEntry, ContentsQuery
from mailkeep.core.clock import iso_or_none
from mailkeep.web.fields import Query, Timestamp


class BackupContentsQuery(Query, frozen=True):
    """Without a parameter: domains. With `message_id`, the others limit the search."""

    domain_id: Annotated[UUID | None, Meta(description="The mailboxes of this domain.")] = None
    mailbox_id: Annotated[UUID | None, Meta(description="The folders of this mailbox.")] = None
    message_id: Annotated[
        Annotated[str, Meta(max_length=998)] | None, Meta(description="The messages with this Message-ID header.")
    ] = None


class BackupContentsRecord(Struct, frozen=True):
    """What a backup contains. `type`: `domain` (`name`, `mailboxes`, `messages`, `size_bytes`), `mailbox` (`name` is
    its address), `folder` of a mailbox, or a `message` that was found, with the mailbox, its address (`name`), its
    folder and when it was stored. What a type does not have is null.
    """

    type: Literal["domain", "mailbox", "folder", "message"]
    domain_id: UUID | None
    mailbox_id: UUID | None
    name: str
    folder: str | None
    mailboxes: int | None
    messages: int | None
    size_bytes: int
    date: Timestamp | None


def to_contents(entry: ContentsEntry) -> BackupContentsRecord:
    """The response for an entry of the contents."""
    return BackupContentsRecord(
        type=entry.type,
        domain_id=entry.domain_id,
        mailbox_id=entry.mailbox_id,
        name=entry.name,
        folder=entry.folder,
        mailboxes=entry.mailboxes,
        messages=entry.messages,
        size_bytes=entry.size_bytes,
        date=iso_or_none(entry.date),
    )


def read_query(query: BackupContentsQuery) -> ContentsQuery:
    """What a query asks for."""
    domain_id, mailbox_id = (str(each) if each else None for each in (query.domain_id, query.mailbox_id))
    return ContentsQuery(domain_id, mailbox_id, query.message_id)
