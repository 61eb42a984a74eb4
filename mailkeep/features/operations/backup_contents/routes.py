"""The route of what a backup contains."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, InvalidPagination, NotFound, Unavailable
from mailkeep.features.operations.backup_contents import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "Backups"
_BY_ID = {"id": "{backup_id}"}


async def _contents(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    page = await service.page(app, call.id(), wire.read_query(call.query), call.page)
    return HttpResponse([wire.to_contents(each) for each in page.rows], page)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/backups/{id}/contents",
        handler=_contents,
        action="backup.read",
        summary="Browse a backup",
        description=(
            "Its domains; with `domain_id` the mailboxes of a domain, with `mailbox_id` the folders of a mailbox, with "
            "`message_id` the messages with this Message-ID. By name. The first call for a backup reads its index from "
            "the repository: UNAVAILABLE `reading_index` if that takes longer than 20 seconds. CONFLICT `not_stored`."
        ),
        tag=_TAG,
        listing=Listing(("name",)),
        query=wire.BackupContentsQuery,
        data=list[wire.BackupContentsRecord],
        refusals=(NotFound, InvalidPagination, ApiKeyDomainScope, Conflict, Unavailable),
        examples=(Example(path=_BY_ID), Example(path=_BY_ID, query={"message_id": "<report@example.com>"})),
    ),
)
