"""The log read from a file into a real database: each outcome once, however it is split into pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.core.address import parse_address
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.mailflow.delivery_status.model import SubmissionEnvelope
from mailkeep.features.record.messages import service as messages
from mailkeep.run.processes.logs_agent import LogFollower
from tests.mailflow.delivery_status.log_writer import BOUNCED, DEFERRED, LogWriter
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api
from tests.support.messages import insert, outbound

_ID = "4jW9T1xz0bz1"
_OTHER = "4jW9T1xz0bz2"


@dataclass
class Log(LogWriter):
    """A log and what follows it."""

    def __init__(self, api: Api, path: Path) -> None:
        super().__init__(path, api.clock)
        self.api_under_test = api
        self.follower = LogFollower(api.app, path)

    async def read(self) -> None:
        while await self.follower.read_next():
            pass

    def restart(self) -> None:
        self.follower = LogFollower(self.api_under_test.app, self.path)

    async def events(self, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
        rows = await self.api_under_test.sql("SELECT kind, data FROM events ORDER BY id")
        return [(row["kind"], row["data"]) for row in rows if not kinds or row["kind"] in kinds]


@pytest.fixture
def log(api: Api, tmp_path: Path) -> Log:
    return Log(api, tmp_path / "log" / "mail.log")


async def kinds(log: Log) -> list[str]:
    return [kind for kind, _ in await log.events()]


async def message(log: Log, message_id: Any) -> dict[str, Any]:
    return (await log.api_under_test.sue.get(f"/messages/{message_id}")).data


async def test_a_delivered_message_has_the_events_sent_and_delivered(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    log.tried(_ID, "a@far.test")
    log.removed(_ID)
    await log.read()
    (_, first), (_, second) = await log.events()
    assert await kinds(log) == ["mail.sent", "mail.delivered"]
    assert first["message_id"] == sent.message_id
    assert second["to"] == "a@far.test"
    assert second | {"subject": "", "from": ""} == {
        "message_id": sent.message_id, "from": "", "to": "a@far.test", "domain": EXAMPLE, "subject": "",
        "queue_id": _ID, "smtp_code": 250, "enhanced_code": "2.0.0", "diagnostic": "Ok",
        "remote_host": "mx.far.test", "attempts": 1,
    }  # fmt: skip
    assert (await message(log, sent.id))["status"] == "delivered"
    assert await api.sql("SELECT queue_id FROM queued_mail") == []


async def test_a_deferral_is_published_once_before_the_delivery(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    for _ in range(3):
        log.tried(_ID, "a@far.test", DEFERRED)
        await log.read()
    log.tried(_ID, "a@far.test")
    log.removed(_ID)
    await log.read()
    published = await log.events("mail.bounced", "mail.delivered")
    assert [(kind, data["attempts"]) for kind, data in published] == [("mail.bounced", 1), ("mail.delivered", 4)]
    assert published[0][1]["bounce_type"] == "temporary"
    assert published[0][1]["diagnostic"] == "try later (in reply to RCPT TO command)"
    timeline = (await api.sue.get(f"/messages/{sent.id}/events")).data
    assert [each["kind"] for each in timeline].count("deferred") == 3


async def test_what_was_deferred_has_its_next_attempt_until_it_ends_or_is_held(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)

    async def next_in(seconds: float) -> float | None:
        log.tried(_ID, "a@far.test", DEFERRED, after=seconds)
        await log.read()
        (recipient,) = (await message(log, sent.id))["recipients"]
        *_, entry = (await api.sue.get(f"/messages/{sent.id}/events")).data
        assert entry["detail"]["next_attempt_at"] == recipient["next_attempt_at"]
        return (datetime.fromisoformat(recipient["next_attempt_at"]) - log.written_at()).total_seconds()

    assert await next_in(0.3) == 300
    assert await next_in(1234) == 1234
    assert await next_in(400_000) == 4000
    log.add(f"postsuper[9]: {_ID}: placed on hold")
    await log.read()
    assert [each["next_attempt_at"] for each in (await message(log, sent.id))["recipients"]] == [None]
    assert await next_in(400_000) == 4000
    log.tried(_ID, "a@far.test")
    log.removed(_ID)
    await log.read()
    assert [each["next_attempt_at"] for each in (await message(log, sent.id))["recipients"]] == [None]


async def test_all_lines_of_a_life_in_one_piece_tell_the_same(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test", "b@far.test"))
    log.api(_ID, sent.message_id, 2)
    log.tried(_ID, "a@far.test", DEFERRED)
    log.tried(_ID, "b@far.test", BOUNCED)
    log.tried(_ID, "a@far.test", DEFERRED)
    log.tried(_ID, "a@far.test")
    log.removed(_ID)
    await log.read()
    published = [(kind, data.get("to"), data.get("bounce_type")) for kind, data in await log.events()]
    assert sorted(published[1:], key=str) == [
        ("mail.bounced", "a@far.test", "temporary"),
        ("mail.bounced", "b@far.test", "permanent"),
        ("mail.delivered", "a@far.test", None),
    ]
    assert (await message(log, sent.id))["status"] == "partial"


async def test_the_answer_of_the_api_after_the_log_adds_nothing(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    log.tried(_ID, "a@far.test")
    await log.read()
    async with api.app.db.tx() as conn:
        await messages.accept(conn, api.clock(), [(sent, _ID)], status="queued")
    assert await kinds(log) == ["mail.sent", "mail.delivered"]
    assert (await message(log, sent.id))["status"] == "delivered"


async def test_cleanup_is_no_acceptance(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.add(
        f"api/smtpd[9]: {_ID}: client=localhost[127.0.0.1]",
        f"cleanup[9]: {_ID}: message-id={sent.message_id}",
        f"cleanup[9]: {_ID}: milter-reject: END-OF-MESSAGE from localhost[127.0.0.1]: 4.7.1 Unsigned; "
        f"from=<shop@example.test> to=<a@far.test> proto=ESMTP helo=<x>",
    )
    await log.read()
    assert await kinds(log) == []
    assert [row["status"] for row in await api.sql("SELECT status FROM messages")] == ["submitting"]
    assert await api.sql("SELECT queue_id FROM queued_mail") == []


async def test_a_message_from_elsewhere_with_a_message_id_of_ours_is_not_ours(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.add(
        f"mx/smtpd[9]: {_ID}: client=stranger[192.0.2.66]",
        f"cleanup[9]: {_ID}: message-id={sent.message_id}",
        f"qmgr[9]: {_ID}: from=<x@far.test>, size=512, nrcpt=1 (queue active)",
    )
    log.tried(_ID, "a@far.test")
    await log.read()
    assert await kinds(log) == []
    assert (await message(log, sent.id))["status"] == "submitting"


async def test_a_message_that_expires_has_failed_with_the_last_words(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    log.tried(_ID, "a@far.test", DEFERRED)
    log.add(f"qmgr[9]: {_ID}: from=<shop@example.test>, status=expired, returned to sender")
    log.add(f"bounce[9]: {_ID}: sender non-delivery notification: {_OTHER}")
    log.removed(_ID)
    await log.read()
    (published,) = await log.events("mail.failed")
    assert published[1]["reason"] == "try later (in reply to RCPT TO command)"
    assert (await message(log, sent.id))["status"] == "failed"


async def test_what_an_operator_deletes_has_failed(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    log.removed(_ID, by="postsuper")
    await log.read()
    (published,) = await log.events("mail.failed")
    assert published[1]["reason"] == "Deleted from the queue by an operator"


async def test_a_message_without_a_line_of_a_recipient_is_unknown_with_an_alert(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test", "b@far.test"))
    log.api(_ID, sent.message_id, 2)
    log.tried(_ID, "a@far.test")
    log.removed(_ID)
    await log.read()
    (published,) = await log.events("system.alert")
    assert published[1]["to"] == ["b@far.test"]
    assert [each["status"] for each in (await message(log, sent.id))["recipients"]] == ["delivered", "unknown"]


async def test_an_alias_has_the_outcome_of_its_expanded_recipients(api: Api, log: Log) -> None:
    await api.alias(f"sales@{EXAMPLE}", ["x@far.test", "y@far.test"])
    sent = await insert(api, outbound(api, f"sales@{EXAMPLE}", "a@far.test"))
    log.api(_ID, sent.message_id, 3)
    log.tried(_ID, "x@far.test", DEFERRED, asked=f"sales@{EXAMPLE}")
    await log.read()
    log.tried(_ID, "y@far.test", BOUNCED, asked=f"sales@{EXAMPLE}")
    await log.read()
    assert [data["to"] for _, data in await log.events("mail.bounced")] == [f"sales@{EXAMPLE}"]
    log.tried(_ID, "a@far.test")
    log.tried(_ID, "x@far.test", asked=f"sales@{EXAMPLE}")
    log.removed(_ID)
    await log.read()
    published = [(kind, data["to"]) for kind, data in await log.events("mail.delivered", "mail.bounced", "mail.failed")]
    assert sorted(published) == [
        ("mail.bounced", f"sales@{EXAMPLE}"),
        ("mail.delivered", "a@far.test"),
        ("mail.delivered", f"sales@{EXAMPLE}"),
    ]
    tried = [each["recipient"] for each in (await api.sue.get(f"/messages/{sent.id}/events")).data]
    assert tried.count("x@far.test") == 2


async def test_an_alias_with_one_destination_has_its_outcome_at_once(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, f"sales@{EXAMPLE}"))
    log.api(_ID, sent.message_id)
    log.tried(_ID, "x@far.test", asked=f"sales@{EXAMPLE}")
    await log.read()
    assert [(kind, data.get("to")) for kind, data in await log.events("mail.delivered")] == [
        ("mail.delivered", f"sales@{EXAMPLE}")
    ]
    assert (await message(log, sent.id))["status"] == "delivered"


def _submit(log: Log, queue_id: str = _ID, recipients: int = 1) -> None:
    log.add(
        f"submission/smtpd[9]: {queue_id}: client=h[192.0.2.5], sasl_method=PLAIN, sasl_username=alice@{EXAMPLE}",
        f"cleanup[9]: {queue_id}: info: header Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from h[192.0.2.5]; "
        f"from=<alice@{EXAMPLE}> to=<a@far.test> proto=ESMTP helo=<h>",
        f"cleanup[9]: {queue_id}: info: header To: A <a@far.test> from h[192.0.2.5]; from=<alice@{EXAMPLE}> "
        "to=<a@far.test> proto=ESMTP helo=<h>",
        f"cleanup[9]: {queue_id}: message-id=<client@{EXAMPLE}>",
        f"qmgr[9]: {queue_id}: from=<alice@{EXAMPLE}>, size=700, nrcpt={recipients} (queue active)",
    )


async def _begin(api: Api, envelope: SubmissionEnvelope) -> object:
    """Count a message of a mailbox and store its envelope, as the policy server does."""
    who, login = Principal(None, envelope.login, Role.DOMAIN_ADMIN, ActorType.SYSTEM), parse_address(envelope.login)
    charge = SendCharge(login, DOMAIN_IDS[EXAMPLE], len(envelope.recipients), written=login)
    return await delivery_status.begin_submission(api.app, who, envelope, charge)


async def test_mail_from_a_mail_client_has_its_row_and_events(api: Api, log: Log) -> None:
    noted = SubmissionEnvelope(
        _ID, f"alice@{EXAMPLE}", f"alice@{EXAMPLE}", ["a@far.test", "bcc@far.test"], "h", api.clock()
    )
    assert await _begin(api, noted) == "counted"
    _submit(log, recipients=2)
    log.tried(_ID, "a@far.test")
    await log.read()
    (found,) = (await api.sue.get("/messages", direction="outbound")).data
    assert (found["source"], found["subject"], found["from"]) == ("smtp", "Grüße", f"alice@{EXAMPLE}")
    assert (found["to"], found["message_id"], found["size"]) == (["a@far.test"], f"<client@{EXAMPLE}>", 700)
    assert {each["address"]: each["status"] for each in found["recipients"]} == {
        "a@far.test": "delivered", "bcc@far.test": "queued",
    }  # fmt: skip
    log.tried(_ID, "bcc@far.test", BOUNCED)
    log.removed(_ID)
    await log.read()
    assert await kinds(log) == ["mail.sent", "mail.delivered", "mail.bounced"]


async def test_an_unknown_envelope_is_rebuilt_from_the_delivery_attempts(api: Api, log: Log) -> None:
    _submit(log, recipients=2)
    await log.read()
    assert await kinds(log) == []
    log.tried(_ID, "a@far.test")
    await log.read()
    log.tried(_ID, "b@far.test", BOUNCED)
    log.removed(_ID)
    await log.read()
    (found,) = (await api.sue.get("/messages", direction="outbound")).data
    assert {each["address"]: each["status"] for each in found["recipients"]} == {
        "a@far.test": "delivered", "b@far.test": "bounced",
    }  # fmt: skip
    assert await kinds(log) == ["mail.sent", "mail.delivered", "mail.bounced"]


@pytest.mark.parametrize("apart", [True, False])
async def test_a_requeued_message_is_followed_under_its_new_queue_id(
    api: Api, log: Log, apart: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    if apart:
        await log.read()
    log.add(
        f"postsuper[9]: {_ID}: requeued",
        f"pickup[9]: {_OTHER}: uid=0 from=<shop@example.test> orig_id={_ID}",
        f"cleanup[9]: {_OTHER}: message-id={sent.message_id}",
        f"qmgr[9]: {_OTHER}: from=<shop@example.test>, size=512, nrcpt=1 (queue active)",
    )
    log.tried(_OTHER, "a@far.test")
    log.removed(_OTHER)
    await log.read()
    assert await kinds(log) == ["mail.sent", "mail.delivered"]
    assert "could not be taken in" not in capsys.readouterr().out


async def test_a_message_is_in_the_queue_under_any_of_its_queue_ids(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    await log.read()
    log.add(
        f"postsuper[9]: {_ID}: requeued",
        f"pickup[9]: {_OTHER}: uid=0 from=<shop@example.test> orig_id={_ID}",
        f"cleanup[9]: {_OTHER}: message-id={sent.message_id}",
    )
    await log.read()
    api.clock.advance(minutes=30)
    looked_at = api.clock()
    api.clock.advance(seconds=1)
    log.restart()
    await log.read()
    for queued, missing in (({_OTHER}, []), ({_ID}, []), ({_ID, _OTHER}, []), (set[str](), [sent.id])):
        found = await delivery_status.find_missing(api.app, queued, looked_at, timedelta(minutes=5))
        assert found is not None
        assert [each.id for each in found] == missing


async def test_at_most_sixty_rejections_a_minute_are_recorded(api: Api, log: Log) -> None:
    for number in range(70):
        log.add(
            f"mx/smtpd[9]: NOQUEUE: reject: RCPT from h[192.0.2.9]: 550 5.1.1 <n{number}@{EXAMPLE}>: unknown; "
            f"from=<x@far.test> to=<n{number}@{EXAMPLE}> proto=ESMTP helo=<h>"
        )
    log.add(
        f"submission/smtpd[9]: NOQUEUE: reject: RCPT from h[192.0.2.8]: 553 5.7.1 <x@{EXAMPLE}>: not owned; "
        f"from=<x@{EXAMPLE}> to=<a@far.test> proto=ESMTP helo=<h>"
    )
    await log.read()
    rows = await api.sql("SELECT status, mail_from, domain_name FROM messages")
    assert len(rows) == 60
    assert rows[0] == {"status": "rejected", "mail_from": "x@far.test", "domain_name": EXAMPLE}


@pytest.mark.parametrize("place", ["log.applied", "log.committed"])
async def test_a_crash_before_or_after_the_commit_loses_and_doubles_nothing(
    api: Api, log: Log, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    log.tried(_ID, "a@far.test", DEFERRED)
    log.tried(_ID, "a@far.test")
    log.removed(_ID)

    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        if name == place:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", die)
        with pytest.raises(Killed):
            await log.follower.read_next()
    log.restart()
    await log.read()
    assert await kinds(log) == ["mail.sent", "mail.bounced", "mail.delivered"]


async def test_rotation_and_restart_lose_and_double_nothing(api: Api, log: Log) -> None:
    ids = [f"4jW9T1xz0b{number:02d}" for number in range(40)]
    for number, queue_id in enumerate(ids):
        sent = await insert(api, outbound(api, f"a{number}@far.test"))
        log.api(queue_id, sent.message_id)
        if number % 10 == 5:
            log.rotate()
        log.tried(queue_id, f"a{number}@far.test")
        if number % 7 == 3:
            await log.read()
            log.restart()
        log.removed(queue_id)
    await log.read()
    assert sorted(await kinds(log)) == ["mail.delivered"] * 40 + ["mail.sent"] * 40


async def test_what_follows_a_file_that_can_not_be_read_yet_waits_for_it(
    api: Api, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await insert(api, outbound(api, "a@far.test")), await insert(api, outbound(api, "b@far.test"))
    log.api(_ID, first.message_id)
    log.rotate()
    (closed,) = log.path.parent.glob("mail.log.*")
    log.tried(_ID, "a@far.test")
    log.api(_OTHER, second.message_id)
    opened = Path.open

    def refuse(path: Path, *args: Any, **more: Any) -> Any:
        if path == closed:
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(PermissionError):
            await log.read()
    assert await kinds(log) == []
    await log.read()
    assert sorted(await kinds(log)) == ["mail.delivered", "mail.sent", "mail.sent"]


async def test_another_file_with_the_inode_of_an_old_one_is_read_from_its_start(api: Api, log: Log) -> None:
    first = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, first.message_id)
    await log.read()
    content = log.path.read_text().replace(_ID, _OTHER)
    second = await insert(api, outbound(api, "a@far.test"))
    log.path.write_text("x" + content.replace(first.message_id, second.message_id)[1:])
    log.add("qmgr[9]: skipped")
    log.restart()
    await log.read()
    assert await kinds(log) in (["mail.sent"], ["mail.sent", "mail.sent"])


@pytest.mark.parametrize("left", [0.4, 0.0], ids=["in part", "whole"])
async def test_a_truncated_log_is_read_on_without_duplicate_events(api: Api, log: Log, left: float) -> None:
    sent = [await insert(api, outbound(api, f"a{number}@far.test")) for number in range(3)]
    for number, each in enumerate(sent[:2]):
        log.api(f"4jW9T1xz0b{number:02d}", each.message_id)
        log.tried(f"4jW9T1xz0b{number:02d}", f"a{number}@far.test", DEFERRED)
    await log.read()
    with log.path.open("r+b") as file:
        file.truncate(int(log.path.stat().st_size * left))
    await log.read()
    log.restart()
    log.add("qmgr[9]: half a line may be lost")
    log.api("4jW9T1xz0b02", sent[2].message_id)
    log.tried("4jW9T1xz0b00", "a0@far.test")
    await log.read()
    assert sorted(await kinds(log)) == ["mail.bounced"] * 2 + ["mail.delivered"] + ["mail.sent"] * 3
    assert [row["attempts"] for row in await api.sql("SELECT attempts FROM message_recipients ORDER BY address")] == [
        2, 1, 0,
    ]  # fmt: skip


async def test_mail_whose_first_lines_were_lost_is_followed_from_the_next(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test", "b@far.test"))
    async with api.app.db.tx() as conn:
        await messages.accept(conn, api.clock(), [(sent, _ID)], status="queued")
    log.tried(_ID, "a@far.test", BOUNCED)
    log.tried(_ID, "b@far.test", DEFERRED)
    await log.read()
    log.add(f"qmgr[9]: {_ID}: from=<shop@{EXAMPLE}>, size=512, nrcpt=1 (queue active)")
    log.tried(_ID, "b@far.test")
    log.removed(_ID)
    log.removed(_OTHER)
    await log.read()
    assert sorted(await kinds(log)) == ["mail.bounced", "mail.bounced", "mail.delivered", "mail.sent"]
    assert (await message(log, sent.id))["status"] == "partial"
    assert await log.events("system.alert") == []
    assert await api.sql("SELECT queue_id FROM queued_mail") == []


async def test_two_followers_at_once_take_in_each_piece_once(api: Api, log: Log) -> None:
    import asyncio

    rival = LogFollower(api.app, log.path)
    for number in range(20):
        sent = await insert(api, outbound(api, f"a{number}@far.test"))
        log.api(f"4jW9T1xz0b{number:02d}", sent.message_id)
        log.tried(f"4jW9T1xz0b{number:02d}", f"a{number}@far.test")
        await asyncio.gather(log.follower.read_next(), rival.read_next())
    await log.read()
    assert sorted(await kinds(log)) == ["mail.delivered"] * 20 + ["mail.sent"] * 20


async def test_half_a_line_waits_for_its_other_half(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.api(_ID, sent.message_id)
    log.tried(_ID, "a@far.test")
    content = log.path.read_bytes()
    for cut in range(0, len(content), 97):
        log.path.write_bytes(content[:cut])
        await log.read()
    log.path.write_bytes(content)
    await log.read()
    assert await kinds(log) == ["mail.sent", "mail.delivered"]


async def test_a_line_that_fails_is_skipped(api: Api, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    log.add("qmgr[9]: 4jW9T1xz0bz9: removed")
    log.api(_ID, sent.message_id)
    parse: Callable[[bytes], Any] = delivery_status.postfix_log.parse

    def fail(line: bytes) -> Any:
        if b"bz9" in line:
            raise ValueError("a bug")
        return parse(line)

    monkeypatch.setattr(delivery_status.postfix_log, "parse", fail)
    await log.read()
    assert await kinds(log) == ["mail.sent"]


async def test_a_missing_message_becomes_unknown_and_may_still_get_an_outcome(api: Api, log: Log) -> None:
    sent = await insert(api, outbound(api, "a@far.test"))
    kept = await insert(api, outbound(api, "b@far.test"))
    log.api(_ID, sent.message_id)
    log.api(_OTHER, kept.message_id)
    await log.read()
    api.clock.advance(minutes=30)
    listed_at = api.clock()
    assert await delivery_status.find_missing(api.app, {_OTHER}, listed_at, timedelta(minutes=5)) is None
    api.clock.advance(seconds=1)
    log.restart()
    await log.read()
    found = await delivery_status.find_missing(api.app, {_OTHER}, listed_at, timedelta(minutes=5))
    assert found is not None
    assert [each.id for each in found] == [sent.id]
    await delivery_status.end_missing(api.app, found)
    assert (await message(log, sent.id))["status"] == "unknown"
    (alert,) = await log.events("system.alert")
    assert alert[1]["to"] == ["a@far.test"]
    assert await delivery_status.find_missing(api.app, {_OTHER}, listed_at, timedelta(minutes=5)) == []
    log.tried(_ID, "a@far.test")
    await log.read()
    assert (await message(log, sent.id))["status"] == "delivered"


async def test_what_the_filter_refuses_to_a_mail_client_does_not_count(api: Api, log: Log) -> None:
    """It was counted at the end of the message, before the filter answered: each retry counted again."""
    alice, at = f"alice@{EXAMPLE}", api.clock()
    await api.mailbox(alice)
    for queue_id in (_ID, _ID, _OTHER):  # Postfix may repeat its request
        noted = SubmissionEnvelope(queue_id, alice, alice, ["a@far.test", "b@far.test"], "192.0.2.5", at)
        await _begin(api, noted)
    counts = await api.sql("SELECT subject, recipients FROM send_counts ORDER BY subject")
    assert {row["subject"]: row["recipients"] for row in counts} == {alice: 4, EXAMPLE: 4}
    for to in ("a@far.test", "b@far.test"):
        log.add(
            f"cleanup[9]: {_ID}: milter-reject: END-OF-MESSAGE from h[192.0.2.5]: 4.7.1 Try again later; "
            f"from=<{alice}> to=<{to}> proto=ESMTP helo=<h>"
        )
        await log.read()
    counts = await api.sql("SELECT subject, recipients FROM send_counts ORDER BY subject")
    assert {row["subject"]: row["recipients"] for row in counts} == {alice: 2, EXAMPLE: 2}
