"""Policies for decisions, and the hits of list entries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.app import App
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filtering import rules, store
from mailkeep.features.mailflow.filtering.model import Facts, Policy, Subject
from mailkeep.jobs.repeat import repeat
from mailkeep.settings import Settings

decide = rules.decide
combine = rules.combine

_FLUSH_SECONDS = 5.0


async def apply_settings(conn: Conn, settings: Settings, at: datetime) -> None:
    """Store the server's values, which decisions read; call it at every start, before mail is accepted."""
    values = settings.filter
    await store.write_server(
        conn,
        at,
        {
            "junk_score": values.spam_score,
            "reject_score": values.reject_score,
            "digest": values.digest,
            "learn": values.learn,
        },
    )


async def find_policies(conn: Conn, subjects: Sequence[Subject], facts: Facts) -> dict[Subject, Policy]:
    """The policy of each subject, with the entries that can match the facts. One statement."""
    return (await find_policies_of_messages(conn, [(subjects, facts)]))[0]


async def find_policies_of_messages(
    conn: Conn, lookups: Sequence[tuple[Sequence[Subject], Facts]]
) -> list[dict[Subject, Policy]]:
    """As `find_policies`, for several messages in one statement."""
    return await store.find_policies(conn, [(subjects, rules.list_keys(facts)) for subjects, facts in lookups])


class HitCounter:
    """Counts matches of list entries in this process, and adds them to the database every few seconds.

    What was not added yet is lost if the process is killed.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._hits: dict[UUID, tuple[int, datetime]] = {}

    def count(self, entry_id: UUID | None) -> None:
        """Count a match of an entry that decided; None: no entry did."""
        if entry_id is not None:
            number, _ = self._hits.get(entry_id, (0, None))
            self._hits[entry_id] = (number + 1, self._app.clock())

    async def run(self) -> None:
        """Add the hits to the database regularly, until cancelled; then the rest."""
        try:
            await repeat(_FLUSH_SECONDS, "filter hits", self.flush)
        finally:
            await self.flush()

    async def flush(self) -> None:
        """Add the hits to the database; after an error they are kept for the next time. UNAVAILABLE."""
        if not (hits := self._hits):
            return
        self._hits = {}
        try:
            async with self._app.db.autocommit() as conn:
                await store.add_hits(conn, hits)
        except BaseException:
            for entry_id, (number, at) in hits.items():
                newer, newest = self._hits.get(entry_id, (0, at))
                self._hits[entry_id] = (number + newer, newest)
            raise
