"""Sending what a program on this machine hands in."""

from __future__ import annotations

import asyncio
import pwd
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import MailboxSuspended, RateLimitExceeded, Refusal, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role, allow
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.sessions import rules as auth_rules
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.sending import rules as sending_rules, service as sending, writes
from mailkeep.features.mailflow.sendmail import rules
from mailkeep.features.mailflow.sendmail.model import (
    ExitCode,
    HeaderFields,
    SendmailBody,
    SendmailContent,
    SendmailError,
    SendmailOptions,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.messages import content as content_files, service as messages
from mailkeep.features.record.messages.model import DeliveryOutcome, HeaderSummary, Message, MessageDomain, ServerReply
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.message import srs
from mailkeep.mail.message.headers import MailboxAddress, date_text
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope, SmtpRefusal

log = structlog.get_logger("mailkeep.sendmail")

_LOCAL_NAMES = ("postmaster", "abuse", "mailer-daemon")
_ADDRESS = "127.0.0.1"  # of whoever calls on the Unix socket, for keys that are bound to networks
_RETRIES, _PAUSE = 5, 2.0

_unwritten: set[asyncio.Task[None]] = set()


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends: the principal, and its addresses. `own` is the account's; what counts is `use`."""

    who: Principal
    envelope: str
    author: MailboxAddress
    domain: Domain | None
    use: SendCharge


def host_of(app: App) -> str:
    """The server's host name."""
    return srs.rewriter(app.vault, app.settings).host.lower()


async def send(app: App, account: pwd.struct_passwd, asked: SendmailOptions, content: SendmailContent) -> str:
    """Send a message; returns once the MTA has it, with what to say. Raises `Rejected`."""
    try:
        return await _send(app, account, asked, content)
    except Unavailable:
        raise SendmailError(ExitCode.TEMPFAIL, "the database is not available, try again later") from None
    except Refusal as refusal:
        raise _to_error(refusal) from None


async def _send(app: App, account: pwd.struct_passwd, asked: SendmailOptions, content: SendmailContent) -> str:
    at, host = app.clock(), host_of(app)
    fields = await asyncio.to_thread(rules.read_fields, content.received.head(rules.MAX_HEAD))
    sender = await _sender(app, account, asked, fields)
    given = await asyncio.to_thread(rules.recipients, asked.recipients, fields if asked.extract else None, host)
    envelope = await _deliverable(app, given, host)
    sender = replace(sender, use=replace(sender.use, recipients=len(envelope)))
    body = rules.body_of(fields, content)
    message = uuid7(at)
    header_id = rules.message_id(fields) or f"<{message}@{sender.author.address.domain}>"
    trace = f"Received: by {host} (Mailkeep) with local id {message};\r\n\t{date_text(at)}\r\n"
    header = await asyncio.to_thread(rules.header, fields, sender.author, at, header_id, body)
    head = trace.encode() + header + b"\r\n"
    size = len(head) + content.received.size - fields.body_at
    limit = app.settings.limits.message_size_bytes
    if size > limit:
        raise SendmailError(ExitCode.UNAVAILABLE, f"the message has {size} bytes; at most {limit} are allowed")
    to = await asyncio.to_thread(_list_addresses, fields, "to")
    cc = await asyncio.to_thread(_list_addresses, fields, "cc")
    subject = await asyncio.to_thread(rules.subject, fields)
    author = sender.author.address
    recipients = [each.text for each in envelope]
    attempt = replace(
        outbound_message(
            at,
            "api" if sender.who.key_id else "smtp",
            MessageDomain(sender.domain.id if sender.domain else None, author.domain),
            HeaderSummary(header_id, author.text, to or ([] if cc else recipients), cc, subject, size),
            sender.envelope,
            recipients,
        ),
        id=message,
        admin_id=sender.who.admin_id,
        api_key_id=sender.who.key_id,
    )
    await _charge_forwards(app, at, message, envelope)
    (refusal,) = await abuse.count(app, sender.who, at, [sender.use])
    if refusal is not None:
        async with app.db.autocommit() as conn:
            await abuse.uncount_forwards(conn, [str(message)])
        raise _to_error(refusal)
    return await _hand_over(app, sender, attempt, (head, body))


async def _charge_forwards(app: App, at: datetime, message: UUID, envelope: Sequence[Address]) -> None:
    """Count what aliases and forwards of managed domains lead outside, as for the API's messages."""
    async with app.db.autocommit() as conn:
        found = await abuse.external_copies(conn, envelope)
    limit = app.settings.limits.external_expansion
    if beyond := abuse.find_over_limit(found, limit):
        reason = f"{beyond.address} leads to more than {limit} addresses outside"
        raise SendmailError(ExitCode.UNAVAILABLE, f"{reason} (limits.external_expansion)")
    if found and (refusal := await abuse.charge_forwards(app, at, str(message), abuse.copies_by_domain(found))):
        raise _to_error(refusal)


def _list_addresses(fields: HeaderFields, name: str) -> list[str]:
    return [each for value in rules.values(fields, name) for each in rules.addresses_in(value)]


async def _hand_over(app: App, sender: Sender, attempt: Message, content: tuple[bytes, SendmailBody]) -> str:
    head, body = content
    async with app.db.autocommit() as conn:
        await messages.insert_messages(conn, [attempt])
    smtputf8 = not (sender.envelope + "".join(each.address for each in attempt.recipients)).isascii()
    eight_bit = (body.content.is_8bit and not body.encode) or not head.isascii()
    to = [each.address for each in attempt.recipients]
    submission = OutgoingEnvelope(sender.envelope, to, None, eight_bit, smtputf8 or not head.isascii())
    chunks = chain((head,), rules.body_chunks(body))
    result = await sending.submit(app, sender.domain.name if sender.domain else None, submission, chunks)
    if isinstance(result, AcceptedSubmission) and app.settings.mta.mode != "sandbox":  # that keeps what it signed
        kept = [(attempt.id, chain((head,), rules.body_chunks(body)))]
        await asyncio.to_thread(content_files.save_contents, app.data_dir, kept)
    await _settle(app, sender, attempt, result)
    if isinstance(result, AcceptedSubmission):
        rejected = ", ".join(f"{each}: {reply}" for each, reply in result.rejected.items())
        return f"not accepted for {rejected}" if rejected else ""
    raise _submission_error(result)


async def _sender(app: App, account: pwd.struct_passwd, asked: SendmailOptions, fields: HeaderFields) -> Sender:
    """Who sends this, or `Rejected`: envelope sender and From are each checked."""
    host, author = host_of(app), await asyncio.to_thread(rules.author, fields)
    given = rules.address(rules.qualify(asked.sender, host), "-f") if asked.sender else None
    wanted = _RequestedSenders(author and author.address, given, asked.sender == "")
    if asked.key is not None:
        sender = await _by_key(app, asked.key, wanted)
    else:
        sender = await _by_account(app, account, wanted)
    name = author.name if author else asked.name
    if not (author or name or asked.key):
        name = _full_name(account)
    return replace(sender, author=MailboxAddress(sender.author.address, rules.plain_name(name)))


@dataclass(frozen=True, slots=True)
class _RequestedSenders:
    """The senders that a message names: of From, of the envelope, and whether that is to be empty."""

    author: Address | None
    given: Address | None
    is_null: bool


async def _by_key(app: App, key: str, wanted: _RequestedSenders) -> Sender:
    who = await _key(app, key)
    allow(who, "send")
    first = wanted.author or wanted.given
    if first is None:
        raise SendmailError(ExitCode.USAGE, "with an API key, From or -f is required")
    envelope = None if wanted.is_null else wanted.given or first
    domain = await _find_managed(app, first)
    if envelope and envelope.domain != first.domain:
        await _find_managed(app, envelope)
    await sending.refuse_senders(app, who, [first, envelope or first])
    return Sender(
        who, envelope.text if envelope else "", MailboxAddress(first), domain, SendCharge(first, domain.id, 1)
    )


async def _key(app: App, raw: str) -> Principal:
    """Who sends with an API key. API_KEY_INVALID, RATE_LIMIT_EXCEEDED."""
    networks = app.settings.auth.allowed_networks
    async with app.db.autocommit() as conn:
        key = await api_keys.authenticate(conn, raw, app.clock(), _ADDRESS, count=True)
    if key.rate and not key.rate.accepted:
        raise RateLimitExceeded(
            f"The API key may make {key.rate_limit} requests in 60 seconds; the next is accepted in {key.rate.wait} s.",
            retry_after=key.rate.wait,
        )
    return Principal(
        admin_id=key.admin_id,
        label=key.name,
        role=key.role,
        actor=ActorType.API_KEY,
        assigned=key.assigned,
        scope=key.scope,
        blocked_by=auth_rules.network_block(_ADDRESS, networks, key.allowed_networks)
        or auth_rules.second_factor_block(key.role, key.second_factor, app.settings.auth.require_second_factor),
        key_id=key.id,
        ip_address=_ADDRESS,
    )


async def _by_account(app: App, account: pwd.struct_passwd, wanted: _RequestedSenders) -> Sender:
    host = host_of(app)
    own = _own(account, host)
    if own is None:
        raise SendmailError(ExitCode.NOPERM, f"the account name {account.pw_name!r} is no local part of an address")
    first = wanted.author or wanted.given or own
    envelope = None if wanted.is_null else wanted.given or own
    allowed = rules.senders_of(account.pw_name, app.settings.sendmail.allowed)
    for each in (first, envelope or own):
        if not rules.may_send(each, own, allowed):
            raise SendmailError(
                ExitCode.NOPERM,
                f"the account {account.pw_name} may not send as {each}: use {own}, an API key (--key-file), or the "
                "setting sendmail.allowed",
            )
    who = Principal(None, f"account {account.pw_name}", Role.DOMAIN_ADMIN, ActorType.SYSTEM)
    domain = await _domain(app, first, host)
    home = await _domain(app, own, host)
    use = SendCharge(own, home.id if home else None, 1, written=first)
    return Sender(who, envelope.text if envelope else "", MailboxAddress(first), domain, use)


def _own(account: pwd.struct_passwd, host: str) -> Address | None:
    try:
        return parse_address(f"{account.pw_name}@{host}")
    except AddressError:
        return None


def _full_name(account: pwd.struct_passwd) -> str:
    return account.pw_gecos.partition(",")[0].replace("&", account.pw_name.capitalize())


async def _domain(app: App, address: Address, host: str) -> Domain | None:
    """The sender's domain; None for the host name where that is no managed domain."""
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, address.domain)
    if domain is None:
        if address.domain == host:
            return None
        raise SendmailError(ExitCode.NOPERM, f"{address.domain} is not a domain of this server")
    if not domain.active:
        raise SendmailError(ExitCode.TEMPFAIL, f"the domain {domain.name} is deactivated")
    if not domain.sending_enabled:
        raise SendmailError(ExitCode.NOPERM, f"sending is disabled for {domain.name}")
    return domain


async def _find_managed(app: App, address: Address) -> Domain:
    domain = await _domain(app, address, "")
    assert domain is not None
    return domain


async def _deliverable(app: App, given: Sequence[Address], host: str) -> list[Address]:
    """The recipients; an account of this machine has no mailbox, its mail goes to the administrators."""
    if all(each.domain != host for each in given):
        return list(given)
    async with app.db.autocommit() as conn:
        if await domains.find_by_name(conn, host) is not None:
            return list(given)
    postmaster = rules.address(f"postmaster@{host}", "recipient")
    found: dict[str, Address] = {}
    for each in given:
        if each.domain == host:
            if each.local_part.lower() not in _LOCAL_NAMES and not _is_account(each.local_part):
                raise SendmailError(ExitCode.NOUSER, f"{each}: no such account on this machine")
            found[postmaster.key] = postmaster
        else:
            found[each.key] = each
    return list(found.values())


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):
        return False
    return True


async def _settle(
    app: App, sender: Sender, attempt: Message, result: AcceptedSubmission | SmtpRefusal | ConnectionLost
) -> None:
    """Write down what came of the attempt. What the MTA has is sent, whether or not this succeeds: it is tried on."""
    try:
        await _write_down(app, sender, attempt, result)
    except Unavailable:
        task = asyncio.create_task(_keep_trying(app, sender, attempt, result))
        _unwritten.add(task)
        task.add_done_callback(_unwritten.discard)


async def _keep_trying(
    app: App, sender: Sender, attempt: Message, result: AcceptedSubmission | SmtpRefusal | ConnectionLost
) -> None:
    for _ in range(_RETRIES):
        await asyncio.sleep(_PAUSE)
        try:
            await _write_down(app, sender, attempt, result)
        except Unavailable:
            continue
        return
    log.error("the outcome of a message was not written down", id=str(attempt.id))


async def _write_down(
    app: App, sender: Sender, attempt: Message, result: AcceptedSubmission | SmtpRefusal | ConnectionLost
) -> None:
    at = app.clock()
    async with app.db.tx() as conn:
        if isinstance(result, AcceptedSubmission):
            status = sending_rules.first_status(app.settings.mta.mode)
            await messages.accept(conn, at, [(attempt, result.queue_id or "")], status=status)
            for address, said in result.rejected.items():
                reply = ServerReply(said.code, said.enhanced, said.text, None)
                await messages.record_outcome(conn, at, DeliveryOutcome(attempt.id, address, "bounced", 1, reply))
            if sender.who.key_id:
                await audit.record(conn, sender.who, at, writes.send_action([attempt], 1))
        else:
            status, said = sending_rules.failure_status(result)
            ended = await messages.end_submissions(conn, at, [(attempt.id, status, said)])
            if ended and status != "unknown":
                await abuse.uncount_forwards(conn, [str(attempt.id)])
                await abuse.uncount(conn, [(attempt.created_at, sender.use)])
    if isinstance(result, AcceptedSubmission):
        app.counters.add("messages_accepted", "outbound", attempt.source)


def _to_error(refusal: Refusal) -> SendmailError:
    if isinstance(refusal, MailboxSuspended):
        return SendmailError(ExitCode.NOPERM, refusal.message)
    if isinstance(refusal, RateLimitExceeded):
        permanent = (refusal.details or {}).get("reason") == "message_above_threshold"
        return SendmailError(ExitCode.NOPERM if permanent else ExitCode.TEMPFAIL, refusal.message)
    code = ExitCode.NOPERM if refusal.status in (401, 403) else ExitCode.DATAERR
    return SendmailError(code if refusal.status < 500 else ExitCode.TEMPFAIL, refusal.message)


def _submission_error(result: SmtpRefusal | ConnectionLost) -> SendmailError:
    if isinstance(result, ConnectionLost):
        return SendmailError(ExitCode.TEMPFAIL, f"the mail transfer agent did not accept the message: {result.why}")
    if not result.permanent:
        return SendmailError(
            ExitCode.TEMPFAIL, f"the mail transfer agent did not accept the message yet: {result.reply}"
        )
    unknown = result.reply.enhanced.startswith("5.1.")
    return SendmailError(
        ExitCode.NOUSER if unknown else ExitCode.UNAVAILABLE, f"the message was refused: {result.reply}"
    )
