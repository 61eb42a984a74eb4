"""Processes the log, records envelopes, and reconciles the history with the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.counters import Counters
from mailkeep.core.errors import Refusal
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge, SendVerdict, VerdictKind
from mailkeep.features.mailflow.delivery_status import log_updates, rules, store
from mailkeep.features.mailflow.delivery_status.model import (
    Begun,
    LogPosition,
    MissingMessage,
    RetryIntervals,
    SubmissionEnvelope,
)
from mailkeep.features.mailflow.external_copies import service as external_copies
from mailkeep.features.mailflow.receiving import rejections
from mailkeep.features.mailflow.receiving.rejections import RejectionLimit
from mailkeep.features.mailflow.sending import service as sending
from mailkeep.features.mailflow.verdicts import service as verdicts
from mailkeep.features.record.messages import content, service as messages
from mailkeep.mail.message import srs
from mailkeep.mail.postfix import log as postfix_log
from mailkeep.mail.postfix.log_files import LogFile, Piece, find_log_file

_NEVER_QUEUED = timedelta(days=1)  # mail that was refused, or whose client went away
_STALE = timedelta(days=30)
_LIFETIME = timedelta(days=30)  # longer than any queue keeps mail
_LONGEST_ACCEPTANCE = timedelta(minutes=15)  # from the envelope to qmgr's line, with all timeouts of the filters
CLAIMED_FOR = timedelta(hours=24)
"""How long an Idempotency-Key is kept, as by the API."""
_PAGE = 500
_NOT_IN_QUEUE = "The message is no longer in the queue, and the log does not show its outcome"


class PositionMoved(Exception):
    """Another process has read this piece of the log: restart from its position."""


async def positions(app: App, name: str) -> dict[int, LogPosition]:
    """The positions in the files of a log, by inode."""
    async with app.db.autocommit() as conn:
        return await store.find_positions(conn, name)


def read_position(file: LogFile, positions: Mapping[int, LogPosition]) -> int:
    """The offset to continue at in a file; 0 if it was never read (its inode may be reused).

    It is beyond the end of a truncated file.
    """
    position = positions.get(file.inode)
    return position.read_to if position and position.first_line == file.first_line else 0


async def is_read(app: App, name: str, path: Path) -> bool:
    """Whether a rotated log file was read to its end or no longer exists. Raises `Unavailable`."""
    file = await asyncio.to_thread(find_log_file, path)
    return file is None or read_position(file, await positions(app, name)) == file.size


async def skip_to_end(app: App, name: str, file: LogFile) -> None:
    """Continue at the end of a truncated file. `find_missing` finds the messages whose outcomes are lost with it."""
    async with app.db.autocommit() as conn:
        await store.rewind(conn, name, LogPosition(file.inode, file.first_line, file.size), app.clock())


async def process_lines(app: App, name: str, piece: Piece, limit: RejectionLimit) -> LogPosition:
    """Write a piece of the log to the history in one transaction with the position after it, which is returned.

    Raises `PositionMoved` if the position is no longer the start of the piece.
    """
    at = app.clock()
    original = srs.rewriter(app.vault, app.settings).restore
    lines = [rules.restore_sender(line, original) for each in piece.lines if (line := postfix_log.parse(each))]
    times = {stamp: postfix_log.parse_stamp(stamp, at) for stamp in {line.stamp for line in lines}}
    timed_lines = [(times[line.stamp], line) for line in lines]
    position = LogPosition(piece.file.inode, piece.file.first_line, piece.end)
    async with app.db.tx() as conn:
        if not await store.advance(conn, name, piece.start, position, at):
            raise PositionMoved
        counters = Counters()
        sent_ids = await log_updates.apply_lines(conn, at, timed_lines, _retry_intervals(app), counters)
        by_filter = await verdicts.record_refused(conn, at, _refused_by_filter(timed_lines), limit.allow)
        counters.add("deliveries", "inbound", "rejected", times=sum(by_filter.values()))
        others = sent_ids | by_filter.keys()
        incoming = [(time, line) for time, line in timed_lines if line.queue_id not in others]
        rejected = [(time, rejection) for time, line in incoming if (rejection := rules.rejection(line))]
        counters.add("deliveries", "inbound", "rejected", times=len(rejected))
        explained = await verdicts.add_denials(conn, [rejection for _, rejection in rejected])
        timed = zip((time for time, _ in rejected), explained, strict=True)
        if recorded := [(time, rejection) for time, rejection in timed if limit.allow(rejection.client, time)]:
            await rejections.record_rejections(conn, recorded)
        refused_ids = {line.queue_id for _, line in timed_lines if line.queue_id and rules.is_refused_at_end(line)}
        await abuse.uncount_forwards(conn, refused_ids)
        refused = await store.delete_envelopes(conn, refused_ids)
        await abuse.uncount(conn, rules.submission_charges(refused))
        failpoint.reach("log.applied")
    await _delete_contents(app, refused)
    app.counters.include(counters.drain())
    failpoint.reach("log.committed")
    return position


def _refused_by_filter(timed_lines: Sequence[tuple[datetime, postfix_log.LogLine]]) -> set[str]:
    """The queue IDs of messages that a filter refused for good at the end of their data."""
    return {
        line.queue_id
        for _, line in timed_lines
        if isinstance(line.fact, postfix_log.LoggedRejection)
        and line.queue_id
        and rules.is_refused_at_end(line)
        and line.fact.smtp_code >= 500
    }


def _retry_intervals(app: App) -> RetryIntervals:
    """The intervals that `mail/daemons/render` configures in Postfix."""
    retry = app.settings.outbound
    shortest, longest = timedelta(seconds=retry.first_retry_seconds), timedelta(seconds=retry.longest_retry_seconds)
    return RetryIntervals(shortest, max(shortest, longest))


async def begin_submission(
    app: App, who: Principal, envelope: SubmissionEnvelope, charge: SendCharge
) -> Begun | Refusal:
    """Count a message that a client submits and store its envelope in one commit, before Postfix accepts it: once for
    each queue ID. A refusal is that of `abuse.count`; then nothing is stored.
    """
    at = envelope.created_at
    async with app.db.autocommit() as conn:
        (charged,) = await abuse.charge_mailboxes(conn, [charge])
        arguments = abuse.count_arguments(app, [charged])
        outcome, retry_after, limit = await store.begin_submission(conn, at, at - CLAIMED_FOR, envelope, arguments)
    match outcome:
        case "counted" | "present" | "pending" | "replayed" | "mismatch":
            return outcome
        case "sender_rate":
            (refusal,) = await abuse.count(app, who, at, [charge])  # suspends the sender
            if refusal is not None:
                return refusal
            # Counts of others have expired meanwhile.
            async with app.db.autocommit() as conn:
                await abuse.uncount(conn, [(at, charge)])
            return await begin_submission(app, who, envelope, charge)
        case _:
            (refusal,) = abuse.refusals([charged], [SendVerdict(cast(VerdictKind, outcome), retry_after, limit)])
            assert refusal is not None
            return refusal


async def find_claim(app: App, api_key_id: UUID, key: str, body_hash: bytes) -> Begun | None:
    """What `begin_submission` would say about the Idempotency-Key of another submission; None if it is not claimed."""
    async with app.db.autocommit() as conn:
        return await store.find_claim(conn, api_key_id, key, body_hash, app.clock() - CLAIMED_FOR)


async def free_unaccepted(app: App, queued: Collection[str], listed_at: datetime) -> int:
    """Free the submissions that Postfix has not accepted, by its log and its queue (`queued`, listed at `listed_at`):
    they are uncounted, and their Idempotency-Keys can be used again. Returns their number; 0 while the log is not read
    up to that time.
    """
    async with app.db.tx() as conn:
        read_to = await sending.log_read_at(conn)
        if read_to is None or read_to <= listed_at:
            return 0
        freed = await store.delete_unaccepted(conn, listed_at - _LONGEST_ACCEPTANCE, queued)
        await abuse.uncount_forwards(conn, [each.queue_id for each in freed])
        await abuse.uncount(conn, rules.submission_charges(freed))
    await _delete_contents(app, freed)
    return len(freed)


async def _delete_contents(app: App, envelopes: Sequence[SubmissionEnvelope]) -> None:
    """Delete what was kept of messages that Postfix has not accepted."""
    for each in envelopes:
        if each.message is not None:
            await asyncio.to_thread(content.delete_content, app.data_dir, each.message.id)


async def record_caught_up(app: App, name: str, inodes: Collection[int], at: datetime) -> None:
    """Record that everything logged before `at` is read, and delete old positions of files other than `inodes`."""
    async with app.db.autocommit() as conn:
        await store.set_caught_up(conn, name, at)
        await store.delete_positions(conn, name, inodes, at - _NEVER_QUEUED)


async def prune(app: App) -> None:
    """Delete the stored state of mail that was never queued (after a day) or never ended (after 30 days)."""
    at = app.clock()
    async with app.db.tx() as conn:
        await store.delete_stale(conn, at - _STALE, at - _NEVER_QUEUED)
        await external_copies.delete_old(conn, at - _STALE)
    await verdicts.prune(app)


async def find_missing(
    app: App, queued: Collection[str], listed_at: datetime, grace: timedelta
) -> list[MissingMessage] | None:
    """Messages with open recipients, accepted `grace` before the queue was listed, that are not in it (`queued`).

    None if the log is not read up to that time. The caller treats a message as lost only if it is missing twice.
    """
    missing: list[MissingMessage] = []
    after = UUID(int=0)
    async with app.db.autocommit() as conn:
        read_to = await sending.log_read_at(conn)
        if read_to is None or read_to <= listed_at:
            return None
        while page := await store.find_overdue(conn, listed_at - grace, listed_at - _LIFETIME, after, _PAGE):
            unlisted = [each for each in page if each.queue_id not in queued]
            tracked_ids = await store.find_queue_ids(conn, [each.id for each in unlisted]) if unlisted else {}
            missing += [each for each in unlisted if tracked_ids.get(each.id, set[str]()).isdisjoint(queued)]
            after = page[-1].id
    return missing


async def end_missing(app: App, missing: Sequence[MissingMessage]) -> None:
    """Give the open recipients of these messages the status `unknown`, and publish an alert for each message."""
    for each in missing:
        async with app.db.tx() as conn:
            await messages.lock(conn, [each.id])
            unknown = await log_updates.end_unknown(conn, app.clock(), each, _NOT_IN_QUEUE)
        app.counters.add("deliveries", "outbound", "unknown", times=unknown)
