"""Checks what Sieve sends, and signs its replies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from mailkeep.app import App
from mailkeep.core.address import Address, AddressError, parse_address, strip_tag
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import parse_uuid
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.mail.dovecot.sieve_spool import SpooledMessage
from mailkeep.mail.message.dkim import SigningKey, sign
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.own_fields import first_octets

_SUSPENDED, _DELETED = "sending is suspended", "the mailbox is deleted"
_MAX_FIELDS = 50
_MAX_REDIRECTS = 4  # of a message, by mailboxes here: each can redirect it ten times


class MailRefused(Exception):
    """The message must not leave; the text says why."""


@dataclass(frozen=True, slots=True)
class SignedReply:
    """`signature`: the DKIM-Signature fields, to put before the message. `copies`: recipients of other servers, by the
    domain for which they count.
    """

    signature: bytes
    copies: Mapping[str, int] = field(default_factory=dict[str, int])


async def sign_reply(app: App, reply: SpooledMessage) -> SignedReply:
    """Check and sign a reply. Raises MailRefused; UNAVAILABLE: try again later."""
    sender = await asyncio.to_thread(_read_sender, reply)
    async with app.db.autocommit() as conn:
        mailbox = await _find_mailbox(conn, reply)
        if not await _may_send(conn, mailbox, sender):
            raise MailRefused(f"{mailbox.address} may not send as {sender}")
        external = await _count_external(conn, reply)
        if external and (why := await _find_obstacle(conn, mailbox, sender)):
            raise MailRefused(why)
        keys = await _list_keys(app, conn, sender)
    signature = await asyncio.to_thread(sign, reply.content(), sender.domain, keys, app.clock())
    return SignedReply(signature, {mailbox.domain_name: external} if external else {})


async def check_redirect(conn: Conn, message: SpooledMessage) -> Mapping[str, int]:
    """The recipients of other servers of a redirected message, by the domain that forwards it.

    MailRefused for a loop or a long chain. UNAVAILABLE while the mailbox is suspended or deleted and a recipient is on
    another server: the message waits, because it may be the only copy.
    """
    mailbox_id = parse_uuid(message.mailbox_id)
    mailbox = await mailboxes.find(conn, mailbox_id) if mailbox_id else None
    if mailbox is not None:
        await _refuse_loop(conn, mailbox, await asyncio.to_thread(_list_redirects, message))
    external = await _count_external(conn, message)
    if not external:
        return {}
    if mailbox is None:
        raise Unavailable(_DELETED)
    if await abuse.is_suspended(conn, {mailbox.address}):
        raise Unavailable(_SUSPENDED)
    return {mailbox.domain_name: external}


async def _refuse_loop(conn: Conn, mailbox: Mailbox, earlier: list[Address]) -> None:
    # Pigeonhole finds a loop by the whole address, but a script can redirect to another tag each time.
    found = {name: await domains.find_by_name(conn, name) for name in {each.domain for each in earlier}}
    here = [(each, domain.plus_delimiter) for each in earlier if (domain := found.get(each.domain))]
    for address, delimiter in here:
        local_part = (strip_tag(address.local_part, delimiter) if delimiter else None) or address.local_part
        if replace(address, local_part=local_part).key == mailbox.address.key:
            raise MailRefused(f"{mailbox.address} has redirected it before")
    if len(here) >= _MAX_REDIRECTS:
        raise MailRefused(f"{len(here)} mailboxes have redirected it before")


def _list_redirects(message: SpooledMessage) -> list[Address]:
    """The mailboxes that redirected the message before this one, the last one first."""
    head = parse_head(first_octets(message.content(), MAX_HEAD))
    texts = [each.value.strip() for each in head.fields if each.name.lower() == "x-sieve-redirected-from"]
    found: list[Address] = []
    for text in texts[1:_MAX_FIELDS]:
        with suppress(AddressError):
            found.append(parse_address(text))
    return found


async def _count_external(conn: Conn, message: SpooledMessage) -> int:
    # The policy server counts the recipients of aliases and forwards here.
    routes = [await routing.route(conn, recipient) for recipient in message.recipients]
    return sum(route.decision == "not_managed" for route in routes)


def _read_sender(reply: SpooledMessage) -> Address:
    head = parse_head(first_octets(reply.content(), MAX_HEAD))
    fields = [each for each in head.fields if each.name.lower() == "from"]
    if len(fields) != 1 or len(head.senders) != 1:
        raise MailRefused("From must contain exactly one address")
    try:
        return parse_address(head.from_address)
    except AddressError as error:
        raise MailRefused(f"From is invalid: it {error.reason}") from None


async def _find_mailbox(conn: Conn, reply: SpooledMessage) -> Mailbox:
    mailbox_id = parse_uuid(reply.mailbox_id)
    mailbox = await mailboxes.find(conn, mailbox_id) if mailbox_id else None
    if mailbox is None:
        raise MailRefused(_DELETED)
    return mailbox


async def _may_send(conn: Conn, mailbox: Mailbox, sender: Address) -> bool:
    if sender.key == f"postmaster@{mailbox.domain_name}":
        return True
    return mailbox.address.key in await routing.list_sender_logins(conn, sender)


async def _find_obstacle(conn: Conn, mailbox: Mailbox, sender: Address) -> str | None:
    if await abuse.is_suspended(conn, {mailbox.address, sender}):
        return _SUSPENDED
    domain = await domains.find_by_name(conn, sender.domain)
    return None if domain and domain.sending_enabled else "sending is disabled for the domain"


async def _list_keys(app: App, conn: Conn, sender: Address) -> list[SigningKey]:
    try:
        keys = await dkim.list_signing_keys(conn, app.vault, sender.domain)
    except RuntimeError as error:
        raise Unavailable(str(error)) from None
    if not keys:
        raise Unavailable(f"{sender.domain} has no active DKIM key")
    return keys
