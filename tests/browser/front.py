"""A second address of the scene that behaves as the full profile, with a queue and ACME: same database and sessions.

The queue is a list (`tests.mailflow.queue.stand_in`) instead of Postfix, and Sieve scripts are in memory
(`tests.directory.sieve.stand_in`); each mailbox has one folder. `tests/stack` uses the real ones.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from mailkeep.features.operations.backup_contents import service as backup_contents
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.queue import PostqueueEntry, PostqueueRecipient
from mailkeep.run.runtime.context import attach
from mailkeep.run.runtime.http import HttpListener
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.settings.external import AcmeSettings
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.browser.scene import EXAMPLE, Caller, Scene
from tests.directory.sieve.stand_in import ScriptsInMemory
from tests.mailflow.queue.stand_in import Waiters, answering

SHOP = f"shop@{EXAMPLE}"
_GREYLISTED = "host mx.elsewhere.test[203.0.113.7] said: 451 4.7.1 Greylisting in action, please come back later"
_TIMED_OUT = "connect to mx.far.test[203.0.113.9]:25: Connection timed out"


def list_queued_messages(now: int) -> list[PostqueueEntry]:
    """Queued messages in different states, relative to a Unix time."""
    far = [
        PostqueueRecipient("ann@far.test", _TIMED_OUT),
        PostqueueRecipient("ben@far.test", _TIMED_OUT),
        PostqueueRecipient("cleo@far.test", _TIMED_OUT),
    ]
    return [
        PostqueueEntry(
            "deferred", "4jW9T10K2mz1", now - 5400, 4_120, SHOP, [PostqueueRecipient("zoe@elsewhere.test", _GREYLISTED)]
        ),
        PostqueueEntry("deferred", "4jW9T11P7xz2", now - 4000, 18_404, f"news@{EXAMPLE}", far),
        PostqueueEntry(
            "hold", "4jW9T12Q9rz3", now - 2500, 2_048, f"bob@{EXAMPLE}", [PostqueueRecipient("owen@elsewhere.test")]
        ),
        PostqueueEntry("active", "4jW9T13R1sz4", now - 3, 1_310, SHOP, [PostqueueRecipient("customer@elsewhere.test")]),
    ]


async def _list_folders(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"folders": [{"name": "INBOX", "messages": 2, "unseen": 1, "size": 4096}]}


@dataclass
class Front:
    """The second address of the scene. `waiters`: the queue in place of Postfix."""

    http: str
    scene: Scene
    waiters: Waiters

    def caller(self, role: str) -> Caller:
        return Caller(self.http, self.scene.caller(role).token)


@asynccontextmanager
async def run_front(scene: Scene) -> AsyncIterator[Front]:
    """Serve the second address until the end of the block."""
    listener = HttpListener("127.0.0.1", 0, "The front")
    async with attach(scene.instance.data_dir, "front") as app:
        app.settings = replace(app.settings, acme=AcmeSettings(enabled=True, agree_terms=True))
        with pytest.MonkeyPatch.context() as patch:
            soon = app.clock() + timedelta(minutes=12)
            patch.setattr(postfix_queue, "next_attempts", lambda queue, ids: dict.fromkeys(ids, soon))
            queued = list_queued_messages(int(app.clock().timestamp()))
            scripts, contents = ScriptsInMemory(app).handlers(), backup_contents.task_handlers(app)
            handlers = {**scripts, **contents, "mailbox.folders": _list_folders}
            async with answering(app, patch, queued, handlers) as waiters:
                await listener.start(Pipeline(app, Router(ENDPOINTS), ACCESS_CONTROL), grace_seconds=1)
                try:
                    yield Front(listener.url, scene, waiters)
                finally:
                    await listener.stop()
                    await app.parser.close()
