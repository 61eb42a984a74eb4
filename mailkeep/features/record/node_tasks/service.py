"""Asking a node's agent, and being one."""

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

log = structlog.get_logger("mailkeep.operations")

TaskHandler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Does an operation: its argument in, its result out; a Failure is told to whoever asked."""

_SECONDS = 10.0
_FIRST_LOOK = 0.01
_LOOK = 0.1
_ABANDONED = timedelta(minutes=5)
_KEPT = timedelta(days=7)
_LOST = "The node's agent was ended while it was at it"


async def submit(conn: Conn, app: App, kind: str, argument: Mapping[str, Any]) -> NodeTask:
    """Ask in the caller's transaction; to be awaited with `answer` once that is committed."""
    at = app.clock()
    operation = NodeTask(uuid7(at), kind, argument, "waiting")
    await store.insert(conn, operation, at)
    return operation


async def wait_for_result(app: App, operation: NodeTask, seconds: float = _SECONDS) -> Mapping[str, Any]:
    """What came of an operation. UNAVAILABLE where the node's agent did not answer in time, or failed.

    `details.reason` is node_agent_away (it was not done, and will not be), still_running, or operation_failed.
    """
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + seconds, _FIRST_LOOK
    while loop.time() < until:
        await asyncio.sleep(pause)
        pause = min(_LOOK, pause * 1.5)
        async with app.db.autocommit() as conn:
            found = await store.find(conn, operation.id)
        if found is None:
            break
        if found.state == "succeeded":
            return found.result or {}
        if found.state == "failed":
            raise Unavailable(found.error, reason="operation_failed")
    async with app.db.autocommit() as conn:
        withdrawn = await store.withdraw(conn, operation.id, app.clock())
    if withdrawn:
        raise Unavailable("The agent of the node does not answer.", reason="node_agent_away")
    raise Unavailable("The agent of the node is still at it.", reason="still_running")


async def run(app: App, kind: str, argument: Mapping[str, Any]) -> Mapping[str, Any]:
    """`begin` and `answer` of what changes nothing."""
    async with app.db.autocommit() as conn:
        operation = await submit(conn, app, kind, argument)
    return await wait_for_result(app, operation)


async def run_next(app: App, performers: Mapping[str, TaskHandler]) -> bool:
    """Claim the next operation and do it; False where none waits."""
    async with app.db.autocommit() as conn:
        operation = await store.claim(conn, app.clock())
    if operation is None:
        return False
    result, error = await _handle(operation, performers)
    async with app.db.autocommit() as conn:
        await store.finish(conn, operation.id, app.clock(), result, error)
    return True


async def _handle(
    operation: NodeTask, performers: Mapping[str, TaskHandler]
) -> tuple[Mapping[str, Any] | None, str | None]:
    perform = performers.get(operation.kind)
    if perform is None:
        return None, f"This node can't do {operation.kind}."
    try:
        return await perform(operation.argument), None
    except Failure as error:
        return None, str(error)
    except Exception:
        log.exception("an operation failed", kind=operation.kind)
        return None, "It failed; the node's log says why."


async def clean_up(app: App) -> None:
    """End what an agent that died has left, and let go of what is old."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        await store.fail_stale(conn, at, at - _ABANDONED, _LOST)
        await store.delete_before(conn, at - _KEPT)
