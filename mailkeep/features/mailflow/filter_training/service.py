"""Teach a message, and what has been learned."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filter_training import rules, store
from mailkeep.features.mailflow.filter_training.model import (
    LARGEST_LESSON_BYTES,
    LessonCounts,
    LessonKind,
    TeachResult,
    TrainingStatus,
)
from mailkeep.mail.filter import controller
from mailkeep.mail.filter.controller import ControllerUnavailable, LessonRefused

log = structlog.get_logger("mailkeep.training")


async def teach(app: App, mailbox_id: UUID, kind: LessonKind, content: bytes | Iterable[bytes]) -> TeachResult:
    """Teach one message of a mailbox now, if the mailbox teaches and is within its limit. The same message taught again
    as the other kind is unlearned first. Raises Unavailable without the database.
    """
    if app.filter_controller is None:
        return "off"
    message = join_lesson(content)
    if message is None:
        return "too_large"
    granted = await claim(app, mailbox_id, 1)
    if granted is None:
        return "off"
    if granted == 0:
        return "over_limit"
    try:
        return await teach_granted(app, kind, message)
    except ControllerUnavailable as error:
        log.warning("a message was not taught", mailbox=str(mailbox_id), why=str(error))
        count(app, "failed")
        return "unavailable"


async def read_status(app: App) -> TrainingStatus:
    """What the filter has learned, within a second."""
    if app.filter_controller is None:
        return rules.UNAVAILABLE
    try:
        return rules.status(await controller.read_statistics(app.filter_controller))
    except ControllerUnavailable as error:
        log.warning("the filter's statistics can't be read", why=str(error))
        return rules.UNAVAILABLE


async def count_lessons(app: App, conn: Conn, mailbox_id: UUID) -> LessonCounts:
    """The lessons of a mailbox in the last hour."""
    return await store.count(conn, mailbox_id, rules.hour_before(app.clock()))


async def claim(app: App, mailbox_id: UUID, wanted: int, dropped: int = 0) -> int | None:
    """Count `wanted` lessons of a mailbox and return how many it may teach; None if it teaches nothing (`learn` is off,
    or it is gone). `dropped` were dropped before. Raises Unavailable.
    """
    at = app.clock()
    since = rules.hour_before(at)
    async with app.db.tx() as conn:
        if not await store.lock_mailbox(conn, mailbox_id):
            return None
        before = await store.count(conn, mailbox_id, since)
        granted = rules.grant(wanted, before.accepted)
        over_limit = wanted - granted
        counts = LessonCounts(granted, over_limit + dropped)
        await store.add(conn, mailbox_id, rules.minute_of(at), since, counts)
    if over_limit and not before.dropped:  # once in an hour
        log.warning("lessons dropped: the mailbox has taught enough in this hour", mailbox=str(mailbox_id))
    count(app, "dropped", over_limit)
    return granted


async def teach_granted(app: App, kind: LessonKind, content: bytes) -> TeachResult:
    """Teach a message that was granted by `claim`. Raises ControllerUnavailable."""
    assert app.filter_controller is not None
    try:
        result: TeachResult = await controller.learn(app.filter_controller, kind, content)
    except LessonRefused as error:
        log.warning("the filter refused a lesson", kind=kind, why=str(error))
        result = "refused"
    count(app, "failed" if result == "refused" else result)
    return result


def join_lesson(content: bytes | Iterable[bytes]) -> bytes | None:
    """The message as a whole; None if it is larger than a lesson may be."""
    message = bytearray()
    for chunk in (content,) if isinstance(content, bytes) else content:
        message += chunk
        if len(message) > LARGEST_LESSON_BYTES:
            return None
    return bytes(message)


def count(app: App, outcome: str, times: int = 1) -> None:
    """Count lessons by outcome, for the metrics."""
    app.counters.add("filter_lessons", outcome, times=times)
