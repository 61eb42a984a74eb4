"""What came into mailboxes by the lmtp agent, added to their figures (docs/decisions/0025).

Dovecot tells nobody of a delivery: to count all folders once more would hold it up. The agent knows the mailbox, and
about the size. It keeps both in memory, and writes once a second; a mailbox to which something was added is due for a
count, which `run/processes/counting` has made soon after.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Arrivals
from mailkeep.run.runtime import tasks

_WRITE_SECONDS = 1.0
_LAST_SECONDS = 1.0
_MOST = 100_000  # mailboxes that are remembered while the database is away


@dataclass(slots=True)
class ArrivalRecorder:
    """What came into mailboxes and is not written yet."""

    app: App
    _came: dict[UUID, Arrivals] = field(default_factory=dict[UUID, Arrivals])

    def note(self, mailbox_id: UUID, size: int) -> None:
        """A message of so many bytes has come into a mailbox just now."""
        self._include(Arrivals(mailbox_id, self.app.clock(), size, 1))

    def _include(self, more: Arrivals) -> None:
        before = self._came.get(more.mailbox_id)
        if before:
            at = max(before.at, more.at)
            more = replace(more, at=at, size=before.size + more.size, messages=before.messages + more.messages)
        if before or len(self._came) < _MOST:
            self._came[more.mailbox_id] = more

    async def write(self) -> None:
        """Write what came; what can't be written now stays.

        What was added in vain, or twice where the database went away meanwhile, does not last: a count follows.
        """
        came, self._came = self._came, {}
        if not came:
            return
        held = list(came)
        try:
            async with self.app.db.autocommit() as conn:
                held = await mailboxes.add_arrivals(conn, list(came.values()))
        finally:
            for each in held:
                self._include(came[each])

    async def keep_writing(self) -> None:
        """Write once a second until cancelled, and what is left then, if it can be."""
        try:
            await tasks.repeat(_WRITE_SECONDS, "what came into mailboxes", self.write)
        finally:
            with suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(_LAST_SECONDS):
                    await self.write()
