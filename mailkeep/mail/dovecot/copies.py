"""The copies of delivered messages in the folders of a mailbox: find, read and move them with `doveadm`. Needs root.

A copy has the ID of its delivery in the field X-Mailkeep-Delivery, which the lmtp agent writes. doveadm keeps indexes,
quota and the reports of usage right, open IMAP sessions see the change, and imapsieve does not notice it: nothing is
learnt from such a move. A command takes 10 to 50 ms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.tool import run

ALL_FOLDERS = "*"
_FIELD = "x-mailkeep-delivery"
_DELIVERY_ID = re.compile(r"[0-9A-Za-z]{5,64}")
_TEXT_HEADING = b"text:\n"


@dataclass(frozen=True, slots=True)
class FolderSearch:
    """The messages of a mailbox (by its login) in a folder, or in all folders, that arrived in a period."""

    login: str
    folder: str
    since: datetime
    before: datetime


@dataclass(frozen=True, slots=True)
class MailCopy:
    """A message in a folder; `delivery_id` is empty if it was not delivered by the lmtp agent."""

    folder: str
    uid: int
    delivery_id: str


class _CopyRow(msgspec.Struct, frozen=True):
    mailbox: str
    uid: str
    delivery: str = msgspec.field(name=f"hdr.{_FIELD}", default="")


async def find_copies(conf: Path, search: FolderSearch, delivery_id: str | None = None) -> list[MailCopy]:
    """The messages found, only those of a delivery if its ID is given. A folder that does not exist has none. Raises
    Failure, also if Dovecot does not know the mailbox.

    `conf` is Dovecot's configuration file. The period limits how many headers are read.
    """
    if delivery_id is not None and not _DELIVERY_ID.fullmatch(delivery_id):
        return []
    query = ["mailbox", search.folder, "since", _unix_time(search.since), "before", _unix_time(search.before)]
    if delivery_id is not None:
        query += ["header", _FIELD, delivery_id]
    fields = f"mailbox uid hdr.{_FIELD}"
    output = await run("doveadm", "-f", "json", "-c", str(conf), "fetch", "-u", search.login, fields, *query)
    try:
        rows = msgspec.json.decode(output or b"[]", type=list[_CopyRow])
    except msgspec.DecodeError as error:
        raise Failure(f"unexpected output of doveadm: {error}") from None
    # The field is "ID", or "ID since TIME"; the search finds parts of it too.
    copies = [MailCopy(row.mailbox, int(row.uid), row.delivery.partition(" ")[0]) for row in rows]
    return [copy for copy in copies if delivery_id in (None, copy.delivery_id)]


async def read_copy(conf: Path, login: str, copy: MailCopy) -> bytes | None:
    """The message, with LF line ends; None if it is not there any more. Raises Failure."""
    argv = ("doveadm", "-f", "pager", "-c", str(conf), "fetch", "-u", login, "text")
    output = await run(*argv, "mailbox", copy.folder, "uid", str(copy.uid))
    if not output:
        return None
    if not output.startswith(_TEXT_HEADING):
        raise Failure("unexpected output of doveadm fetch")
    return output.removeprefix(_TEXT_HEADING)


async def move_copy(conf: Path, login: str, copy: MailCopy, folder: str) -> None:
    """Move the message to another folder, with its flags; nothing happens if it is not there any more. Raises
    Failure.
    """
    argv = ("doveadm", "-c", str(conf), "move", "-u", login, folder)
    await run(*argv, "mailbox", copy.folder, "uid", str(copy.uid))


def _unix_time(at: datetime) -> str:
    return f"{int(at.timestamp()):010}"
