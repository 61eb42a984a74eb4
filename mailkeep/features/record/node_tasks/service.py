"""Request node tasks and wait for their results; run them in the process `node`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.node_tasks import store
from mailkeep.features.record.node_tasks.model import NodeTask

log = structlog.get_logger("mailkeep.node_tasks")

TaskHandler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Runs a task: takes its argument, returns its result. The message of a Failure is returned to the caller."""

_WAIT_SECONDS = 10.0
_FIRST_POLL_SECONDS = 0.01
_POLL_SECONDS = 0.1
_LONGEST_TASK = timedelta(minutes=5)
_RETENTION = timedelta(days=7)
_INTERRUPTED = "The process `node` stopped while it ran this task; check whether the task was done."


async def submit(conn: Conn, app: App, kind: str, argument: Mapping[str, Any]) -> NodeTask:
    """Request a task in the caller's transaction; call `wait_for_result` after the commit."""
    at = app.clock()
    task = NodeTask(uuid7(at), kind, argument, "waiting")
    await store.insert(conn, task, at)
    return task


async def wait_for_result(app: App, task: NodeTask, seconds: float = _WAIT_SECONDS) -> Mapping[str, Any]:
    """The result of a task. UNAVAILABLE if it failed or has no result within `seconds`.

    `details.reason` is node_agent_away (the task was not done and will not be), still_running, or operation_failed.
    """
    loop = asyncio.get_running_loop()
    deadline, pause = loop.time() + seconds, _FIRST_POLL_SECONDS
    while loop.time() < deadline:
        await asyncio.sleep(pause)
        pause = min(_POLL_SECONDS, pause * 1.5)
        async with app.db.autocommit() as conn:
            current = await store.find(conn, task.id)
        if current is None:
            break
        if current.state == "succeeded":
            return current.result or {}
        if current.state == "failed":
            raise Unavailable(current.error, reason="operation_failed")
    async with app.db.autocommit() as conn:
        withdrawn = await store.withdraw(conn, task.id, app.clock())
    if withdrawn:
        text = f"The process `node` did not take the task within {seconds:.0f} s; it was not done. See log/node.log."
        raise Unavailable(text, reason="node_agent_away")
    raise Unavailable(
        "The process `node` is still running the task; check later whether it is done.", reason="still_running"
    )


async def run(app: App, kind: str, argument: Mapping[str, Any], seconds: float = _WAIT_SECONDS) -> Mapping[str, Any]:
    """Request a task in its own transaction, and return its result."""
    async with app.db.autocommit() as conn:
        task = await submit(conn, app, kind, argument)
    return await wait_for_result(app, task, seconds)


async def run_next(app: App, handlers: Mapping[str, TaskHandler]) -> bool:
    """Claim the next task and run it; False if there is none."""
    async with app.db.autocommit() as conn:
        task = await store.claim(conn, app.clock())
    if task is None:
        return False
    result, error = await _handle(task, handlers)
    async with app.db.autocommit() as conn:
        await store.finish(conn, task.id, app.clock(), result, error)
    return True


async def _handle(task: NodeTask, handlers: Mapping[str, TaskHandler]) -> tuple[Mapping[str, Any] | None, str | None]:
    handler = handlers.get(task.kind)
    if handler is None:
        return None, f"The process `node` does not know the task {task.kind}: restart Mailkeep."
    try:
        return await handler(task.argument), None
    except Failure as error:
        return None, str(error)
    except Exception:
        log.exception("node task failed", kind=task.kind)
        return None, "The task failed; see log/node.log."


async def fail_interrupted(app: App) -> None:
    """At the start of the process `node`: mark the tasks that an earlier one did not finish as failed."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        await store.fail_stale(conn, at, at, _INTERRUPTED)


async def clean_up(app: App) -> None:
    """Mark tasks whose process died as failed, and delete old tasks."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        await store.fail_stale(conn, at, at - _LONGEST_TASK, _INTERRUPTED)
        await store.delete_before(conn, at - _RETENTION)
