"""Routes of filter settings and list entries. Those of the server's settings are in `operations/server_filtering`."""

from __future__ import annotations

import asyncio

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    BatchTooLarge,
    Conflict,
    EmptyBatch,
    InvalidPagination,
    NotFound,
)
from mailkeep.features.mailflow.filtering import service, wire
from mailkeep.features.mailflow.filtering.model import FILTER_AREAS, MAX_ENTRIES, MAX_IMPORT, Scope
from mailkeep.features.record.audit import service as audit
from mailkeep.web.areas import OWN_MAILBOX, Area
from mailkeep.web.csv_table import CsvTable
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_BODY_LIMIT = 16 << 20
_owner = service.read_owner


async def _get(app: App, call: Call) -> HttpResponse:
    values = await service.get_values(app, call.caller(), _owner(call))
    return HttpResponse(wire.to_record(values), changed_at=values.changed_at)


async def _change(app: App, call: Call) -> HttpResponse:
    change = wire.read_change(call.body)
    values = await service.change_values(app, call.caller(), _owner(call), change, call.if_match)
    return HttpResponse(wire.to_record(values), changed_at=values.changed_at)


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.caller(), _owner(call), wire.read_filter(call.query), call.page)
    return HttpResponse([wire.to_entry(each) for each in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    new = await asyncio.to_thread(wire.read_entry, call.body)  # the first one loads the Public Suffix List
    async with app.db.tx() as conn:
        entry = await service.create(conn, call.caller(), app.clock(), _owner(call), new)
    return HttpResponse(wire.to_entry(entry))


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.to_entry(await service.get(conn, call.id())))


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        entry = await service.delete(conn, call.caller(), app.clock(), _owner(call), call.id("entry_id"))
    return HttpResponse(wire.FilterEntryDeletion(f"The entry to {entry.list} {entry.value} was deleted.", entry.id))


async def _import(app: App, call: Call) -> HttpResponse:
    count = 0 if isinstance(call.body, CsvTable) else len(call.body.items)
    if count > MAX_IMPORT:
        raise BatchTooLarge(f"An import has at most {MAX_IMPORT:,} rows (got {count:,}).", limit=MAX_IMPORT)
    rows = await asyncio.to_thread(wire.read_import, call.body)
    async with app.db.tx() as conn:
        results = await service.import_rows(conn, call.caller(), app.clock(), _owner(call), rows)
    return HttpResponse(wire.import_answer(results))


_RESOURCE: dict[Scope, str] = {"server": "config", "domain": "domain", "mailbox": "mailbox"}
_OF: dict[Scope, str] = {"server": "the server", "domain": "a domain", "mailbox": "a mailbox"}


def _settings_endpoints(scope: Scope, area: Area) -> tuple[Endpoint, ...]:
    of = _OF[scope]
    return (
        Endpoint(
            method="GET",
            path=area.prefix,
            handler=_get,
            action=area.action("filter.read"),
            summary=f"Get the filter settings of {of}",
            description="`effective` has the values in force, and the scope where each is set.",
            tag=area.tag,
            versioned=True,
            data=wire.FilteringRecord,
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="PATCH",
            path=area.prefix,
            handler=_change,
            action=area.action("filter.write"),
            summary=f"Change the filter settings of {of}",
            description="Null: as the wider scope. They apply to the next message.",
            tag=area.tag,
            versioned=True,
            body=wire.FilteringPatch,
            data=wire.FilteringRecord,
            audit="filter.update",
            resource=_RESOURCE[scope],
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path, body={"junk_score": 4.5, "reject_score": "off", "digest": "daily"}),),
        ),
    )


def _entry_endpoints(scope: Scope, area: Area) -> tuple[Endpoint, ...]:
    of, path, resource, limit = _OF[scope], f"{area.prefix}/entries", _RESOURCE[scope], MAX_ENTRIES[scope]
    is_own = area.tag == OWN_MAILBOX.tag
    own = " Owners can't allow networks or enforce entries (FORBIDDEN)." if is_own else ""
    return (
        Endpoint(
            method="GET",
            path=path,
            handler=_list,
            action=area.action("filter.read"),
            summary=f"List the allow and deny entries of {of}",
            description="Newest first. Not those of wider scopes.",
            tag=area.tag,
            query=wire.FilterEntryQuery,
            listing=Listing(),
            data=list[wire.FilterEntryRecord],
            refusals=(InvalidPagination, NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path, query={"list": "deny", "limit": "20"}),),
        ),
        Endpoint(
            method="POST",
            path=path,
            handler=_create,
            action=area.action("filter.write"),
            summary=f"Add an allow or deny entry of {of}",
            description=(
                "It applies to the next message. An allow entry applies only if the author or sender is proved, or the "
                "client is in its network. Order: enforced deny entries; then those of mailbox, domain, server; "
                f"addresses, domains, networks; deny before allow. At most {limit:,} (CONFLICT `limit_reached`). "
                "CONFLICT `exists`: `details.entry_id` names the entry." + own
            ),
            tag=area.tag,
            body=wire.FilterEntryCreate,
            data=wire.FilterEntryRecord,
            status=201,
            recover=audit.answer_from_audit(_repeat_create),
            audit="filter_entry.create",
            resource=resource,
            refusals=(NotFound, ApiKeyDomainScope, Conflict),
            examples=(
                Example(
                    path=area.path,
                    body={"list": "allow", "kind": "domain", "value": "partner.test", "comment": "Invoices"},
                ),
            ),
        ),
        Endpoint(
            method="DELETE",
            path=f"{path}/{{entry_id}}",
            handler=_delete,
            action=area.action("filter.write"),
            summary=f"Delete an allow or deny entry of {of}",
            tag=area.tag,
            data=wire.FilterEntryDeletion,
            audit="filter_entry.delete",
            resource=resource,
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path={**area.path, "entry_id": f"{{{scope}_filter_entry_id}}"}),),
        ),
        Endpoint(
            method="POST",
            path=f"{path}/import",
            handler=_import,
            action=area.action("filter.write"),
            summary=f"Import allow and deny entries of {of}",
            description=(
                "All valid rows are added in one transaction; entries that exist already do not change. The body may "
                "also be CSV (`text/csv`, UTF-8) whose first line names the columns: `list`, `kind`, `value`, "
                "`comment`, `enforced`." + own
            ),
            tag=area.tag,
            body=wire.FilterEntryImport,
            body_limit=lambda _: _BODY_LIMIT,
            csv_rows=MAX_IMPORT,
            data=wire.FilterImportAnswer,
            audit="filter_entry.import",
            resource=resource,
            refusals=(EmptyBatch, BatchTooLarge, NotFound, ApiKeyDomainScope),
            examples=(
                Example(
                    path=area.path,
                    body={"items": [{"list": "deny", "kind": "address", "value": "offers@elsewhere.test"}]},
                ),
            ),
        ),
    )


_SERVER, _DOMAIN, _MAILBOX, _OWN = FILTER_AREAS
ENDPOINTS = (
    *_entry_endpoints(*_SERVER),
    *_settings_endpoints(*_DOMAIN),
    *_entry_endpoints(*_DOMAIN),
    *_settings_endpoints(*_MAILBOX),
    *_entry_endpoints(*_MAILBOX),
)
OWN_MAILBOX_ENDPOINTS = (*_settings_endpoints(*_OWN), *_entry_endpoints(*_OWN))
