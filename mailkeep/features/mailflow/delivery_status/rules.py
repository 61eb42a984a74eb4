"""From lines of the log to what became of whom: pure, whatever pieces the log is read in."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.address import AddressError, normalize_domain, parse_address
from mailkeep.core.ids import parse_uuid, uuid7
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.delivery_status.model import (
    End,
    Expansion,
    Origin,
    Pauses,
    Status,
    Story,
    Submission,
    Tracked,
    Try,
)
from mailkeep.features.mailflow.receiving.model import Rejected
from mailkeep.features.record.messages.model import Fate, Message, Recipient, Reply, Source
from mailkeep.mail.message.header_text import decode_words, parse_addresses
from mailkeep.mail.postfix import log

# The last word of `syslog_name` of each port in master.cf.
_ORIGINS: dict[str, Origin] = {"api": "api", "submission": "submission", "submissions": "submission"}
# And of the cleanup service behind the others: it first knows of what is no more than a try to hand something in.
_PASSING: dict[str, Origin] = {"inbound": "inbound", "reinjection": "reinjection"}
_OTHER_SERVERS = ("mx", "smtp", "postfix", "inbound")
_STATUSES: dict[log.Status, Status] = {"sent": "delivered", "deferred": "deferred", "bounced": "bounced"}
_KEPT_FIELDS = ("from", "to", "cc", "subject", "received")
# The trace field of `features/mailflow/sendmail`, which is the first of its message.
_TRACE = re.compile(r"by \S+ \(Mailkeep\) with local id ([0-9a-f-]{36});.*")
_BEST = ("delivered", "relayed", "bounced", "deferred")
# The service that hands mail to the process `relay` (master.cf, smarthost).
_RELAY = "relay"
DELETED = Reply(diagnostic="Deleted from the queue by an operator")
EXPIRED = Reply(diagnostic="Given up: it could not be delivered for too long")


def attempt_id(mail: Tracked) -> UUID | None:
    """The attempt that a message from the API's port belongs to: its trace field names it, else its Message-ID."""
    if trace := _TRACE.fullmatch(mail.head.get("received", "")):
        return parse_uuid(trace[1])
    return parse_uuid(mail.header_id[1:].partition("@")[0])


def origin_of(service: str) -> Origin | None:
    """Whose port a service is: the API's, or mail clients'; None for any other."""
    return _ORIGINS.get(service.rpartition("/")[2])


def by_who_wrote(line: log.Line, original: Callable[[str], str | None]) -> log.Line:
    """A line with the sender as it came in, where Postfix goes on with one that was rewritten (`mail/message/srs`)."""
    fact = line.fact
    if isinstance(fact, log.Queued | log.Rejected) and (sender := original(fact.sender)):
        return replace(line, fact=replace(fact, sender=sender))
    return line


def is_refused_at_end(line: log.Line) -> bool:
    """Whether a message was refused at the end of its data: by the filter, after it was counted."""
    return isinstance(line.fact, log.Rejected) and line.fact.stage == "END-OF-MESSAGE"


def counted(noted: Iterable[Submission]) -> list[tuple[datetime, SendCharge]]:
    """What the policy agent has counted for these messages, each with its time."""
    found: list[tuple[datetime, SendCharge]] = []
    for each in noted:
        mailbox = parse_address(each.login)
        sender = parse_address(each.sender) if each.sender else mailbox
        found.append((each.created_at, SendCharge(mailbox, None, len(each.recipients), written=sender)))
    return found


def rejection(line: log.Line) -> Rejected | None:
    """What was refused to another server about a recipient; None for any other line."""
    fact = line.fact
    if not isinstance(fact, log.Rejected) or not fact.recipient:
        return None
    service = line.service.rpartition("/")[2]
    if service not in _OTHER_SERVERS:
        return None
    return Rejected(fact.client, fact.sender, fact.recipient, fact.smtp_code, fact.enhanced_code, fact.text)


def next_try(at: datetime, seconds: float, pauses: Pauses) -> datetime:
    """When Postfix tries again what it put off at `at`, so many seconds after it came in: not before that.

    As its queue manager reckons: after as long as the message has waited already, within the two pauses. It looks for
    what is due every `queue_run_delay`.
    """
    return at + min(max(timedelta(seconds=seconds), pauses.shortest), pauses.longest)


def tell(lines: Iterable[tuple[datetime, log.Line]], known: Mapping[str, Tracked], pauses: Pauses) -> list[Story]:
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
        stories[queue_id] = _learn(story, at, line, pauses)
        touched[queue_id] = None
    return [stories[queue_id] for queue_id in touched if queue_id in stories]  # one that was requeued is another now


def strangers(lines: Iterable[log.Line], known: Container[str]) -> set[str]:
    """The queue ids that lines tell of as if we knew them: neither do we, nor do they come in with these lines.

    Made by Postfix itself, or the lines of their coming in were lost.
    """
    found: set[str] = set()
    met: set[str] = set()
    for line in lines:
        queue_id = line.queue_id
        if queue_id is None or queue_id in met or queue_id in known:
            continue
        met.add(queue_id)
        if isinstance(line.fact, log.Queued | log.Attempt | log.Expired | log.Removed):
            found.add(queue_id)
    return found


def _begin(stories: dict[str, Story], at: datetime, line: log.Line) -> Story | None:
    """The story of a message that comes in with this line, or comes again under another queue id."""
    queue_id, fact = line.queue_id, line.fact
    assert queue_id is not None
    if isinstance(fact, log.Client):
        origin = origin_of(line.service)
        return Story(Tracked(queue_id, origin, at, fact.login)) if origin else None
    if isinstance(fact, log.MessageId | log.Header) and queue_id not in stories:
        origin = _PASSING.get(line.service.rpartition("/")[2])
        return Story(Tracked(queue_id, origin, at)) if origin else None
    if isinstance(fact, log.Pickup) and fact.orig_id in stories:
        before = stories.pop(fact.orig_id)
        return replace(before, mail=replace(before.mail, queue_id=queue_id, first_seen_at=at))
    return None


def _learn(story: Story, at: datetime, line: log.Line, pauses: Pauses) -> Story:
    mail, fact = story.mail, line.fact
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
            if mail.is_passing and line.program == "lmtp" and not _is_relay(line):
                return story  # to a mailbox, which the inbox files
            return replace(story, tries=(*story.tries, _try(at, line, fact, pauses)), held=False)
        case log.Moved():
            return replace(story, held=fact.to == "hold")
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


def _is_relay(line: log.Line) -> bool:
    return line.service.rpartition("/")[2] == _RELAY


def _try(at: datetime, line: log.Line, fact: log.Attempt, pauses: Pauses) -> Try:
    reply = Reply(fact.smtp_code, fact.enhanced_code, fact.text, fact.remote_host)
    next_at = next_try(at, fact.seconds, pauses) if fact.status == "deferred" else None
    by_relay = _is_relay(line)
    status = "relayed" if by_relay and fact.status == "sent" else _STATUSES[fact.status]
    to_server = by_relay or line.program in ("smtp", "relay")
    return Try(fact.asked or fact.recipient, fact.recipient, status, reply, at, next_at, to_server=to_server)


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
    reply = replace(tried.reply, diagnostic=None, remote_host=None) if tried.hidden else tried.reply
    return Fate(message_id, asked, tried.status, None, reply, tried.next_at, mail.queue_id, tried.at)


def passed_on(story: Story) -> list[Fate]:
    """What a story decides for recipients outside that mail is passed on to, in order; their messages are known."""
    mail = story.mail
    return [_fate(mail, mail.passed_on[passer(mail, each)], each.recipient, each) for each in story.tries]


def passer(mail: Tracked, tried: Try) -> str:
    """The name of the domain that passes mail on to a recipient: the alias's or the mailbox's.

    What Dovecot hands in comes from a mailbox: by its sender, or where it has none (answers, RFC 5230 §5.1) by From.
    """
    if mail.origin == "inbound":
        return domain_of(tried.asked) if tried.forwarded_by is None else tried.forwarded_by
    return domain_of(mail.sender or from_address(mail))


def from_address(mail: Tracked) -> str:
    """The address of the From field, else the sender."""
    return next((each.email for each in parse_addresses(mail.head.get("from", ""))), mail.sender)


def domain_of(address: str) -> str:
    """The domain of an address, as A-labels where it is a domain name."""
    domain = address.rpartition("@")[2]
    try:
        return normalize_domain(domain)
    except AddressError:
        return domain.lower()


def by_passer(mail: Tracked, tries: Iterable[Try]) -> dict[str, list[str]]:
    """The recipients outside, each once, by the name of the domain that passes mail on to them."""
    found: dict[str, dict[str, None]] = {}
    for each in tries:
        found.setdefault(passer(mail, each), {})[each.recipient] = None
    return {name: list(recipients) for name, recipients in found.items()}


def handed_in(at: datetime, mail: Tracked, recipients: Sequence[str], domain: Domain | None) -> Message:
    """The history's row of what a mail client handed in, not yet accepted; `domain` is the sender's."""
    to, cc = ([each.email for each in parse_addresses(mail.head.get(field, ""))] for field in ("to", "cc"))
    row = _message(at, mail, (domain_of(mail.sender), domain), to or ([] if cc else list(recipients)))
    open_ones = [Recipient(address, "submitting") for address in recipients]
    return replace(row, source="smtp", cc_addresses=cc, status="submitting", recipients=open_ones)


def passed_message(
    at: datetime, mail: Tracked, tries: Iterable[Try], recipients: Sequence[str], domain: tuple[str, Domain | None]
) -> Message:
    """The history's row of what a domain passes on to recipients outside: with the queue id and the Message-ID of what
    came in, to the addresses that lead there.
    """
    asked = [each.asked for each in tries if each.recipient in recipients and passer(mail, each) == domain[0]]
    row = _message(at, mail, domain, list(dict.fromkeys(asked)))
    queued = [Recipient(address, "queued") for address in recipients]
    return replace(row, queue_id=mail.queue_id, status="queued", accepted_at=at, recipients=queued)


def _message(at: datetime, mail: Tracked, domain: tuple[str, Domain | None], to: list[str]) -> Message:
    name, managed = domain
    return Message(
        id=uuid7(at),
        direction="outbound",
        message_id=mail.header_id,
        queue_id=None,
        domain_id=managed.id if managed else None,
        domain_name=name,
        mailbox_id=None,
        source="system",
        admin_id=None,
        api_key_id=None,
        mail_from=mail.sender,
        from_address=from_address(mail),
        to_addresses=to,
        cc_addresses=[],
        subject=decode_words(mail.head.get("subject", "")),
        size=mail.size,
        status="queued",
        created_at=at,
        recipients=[],
    )


def newly_accepted(stories: Iterable[Story], known: Mapping[str, Tracked]) -> Iterator[tuple[Source, int]]:
    """How many rows of the history were made for these stories, of which source; the API makes its own."""
    for story in stories:
        mail, before = story.mail, known.get(story.mail.queue_id)
        if mail.origin == "submission" and mail.message_id and not (before and before.message_id):
            yield "smtp", 1
        elif mail.is_passing:
            yield "system", len(mail.passed_on) - (len(before.passed_on) if before else 0)


def messages_of(story: Story) -> list[UUID]:
    """The history's rows of a story."""
    own = story.mail.message_id
    return [*([own] if own else []), *story.mail.passed_on.values()]


def given_up(story: Story, message_id: UUID, at: datetime, still_open: Sequence[tuple[str, Reply]]) -> list[Fate]:
    """The fates of a message's recipients that are open when the queue gives it up, or an operator deletes it.

    `still_open` are their addresses with the last words about them. Empty for any other end.
    """
    if story.end not in ("expired", "deleted"):
        return []
    told: list[Fate] = []
    for address, last in still_open:
        reply = DELETED if story.end == "deleted" else (last if last.diagnostic else EXPIRED)
        told.append(Fate(message_id, address, "failed", None, reply, None, story.mail.queue_id, at))
    return told
