"""JSON of the API of owners."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct, structs

from mailkeep.core.clock import iso
from mailkeep.core.principal import Principal
from mailkeep.features.access.accounts.model import Account
from mailkeep.features.access.sessions.model import Session
from mailkeep.features.directory.login_history.model import SignInDay
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.record.history.model import MailResult
from mailkeep.features.record.messages.model import Message
from mailkeep.web.fields import Body, Query, Text, Timestamp

Password = Annotated[str, Meta(extra_json_schema={"format": "password"})]


class OwnMailboxRecord(mailboxes.MailboxRecord, frozen=True):
    """The caller's own mailbox. `passkeys` is their number."""

    totp_enabled: bool
    passkeys: int


class OwnerLogin(Body, frozen=True):
    """The first step. Any text is accepted as address; INVALID_CREDENTIALS if no mailbox has it."""

    address: Text
    password: Password


class OwnerLoginResponse(Struct, frozen=True):
    """A session was opened; the cookie `svc_mailbox` carries its token."""

    mailbox: OwnMailboxRecord
    session_id: UUID
    expires_at: Timestamp


class ForwardWrite(Body, frozen=True):
    """A forward, which replaces the one before. Without `destinations` there is none any more."""

    destinations: mailboxes.Destinations = []
    keep_copy: bool = True


class SignInRecord(Struct, frozen=True):
    """Sign-ins on one day (UTC) with one protocol (`web`: with a browser), address and program: the first and the last.

    `program`: the name of the app password or the browser's user agent; empty for a mail client that uses the mailbox's
    own password.
    """

    id: UUID
    protocol: Literal["imap", "pop3", "smtp", "sieve", "web"]
    ip: str
    program: str
    first_at: Timestamp
    last_at: Timestamp


class OwnMessageQuery(Query, frozen=True):
    """Filters; `since` is at most 30 days ago, default 7 days."""

    result: MailResult | None = None
    since: datetime | None = None


class OwnMessage(Struct, frozen=True, rename={"from_": "from"}):
    """Mail for the caller's mailbox. `junk`: it is in the folder Junk. `reason`: why it was rejected. `spam_score` is
    null if the filter did not check it.
    """

    id: UUID
    result: MailResult
    from_: str
    to: list[str]
    subject: str
    size: int
    reason: str | None
    spam_score: float | None
    created_at: Timestamp


def to_mailbox(mailbox: Mailbox, account: Account, who: Principal) -> OwnMailboxRecord:
    """The response for the caller's own mailbox."""
    record = structs.asdict(mailboxes.to_record(mailbox, who))
    return OwnMailboxRecord(**record, totp_enabled=account.totp_enabled, passkeys=account.passkeys)


def to_login(mailbox: OwnMailboxRecord, session: Session) -> OwnerLoginResponse:
    """The response to a completed login."""
    return OwnerLoginResponse(mailbox, session.id, iso(session.expires_at))


def to_sign_in(day: SignInDay) -> SignInRecord:
    """The response for the sign-ins of a day."""
    return SignInRecord(
        id=day.id,
        protocol=day.protocol,  # pyright: ignore[reportArgumentType] limited by a CHECK constraint
        ip=day.ip,
        program=day.program,
        first_at=iso(day.first_at),
        last_at=iso(day.last_at),
    )


def to_message(message: Message) -> OwnMessage:
    """The response for a message."""
    is_rejected = message.status == "rejected"
    result: MailResult = "rejected" if is_rejected else "junk" if message.spam_action == "add header" else "received"
    replies = [each.reply.diagnostic for each in message.recipients if each.reply.diagnostic]
    return OwnMessage(
        id=message.id,
        result=result,
        from_=message.from_address,
        to=message.to_addresses,
        subject=message.subject,
        size=message.size,
        reason=replies[0] if is_rejected and replies else None,
        spam_score=message.spam_score,
        created_at=iso(message.created_at),
    )
