"""Events about mail and about the system itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, Struct, field

Kind = Literal[
    "mail.sent",
    "mail.delivered",
    "mail.bounced",
    "mail.failed",
    "mail.suppressed",
    "mail.complained",
    "mail.received",
    "mail.received.full",
    "mail.spam",
    "mailbox.quota",
    "domain.dns_failed",
    "domain.dns_recovered",
    "domain.dkim_due",
    "system.suspension",
    "system.incident",
    "system.alert",
    "system.drift",
    "system.backup_failed",
    "system.backup_unverified",
    "system.backup_late",
    "system.webhook_disabled",
]
"""A subscription to `*` does not include kinds that begin with `system.`: they are about the system itself."""


class EventPayload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of one kind of event. The class of each kind is in the feature that emits it, and is listed in the
    catalogue (`features/mailflow/webhooks/model`).

    The class docstring says when the event is emitted and `Meta` what a field means: the reference, the OpenAPI
    document and the examples are generated from both. The field types below are shared by several kinds.
    """

    kind: ClassVar[Kind]
    example: ClassVar[Mapping[str, Any]]


MessageIdHeader = Annotated[str, Meta(description="Its Message-ID header.")]
FromAddress = Annotated[str, Meta(description="The address of its sender.")]
DomainName = Annotated[str, Meta(description="The managed domain that it is from, or for.")]
SubjectText = Annotated[str, Meta(description="Its subject, decoded.")]
QueueId = Annotated[str, Meta(description="The mail server's queue ID.")]
OptionalQueueId = Annotated[str | None, Meta(description="The mail server's queue ID, if it has one.")]
SizeInBytes = Annotated[int, Meta(description="Bytes.")]
SpamScore = Annotated[float, Meta(description="The filter's score.")]
SpamAction = Annotated[
    str, Meta(description="`add header` for spam in Junk, `reject` for a refused message, `no action` for other mail.")
]


INSTANCE_KINDS = frozenset[Kind](
    {"system.drift", "system.backup_failed", "system.backup_unverified", "system.backup_late"}
)
"""Kinds about the whole instance: only a super_admin's webhook without a domain may name them."""


class SystemDrift(EventPayload, frozen=True, kw_only=True):
    """A file of the daemons' configuration was edited by hand."""

    kind: ClassVar[Kind] = "system.drift"
    example: ClassVar[Mapping[str, Any]] = {"files": ["postfix/main.cf"]}

    files: Annotated[list[str], Meta(description="All files that differ from what Mailkeep installed.")]


class SystemBackupFailed(EventPayload, frozen=True, kw_only=True):
    """A backup could not be made."""

    kind: ClassVar[Kind] = "system.backup_failed"
    example: ClassVar[Mapping[str, Any]] = {
        "backup_id": "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a39",
        "reason": "The repository can't be reached: connection refused.",
    }

    backup_id: Annotated[str, Meta(description="Its ID: GET /backups/{id}.")]
    reason: Annotated[str, Meta(description="Why, in words.")]


class SystemBackupUnverified(EventPayload, frozen=True, kw_only=True):
    """A backup is not as it should be, or none was verified for two intervals of `backup.verify_every`."""

    kind: ClassVar[Kind] = "system.backup_unverified"
    example: ClassVar[Mapping[str, Any]] = {
        "backup_id": "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a39",
        "reason": "2 of 10000 messages differ.",
    }

    backup_id: Annotated[
        str | None, Meta(description="The backup that is not as it should be; null if a verification is overdue.")
    ]
    reason: Annotated[str, Meta(description="What is wrong, in words.")]


class SystemBackupLate(EventPayload, frozen=True, kw_only=True):
    """No backup has succeeded for two intervals of `backup.schedule`."""

    kind: ClassVar[Kind] = "system.backup_late"
    example: ClassVar[Mapping[str, Any]] = {"schedule": "daily", "last_backup_at": "2026-03-01T02:31:07.000Z"}

    schedule: Annotated[str, Meta(description="`hourly` or `daily`.")]
    last_backup_at: Annotated[str | None, Meta(description="When the newest one began; null if there is none.")]


class SystemAlert(EventPayload, frozen=True, kw_only=True):
    """Something that an operator should check. `outcome_unknown`: the outcome of a message can't be determined.
    `apply_rolled_back`: an apply of settings did not succeed, and the earlier configuration is in use again.
    `apply_failed`: an apply did not succeed, and the earlier configuration may not be in use.
    `system_mail_undelivered`: a super_admin did not get mail that Mailkeep itself has written. `antivirus_failed`: the
    virus scanner does not work, or its signatures are old. `dns_list_failed`: a list in `filter.dnsbl` fails its test,
    and its answers do not count. `antivirus_recovered` and `dns_list_recovered`: that has ended.
    `filter_failed`: a part of the filter does not answer, with its effect on mail in `reason`; `filter_recovered`.
    `forward_unsealed`: forwarded mail left without an ARC seal. `certificate_failed`: a certificate could not be issued
    or renewed, or a file with one is about to expire; `certificate_recovered`. `wal_archive_ended`: a part of the
    write-ahead log could not be archived, so that restores to a point in time begin with the next backup.
    With `alert_id`: an alert of GET /abuse/alerts or /health/alerts, by its kind, was opened, has become critical or
    has lasted for another day; `…_recovered`: its problem has not been seen for an hour; `…_resolved`: an administrator
    has ended it.
    """

    kind: ClassVar[Kind] = "system.alert"
    example: ClassVar[Mapping[str, Any]] = {
        "alert": "outcome_unknown",
        "message_id": "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.com>",
        "from": "shop@example.com",
        "to": ["customer@elsewhere.example"],
        "domain": "example.com",
        "subject": "Your order",
        "queue_id": "4f1XyZ2kQbz3v",
        "reason": "The message is no longer in the queue, and the log does not show its outcome",
    }

    alert: Annotated[
        str,
        Meta(
            description="`outcome_unknown`, `apply_rolled_back`, `apply_failed`, `system_mail_undelivered`, "
            "`antivirus_failed`, `antivirus_recovered`, `dns_list_failed`, `dns_list_recovered`, `filter_failed`, "
            "`filter_recovered`, `forward_unsealed`, `certificate_failed`, `certificate_recovered` or "
            "`wal_archive_ended`; or with `alert_id` the kind of the alert, alone or with `_recovered` or `_resolved`."
        ),
    ]
    message_id: Annotated[str | None, Meta(description="The Message-ID header of the message.")] = None
    from_: Annotated[str | None, Meta(description="The address of its sender.")] = field(name="from", default=None)
    to: Annotated[list[str] | None, Meta(description="Recipients that did not get it, as far as is known.")] = None
    domain: Annotated[str | None, Meta(description="The managed domain that it is from, or for.")] = None
    subject: Annotated[str | None, Meta(description="Its subject, decoded.")] = None
    queue_id: OptionalQueueId = None
    operation_id: Annotated[str | None, Meta(description="The apply: GET /orchestrator/operations/{id}.")] = None
    alert_id: Annotated[str | None, Meta(description="The alert that lasts until it is resolved.")] = None
    about: Annotated[str | None, Meta(description="The address, domain or component that the alert is about.")] = None
    reason: Annotated[str, Meta(description="Why, in words.")]


@dataclass(frozen=True, slots=True)
class Event:
    """An event to emit; `message_id` is the ID of the message row."""

    domain_id: UUID | None
    message_id: UUID | None
    payload: EventPayload


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """A stored event; `tx` is the ID of the transaction that wrote it. The feed is ordered by `tx`, then by `id`."""

    id: UUID
    tx: str
    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events the feed shows; `domains` are those that the caller may see, None for all."""

    domains: list[UUID] | None
    kind: str | None = None
    domain_id: UUID | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FeedStart:
    """Where a client continues: after the event with ID `after`; those before `kept_since` may have been deleted."""

    after: UUID | None
    kept_since: datetime


Reader = Literal["analytics", "sender_checks"]
"""A feature that reads the feed, each event once."""

FeedPosition = tuple[str, UUID]
"""A position in the feed: (transaction, ID) of the last event seen."""

BEGINNING = UUID(int=0)
"""As an event ID: the position before the first event."""


@dataclass(frozen=True, slots=True)
class StreamStart:
    """Where a stream begins: after `position`, that of the event `event_id`. `truncated`: at the oldest event, because
    the requested one has been deleted.
    """

    position: FeedPosition | None
    event_id: UUID
    truncated: bool
