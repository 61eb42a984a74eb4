"""Lessons: the limit of a mailbox, its `learn`, and the queue of the process `learner`, with a stub of Rspamd."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailkeep.db.pool import DatabasePool
from mailkeep.features.mailflow.filter_training import jobs, service
from mailkeep.features.mailflow.filter_training.jobs import Learner
from mailkeep.features.mailflow.filter_training.model import LARGEST_LESSON_BYTES, LessonCounts, TrainingStatus
from mailkeep.mail.dovecot.script_server import ScriptRequest
from mailkeep.mail.filter.controller import ControllerUnavailable
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

LETTER = b"Subject: x\r\n\r\nWords.\r\n"


class StubController:
    """Accepts lessons, and keeps their kinds and contents; `status` is its answer, `learned` its statistics."""

    def __init__(self) -> None:
        self.lessons: list[tuple[str, bytes]] = []
        self.status = 200
        self.learned: tuple[int, int] = (0, 0)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
        content = await reader.readexactly(length)
        if self.status == 200 and content:
            self.lessons.append((head.split()[1].decode().removeprefix("/learn"), content))
        body = (
            b'{"statfiles":[{"symbol":"BAYES_SPAM","revision":%d},{"symbol":"BAYES_HAM","revision":%d}]}' % self.learned
        )
        writer.write(b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n" % (self.status, len(body)) + body)
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def filtering(api: Api) -> AsyncIterator[StubController]:
    stub = StubController()
    with tempfile.TemporaryDirectory() as folder:
        api.app.filter_controller = Path(folder) / "controller.sock"
        server = await asyncio.start_unix_server(stub.converse, api.app.filter_controller)
        yield stub
        server.close()
        await asyncio.sleep(0.05)


async def count(api: Api, mailbox_id: UUID) -> LessonCounts:
    async with api.app.db.autocommit() as conn:
        return await service.count_lessons(api.app, conn, mailbox_id)


async def test_the_limit_of_an_hour_moves_with_the_time(api: Api, filtering: StubController) -> None:
    own = await api.mailbox()
    results = [await service.claim(api.app, own, 60)]
    api.clock.advance(minutes=30)
    results += [await service.claim(api.app, own, 60), await service.claim(api.app, own, 5, dropped=2)]
    assert results == [60, 40, 0]
    assert await count(api, own) == LessonCounts(100, 27)
    assert await service.teach(api.app, own, "ham", LETTER) == "over_limit"
    api.clock.advance(minutes=31, seconds=1)
    assert await count(api, own) == LessonCounts(40, 28)
    assert await service.claim(api.app, own, 100) == 60
    api.clock.advance(hours=3)
    assert await count(api, own) == LessonCounts(0, 0)
    assert await service.teach(api.app, own, "ham", [LETTER[:5], LETTER[5:]]) == "taught"
    assert filtering.lessons == [("ham", LETTER)]
    assert await service.teach(api.app, own, "ham", [b"x" * LARGEST_LESSON_BYTES, b"x"]) == "too_large"


async def test_concurrent_claims_do_not_exceed_the_limit(api: Api) -> None:
    own = await api.mailbox()
    granted = await asyncio.gather(*(service.claim(api.app, own, 30) for _ in range(8)))
    assert sorted(granted, key=lambda each: each or 0) == [0, 0, 0, 0, 10, 30, 30, 30]
    assert await count(api, own) == LessonCounts(100, 140)


async def test_learn_is_inherited(api: Api, filtering: StubController) -> None:
    own = await api.mailbox()

    async def set_learn(domain: object, mailbox_id: object, learn: object) -> None:
        await api.sql(
            """
            INSERT INTO filter_settings (domain_id, mailbox_id, junk_score, reject_score, digest, learn, updated_at)
            VALUES (%(domain)s, %(mailbox)s, 6, 0, 'off', %(learn)s, %(at)s)
            ON CONFLICT ON CONSTRAINT filter_settings_unique DO UPDATE SET learn = excluded.learn
            """,
            domain=domain, mailbox=mailbox_id, learn=learn, at=api.clock(),
        )  # fmt: skip

    domain_id = DOMAIN_IDS[EXAMPLE]
    found: list[str] = []
    for domain, mailbox_id, learn in (
        (None, None, False), (domain_id, None, True), (None, own, False), (None, own, None),
        (domain_id, None, None), (None, None, True),
    ):  # fmt: skip
        await set_learn(domain, mailbox_id, learn)
        found.append(await service.teach(api.app, own, "spam", LETTER))
    assert found == ["off", "taught", "off", "taught", "off", "taught"]
    assert await service.teach(api.app, uuid4(), "spam", LETTER) == "off"


async def test_the_api_shows_what_is_learned_and_the_lessons_of_a_mailbox(api: Api, filtering: StubController) -> None:
    own = await api.mailbox()
    await service.claim(api.app, own, 103)
    states: list[str] = []
    for filtering.learned in ((0, 0), (200, 199), (200, 200)):
        states.append((await api.sue.get("/filtering")).data["training"]["state"])
    assert states == ["collecting", "collecting", "active"]
    status = {"state": "active", "spam_learned": 200, "ham_learned": 200, "required": 200}
    lessons = {"accepted": 100, "dropped": 3}
    assert (await api.sue.get(f"/mailboxes/{own}/filtering")).data["training"] == status | {"lessons": lessons}
    patched = await api.sue.patch(f"/mailboxes/{own}/filtering", {"learn": False})
    assert patched.data["training"]["lessons"] == lessons
    domain = await api.sue.get(f"/domains/{DOMAIN_IDS[EXAMPLE]}/filtering")
    assert domain.data["training"] == status | {"lessons": None}


async def test_without_a_filter(api: Api, filtering: StubController) -> None:
    own = await api.mailbox()
    filtering.status = 500
    assert await service.teach(api.app, own, "spam", LETTER) == "unavailable"
    assert await service.read_status(api.app) == TrainingStatus("unavailable", 0, 0)
    filtering.status = 400
    assert await service.teach(api.app, own, "spam", LETTER) == "refused"
    api.app.filter_controller = None  # the embedded profile
    assert await service.teach(api.app, own, "spam", LETTER) == "off"
    assert await service.read_status(api.app) == TrainingStatus("unavailable", 0, 0)


@asynccontextmanager
async def running(learner: Learner) -> AsyncIterator[None]:
    task = asyncio.create_task(learner.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(is_done: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_done():
            await asyncio.sleep(0.02)


def lesson(mailbox_id: UUID, kind: str, content: bytes | None = LETTER) -> ScriptRequest:
    return ScriptRequest([kind, str(mailbox_id)], content)


async def test_lessons_are_taught_in_their_order(api: Api, filtering: StubController) -> None:
    own, learner = await api.mailbox(), Learner(api.app)
    for kind, content in (("spam", b"1"), ("ham", b"1"), ("spam", b"2")):
        learner.take(lesson(own, kind, content))
    for malformed in ([], ["spam"], ["spam", "x"], ["eggs", str(own)], ["spam", str(own), "more"]):
        learner.take(ScriptRequest(malformed, LETTER))
    async with running(learner):
        await learner.finish(30)
    assert filtering.lessons == [("spam", b"1"), ("ham", b"1"), ("spam", b"2")]


async def test_waiting_lessons_are_bounded_and_what_is_dropped_is_counted(
    api: Api, filtering: StubController, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, learner = await api.mailbox(), Learner(api.app)
    learner.take(lesson(own, "spam", None))
    for _ in range(150):
        learner.take(lesson(own, "spam"))
    assert learner.count_waiting() == 100
    for _ in range(100):
        learner.take(lesson(uuid4(), "spam", b"x" * LARGEST_LESSON_BYTES))
    assert learner.count_waiting() == 100 + (jobs.MAX_WAITING_BYTES - 100 * len(LETTER)) // LARGEST_LESSON_BYTES
    other, greedy = Learner(api.app), uuid4()
    for _ in range(100):
        other.take(lesson(greedy, "spam", b"x" * LARGEST_LESSON_BYTES))
    assert other.count_waiting() == jobs.MAX_WAITING_BYTES // LARGEST_LESSON_BYTES // 4
    async with running(learner):
        await learner.finish(60)
        await until(lambda: not learner._dropped)
    assert filtering.lessons == [("spam", LETTER)] * 100
    assert await count(api, own) == LessonCounts(100, 51)
    counted = {labels[0]: number for (name, labels), number in api.app.counters.drain() if name == "filter_lessons"}
    assert counted["taught"] == 100
    assert counted["dropped"] == 1 + 50 + 100 - 31 + 100 - 8


async def test_a_lesson_that_comes_while_a_dropped_one_is_counted(
    api: Api, filtering: StubController, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, learner, claim = await api.mailbox(), Learner(api.app), service.claim

    async def claim_meanwhile(*arguments: Any) -> int | None:
        if not filtering.lessons and not learner.count_waiting():
            learner.take(lesson(own, "spam"))
        return await claim(*arguments)

    monkeypatch.setattr(service, "claim", claim_meanwhile)
    learner.take(lesson(own, "spam", None))
    async with running(learner):
        await until(lambda: bool(filtering.lessons) and not learner._waiting)
    assert learner._bytes == 0


async def test_lessons_wait_for_filter_and_database_but_not_for_ever(
    api: Api, filtering: StubController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(jobs, "_LONGEST_PAUSE", 0.02)
    own, learner = await api.mailbox(), Learner(api.app)
    filtering.status = 500
    async with running(learner):
        learner.take(lesson(own, "spam", b"a"))
        learner.take(lesson(own, "spam", b"b"))
        await asyncio.sleep(0.2)
        filtering.status = 200
        await learner.finish(30)
        assert filtering.lessons == [("spam", b"a"), ("spam", b"b")]
        assert await count(api, own) == LessonCounts(2, 0)  # counted once

        away, attempts = DatabasePool("postgresql://127.0.0.1:1/none", timeout=0.1), api.app.db
        api.app.db = away
        learner.take(lesson(own, "ham", b"c"))
        await asyncio.sleep(0.3)
        api.app.db = attempts
        await learner.finish(30)
        assert filtering.lessons[-1] == ("ham", b"c")

        monkeypatch.setattr(jobs, "PATIENCE_SECONDS", 0.1)
        filtering.status = 500
        learner.take(lesson(own, "spam", b"d"))
        await until(lambda: learner.count_waiting() == 0)
        filtering.status = 200
        learner.take(lesson(own, "spam", b"e"))
        await learner.finish(30)
    assert [content for _, content in filtering.lessons] == [b"a", b"b", b"c", b"e"]


async def test_a_message_at_which_the_filter_fails_delays_no_other_mailbox(
    api: Api, filtering: StubController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(jobs, "_LONGEST_PAUSE", 0.02)
    own, learner = await api.mailbox(), Learner(api.app)
    claim, teach_granted = service.claim, service.teach_granted

    async def fail_at_poison(app: object, kind: object, content: bytes) -> object:
        if content == b"poison":
            raise ControllerUnavailable("the filter has failed")
        if content == b"bug":
            raise RuntimeError("a bug")
        return await teach_granted(api.app, "spam", content)

    async def grant_all(app: object, mailbox_id: UUID, wanted: int, dropped: int = 0) -> int | None:
        return wanted if mailbox_id != own else await claim(api.app, mailbox_id, wanted, dropped)

    monkeypatch.setattr(service, "teach_granted", fail_at_poison)
    monkeypatch.setattr(service, "claim", grant_all)
    async with running(learner):
        learner.take(lesson(uuid4(), "spam", b"poison"))
        for content in (b"bug", b"good"):
            learner.take(lesson(own, "spam", content))
        await until(lambda: learner.count_waiting() == 1)
        assert filtering.lessons == [("spam", b"good")]
        await learner.finish(0.1)
    counted = {labels[0]: number for (name, labels), number in api.app.counters.drain() if name == "filter_lessons"}
    assert counted == {"taught": 1, "failed": 2}
