"""List what a backup contains."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec

from mailkeep.app import App
from mailkeep.backup import restic
from mailkeep.backup.contents import ContentsEntry, ContentsQuery, ContentsSlice, Entries, list_entries
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.page import MAX_LIMIT, Page, PageRequest
from mailkeep.features.operations.backups import service as backups
from mailkeep.features.operations.backups.model import BACKUP_FOLDER
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.node_tasks.service import TaskHandler

_TASK = "backups.contents"
_WAIT_SECONDS, _PAUSE_SECONDS = 20.0, 0.2


class _Request(msgspec.Struct, frozen=True):
    """The argument of the task."""

    snapshot: str
    query: ContentsQuery
    page: ContentsSlice


class _Answer(msgspec.Struct, frozen=True):
    """Its result. `ready` is false while the index is being read."""

    ready: bool
    entries: list[ContentsEntry] = []
    next_key: tuple[str, str] | None = None


async def page(app: App, backup_id: UUID, query: ContentsQuery, page_request: PageRequest) -> Page[ContentsEntry]:
    """A page of a backup's contents. NOT_FOUND; CONFLICT `not_stored`; UNAVAILABLE `needs_restic`, `reading_index`."""
    async with app.db.autocommit() as conn:
        backup = await backups.get_stored(conn, backup_id)
    after = None if page_request.after is None else (str(page_request.after[0]), str(page_request.after[1]))
    request = _Request(backup.snapshot, query, ContentsSlice(page_request.limit, page_request.order == "desc", after))
    loop = asyncio.get_running_loop()
    until = loop.time() + _WAIT_SECONDS
    while True:
        answer = await _ask(app, request)
        if answer.ready:
            return Page(answer.entries, answer.next_key)
        if loop.time() > until:
            raise Unavailable("The index of the backup is being read from the repository.", reason="reading_index")
        await asyncio.sleep(_PAUSE_SECONDS)


async def list_all(app: App, backup_id: UUID, query: ContentsQuery) -> list[ContentsEntry]:
    """All entries of a part of a backup; refusals as of `page`."""
    found: list[ContentsEntry] = []
    after = None
    while True:
        current = await page(app, backup_id, query, PageRequest(MAX_LIMIT, "name", "asc", after))
        found += current.rows
        after = current.next_key
        if after is None:
            return found


async def _ask(app: App, request: _Request) -> _Answer:
    if app.settings.is_full_profile:
        return msgspec.convert(await node_tasks.run(app, _TASK, msgspec.to_builtins(request)), _Answer)
    try:
        return await _perform(app, request)
    except Failure as error:
        raise Unavailable(str(error), reason="operation_failed") from None


def task_handlers(app: App) -> Mapping[str, TaskHandler]:
    """The task for the process `node`."""

    async def perform(argument: Mapping[str, Any]) -> Mapping[str, Any]:
        return msgspec.to_builtins(await _perform(app, msgspec.convert(argument, _Request)))

    return {_TASK: perform}


async def _perform(app: App, request: _Request) -> _Answer:
    folder = app.data_dir / BACKUP_FOLDER
    repository = restic.Repository.from_settings(app.settings.backup, folder)
    found: Entries | None = await list_entries(repository, folder, request.snapshot, request.query, request.page)
    return _Answer(False) if found is None else _Answer(True, *found)
