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
from mailkeep.features.access.sessions import rules as auth_rules
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

_LOCAL_NAMES = ("postmaster", "abuse", "mailer-daemon")
_ADDRESS = "127.0.0.1"  # of clients on the Unix socket, for keys that are limited to networks


@dataclass(frozen=True, slots=True)
class Sender:
    """The principal that sends, its addresses, and what is counted. `domain` is None for an unmanaged host name."""

    who: Principal
    envelope: str
    author: MailboxAddress
    domain: Domain | None
    charge: SendCharge


def host_of(app: App) -> str:
    """The server's host name."""
    return srs.rewriter(app.vault, app.settings).host.lower()


async def send(app: App, account: pwd.struct_passwd, options: SendmailOptions, content: SendmailContent) -> str:
    """Send a message; returns after the MTA's 250, with the text for standard error. Raises `SendmailError`."""
    try:
        return await _send(app, account, options, content)
    except Unavailable:
        raise SendmailError(ExitCode.TEMPFAIL, "the database is not available, try again later") from None
    except Refusal as refusal:
        raise _to_error(refusal) from None


async def _send(app: App, account: pwd.struct_passwd, options: SendmailOptions, content: SendmailContent) -> str:
    at, host = app.clock(), host_of(app)
    fields = await asyncio.to_thread(rules.read_fields, content.received.head(rules.MAX_HEAD))
    sender = await _sender(app, account, options, fields)
    named = await asyncio.to_thread(rules.recipients, options.recipients, fields if options.extract else None, host)
    envelope = await _route_accounts(app, named, host)
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
    charge = replace(sender.charge, recipients=len(envelope))
    refused = await writes.begin(app, sender.who, at, [SendAttempt(attempt, charge)])
    if refused:
        async with app.db.autocommit() as conn:
            await abuse.uncount_forwards(conn, [str(message)])
        raise refused[message]
    return await _submit(app, sender, SendAttempt(attempt, charge), (head, body))


async def _charge_forwards(app: App, at: datetime, message: UUID, envelope: Sequence[Address]) -> None:
    """Count the external copies of aliases and forwards, as for messages of the API."""
    async with app.db.autocommit() as conn:
        found = await abuse.external_copies(conn, envelope)
    limit = app.settings.limits.external_expansion
    if beyond := abuse.find_over_limit(found, limit):
        reason = f"{beyond.address} forwards the message to more than {limit} external recipients"
        raise SendmailError(ExitCode.UNAVAILABLE, f"{reason} (setting limits.external_expansion)")
    if found and (refusal := await abuse.charge_forwards(app, at, str(message), abuse.copies_by_domain(found))):
        raise refusal


def _list_addresses(fields: HeaderFields, name: str) -> list[str]:
    return [each for value in rules.values(fields, name) for each in rules.addresses_in(value)]


async def _submit(app: App, sender: Sender, attempt: SendAttempt, content: tuple[bytes, SendmailBody]) -> str:
    head, body = content
    recipients = [each.address for each in attempt.message.recipients]
    smtputf8 = not (sender.envelope + "".join(recipients)).isascii()
    eight_bit = (body.content.is_8bit and not body.encode) or not head.isascii()
    submission = OutgoingEnvelope(sender.envelope, recipients, None, eight_bit, smtputf8 or not head.isascii())
    chunks = chain((head,), rules.body_chunks(body))
    result = await sending.submit(app, sender.domain.name if sender.domain else None, submission, chunks)
    if isinstance(result, AcceptedSubmission) and app.settings.mta.mode != "sandbox":  # which stores signed content
        contents = [(attempt.message.id, chain((head,), rules.body_chunks(body)))]
        await asyncio.to_thread(content_files.save_contents, app.data_dir, contents)
    with contextlib.suppress(Unavailable):  # the exit code is the MTA's answer; recording is retried
        await writes.record_results(app, sender.who if sender.who.key_id else None, [(attempt, result)])
    if isinstance(result, AcceptedSubmission):
        rejected = ", ".join(f"{each}: {reply}" for each, reply in result.rejected.items())
        return f"not accepted for {rejected}" if rejected else ""
    raise _submission_error(result)


async def _sender(app: App, account: pwd.struct_passwd, options: SendmailOptions, fields: HeaderFields) -> Sender:
    """The sender of a message; checks the envelope sender and From. Raises `SendmailError`."""
    host, author = host_of(app), await asyncio.to_thread(rules.author, fields)
    envelope = rules.address(rules.qualify(options.sender, host), "-f") if options.sender else None
    requested = _RequestedSenders(author and author.address, envelope, options.sender == "")
    if options.key is not None:
        sender = await _check_key(app, options.key, requested)
    else:
        sender = await _check_account(app, account, requested)
    name = author.name if author else options.name
    if not (author or name or options.key):
        name = _full_name(account)
    return replace(sender, author=MailboxAddress(sender.author.address, rules.plain_name(name)))


@dataclass(frozen=True, slots=True)
class _RequestedSenders:
    """The senders that a message names: From, `-f`, and whether `-f` is the null sender."""

    author: Address | None
    envelope: Address | None
    is_null: bool


async def _check_key(app: App, key: str, requested: _RequestedSenders) -> Sender:
    who = await _authenticate(app, key)
    allow(who, "send")
    author = requested.author or requested.envelope
    if author is None:
        raise SendmailError(ExitCode.USAGE, "with an API key, From or -f is required")
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


async def _check_account(app: App, account: pwd.struct_passwd, requested: _RequestedSenders) -> Sender:
    host = host_of(app)
    own = _own(account, host)
    if own is None:
        raise SendmailError(
            ExitCode.NOPERM, f"the account name {account.pw_name!r} can't be the local part of an address"
        )
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
    domain = await _domain(app, author, host)
    home = await _domain(app, own, host)
    charge = SendCharge(own, home.id if home else None, 1, written=author)
    return Sender(who, envelope.text if envelope else "", MailboxAddress(author), domain, charge)


def _own(account: pwd.struct_passwd, host: str) -> Address | None:
    try:
        return parse_address(f"{account.pw_name}@{host}")
    except AddressError:
        return None


def _full_name(account: pwd.struct_passwd) -> str:
    return account.pw_gecos.partition(",")[0].replace("&", account.pw_name.capitalize())


async def _domain(app: App, address: Address, host: str) -> Domain | None:
    """The sender's domain; None for the host name if that is not a managed domain."""
    async with app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, address.domain)
    if domain is None:
        if address.domain == host:
            return None
        raise SendmailError(ExitCode.NOPERM, f"{address.domain} is not a domain of this server")
    if not domain.active:
        raise SendmailError(ExitCode.TEMPFAIL, f"the domain {domain.name} is inactive")
    if not domain.sending_enabled:
        raise SendmailError(ExitCode.NOPERM, f"sending is disabled for {domain.name}")
    return domain


async def _find_managed(app: App, address: Address) -> Domain:
    domain = await _domain(app, address, "")
    assert domain is not None
    return domain


async def _route_accounts(app: App, recipients: Sequence[Address], host: str) -> list[Address]:
    """Replace accounts of this machine, which have no mailbox, by the address of its administrators."""
    if all(each.domain != host for each in recipients):
        return list(recipients)
    async with app.db.autocommit() as conn:
        if await domains.find_by_name(conn, host) is not None:
            return list(recipients)
    postmaster = rules.address(f"postmaster@{host}", "recipient")
    routed: dict[str, Address] = {}
    for each in recipients:
        if each.domain == host:
            if each.local_part.lower() not in _LOCAL_NAMES and not _is_account(each.local_part):
                raise SendmailError(ExitCode.NOUSER, f"{each}: no such account on this machine")
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
        return SendmailError(ExitCode.TEMPFAIL, f"the mail transfer agent did not accept the message: {result.why}")
    if not result.permanent:
        return SendmailError(
            ExitCode.TEMPFAIL, f"the mail transfer agent did not accept the message yet: {result.reply}"
        )
    unknown = result.reply.enhanced.startswith("5.1.")
    return SendmailError(
        ExitCode.NOUSER if unknown else ExitCode.UNAVAILABLE, f"the message was refused: {result.reply}"
    )
