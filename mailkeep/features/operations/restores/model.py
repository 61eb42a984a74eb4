"""What is to be restored, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import msgspec

from mailkeep.mail.mailbox.restored_mail import MailCounts

Place = Literal["folder", "in_place"]
"""Which folder gets the mail: a folder `Restored DATE` of the mailbox, or the one that it was in."""


class RestoreArgument(msgspec.Struct, frozen=True, kw_only=True):
    """The argument of an operation: a domain or a mailbox, by ID."""

    scope: Literal["domain", "mailbox"]
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    into: Place = "folder"
    dry_run: bool = False


@dataclass(slots=True)
class RestoredMailbox:
    """A mailbox in a restore. `state`: it existed, came back, or could not come back for the reason `problem`;
    of one that came back, `problem` says what did not.
    """

    id: UUID
    address: str
    state: Literal["existing", "returned", "skipped"] = "existing"
    problem: str = ""
    mail: MailCounts = field(default_factory=MailCounts)


@dataclass(slots=True)
class RestoreResult:
    """What a restore did, or with `dry_run` would do. `objects`: rows that came back, by table."""

    dry_run: bool
    folder: str
    objects: dict[str, int] = field(default_factory=dict[str, int])
    mailboxes: list[RestoredMailbox] = field(default_factory=list[RestoredMailbox])

    def to_json(self) -> dict[str, Any]:
        """As the result of the operation; at most a hundred mailboxes are listed."""
        total = MailCounts()
        for mailbox in self.mailboxes:
            total.add(mailbox.mail)
        listed = [each for each in self.mailboxes if each.state != "existing" or each.mail.messages][:MAX_LISTED]
        return {
            "dry_run": self.dry_run,
            "folder": self.folder or None,
            "objects": self.objects,
            "mailboxes": {
                state: sum(each.state == state for each in self.mailboxes)
                for state in ("existing", "returned", "skipped")
            },
            "messages": {"restored": total.messages, "present": total.present, "newer": total.newer},
            "bytes": total.bytes,
            "folders": total.folders,
            "details": [
                {
                    "mailbox_id": str(each.id),
                    "address": each.address,
                    "state": each.state,
                    "problem": each.problem or None,
                    "restored": each.mail.messages,
                    "present": each.mail.present,
                    "newer": each.mail.newer,
                }
                for each in listed
            ],
        }


MAX_LISTED = 100
