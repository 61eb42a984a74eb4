"""Endpoints of the folders and the usage of a mailbox."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, NotFound, Unavailable
from mailkeep.features.directory.mailbox_usage import folders, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_AVAILABILITY = (
    " In the full profile CONFLICT `inactive` if the mailbox or its domain is inactive: Dovecot knows only active "
    "ones. UNAVAILABLE if the process `node` does not answer."
)


async def _list(app: App, call: Call) -> HttpResponse:
    found = await folders.list_folders(app, call.caller(), call.id())
    return HttpResponse([wire.to_folder(each) for each in found])


async def _recalculate(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_usage(await folders.recalculate(app, call.caller(), call.id())))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/mailboxes/{id}/folders",
        handler=_list,
        action="mailbox.read",
        summary="List the folders of a mailbox",
        description="With the number of messages and their size. The embedded profile has only INBOX." + _AVAILABILITY,
        tag="Mailboxes",
        data=list[wire.MailFolderRecord],
        refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/recalculate",
        handler=_recalculate,
        action="mailbox.write",
        summary="Recalculate the usage of a mailbox",
        description="Counts all messages again, for the case that usage and quota seem wrong." + _AVAILABILITY,
        tag="Mailboxes",
        data=wire.MailboxUsageRecord,
        audit="mailbox.recalculate",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
)
