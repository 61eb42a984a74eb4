"""Use cases of invitations, for the features whose accounts have them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.clock import iso
from mailkeep.core.errors import NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.core.secret import token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.invitations import rules, store, wire
from mailkeep.features.access.invitations.model import LIFETIME, Invitation, NewInvitation, StoredInvitation
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction
from mailkeep.features.record.system_mail import service as system_mail

InvitationRecord = wire.InvitationRecord
"""The JSON of an invitation, for the endpoints of other features that create one."""
to_record = wire.to_record
DESCRIPTION = (
    "The link works once, for 72 hours. `invite_to` needs the setting `server.hostname` (CONFLICT hostname_not_set). "
    "At most 20 invitations an hour are mailed for the accounts of a domain, and 3 a day to an address "
    "(RATE_LIMIT_EXCEEDED)."
)
"""For the endpoints of other features that create invitations."""
_ENDED = "The link has been used or replaced, or it has expired. Ask for a new one."


async def create(app: App, conn: Conn, who: Principal, at: datetime, new: NewInvitation) -> Invitation:
    """Create the invitation of an account, instead of the one that it has. The caller has locked the account.

    With `send_to` the link is mailed: CONFLICT `hostname_not_set`, RATE_LIMIT_EXCEEDED.
    """
    if new.send_to is not None:
        rules.refuse_without_hostname(app.settings.server.hostname)
    await store.delete_expired(conn, at)
    sent_to = new.send_to.text if new.send_to else None
    invitation = StoredInvitation(uuid7(at), new.kind, new.account_id, sent_to, at + LIFETIME)
    token = rules.derive_token(app.vault, invitation.id)
    await store.replace(conn, invitation, token_hash(token))
    details = {"sent_to": sent_to, "expires_at": iso(invitation.expires_at)}
    await audit.record(conn, who, at, AuditAction("invitation.create", new.target, details=details))
    if new.send_to is not None:
        item = {"invitation_id": str(invitation.id), "expires_at": iso(invitation.expires_at)}
        await system_mail.send_invitation(conn, at, new.send_to, new.domain, item)
    url = None if new.send_to else rules.link_of(app.settings.http.public_url, token)
    return Invitation(url, sent_to, invitation.expires_at)


async def find_of_account(conn: Conn, account_id: UUID) -> Invitation:
    """The invitation of an administrator or a mailbox, without its link; NOT_FOUND."""
    invitation = await store.find_of_account(conn, account_id)
    if invitation is None:
        raise NotFound(_ENDED)
    return Invitation(None, invitation.sent_to, invitation.expires_at)


async def find_by_token(conn: Conn, token: str, at: datetime) -> StoredInvitation:
    """The invitation with this token; NOT_FOUND if there is none, or it has ended."""
    invitation = await store.find_by_token(conn, token_hash(token), at)
    if invitation is None:
        raise NotFound(_ENDED)
    return invitation


async def claim(conn: Conn, invitation: StoredInvitation, at: datetime) -> None:
    """Use up an invitation; NOT_FOUND if it has ended meanwhile. The caller has locked the account before."""
    if not await store.delete(conn, invitation.id, at):
        raise NotFound(_ENDED)


async def find_link(app: App, conn: Conn, invitation_id: UUID, at: datetime) -> str | None:
    """The link of an invitation, for its mail; None if it has ended."""
    if await store.find(conn, invitation_id, at) is None:
        return None
    return rules.link_of(app.settings.http.public_url, rules.derive_token(app.vault, invitation_id))
