"""DNS look-ups that belong together: each question is asked once, and queries are counted."""

from __future__ import annotations

import asyncio

from mailkeep.net.dns_query import DnsAnswer, DnsQuery


class Lookups:
    """Look-ups by each name server. `slots` limits how many run at a time, together with those of others; `most`: how
    many questions may be asked (None: any number). The answer to a further one is an error.
    """

    def __init__(self, query: DnsQuery, slots: asyncio.Semaphore, most: int | None = None) -> None:
        self._query = DnsQuery(query.servers())  # /etc/resolv.conf is read once per check
        self._servers = max(1, len(query.servers()))
        self._slots, self._most = slots, most
        self._answers: dict[tuple[str, str], asyncio.Task[list[DnsAnswer]]] = {}

    @property
    def count(self) -> int:
        """Queries so far."""
        return len(self._answers) * self._servers

    async def ask(self, name: str, record_type: str) -> list[DnsAnswer]:
        """One answer per name server, in their order."""
        key = (name.lower().rstrip("."), record_type)
        task = self._answers.get(key)
        if task is None:
            if self._most is not None and len(self._answers) >= self._most:
                return [
                    DnsAnswer("", "error", error=f"the check needs more than {self._most} DNS look-ups")
                ] * self._servers
            task = self._answers[key] = asyncio.create_task(self._ask(*key))
        return await asyncio.shield(task)

    async def _ask(self, name: str, record_type: str) -> list[DnsAnswer]:
        async with self._slots:
            try:
                return await self._query.ask(name, record_type)
            except ValueError:
                return [DnsAnswer("", "no_name")] * self._servers

    async def close(self) -> None:
        """End what still waits for an answer."""
        for task in self._answers.values():
            task.cancel()
        await asyncio.gather(*self._answers.values(), return_exceptions=True)
