"""Mail that nobody here has sent, and that goes on to the outside: by an alias, a mailbox's forward, a Sieve script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.mail.message import srs
from tests.mailflow.delivery_status.log_writer import BOUNCED, DEFERRED
from tests.mailflow.delivery_status.test_outcomes import Log, kinds
from tests.support.client import EXAMPLE, OTHER, Api

_ID, _NEXT = "4jW9T1xz0bz1", "4jW9T1xz0bz2"
SALES, TEAM = f"sales@{EXAMPLE}", f"team@{OTHER}"
SHUT = "dsn=4.4.1, status=deferred (connect to mx[/run/mta/lmtp.sock]: Connection refused)"


@pytest.fixture
def log(api: Api, tmp_path: Path) -> Log:
    return Log(api, tmp_path / "log" / "mail.log")


@pytest.fixture(autouse=True)
async def routes(api: Api) -> None:
    """What the log tells of leads there."""
    await api.mailbox()
    await api.alias(SALES, [f"alice@{EXAMPLE}", "a@far.test", "b@far.test"])
    await api.alias(TEAM, ["b@far.test"])


async def rows(api: Api, **wanted: str) -> list[dict[str, Any]]:
    return (await api.sue.get("/messages", direction="outbound", **wanted)).data


async def test_external_copies_of_an_alias_have_a_message_with_outcomes(api: Api, log: Log) -> None:
    log.passing(_ID, recipients=3)
    log.filed(_ID, f"alice@{EXAMPLE}", asked=SALES)
    log.tried(_ID, "a@far.test", DEFERRED, asked=SALES)
    await log.read()
    log.tried(_ID, "b@far.test", BOUNCED, asked=SALES)
    log.tried(_ID, "a@far.test", asked=SALES)
    log.removed(_ID)
    await log.read()
    (row,) = await rows(api)
    assert (row["source"], row["queue_id"], row["message_id"], row["to"], row["from"], row["subject"]) == (
        "system", _ID, "<one@near.test>", [SALES], f"alice@{EXAMPLE}", "Grüße",
    )  # fmt: skip
    assert [(each["address"], each["status"], each["attempts"]) for each in row["recipients"]] == [
        ("a@far.test", "delivered", 2), ("b@far.test", "bounced", 1),
    ]  # fmt: skip
    published = [(kind, data["to"], data["source"], data["remote_host"]) for kind, data in await log.events()]
    assert published == [
        ("mail.bounced", "a@far.test", "system", "mx.far.test"),
        ("mail.bounced", "b@far.test", "system", "mx.far.test"),
        ("mail.delivered", "a@far.test", "system", "mx.far.test"),
    ]
    assert await api.sql("SELECT queue_id FROM queued_mail") == []
    timeline = (await api.sue.get(f"/messages/{row['id']}/events")).data
    assert [each["kind"] for each in timeline].count("deferred") == 1


async def test_what_only_reaches_mailboxes_has_no_row_whatever_tells_of_it(api: Api, log: Log) -> None:
    log.passing(_ID, recipients=2)
    log.filed(_ID, f"alice@{EXAMPLE}", SHUT)
    log.add(
        f"error[9]: {_ID}: to=<alice@{EXAMPLE}>, relay=none, delay=9, delays=9/0/0/0, dsn=4.4.1, "
        "status=deferred (delivery temporarily suspended: connect to mx[/run/mta/lmtp.sock]: Connection refused)"
    )
    await log.read()
    log.filed(_ID, f"alice@{EXAMPLE}")
    log.removed(_ID)
    await log.read()
    assert await rows(api) == []
    assert await kinds(log) == []
    assert await api.sql("SELECT queue_id FROM queued_mail") == []


async def test_each_domain_sees_only_whom_it_passes_mail_on_to(api: Api, log: Log) -> None:
    log.passing(_ID, recipients=2)
    log.tried(_ID, "a@far.test", asked=SALES)
    log.tried(_ID, "b@far.test", asked=TEAM)
    log.removed(_ID)
    await log.read()
    found = {row["recipients"][0]["address"]: (row["domain_id"], row["to"]) for row in await rows(api)}
    ids = {row["name"]: str(row["id"]) for row in await api.sql("SELECT id, name FROM domains")}
    assert found == {"a@far.test": (ids[EXAMPLE], [SALES]), "b@far.test": (ids[OTHER], [TEAM])}
    mine = await api.dora.get("/messages", direction="outbound")
    assert [row["to"] for row in mine.data] == [[SALES]]


@pytest.mark.parametrize("sender", [f"alice@{EXAMPLE}", ""], ids=["redirect", "vacation"])
async def test_mail_submitted_by_dovecot_belongs_to_the_mailboxs_domain(api: Api, log: Log, sender: str) -> None:
    log.passing(_ID, "reinjection", sender)
    log.tried(_ID, "friend@far.test", BOUNCED)
    log.removed(_ID)
    await log.read()
    (row,) = await rows(api)
    assert (row["source"], row["from"], row["subject"]) == ("system", f"alice@{EXAMPLE}", "Grüße")
    assert row["domain_id"] is not None
    assert [(each["address"], each["status"]) for each in row["recipients"]] == [("friend@far.test", "bounced")]
    assert await kinds(log) == ["mail.bounced"]


async def test_a_bounce_that_postfix_makes_itself_is_no_mail_of_ours(api: Api, log: Log) -> None:
    log.add(
        f"cleanup[9]: {_ID}: message-id=<20261121.1@mx>",
        f"bounce[9]: {_NEXT}: sender non-delivery notification: {_ID}",
        f"qmgr[9]: {_ID}: from=<>, size=2700, nrcpt=1 (queue active)",
    )
    log.tried(_ID, "someone@near.test")
    log.removed(_ID)
    await log.read()
    assert await rows(api) == []
    assert await kinds(log) == []


async def test_what_expires_has_failed_and_what_is_requeued_goes_on(api: Api, log: Log) -> None:
    log.passing(_ID)
    log.tried(_ID, "a@far.test", DEFERRED, asked=SALES)
    await log.read()
    log.add(
        f"postsuper[9]: {_ID}: requeued",
        f"pickup[9]: {_NEXT}: uid=0 from=<someone@near.test> orig_id={_ID}",
        f"cleanup[9]: {_NEXT}: message-id=<one@near.test>",
        f"qmgr[9]: {_NEXT}: from=<someone@near.test>, size=700, nrcpt=1 (queue active)",
    )
    await log.read()
    log.tried(_NEXT, "a@far.test", DEFERRED, asked=SALES)
    log.add(f"qmgr[9]: {_NEXT}: from=<someone@near.test>, status=expired, returned to sender")
    log.removed(_NEXT)
    await log.read()
    (row,) = await rows(api)
    assert (row["status"], row["recipients"][0]["next_attempt_at"]) == ("failed", None)
    assert await kinds(log) == ["mail.bounced", "mail.failed"]


async def test_a_refusal_by_the_filter_stays_one_and_leaves_nothing_followed(api: Api, log: Log) -> None:
    log.add(
        f"mx/smtpd[9]: {_ID}: client=h[192.0.2.5]",
        f"inbound/cleanup[9]: {_ID}: message-id=<one@near.test>",
        f"inbound/cleanup[9]: {_ID}: milter-reject: END-OF-MESSAGE from h[192.0.2.5]: 5.7.1 Gtube pattern; "
        f"from=<x@near.test> to=<alice@{EXAMPLE}> proto=ESMTP helo=<h>",
    )
    await log.read()
    (row,) = await api.sql("SELECT direction, status FROM messages")
    assert row == {"direction": "inbound", "status": "rejected"}
    assert await api.sql("SELECT queue_id FROM queued_mail") == []


async def test_a_rewritten_sender_is_restored_in_the_history(api: Api, log: Log) -> None:
    sender = srs.rewriter(api.app.vault, api.app.settings).rewrite("Some.One@near.test", api.clock())
    log.add(
        f"inbound/cleanup[9]: {_ID}: message-id=<one@near.test>",
        f"qmgr[9]: {_ID}: from=<{sender}>, size=700, nrcpt=1 (queue active)",
    )
    log.tried(_ID, "a@far.test", asked=SALES)
    log.add(
        f"inbound/cleanup[9]: {_NEXT}: milter-reject: END-OF-MESSAGE from h[192.0.2.5]: 5.7.1 Spam is not forwarded; "
        f"from=<{sender}> to=<{SALES}> proto=ESMTP helo=<h>",
    )
    await log.read()
    found = await api.sql("SELECT direction, mail_from, from_address FROM messages ORDER BY direction")
    assert [tuple(row.values()) for row in found] == [
        ("inbound", "Some.One@near.test", "Some.One@near.test"),
        ("outbound", "Some.One@near.test", "Some.One@near.test"),
    ]


@pytest.mark.parametrize("place", ["log.applied", "log.committed"])
@pytest.mark.parametrize("pieces", [1, 4])
async def test_a_crash_makes_no_second_row_and_no_second_event(
    api: Api, log: Log, monkeypatch: pytest.MonkeyPatch, place: str, pieces: int
) -> None:
    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        if name == place:
            raise Killed

    async def crash() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(failpoint, "reach", die)
            with pytest.raises(Killed):
                await log.follower.read_next()
        log.restart()

    log.passing(_ID)
    for number, outcome in enumerate((DEFERRED, DEFERRED)):
        log.tried(_ID, "a@far.test", outcome, asked=SALES)
        if number < pieces - 1:
            await crash()
    log.tried(_ID, "a@far.test", asked=SALES)
    log.removed(_ID)
    await crash()
    await log.read()
    (row,) = await rows(api)
    assert row["recipients"][0]["attempts"] == 3
    assert await kinds(log) == ["mail.bounced", "mail.delivered"]
