"""Taking in what the log tells, noting envelopes, and settling the history against the queue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.ids import parse_uuid, uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.domains import service as domains
from mailkeep.features.events import service as events
from mailkeep.features.events.model import Event
from mailkeep.features.fates import rules, store
from mailkeep.features.fates.model import Missing, Position, Story, Submission, Tracked
from mailkeep.features.messages import service as messages
from mailkeep.features.messages.model import Attempt, Fate, Message, Recipient
from mailkeep.features.receiving import service as receiving
from mailkeep.features.receiving.service import RejectionBound
from mailkeep.mail import postfix_log
from mailkeep.mail.header_text import decode_words, parse_addresses
from mailkeep.mail.log_files import LogFile, Piece

log = structlog.get_logger("mailkeep.fates")

_UNTAKEN = timedelta(days=1)  # mail that qmgr never had: refused, or its client went away
_FORGOTTEN = timedelta(days=30)
_LIFETIME = timedelta(days=30)  # longer than any queue keeps mail
_PAGE = 500
_GONE = "It is neither in the queue nor ended in the log"


class Elsewhere(Exception):
    """Another process has read this piece of the log: begin from its position."""


async def positions(app: App, name: str) -> dict[int, Position]:
    """How far the files of a log are read, by inode."""
    async with app.db.autocommit() as conn:
        return await store.positions(conn, name)


def start_of(file: LogFile, known: Mapping[int, Position]) -> int:
    """Where to read on in a file; 0 for one that was never read, whatever had its inode before."""
    position = known.get(file.inode)
    if position is None or position.first_line != file.first_line or position.read_to > file.size:
        return 0
    return position.read_to


async def take_in(app: App, name: str, piece: Piece, bound: RejectionBound) -> Position:
    """Bring a piece of the log into the history, in one transaction with the position after it, which is answered.

    Raises `Elsewhere` where the position is no longer the piece's start.
    """
    at = app.clock()
    lines = [line for each in piece.lines if (line := postfix_log.parse(each))]
    times = {stamp: postfix_log.time_of(stamp, at) for stamp in {line.stamp for line in lines}}
    timed = [(times[line.stamp], line) for line in lines]
    position = Position(piece.file.inode, piece.file.first_line, piece.end)
    async with app.db.tx() as conn:
        if not await store.advance(conn, name, piece.start, position, at):
            raise Elsewhere
        own = await _learn(conn, at, timed)
        refused = [(when, line) for when, line in timed if line.queue_id not in own]
        rejected = [
            (when, found)
            for when, line in refused
            if (found := rules.rejection(line)) and bound.take(found.source, when)
        ]
        if rejected:
            await receiving.file_rejected(conn, rejected)
        failpoint.reach("log.learnt")
    failpoint.reach("log.committed")
    return position


async def _learn(conn: Conn, at: datetime, timed: Sequence[tuple[datetime, postfix_log.Line]]) -> set[str]:
    """What lines tell of mail that was sent; answers the queue ids of such mail among theirs."""
    known = await store.tracked(conn, _named(line for _, line in timed))
    stories = await _with_messages(conn, at, rules.tell(timed, known))
    kept: dict[str, Tracked] = {}
    told: list[Fate] = []
    for story in stories:
        mail = story.mail
        if mail.message_id is not None:
            mail, fates = rules.fates(story)
            told += fates
        if story.end is None:
            kept[mail.queue_id] = mail
    await _add_recipients(conn, stories)
    if told:
        await messages.record_fates(conn, at, told)
    await messages.record_tries(conn, [each for story in stories for each in _tries(story, at)])
    await _end(conn, at, [story for story in stories if story.end and story.mail.message_id])
    if ended := known.keys() - kept.keys():
        await store.forget(conn, ended)
    if changed := [mail for queue_id, mail in kept.items() if known.get(queue_id) != mail]:
        await store.keep(conn, changed)
    return {story.mail.queue_id for story in stories} | set(known)


def _named(lines: Iterable[postfix_log.Line]) -> set[str]:
    """The queue ids that lines name."""
    named: set[str] = set()
    for line in lines:
        if line.queue_id:
            named.add(line.queue_id)
        if isinstance(line.fact, postfix_log.Pickup) and line.fact.orig_id:
            named.add(line.fact.orig_id)
    return named


def _tries(story: Story, at: datetime) -> list[Attempt]:
    """What the timeline shows of the expansions of aliases."""
    mail = story.mail
    if mail.message_id is None or rules.is_plain(mail):
        return []
    return [
        Attempt(uuid7(at), mail.message_id, each.at, each.status, each.recipient, 0, each.reply)
        for each in story.tries
        if each.recipient != each.asked
    ]


async def _add_recipients(conn: Conn, stories: Sequence[Story]) -> None:
    """Recipients of mail whose envelope was not noted, as they show."""
    for story in stories:
        if story.tries and story.mail.message_id and story.mail.origin == "submission" and not story.mail.noted:
            await messages.add_recipients(conn, story.mail.message_id, [each.asked for each in story.tries])


async def _with_messages(conn: Conn, at: datetime, stories: Sequence[Story]) -> list[Story]:
    """The stories with their messages, where qmgr's line has come; accepted, and so told as `mail.sent`.

    The API's messages that we don't know are followed no further.
    """
    untaken = [each for each in stories if each.mail.message_id is None and each.mail.expected is not None]
    untaken = [each for each in untaken if each.end != "refused"]
    sent = await _sent_by_api(conn, [each.mail for each in untaken if each.mail.origin == "api"])
    handed_in, noted = await _handed_in(conn, at, [each for each in untaken if each.mail.origin == "submission"])
    touched = [each.mail.message_id for each in stories if each.mail.message_id and (each.tries or each.end)]
    if sent:
        await messages.lock(conn, [*touched, *(message.id for message in sent.values())])
        await messages.accept_unanswered(conn, at, [(message, queue_id) for queue_id, message in sent.items()])
    found = sent | handed_in
    out: list[Story] = []
    for story in stories:
        mail = story.mail
        if message := found.get(mail.queue_id):
            envelope = mail.origin == "api" or mail.queue_id in noted
            asked = len(message.recipients) if envelope else mail.expected or 0
            taken = replace(mail, message_id=message.id, recipients=asked, noted=envelope)
            out.append(replace(story, mail=taken))
        elif mail.origin == "api" and mail.message_id is None and mail.expected is not None:
            out.append(replace(story, end="refused", tries=()))
        else:
            out.append(story)
    return out


async def _sent_by_api(conn: Conn, mails: Sequence[Tracked]) -> dict[str, Message]:
    """The attempts that mail from the API's port belongs to, by queue id: the header's Message-ID names them."""
    ids = {mail.queue_id: parse_uuid(mail.header_id[1:].partition("@")[0]) for mail in mails}
    attempts = await messages.find_all(conn, [each for each in ids.values() if each]) if any(ids.values()) else []
    by_id = {message.id: message for message in attempts if message.direction == "outbound"}
    return {
        mail.queue_id: found
        for mail in mails
        if (known := ids[mail.queue_id]) and (found := by_id.get(known)) and found.message_id == mail.header_id
    }


async def _handed_in(conn: Conn, at: datetime, stories: Sequence[Story]) -> tuple[dict[str, Message], Collection[str]]:
    """New messages for what mail clients have handed in, written and accepted, by queue id; and whose envelopes were
    noted. One whose was not waits for its first line of a recipient.
    """
    if not stories:
        return {}, ()
    noted = await store.submissions(conn, [story.mail.queue_id for story in stories])
    found: dict[str, Message] = {}
    for story in stories:
        envelope = noted.get(story.mail.queue_id)
        recipients = envelope.recipients if envelope else list(dict.fromkeys(each.asked for each in story.tries))
        if recipients:
            found[story.mail.queue_id] = await _message(conn, at, story.mail, recipients)
    if found:
        await messages.begin(conn, list(found.values()))
        await messages.accept(conn, at, [(each, queue_id) for queue_id, each in found.items()], status="queued")
    return found, noted.keys()


async def _message(conn: Conn, at: datetime, mail: Tracked, recipients: Sequence[str]) -> Message:
    name = _domain_of(mail.sender)
    domain = await domains.find_by_name(conn, name)
    senders, to, cc = (
        [each.email for each in parse_addresses(mail.head.get(field, ""))] for field in ("from", "to", "cc")
    )
    return Message(
        id=uuid7(at),
        direction="outbound",
        message_id=mail.header_id,
        queue_id=None,
        domain_id=domain.id if domain else None,
        domain_name=name,
        mailbox_id=None,
        source="smtp",
        admin_id=None,
        api_key_id=None,
        mail_from=mail.sender,
        from_address=senders[0] if senders else mail.sender,
        to_addresses=to or ([] if cc else list(recipients)),
        cc_addresses=cc,
        subject=decode_words(mail.head.get("subject", "")),
        size=mail.size,
        status="submitting",
        created_at=at,
        recipients=[Recipient(address, "submitting") for address in recipients],
    )


def _domain_of(address: str) -> str:
    domain = address.rpartition("@")[2]
    try:
        return normalize_domain(domain)
    except AddressError:
        return domain.lower()


async def _end(conn: Conn, at: datetime, stories: Sequence[Story]) -> None:
    """What is left open where a message has left the queue: failed where it was given up or deleted, else unknown."""
    if not stories:
        return
    still_open = await messages.open_recipients(
        conn, [each.mail.message_id for each in stories if each.mail.message_id]
    )
    failed: list[Fate] = []
    for story in stories:
        message_id = story.mail.message_id
        assert message_id is not None
        left = still_open.get(message_id, [])
        if not left:
            continue
        if fates := rules.given_up(story, at, left):
            failed += fates
        else:
            await _tell_unknown(conn, at, Missing(message_id, story.mail.queue_id), "The log says no more of it")
    if failed:
        await messages.record_fates(conn, at, failed)


async def note_submission(app: App, noted: Submission) -> None:
    """Write down the envelope of a message that a mail client hands in, before Postfix takes it."""
    async with app.db.autocommit() as conn:
        await store.note_submission(conn, noted)


async def caught_up(app: App, name: str, inodes: Collection[int], at: datetime) -> None:
    """All of a log that was written before an instant is read; positions of files that are gone go after a while."""
    async with app.db.autocommit() as conn:
        await store.caught_up(conn, name, at)
        await store.forget_positions(conn, name, inodes, at - _UNTAKEN)


async def tidy(app: App) -> None:
    """Let go of mail that never came in, and of what never ended."""
    at = app.clock()
    async with app.db.tx() as conn:
        await store.forget_old(conn, at - _FORGOTTEN, at - _UNTAKEN)


async def missing(app: App, queued: Collection[str], listed_at: datetime, grace: timedelta) -> list[Missing] | None:
    """Messages with open recipients that were taken `grace` before the queue was listed and are not in it.

    None where the log is not read as far as that. A file on its way from one folder of the queue to another may be in
    no listing: only what is missing in two of them is.
    """
    found: list[Missing] = []
    after = UUID(int=0)
    async with app.db.autocommit() as conn:
        reached = await store.caught_up_at(conn)
        if reached is None or reached <= listed_at:
            return None
        page = [Missing(after, "")]
        while page:
            page = await store.overdue(conn, listed_at - grace, listed_at - _LIFETIME, after, _PAGE)
            now = await store.renamed(conn, [each.id for each in page])
            found += [each for each in page if now.get(each.id, each.queue_id) not in queued]
            after = page[-1].id if page else after
    return found


async def settle_missing(app: App, found: Sequence[Missing]) -> None:
    """Nobody will tell any more what became of these messages: `unknown`, with an alert for each."""
    for each in found:
        async with app.db.tx() as conn:
            await messages.lock(conn, [each.id])
            await _tell_unknown(conn, app.clock(), each, _GONE)


async def _tell_unknown(conn: Conn, at: datetime, lost: Missing, why: str) -> None:
    addresses = await messages.end_unknown(conn, at, lost.id, why)
    message = await messages.find(conn, lost.id)
    if not addresses or message is None:
        return
    log.warning("what became of a message is unknown", queue_id=lost.queue_id, why=why)
    data = {
        "alert": "outcome_unknown",
        "message_id": message.message_id,
        "from": message.from_address,
        "to": addresses,
        "domain": message.domain_name,
        "subject": message.subject,
        "queue_id": lost.queue_id,
        "reason": why,
    }
    await events.emit(conn, at, Event("system.alert", message.domain_id, message.id, data))
