"""`mailkeep` that is killed when it reaches a failpoint for the nth time.

Where and when is armed while it runs: a line `NAME N` written to the FIFO that MAILKEEP_TESTS_ARM names. Beside the
product's own places there is `answer.half_written`: half of the answer to a send is on its way to the client.
MAILKEEP_TESTS_LEASE shortens the lease of deliveries to that many seconds, MAILKEEP_TESTS_NO_WORKER leaves them to
others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

from mailkeep.core import failpoint
from mailkeep.web.pipeline import Pipeline

ARM = "MAILKEEP_TESTS_ARM"
LEASE = "MAILKEEP_TESTS_LEASE"
NO_WORKER = "MAILKEEP_TESTS_NO_WORKER"
HALF_WRITTEN = "answer.half_written"


class _Trap:
    """Counts down; failpoints are reached in several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._name, self._left = "", 0

    def arm(self, name: str, nth: int) -> None:
        with self._lock:
            self._name, self._left = name, nth

    def is_set(self, name: str) -> bool:
        return name == self._name

    def reach(self, name: str) -> None:
        with self._lock:
            if name == self._name:
                self._left -= 1
                if self._left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)


def _listen(trap: _Trap, fifo: Path) -> None:
    while True:
        for line in fifo.read_text().splitlines():
            name, nth = line.split()
            trap.arm(name, int(nth))


def _halve_answers(trap: _Trap) -> None:
    serve = Pipeline._serve

    async def halved(self: Pipeline, scope: Any, receive: Any, send: Any) -> None:
        async def in_halves(message: Any) -> None:
            if not trap.is_set(HALF_WRITTEN) or message["type"] != "http.response.body" or not message["body"]:
                await send(message)
                return
            body = message["body"]
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
            trap.reach(HALF_WRITTEN)
            await send(message | {"body": body[len(body) // 2 :]})

        await serve(self, scope, receive, in_halves if scope["path"].startswith("/api/v1/send") else send)

    Pipeline._serve = halved


def _other_worker() -> None:
    from mailkeep.features.mailflow.webhooks import jobs
    from mailkeep.run.processes import worker

    if seconds := os.environ.get(LEASE):
        jobs.LEASE = timedelta(seconds=float(seconds))
    if os.environ.get(NO_WORKER):
        worker.deliver_webhooks = _nobody_delivers


@contextlib.asynccontextmanager
async def _nobody_delivers(app: Any) -> AsyncGenerator[None]:
    yield


def main() -> None:
    trap = _Trap()
    failpoint.reach = trap.reach
    _halve_answers(trap)
    _other_worker()
    threading.Thread(target=_listen, args=(trap, Path(os.environ[ARM])), daemon=True).start()
    from mailkeep.run.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
