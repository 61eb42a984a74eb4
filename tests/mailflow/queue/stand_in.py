"""A fake agent of the node whose queue is a list, to test the queue without a mail server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from mailkeep.app import App
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.queue import Action, PostqueueEntry, PostqueueRecipient


class Waiters:
    """Postfix's queue."""

    def __init__(self, messages: list[PostqueueEntry]) -> None:
        self.messages = messages
        self.done: list[tuple[str, list[str]]] = []

    async def listing(self, conf: Path) -> list[PostqueueEntry]:
        return list(self.messages)

    async def act(self, conf: Path, action: Action, queue_ids: list[str]) -> None:
        self.done.append((action, list(queue_ids)))
        if action == "delete":
            self.messages = [each for each in self.messages if each.queue_id not in queue_ids]
        state = {"hold": "hold", "release": "deferred"}.get(action)
        if state is not None:
            self.messages = [
                msgspec.structs.replace(each, queue_name=state) if each.queue_id in queue_ids else each
                for each in self.messages
            ]


def waiting(number: int, state: str = "deferred", *to: str, sender: str = "shop@example.test") -> PostqueueEntry:
    recipients = [PostqueueRecipient(each, "try later") for each in to or ("a@far.test",)]
    return PostqueueEntry(state, f"4jW9T1xz{number:04d}", 1_770_000_000 + number, 512, sender, recipients)


@asynccontextmanager
async def answering(
    app: App,
    patch: pytest.MonkeyPatch,
    messages: list[PostqueueEntry],
    handlers: Mapping[str, TaskHandler] | None = None,
) -> AsyncIterator[Waiters]:
    """The application as in the full profile, with a running agent. `handlers`: of other tasks."""
    waiters = Waiters(messages)
    before = app.settings
    app.settings = replace(before, mta=replace(before.mta, mode="postfix"))
    queue_tasks = queue.task_handlers(app, InstancePaths(app.data_dir, app.data_dir))
    performers = {**queue_tasks, **(handlers or {})}

    async def work() -> None:
        while True:
            if not await node_tasks.run_next(app, performers):
                await asyncio.sleep(0.01)

    task = asyncio.create_task(work())
    try:
        with patch.context() as patched:
            patched.setattr(postfix_queue, "list_queue", waiters.listing)
            patched.setattr(postfix_queue, "apply_action", waiters.act)
            patched.setattr(node_tasks.wait_for_result, "__defaults__", (50.0,))  # the agent may stand still
            yield waiters
    finally:
        await cancel_all(task, retry_seconds=0.2)
        app.settings = before
