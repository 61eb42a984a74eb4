"""JSON of mailboxes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailboxes import rules
from mailkeep.features.directory.mailboxes.model import Mailbox, MailboxChanges, PasswordOrHash, Protocols
from mailkeep.web.fields import Body, Patch, Query, Text, Timestamp

LocalPart = Annotated[str, Meta(max_length=64)]
Name = Annotated[str, Meta(max_length=200)]
Password = Annotated[str, Meta(max_length=1000, extra_json_schema={"format": "password", "writeOnly": True})]
Bytes = Annotated[int, Meta(ge=0, le=2**53 - 1, description="Bytes; 0 is no limit")]
Destination = Annotated[str, Meta(max_length=320, extra_json_schema={"format": "email"})]
Destinations = Annotated[list[Destination], Meta(max_length=50)]


class ProtocolsRecord(Struct, frozen=True):
    """By which protocols the mailbox may be used; `smtp` is submission."""

    imap: bool
    pop3: bool
    smtp: bool
    sieve: bool


class ForwardRecord(Struct, frozen=True):
    """Where mail is sent on to; `keep_copy`: the mailbox gets it too."""

    destinations: list[str]
    keep_copy: bool


class SuspendedRecord(Struct, frozen=True):
    """Why, by whom (`rules` or an administrator) and since when sending is suspended for the address.

    `by` names administrators to who sees them all; to a domain_admin or a scoped key it is their role.
    """

    reason: str
    by: str
    at: Timestamp


class LastLoginRecord(Struct, frozen=True):
    """The last login to the mailbox, by imap, pop3, sieve or smtp (submission); all null when there was none."""

    at: Timestamp | None
    protocol: str | None
    ip: str | None


class MailboxRecord(Struct, frozen=True):
    """A mailbox. `used_bytes` and `message_count` are of all its folders; `deleted_at` is set in the trash only."""

    id: UUID
    domain_id: UUID
    local_part: str
    address: str
    name: str
    active: bool
    suspended: SuspendedRecord | None
    quota_bytes: int
    used_bytes: int
    message_count: int
    protocols: ProtocolsRecord
    forward: ForwardRecord
    last_login: LastLoginRecord
    created_at: Timestamp
    updated_at: Timestamp
    deleted_at: Timestamp | None


class ProtocolsRequest(Patch, frozen=True):
    """Protocols to switch; those left out stay as they are, or on in a new mailbox."""

    imap: bool | UnsetType = UNSET
    pop3: bool | UnsetType = UNSET
    smtp: bool | UnsetType = UNSET
    sieve: bool | UnsetType = UNSET


class ForwardRequest(Patch, frozen=True):
    """A forward; an empty list of destinations ends it."""

    destinations: Destinations | UnsetType = UNSET
    keep_copy: bool | UnsetType = UNSET


class MailboxCreate(Body, frozen=True):
    """A mailbox to make, with `password` or, to migrate one, `password_hash` in Dovecot's format ({SCHEME}…)."""

    one_of: ClassVar[tuple[str, ...]] = ("password", "password_hash")

    domain_id: UUID
    local_part: LocalPart
    name: Name = ""
    password: Password | UnsetType = UNSET
    password_hash: Password | UnsetType = UNSET
    quota_bytes: Bytes | UnsetType = UNSET
    active: bool = True
    protocols: ProtocolsRequest = ProtocolsRequest()
    forward: ForwardRequest = ForwardRequest()


class MailboxPatch(Patch, frozen=True):
    """What may change of a mailbox."""

    domain_id: UUID | UnsetType = UNSET
    local_part: LocalPart | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    password: Password | UnsetType = UNSET
    password_hash: Password | UnsetType = UNSET
    quota_bytes: Bytes | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    protocols: ProtocolsRequest | UnsetType = UNSET
    forward: ForwardRequest | UnsetType = UNSET


class MailboxQuery(Query, frozen=True):
    """Filters of the list; `q` is a part of the address, `trashed` shows the trash instead."""

    domain_id: UUID | None = None
    active: bool | None = None
    q: Text | None = None
    trashed: bool = False


class DeleteQuery(Query, frozen=True):
    """`purge`: at once, with its mail, rather than into the trash."""

    purge: bool = False


class MailboxDeletion(Struct, frozen=True):
    """What became of a deleted mailbox; `kept_until`: as long as it can be restored."""

    message: str
    id: UUID
    purged: bool
    kept_until: Timestamp | None


def to_record(mailbox: Mailbox, who: Principal) -> MailboxRecord:
    """A mailbox as it is answered to this caller."""
    suspension, login = mailbox.suspension, mailbox.last_login
    return MailboxRecord(
        id=mailbox.id,
        domain_id=mailbox.domain_id,
        local_part=mailbox.local_part,
        address=str(mailbox.address),
        name=mailbox.name,
        active=mailbox.active,
        suspended=suspension
        and SuspendedRecord(
            suspension.reason, rules.display_suspender(who, suspension.by, suspension.by_rank), iso(suspension.at)
        ),
        quota_bytes=mailbox.quota_bytes,
        used_bytes=mailbox.used_bytes,
        message_count=mailbox.message_count,
        protocols=_to_protocols(mailbox.protocols),
        forward=ForwardRecord(list(mailbox.forward.destinations), mailbox.forward.keep_copy),
        last_login=LastLoginRecord(iso_or_none(login.at), login.protocol, login.ip),
        created_at=iso(mailbox.created_at),
        updated_at=iso(mailbox.updated_at),
        deleted_at=iso_or_none(mailbox.deleted_at),
    )


def audit_fields(mailbox: Mailbox) -> dict[str, Any]:
    """What the audit log keeps of a mailbox: its writable fields, without the password."""
    return {
        "domain_id": mailbox.domain_id,
        "address": str(mailbox.address),
        "name": mailbox.name,
        "active": mailbox.active,
        "quota_bytes": mailbox.quota_bytes,
        "protocols": structs.asdict(_to_protocols(mailbox.protocols)),
        "forward": {
            "destinations": list(mailbox.forward.destinations),
            "keep_copy": mailbox.forward.keep_copy,
        },
    }


def read_password(given: MailboxCreate | MailboxPatch) -> PasswordOrHash:
    """The password, or hash of one, in a body."""
    return PasswordOrHash(_or_none(given.password), _or_none(given.password_hash))


def read_changes(given: MailboxPatch) -> MailboxChanges:
    """A PATCH as changes; its destinations are not parsed yet."""
    sealed, forward = read_password(given), given.forward
    protocols = None if given.protocols is UNSET else read_protocols(given.protocols)
    destinations = keep_copy = None
    if forward is not UNSET:
        destinations = None if forward.destinations is UNSET else tuple(forward.destinations)
        keep_copy = _or_none(forward.keep_copy)
    return MailboxChanges(
        domain_id=_or_none(given.domain_id),
        local_part=_or_none(given.local_part),
        name=_or_none(given.name),
        secret=None if sealed == PasswordOrHash() else sealed,
        active=_or_none(given.active),
        quota_bytes=_or_none(given.quota_bytes),
        protocols=protocols or None,
        destinations=destinations,
        keep_copy=keep_copy,
    )


def read_protocols(given: ProtocolsRequest) -> dict[str, bool]:
    """The protocols that a body names."""
    return {name: value for name, value in structs.asdict(given).items() if value is not UNSET}


def _to_protocols(protocols: Protocols) -> ProtocolsRecord:
    return ProtocolsRecord(protocols.imap, protocols.pop3, protocols.smtp, protocols.sieve)


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value
