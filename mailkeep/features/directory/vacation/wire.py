"""JSON of vacations."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso_or_none
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.vacation.model import DEFAULT_DAYS, Vacation
from mailkeep.web.fields import MULTILINE, Body, Timestamp

Subject = Annotated[str, Meta(max_length=200)]
TextBody = Annotated[str, Meta(max_length=20_000, extra=MULTILINE)]
HtmlBody = Annotated[str, Meta(max_length=100_000, extra=MULTILINE)]
Days = Annotated[int, Meta(ge=1, le=30)]

_AUDIT_CHARACTERS = 500


class VacationRecord(Struct, frozen=True):
    """The vacation of a mailbox. Without one, `active` is false and the other fields are null.

    `subject` null: `Auto:` and the subject of the message. `start_at`: the first moment with replies (null: at once);
    `end_at`: the first moment without (null: until it is changed). `days`: a sender gets one reply in this time.
    """

    active: bool
    subject: str | None
    text: str | None
    html: str | None
    start_at: Timestamp | None
    end_at: Timestamp | None
    days: int | None


class VacationWriteResponse(VacationRecord, frozen=True):
    """The stored vacation, and why it sends no replies although it is active."""

    warnings: list[str]


class VacationWrite(Body, frozen=True):
    """A vacation, with `text`, `html` or both; it replaces the one before. Without `subject`, a reply has `Auto:` and
    the subject of the message.
    """

    one_of: ClassVar[tuple[str, ...]] = ("text", "html")

    subject: Subject | UnsetType = UNSET
    text: TextBody | UnsetType = UNSET
    html: HtmlBody | UnsetType = UNSET
    start_at: datetime | UnsetType = UNSET
    end_at: datetime | UnsetType = UNSET
    days: Days = DEFAULT_DAYS
    active: bool = True


class VacationDeletion(Struct, frozen=True):
    """The mailbox sends no vacation replies any more."""

    message: str


def read_vacation(body: VacationWrite) -> Vacation:
    """The vacation of a body."""
    return Vacation(
        active=body.active,
        subject=_or_none(body.subject) or None,
        text_body=_or_none(body.text) or None,
        html_body=_or_none(body.html) or None,
        start_at=_or_none(body.start_at),
        end_at=_or_none(body.end_at),
        days=body.days,
    )


def to_record(vacation: Vacation | None) -> VacationRecord:
    """The response for a vacation, or for a mailbox without one."""
    return VacationRecord(**_fields(vacation))


def to_write(vacation: Vacation, warnings: list[str]) -> VacationWriteResponse:
    """The response for a stored vacation."""
    return VacationWriteResponse(**_fields(vacation), warnings=warnings)


def audit_fields(mailbox: Mailbox, vacation: Vacation | None) -> dict[str, Any]:
    """The audit log's fields of a vacation and its mailbox; of long bodies the start and a hash."""
    fields = _fields(vacation)
    return {"address": str(mailbox.address)} | fields | {name: _shorten(fields[name]) for name in ("text", "html")}


def changed_at(mailbox: Mailbox, vacation: Vacation | None) -> datetime:
    """The time that is the version of a vacation. A mailbox without one has the version of its creation."""
    return vacation.updated_at or mailbox.created_at if vacation else mailbox.created_at


def _fields(vacation: Vacation | None) -> dict[str, Any]:
    if vacation is None:
        nothing = dict.fromkeys(("subject", "text", "html", "start_at", "end_at", "days"))
        return {"active": False, **nothing}
    return {
        "active": vacation.active,
        "subject": vacation.subject,
        "text": vacation.text_body,
        "html": vacation.html_body,
        "start_at": iso_or_none(vacation.start_at),
        "end_at": iso_or_none(vacation.end_at),
        "days": vacation.days,
    }


def _shorten(text: str | None) -> str | None:
    if text is None or len(text) <= _AUDIT_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:_AUDIT_CHARACTERS]}… ({len(text)} characters, SHA-256 {digest})"


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value
