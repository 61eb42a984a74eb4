"""Endpoints of suppressions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    BatchTooLarge,
    Conflict,
    DomainNotFound,
    EmptyBatch,
    InvalidPagination,
    NotFound,
)
from mailkeep.features.mailflow.suppressions import rules, service, wire
from mailkeep.features.mailflow.suppressions.model import MAX_IMPORT
from mailkeep.features.record.audit import service as audit
from mailkeep.web.csv_table import CsvTable, write_csv
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_BODY_LIMIT = 16 << 20


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    who = call.caller()
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, wire.read_filter(call.query, who.domains()), call.page)
    return HttpResponse([wire.to_record(each) for each in page.rows], page)


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        suppression = await service.get(conn, call.caller(), call.id())
    return HttpResponse(wire.to_record(suppression), changed_at=suppression.created_at)


async def _create(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        suppression = await service.create(conn, call.caller(), app.clock(), wire.read_new(call.body))
    return HttpResponse(wire.to_record(suppression), changed_at=suppression.created_at)


async def _delete(app: App, call: Call) -> HttpResponse:
    query: wire.SuppressionDeleteQuery = call.query
    async with app.db.tx() as conn:
        deleted = await service.delete(conn, call.caller(), app.clock(), call.id(), query.note, call.if_match)
    return HttpResponse(wire.SuppressionDeletion(f"{deleted.address} gets mail again.", deleted.id))


async def _import(app: App, call: Call) -> HttpResponse:
    query: wire.SuppressionImportQuery = call.query
    count = 0 if isinstance(call.body, CsvTable) else len(call.body.items)
    if count > MAX_IMPORT:
        raise BatchTooLarge(f"An import has at most {MAX_IMPORT:,} rows (got {count:,}).", limit=MAX_IMPORT)
    rows = await asyncio.to_thread(wire.read_import, call.body)
    async with app.db.tx() as conn:
        results = await service.import_rows(conn, call.caller(), app.clock(), rows, query.domain_id)
    return HttpResponse(wire.import_answer(results))


async def _export(app: App, call: Call) -> HttpResponse:
    who, find_caller = call.caller(), call.reauthenticate
    assert find_caller is not None
    filters = wire.read_filter(call.query, who.domains())
    await service.record_export(app, who, filters)
    headers = {"Content-Disposition": 'attachment; filename="suppressions.csv"'}
    content = _encode(service.export(app, find_caller, filters))
    return HttpResponse(content=content, content_type="text/csv; charset=utf-8", headers=headers)


async def _encode(pages: AsyncIterator[list[Sequence[str]]]) -> AsyncIterator[bytes]:
    yield write_csv([rules.COLUMNS])
    async for page in pages:
        if page:
            yield write_csv(page)


_NEW = {"address": "gone@elsewhere.test", "domain_id": "{domain_id}"}
_EXPORTED = (
    '"address","reason","domain","group_id","created_at"\r\n'
    '"bounced@elsewhere.test","hard_bounce","example.test","","2026-03-01T12:00:00.000Z"\r\n'
)

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/suppressions",
        handler=_list,
        action="suppression.list",
        summary="List suppressions",
        description=(
            "Addresses to which domains send nothing by API. With `group_id` null a suppression holds for all mail of "
            "its domain, otherwise for messages of that unsubscribe group."
        ),
        tag="Suppressions",
        query=wire.SuppressionQuery,
        listing=Listing(("created_at", "address")),
        data=list[wire.SuppressionRecord],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}", "reason": "hard_bounce", "limit": "20"}),),
    ),
    Endpoint(
        method="POST",
        path="/suppressions",
        handler=_create,
        action="suppression.write",
        summary="Suppress an address",
        description="CONFLICT `exists` if it is suppressed already; `details.suppression_id` names the suppression.",
        tag="Suppressions",
        versioned=True,
        body=wire.SuppressionCreate,
        data=wire.SuppressionRecord,
        status=201,
        recover=audit.answer_from_audit(_get),
        audit="suppression.create",
        refusals=(DomainNotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(body=_NEW),),
    ),
    Endpoint(
        method="POST",
        path="/suppressions/import",
        handler=_import,
        action="suppression.import",
        summary="Import suppressions",
        description=(
            "All valid rows are added in one transaction; addresses that are suppressed already do not change. The "
            "body may also be CSV (`text/csv`, UTF-8) whose first line names the columns: `address`, `reason` (default "
            "`manual`), `domain` (its name; default `?domain_id=`), `group_id`, `created_at` (ignored): the columns of "
            "an export."
        ),
        tag="Suppressions",
        body=wire.SuppressionImport,
        body_limit=lambda _: _BODY_LIMIT,
        csv_rows=MAX_IMPORT,
        query=wire.SuppressionImportQuery,
        data=wire.ImportAnswer,
        audit="suppression.import",
        resource="suppression",
        refusals=(EmptyBatch, BatchTooLarge),
        examples=(
            Example(query={"domain_id": "{domain_id}"}, body={"items": [{"address": "gone@elsewhere.test"}]}),
            Example(body={"items": [{"address": "a@elsewhere.test", "reason": "complaint", "domain": "example.test"}]}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/suppressions/export",
        handler=_export,
        action="suppression.list",
        summary="Export suppressions as CSV",
        description=(
            "With the filters of the list, oldest first. An apostrophe stands before a cell that a spreadsheet would "
            "evaluate as a formula; an import takes it off again."
        ),
        tag="Suppressions",
        query=wire.SuppressionQuery,
        data=None,
        content="text/csv",
        refusals=(DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}"}, response=_EXPORTED),),
    ),
    Endpoint(
        method="GET",
        path="/suppressions/{id}",
        handler=_get,
        action="suppression.read",
        summary="Get a suppression",
        tag="Suppressions",
        versioned=True,
        data=wire.SuppressionRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{suppression_id}"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/suppressions/{id}",
        handler=_delete,
        action="suppression.write",
        summary="Remove a suppression",
        description="The address gets mail again. `note` is kept in the audit log.",
        tag="Suppressions",
        versioned=True,
        query=wire.SuppressionDeleteQuery,
        data=wire.SuppressionDeletion,
        audit="suppression.delete",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{suppression_id}"}, query={"note": "the customer has a new mailbox"}),),
    ),
)
