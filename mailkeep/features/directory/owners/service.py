"""Use cases of owners of mailboxes that are not those of other features."""

from __future__ import annotations

from datetime import datetime

from mailkeep.app import App
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import SessionInvalid
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import Account
from mailkeep.features.access.logins.model import CompletedLogin
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.directory.login_history import service as login_history
from mailkeep.features.directory.login_history.model import WEB, MailboxSignIn, SignInDay
from mailkeep.features.directory.mailboxes import rules as mailbox_rules, service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox, MailboxChanges
from mailkeep.features.directory.owners import rules
from mailkeep.features.record.history import service as history
from mailkeep.features.record.history.model import MailResult, MailSelection
from mailkeep.features.record.messages.model import Message
from mailkeep.web.endpoint import Call


async def get_own(conn: Conn, who: Principal) -> Mailbox:
    """The caller's own mailbox."""
    return await mailboxes.get(conn, who, accounts.own(who).id)


async def get_with_account(conn: Conn, who: Principal) -> tuple[Mailbox, Account]:
    """The caller's own mailbox, and how it signs in."""
    return await get_own(conn, who), await accounts.get(conn, accounts.own(who))


async def finish_login(app: App, call: Call, login: CompletedLogin) -> tuple[Mailbox, Account, Principal]:
    """Record a completed login in the history of sign-ins; returns the mailbox and its owner.

    SESSION_INVALID if the mailbox was deleted just now.
    """
    if login.account.mailbox is None:
        raise SessionInvalid
    who = sessions.owner_principal(call, login.account.name, login.account.mailbox, login.session.id)
    sign_in = MailboxSignIn(login.account.id, app.clock(), WEB, call.ip_address, call.user_agent or "")
    async with app.db.tx() as conn:
        await login_history.record(conn, [sign_in])
        mailbox, account = await get_with_account(conn, who)
    return mailbox, account, who


async def set_forward(
    app: App, who: Principal, destinations: list[str], *, keep_copy: bool, if_match: IfMatch
) -> Mailbox:
    """Set the forward of the caller's own mailbox. INVALID_FIELD; CONFLICT `alias_loop`; PRECONDITION_FAILED."""
    mailbox_rules.parse_destinations(destinations, "destinations")
    changes = MailboxChanges(destinations=tuple(destinations), keep_copy=keep_copy)
    return await mailboxes.change(app, who, accounts.own(who).id, changes, if_match)


async def list_sign_ins(app: App, conn: Conn, who: Principal, page_request: PageRequest) -> Page[SignInDay]:
    """A page of the sign-ins to the caller's own mailbox."""
    return await login_history.page(app, conn, accounts.own(who).id, page_request)


async def list_messages(
    app: App,
    conn: Conn,
    who: Principal,
    result: MailResult | None,
    since: datetime | None,
    page_request: PageRequest,
) -> Page[Message]:
    """A page of the mail for the caller's own mailbox. INVALID_FIELD."""
    start = rules.period_start(since, app.clock())
    mailbox = await get_own(conn, who)
    return await history.page_of_mailbox(conn, rules.mail_of(mailbox, start), MailSelection(result), page_request)
