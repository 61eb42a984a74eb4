"""Endpoints of bulk operations and exports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, BatchTooLarge, DomainNotFound, EmptyBatch
from mailkeep.features.directory.bulk import rules, service, wire
from mailkeep.features.directory.bulk.model import MAX_ITEMS, BulkResource
from mailkeep.web.csv_table import write_csv
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_BODY_LIMIT = 16 << 20


async def _submit(resource: BulkResource, app: App, call: Call) -> HttpResponse:
    request = wire.read_request(resource, call.body, call.query)
    return HttpResponse(wire.BulkStarted(await service.submit(app, call.caller(), request)))


async def _recover(app: App, call: Call, request_id: UUID) -> HttpResponse | None:
    operation_id = await service.find_created(app, request_id)
    return HttpResponse(wire.BulkStarted(operation_id)) if operation_id else None


async def _export(resource: BulkResource, app: App, call: Call) -> HttpResponse:
    domain_id, find_caller = call.query.domain_id, call.reauthenticate
    assert find_caller is not None
    await service.record_export(app, call.caller(), resource, domain_id)
    pages = (service.export_mailboxes if resource == "mailbox" else service.export_aliases)(app, find_caller, domain_id)
    name = "mailboxes" if resource == "mailbox" else "aliases"
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    content = _encode(rules.COLUMNS[resource], pages)
    return HttpResponse(content=content, content_type="text/csv; charset=utf-8", headers=headers)


async def _encode(columns: Sequence[str], pages: AsyncIterator[list[Sequence[str]]]) -> AsyncIterator[bytes]:
    yield write_csv([columns])
    async for page in pages:
        if page:
            yield write_csv(page)


_NEW: dict[str, Any] = {
    "mailbox": {"address": "erin@example.test", "name": "Erin", "password": "correct horse battery"},
    "alias": {"domain": "example.test", "source_local_part": "help", "destination": "alice@example.test"},
}
_KNOWN: dict[str, Any] = {
    "mailbox": {"id": "{mailbox_id}", "quota_bytes": 5368709120},
    "alias": {"id": "{alias_id}", "active": False},
}
_EXPORTED = {
    "mailbox": '"address","name","quota_bytes","active"\r\n"alice@example.test","Alice","5368709120","true"\r\n',
    "alias": (
        '"domain","source_local_part","destination","active"\r\n'
        '"example.test","info","alice@example.test,bob@example.test","true"\r\n'
    ),
}
_COLUMNS = {
    "mailbox": (
        "`address`, `name`, `password` or `password_hash`, `quota_bytes`, `active`; instead of `address` also `id` "
        "(update, delete)"
    ),
    "alias": "`domain`, `source_local_part`, `destination`, `active`; instead of the first two also `id`",
}


def _endpoints(resource: BulkResource, path: str, tag: str, noun: str) -> tuple[Endpoint, Endpoint]:
    bulk = Endpoint(
        method="POST",
        path=f"{path}/bulk",
        handler=partial(_submit, resource),
        action=f"{resource}.bulk",
        summary=f"Create, update or delete many {noun}",
        description=(
            "Returns at once; GET /operations/{id} shows the progress, and a result for each item. Each item does what "
            "the single call does, or nothing; it is authorised when it is carried out. The body may also be CSV "
            "(`text/csv`, UTF-8, with commas, semicolons or tabs) with `?action=` and `?dry_run=`. Its first line "
            f"names the columns: {_COLUMNS[resource]}. An empty cell is an absent field. RATE_LIMIT_EXCEEDED while 20 "
            "operations of the account are unfinished."
        ),
        tag=tag,
        status=202,
        body=wire.BulkBody,
        body_limit=lambda _: _BODY_LIMIT,
        csv_rows=MAX_ITEMS,
        query=wire.BulkQuery,
        data=wire.BulkStarted,
        recover=_recover,
        audit=f"{resource}.bulk",
        refusals=(EmptyBatch, BatchTooLarge),
        examples=(
            Example(body={"action": "create", "items": [_NEW[resource]], "dry_run": True}),
            Example(body={"action": "update", "items": [_KNOWN[resource]]}),
        ),
    )
    export = Endpoint(
        method="GET",
        path=f"{path}/export",
        handler=partial(_export, resource),
        action=f"{resource}.list",
        summary=f"Export {noun} as CSV",
        description=(
            f"Of one domain, or of all that the caller may see. The columns: {', '.join(rules.COLUMNS[resource])}. "
            "An apostrophe stands before a cell that a spreadsheet would evaluate as a formula; an import takes it "
            "off again."
        ),
        tag=tag,
        query=wire.TableQuery,
        data=None,
        content="text/csv",
        refusals=(DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}"}, response=_EXPORTED[resource]),),
    )
    return bulk, export


ENDPOINTS = (
    *_endpoints("mailbox", "/mailboxes", "Mailboxes", "mailboxes"),
    *_endpoints("alias", "/aliases", "Aliases", "aliases"),
)
