"""Use cases of using an invitation."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import NotFound
from mailkeep.core.password import check_password
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.invitations import service as invitations
from mailkeep.features.access.invitations.model import StoredInvitation
from mailkeep.features.access.logins import service as logins
from mailkeep.features.directory.invitation_acceptance.model import InvitedAccount
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.web.endpoint import Call


async def find_account(app: App, call: Call, token: str) -> InvitedAccount:
    """The account of the invitation with this token. NOT_FOUND, FORBIDDEN `network`."""
    async with app.db.autocommit() as conn:
        _, account = await _find(app, conn, call, token)
    return account


async def accept(app: App, call: Call, token: str, password: str) -> InvitedAccount:
    """Set the password of the invited account and end the invitation. NOT_FOUND, FORBIDDEN `network`, WEAK_PASSWORD."""
    async with app.db.autocommit() as conn:
        invitation, account = await _find(app, conn, call, token)
    password_hash = await admins.hash_password(check_password(password, account.address))
    at, who = app.clock(), _principal(call, invitation)
    async with app.db.tx() as conn:
        if account.type == "admin":
            await admins.accept_invitation(conn, who, at, invitation, password_hash)
        else:
            await mailboxes.accept_invitation(conn, who, at, invitation, password_hash)
    return account


async def _find(app: App, conn: Conn, call: Call, token: str) -> tuple[StoredInvitation, InvitedAccount]:
    invitation = await invitations.find_by_token(conn, token, app.clock())
    if invitation.kind == "admin":
        logins.refuse_network(app, call)
        address = await admins.find_email(conn, invitation.account_id)
    else:
        mailbox = await mailboxes.find(conn, invitation.account_id)
        address = mailbox and str(mailbox.address)
    if address is None:  # deleted meanwhile
        raise NotFound
    return invitation, InvitedAccount(invitation.kind, address, invitation.expires_at)


def _principal(call: Call, invitation: StoredInvitation) -> Principal:
    """The invited person, who is an administrator only if the account is one."""
    return Principal(
        invitation.account_id if invitation.kind == "admin" else None,
        "invitation",
        Role.DOMAIN_ADMIN,
        ActorType.SYSTEM,
        ip_address=call.ip_address,
        user_agent=call.user_agent,
        request_id=call.request_id,
    )
