"""Connection pools to relays, one for each distinct relay and login.

After a connection to a relay failed before the envelope, there is no new attempt for a few seconds: other messages for
it, also those that wait for a connection, fail at once. If they waited for the timeout, they would occupy Postfix's
delivery processes, which mail through other relays needs.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope
from mailkeep.mail.smtp.connection import ConnectionLost, Relay
from mailkeep.mail.smtp.pool import SmtpPool

_MAX_POOLS = 200
_PAUSE_SECONDS = 5.0
_WAIT_SECONDS = 15.0
_MESSAGE_STAGES = ("envelope", "body", "acceptance")

_Key = tuple[str, int, str, str | None, str | None]


@dataclass(slots=True)
class _RelayPool:
    pool: SmtpPool
    slots: asyncio.Semaphore
    failure: ConnectionLost | None = None
    failed_at: float = 0.0

    def raise_recent_failure(self) -> None:
        """Raise the last attempt's error again if it was less than `_PAUSE_SECONDS` ago."""
        if self.failure and asyncio.get_running_loop().time() - self.failed_at < _PAUSE_SECONDS:
            raise ConnectionLost(self.failure.why, self.failure.stage)


class RelayPools:
    """Pools by relay. A new one replaces the least recently used one if there are too many."""

    def __init__(self, *, size: int = 20) -> None:
        self._size = size
        self._pools: OrderedDict[_Key, _RelayPool] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    async def submit(
        self, relay: Relay, envelope: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool = False
    ) -> AcceptedSubmission:
        """Send one message through `relay`, as `SmtpPool.submit` does."""
        entry = self._pool((relay.host, relay.port, relay.tls, relay.username, relay.password), relay)
        entry.raise_recent_failure()
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await entry.slots.acquire()
        except TimeoutError:
            raise ConnectionLost(f"no free connection within {_WAIT_SECONDS:g} s", "connect") from None
        try:
            entry.raise_recent_failure()
            return await self._submit(entry, envelope, body, stuffed=stuffed)
        finally:
            entry.slots.release()

    async def close(self) -> None:
        """Close all idle connections."""
        while self._pools:
            await self._pools.popitem()[1].pool.close()

    async def _submit(
        self, entry: _RelayPool, envelope: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool
    ) -> AcceptedSubmission:
        try:
            accepted = await entry.pool.submit(envelope, body, stuffed=stuffed)
        except ConnectionLost as lost:
            if lost.stage not in _MESSAGE_STAGES:
                entry.failure, entry.failed_at = lost, asyncio.get_running_loop().time()
            raise
        entry.failure = None
        return accepted

    def _pool(self, key: _Key, relay: Relay) -> _RelayPool:
        entry = self._pools.get(key)
        if entry is None:
            entry = self._pools[key] = _RelayPool(SmtpPool(relay, size=self._size), asyncio.Semaphore(self._size))
            while len(self._pools) > _MAX_POOLS:
                _, oldest = self._pools.popitem(last=False)
                task = asyncio.create_task(oldest.pool.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        self._pools.move_to_end(key)
        return entry
