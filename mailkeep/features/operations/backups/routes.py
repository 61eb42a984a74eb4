"""Routes of backups."""

from __future__ import annotations

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    Forbidden,
    InvalidCredentials,
    InvalidPagination,
    NotFound,
    OrchestratorBusy,
    Unavailable,
)
from mailkeep.features.operations.backups import service, wire
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "Backups"
_BY_ID = {"id": "{backup_id}"}
_BUSY = (
    "One operation on backups at a time: ORCHESTRATOR_BUSY with its `operation_id`. Without restic on the server "
    "UNAVAILABLE `needs_restic`, with the command that installs it."
)


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page, operation = await service.page(conn, call.page)
    return HttpResponse([wire.to_backup(each, operation) for each in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        backup = await service.request_backup(conn, app, call.caller())
        operation = await service.find_open_operation(conn)
    return HttpResponse(wire.to_backup(backup, operation))


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        backup = await service.get(conn, call.id())
        operation = await service.find_open_operation(conn)
    return HttpResponse(wire.to_backup(backup, operation), changed_at=backup.changed_at)


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        operation = await service.request_removal(conn, app, call.caller(), call.id(), call.if_match)
    if operation is None:
        return HttpResponse(wire.BackupRemoved("The backup was deleted.", None))
    return HttpResponse(wire.BackupRemoved("The backup is being removed.", wire.to_operation(operation)))


async def _cancel(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        backup = await service.cancel(conn, app, call.caller(), call.id())
        operation = await service.find_open_operation(conn)
    return HttpResponse(wire.to_backup(backup, operation))


async def _verify(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        operation = await service.request_verification(conn, app, call.caller(), call.id())
    return HttpResponse(wire.to_operation(operation))


async def _restore(app: App, call: Call) -> HttpResponse:
    body: wire.BackupRestore = call.body
    request = wire.read_restore(body)
    if not request.dry_run:
        password = None if body.current_password is UNSET else body.current_password
        await call.require_recent_sign_in(app.clock(), password, "backup.restore")
    async with app.db.tx() as conn:
        operation = await service.request_restore(conn, app, call.caller(), call.id(), request)
    return HttpResponse(wire.to_operation(operation))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/backups",
        handler=_list,
        action="backup.read",
        summary="List backups",
        tag=_TAG,
        listing=Listing(),
        data=list[wire.BackupRecord],
        refusals=(InvalidPagination, ApiKeyDomainScope),
        examples=(Example(query={"limit": "20"}),),
    ),
    Endpoint(
        method="POST",
        path="/backups",
        handler=_create,
        action="backup.write",
        summary="Make a backup",
        description=(
            "In the background: the response has state `running`. The backup contains what was acknowledged before it "
            "begins: database, mail, queue, message contents, secrets, settings and certificates. " + _BUSY
        ),
        tag=_TAG,
        status=202,
        body=wire.BackupStart,
        data=wire.BackupRecord,
        audit="backup.create",
        refusals=(ApiKeyDomainScope, OrchestratorBusy, Unavailable),
        recover=audit.answer_from_audit(_get),
        examples=(Example(body={}),),
    ),
    Endpoint(
        method="GET",
        path="/backups/{id}",
        handler=_get,
        action="backup.read",
        summary="Get a backup",
        tag=_TAG,
        versioned=True,
        data=wire.BackupRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path=_BY_ID),),
    ),
    Endpoint(
        method="DELETE",
        path="/backups/{id}",
        handler=_delete,
        action="backup.write",
        summary="Delete a backup",
        description=(
            "In the background. Its data stays in the repository until the next removal of old backups. CONFLICT "
            "`running`, `append_only`. " + _BUSY
        ),
        tag=_TAG,
        status=202,
        versioned=True,
        data=wire.BackupRemoved,
        audit="backup.delete",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, OrchestratorBusy, Unavailable),
        examples=(Example(path={"id": "{failed_backup_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/backups/{id}/cancel",
        handler=_cancel,
        action="backup.write",
        summary="Cancel what runs with a backup",
        description=(
            "The backup, its verification, or a restore from it ends within seconds. A restore keeps what it has "
            "already restored. CONFLICT `not_running`."
        ),
        tag=_TAG,
        status=202,
        body=wire.BackupStart,
        data=wire.BackupRecord,
        audit="backup.cancel",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{running_backup_id}"}, body={}),),
    ),
    Endpoint(
        method="POST",
        path="/backups/{id}/verify",
        handler=_verify,
        action="backup.write",
        summary="Verify a backup",
        description=(
            "Restores it into a temporary folder, starts a database there, and compares rows, messages and the audit "
            "log. The result is `verified` of the backup. CONFLICT `not_stored`. " + _BUSY
        ),
        tag=_TAG,
        status=202,
        body=wire.BackupStart,
        data=wire.BackupOperationRecord,
        audit="backup.verify",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, OrchestratorBusy, Unavailable),
        examples=(Example(path=_BY_ID, body={}),),
    ),
    Endpoint(
        method="POST",
        path="/backups/{id}/restore",
        handler=_restore,
        action="backup.write",
        summary="Restore a domain or a mailbox",
        description=(
            "Matched by ID, from the backup into the running instance. Messages that are newer than the backup stay. "
            "Passwords and suspensions stay as they are now; a mailbox that is missing comes back without a password. "
            "With `dry_run` only the counts are in `result` of the operation. CONFLICT `not_stored`; with the scope "
            "`all` CONFLICT `needs_empty_data_directory`, with the command to use. Except for a dry run, it needs a "
            "session of the last 10 minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN "
            "`recent_sign_in_required`. " + _BUSY
        ),
        tag=_TAG,
        status=202,
        body=wire.BackupRestore,
        data=wire.BackupOperationRecord,
        audit="backup.restore",
        refusals=(
            NotFound,
            InvalidCredentials,
            Forbidden,
            ApiKeyDomainScope,
            Conflict,
            OrchestratorBusy,
            Unavailable,
        ),
        examples=(
            Example(
                path=_BY_ID,
                body={"scope": "mailbox", "mailbox_id": "{mailbox_id}", "into": "folder", "dry_run": True},
            ),
        ),
    ),
)
