"""Connection pools to relays, one for each distinct relay and login.

A relay that could not be reached is not tried again for a few seconds: of many messages that wait for it, one pays for
its timeout and the others are answered at once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable

from mailkeep.mail.smtp_client import Submission, Submitted
from mailkeep.mail.smtp_connection import Lost, Relay
from mailkeep.mail.smtp_pool import SmtpPool

_MOST_POOLS = 200
_PAUSE_SECONDS = 5.0

_Key = tuple[str, int, str, str | None, str | None]


class RelayPools:
    """Pools by relay; the one that was not used for longest makes room for a new one."""

    def __init__(self, *, size: int = 20) -> None:
        self._size = size
        self._pools: OrderedDict[_Key, SmtpPool] = OrderedDict()
        self._failures: dict[_Key, tuple[float, Lost]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def submit(
        self, relay: Relay, submission: Submission, body: Iterable[bytes], *, stuffed: bool = False
    ) -> Submitted:
        """Send one message by `relay`, as `SmtpPool.submit` does."""
        key = (relay.host, relay.port, relay.tls, relay.username, relay.password)
        now = asyncio.get_running_loop().time()
        failed_at, failure = self._failures.get(key, (0.0, None))
        if failure and now - failed_at < _PAUSE_SECONDS:
            raise Lost(failure.why, failure.stage)
        try:
            submitted = await self._pool(key, relay).submit(submission, body, stuffed=stuffed)
        except Lost as lost:
            if lost.stage == "connect":
                self._failures[key] = (asyncio.get_running_loop().time(), lost)
            raise
        self._failures.pop(key, None)
        return submitted

    async def close(self) -> None:
        """Close all connections that are idle."""
        while self._pools:
            await self._pools.popitem()[1].close()

    def _pool(self, key: _Key, relay: Relay) -> SmtpPool:
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = SmtpPool(relay, size=self._size)
            while len(self._pools) > _MOST_POOLS:
                old, oldest = self._pools.popitem(last=False)
                self._failures.pop(old, None)
                task = asyncio.create_task(oldest.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        self._pools.move_to_end(key)
        return pool
