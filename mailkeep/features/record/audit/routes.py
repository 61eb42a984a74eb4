"""Endpoints of the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidPagination
from mailkeep.features.record.audit import jobs, service, wire
from mailkeep.features.record.audit.model import AuditFilter
from mailkeep.features.record.audit.service import Export
from mailkeep.web import envelope
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TYPES = {"json": "application/json", "ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.caller(), _filter(call), call.page)
    return HttpResponse([wire.to_entry(row) for row in page.rows], page)


def _filter(call: Call) -> AuditFilter:
    query = cast(wire.AuditQuery, call.query)
    return AuditFilter(
        domains=call.caller().domains(),
        action=query.action,
        admin_id=query.admin_id,
        resource_type=query.resource_type,
        resource_id=query.resource_id,
        domain_id=query.domain_id,
        since=query.since,
        until=query.until,
    )


async def _verify(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_verification(await service.verify(app)))


async def _export(app: App, call: Call) -> HttpResponse:
    file_format = cast(wire.ExportQuery, call.query).format
    filters, at = _filter(call), app.clock()
    await service.record_export(app, call.caller(), filters, file_format)
    # Seal first, so that the whole file can be verified.
    await jobs.seal_all(app)
    export = await service.start_export(app, filters)
    content = {
        "json": _envelope_entries(export, envelope.success([], call.request_id, at)),
        "ndjson": export.lines(),
        "csv": _csv_rows(export),
    }[file_format]
    file_name = f"audit-{at:%Y-%m-%d}.{file_format}"
    headers = {"content-disposition": f'attachment; filename="{file_name}"'}
    return HttpResponse(content=content, content_type=_TYPES[file_format], headers=headers)


async def _envelope_entries(export: Export, empty_envelope: bytes) -> AsyncIterator[bytes]:
    """`empty_envelope` with the entries as its data."""
    head, _, tail = empty_envelope.partition(b"[]")
    separator = head + b"["
    async for page in export.pages():
        yield separator + b",".join(wire.export_line(row) for row in page)
        separator = b","
    yield (b"" if separator == b"," else separator) + b"]" + tail


async def _csv_rows(export: Export) -> AsyncIterator[bytes]:
    yield wire.to_csv([wire.COLUMNS])
    async for page in export.pages():
        yield wire.to_csv(wire.to_cells(row) for row in page)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/audit",
        handler=_list,
        action="audit.list",
        summary="List the audit log",
        description=(
            "Newest first. A domain_admin sees the entries of its domains. For a refused call of an administrator whom "
            "the caller does not see in GET /admins, `actor.label` is the role, and `ip_address` and `user_agent` are "
            "null. Refused calls of a caller beyond 60 a minute are counted in one entry `denied.summary` with `count` "
            "and `actions`."
        ),
        tag="Audit",
        query=wire.AuditQuery,
        listing=Listing(),
        data=list[wire.AuditEntryResponse],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"limit": "20", "action": "alias.create"}),),
    ),
    Endpoint(
        method="GET",
        path="/audit/verify",
        handler=_verify,
        action="audit.verify",
        summary="Verify the audit log",
        description=(
            "Checks every entry and every seal of the log. `checked` is the number of sealed entries; `unsealed` that "
            "of the newest ones, which are sealed within seconds. `bad` lists the first 100 of `bad_count` faults: "
            "entries that were `altered`, `removed` or `inserted`, seals that were altered or removed (`seal_altered`, "
            "`seal_removed`), and `truncated` if the log does not contain the newest seal noted in the data directory. "
            "With the `public_key`, an export as ndjson can be verified without the server: `mailkeep audit verify "
            "FILE --public-key KEY`."
        ),
        tag="Audit",
        data=wire.VerificationResponse,
        refusals=(ApiKeyDomainScope,),
        examples=(
            Example(
                response={
                    "ok": True,
                    "checked": 10_000,
                    "unsealed": 2,
                    "first_bad": None,
                    "bad": [],
                    "bad_count": 0,
                    "head": {
                        "sequence": 1204,
                        "sealed_at": "2026-11-21T12:00:00.000Z",
                        "hash": "5f0c7c2b0a4d1a5b6e3b9f3c5d8b62c1f5b5bb9a3f9d0e4c7a1b2c3d4e5f6071",
                    },
                    "public_key": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
                }
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="/audit/export",
        handler=_export,
        action="audit.export",
        audit="audit.export",
        summary="Export the audit log",
        description=(
            "All current entries, oldest transactions first, as a stream; the filters are those of the list. `format`: "
            "`json` (in the envelope); `ndjson`, one entry per line with the `seals` that end before the next entry "
            "(for `mailkeep audit verify FILE`); `csv`, safe to open in a spreadsheet: a cell that would be a formula "
            "begins with `'`, and control characters are escaped. The export is recorded in the audit log."
        ),
        tag="Audit",
        query=wire.ExportQuery,
        data=list[wire.ExportedEntry],
        alternative_content=("application/x-ndjson", "text/csv"),
        refusals=(DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"format": "json", "since": "2026-01-01T00:00:00Z"}),),
    ),
)
