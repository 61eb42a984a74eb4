"""The process `learner`: takes moved messages from Dovecot, and teaches them one after the other.

Lessons wait in memory only: those of a killed process are lost, and nothing else depends on them. The memory has
limits; what is over them is dropped, counted and logged.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from time import monotonic
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import parse_uuid
from mailkeep.features.mailflow.filter_training import service
from mailkeep.features.mailflow.filter_training.model import LESSONS_PER_HOUR, LessonKind
from mailkeep.mail.dovecot.script_server import ScriptRequest
from mailkeep.mail.filter.controller import ControllerUnavailable

log = structlog.get_logger("mailkeep.training")

MAX_WAITING_BYTES = 32 << 20
"""The size of all waiting lessons. A mailbox may have a quarter, and as many lessons as it may teach in an hour."""
PATIENCE_SECONDS = 600.0
"""How long a lesson waits for the filter or the database."""
_OWN_SHARE = MAX_WAITING_BYTES // 4
_GROUP = 10  # lessons of a mailbox before the next one's turn
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0
_MAX_DROPPERS = 10_000
_DROPPED_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class Lesson:
    """A message to teach. `since`: when it came, of `monotonic()`. `is_granted`: it is counted as accepted."""

    kind: LessonKind
    content: bytes
    since: float
    is_granted: bool = False


@dataclass(slots=True)
class Learner:
    """The waiting lessons of each mailbox, in the order in which mailboxes have their turn."""

    app: App
    _waiting: OrderedDict[UUID, deque[Lesson]] = field(default_factory=OrderedDict[UUID, "deque[Lesson]"])
    _bytes: int = 0
    _dropped: Counter[UUID] = field(default_factory=Counter[UUID])  # not yet counted in the database
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, request: ScriptRequest) -> None:
        """Take what Sieve passes: the arguments are the kind and the mailbox's ID."""
        kind, mailbox = request.arguments if len(request.arguments) == 2 else ("", "")
        mailbox_id = parse_uuid(mailbox)
        if mailbox_id is None or (kind != "spam" and kind != "ham"):
            log.warning("malformed lesson from Dovecot", arguments=str(request.arguments)[:200])
            return
        content = request.content
        if content is None:
            self._drop(mailbox_id, "the message is too large")
            return
        own = self._waiting.get(mailbox_id, ())
        if self._bytes + len(content) > MAX_WAITING_BYTES:
            self._drop(mailbox_id, "too much waits to be taught")
        elif len(own) >= LESSONS_PER_HOUR or sum(len(each.content) for each in own) + len(content) > _OWN_SHARE:
            self._drop(mailbox_id, "too much of the mailbox waits to be taught")
        else:
            self._waiting.setdefault(mailbox_id, deque()).append(Lesson(kind, content, monotonic()))
            self._bytes += len(content)
            self._wake.set()

    async def run(self) -> None:
        """Teach until cancelled."""
        pause = _FIRST_PAUSE
        while True:
            self._wake.clear()
            if not self._waiting and not self._dropped:
                self._idle.set()
                await self._wake.wait()
            self._idle.clear()
            mailbox_id = next(iter(self._waiting), None) or next(iter(self._dropped), None)
            if mailbox_id is None:
                continue
            try:
                await self._teach_some(mailbox_id)
                pause = _FIRST_PAUSE
            except Exception as error:
                is_bug = not isinstance(error, (Unavailable, ControllerUnavailable))
                log.warning("lessons wait", n=self.count_waiting(), why=str(error), exc_info=is_bug)
                self._give_up_old()
                # A message at which the filter fails must not keep others waiting.
                if mailbox_id in self._waiting:
                    self._waiting.move_to_end(mailbox_id)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    def count_waiting(self) -> int:
        """How many lessons wait."""
        return sum(map(len, self._waiting.values()))

    async def finish(self, seconds: float) -> None:
        """Wait until all lessons are taught; what remains after this time is lost, and counted."""
        try:
            async with asyncio.timeout(seconds):
                while self._waiting:
                    self._idle.clear()
                    await self._idle.wait()
        except TimeoutError:
            lost = self.count_waiting()
            log.warning("lessons lost: the process stops", n=lost)
            service.count(self.app, "failed", lost)

    async def _teach_some(self, mailbox_id: UUID) -> None:
        """Teach the next lessons of a mailbox; after that others have their turn."""
        lessons = self._waiting.setdefault(mailbox_id, deque())  # others may come meanwhile
        group = [lessons[number] for number in range(min(_GROUP, len(lessons)))]
        new = [each for each in group if not each.is_granted]
        dropped = self._dropped.get(mailbox_id, 0)
        granted: int | None = len(new)
        if new or dropped:
            granted = await service.claim(self.app, mailbox_id, len(new), dropped)
            self._dropped[mailbox_id] -= dropped
            if not self._dropped[mailbox_id]:
                del self._dropped[mailbox_id]
        for number, lesson in enumerate(new):
            if number < (granted or 0):
                lesson.is_granted = True
            else:
                lessons.remove(lesson)
                self._bytes -= len(lesson.content)
        for lesson in [each for each in group if each.is_granted]:
            await self._teach(mailbox_id, lesson)
            lessons.remove(lesson)
            self._bytes -= len(lesson.content)
        self._waiting.pop(mailbox_id, None)
        if lessons:
            self._waiting[mailbox_id] = lessons

    async def _teach(self, mailbox_id: UUID, lesson: Lesson) -> None:
        try:
            await service.teach_granted(self.app, lesson.kind, lesson.content)
        except ControllerUnavailable:
            raise
        except Exception:
            # A bug with this message must not stop the others.
            log.exception("a lesson failed", mailbox=str(mailbox_id))
            service.count(self.app, "failed")

    def _drop(self, mailbox_id: UUID, why: str) -> None:
        service.count(self.app, "dropped")
        if mailbox_id in self._dropped or len(self._dropped) < _MAX_DROPPERS:
            if mailbox_id not in self._dropped:
                log.warning("lessons dropped", mailbox=str(mailbox_id), why=why)
            self._dropped[mailbox_id] += 1
            self._wake.set()

    def _give_up_old(self) -> None:
        """Drop lessons that have waited too long."""
        before, given_up = monotonic() - PATIENCE_SECONDS, 0
        for mailbox_id, lessons in list(self._waiting.items()):
            while lessons and lessons[0].since < before:
                self._bytes -= len(lessons.popleft().content)
                given_up += 1
            if not lessons:
                del self._waiting[mailbox_id]
        if given_up:
            log.error("lessons given up: the filter or the database was away for too long", n=given_up)
            service.count(self.app, "failed", given_up)
