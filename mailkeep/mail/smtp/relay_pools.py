"""Connection pools to relays, one for each distinct relay and login.

A relay that could not be reached, or did not get as far as taking a message, is not tried again for a few seconds: of
many messages that wait for it, one pays for its timeout and the others are answered at once, those too that wait for a
connection. Mail by other relays, which shares the places of Postfix's deliveries, goes on.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope
from mailkeep.mail.smtp.connection import ConnectionLost, Relay
from mailkeep.mail.smtp.pool import SmtpPool

_MOST_POOLS = 200
_PAUSE_SECONDS = 5.0
_WAIT_SECONDS = 15.0
_OF_A_MESSAGE = ("envelope", "body", "acceptance")

_Key = tuple[str, int, str, str | None, str | None]


@dataclass(slots=True)
class _RelayPool:
    pool: SmtpPool
    slots: asyncio.Semaphore
    failure: ConnectionLost | None = None
    failed_at: float = 0.0

    def raise_recent_failure(self) -> None:
        """Raise `Lost` as the try before did, if that was a moment ago."""
        if self.failure and asyncio.get_running_loop().time() - self.failed_at < _PAUSE_SECONDS:
            raise ConnectionLost(self.failure.why, self.failure.stage)


class RelayPools:
    """Pools by relay; the one that was not used for longest makes room for a new one."""

    def __init__(self, *, size: int = 20) -> None:
        self._size = size
        self._pools: OrderedDict[_Key, _RelayPool] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    async def submit(
        self, relay: Relay, submission: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool = False
    ) -> AcceptedSubmission:
        """Send one message by `relay`, as `SmtpPool.submit` does."""
        kept = self._pool((relay.host, relay.port, relay.tls, relay.username, relay.password), relay)
        kept.raise_recent_failure()
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await kept.slots.acquire()
        except TimeoutError:
            raise ConnectionLost(f"no free connection within {_WAIT_SECONDS:g} s", "connect") from None
        try:
            kept.raise_recent_failure()
            submitted = await self._submit(kept, submission, body, stuffed=stuffed)
        finally:
            kept.slots.release()
        return submitted

    async def close(self) -> None:
        """Close all connections that are idle."""
        while self._pools:
            await self._pools.popitem()[1].pool.close()

    async def _submit(
        self, kept: _RelayPool, submission: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool
    ) -> AcceptedSubmission:
        try:
            submitted = await kept.pool.submit(submission, body, stuffed=stuffed)
        except ConnectionLost as lost:
            if lost.stage not in _OF_A_MESSAGE:
                kept.failure, kept.failed_at = lost, asyncio.get_running_loop().time()
            raise
        kept.failure = None
        return submitted

    def _pool(self, key: _Key, relay: Relay) -> _RelayPool:
        kept = self._pools.get(key)
        if kept is None:
            kept = self._pools[key] = _RelayPool(SmtpPool(relay, size=self._size), asyncio.Semaphore(self._size))
            while len(self._pools) > _MOST_POOLS:
                _, oldest = self._pools.popitem(last=False)
                task = asyncio.create_task(oldest.pool.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        self._pools.move_to_end(key)
        return kept
