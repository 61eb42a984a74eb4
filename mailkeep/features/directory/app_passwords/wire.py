"""JSON of app passwords."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.directory.app_passwords.model import AppPassword, NewAppPassword
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.web.fields import Body, CurrentPassword, Timestamp

Name = Annotated[str, Meta(max_length=200)]
Protocols = Annotated[list[Literal["imap", "pop3", "smtp", "sieve"]], Meta(max_length=10)]


class AppPasswordRecord(Struct, frozen=True):
    """An app password. `protocols`: those that it opens; `smtp` is submission. `last_used_ip`: the client's address."""

    id: UUID
    name: str
    protocols: list[str]
    expires_at: Timestamp | None
    created_at: Timestamp
    last_used_at: Timestamp | None
    last_used_ip: str | None


class AppPasswordWithSecret(AppPasswordRecord, frozen=True):
    """A new app password. `password` is shown only once: it is null when the response is repeated for an
    Idempotency-Key.
    """

    password: str | None


class AppPasswordCreate(Body, frozen=True):
    """An app password to create. The default of `protocols` is all that the mailbox allows; without `expires_at` it
    does not expire.
    """

    name: Name
    protocols: Protocols | UnsetType = UNSET
    expires_at: datetime | UnsetType = UNSET


class OwnAppPasswordCreate(AppPasswordCreate, frozen=True):
    """An app password of the caller's own mailbox to create."""

    current_password: CurrentPassword | UnsetType = UNSET


class AppPasswordDeletion(Struct, frozen=True):
    """An app password was deleted."""

    message: str
    id: UUID


def read_new(body: AppPasswordCreate) -> NewAppPassword:
    """The app password to create."""
    return NewAppPassword(
        name=body.name,
        protocols=None if body.protocols is UNSET else tuple(body.protocols),
        expires_at=None if body.expires_at is UNSET else body.expires_at,
    )


def to_record(app_password: AppPassword) -> AppPasswordRecord:
    """The response for an app password."""
    return AppPasswordRecord(**_fields(app_password))


def to_created(app_password: AppPassword, password: str | None) -> AppPasswordWithSecret:
    """The response for a new app password."""
    return AppPasswordWithSecret(**_fields(app_password), password=password)


def audit_fields(app_password: AppPassword, mailbox: Mailbox) -> dict[str, Any]:
    """The audit log's fields of an app password: what was chosen, and its mailbox."""
    return {
        "mailbox_id": mailbox.id,
        "address": str(mailbox.address),
        "name": app_password.name,
        "protocols": list(app_password.protocols),
        "expires_at": iso_or_none(app_password.expires_at),
    }


def _fields(app_password: AppPassword) -> dict[str, Any]:
    return {
        "id": app_password.id,
        "name": app_password.name,
        "protocols": list(app_password.protocols),
        "expires_at": iso_or_none(app_password.expires_at),
        "created_at": iso(app_password.created_at),
        "last_used_at": iso_or_none(app_password.last_used_at),
        "last_used_ip": app_password.last_used_ip,
    }
