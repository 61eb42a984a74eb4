"""A mailbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec import UNSET, UnsetType

from mailkeep.core.address import Address
from mailkeep.core.ids import parse_uuid
from mailkeep.features.directory.domains.model import NOT_REQUIRED, InheritedFlag
from mailkeep.mail.mailbox.homes import MAILDIR

TRASH_RETENTION = timedelta(days=30)
UTC = "UTC"
"""The time zone of a mailbox for which none is chosen. It is an IANA name, for display."""


@dataclass(frozen=True, slots=True)
class Protocols:
    """The protocols that may be used with the mailbox; `smtp` is submission."""

    imap: bool = True
    pop3: bool = True
    smtp: bool = True
    sieve: bool = True


@dataclass(frozen=True, slots=True)
class MailboxForward:
    """Forwarding destinations as written, their keys, and whether a copy stays in the mailbox."""

    destinations: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    keep_copy: bool = True


@dataclass(frozen=True, slots=True)
class MailboxSuspension:
    """A suspension of sending for the mailbox's address; `by` is an administrator's email, an API key's name, or
    `rules` (the abuse rules). `by_rank` is the administrator's rank, None for the rules.
    """

    reason: str
    by: str
    by_rank: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class MailboxHolds:
    """What others hold on to a mailbox. `incident_rank`: the highest rank that has opened an incident about it which is
    not undone; `has_stricter_limits`: an administrator of all domains has set a threshold below that of the domain.
    """

    incident_rank: int | None
    has_stricter_limits: bool


@dataclass(frozen=True, slots=True)
class LastLogin:
    """The last login to the mailbox; all None if there was none."""

    at: datetime | None = None
    protocol: str | None = None
    ip: str | None = None


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A mailbox without its password. `quota_bytes` 0: unlimited; `deleted_at`: in the trash since.

    `require_app_passwords` None: as `inherited_requirement`, the value of the domain or of the setting. With a
    `second_factor` of the owner, they are required in any case. `send_as`: further addresses from which it may send, in
    a fixed order; with an empty local part all of a domain. `address_since`: when it got its address; None if it is not
    stored yet.
    """

    id: UUID
    domain_id: UUID
    domain_name: str
    local_part: str
    name: str
    active: bool
    quota_bytes: int
    used_bytes: int
    message_count: int
    protocols: Protocols
    forward: MailboxForward
    created_at: datetime
    updated_at: datetime
    send_as: tuple[Address, ...] = ()
    time_zone: str = UTC
    require_app_passwords: bool | None = None
    inherited_requirement: InheritedFlag = NOT_REQUIRED
    second_factor: bool = False
    address_since: datetime | None = None
    last_login: LastLogin = LastLogin()
    suspension: MailboxSuspension | None = None
    deleted_at: datetime | None = None

    @property
    def address(self) -> Address:
        """The mailbox's address."""
        return Address(self.local_part, self.domain_name)


@dataclass(frozen=True, slots=True)
class PasswordOrHash:
    """A password, or the hash of one in Dovecot's format."""

    password: str | None = None
    password_hash: str | None = None


@dataclass(frozen=True, slots=True)
class NewMailbox:
    """A mailbox to create; `quota_bytes` None: the domain's default. `invite`: without a password, which its owner
    sets with a link; it is mailed to `invite_to`, or shown (None).
    """

    domain_id: UUID
    local_part: str
    name: str
    secret: PasswordOrHash
    active: bool
    quota_bytes: int | None
    protocols: Protocols
    forward: MailboxForward
    time_zone: str = UTC
    require_app_passwords: bool | None = None
    send_as: tuple[str, ...] = ()
    invite: bool = False
    invite_to: Address | None = None


@dataclass(frozen=True, slots=True)
class MailboxChanges:
    """Changes of a mailbox; None (`require_app_passwords`: UNSET) changes nothing. `protocols` by name."""

    domain_id: UUID | None = None
    local_part: str | None = None
    name: str | None = None
    secret: PasswordOrHash | None = None
    active: bool | None = None
    quota_bytes: int | None = None
    protocols: dict[str, bool] | None = None
    destinations: tuple[str, ...] | None = None
    keep_copy: bool | None = None
    time_zone: str | None = None
    require_app_passwords: bool | UnsetType | None = UNSET
    send_as: tuple[str, ...] | None = None

    @property
    def changes_address(self) -> bool:
        """Whether the address changes."""
        return self.domain_id is not None or self.local_part is not None

    @property
    def changes_forward(self) -> bool:
        """Whether the forward changes."""
        return self.destinations is not None or self.keep_copy is not None

    @property
    def needs_owner_rank(self) -> bool:
        """Whether password, protocols, `active`, quota, address, forward, `send_as` or `require_app_passwords` change:
        a caller of lower rank than the mailbox's owner must not change them. With a small quota the owner's mail would
        bounce.
        """
        protected = (self.secret, self.active, self.protocols, self.quota_bytes, self.send_as)
        changes_access = any(value is not None for value in protected) or self.require_app_passwords is not UNSET
        return self.changes_address or self.changes_forward or changes_access


async def _accept(_conn: Any, _mailbox: Mailbox) -> None:
    """Let a change be committed."""


@dataclass(frozen=True, slots=True)
class MailboxWrite:
    """How a bulk operation carries out a change. `before_commit` gets the transaction and the changed mailbox, and
    raises to roll it back; `hash_password` None: at the priority of a single call.
    """

    before_commit: Callable[[Any, Mailbox], Awaitable[None]] = _accept
    hash_password: Callable[[str], Awaitable[str]] | None = None


SINGLE_WRITE = MailboxWrite()


@dataclass(frozen=True, slots=True)
class MailboxFilter:
    """Which mailboxes to list; `domains` are those that the caller may see, None for all.

    `part` is a folded substring of the address; `trashed` lists the mailboxes in the trash instead.
    """

    domains: list[UUID] | None
    domain_id: UUID | None = None
    active: bool | None = None
    part: str | None = None
    trashed: bool = False


def mail_root(data_dir: Path) -> Path:
    """The folder of all mailboxes."""
    return data_dir / "mail"


def mail_folder(data_dir: Path, mailbox_id: UUID) -> Path:
    """The home folder of a mailbox. It is named by the id, so that a mailbox with a reused address has no old mail."""
    return mail_root(data_dir) / str(mailbox_id)


def parse_mail_folder(data_dir: Path, home: str) -> UUID | None:
    """The mailbox whose home folder this is; None for any other text."""
    root, _, name = home.rpartition("/")
    return parse_uuid(name) if root == str(mail_root(data_dir)) else None


def maildir_of(data_dir: Path, mailbox_id: UUID) -> Path:
    """The Maildir in a mailbox's home folder."""
    return mail_folder(data_dir, mailbox_id) / MAILDIR
