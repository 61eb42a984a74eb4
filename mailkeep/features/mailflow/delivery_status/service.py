"""Taking in what the log tells, noting envelopes, and settling the history against the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.counters import Counters
from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.delivery_status import rules, store
from mailkeep.features.mailflow.delivery_status.model import Missing, Pauses, Position, Story, Submission, Tracked, Try
from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.receiving.service import RejectionBound
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Attempt, Fate, Message
from mailkeep.mail.message import srs
from mailkeep.mail.postfix import log as postfix_log
from mailkeep.mail.postfix.log_files import LogFile, Piece, find_log_file

log = structlog.get_logger("mailkeep.fates")

_UNTAKEN = timedelta(days=1)  # mail that qmgr never had: refused, or its client went away
_FORGOTTEN = timedelta(days=30)
_LIFETIME = timedelta(days=30)  # longer than any queue keeps mail
_PAGE = 500
_NO_MORE = "The log says no more of it"
_GONE = "It is neither in the queue nor ended in the log"


class Elsewhere(Exception):
    """Another process has read this piece of the log: begin from its position."""


async def positions(app: App, name: str) -> dict[int, Position]:
    """How far the files of a log are read, by inode."""
    async with app.db.autocommit() as conn:
        return await store.positions(conn, name)


def start_of(file: LogFile, known: Mapping[int, Position]) -> int:
    """Where to read on in a file; 0 for one that was never read, whatever had its inode before.

    Beyond the end of a file that somebody has cut short.
    """
    position = known.get(file.inode)
    return position.read_to if position and position.first_line == file.first_line else 0


async def is_read(app: App, name: str, path: Path) -> bool:
    """Whether a rotated file of the log was read to its end; so it is once it is gone. Raises `Unavailable`."""
    file = await asyncio.to_thread(find_log_file, path)
    return file is None or start_of(file, await positions(app, name)) == file.size


async def pass_over(app: App, name: str, file: LogFile) -> None:
    """Continue at the end of a file that was truncated: the rest was read before, or settles against the queue."""
    async with app.db.autocommit() as conn:
        await store.shorten(conn, name, Position(file.inode, file.first_line, file.size), app.clock())


async def take_in(app: App, name: str, piece: Piece, bound: RejectionBound) -> Position:
    """Bring a piece of the log into the history, in one transaction with the position after it, which is answered.

    Raises `Elsewhere` where the position is no longer the piece's start.
    """
    at = app.clock()
    original = srs.rewriter(app.vault, app.settings).original
    lines = [rules.by_who_wrote(line, original) for each in piece.lines if (line := postfix_log.parse(each))]
    times = {stamp: postfix_log.time_of(stamp, at) for stamp in {line.stamp for line in lines}}
    timed = [(times[line.stamp], line) for line in lines]
    position = Position(piece.file.inode, piece.file.first_line, piece.end)
    async with app.db.tx() as conn:
        if not await store.advance(conn, name, piece.start, position, at):
            raise Elsewhere
        counted = Counters()
        own = await _learn(conn, at, timed, _pauses(app), counted)
        refused = [(when, line) for when, line in timed if line.queue_id not in own]
        found = [(when, rejection) for when, line in refused if (rejection := rules.rejection(line))]
        counted.add("deliveries", "inbound", "rejected", times=len(found))
        if rejected := [(when, rejection) for when, rejection in found if bound.take(rejection.source, when)]:
            await receiving.file_rejected(conn, rejected)
        unaccepted = {line.queue_id for _, line in timed if line.queue_id and rules.is_refused_at_end(line)}
        await abuse.uncount_forwards(conn, unaccepted)
        await abuse.uncount(conn, rules.counted(await store.take_submissions(conn, unaccepted)))
        failpoint.reach("log.learnt")
    app.counters.include(counted.drain())
    failpoint.reach("log.committed")
    return position


def _pauses(app: App) -> Pauses:
    """As `mail/daemons/render` gives them to Postfix."""
    asked = app.settings.outbound
    shortest, longest = timedelta(seconds=asked.first_retry_seconds), timedelta(seconds=asked.longest_retry_seconds)
    return Pauses(shortest, max(shortest, longest))


async def _learn(
    conn: Conn, at: datetime, timed: Sequence[tuple[datetime, postfix_log.Line]], pauses: Pauses, counted: Counters
) -> set[str]:
    """What lines tell of mail that was sent, and how much of it; answers the queue ids of such mail among theirs."""
    known = await store.tracked(conn, _named(line for _, line in timed))
    if strangers := rules.strangers((line for _, line in timed), known):
        known |= await store.adopted(conn, strangers, at)
    stories = await _with_messages(conn, at, rules.tell(timed, known, pauses))
    stories = [await _hidden(conn, story) for story in stories]
    stories = await _passed_on(conn, at, stories)
    for source, new in rules.newly_accepted(stories, known):
        counted.add("messages_accepted", "outbound", source, times=new)
    kept: dict[str, Tracked] = {}
    told: list[Fate] = []
    for story in stories:
        mail = story.mail
        if mail.is_passing:
            told += rules.passed_on(story)
        elif mail.message_id is not None:
            mail, fates = rules.fates(story)
            told += fates
        if story.end is None:
            kept[mail.queue_id] = mail
    await _add_recipients(conn, stories)
    if told:
        for tried in await messages.record_fates(conn, at, told):
            counted.add("deliveries", "outbound", tried.kind)
    await messages.record_tries(conn, [each for story in stories for each in _tries(story, at)])
    if held := [message_id for story in stories if story.held for message_id in rules.messages_of(story)]:
        await messages.put_on_hold(conn, held)
    await _end(conn, at, [story for story in stories if story.end], counted)
    if ended := known.keys() - kept.keys():
        await store.forget(conn, ended)
    if changed := [mail for queue_id, mail in kept.items() if known.get(queue_id) != mail]:
        await store.keep(conn, changed)
    # What came from other servers stands in the history by its recipients, also what the filter refused.
    return {mail.queue_id for mail in [story.mail for story in stories] + list(known.values()) if not mail.is_passing}


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
        Attempt(uuid7(at), mail.message_id, each.at, each.status, each.recipient, 0, each.reply, each.next_at)
        for each in story.tries
        if each.recipient != each.asked and not each.hidden
    ]


async def _add_recipients(conn: Conn, stories: Sequence[Story]) -> None:
    """Recipients of mail whose envelope was not noted, as they show."""
    for story in stories:
        if story.tries and story.mail.message_id and story.mail.origin == "submission" and not story.mail.noted:
            await messages.add_recipients(conn, story.mail.message_id, [each.asked for each in story.tries])


async def _hidden(conn: Conn, story: Story) -> Story:
    """The story of sent mail, its tries marked that lie behind what the sender's domain may not see."""
    mail = story.mail
    if mail.is_passing or all(each.recipient == each.asked for each in story.tries):
        return story
    domain = await domains.find_by_name(conn, rules.domain_of(mail.sender))
    seen: dict[str, Collection[str]] = {}
    tries: list[Try] = []
    for each in story.tries:
        if each.asked not in seen:
            seen[each.asked] = await routing.list_visible_destinations(conn, each.asked, domain.id) if domain else ()
        is_hidden = each.recipient != each.asked and each.recipient.lower() not in seen[each.asked]
        tries.append(replace(each, hidden=is_hidden))
    return replace(story, tries=tuple(tries))


async def _forwarded(conn: Conn, mail: Tracked, tried: Try) -> Try:
    """A try of incoming mail with the domain that passes it on: the last of those that lead to the recipient."""
    if mail.origin != "inbound" or tried.recipient == tried.asked:
        return tried
    waiting, done = [tried.asked], set[str]()
    while waiting:
        address = waiting.pop(0)
        name = rules.domain_of(address)
        domain = await domains.find_by_name(conn, name)
        if domain is None or address in done:
            continue
        done.add(address)
        seen = await routing.list_visible_destinations(conn, address, domain.id)
        if tried.recipient.lower() in seen:
            return tried if name == rules.domain_of(tried.asked) else replace(tried, forwarded_by=name)
        waiting += seen
    return replace(tried, forwarded_by="")


async def _passed_on(conn: Conn, at: datetime, stories: Sequence[Story]) -> list[Story]:
    """The stories; of forwarded mail only the external attempts, with a message for each forwarding domain."""
    managed: dict[str, Domain | None] = {}

    async def domain(name: str) -> Domain | None:
        if name not in managed:
            managed[name] = await domains.find_by_name(conn, name)
        return managed[name]

    out: list[Story] = []
    new: list[Message] = []
    for story in stories:
        if not story.mail.is_passing or not story.tries:
            out.append(story)
            continue
        # Where the way to the mailboxes is shut, others than the lmtp client tell of it.
        tries = [each for each in story.tries if each.to_server or not await domain(rules.domain_of(each.recipient))]
        tries = [await _forwarded(conn, story.mail, each) for each in tries]
        rows = dict(story.mail.passed_on)
        for name, recipients in rules.by_passer(story.mail, tries).items():
            if name in rows:
                await messages.add_recipients(conn, rows[name], recipients)
            else:
                new.append(rules.passed_message(at, story.mail, tries, recipients, (name, await domain(name))))
                rows[name] = new[-1].id
        out.append(replace(story, mail=replace(story.mail, passed_on=rows), tries=tuple(tries)))
    if new:
        await messages.begin(conn, new)
    return out


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
    ids = {mail.queue_id: rules.attempt_id(mail) for mail in mails}
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
            domain = await domains.find_by_name(conn, rules.domain_of(story.mail.sender))
            found[story.mail.queue_id] = rules.handed_in(at, story.mail, recipients, domain)
    if found:
        await messages.begin(conn, list(found.values()))
        await messages.accept(conn, at, [(each, queue_id) for queue_id, each in found.items()], status="queued")
    return found, noted.keys()


async def _end(conn: Conn, at: datetime, stories: Sequence[Story], counted: Counters) -> None:
    """What is left open where a message has left the queue: failed where it was given up or deleted, else unknown."""
    ended = [(story, message_id) for story in stories for message_id in rules.messages_of(story)]
    if not ended:
        return
    still_open = await messages.open_recipients(conn, [message_id for _, message_id in ended])
    failed: list[Fate] = []
    for story, message_id in ended:
        left = still_open.get(message_id, [])
        if not left:
            continue
        if fates := rules.given_up(story, message_id, at, left):
            failed += fates
        else:
            lost = Missing(message_id, story.mail.queue_id)
            counted.add("deliveries", "outbound", "unknown", times=await _tell_unknown(conn, at, lost, _NO_MORE))
    if failed:
        for tried in await messages.record_fates(conn, at, failed):
            counted.add("deliveries", "outbound", tried.kind)


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


async def missing(app: App, queued: Collection[str], looked_at: datetime, grace: timedelta) -> list[Missing] | None:
    """Messages with open recipients that were taken `grace` before a look at the queue and are not in it, by any id.

    None where the log is not read as far as that. Only what is missing twice, one look after the other, is gone.
    """
    found: list[Missing] = []
    after = UUID(int=0)
    async with app.db.autocommit() as conn:
        reached = await store.caught_up_at(conn)
        if reached is None or reached <= looked_at:
            return None
        page = [Missing(after, "")]
        while page:
            page = await store.overdue(conn, looked_at - grace, looked_at - _LIFETIME, after, _PAGE)
            gone = [each for each in page if each.queue_id not in queued]
            others = await store.followed(conn, [each.id for each in gone]) if gone else {}
            found += [each for each in gone if others.get(each.id, set[str]()).isdisjoint(queued)]
            after = page[-1].id if page else after
    return found


async def settle_missing(app: App, found: Sequence[Missing]) -> None:
    """Nobody will tell any more what became of these messages: `unknown`, with an alert for each."""
    for each in found:
        async with app.db.tx() as conn:
            await messages.lock(conn, [each.id])
            unknown = await _tell_unknown(conn, app.clock(), each, _GONE)
        app.counters.add("deliveries", "outbound", "unknown", times=unknown)


async def _tell_unknown(conn: Conn, at: datetime, lost: Missing, why: str) -> int:
    """Tell of it; how many recipients that is."""
    addresses = await messages.end_unknown(conn, at, lost.id, why)
    message = await messages.find(conn, lost.id)
    if not addresses or message is None:
        return 0
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
    return len(addresses)
