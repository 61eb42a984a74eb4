"""Paths of suspensions."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, NotFound
from mailkeep.features.abuse import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, Reply


async def _suspend(app: App, call: Call) -> Reply:
    async with app.db.tx() as conn:
        mailbox = await service.suspend(conn, call.caller(), app.clock(), call.id(), call.body.reason)
    return Reply(wire.suspended_mailbox(mailbox))


async def _unsuspend(app: App, call: Call) -> Reply:
    async with app.db.tx() as conn:
        mailbox = await service.unsuspend(conn, call.caller(), app.clock(), call.id())
    return Reply(wire.suspended_mailbox(mailbox))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/suspend",
        handler=_suspend,
        action="mailbox.write",
        summary="Suspend sending for a mailbox's address",
        description="A suspension that the abuse rules or a higher rank set stays as it is.",
        tag="Mailboxes",
        body=wire.SuspendBody,
        data=wire.SuspendedMailbox,
        audit="mailbox.suspend",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}"}, body={"reason": "compromised password"}),),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/unsuspend",
        handler=_unsuspend,
        action="mailbox.write",
        summary="Lift the suspension of a mailbox's address",
        description="One that the abuse rules or a higher rank set is lifted by admins only.",
        tag="Mailboxes",
        data=wire.SuspendedMailbox,
        audit="mailbox.unsuspend",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
)
