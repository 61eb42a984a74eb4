"""The record of an operation in the database: its steps and how it ended. It decides whether an apply has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.operations.orchestrator import service as operations
from mailkeep.features.operations.orchestrator.model import OperationState, Step, StepState
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import journal
from mailkeep.run.runtime.journal import ApplyJournal

log = structlog.get_logger("mailkeep.apply")

INTERRUPTED = "Mailkeep stopped during the operation; the earlier configuration was restored."
_RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an operation ended."""

    state: OperationState
    error: str | None = None


class Recorder:
    """Records the steps of an operation."""

    def __init__(self, app: App, operation_id: UUID, steps: Sequence[Step] = ()) -> None:
        self._app, self._id = app, operation_id
        self._steps = list(steps)

    async def run(self, name: str, work: Awaitable[str | None]) -> None:
        """Run a step, whose output is what `work` returns. Raises what it raises."""
        self._steps.append(Step(name, "running", self._app.clock()))
        await self._save()
        try:
            output = await work
        except Exception as error:
            await self._end("failed", str(error))
            raise
        await self._end("succeeded", output or "")

    async def _end(self, state: StepState, output: str) -> None:
        step = self._steps[-1]
        self._steps[-1] = Step(step.name, state, step.started_at, self._app.clock(), output)
        await self._save()

    async def _save(self) -> None:
        await persist(lambda: operations.save_steps(self._app, self._id, self._steps))


async def persist(write: Callable[[], Awaitable[None]]) -> None:
    """Write to the database or the disk, again and again until it works."""
    while True:
        try:
            await write()
            return
        except (Unavailable, OSError) as error:
            log.warning("an operation could not be recorded; trying again", reason=str(error))
            await asyncio.sleep(_RETRY_SECONDS)


async def find_outcome(app: App, entry: ApplyJournal) -> Outcome | None:
    """How the operation of a journal that was left ended: it had ended, or was watched and confirmed. None: not yet."""
    operation = await operations.find_or_none(app, entry.operation_id)
    if operation is None:
        return None
    if operation.state != "running":
        return Outcome(operation.state, operation.error)
    return Outcome("succeeded") if operation.confirmed_at else None


async def end_damaged(app: App, paths: InstancePaths, problem: str) -> None:
    """End the operation whose journal is damaged, and set the journal aside."""
    text = f"The earlier configuration could not be restored: {problem} Restart Mailkeep, and look at the settings."
    log.critical("the journal of an apply is damaged", problem=problem)
    await operations.finish_damaged(app, text)
    log.warning("the damaged journal is kept", path=str(journal.set_aside(paths)))
