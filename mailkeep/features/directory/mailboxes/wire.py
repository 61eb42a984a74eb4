"""JSON of mailboxes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from mailkeep.core.address import Address
from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import Principal
from mailkeep.features.access.invitations import rules as invitation_rules, service as invitations
from mailkeep.features.access.invitations.model import Invitation, Invite, InviteTo
from mailkeep.features.directory.domains.model import InheritedFlag
from mailkeep.features.directory.mailboxes import rules
from mailkeep.features.directory.mailboxes.model import (
    UTC,
    Mailbox,
    MailboxChanges,
    MailboxForward,
    NewMailbox,
    PasswordOrHash,
    Protocols,
)
from mailkeep.web.fields import Body, Patch, Query, Text, Timestamp

LocalPart = Annotated[str, Meta(max_length=64)]
Name = Annotated[str, Meta(max_length=200)]
Password = Annotated[str, Meta(max_length=1000, extra_json_schema={"format": "password", "writeOnly": True})]
Bytes = Annotated[int, Meta(ge=0, le=2**53 - 1, description="Bytes; 0 is unlimited")]
TimeZone = Annotated[str, Meta(max_length=64, description="IANA name, such as Europe/Berlin")]
Destination = Annotated[str, Meta(max_length=320, extra_json_schema={"format": "email"})]
Destinations = Annotated[list[Destination], Meta(max_length=50)]
Sender = Annotated[str, Meta(max_length=320, description="An address, or a domain: all its addresses")]
Senders = Annotated[list[Sender], Meta(max_length=rules.MAX_SEND_AS, description="At most 100 addresses and domains")]


class ProtocolsRecord(Struct, frozen=True):
    """The protocols that may be used with the mailbox; `smtp` is submission."""

    imap: bool
    pop3: bool
    smtp: bool
    sieve: bool


class ForwardRecord(Struct, frozen=True):
    """Forwarding destinations; `keep_copy`: the mailbox gets the mail too."""

    destinations: list[str]
    keep_copy: bool


class SuspendedRecord(Struct, frozen=True):
    """Why, by whom (an administrator, or `rules`: the abuse rules) and since when sending is suspended for the address.

    `by` is the administrator's name for callers that see all administrators; for a domain_admin or a scoped key it is
    the role.
    """

    reason: str
    by: str
    at: Timestamp


class LastLoginRecord(Struct, frozen=True):
    """The last login to the mailbox with imap, pop3, sieve or smtp (submission); all null if there was none."""

    at: Timestamp | None
    protocol: str | None
    ip: str | None


class InheritedFlagRecord(Struct, frozen=True):
    """A value of a higher level, and which one: `domain` or `server` (the setting)."""

    value: bool
    source: Literal["domain", "server"]


class MailboxInherited(Struct, frozen=True):
    """What the mailbox's fields inherit while they are null."""

    require_app_passwords: InheritedFlagRecord


class MailboxRecord(Struct, frozen=True):
    """A mailbox. `used_bytes` and `message_count` cover all its folders; `deleted_at` is set in the trash only.

    `time_zone`: for display, of its vacation for example. `require_app_passwords`: whether mail clients must use app
    passwords; null: as `inherited` says. If its owner has a `second_factor`, they must in any case. `send_as`: from
    which further addresses, or domains, it may send.
    """

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
    send_as: list[str]
    time_zone: str
    require_app_passwords: bool | None
    inherited: MailboxInherited
    second_factor: bool
    last_login: LastLoginRecord
    created_at: Timestamp
    updated_at: Timestamp
    deleted_at: Timestamp | None


class MailboxCreated(MailboxRecord, frozen=True):
    """A new mailbox, with `invitation` if its owner was invited; that is null when the response is repeated for an
    Idempotency-Key.
    """

    invitation: invitations.InvitationRecord | UnsetType | None = UNSET


class MailboxInvite(Body, frozen=True):
    """`invite_to`: where to mail the link."""

    invite_to: InviteTo | UnsetType = UNSET


class ProtocolsRequest(Patch, frozen=True):
    """Protocols to enable or disable. Those without a value stay unchanged; in a new mailbox they are enabled."""

    imap: bool | UnsetType = UNSET
    pop3: bool | UnsetType = UNSET
    smtp: bool | UnsetType = UNSET
    sieve: bool | UnsetType = UNSET


class ForwardRequest(Patch, frozen=True):
    """A forward; an empty list of destinations removes it."""

    destinations: Destinations | UnsetType = UNSET
    keep_copy: bool | UnsetType = UNSET


class MailboxCreate(Body, frozen=True):
    """A mailbox to create, with `password`, `invite` or, for a migration, `password_hash` in Dovecot's format
    ({SCHEME}…). Null for `require_app_passwords`: as the domain.
    """

    one_of: ClassVar[tuple[str, ...]] = ("password", "password_hash", "invite")

    domain_id: UUID
    local_part: LocalPart
    name: Name = ""
    password: Password | UnsetType = UNSET
    password_hash: Password | UnsetType = UNSET
    invite: Invite = False
    invite_to: InviteTo | UnsetType = UNSET
    quota_bytes: Bytes | UnsetType = UNSET
    active: bool = True
    protocols: ProtocolsRequest = ProtocolsRequest()
    forward: ForwardRequest = ForwardRequest()
    send_as: Senders = []
    time_zone: TimeZone = UTC
    require_app_passwords: bool | None = None


class MailboxPatch(Patch, frozen=True):
    """Changes of a mailbox. Null for `require_app_passwords`: as the domain."""

    domain_id: UUID | UnsetType = UNSET
    local_part: LocalPart | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    password: Password | UnsetType = UNSET
    password_hash: Password | UnsetType = UNSET
    quota_bytes: Bytes | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    protocols: ProtocolsRequest | UnsetType = UNSET
    forward: ForwardRequest | UnsetType = UNSET
    send_as: Senders | UnsetType = UNSET
    time_zone: TimeZone | UnsetType = UNSET
    require_app_passwords: bool | UnsetType | None = UNSET


class MailboxQuery(Query, frozen=True):
    """Filters of the list; `q` is a substring of the address, `trashed` lists the trash instead."""

    domain_id: UUID | None = None
    active: bool | None = None
    q: Text | None = None
    trashed: bool = False


class DeleteQuery(Query, frozen=True):
    """`purge`: delete the mailbox and its mail at once, without the trash."""

    purge: bool = False


class BulkDeletion(Body, frozen=True):
    """An item of a bulk deletion, without its `id`."""

    purge: bool = False


class MailboxDeletion(Struct, frozen=True):
    """A mailbox was deleted; it can be restored until `kept_until`."""

    message: str
    id: UUID
    purged: bool
    kept_until: Timestamp | None


def to_record(mailbox: Mailbox, who: Principal) -> MailboxRecord:
    """The response for a mailbox, to this caller."""
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
        forward=to_forward(mailbox.forward),
        send_as=rules.send_as_texts(mailbox),
        time_zone=mailbox.time_zone,
        require_app_passwords=mailbox.require_app_passwords,
        inherited=MailboxInherited(to_inherited(mailbox.inherited_requirement)),
        second_factor=mailbox.second_factor,
        last_login=LastLoginRecord(iso_or_none(login.at), login.protocol, login.ip),
        created_at=iso(mailbox.created_at),
        updated_at=iso(mailbox.updated_at),
        deleted_at=iso_or_none(mailbox.deleted_at),
    )


def to_created(mailbox: Mailbox, who: Principal, invitation: Invitation | UnsetType | None) -> MailboxCreated:
    """The response for a new mailbox; `invitation` UNSET: not invited, None: the link was shown before."""
    record = to_record(mailbox, who)
    return MailboxCreated(
        **{name: getattr(record, name) for name in record.__struct_fields__},
        invitation=invitations.to_record(invitation) if isinstance(invitation, Invitation) else invitation,
    )


def read_invite_to(body: MailboxCreate | MailboxInvite) -> Address | None:
    """Where to mail the link of an invitation; None: it is shown. INVALID_FIELD."""
    return invitation_rules.parse_recipient(_or_none(body.invite_to))


def to_forward(forward: MailboxForward) -> ForwardRecord:
    """The response for a forward."""
    return ForwardRecord(list(forward.destinations), forward.keep_copy)


def audit_fields(mailbox: Mailbox) -> dict[str, Any]:
    """The audit log's fields of a mailbox: its writable fields, without the password."""
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
        "send_as": rules.send_as_texts(mailbox),
        "time_zone": mailbox.time_zone,
        "require_app_passwords": mailbox.require_app_passwords,
    }


def read_password(body: MailboxCreate | MailboxPatch) -> PasswordOrHash:
    """The password, or its hash, of a body."""
    return PasswordOrHash(_or_none(body.password), _or_none(body.password_hash))


def read_new(body: MailboxCreate) -> tuple[NewMailbox, list[str]]:
    """The new mailbox of a body, and the destinations of its forward, not parsed yet."""
    has_password = bool(_or_none(body.password) or _or_none(body.password_hash))
    invitation_rules.check_request(invite=body.invite, is_mailed=body.invite_to is not UNSET, has_password=has_password)
    destinations = [] if body.forward.destinations is UNSET else body.forward.destinations
    keep_copy = True if body.forward.keep_copy is UNSET else body.forward.keep_copy
    new = NewMailbox(
        domain_id=body.domain_id,
        local_part=body.local_part,
        name=body.name,
        secret=read_password(body),
        active=body.active,
        quota_bytes=_or_none(body.quota_bytes),
        protocols=Protocols(**read_protocols(body.protocols)),
        forward=MailboxForward(keep_copy=keep_copy),
        time_zone=body.time_zone,
        require_app_passwords=body.require_app_passwords,
        send_as=tuple(body.send_as),
        invite=body.invite,
        invite_to=read_invite_to(body),
    )
    return new, destinations


def read_changes(body: MailboxPatch) -> MailboxChanges:
    """The changes of a PATCH; destinations are not parsed yet."""
    secret, forward = read_password(body), body.forward
    protocols = None if body.protocols is UNSET else read_protocols(body.protocols)
    destinations = keep_copy = None
    if forward is not UNSET:
        destinations = None if forward.destinations is UNSET else tuple(forward.destinations)
        keep_copy = _or_none(forward.keep_copy)
    return MailboxChanges(
        domain_id=_or_none(body.domain_id),
        local_part=_or_none(body.local_part),
        name=_or_none(body.name),
        secret=None if secret == PasswordOrHash() else secret,
        active=_or_none(body.active),
        quota_bytes=_or_none(body.quota_bytes),
        protocols=protocols or None,
        destinations=destinations,
        keep_copy=keep_copy,
        time_zone=_or_none(body.time_zone),
        require_app_passwords=body.require_app_passwords,
        send_as=None if body.send_as is UNSET else tuple(body.send_as),
    )


def read_protocols(body: ProtocolsRequest) -> dict[str, bool]:
    """The protocols named in a body."""
    return {name: value for name, value in structs.asdict(body).items() if value is not UNSET}


def to_inherited(flag: InheritedFlag) -> InheritedFlagRecord:
    """The response for an inherited value."""
    return InheritedFlagRecord(flag.value, flag.source)


def _to_protocols(protocols: Protocols) -> ProtocolsRecord:
    return ProtocolsRecord(protocols.imap, protocols.pop3, protocols.smtp, protocols.sieve)


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value
