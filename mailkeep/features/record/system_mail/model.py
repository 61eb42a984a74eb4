"""A mail that Mailkeep itself writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

SystemMailKind = Literal[
    "settings_changed",
    "admin_changed",
    "quota_warning",
    "invitation",
    "dkim_due",
    "junk_digest",
    "alert",
    "alert_critical",
    "health_critical",
    "restore",
]
SystemMailItem = Mapping[str, Any]
"""What a mail reports, in types of JSON: its members depend on the kind (`texts`)."""


@dataclass(frozen=True, slots=True)
class SuperAdminNotice:
    """What the mail to all super_admins reports; `also` these addresses get it, and those in `without` do not."""

    kind: SystemMailKind
    item: SystemMailItem
    also: Collection[str] = ()
    without: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class SystemMail:
    """A mail to one recipient. `items` has at most 50 of the `item_count` things that it reports. `claims` is the
    number of attempts to send it, and the fencing token of the last one.
    """

    id: UUID
    kind: SystemMailKind
    recipient: str
    items: Sequence[SystemMailItem]
    item_count: int
    created_at: datetime
    claims: int


@dataclass(frozen=True, slots=True)
class SystemMailText:
    """The subject and the body of a mail."""

    subject: str
    body: str
