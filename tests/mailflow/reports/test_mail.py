"""Mail to the report addresses: accepted, read exactly once, and counted only if its sender is proved (T55)."""

from __future__ import annotations

import asyncio
import tempfile
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.reports import jobs, rules
from mailkeep.settings.server import ServerSettings
from tests.mailflow.local_delivery.lmtp_dialogue import Agent, running
from tests.plugins.post import Post
from tests.support.builders import create_domain
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api
from tests.support.reports import Dmarc, Record, abuse_report, mailed, tls_report

HOST, ID = "mx.test", DOMAIN_IDS[EXAMPLE]
DMARC, TLS = f"dmarc@{HOST}", f"tls@{HOST}"
PASSED = {"X-Rspamd-Action": "no action", "X-Rspamd-Auth": "spf=pass; dkim=pass; dmarc=pass"}
FAILED = PASSED | {"X-Rspamd-Auth": "spf=pass; dkim=pass; dmarc=fail"}


async def configure(api: Api) -> None:
    api.app.settings = replace(api.app.settings, server=ServerSettings(hostname=HOST))
    async with api.app.db.autocommit() as conn:
        await routing.apply_settings(conn, api.app.settings, api.clock())


@pytest.fixture
async def agent(api: Api) -> AsyncIterator[Agent]:
    """The process lmtp of the full profile."""
    await configure(api)
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        async with running(api, Path(folder)) as opened:
            yield opened


async def figures(api: Api) -> tuple[int, int]:
    """The counted messages, and the number of unproved reports."""
    await jobs.read_due(api.app)
    totals = (await api.dora.get(f"/domains/{ID}/dmarc")).data["totals"]
    return totals["messages"], totals["unproved_reports"]


def report(queue: str = "1", auth: dict[str, str] | None = None, sender: str = "a@google.com", **changes: Any) -> bytes:
    content = Dmarc(report_id=queue, **changes).xml()
    return mailed(content, sender=sender, fields=PASSED if auth is None else auth)


async def test_a_report_with_a_proved_sender_counts(agent: Agent) -> None:
    api = agent.api
    content = report()
    assert await agent.bring(DMARC, content=content) == ["250 2.0.0 Ok: the report will be read"]
    assert await api.sql("SELECT kind FROM events") == []  # it reached no mailbox
    assert await figures(api) == (1, 0)
    (reporter,) = (await api.dora.get(f"/domains/{ID}/dmarc")).data["reporters"]
    assert (reporter["organisation"], reporter["sender_domain"]) == ("google.com", "google.com")
    (row,) = (await api.sue.get("/messages", direction="inbound")).data
    assert (row["status"], row["mailbox_id"], row["recipients"][0]["address"]) == ("received", None, DMARC)
    assert row["auth"]["dmarc"] == "pass"
    assert (await api.sue.get(f"/messages/{row['id']}/raw")).body == content


@pytest.mark.parametrize(
    "fields",
    [
        FAILED,
        PASSED | {"X-Rspamd-Auth": "spf=pass; dkim=pass; dmarc=none"},
        {"X-Rspamd-Auth": "dmarc=pass"},
        {"X-Rspamd-Action": "no action", "Authentication-Results": "mx.test; dmarc=pass"},
        {},
    ],
    ids=["failed", "no policy", "not scanned", "results of somebody else", "nothing"],
)
async def test_a_forged_report_is_kept_and_counts_nowhere(agent: Agent, fields: dict[str, str]) -> None:
    assert (await agent.bring(DMARC, content=report(auth=fields)))[0][:3] == "250"
    assert await figures(agent.api) == (0, 1)
    found = (await agent.api.dora.get(f"/domains/{ID}/dmarc")).data
    assert (found["sources"], found["days"], found["reporters"]) == ([], [], [])
    assert found["advice"][0]["code"] == "no_reports"
    (shown,) = (await agent.api.dora.get(f"/domains/{ID}/reports", proved="false")).data
    assert (shown["proved"], shown["source"], shown["sender_domain"]) == (False, "mail", None)


async def test_two_senders_or_mail_of_this_server_prove_nothing(agent: Agent) -> None:
    twice = report().replace(b"From: a@google.com", b"From: a@google.com\r\nFrom: b@evil.test")
    listed = report("2").replace(b"From: a@google.com", b"From: a@google.com, b@evil.test")
    own = "NAME=localhost ADDR=127.0.0.1 PORT=0 IDENT=4jW9T1xz0bz3 SOURCE=REMOTE"
    await agent.bring(DMARC, content=twice)
    await agent.bring(DMARC, content=listed, queue_id="4jW9T1xz0bz2")
    await agent.bring(DMARC, content=report("3"), forwarded=own)
    assert await figures(agent.api) == (0, 3)


async def test_a_replayed_report_counts_once_and_nobody_can_take_its_place(agent: Agent) -> None:
    """An upload of a mailed report is the same report. Another sender's with the same IDs is its own."""
    for number in range(3):
        await agent.bring(DMARC, content=report(), queue_id=f"4jW9T1xz0bz{number}")
    assert await figures(agent.api) == (1, 0)
    early = report("9", sender="x@evil.test", records=[Record(count=0)])
    await agent.bring(DMARC, content=early, queue_id="4jW9T1xz0by1")
    await agent.bring(DMARC, content=report("9"), queue_id="4jW9T1xz0by2")
    assert await figures(agent.api) == (2, 0)


async def test_a_forged_mail_does_not_take_the_place_of_an_upload(agent: Agent) -> None:
    """Some reporters have IDs that can be guessed: anybody may mail a report with them before it is uploaded."""
    forged = report("2026-02-27.example.test", sender="x@evil.test", records=[Record(count=0)])
    await agent.bring(DMARC, content=forged)
    assert await figures(agent.api) == (0, 0)
    genuine = Dmarc([Record(count=5)], report_id="2026-02-27.example.test").xml()
    for _ in range(2):
        body = {"filename": "r.xml", "content": b64encode(genuine).decode()}
        assert (await agent.api.adam.post("/reports", body)).status == 202
    assert await figures(agent.api) == (5, 0)


async def test_mail_that_waits_is_not_read_for_a_domain_that_was_added_again(agent: Agent) -> None:
    """T47: it is about the domain of the tenant before."""
    api = agent.api
    moved = Dmarc([Record(header_from="moved.test")], domain="moved.test")
    await agent.bring(DMARC, content=mailed(moved.xml(), fields=PASSED))
    before = await create_domain(api, "moved.test")
    assert (await api.sue.delete(f"/domains/{before}")).status == 200
    api.clock.advance(seconds=5)
    after = await create_domain(api, "moved.test")
    assert await jobs.read_due(api.app) == 1
    assert (await api.sue.get(f"/domains/{after}/reports")).data == []


async def test_reports_about_other_tenants_do_not_appear(agent: Agent) -> None:
    other = Dmarc([Record(header_from=OTHER)], domain=OTHER)
    await agent.bring(DMARC, content=mailed(other.xml(), fields=PASSED))
    await agent.bring(
        DMARC, content=report("2", records=[Record(), Record(header_from=OTHER)]), queue_id="4jW9T1xz0bz2"
    )
    unmanaged = Dmarc([Record(header_from="")], domain="unmanaged.test")
    await agent.bring(DMARC, content=mailed(unmanaged.xml(), fields=PASSED), queue_id="4jW9T1xz0bz3")
    assert await figures(agent.api) == (0, 0)
    assert (await agent.api.dora.get(f"/domains/{ID}/reports")).data == []
    assert len((await agent.api.adam.get(f"/domains/{DOMAIN_IDS[OTHER]}/reports")).data) == 1
    assert await agent.api.sql("SELECT FROM report_mail") == []


async def test_tls_and_abuse_reports_arrive_by_mail(agent: Agent) -> None:
    await agent.bring(TLS, content=mailed(tls_report(), fields=PASSED))
    await agent.bring(DMARC, content=abuse_report(), queue_id="4jW9T1xz0bz2")
    assert await jobs.read_due(agent.api.app) == 2
    listed = (await agent.api.dora.get(f"/domains/{ID}/reports")).data
    assert {(each["kind"], each["proved"]) for each in listed} == {("tls", True), ("arf", False)}
    assert (await agent.api.sue.get("/abuse/suspensions")).data == []


async def test_a_message_is_read_once_whatever_dies(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Postfix retries after each fault, the worker reads again after its lease."""
    api = agent.api

    def die(at: str) -> None:
        def reach(name: str) -> None:
            if name == at:
                raise ConnectionError(at)

        monkeypatch.setattr(failpoint, "reach", reach)

    die("reports.accepted")
    assert (await agent.bring(DMARC, content=report()))[0][:3] == "451"
    assert await api.sql("SELECT FROM report_mail") == []
    die("")
    assert await agent.bring(DMARC, content=report()) == ["250 2.0.0 Ok: the report will be read"]
    assert await agent.bring(DMARC, content=report()) == ["250 2.0.0 Ok: the report will be read"]
    die("reports.stored")
    with pytest.raises(ConnectionError):
        await jobs.read_due(api.app)
    die("")
    assert await figures(api) == (0, 0)  # another worker has it
    api.clock.advance(minutes=6)
    await asyncio.gather(jobs.read_due(api.app), jobs.read_due(api.app))
    assert await figures(api) == (1, 0)
    assert await agent.bring(DMARC, content=report()) == ["250 2.0.0 Ok: the report will be read"]
    assert await jobs.read_due(api.app) == 0  # a retry after it was read
    assert len((await api.sue.get("/messages", direction="inbound")).data) == 1


async def test_a_message_that_kills_its_reader_each_time_is_dropped(agent: Agent) -> None:
    await agent.bring(DMARC, content=report())
    await agent.api.sql("UPDATE report_mail SET attempts = %(n)s", n=rules.MAX_ATTEMPTS)
    assert await figures(agent.api) == (0, 0)
    assert await agent.api.sql("SELECT FROM report_mail") == []


async def test_limits_of_mail(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_UNREAD", 1)
    assert (await agent.bring(DMARC, content=report()))[0][:3] == "250"
    full = await agent.bring(DMARC, content=report("2"), queue_id="4jW9T1xz0bz2")
    assert full == ["452 4.3.1 Too many reports wait to be read, try again later"]
    monkeypatch.setattr(rules, "MAX_MAIL_BYTES", 100)
    assert (await agent.bring(DMARC, content=report("3"), queue_id="4jW9T1xz0bz3"))[0][:3] == "250"  # no bounce
    (rejected,) = (await agent.api.sue.get("/messages", direction="inbound", status="rejected")).data
    assert rejected["recipients"][0]["smtp_code"] == 552
    assert await figures(agent.api) == (1, 0)
    monkeypatch.undo()
    monkeypatch.setattr(rules, "MAX_DAILY_UNPROVED", 2)
    for number in range(4):
        await agent.bring(DMARC, content=report(f"u{number}", FAILED), queue_id=f"4jW9T1xz0by{number}")
    assert await figures(agent.api) == (1, 2)


async def test_a_mailbox_or_alias_of_that_name_gets_the_mail(agent: Agent) -> None:
    await agent.api.domain(HOST)
    await agent.api.mailbox(DMARC)
    assert await agent.bring(DMARC, content=report()) == ["250 2.0.0 Saved"]
    assert await figures(agent.api) == (0, 0)
    assert len(agent.dovecot.copies) == 1
    (explained,) = (await agent.api.sue.get("/routing/explain", address=DMARC)).data["deliveries"]
    assert explained["type"] == "mailbox"


async def test_the_embedded_listener_takes_reports_without_proof(post: Post) -> None:
    """It checks no SPF, DKIM or DMARC."""
    await configure(post.api)
    refused = await post.deliver(f"nobody@{HOST}")
    assert refused.refused == {f"nobody@{HOST}": (550, "5.1.1 User unknown")}
    result = await post.deliver(DMARC, content=report())
    assert result.code == 250, result
    assert await figures(post.api) == (0, 1)
    (row,) = await post.messages(status="received")
    assert (row["status"], row["recipients"][0]["address"]) == ("received", DMARC)
    mailbox = await post.api.mailbox()
    assert (await post.deliver(f"alice@{EXAMPLE}", TLS, content=mailed(tls_report()))).code == 250
    assert len(post.mail_of(mailbox)) == 1
    await jobs.read_due(post.api.app)
    assert (await post.api.dora.get(f"/domains/{ID}/tls-reports")).data["totals"]["unproved_reports"] == 1


async def test_the_apis_own_mail_and_aliases_reach_the_reader(post: Post) -> None:
    await configure(post.api)
    await post.api.alias(f"rua@{EXAMPLE}", [DMARC])
    assert (await post.deliver(f"rua@{EXAMPLE}", content=report())).code == 250
    assert (await post.send(to=[{"email": DMARC}])).status == 200
    await post.run_queue()
    assert await figures(post.api) == (0, 1)  # the second one has no report
