"""Routes of mailboxes."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.clock import iso
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainInactive,
    DomainNotFound,
    InvalidPagination,
    NotFound,
    WeakPassword,
)
from mailkeep.core.principal import Principal
from mailkeep.features.access.invitations import service as invitations
from mailkeep.features.directory.mailboxes import jobs, service, wire
from mailkeep.features.directory.mailboxes.model import TRASH_RETENTION, Mailbox, MailboxFilter
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    who, query, page_request = call.caller(), call.query, call.page
    assert page_request is not None
    filters = MailboxFilter(who.domains(), query.domain_id, query.active, query.q, query.trashed)
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, filters, page_request)
    return HttpResponse([wire.to_record(mailbox, who) for mailbox in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    new, destinations = wire.read_new(call.body)
    who = call.caller()
    mailbox, invitation = await service.create_invited(app, who, new, destinations)
    return HttpResponse(wire.to_created(mailbox, who, invitation or UNSET), changed_at=mailbox.updated_at)


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        mailbox = await service.get(conn, who, call.id())
    created = wire.to_created(mailbox, who, None if call.body.invite else UNSET)
    return HttpResponse(created, changed_at=mailbox.updated_at)


async def _invite(app: App, call: Call) -> HttpResponse:
    who, send_to = call.caller(), wire.read_invite_to(call.body)
    async with app.db.tx() as conn:
        mailbox = await service.get_for_credential_change(conn, who, call.id())
        invitation = await service.invite(app, conn, who, mailbox, send_to)
    return HttpResponse(invitations.to_record(invitation))


async def _repeat_invite(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(invitations.to_record(await invitations.find_of_account(conn, call.id())))


async def _get(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        return _detail(await service.get(conn, who, call.id()), who)


async def _change(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    changes = wire.read_changes(call.body)
    return _detail(await service.change(app, who, call.id(), changes, call.if_match), who)


async def _delete(app: App, call: Call) -> HttpResponse:
    purge: bool = call.query.purge
    mailbox = await service.delete(app, call.caller(), call.id(), purge=purge, if_match=call.if_match)
    if purge:
        is_removed = await jobs.remove_mail_of(app, mailbox.id)
        message = (
            "The mailbox and its mail are deleted." if is_removed else "The mailbox is deleted. Its mail will follow."
        )
        return HttpResponse(wire.MailboxDeletion(message, mailbox.id, True, None))
    assert mailbox.deleted_at is not None
    until = mailbox.deleted_at + TRASH_RETENTION
    return HttpResponse(wire.MailboxDeletion("The mailbox is in the trash.", mailbox.id, False, iso(until)))


async def _restore(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    return _detail(await service.restore(app, who, call.id()), who)


def _detail(mailbox: Mailbox, who: Principal) -> HttpResponse:
    return HttpResponse(wire.to_record(mailbox, who), changed_at=mailbox.updated_at)


_NEW: dict[str, Any] = {
    "domain_id": "{domain_id}",
    "local_part": "dora",
    "name": "Dora Example",
    "password": "correct horse battery",
    "quota_bytes": 1073741824,
    "forward": {"destinations": ["dora@elsewhere.test"], "keep_copy": True},
}

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/mailboxes",
        handler=_list,
        action="mailbox.list",
        summary="List mailboxes",
        tag="Mailboxes",
        query=wire.MailboxQuery,
        listing=Listing(("created_at", "updated_at", "address")),
        data=list[wire.MailboxRecord],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}", "sort": "address"}), Example(query={"q": "ali"})),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes",
        handler=_create,
        action="mailbox.write",
        summary="Create a mailbox",
        description=(
            "With `password`, with `password_hash` in any scheme of Dovecot, or with `invite`: then the response has a "
            "link with which the mailbox's owner sets a password, or the link is mailed to `invite_to`. "
            + invitations.DESCRIPTION
            + " Until then nobody can sign in to the mailbox."
        ),
        tag="Mailboxes",
        versioned=True,
        body=wire.MailboxCreate,
        data=wire.MailboxCreated,
        status=201,
        recover=audit.answer_from_audit(_repeat_create),
        secrets=("invitation",),
        audit="mailbox.create",
        refusals=(WeakPassword, DomainNotFound, DomainInactive, ApiKeyDomainScope, Conflict),
        examples=(
            Example(body=_NEW),
            Example(body={"domain_id": "{domain_id}", "local_part": "ivan", "invite": True}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/mailboxes/{id}",
        handler=_get,
        action="mailbox.read",
        summary="Get a mailbox",
        tag="Mailboxes",
        versioned=True,
        data=wire.MailboxRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/mailboxes/{id}",
        handler=_change,
        action="mailbox.write",
        summary="Change a mailbox",
        description=(
            "`local_part` and `domain_id` change its address; it keeps its mail. CONFLICT `incident_open`, "
            "`limits_set`, `suspended` for another address while something that only a higher rank can end holds for "
            "this one."
        ),
        tag="Mailboxes",
        versioned=True,
        body=wire.MailboxPatch,
        data=wire.MailboxRecord,
        audit="mailbox.update",
        refusals=(WeakPassword, NotFound, DomainNotFound, DomainInactive, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{mailbox_id}"}, body={"name": "Alice", "protocols": {"pop3": False}}),),
    ),
    Endpoint(
        method="DELETE",
        path="/mailboxes/{id}",
        handler=_delete,
        action="mailbox.write",
        summary="Delete a mailbox",
        description=(
            "It is in the trash for 30 days; `purge` deletes it permanently. Its address is free at once. "
            "CONFLICT `incident_open`, `limits_set`: an administrator of higher rank has opened an incident about it, "
            "or set stricter limits, which a new mailbox with its address would not have."
        ),
        tag="Mailboxes",
        versioned=True,
        query=wire.DeleteQuery,
        data=wire.MailboxDeletion,
        audit="mailbox.delete",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/restore",
        handler=_restore,
        action="mailbox.write",
        summary="Restore a mailbox from the trash",
        tag="Mailboxes",
        versioned=True,
        data=wire.MailboxRecord,
        audit="mailbox.restore",
        refusals=(NotFound, DomainInactive, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{trashed_mailbox_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/invite",
        handler=_invite,
        action="mailbox.write",
        summary="Invite a mailbox's owner",
        description=(
            "A new link with which the owner sets a password; it is in the response, or mailed to `invite_to`. The "
            "previous link ends. A password that the mailbox has stays valid until the link is used. "
            + invitations.DESCRIPTION
        ),
        tag="Mailboxes",
        body=wire.MailboxInvite,
        data=invitations.InvitationRecord,
        status=201,
        recover=audit.answer_from_audit(_repeat_invite),
        secrets=("url",),
        audit="invitation.create",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{mailbox_id}"}, body={}),),
    ),
)
