"""The process `worker`: deliveries to webhooks. Any number of them may work on one database."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Protocol

from mailkeep.app import App
from mailkeep.features.webhooks.jobs import Deliveries

_GRACE_SECONDS = 2.0


class Process(Protocol):
    """What the process needs to know: when to end, and whom to tell that it works."""

    @property
    def ended(self) -> asyncio.Event:
        """Set when it is to end."""
        ...

    def ready(self) -> None:
        """Tell that it works."""
        ...


@contextlib.asynccontextmanager
async def delivering(app: App) -> AsyncGenerator[None]:
    """Deliver for as long as the block lasts; what is under way then may end within seconds, or is given back."""
    deliveries = Deliveries(app)
    task = asyncio.create_task(deliveries.run())
    try:
        yield
    finally:
        await deliveries.stop(_GRACE_SECONDS)
        await task


async def serve(app: App, process: Process) -> None:
    """Work until told to end."""
    async with delivering(app):
        process.ready()
        await process.ended.wait()
