"""What is done in the background: attempts that a crash left open are ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from mailkeep.app import App
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.sending import store, writes
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.messages import service as messages

ABANDONED = timedelta(hours=1)
"""Longer than a submission takes with all its deadlines: an older attempt is nobody's any more."""
_AFTER = timedelta(minutes=20)  # longer than a submission takes from its attempt to the MTA's word in the log
_NEVER = datetime.min.replace(tzinfo=UTC)
_BATCH = 200
_SYSTEM = Principal(None, "reconciliation", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def reconcile(app: App, before: datetime) -> int:
    """End the attempts that were begun before an instant and never ended; how many.

    What the sandbox has is recorded as taken, with its one `mail.sent`. Of the others the sandbox's were `lost`, and so
    were our own MTA's once its log is read to a time well after them: it would have told of them. What a smarthost has
    nobody knows (`unknown`). May run in any number of processes at once.
    """
    ended, batch = 0, _BATCH
    while batch == _BATCH:
        batch = await _reconcile(app, before)
        ended += batch
    return ended


async def _reconcile(app: App, before: datetime) -> int:
    at = app.clock()
    mode = app.settings.mta.mode
    ending = "unknown" if mode == "smtp" else "lost"
    async with app.db.tx() as conn:
        untaken_before = before
        if mode == "postfix":
            read_at = await store.log_read_at(conn)
            untaken_before = min(before, read_at - _AFTER) if read_at else _NEVER
        found = await store.open_attempts(conn, before, untaken_before, _BATCH, told_by_log=mode == "postfix")
        untaken = [(each.id, ending, "the attempt was broken off") for each in found if each.queue_id is None]
        ended = await messages.end_submissions(conn, at, untaken)
        attempts = {each.id: each for each in await messages.find_all(conn, [each.id for each in found])}
        for each in found:
            if each.queue_id is not None and each.id in attempts:
                taken = attempts[each.id]
                await messages.accept(conn, at, [(taken, each.queue_id)], status="queued")
                who = replace(_SYSTEM, request_id=taken.request_id)
                await audit.record(conn, who, at, writes.send_action([taken], 1))
        if ending == "lost":
            await abuse.uncount(conn, [writes.counted_use(attempts[each]) for each in ended if each in attempts])
    taken_over = sum(each.queue_id is not None for each in found)
    app.counters.add("messages_accepted", "outbound", "api", times=taken_over)
    return len(found)
