"""Sending messages: check, write the attempt, submit, write what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import Address, parse_address
from mailkeep.core.errors import IdempotencyInProgress, Refusal, SendUnavailable, Unavailable
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.abuse import service as abuse
from mailkeep.features.abuse.model import Use
from mailkeep.features.audit import service as audit
from mailkeep.features.audit.model import Deed, Target
from mailkeep.features.messages import service as messages
from mailkeep.features.messages.model import Fate, Message, Recipient, Reply
from mailkeep.features.sending import rules, store
from mailkeep.features.sending.model import Asked, Prepared, SenderDomain, Sent
from mailkeep.mail.compose import compose
from mailkeep.mail.smtp_client import Lost, Refused, Submission, Submitted
from mailkeep.mail.smtp_pool import SmtpPool

log = structlog.get_logger("mailkeep.sending")

_IN_THREAD = 1 << 20  # bytes of attachments above which checking and composing leaves the event loop free
_PAUSE = 2.0  # seconds between tries to write down what the database was away for

Outcome = Sent | Refusal
Result = Submitted | Refused | Lost

_SENT = IdempotencyInProgress()  # in the place of a message that a batch has sent already

_unwritten: set[asyncio.Task[None]] = set()


async def send(app: App, who: Principal, asked: Asked) -> Sent:
    """Send one message; refuses where it is not accepted."""
    outcome = (await send_all(app, who, [asked]))[0]
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome


async def send_batch(app: App, who: Principal, asked: Sequence[Asked | Refusal]) -> list[Outcome]:
    """`send_all`, with an audit row also where none of them was accepted."""
    outcomes = await send_all(app, who, asked)
    refused = [each for each in outcomes if isinstance(each, Refusal)]
    if len(refused) == len(outcomes):
        async with app.db.tx() as conn:
            await audit.record(conn, who, app.clock(), _refused(refused))
    return outcomes


def _refused(refused: Sequence[Refusal]) -> Deed:
    """Denied where rights alone were in the way of each message; the code is the first one's."""
    more = {"messages": len(refused), "succeeded": 0, "codes": sorted({each.code for each in refused})}
    denied = all(each.status == 403 for each in refused)
    outcome = "denied" if denied else "failed"
    return Deed("message.send", Target("message", None), more=more, outcome=outcome, error_code=refused[0].code)


async def send_all(app: App, who: Principal, asked: Sequence[Asked | Refusal]) -> list[Outcome]:
    """Send messages; an outcome for each, in order. What was refused before stays refused."""
    at = app.clock()
    prepared = await _count_all(app, who, at, await _prepare_all(app, who, asked))
    ready = [each for each in prepared if isinstance(each, Prepared)]
    if not ready:
        return [each for each in prepared if isinstance(each, Refusal)]
    failpoint.reach("send.before_attempt")
    attempts = {
        each.id: _attempt(who, each, at, index) for index, each in enumerate(prepared) if isinstance(each, Prepared)
    }
    if app.mta is None:
        async with app.db.autocommit() as conn:
            await abuse.uncount(conn, [counted(each) for each in attempts.values()])
        raise SendUnavailable
    await _begin(app, who, list(attempts.values()))
    failpoint.reach("send.attempt_written")
    submitted = await _submit_all(app.mta, ready)
    results = dict(zip((each.id for each in ready), submitted, strict=True))
    if app.settings.mta.mode == "smtp":  # the sandbox keeps what it signed
        taken = [each for each in ready if isinstance(results[each.id], Submitted)]
        await asyncio.to_thread(_keep_contents, app, taken)
    await _settle(app, who, [(attempts[each.id], results[each.id]) for each in ready])
    failpoint.reach("send.committed")
    return [
        each if isinstance(each, Refusal) else _outcome(app, attempts[each.id], results[each.id]) for each in prepared
    ]


async def sent_before(app: App, request_id: UUID) -> dict[int, Sent]:
    """What a request that was cut off has sent, by the place in it; IDEMPOTENCY_IN_PROGRESS while that is not known.

    What is not there was never submitted, or certainly not taken: it may be sent anew.
    """
    async with app.db.autocommit() as conn:
        found = await messages.of_request(conn, request_id)
    if any(message.status in ("submitting", "unknown") for message in found):
        raise IdempotencyInProgress
    return {
        message.batch_index or 0: Sent(
            message.id, message.message_id, message.status, [(each.address, each.status) for each in message.recipients]
        )
        for message in found
        if message.accepted_at is not None
    }


async def resume_batch(
    app: App, who: Principal, asked: Sequence[Asked | Refusal], before: Mapping[int, Sent]
) -> list[Outcome]:
    """Send of a batch what was not sent before; an outcome for each message, in order."""
    outcomes = await send_all(app, who, [_SENT if index in before else each for index, each in enumerate(asked)])
    return [before.get(index, outcome) for index, outcome in enumerate(outcomes)]


def _keep_contents(app: App, taken: Sequence[Prepared]) -> None:
    for each in taken:
        messages.keep_content(app.data_dir, each.id, each.composed.chunks())


async def _prepare_all(app: App, who: Principal, asked: Sequence[Asked | Refusal]) -> list[Prepared | Refusal]:
    known = [address for each in asked if isinstance(each, Asked) and (address := _sender_or_none(each))]
    async with app.db.autocommit() as conn:
        domains = await store.sender_domains(conn, {address.domain for address in known})
    at, limit = app.clock(), app.settings.limits.message_size_bytes
    prepared: list[Prepared | Refusal] = []
    for each in asked:
        if isinstance(each, Refusal):
            prepared.append(each)
            continue
        heavy = sum(len(one.content) for one in each.attachments) > _IN_THREAD
        work = (who, each, domains, at, limit)
        prepared.append(await asyncio.to_thread(_try_prepare, *work) if heavy else _try_prepare(*work))
    return prepared


def _sender_or_none(asked: Asked) -> Address | None:
    try:
        return rules.sender(asked).address
    except Refusal:
        return None


def _try_prepare(
    who: Principal,
    asked: Asked,
    domains: dict[str, SenderDomain],
    at: datetime,
    limit: int,
) -> Prepared | Refusal:
    try:
        return _prepare(who, asked, domains, at, limit)
    except Refusal as wrong:
        return wrong


def _prepare(
    who: Principal,
    asked: Asked,
    domains: dict[str, SenderDomain],
    at: datetime,
    limit: int,
) -> Prepared:
    sender = rules.sender(asked)
    domain = rules.domain_may_send(domains.get(sender.address.domain))
    allow_on(who, "send", domain.id)
    boxes = [rules.mailboxes(field, named) for field, named in (("to", asked.to), ("cc", asked.cc), ("bcc", asked.bcc))]
    envelope = rules.envelope(mailbox for field in boxes for mailbox in field)
    message = messages.new_id(at)
    outgoing = rules.outgoing(message, at, asked, sender, boxes)
    composed = compose(outgoing)
    rules.refuse_too_large(composed.counted_size, limit)
    return Prepared(message, sender, domain, envelope, outgoing, composed, asked)


async def _count_all(
    app: App, who: Principal, at: datetime, prepared: Sequence[Prepared | Refusal]
) -> list[Prepared | Refusal]:
    """The prepared messages that may go out now, counted; a refusal in the place of each other."""
    uses = [
        Use(each.sender.address, each.domain.id, len(each.envelope)) for each in prepared if isinstance(each, Prepared)
    ]
    if not uses:
        return list(prepared)
    refusals = iter(await abuse.count(app, who, at, uses))
    return [each if isinstance(each, Refusal) else next(refusals) or each for each in prepared]


def counted(attempt: Message) -> tuple[datetime, Use]:
    """An attempt as it was counted: to be taken back where it was certainly not submitted."""
    assert attempt.domain_id is not None
    return attempt.created_at, Use(parse_address(attempt.mail_from), attempt.domain_id, len(attempt.recipients))


def _attempt(who: Principal, prepared: Prepared, at: datetime, index: int) -> Message:
    outgoing = prepared.outgoing
    return Message(
        id=prepared.id,
        direction="outbound",
        message_id=outgoing.message_id,
        queue_id=None,
        domain_id=prepared.domain.id,
        domain_name=prepared.domain.name,
        mailbox_id=None,
        source="api",
        admin_id=who.admin_id,
        api_key_id=who.key_id,
        mail_from=prepared.sender.address.text,
        from_address=prepared.sender.address.text,
        to_addresses=[mailbox.address.text for mailbox in outgoing.to],
        cc_addresses=[mailbox.address.text for mailbox in outgoing.cc],
        subject=outgoing.subject,
        size=prepared.composed.size,
        status="submitting",
        created_at=at,
        recipients=[Recipient(address.text, "submitting") for address in prepared.envelope],
        tags=list(prepared.asked.tags),
        metadata=prepared.asked.metadata,
        request_id=who.request_id,
        batch_index=index,
    )


async def _begin(app: App, who: Principal, attempts: Sequence[Message]) -> None:
    try:
        async with app.db.autocommit() as conn:
            await messages.begin(conn, attempts)
    except Unavailable:
        # They may be written all the same, and nobody else ends them while we live: a retry would wait in vain.
        never = Lost("the database went away before it was submitted", "connect")
        _write_down_later(app, who, [(each, never) for each in attempts])
        raise


async def _submit_all(mta: SmtpPool, ready: Sequence[Prepared]) -> list[Result]:
    """Submit side by side; a relay that fails on every connection at once is not asked by those still waiting."""
    places = asyncio.Semaphore(mta.size)
    failures = 0

    async def one(prepared: Prepared) -> Result:
        nonlocal failures
        async with places:
            if failures >= mta.size:
                return Lost("the mail transfer agent failed for the messages before", "connect")
            result = await _submit(mta, prepared)
            failures = failures + 1 if rules.relay_trouble(result) else 0
            return result

    return await asyncio.gather(*(one(each) for each in ready))


async def _submit(mta: SmtpPool, prepared: Prepared) -> Result:
    composed = prepared.composed
    submission = Submission(
        mail_from=prepared.sender.address.text,
        rcpt_to=[address.text for address in prepared.envelope],
        size=composed.size,
        eight_bit=composed.is_8bit,
        smtputf8=composed.needs_smtputf8,
    )
    try:
        return await mta.submit(submission, composed.data_chunks(), stuffed=True)
    except (Refused, Lost) as wrong:
        return wrong
    except Exception:
        # The others of the batch are under way: what they came to must be written down.
        log.exception("a message could not be submitted", message_id=str(prepared.id))
        return Lost("it could not be written to the connection", "envelope")


async def _settle(app: App, who: Principal, results: Sequence[tuple[Message, Result]]) -> None:
    """Write down what came of the attempts; UNAVAILABLE says what is submitted, and it is tried on beside the call."""
    try:
        await _write_down(app, who, results)
    except Unavailable:
        try:
            await _write_down(app, who, results)
        except Unavailable as away:
            _write_down_later(app, who, results)
            raise rules.unwritten(results) from away


def _write_down_later(app: App, who: Principal, results: Sequence[tuple[Message, Result]]) -> None:
    task = asyncio.create_task(_keep_trying(app, who, results))
    _unwritten.add(task)
    task.add_done_callback(_unwritten.discard)


async def _keep_trying(app: App, who: Principal, results: Sequence[tuple[Message, Result]]) -> None:
    """Until it is written, or the process ends: then `jobs.reconcile` finds out."""
    while True:
        await asyncio.sleep(_PAUSE)
        try:
            await _write_down(app, who, results)
        except Unavailable:
            continue
        except Exception:
            log.exception("what came of messages was not written down", ids=[str(message.id) for message, _ in results])
        break


async def _write_down(app: App, who: Principal, results: Sequence[tuple[Message, Result]]) -> None:
    """One transaction: acceptance with its events, attempts that failed, the audit row, and the counts.

    Done again, it does nothing. What is taken back of the counts comes last, for others wait for them.
    """
    at = app.clock()
    taken = [(message, result) for message, result in results if isinstance(result, Submitted)]
    failed = [(message, result) for message, result in results if not isinstance(result, Submitted)]
    async with app.db.tx() as conn:
        unsent = await _end(conn, at, failed)
        if taken and await _accept(app, conn, at, taken):
            await audit.record(conn, who, at, deed([message for message, _ in results], len(taken)))
        await abuse.uncount(conn, [counted(message) for message in unsent])


async def _end(conn: Conn, at: datetime, failed: Sequence[tuple[Message, Refused | Lost]]) -> list[Message]:
    """Attempts that came to nothing; answers those that certainly went nowhere, and were not ended before."""
    endings = [(message, *rules.ending(result)) for message, result in failed]
    if not endings:
        return []
    ended = await messages.end_attempts(conn, at, [(message.id, status, said) for message, status, said in endings])
    return [message for message, status, _ in endings if message.id in ended and status != "unknown"]


async def _accept(app: App, conn: Conn, at: datetime, taken: Sequence[tuple[Message, Submitted]]) -> bool:
    accepted = [(message, result.queue_id or "") for message, result in taken]
    fresh = await messages.accept(conn, at, accepted, status=rules.first_status(app.settings.mta.mode))
    for message, result in taken:
        for address, reply in result.rejected.items():
            said = Reply(reply.code, reply.enhanced, reply.text, app.settings.mta.host or None)
            await messages.record_fate(conn, at, Fate(message.id, address, "bounced", 1, said))
    return bool(fresh)


def deed(sent: Sequence[Message], succeeded: int) -> Deed:
    """What the audit log keeps of a call: counts, recipients' domains and Message-IDs."""
    first = sent[0]
    same = all(message.domain_id == first.domain_id for message in sent)
    target = Target(
        "message",
        first.id if len(sent) == 1 else None,
        first.domain_id if same else None,
        first.domain_name if same else None,
    )
    towards = {recipient.address.rpartition("@")[2] for message in sent for recipient in message.recipients}
    more = {
        "messages": len(sent),
        "succeeded": succeeded,
        "recipients": sum(len(message.recipients) for message in sent),
        "recipient_domains": sorted(towards)[:50],
        "message_ids": [message.message_id for message in sent],
    }
    return Deed("message.send", target, more=more)


def _outcome(app: App, message: Message, result: Result) -> Outcome:
    if not isinstance(result, Submitted):
        return rules.not_taken(result)
    status = rules.first_status(app.settings.mta.mode)
    recipients = [
        (each.address, "bounced" if each.address in result.rejected else status) for each in message.recipients
    ]
    agreed = {status for _, status in recipients}
    return Sent(message.id, message.message_id, agreed.pop() if len(agreed) == 1 else "partial", recipients)
