"""Decides about external copies, and returns them to Postfix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import parse_uuid
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.external_copies import store
from mailkeep.features.mailflow.external_copies.model import (
    CopyState,
    DivertedMail,
    ExternalCopy,
    ExternalRecipient,
    ExternalResult,
)
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import Subject
from mailkeep.features.mailflow.receiving import rejections
from mailkeep.features.mailflow.receiving.model import RefusedCopy, SpamVerdict
from mailkeep.features.mailflow.receiving.rules import recipient_domain
from mailkeep.features.mailflow.sending import service as sending
from mailkeep.features.record.messages.model import MessageDomain
from mailkeep.mail.smtp.client import ConnectionLost, SmtpRefusal
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.external_copies")

_RETURNED = SmtpReply(250, "2.0.0", "Forwarded")
_REFUSED = SmtpReply(250, "2.0.0", "Spam is not forwarded")
_UNCERTAIN = SmtpReply(451, "4.3.0", "It may have been forwarded already; the log is being read, try again later")
_NO_DOMAIN = UUID(int=0)
_SETTLING_SECONDS = 5, 60


async def forward(
    app: App, diverted: DivertedMail, recipients: Sequence[ExternalRecipient], started_at: datetime
) -> ExternalResult:
    """Return the copies that are not spam to Postfix; gives the reply for each recipient.

    `started_at`: when this process started; attempts of an earlier one have ended. Raises `Unavailable`.
    """
    queue_id, at = diverted.mail.queue_id, app.clock()
    result = ExternalResult({}, set())
    async with app.db.autocommit() as conn:
        known = await store.find(conn, queue_id)
        new = [each for each in recipients if known.get(each.address, _NONE).state == "returning"]
        judged = await _judge(conn, diverted, list(dict.fromkeys(new)))
        read_to = await sending.log_read_at(conn)
    for each in judged.values():
        if each.verdict.decided_by and each.verdict.decided_by.entry_id:
            result.entry_ids.add(each.verdict.decided_by.entry_id)
    copies = _copies(judged)
    settling = _settling(app)
    settled_before = None if read_to is None or read_to < started_at + settling else read_to - settling
    async with app.db.tx() as conn:
        begun = await store.begin(conn, queue_id, copies, at, settled_before) if copies else set[str]()
        refused = [each for each in copies if each.state == "refused" and each.recipient in begun]
        await _record_refused(conn, at, diverted, refused, judged)
    failpoint.reach("copies.marked")
    replies: dict[str, SmtpReply] = {}
    attempts: dict[UUID, list[str]] = {}
    for each in copies:
        if each.recipient not in begun:
            replies[each.recipient] = _UNCERTAIN
        elif each.state == "refused":
            replies[each.recipient] = _REFUSED
        else:
            attempts.setdefault(each.marker, []).append(each.recipient)
    for marker, addresses in attempts.items():
        replies |= await _submit(app, diverted, marker, addresses)
    for each in recipients:
        state = known.get(each.address, _NONE).state
        result.replies[each] = replies[each.address] if state == "returning" else _ENDED[state]
    return result


def _settling(app: App) -> timedelta:
    """How long an abandoned attempt may still run in Postfix. As a rule Postfix asks again only later."""
    low, high = _SETTLING_SECONDS
    return timedelta(seconds=min(max(low, app.settings.outbound.first_retry_seconds), high))


_NONE = ExternalCopy("", "", "", "returning", _NO_DOMAIN)
_ENDED: Mapping[CopyState, SmtpReply] = {"returned": _RETURNED, "refused": _REFUSED}


@dataclass(frozen=True, slots=True)
class _Judged:
    """A verdict, and the domain of the copy in the history: that of the recipient, or the one that forwards to it."""

    verdict: SpamVerdict
    domain: MessageDomain


async def _judge(
    conn: Conn, diverted: DivertedMail, recipients: Sequence[ExternalRecipient]
) -> dict[ExternalRecipient, _Judged]:
    """What the domain of each recipient decides about the copies that it forwards, as at the end of DATA."""
    names = dict.fromkeys(recipient_domain(each.original) for each in recipients)
    found = {name: await domains.find_by_name(conn, name) for name in names}
    # An alias domain has the lists and thresholds of its target. Without a domain the server's apply.
    subjects = {
        name: Subject((domain.alias_of or domain.id) if domain else _NO_DOMAIN) for name, domain in found.items()
    }
    distinct = list(dict.fromkeys(subjects.values()))
    policies = await filtering.find_policies(conn, distinct, diverted.facts) if distinct else {}
    verdicts = {name: diverted.judge(policies[subject]) for name, subject in subjects.items()}
    judged: dict[ExternalRecipient, _Judged] = {}
    for each in recipients:
        name = recipient_domain(each.original)
        domain, verdict = found[name], verdicts[name]
        if not verdict.is_spam:
            name = await routing.find_forwarding_domain(conn, each.original, each.address)
        judged[each] = _Judged(verdict, MessageDomain(domain.id if domain else None, name))
    return judged


def _copies(judged: Mapping[ExternalRecipient, _Judged]) -> list[ExternalCopy]:
    """A row for each address. One to which several domains forward gets the copy of the first that allows it."""
    markers: dict[str, UUID] = {}
    copies: dict[str, ExternalCopy] = {}
    for recipient, each in judged.items():
        before = copies.get(recipient.address)
        if before and (before.state == "returning" or each.verdict.is_spam):
            continue
        state: CopyState = "refused" if each.verdict.is_spam else "returning"
        marker = markers.setdefault(f"{state} {each.domain.name}", uuid4())
        copies[recipient.address] = ExternalCopy(recipient.address, recipient.original, each.domain.name, state, marker)
    return list(copies.values())


async def _record_refused(
    conn: Conn,
    at: datetime,
    diverted: DivertedMail,
    copies: Sequence[ExternalCopy],
    judged: Mapping[ExternalRecipient, _Judged],
) -> None:
    """A row of the history for each domain that refuses to forward the message."""
    by_name: dict[str, list[ExternalCopy]] = {}
    for each in copies:
        by_name.setdefault(each.domain_name, []).append(each)
    for refused in by_name.values():
        first = judged[ExternalRecipient(refused[0].recipient, refused[0].original)]
        originals = list(dict.fromkeys(each.original for each in refused))
        copy = RefusedCopy(first.domain, originals, first.verdict)
        await rejections.record_refused(conn, at, diverted.mail, copy)


async def _submit(app: App, diverted: DivertedMail, marker: UUID, addresses: Sequence[str]) -> Mapping[str, SmtpReply]:
    """Return copies to Postfix in one message; the reply for each address."""
    try:
        accepted = await diverted.submit(marker, addresses)
    except (ConnectionLost, SmtpRefusal, ValueError) as error:
        if isinstance(error, ConnectionLost) and error.submitted == "unknown":
            await _prolong(app, marker)
            log.warning("whether Postfix has a copy is unknown", queue_id=diverted.mail.queue_id, why=str(error))
            return dict.fromkeys(addresses, _UNCERTAIN)
        reply = SmtpReply(451, "4.4.1", "Postfix did not accept the copy")
        if isinstance(error, ValueError):
            reply = SmtpReply(501, "5.1.3", str(error))
        elif isinstance(error, SmtpRefusal):
            reply = error.reply
        log.warning("an external copy was not accepted", queue_id=diverted.mail.queue_id, why=str(error))
        with suppress(Unavailable):  # then the log decides
            async with app.db.autocommit() as conn:
                await store.delete(conn, marker)
        return dict.fromkeys(addresses, reply)
    except BaseException:
        await _prolong(app, marker)
        raise
    failpoint.reach("copies.returned")
    async with app.db.autocommit() as conn:
        await store.end(conn, marker, list(accepted.rejected), accepted.queue_id)
    failpoint.reach("copies.recorded")
    return {each: accepted.rejected.get(each, _RETURNED) for each in addresses}


async def _prolong(app: App, marker: UUID) -> None:
    with suppress(Unavailable):
        async with app.db.autocommit() as conn:
            await store.prolong(conn, marker, app.clock())


async def record_acceptance(conn: Conn, returned: Mapping[str, str]) -> None:
    """Record that Postfix's log shows returned copies in the queue: their queue IDs, by marker."""
    markers = {marker: queue_id for text, queue_id in returned.items() if (marker := parse_uuid(text))}
    if markers:
        await store.accept(conn, markers)


async def find_returned(conn: Conn, marker: str) -> dict[str, ExternalCopy]:
    """The copies with this marker, by recipient."""
    found = parse_uuid(marker)
    return await store.find_by_marker(conn, found) if found else {}


async def delete_old(conn: Conn, before: datetime) -> None:
    """Delete what is known about copies from before `before`."""
    await store.delete_old(conn, before)
