"""Reconciliation: ends the attempts that a crash left without a result."""

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
"""Longer than a submission takes with all its timeouts: no process works on an older attempt."""
_LOG_DELAY = timedelta(minutes=20)  # longer than from an attempt to the MTA's line in the log
_BEFORE_ALL_ATTEMPTS = datetime.min.replace(tzinfo=UTC)
_BATCH = 200
_INTERRUPTED = "the server stopped during the submission"
_SYSTEM = Principal(None, "reconciliation", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def reconcile(app: App, before: datetime) -> int:
    """End attempts that were begun before `before` and have no result; returns their number.

    Messages that the sandbox or Postfix has are recorded as accepted, with `mail.sent`. The others become `lost`; in
    the full profile only when Postfix's log, which would show an acceptance, is read 20 minutes beyond them. With a
    smarthost they become `unknown`. Several processes may run this at once.
    """
    ended, batch = 0, _BATCH
    while batch == _BATCH:
        batch = await _reconcile(app, before)
        ended += batch
    return ended


async def _reconcile(app: App, before: datetime) -> int:
    at, is_full = app.clock(), app.settings.is_full_profile
    final_status = "unknown" if app.settings.mta.mode == "smtp" else "lost"
    async with app.db.tx() as conn:
        logged_before = None
        if is_full:
            read_at = await store.log_read_at(conn)
            logged_before = read_at - _LOG_DELAY if read_at else _BEFORE_ALL_ATTEMPTS
        submissions = await store.open_attempts(conn, before, logged_before, _BATCH, by_log=is_full)
        not_accepted = [(each.id, final_status, _INTERRUPTED) for each in submissions if each.queue_id is None]
        ended = await messages.end_submissions(conn, at, not_accepted)
        attempts = {each.id: each for each in await messages.find_all(conn, [each.id for each in submissions])}
        for each in submissions:
            if each.queue_id is not None and each.id in attempts:
                accepted = attempts[each.id]
                await messages.accept(conn, at, [(accepted, each.queue_id)], status="queued")
                who = replace(_SYSTEM, request_id=accepted.request_id)
                await audit.record(conn, who, at, writes.send_action([accepted], 1))
        if final_status == "lost":
            # Mail of `mailkeep sendmail` without an API key stays counted: the history does not show for which address.
            found = [attempts[each] for each in ended if each in attempts]
            lost = [each for each in found if each.source == "api" or each.api_key_id is not None]
            await abuse.uncount(conn, [writes.api_attempt(each).count for each in lost])
    accepted_count = sum(each.queue_id is not None for each in submissions)
    app.counters.add("messages_accepted", "outbound", "api", times=accepted_count)
    return len(submissions)
