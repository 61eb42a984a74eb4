"""The worker that carries out bulk operations."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Forbidden, InternalError, Refusal, Unavailable
from mailkeep.core.password import MAX_LENGTH, MIN_LENGTH, prepare_password
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.directory.bulk import service, store
from mailkeep.features.directory.bulk.model import BulkItem, BulkOperation
from mailkeep.jobs.run import ClaimLimits, JobQueue, QueueWorker

log = structlog.get_logger("mailkeep.bulk")

_LEASE = timedelta(seconds=30)
_RENEW_SECONDS = 5.0
_CONCURRENCY = 2  # operations, of different accounts
_SLICE = 20  # items whose passwords are hashed ahead
_ATTEMPTS = 4  # of an item when the database is away, or a transaction is rolled back because of others
_PAUSE_SECONDS = 0.5


class BulkWorker(QueueWorker[BulkOperation]):
    """The operations that are due. Another worker continues those that are interrupted."""

    def __init__(self, app: App) -> None:
        self._app = app
        queue = JobQueue("bulk", self._claim, _key, self._work, self._release)
        super().__init__(app.db, queue, slots=_CONCURRENCY)

    async def _claim(self, limits: ClaimLimits) -> Sequence[BulkOperation]:
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            return await store.claim(conn, at, at + _LEASE, limits.total)

    async def _work(self, operation: BulkOperation) -> bool:
        """Carry out the items without a result, and finish the operation."""
        clock = asyncio.get_running_loop().time
        renewed_at = clock()
        while True:
            async with self._app.db.autocommit() as conn:
                items = await store.list_pending(conn, operation.id, _SLICE)
                if not items:
                    await store.finish(conn, operation.id, self._app.clock())
                    return True
            contents = [service.open_item(self._app, operation, item) for item in items]
            hashes = {} if operation.dry_run else _hash_ahead(items, contents)
            try:
                for item, content in zip(items, contents, strict=True):
                    if clock() - renewed_at > _RENEW_SECONDS:
                        renewed_at = clock()
                        async with self._app.db.autocommit() as conn:
                            await store.set_claim(conn, operation.id, self._app.clock() + _LEASE)
                    await self._run_item(operation, item.index, content, hashes.get(item.index, _hash_now))
            finally:
                for each in hashes.values():
                    each.cancel()

    async def _release(self, operation: BulkOperation) -> None:
        async with self._app.db.autocommit() as conn:
            await store.set_claim(conn, operation.id, self._app.clock())

    async def _run_item(
        self,
        operation: BulkOperation,
        index: int,
        content: dict[str, Any] | None,
        hash_password: Callable[[str], Awaitable[str]],
    ) -> None:
        """Carry out an item and write its result. UNAVAILABLE if the database stays away."""
        for attempt in range(_ATTEMPTS):
            try:
                await self._attempt(operation, index, content, hash_password)
                return
            except Unavailable:
                if attempt == _ATTEMPTS - 1:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _attempt(
        self,
        operation: BulkOperation,
        index: int,
        content: dict[str, Any] | None,
        hash_password: Callable[[str], Awaitable[str]],
    ) -> None:
        async with self._app.db.autocommit() as conn:
            who = await sessions.refresh(self._app, conn, operation.who)
        execution = service.ItemExecution(self._app, who or operation.who, operation, index, hash_password)
        try:
            if who is None:
                raise Forbidden("The account or the API key that requested this operation does not exist any more.")
            if content is None:
                raise InternalError("The item was sealed with another master secret: import it again.")
            await execution.run(dict(content))
        except service.ItemHasResult:
            return
        except service.DryRunSucceeded:
            await execution.save(None)
        except Unavailable:
            raise
        except Refusal as refusal:
            await execution.save(refusal)
        except Exception:
            log.exception("an item of a bulk operation failed", operation=str(operation.id), index=index)
            await execution.save(InternalError())


class _AheadHash:
    """The hash of a password, which is computed while earlier items are written."""

    def __init__(self, password: str) -> None:
        self._password = password
        self._task = asyncio.create_task(admins.hash_in_background(password))

    async def __call__(self, password: str) -> str:
        return await (asyncio.shield(self._task) if password == self._password else _hash_now(password))

    def cancel(self) -> None:
        self._task.cancel()


def _hash_ahead(items: Sequence[BulkItem], contents: Sequence[dict[str, Any] | None]) -> dict[int, _AheadHash]:
    hashes: dict[int, _AheadHash] = {}
    for item, content in zip(items, contents, strict=True):
        password = content.get("password") if isinstance(content, dict) else None
        if isinstance(password, str) and MIN_LENGTH <= len(password) <= MAX_LENGTH:
            hashes[item.index] = _AheadHash(prepare_password(password))
    return hashes


async def _hash_now(password: str) -> str:
    return await admins.hash_in_background(password)


def _key(operation: BulkOperation) -> UUID:
    return operation.id
