"""Queue mail of Mailkeep itself, and hand it to the worker that sends it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from mailkeep.core.address import Address
from mailkeep.core.clock import iso
from mailkeep.core.errors import RateLimitExceeded
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.record.system_mail import store
from mailkeep.features.record.system_mail.model import (
    SuperAdminNotice,
    SystemMail,
    SystemMailItem,
    SystemMailKind,
)

_RETENTION = timedelta(days=1)


async def notify_super_admins(conn: Conn, who: Principal, at: datetime, notice: SuperAdminNotice) -> None:
    """Queue mail to all super_admins about what `who` has changed. It leaves after the commit of the caller's
    transaction, and only then.
    """
    recipients = {*await store.list_super_admins(conn), *notice.also}.difference(notice.without)
    if recipients:
        caller = {
            "at": iso(at),
            "actor_type": who.actor.value,
            "actor": who.label,
            "key_id": str(who.key_id) if who.key_id else None,
            "ip_address": who.ip_address,
        }
        await store.queue(conn, at, notice.kind, sorted(recipients), {**notice.item, **caller})


async def notify_owner(conn: Conn, at: datetime, kind: SystemMailKind, address: str, item: SystemMailItem) -> None:
    """Send mail to the owner of a mailbox after the commit of the caller's transaction. A caller that notifies several
    owners does so in the order of their addresses, which are locked.
    """
    await store.queue(conn, at, kind, [address], {**item, "at": iso(at)})


async def notify_owners(
    conn: Conn, at: datetime, kind: SystemMailKind, items: Sequence[tuple[str, SystemMailItem]]
) -> None:
    """As `notify_owner`, for many owners, each with an address and an item. One statement, in any order."""
    if items:
        await store.queue_items(conn, at, kind, [(address, {**item, "at": iso(at)}) for address, item in items])


async def notify(
    conn: Conn, at: datetime, kind: SystemMailKind, recipients: Sequence[str], item: SystemMailItem
) -> None:
    """Send mail to administrators after the commit of the caller's transaction."""
    if recipients:
        await store.queue(conn, at, kind, sorted(recipients), {**item, "at": iso(at)})


async def send_invitation(conn: Conn, at: datetime, recipient: Address, domain: str, item: SystemMailItem) -> None:
    """Mail an invitation for an account whose address is in `domain`, after the commit of the caller's transaction.
    RATE_LIMIT_EXCEEDED after 3 to the recipient within a day, or 20 for the domain within an hour.
    """
    await store.lock_invitations(conn)
    until = await store.find_invitation_limit(conn, at, recipient.key, domain)
    if until is not None:
        raise RateLimitExceeded(
            "Too many invitations were mailed: at most 20 an hour for the accounts of a domain, and 3 a day to an "
            "address. Without invite_to, the response has the link.",
            retry_after=max(1, math.ceil((until - at).total_seconds())),
        )
    await store.queue(
        conn, at, "invitation", [recipient.text], {**item, "recipient_key": recipient.key, "domain": domain}
    )


async def claim(conn: Conn, at: datetime, until: datetime, limit: int) -> Sequence[SystemMail]:
    """Claim due mails; those that are neither finished nor postponed by `until` are due again then."""
    return await store.claim(conn, at, until, limit)


async def finish(conn: Conn, mail: SystemMail) -> None:
    """End a mail: the mail server has it, or it is given up. Without effect if it was claimed again meanwhile."""
    await store.set_next_attempt(conn, mail, None)


async def postpone(conn: Conn, mail: SystemMail, next_attempt_at: datetime) -> None:
    """Repeat a mail at this time. Without effect if it was claimed again meanwhile."""
    await store.set_next_attempt(conn, mail, next_attempt_at)


async def prune(conn: Conn, at: datetime) -> None:
    """Delete the mails that have ended and were queued more than a day ago."""
    await store.delete_before(conn, at - _RETENTION)
