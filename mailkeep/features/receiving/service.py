"""Judging recipients, delivering to mailboxes, passing copies on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.ids import uuid7
from mailkeep.features.domains import service as domains
from mailkeep.features.messages import service as messages
from mailkeep.features.messages.model import Message, Recipient, Reply as Said
from mailkeep.features.receiving import rules, store
from mailkeep.features.receiving.model import Arrived, Forward, Home, Rejected
from mailkeep.features.routing import service as routing
from mailkeep.features.routing.model import Route
from mailkeep.mail import content_file, maildir
from mailkeep.mail.reply import Reply
from mailkeep.mail.smtp_client import Lost, Refused, Submission

log = structlog.get_logger("mailkeep.receiving")

_MINUTE = 60
_ROWS_A_MINUTE = 60
_SOURCES = 10_000


async def judge(app: App, address: str) -> tuple[Reply, Route]:
    """What a sender is answered for a recipient (`local@domain` as given), and where it goes."""
    async with app.db.autocommit() as conn:
        route = await routing.route(conn, address)
    return rules.reply_to(route.decision), route


async def deliver(app: App, mail: Arrived) -> bool:
    """Bring a message to its mailboxes and file it; True when it is on disk and in the history, or queued to go on.

    False where every mailbox went away since its recipient was judged.
    """
    to_mailboxes, outside = _places(mail)
    async with app.db.autocommit() as conn:
        homes = await store.homes(conn, to_mailboxes)
    if not homes and not outside:
        return False
    filed = {mailbox_id: _message(app, mail, home, to_mailboxes[mailbox_id]) for mailbox_id, home in homes.items()}
    for mailbox_id, message in filed.items():
        await asyncio.to_thread(_into_mailbox, app, mail, mailbox_id, message.id)
    if outside:
        path = forward_path(app.data_dir, mail.queue_id)
        await asyncio.to_thread(content_file.write, path, _with_trace(mail.trace, mail))
    at = app.clock()
    async with app.db.tx() as conn:
        for mailbox_id, message in filed.items():
            await messages.file_inbound(conn, at, message, mailbox_id)
        if outside:
            await store.queue_forwards(conn, mail.queue_id, mail.mail_from, outside, at)
    return True


def _places(mail: Arrived) -> tuple[dict[UUID, list[str]], list[str]]:
    """For each mailbox the recipients that led there, and the addresses outside."""
    to_mailboxes: dict[UUID, list[str]] = {}
    outside: dict[str, None] = {}
    for recipient, route in mail.recipients:
        for place in route.deliveries:
            if place.mailbox_id is None:
                outside[place.address] = None
            else:
                to_mailboxes.setdefault(place.mailbox_id, []).append(recipient)
    return to_mailboxes, list(outside)


def _into_mailbox(app: App, mail: Arrived, mailbox_id: UUID, message_id: UUID) -> None:
    """Deliver, and let the history show the content for some days."""
    recipient = next(
        address for address, route in mail.recipients for place in route.deliveries if place.mailbox_id == mailbox_id
    )
    trace = f"Return-Path: <{mail.mail_from}>\r\nDelivered-To: {recipient}\r\n".encode() + mail.trace
    folder = mailbox_path(app.data_dir, mailbox_id)
    host = app.settings.server.hostname or "localhost"
    # A queue id of our own listener is new each time: nobody can have delivered it before.
    delivery = maildir.deliver(
        folder, _with_trace(trace, mail), delivery_id=mail.queue_id, host=host, first_try=mail.source == "smtp"
    )
    messages.keep_file(app.data_dir, message_id, delivery.path)


def _with_trace(trace: bytes, mail: Arrived) -> Iterator[bytes]:
    yield trace
    yield from mail.content()


def mailbox_path(data_dir: Path, mailbox_id: UUID) -> Path:
    """The Maildir of a mailbox: under its id, so that who gets an address again finds no old mail."""
    return data_dir / "mail" / str(mailbox_id)


def forward_path(data_dir: Path, queue_id: str) -> Path:
    """Where the content of a message that is to be passed on lies."""
    return data_dir / "forwards" / f"{queue_id}.eml"


def _message(app: App, mail: Arrived, home: Home, led_there: Sequence[str]) -> Message:
    at = app.clock()
    return Message(
        id=uuid7(at),
        direction="inbound",
        message_id=mail.head.message_id,
        queue_id=mail.queue_id,
        domain_id=home.domain_id,
        domain_name=home.domain_name,
        mailbox_id=home.mailbox_id,
        source=mail.source,
        admin_id=None,
        api_key_id=None,
        mail_from=mail.mail_from,
        from_address=mail.head.from_address or mail.mail_from,
        to_addresses=mail.head.to_addresses,
        cc_addresses=mail.head.cc_addresses,
        subject=mail.head.subject,
        size=mail.size,
        status="received",
        created_at=at,
        recipients=[Recipient(address, "received", 1, Said(250, "2.0.0", "Delivered")) for address in led_there],
    )


async def forward_due(app: App, most: int = 50) -> int:
    """Hand the forwards that are due to the MTA; how many there were."""
    async with app.db.autocommit() as conn:
        found = await store.due_forwards(conn, app.clock(), most)
    for forward in found:
        await _forward(app, forward)
    return len(found)


async def _forward(app: App, forward: Forward) -> None:
    path = forward_path(app.data_dir, forward.queue_id)
    given_up = await _hand_on(app, forward, path)
    wait = rules.next_try(forward.attempts + 1)
    async with app.db.tx() as conn:
        if given_up is None and wait is not None:
            await store.put_off_forward(conn, forward, app.clock() + wait)
            return
        last = await store.end_forward(conn, forward)
    if last:
        await asyncio.to_thread(content_file.remove, path)
    if given_up or given_up is None:
        log.warning("forward given up", queue_id=forward.queue_id, recipient=forward.recipient, why=given_up)


async def _hand_on(app: App, forward: Forward, path: Path) -> str | None:
    """Try once: empty when the MTA has it, the reason when it never will, None when it may later."""
    if app.mta is None:
        return None
    if not path.exists():
        return "its content is gone"
    head = await asyncio.to_thread(partial(_is_8bit, path))
    smtputf8 = not (forward.recipient + forward.mail_from).isascii()
    submission = Submission(forward.mail_from, [forward.recipient], None, head, smtputf8)
    try:
        await app.mta.submit(submission, content_file.read(path), stuffed=False)
    except (Refused, Lost) as wrong:
        return str(wrong) if wrong.permanent else None
    return ""


def _is_8bit(path: Path) -> bool:
    return any(not chunk.isascii() for chunk in content_file.read(path))


class RejectionBound:
    """At most 60 recorded rejections a minute for one source; the rest are only counted."""

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}
        self.passed_over = 0

    def take(self, source: str, at: datetime) -> bool:
        """Whether another rejection of this source is recorded."""
        now = at.timestamp()
        began, rows = self._windows.get(source, (now, 0))
        if now - began >= _MINUTE:
            began, rows = now, 0
        if len(self._windows) > _SOURCES:
            self._windows = {name: window for name, window in self._windows.items() if now - window[0] < _MINUTE}
        self._windows[source] = (began, rows + 1)
        if rows < _ROWS_A_MINUTE:
            return True
        self.passed_over += 1
        return False


async def record_rejected(app: App, rejected: Rejected) -> None:
    """Keep a row of what was refused at SMTP; the caller holds its source to `RejectionBound`."""
    at = app.clock()
    name = rejected.rcpt_to.rpartition("@")[2].lower()
    said = Said(rejected.smtp_code, rejected.enhanced_code, rejected.text)
    async with app.db.tx() as conn:
        domain = await domains.find_by_name(conn, name)
        await messages.record_rejected(
            conn,
            Message(
                id=uuid7(at),
                direction="inbound",
                message_id="",
                queue_id=None,
                domain_id=domain.id if domain else None,
                domain_name=name,
                mailbox_id=None,
                source="smtp",
                admin_id=None,
                api_key_id=None,
                mail_from=rejected.mail_from,
                from_address=rejected.mail_from,
                to_addresses=[rejected.rcpt_to],
                cc_addresses=[],
                subject="",
                size=0,
                status="rejected",
                created_at=at,
                recipients=[Recipient(rejected.rcpt_to, "rejected", 1, said)],
            ),
        )
