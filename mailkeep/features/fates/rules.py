"""From lines of the log to what became of whom: pure, whatever pieces the log is read in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from mailkeep.features.fates.model import End, Expansion, Origin, Story, Tracked, Try
from mailkeep.features.messages.model import Fate, Reply
from mailkeep.features.receiving.model import Rejected
from mailkeep.mail import postfix_log as log

# The last word of `syslog_name` of each port in master.cf.
_ORIGINS: dict[str, Origin] = {"api": "api", "submission": "submission", "submissions": "submission"}
_OTHER_SERVERS = ("mx", "smtp", "postfix")
_STATUSES = {"sent": "delivered", "deferred": "deferred", "bounced": "bounced"}
_KEPT_FIELDS = ("from", "to", "cc", "subject")
_BEST = ("delivered", "bounced", "deferred")
DELETED = Reply(diagnostic="Deleted from the queue by an operator")
EXPIRED = Reply(diagnostic="Given up: it could not be delivered for too long")


def origin_of(service: str) -> Origin | None:
    """Whose port a service is: the API's, or mail clients'; None for any other."""
    return _ORIGINS.get(service.rpartition("/")[2])


def rejection(line: log.Line) -> Rejected | None:
    """What was refused to another server about a recipient; None for any other line."""
    fact = line.fact
    if not isinstance(fact, log.Rejected) or not fact.recipient:
        return None
    service = line.service.rpartition("/")[2]
    if service not in _OTHER_SERVERS:
        return None
    return Rejected(fact.client, fact.sender, fact.recipient, fact.smtp_code, fact.enhanced_code, fact.text)


def tell(lines: Iterable[tuple[datetime, log.Line]], known: Mapping[str, Tracked]) -> list[Story]:
    """The stories that lines with their times tell, each message once, in the order in which they first show."""
    stories = {queue_id: Story(mail) for queue_id, mail in known.items()}
    touched: dict[str, None] = {}
    for at, line in lines:
        queue_id = line.queue_id
        if queue_id is None:
            continue
        story = _begin(stories, at, line) or stories.get(queue_id)
        if story is None:
            continue
        stories[queue_id] = _learn(story, at, line.fact)
        touched[queue_id] = None
    return [stories[queue_id] for queue_id in touched]


def _begin(stories: dict[str, Story], at: datetime, line: log.Line) -> Story | None:
    """The story of a message that comes in with this line, or comes again under another queue id."""
    queue_id, fact = line.queue_id, line.fact
    assert queue_id is not None
    if isinstance(fact, log.Client):
        origin = origin_of(line.service)
        return Story(Tracked(queue_id, origin, at, fact.login)) if origin else None
    if isinstance(fact, log.Pickup) and fact.orig_id in stories:
        before = stories.pop(fact.orig_id)
        return replace(before, mail=replace(before.mail, queue_id=queue_id, first_seen_at=at))
    return None


def _learn(story: Story, at: datetime, fact: log.Fact) -> Story:
    mail = story.mail
    match fact:
        case log.MessageId():
            # The first counts: a later one is that of a message requeued, and the same.
            return replace(story, mail=replace(mail, header_id=mail.header_id or fact.text))
        case log.Header():
            name = fact.name.lower()
            if name not in _KEPT_FIELDS or name in mail.head:
                return story
            return replace(story, mail=replace(mail, head={**mail.head, name: fact.value}))
        case log.Queued():
            if mail.expected is not None:
                return story
            return replace(story, mail=replace(mail, sender=fact.sender, size=fact.size, expected=fact.recipients))
        case log.Attempt():
            return replace(story, tries=(*story.tries, _try(at, fact)))
        case log.Expired() | log.Removed():
            return replace(story, end=story.end or _end(fact))
        case log.Rejected():
            return replace(story, end="refused") if fact.stage == "END-OF-MESSAGE" else story
        case _:
            return story


def _end(fact: log.Expired | log.Removed) -> End:
    if isinstance(fact, log.Expired):
        return "expired"
    return "deleted" if fact.by == "postsuper" else "done"


def _try(at: datetime, fact: log.Attempt) -> Try:
    reply = Reply(fact.smtp_code, fact.enhanced_code, fact.text, fact.remote_host)
    status = _STATUSES[fact.status]
    return Try(fact.asked or fact.recipient, fact.recipient, status, reply, at)  # pyright: ignore[reportArgumentType]


def is_plain(mail: Tracked) -> bool:
    """Whether each recipient stands in the queue as one: none is an alias that leads to several."""
    return mail.expected == mail.recipients


def fates(story: Story) -> tuple[Tracked, list[Fate]]:
    """What a story decides for the message's own recipients, in order; and what is known after it."""
    mail, message_id = story.mail, story.mail.message_id
    assert message_id is not None
    if is_plain(mail):
        return mail, [_fate(mail, message_id, each.asked, each) for each in story.tries]
    told: list[Fate] = []
    for each in story.tries:
        mail, fate = _expanded(mail, message_id, each)
        told += [fate] if fate else []
    if story.end or len(mail.expansions) == mail.expected:
        mail, settled = _settled(mail, message_id)
        told += settled
    return mail, told


def _expanded(mail: Tracked, message_id: UUID, tried: Try) -> tuple[Tracked, Fate | None]:
    """A try for an expansion; the first that is put off is told of the alias."""
    others = [each for each in mail.expansions if _place(each.tried) != _place(tried)]
    before = next((each for each in mail.expansions if _place(each.tried) == _place(tried)), None)
    first = tried.status == "deferred" and not any(each.tried.asked == tried.asked for each in mail.expansions)
    expansion = Expansion(tried, before.tries + 1 if before else 1)
    known = replace(mail, expansions=(*others, expansion))
    return known, _fate(mail, message_id, tried.asked, tried) if first else None


def _settled(mail: Tracked, message_id: UUID) -> tuple[Tracked, list[Fate]]:
    """The recipients whose expansions have all ended, and were not told."""
    by_asked: dict[str, list[Try]] = {}
    for each in mail.expansions:
        by_asked.setdefault(each.tried.asked, []).append(each.tried)
    told: list[Fate] = []
    for asked, tries in by_asked.items():
        if asked not in mail.told and all(each.status != "deferred" for each in tries):
            best = min(tries, key=lambda each: _BEST.index(each.status))
            told.append(_fate(mail, message_id, asked, best))
    return replace(mail, told=(*mail.told, *(fate.address for fate in told))), told


def _place(tried: Try) -> tuple[str, str]:
    return tried.asked, tried.recipient


def _fate(mail: Tracked, message_id: UUID, asked: str, tried: Try) -> Fate:
    return Fate(message_id, asked, tried.status, None, tried.reply, None, mail.queue_id, tried.at)


def given_up(story: Story, at: datetime, still_open: Sequence[tuple[str, Reply]]) -> list[Fate]:
    """The fates of recipients that are open when the queue gives a message up, or an operator deletes it.

    `still_open` are their addresses with the last words about them. Empty for any other end.
    """
    mail = story.mail
    if story.end not in ("expired", "deleted") or mail.message_id is None:
        return []
    told: list[Fate] = []
    for address, last in still_open:
        reply = DELETED if story.end == "deleted" else (last if last.diagnostic else EXPIRED)
        told.append(Fate(mail.message_id, address, "failed", None, reply, None, mail.queue_id, at))
    return told
