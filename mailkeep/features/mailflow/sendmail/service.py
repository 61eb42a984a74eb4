"""Sends messages of programs on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import pwd
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import MailboxSuspended, RateLimitExceeded, Refusal, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role, allow
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.sending import service as sending, writes
from mailkeep.features.mailflow.sending.model import SendAttempt
from mailkeep.features.mailflow.sendmail import rules
from mailkeep.features.mailflow.sendmail.model import (
    ExitCode,
    HeaderFields,
    SendmailBody,
    SendmailContent,
    SendmailError,
    SendmailOptions,
)
from mailkeep.features.record.messages import content as content_files
from mailkeep.features.record.messages.model import HeaderSummary, MessageDomain
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.message import srs
from mailkeep.mail.message.headers import MailboxAddress, date_text
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope, SmtpRefusal

_LOCAL_NAMES = ("postmaster", "abuse", "mailer-daemon")  # like accounts of this machine, they get local mail
_CLIENT_ADDRESS = "127.0.0.1"  # of the programs on the Unix socket, for keys that are limited to networks


@dataclass(frozen=True, slots=True)
class Sender:
    """The principal that sends, its addresses, and what is counted. `envelope`: the envelope sender, empty for the null
    sender; `author`: From; `domain`: of the author, None for a host name that is not a managed domain.
    """

    who: Principal
    envelope: str
    author: MailboxAddress
    domain: Domain | None
    charge: SendCharge


def _host_name(app: App) -> str:
    return srs.rewriter(app.vault, app.settings).host.lower()


async def send(app: App, account: pwd.struct_passwd, options: SendmailOptions, content: SendmailContent) -> str:
    """Send a message; returns after the MTA's 250, with a text for standard error: the recipients that the MTA did not
    accept, or an empty string. Raises `SendmailError`.
    """
    try:
        return await _send(app, account, options, content)
    except Unavailable:
        raise SendmailError(ExitCode.TEMPFAIL, "the server's database is not available, try again later") from None
    except Refusal as refusal:
        raise _to_error(refusal) from None


async def _send(app: App, account: pwd.struct_passwd, options: SendmailOptions, content: SendmailContent) -> str:
    at, host = app.clock(), _host_name(app)
    fields = await asyncio.to_thread(rules.read_fields, content.received.head(rules.MAX_HEAD))
    sender = await _check_sender(app, account, options, fields)
    header_fields = fields if options.extract else None
    addressees = await asyncio.to_thread(rules.list_recipients, options.recipients, header_fields, host)
    envelope = await _route_accounts(app, addressees, host)
    body = rules.find_body(fields, content)
    message_id = uuid7(at)
    header_id = rules.read_message_id(fields) or f"<{message_id}@{sender.author.address.domain}>"
    trace = f"Received: by {host} (Mailkeep) with local id {message_id};\r\n\t{date_text(at)}\r\n"
    header = await asyncio.to_thread(rules.compose_header, fields, sender.author, at, header_id, body)
    head = trace.encode() + header + b"\r\n"
    size = len(head) + content.received.size - fields.body_offset
    limit = app.settings.limits.message_size_bytes
    if size > limit:
        reason = f"the message has {size} bytes; at most {limit} are allowed (setting limits.message_size_mb)"
        raise SendmailError(ExitCode.UNAVAILABLE, reason)
    to = await asyncio.to_thread(rules.list_addresses, fields, "to")
    cc = await asyncio.to_thread(rules.list_addresses, fields, "cc")
    subject = await asyncio.to_thread(rules.read_subject, fields)
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
        id=message_id,
        admin_id=sender.who.admin_id,
        api_key_id=sender.who.key_id,
    )
    await _charge_forwards(app, at, message_id, envelope)
    charge = replace(sender.charge, recipients=len(envelope))
    refusals = await writes.begin(app, sender.who, at, [SendAttempt(attempt, charge)])
    if refusals:
        async with app.db.autocommit() as conn:
            await abuse.uncount_forwards(conn, [str(message_id)])
        raise refusals[message_id]
    return await _submit(app, sender, SendAttempt(attempt, charge), (head, body))


async def _charge_forwards(app: App, at: datetime, message_id: UUID, envelope: Sequence[Address]) -> None:
    """Count the external copies of aliases and forwards, as for messages of the API."""
    async with app.db.autocommit() as conn:
        copies = await abuse.external_copies(conn, envelope)
    limit = app.settings.limits.external_expansion
    if recipient := abuse.find_over_limit(copies, limit):
        reason = f"{recipient.address} forwards the message to more than {limit} external recipients"
        raise SendmailError(ExitCode.UNAVAILABLE, f"{reason} (setting limits.external_expansion)")
    if copies and (refusal := await abuse.charge_forwards(app, at, str(message_id), abuse.copies_by_domain(copies))):
        raise refusal


async def _submit(app: App, sender: Sender, attempt: SendAttempt, content: tuple[bytes, SendmailBody]) -> str:
    head, body = content
    recipients = [each.address for each in attempt.message.recipients]
    is_8bit = (body.content.is_8bit and not body.encode) or not head.isascii()
    needs_smtputf8 = not (sender.envelope + "".join(recipients)).isascii() or not head.isascii()
    submission = OutgoingEnvelope(sender.envelope, recipients, None, is_8bit, needs_smtputf8)
    chunks = chain((head,), rules.body_chunks(body))
    result = await sending.submit(app, sender.domain.name if sender.domain else None, submission, chunks)
    # The sandbox stores the signed content itself.
    if isinstance(result, AcceptedSubmission) and app.settings.mta.mode != "sandbox":
        contents = [(attempt.message.id, chain((head,), rules.body_chunks(body)))]
        await asyncio.to_thread(content_files.save_contents, app.data_dir, contents)
    with contextlib.suppress(Unavailable):  # the exit code says what the MTA answered; recording is retried later
        await writes.record_results(app, sender.who if sender.who.key_id else None, [(attempt, result)])
    if isinstance(result, AcceptedSubmission):
        rejected = ", ".join(f"{each}: {reply}" for each, reply in result.rejected.items())
        return f"sent, but not to these recipients: {rejected}" if rejected else ""
    raise _submission_error(result)


async def _check_sender(app: App, account: pwd.struct_passwd, options: SendmailOptions, fields: HeaderFields) -> Sender:
    """The sender of a message; checks the envelope sender and From. Raises `SendmailError`."""
    host, author = _host_name(app), await asyncio.to_thread(rules.read_author, fields)
    envelope = rules.check_address(rules.qualify(options.sender, host), "-f") if options.sender else None
    requested = _RequestedSenders(author and author.address, envelope, options.sender == "")
    if options.key is not None:
        sender = await _sender_with_key(app, options.key, requested)
    else:
        sender = await _sender_with_account(app, account, requested)
    name = author.name if author else options.name
    if not (author or name or options.key):
        name = _full_name(account)
    return replace(sender, author=MailboxAddress(sender.author.address, rules.clean_name(name)))


@dataclass(frozen=True, slots=True)
class _RequestedSenders:
    """The senders that a message names: `author` in From, `envelope` in `-f`; `is_null`: `-f` is the null sender."""

    author: Address | None
    envelope: Address | None
    is_null: bool


async def _sender_with_key(app: App, key: str, requested: _RequestedSenders) -> Sender:
    who = await _authenticate(app, key)
    allow(who, "send")
    author = requested.author or requested.envelope
    if author is None:
        raise SendmailError(ExitCode.USAGE, "a message sent with --key-file needs a From field or the option -f")
    envelope = None if requested.is_null else requested.envelope or author
    domain = await _find_managed(app, author)
    if envelope and envelope.domain != author.domain:
        await _find_managed(app, envelope)
    await sending.refuse_senders(app, who, [author, envelope or author])
    return Sender(
        who, envelope.text if envelope else "", MailboxAddress(author), domain, SendCharge(author, domain.id, 1)
    )


async def _authenticate(app: App, raw: str) -> Principal:
    """The principal of an API key. API_KEY_INVALID, RATE_LIMIT_EXCEEDED."""
    async with app.db.autocommit() as conn:
        key = await api_keys.authenticate(conn, raw, app.clock(), _CLIENT_ADDRESS, count=True)
    sessions.refuse_over_rate(key)
    return sessions.key_principal(app, key, _CLIENT_ADDRESS)


async def _sender_with_account(app: App, account: pwd.struct_passwd, requested: _RequestedSenders) -> Sender:
    host = _host_name(app)
    try:
        own = parse_address(f"{account.pw_name}@{host}")
    except AddressError as error:
        reason = f"the account {account.pw_name!r} has no valid address ({error.reason}): use an API key (--key-file)"
        raise SendmailError(ExitCode.NOPERM, reason) from None
    author = requested.author or requested.envelope or own
    envelope = None if requested.is_null else requested.envelope or own
    allowed = app.settings.sendmail.allowed.get(account.pw_name, ())
    for each in (author, envelope or own):
        if not rules.may_send(each, own, allowed):
            raise SendmailError(
                ExitCode.NOPERM,
                f"the account {account.pw_name} may not send as {each}: use {own}, an API key (--key-file), or the "
                "setting sendmail.allowed",
            )
    who = Principal(None, f"account {account.pw_name}", Role.DOMAIN_ADMIN, ActorType.SYSTEM)
    domain = await _find_domain(app, author, host)
    own_domain = await _find_domain(app, own, host)
    charge = SendCharge(own, own_domain.id if own_domain else None, 1, written=author)
    return Sender(who, envelope.text if envelope else "", MailboxAddress(author), domain, charge)


def _full_name(account: pwd.struct_passwd) -> str:
    """The full name in the GECOS field, in which `&` stands for the account name (passwd(5))."""
    return account.pw_gecos.partition(",")[0].replace("&", account.pw_name.capitalize())


async def _find_domain(app: App, address: Address, host: str) -> Domain | None:
    """The sender's domain; None for the host name if that is not a managed domain. EX_NOPERM if the domain is not of
    this server or may not send, EX_TEMPFAIL if it is inactive.
    """
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, address.domain)
    if domain is None:
        if address.domain == host:
            return None
        reason = f"the sender {address} is not in a domain of this server: use another -f or From, or add the domain"
        raise SendmailError(ExitCode.NOPERM, reason)
    if not domain.active:
        raise SendmailError(ExitCode.TEMPFAIL, f"the sender's domain {domain.name} is inactive")
    if not domain.sending_enabled:
        raise SendmailError(ExitCode.NOPERM, f"sending is disabled for the sender's domain {domain.name}")
    return domain


async def _find_managed(app: App, address: Address) -> Domain:
    domain = await _find_domain(app, address, "")
    assert domain is not None
    return domain


async def _route_accounts(app: App, recipients: Sequence[Address], host: str) -> list[Address]:
    """Replace recipients at the host name by its postmaster unless the host name is a managed domain: accounts of this
    machine have no mailbox, and mail for the postmaster reaches the administrators. EX_NOUSER for an unknown account.
    """
    if all(each.domain != host for each in recipients):
        return list(recipients)
    async with app.db.autocommit() as conn:
        if await domains.find_by_name(conn, host) is not None:
            return list(recipients)
    postmaster = rules.check_address(f"postmaster@{host}", "recipient")
    routed: dict[str, Address] = {}
    for each in recipients:
        if each.domain == host:
            if each.local_part.lower() not in _LOCAL_NAMES and not _is_account(each.local_part):
                raise SendmailError(ExitCode.NOUSER, f"recipient {each}: this machine has no account {each.local_part}")
            routed[postmaster.key] = postmaster
        else:
            routed[each.key] = each
    return list(routed.values())


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):
        return False
    return True


def _to_error(refusal: Refusal) -> SendmailError:
    if isinstance(refusal, MailboxSuspended | RateLimitExceeded):
        return SendmailError(ExitCode.NOPERM if abuse.is_permanent(refusal) else ExitCode.TEMPFAIL, refusal.message)
    code = ExitCode.NOPERM if refusal.status in (401, 403) else ExitCode.DATAERR
    return SendmailError(code if refusal.status < 500 else ExitCode.TEMPFAIL, refusal.message)


def _submission_error(result: SmtpRefusal | ConnectionLost) -> SendmailError:
    if isinstance(result, ConnectionLost):
        advice = "try again later" if result.submitted == "no" else "it may have been sent: check before you repeat it"
        reason = f"the connection to the mail transfer agent was lost ({result.why}); {advice}"
        return SendmailError(ExitCode.TEMPFAIL, reason)
    if not result.permanent:
        reason = f"the mail transfer agent refused the message temporarily ({result.reply}); try again later"
        return SendmailError(ExitCode.TEMPFAIL, reason)
    code = ExitCode.NOUSER if result.reply.enhanced.startswith("5.1.") else ExitCode.UNAVAILABLE
    return SendmailError(code, f"the mail transfer agent refused the message: {result.reply}")
