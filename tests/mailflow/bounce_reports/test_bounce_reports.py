"""Late bounces and complaints, real and forged, at the bounce address of a message (T55)."""

from __future__ import annotations

import re
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Literal

from mailkeep.core.clock import iso
from mailkeep.core.secret import Vault
from mailkeep.db.postgres import Urls
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.mail.message.bounce_address import bounce_address
from tests.mailflow.local_delivery.lmtp_dialogue import running
from tests.plugins.post import Post
from tests.support.bounces import CUSTOMER, arf, dsn
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER


@pytest.fixture
async def delivered(post: Post, database_urls: Urls) -> Post:
    """The database's functions use the clock of the test."""
    await set_mta_time(post, database_urls)
    return post


async def set_mta_time(post: Post, database_urls: Urls) -> None:
    """Set the clock of the database's functions to that of the test."""
    [row] = await post.api.sql("SELECT current_database() AS name")
    async with await AsyncConnection.connect(make_conninfo(database_urls.owner, dbname=row["name"])) as conn:
        time = SQL("CREATE OR REPLACE FUNCTION mta_time() RETURNS timestamptz LANGUAGE sql STABLE AS {}")
        await conn.execute(time.format(Literal(f"SELECT timestamptz '{post.api.clock().isoformat()}'")))


async def send(post: Post, *recipients: str) -> tuple[str, str]:
    """Send and deliver a message; returns its ID and its bounce address."""
    answer = await post.send(to=[{"email": each} for each in recipients or (CUSTOMER,)])
    assert answer.status == 200, answer.body
    await post.run_queue()
    (row,) = await post.api.sql("SELECT mail_from FROM messages WHERE id = %(id)s", id=answer.data["id"])
    return answer.data["id"], row["mail_from"]


async def state(post: Post, message_id: str) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """The statuses of the recipients, the kinds of events after the deliveries, and the suppressions."""
    recipients = (await post.api.sue.get(f"/messages/{message_id}")).data["recipients"]
    kinds = [kind for kind, _ in await post.events() if kind not in ("mail.sent", "mail.delivered")]
    rows = (await post.api.sue.get("/suppressions")).data
    return [each["status"] for each in recipients], kinds, [(row["address"], row["reason"]) for row in rows]


async def test_a_late_bounce_counts_once(delivered: Post):
    post = delivered
    message_id, address = await send(post)
    # Also where the domain receives no mail, and with letters in another case.
    await post.api.sql("UPDATE domains SET receiving_enabled = false")
    explained = (await post.api.sue.get("/routing/explain", address=address)).data
    assert (explained["decision"], explained["steps"][0]["step"], explained["deliveries"]) == ("bounce", "bounce", [])
    for _ in range(2):
        assert (await post.deliver(address.upper(), content=dsn(), sender="")).code == 250
    assert await state(post, message_id) == (["bounced"], ["mail.bounced"], [(CUSTOMER, "hard_bounce")])
    (row,) = await post.messages()
    (recipient,) = row["recipients"]
    assert (recipient["smtp_code"], recipient["enhanced_code"]) == (550, "5.1.1")
    assert (recipient["class"], recipient["remote_host"]) == ("invalid_recipient", "inner.elsewhere.test")
    assert (row["status"], recipient["diagnostic"]) == ("bounced", "550 5.1.1 User unknown")
    event = next(data for kind, data in await post.events() if kind == "mail.bounced")
    assert (event["to"], event["bounce_type"], event["class"]) == (CUSTOMER, "permanent", "invalid_recipient")
    timeline = (await post.api.sue.get(f"/messages/{message_id}/events", order="asc")).data
    assert [each["kind"] for each in timeline] == ["submitted", "accepted", "delivered", "bounced"]


async def test_a_complaint_counts_once_also_after_its_suppression_is_removed(delivered: Post):
    post = delivered
    message_id, address = await send(post)
    assert (await post.deliver(address, content=arf(), sender="")).code == 250
    assert await state(post, message_id) == (["delivered"], ["mail.complained"], [(CUSTOMER, "complaint")])
    event = next(data for kind, data in await post.events() if kind == "mail.complained")
    (row,) = (await post.api.sue.get("/suppressions")).data
    assert (event["to"], event["reason"], event["suppression_id"]) == (CUSTOMER, "complaint", row["id"])
    assert row["source_message_id"] == message_id
    await post.api.sue.delete(f"/suppressions/{row['id']}", note="asked for it")
    await post.deliver(address, content=arf(CUSTOMER), sender="")
    assert await state(post, message_id) == (["delivered"], ["mail.complained"], [])


async def test_what_proves_nothing_changes_nothing(delivered: Post):
    post = delivered
    message_id, address = await send(post)
    _, foreign = await send(post, "else@elsewhere.test")
    local, _, _ = address.partition("@")
    forged = f"{local[:34]}{'0' * 28}@{EXAMPLE}"
    for each in (forged, f"{local}@{OTHER}", f"b+{'0' * 60}@{EXAMPLE}"):
        refused = (await post.deliver(each, content=dsn(), sender="")).refused
        assert refused[each][0] == 550, each
        explained = (await post.api.sue.get("/routing/explain", address=each)).data
        assert explained["decision"] == "unknown_user"
    unaffected = (["delivered"], [], [])
    # The address of one message proves nothing about the recipient of another.
    await post.deliver(foreign, content=dsn(CUSTOMER), sender="")
    assert await state(post, message_id) == (["delivered"], ["mail.bounced"], [])
    await post.api.sql("DELETE FROM events")
    for content in (
        dsn(action="delayed"), dsn(action="delivered"), arf(kind="not-spam"), b"Subject: I am away\r\n\r\nHi\r\n",
        dsn().replace(b"multipart/report", b"multipart/mixed"), arf("stranger@elsewhere.test"),
        b'Content-Type: multipart/report; boundary="b"\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\0',
    ):  # fmt: skip
        assert (await post.deliver(address, content=content, sender="")).code == 250
    assert await state(post, message_id) == unaffected
    # Older than 30 days: the reply of routing depends on the database's clock, the report on ours.
    post.api.clock.advance(days=30, seconds=1)
    assert (await post.deliver(address, content=dsn(), sender="")).code == 250
    assert await state(post, message_id) == unaffected


async def test_reports_before_the_outcome_and_of_removed_messages(delivered: Post):
    post = delivered
    answer = await post.send()
    (row,) = await post.api.sql("SELECT mail_from FROM messages")
    await post.deliver(row["mail_from"], content=dsn(), sender="")
    await post.deliver(row["mail_from"], content=arf(), sender="")
    assert await state(post, answer.data["id"]) == (["queued"], [], [])
    unknown = bounce_address(post.api.app.vault, DOMAIN_IDS[EXAMPLE], [CUSTOMER], EXAMPLE)
    assert unknown is not None
    assert (await post.deliver(unknown, content=dsn(), sender="")).refused[unknown][0] == 550


async def test_of_several_recipients_only_their_own_servers_report(delivered: Post):
    """Whoever gets the message knows its bounce address. From a role address of the recipient's domain, proved by the
    filter of the full profile, a report counts; what a recipient or another server claims does not.
    """
    post, second = delivered, "second@far.test"
    message_id, address = await send(post, CUSTOMER, second)
    for content in (dsn(), arf(), arf(CUSTOMER), dsn("third@elsewhere.test")):
        await post.deliver(address, content=content, sender="")
    passed, failed = "spf=pass; dkim=pass; dmarc=pass", "spf=pass; dkim=pass; dmarc=fail"
    proved: list[tuple[str, str]] = [
        ("postmaster@far.test", passed), ("eve@elsewhere.test", passed), ("postmaster@elsewhere.test", failed),
        ("postmaster@notelsewhere.test", passed), ("postmaster@elsewhere.test, eve@far.test", passed),
        ("postmaster@test.", passed),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        async with running(post.api, Path(folder)) as agent:

            async def bring(author: str, auth: str, report: bytes) -> None:
                fields = f"X-Rspamd-Action: no action\r\nX-Rspamd-Auth: {auth}\r\nFrom: {author}\r\n".encode()
                content = fields + re.sub(rb"\AFrom: [^\r]+\r\n", b"", report)
                assert (await agent.bring(address, content=content))[0][:3] == "250"

            for author, auth in proved:
                await bring(author, auth, dsn())
                await bring(author, auth, arf(CUSTOMER))
            await bring("abuse@elsewhere.test", passed, arf())  # it has to name the recipient
            assert await state(post, message_id) == (["delivered", "delivered"], [], [])
            await bring("MAILER-DAEMON@mx.elsewhere.test", passed, dsn())
            await bring("abuse@far.test", passed, arf(second))
            # A provider's server answers for the domains whose mail it takes.
            await post.api.sql("UPDATE message_recipients SET remote_host = 'in.provider.test', status = 'relayed'")
            await bring("mailer-daemon@provider.test", passed, dsn(second))
    statuses, kinds, suppressed = await state(post, message_id)
    assert (statuses, kinds) == (["relayed", "bounced"], ["mail.bounced", "mail.complained", "mail.bounced"])
    assert sorted(suppressed) == [(CUSTOMER, "hard_bounce"), (second, "complaint")]


async def test_a_relayed_message_and_one_that_its_recipient_forwards(delivered: Post):
    post = delivered
    message_id, address = await send(post)
    await post.api.sql("UPDATE message_recipients SET status = 'relayed'")
    await post.api.sql("UPDATE messages SET status = 'relayed'")
    # The report names the address behind the recipient: the message bounced, but the address itself exists.
    await post.deliver(address, content=dsn("behind@elsewhere.test"), sender="")
    assert await state(post, message_id) == (["bounced"], ["mail.bounced"], [])


async def test_a_policy_reply_suppresses_nobody(delivered: Post):
    post = delivered
    message_id, address = await send(post)
    await post.deliver(address, content=dsn(diagnostic="smtp; 550 5.7.1 User unknown", status="5.7.1"), sender="")
    assert await state(post, message_id) == (["bounced"], ["mail.bounced"], [])


async def test_mail_of_clients_and_forwards_has_no_bounce_address(delivered: Post):
    post = delivered
    message_id, address = await send(post)
    await post.api.sql("UPDATE messages SET source = 'system'")
    await post.deliver(address, content=dsn(), sender="")
    assert await state(post, message_id) == (["delivered"], [], [])


def test_addresses_are_bound_to_message_and_only_recipient() -> None:
    vault = Vault(b"x" * 32)
    first = bounce_address(vault, DOMAIN_IDS[EXAMPLE], ["a@b.test"], EXAMPLE)
    assert first is not None
    assert len(first.partition("@")[0]) == 62
    assert first != bounce_address(vault, DOMAIN_IDS[EXAMPLE], ["c@b.test"], EXAMPLE)
    assert first != bounce_address(Vault(b"y" * 32), DOMAIN_IDS[EXAMPLE], ["a@b.test"], EXAMPLE)
    assert (
        bounce_address(vault, DOMAIN_IDS[EXAMPLE], ["a@b.test"], f"{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 60}") is None
    )


async def test_the_address_of_a_scheduled_message_is_valid_from_its_submission(delivered: Post, database_urls: Urls):
    """It is made when the message is due: of two recipients, one is suppressed by then. Its 30 days begin then."""
    post = delivered
    to, ahead = [{"email": CUSTOMER}, {"email": "gone@elsewhere.test"}], timedelta(days=29)
    message_id = (await post.send(to=to, scheduled_at=iso(post.api.clock() + ahead))).data["id"]
    await post.api.suppression("gone@elsewhere.test")
    post.api.clock.advance(days=29)
    await ScheduledWorker(post.api.app).drain()
    await post.run_queue()
    post.api.clock.advance(days=29, hours=23)
    await set_mta_time(post, database_urls)
    [row] = await post.api.sql("SELECT mail_from FROM messages WHERE id = %(id)s", id=message_id)
    address = row["mail_from"]
    assert (await post.deliver(address, content=dsn(CUSTOMER), sender="")).code == 250
    assert (await state(post, message_id))[0] == ["bounced", "suppressed"]
    post.api.clock.advance(hours=2)
    await set_mta_time(post, database_urls)
    assert (await post.deliver(address, content=dsn(CUSTOMER), sender="")).refused[address][0] == 550
