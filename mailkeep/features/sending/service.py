"""Sending messages: check, write the attempt, submit, write what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from mailkeep.app import App
from mailkeep.core.address import Address, parse_address
from mailkeep.core.errors import Refusal, SendFailed, SendUnavailable
from mailkeep.core.principal import Principal, allow_on
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

_IN_THREAD = 1 << 20  # bytes of attachments above which checking and composing leaves the event loop free

Outcome = Sent | Refusal


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
    attempts = {each.id: _attempt(who, each, at) for each in ready}
    if app.mta is None:
        async with app.db.autocommit() as conn:
            await abuse.uncount(conn, [counted(each) for each in attempts.values()])
        raise SendUnavailable
    async with app.db.tx() as conn:
        await messages.begin(conn, list(attempts.values()))
    submitted = await asyncio.gather(*(_submit(app.mta, each) for each in ready))
    results = dict(zip((each.id for each in ready), submitted, strict=True))
    await _settle(app, who, [(attempts[each.id], results[each.id]) for each in ready])
    return [
        each if isinstance(each, Refusal) else _outcome(app, attempts[each.id], results[each.id]) for each in prepared
    ]


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


def _attempt(who: Principal, prepared: Prepared, at: datetime) -> Message:
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
    )


async def _submit(mta: SmtpPool, prepared: Prepared) -> Submitted | Refused | Lost:
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


async def _settle(app: App, who: Principal, results: Sequence[tuple[Message, Submitted | Refused | Lost]]) -> None:
    """One transaction: acceptance with its events, attempts that failed, and the audit row of the call."""
    at = app.clock()
    status = "relayed" if app.settings.mta.mode == "smtp" else "queued"
    taken = [(message, result) for message, result in results if isinstance(result, Submitted)]
    failed = [(message, result) for message, result in results if not isinstance(result, Submitted)]
    async with app.db.tx() as conn:
        if taken:
            await messages.accept(
                conn, at, [(message, result.queue_id or "") for message, result in taken], status=status
            )
        for message, result in taken:
            for address, reply in result.rejected.items():
                said = Reply(reply.code, reply.enhanced, reply.text, app.settings.mta.host or None)
                await messages.record_fate(conn, at, Fate(message.id, address, "bounced", 1, said))
        if failed:
            await messages.end_attempts(conn, at, [(message.id, *_ending(result)) for message, result in failed])
        if taken:
            await audit.record(conn, who, at, _deed([message for message, _ in results], len(taken)))
        unsent = [message for message, result in failed if _ending(result)[0] != "unknown"]
        await abuse.uncount(conn, [counted(message) for message in unsent])


def _ending(result: Refused | Lost) -> tuple[str, str]:
    if isinstance(result, Refused):
        return "failed", str(result.reply)
    return ("unknown" if result.submitted == "unknown" else "lost"), str(result)


def _deed(sent: Sequence[Message], succeeded: int) -> Deed:
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


def _outcome(app: App, message: Message, result: Submitted | Refused | Lost) -> Outcome:
    if isinstance(result, Submitted):
        status = "relayed" if app.settings.mta.mode == "smtp" else "queued"
        recipients = [
            (each.address, "bounced" if each.address in result.rejected else status) for each in message.recipients
        ]
        agreed = {status for _, status in recipients}
        return Sent(message.id, message.message_id, agreed.pop() if len(agreed) == 1 else "partial", recipients)
    if isinstance(result, Refused):
        return SendFailed(
            f"The mail transfer agent refused the message: {result.reply}",
            submitted="no",
            smtp_code=result.reply.code,
            enhanced_code=result.reply.enhanced,
            diagnostic=result.reply.text,
        )
    return SendFailed("The mail transfer agent could not be reached or was lost.", submitted=result.submitted)
