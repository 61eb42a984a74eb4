"""The process of backups: claims the operation that waits, performs it, and starts those of the schedule."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import structlog

from mailkeep import __version__
from mailkeep.app import App
from mailkeep.backup import restic
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.db.liveness import LivenessLock
from mailkeep.features.operations.backups import engine, policy, service, store, verification
from mailkeep.features.operations.backups.model import (
    Backup,
    BackupOperation,
    Cancelled,
    Handler,
    OperationKind,
    OperationState,
)
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat

log = structlog.get_logger("mailkeep.backups")

_POLL_SECONDS = 1.0
_SCHEDULE_SECONDS = 10.0
_SCHEDULER = "schedule"
_UNFORESEEN = "An internal error occurred; the server's log has the details."
HANDLERS: Mapping[OperationKind, Handler] = {
    "create": engine.create,
    "prune": engine.prune,
    "verify": verification.verify,
}
"""The handlers of this feature."""


class BackupWorker:
    """Performs operations, one at a time. `handlers` by kind."""

    def __init__(self, app: App, handlers: Mapping[OperationKind, Handler] = HANDLERS) -> None:
        self._app = app
        self._handlers = handlers
        self._lock = LivenessLock(app.db)

    async def run(self) -> None:
        """Perform operations until cancelled; the one in progress then ends as failed."""
        scheduling = asyncio.create_task(repeat(_SCHEDULE_SECONDS, "the schedule of backups", self.schedule_due))
        try:
            await repeat(_POLL_SECONDS, "operations on backups", self.perform_waiting)
        finally:
            await cancel_all(scheduling)
            await self._lock.release()

    async def perform_waiting(self) -> bool:
        """Perform the operation that waits; False if there is none: then one whose process has died is ended."""
        process = await self._lock.hold()
        async with self._app.db.autocommit() as conn:
            operation = await store.claim_operation(conn, process, self._app.clock())
        if operation is None:
            await self.end_interrupted()
            return False
        failpoint.reach("backup.claimed")
        await self._perform(operation)
        return True

    async def end_interrupted(self) -> None:
        """End the operation of a process that has ended, and remove what it left."""
        async with self._app.db.autocommit() as conn:
            found = await store.find_open_process(conn)
            is_interrupted = found is not None and await self._lock.is_process_gone(conn, found[1])
        if found is None or not is_interrupted:
            return
        log.warning("an operation on backups was interrupted", operation=str(found[0]))
        await engine.remove_leftovers(self._app)
        await asyncio.to_thread(verification.remove_scratch, self._app)
        await self._finish(found[0], "failed", engine.INTERRUPTED)

    async def schedule_due(self) -> None:
        """Insert the operation that the schedule asks for, unless another one waits or runs."""
        app, settings = self._app, self._app.settings.backup
        if app.settings.database.url or not restic.find_program():
            return
        at = app.clock()
        async with app.db.tx() as conn:
            if await store.find_open_operation(conn):
                return
            newest = await store.find_newest(conn)
            last = await store.find_last_attempt(conn)
            success_at = newest.created_at if newest else None
            if policy.is_backup_due(settings.schedule, settings.start_time, success_at, last, at):
                backup = Backup(uuid7(at), "running", "schedule", at, version=__version__)
                await store.insert_backup(conn, backup)
                await store.insert_operation(conn, _by_schedule("create", backup.id, self._app))
            elif newest and "verify" in self._handlers:
                verified_at = max(
                    filter(None, (await store.find_last_verification(conn), await store.find_last_end(conn, "verify"))),
                    default=None,
                )
                first_at = None if verified_at else (await store.list_stored(conn))[0].created_at
                due = policy.next_verification_at(settings.verify_every, settings.start_time, verified_at, first_at)
                if due and due <= at:
                    await store.insert_operation(conn, _by_schedule("verify", newest.id, self._app))

    async def _perform(self, operation: BackupOperation) -> None:
        state: OperationState = "failed"
        error: str | None = None
        result: Mapping[str, Any] | None = None
        reporter = _Reporter(self._app, operation)
        handler = self._handlers.get(operation.kind)
        try:
            if handler is None:
                raise Failure(f"This Mailkeep does not know the operation {operation.kind}.", permanent=True)
            if not restic.find_program():
                raise Failure(f"restic is not installed: {restic.INSTALL_COMMAND}", permanent=True)
            result = await reporter.supervise(handler)
            state = "succeeded"
        except Cancelled:
            state = "cancelled"
        except asyncio.CancelledError:
            error = engine.INTERRUPTED
            with contextlib.suppress(Unavailable):
                await self._finish(operation.id, "failed", error)
            raise
        except Failure as failure:
            error = str(failure)
            log.warning("an operation on backups failed", kind=operation.kind, why=error)
        except Unavailable as refusal:
            error = str(refusal)
        except Exception:
            log.exception("an operation on backups failed", kind=operation.kind)
            error = _UNFORESEEN
        await self._finish(operation.id, state, error, result)

    async def _finish(
        self, operation_id: UUID, state: OperationState, error: str | None, result: Mapping[str, Any] | None = None
    ) -> None:
        """Record the end of an operation, and of its backup if it made one; while the database is away, wait."""
        while True:
            try:
                at = self._app.clock()
                async with self._app.db.tx() as conn:
                    operation = await store.find_operation(conn, operation_id)
                    if operation is None or not await store.finish_operation(
                        conn, operation_id, state, at, error=error, result=result
                    ):
                        return
                    backup = await store.find_backup(conn, operation.backup_id) if operation.backup_id else None
                    if operation.kind == "create" and backup and backup.state == "running" and state != "succeeded":
                        ended = "cancelled" if state == "cancelled" else "failed"
                        await store.finish_backup(conn, replace(backup, state=ended, finished_at=at, error=error))
                    operation = replace(operation, state=state, error=error, result=result, finished_at=at)
                    await service.record_restore_end(conn, at, operation)
                break
            except Unavailable:
                await asyncio.sleep(_POLL_SECONDS)


class _Reporter:
    """Writes an operation's progress once a second, and ends its handler if it is cancelled."""

    def __init__(self, app: App, operation: BackupOperation) -> None:
        self._app = app
        self._operation = operation
        self._is_cancelled = False

    async def supervise(self, handler: Handler) -> Mapping[str, Any]:
        """The result of the handler. Cancelled."""
        working = asyncio.create_task(_result_of(handler, self._app, self._operation, self._report))
        writing = asyncio.create_task(self._keep_writing(working))
        try:
            return await working
        except asyncio.CancelledError:
            if self._is_cancelled:
                raise Cancelled from None
            raise
        finally:
            await cancel_all(writing, working)

    async def _report(self, phase: str, done: int, total: int) -> None:
        is_new = phase != self._operation.phase
        self._operation = replace(self._operation, phase=phase, done=done, total=total)
        if is_new:
            await self._write()
        if self._is_cancelled:
            raise Cancelled

    async def _keep_writing(self, working: asyncio.Task[Any]) -> None:
        while not working.done():
            await asyncio.sleep(_POLL_SECONDS)
            await self._write()
            if self._is_cancelled:
                await cancel_all(working)

    async def _write(self) -> None:
        with contextlib.suppress(Unavailable):
            async with self._app.db.autocommit() as conn:
                self._is_cancelled = await store.save_progress(conn, self._operation)


async def _result_of(handler: Handler, app: App, operation: BackupOperation, report: Any) -> Mapping[str, Any]:
    return await handler(app, operation, report)


def _by_schedule(kind: OperationKind, backup_id: UUID, app: App) -> BackupOperation:
    at = app.clock()
    return BackupOperation(uuid7(at), kind, "waiting", backup_id, None, _SCHEDULER, at)


@contextlib.asynccontextmanager
async def working(app: App, handlers: Mapping[OperationKind, Handler] = HANDLERS) -> AsyncGenerator[None]:
    """Perform operations while the block lasts."""
    task = asyncio.create_task(BackupWorker(app, handlers).run())
    try:
        yield
    finally:
        await cancel_all(task)
