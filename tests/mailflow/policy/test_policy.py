"""The policy server, called like Postfix calls it: counters, limits and suspensions on submission."""

from __future__ import annotations

import asyncio
import os
import tempfile
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.policy.rules import UNAVAILABLE
from mailkeep.features.mailflow.policy.service import PolicyServer
from mailkeep.mail.message import srs
from mailkeep.mail.postfix.policy import MalformedPolicyRequest, format_response, parse_request, serve_policy
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api

ALICE = f"alice@{EXAMPLE}"


class PostfixClient:
    """A connection like that of a Postfix process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, login: str) -> None:
        self.reader, self.writer, self.login = reader, writer, login

    async def request(self, state: str, **changes: object) -> str:
        """Send a request in a protocol state; return the action."""
        number = str(changes.get("instance", "1")).partition(".")[0]
        attributes = {
            "request": "smtpd_access_policy", "protocol_state": state, "instance": "1.1", "sender": ALICE,
            "sasl_username": self.login, "client_address": "192.0.2.5", "queue_id": f"4jW9T1xz0bz{number}",
        } | changes  # fmt: skip
        self.writer.write("".join(f"{name}={value}\n" for name, value in attributes.items()).encode() + b"\n")
        async with asyncio.timeout(60):
            line = await self.reader.readline()
            assert await self.reader.readline() == b"\n"
        return line.decode().strip().removeprefix("action=")

    async def message(self, *to: str, **changes: object) -> str:
        """RCPT for each recipient, then END-OF-MESSAGE; return the first action that is not DUNNO."""
        for each in to:
            if (action := await self.request("RCPT", recipient=each, **changes)) != "DUNNO":
                return action
        more = {"recipient": to[0]} if len(to) == 1 else {}
        return await self.request("END-OF-MESSAGE", recipient_count=len(to), **more, **changes)


@pytest.fixture
async def client(api: Api) -> AsyncIterator[PostfixClient]:
    await api.mailbox(ALICE)
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        path = Path(folder) / "policy"
        server = await serve_policy(
            path, PolicyServer(api.app, HitCounter(api.app)).answer, mode=0o600, group=os.getgid()
        )
        reader, writer = await asyncio.open_unix_connection(path)
        (row,) = await api.sql(
            "SELECT greatest(access_version, password_version) AS access FROM mailboxes WHERE address_key = %(key)s",
            key=ALICE,
        )
        yield PostfixClient(reader, writer, f"{ALICE}/{row['access']}")
        writer.close()
        server.close()


def set_limits(api: Api, **per_hour: int) -> None:
    api.app.settings = replace(api.app.settings, abuse=replace(api.app.settings.abuse, **per_hour))


async def test_a_permitted_message_is_counted_and_its_envelope_stored(api: Api, client: PostfixClient) -> None:
    assert await client.message("a@far.test", "hidden@far.test") == "DUNNO"
    (envelope,) = await api.sql("SELECT queue_id, login, sender, recipients, client FROM submission_envelopes")
    assert envelope == {
        "queue_id": "4jW9T1xz0bz1", "login": ALICE, "sender": ALICE, "client": "192.0.2.5",
        "recipients": ["a@far.test", "hidden@far.test"],
    }  # fmt: skip
    counts = await api.sql("SELECT subject, recipients FROM send_counts ORDER BY subject")
    assert {row["subject"]: row["recipients"] for row in counts} == {ALICE: 2, EXAMPLE: 2}


@pytest.mark.parametrize(
    "change",
    [
        {"password": "another password, a long one"},
        {"active": False},
        {"protocols": {"smtp": False}},
        {"local_part": "alicia"},
        None,
    ],
)
async def test_a_session_that_has_lost_its_access_is_disconnected(
    api: Api, client: PostfixClient, change: dict[str, Any] | None
) -> None:
    (row,) = await api.sql("SELECT id FROM mailboxes WHERE address_key = %(key)s", key=ALICE)
    assert await client.request("RCPT", recipient="a@far.test", instance="1") == "DUNNO"
    if change is None:
        assert (await api.sue.delete(f"/mailboxes/{row['id']}")).status == 200
        await api.mailbox(ALICE)  # another mailbox with the same address
    else:
        assert (await api.sue.patch(f"/mailboxes/{row['id']}", change)).status == 200
    action = "421 4.7.0 Your password or access has changed: log in again"
    assert await client.request("END-OF-MESSAGE", recipient_count=1, instance="1") == action
    assert await client.request("RCPT", recipient="a@far.test", instance="2") == action


async def test_a_login_without_a_version_is_disconnected(client: PostfixClient) -> None:
    assert (await client.message("a@far.test", sasl_username=ALICE)).startswith("421 ")
    assert (await client.message("a@far.test", sasl_username="")).startswith("421 ")


async def test_exceeding_the_limit_refuses_and_suspends_also_in_the_api(api: Api, client: PostfixClient) -> None:
    set_limits(api, sender_per_hour=3)
    assert await client.message("a@far.test", "b@far.test") == "DUNNO"
    assert (await client.message("c@far.test", "d@far.test", instance="2")).startswith("450 4.7.1 ")
    assert (await client.message("e@far.test", instance="3")).startswith("550 5.7.1 Sending is suspended")
    (row,) = (await api.sue.get("/abuse/suspensions")).data
    assert row["address"] == ALICE


async def test_a_message_that_alone_exceeds_the_limit_is_refused_permanently(api: Api, client: PostfixClient) -> None:
    set_limits(api, sender_per_hour=2)
    action = await client.message("a@far.test", "b@far.test", "c@far.test")
    assert action.startswith("550 5.7.1 ")


async def test_recipient_count_counts_without_rcpt_requests(api: Api, client: PostfixClient) -> None:
    assert await client.request("END-OF-MESSAGE", recipient_count=7) == "DUNNO"
    assert await api.sql("SELECT queue_id FROM submission_envelopes") == []
    counts = await api.sql("SELECT recipients FROM send_counts WHERE subject = %(key)s", key=ALICE)
    assert [row["recipients"] for row in counts] == [7]


async def test_the_null_sender_is_counted_for_the_login(api: Api, client: PostfixClient) -> None:
    assert await client.message("a@far.test", sender="") == "DUNNO"
    assert await api.sql("SELECT subject FROM send_counts WHERE subject = %(key)s", key=ALICE)


async def count_forwarded(api: Api, domain: str = EXAMPLE) -> int:
    (row,) = await api.sql("SELECT forwarded_copies(%(at)s, %(domain)s) AS n", at=api.clock(), domain=domain)
    return row["n"]


async def request_expanding(client: PostfixClient, recipient: str, **changes: object) -> str:
    """RCPT in the context in which Postfix expands aliases."""
    return await client.request("RCPT", recipient=recipient, policy_context="expanding", **changes)


async def test_one_counted_recipient_does_not_become_many_external_messages(api: Api, client: PostfixClient) -> None:
    """Regression: the external destinations of an alias were not counted."""
    set_limits(api, forward_per_hour=5)
    await api.alias(f"team@{EXAMPLE}", ["a@far.test", "b@far.test", ALICE])
    await api.alias(f"more@{OTHER}", ["c@far.test"])
    for instance, context in (("1", {}), ("2", {"policy_context": "inbound"})):
        changes = {"instance": instance, "queue_id": f"4jW9T1xz0bz{instance}"}
        assert await request_expanding(client, f"team@{EXAMPLE}", **changes) == "DUNNO"
        assert await request_expanding(client, f"more@{OTHER}", **changes) == "DUNNO"
        assert await client.request("END-OF-MESSAGE", recipient_count=2, **context, **changes) == "DUNNO"
    assert (await count_forwarded(api), await count_forwarded(api, OTHER)) == (4, 2)
    assert (await request_expanding(client, f"team@{EXAMPLE}", instance="3")).startswith("450 4.7.1 ")
    assert await request_expanding(client, f"more@{OTHER}", instance="3") == "DUNNO"


def rewritten_sender(action: str, domain: str = EXAMPLE) -> str:
    """The decoded sender of the action `PREPEND X-Mailkeep-Sender: MARK SENDER DOMAIN`; empty if it stays."""
    words = action.split(" ")
    assert (words[:3], words[4:]) == (["PREPEND", "X-Mailkeep-Sender:", "4a5b"], [domain]), action
    return "" if words[3] == "-" else b64decode(words[3]).decode()


async def test_the_sender_of_mail_with_external_copies_is_rewritten(api: Api, client: PostfixClient) -> None:
    await api.alias(f"team@{EXAMPLE}", ["a@far.test", ALICE])
    changes = {"policy_context": "expanding/4a5b", "sasl_username": ""}

    async def rcpt(recipient: str, sender: str, instance: str, **more: str) -> str:
        return await client.request("RCPT", recipient=recipient, sender=sender, instance=instance, **changes | more)

    rewritten = rewritten_sender(await rcpt(f"team@{EXAMPLE}", "Wrîter@far.test", "1"))
    assert srs.rewriter(api.app.vault, api.app.settings).restore(rewritten) == "Wrîter@far.test"
    # Each answer has it: Postfix may not have waited for the first.
    for again in (f"team@{EXAMPLE}", f"team+x@{EXAMPLE}"):
        assert rewritten_sender(await rcpt(again, "Wrîter@far.test", "1")) == rewritten
    assert await rcpt(ALICE, "writer@far.test", "2") == "DUNNO"
    assert rewritten_sender(await rcpt(f"team@{EXAMPLE}", "writer@far.test", "2"))
    for number, sender in enumerate(("", "x" * 240 + "@far.test", "two words@far.test")):
        assert not rewritten_sender(await rcpt(f"team@{EXAMPLE}", sender, f"3.{number}"))
    # Bounces to the rewritten sender are forwarded; with a sender they are rewritten again.
    host = api.app.settings.server.name.lower()
    assert not rewritten_sender(await rcpt(rewritten, "", "4"), host)
    assert rewritten_sender(await rcpt(rewritten, "friend@far.test", "4"), host)
    # Nothing is rewritten on the submission ports.
    assert await rcpt(f"team@{EXAMPLE}", "writer@far.test", "5", policy_context="expanding") == "DUNNO"


async def test_each_recipient_with_external_copies_names_its_domain(api: Api, client: PostfixClient) -> None:
    await api.alias(f"team@{EXAMPLE}", ["a@far.test"])
    await api.alias(f"more@{OTHER}", ["b@far.test"])
    changes = {"policy_context": "expanding/4a5b", "sasl_username": "", "sender": "writer@far.test"}
    senders = {
        rewritten_sender(await client.request("RCPT", recipient=each, **changes), each.partition("@")[2])
        for each in (f"team@{EXAMPLE}", f"more@{OTHER}")
    }
    assert len(senders) == 1


async def test_concurrent_messages_do_not_exceed_the_limit(api: Api, client: PostfixClient) -> None:
    set_limits(api, forward_per_hour=5)
    await api.alias(f"team@{EXAMPLE}", ["a@far.test", "b@far.test"])
    for instance in "123":
        assert await request_expanding(client, f"team@{EXAMPLE}", instance=instance) == "DUNNO"
    answers = [
        await client.request("END-OF-MESSAGE", instance=each, queue_id=f"q{each}", policy_context="inbound")
        for each in "123"
    ]
    assert [each[:9] for each in answers] == ["DUNNO", "DUNNO", "450 4.7.1"]
    assert await count_forwarded(api) == 4


async def test_a_message_has_a_limited_number_of_external_copies(api: Api, client: PostfixClient) -> None:
    limits = replace(api.app.settings.limits, external_expansion=3)
    api.app.settings = replace(api.app.settings, limits=limits)
    await api.sql("UPDATE routing_settings SET external_expansion = 3 RETURNING hostname")
    await api.alias(f"two@{EXAMPLE}", ["a@far.test", "b@far.test"])
    await api.alias(f"tow@{EXAMPLE}", ["a@far.test", "c@far.test"])
    await api.alias(f"four@{EXAMPLE}", [f"{name}@far.test" for name in "abcd"])
    assert await request_expanding(client, f"two@{EXAMPLE}") == "DUNNO"
    assert (await request_expanding(client, f"tow@{EXAMPLE}")).startswith("452 4.5.3 ")
    assert (await request_expanding(client, f"four@{EXAMPLE}")).startswith("550 5.7.1 ")


async def test_sieve_redirects_count_for_the_domain_of_the_mailbox(api: Api, client: PostfixClient) -> None:
    set_limits(api, forward_per_hour=2)
    context = {"policy_context": "redirect", "sasl_username": ""}
    for instance in "12":
        changes = context | {"instance": instance, "queue_id": f"q{instance}"}
        assert await client.request("RCPT", recipient="a@far.test", **changes) == "DUNNO"
        assert await client.request("END-OF-MESSAGE", recipient_count=1, **changes) == "DUNNO"
    assert await count_forwarded(api) == 2
    assert (await client.request("RCPT", recipient="a@far.test", **context)).startswith("450 4.7.1 ")
    assert await client.request("RCPT", recipient=ALICE, **context) == "DUNNO"
    assert await client.request("RCPT", recipient="a@far.test", **context | {"sender": ""}) == "DUNNO"  # a reply


async def test_redirected_mail_with_the_null_sender_counts_for_its_alias(api: Api, client: PostfixClient) -> None:
    await api.alias(f"team@{OTHER}", ["a@far.test", "b@far.test"])
    changes = {"policy_context": "redirect", "sasl_username": "", "sender": ""}
    assert await client.message(f"team@{OTHER}", **changes) == "DUNNO"
    assert await count_forwarded(api, OTHER) == 2


async def test_a_message_refused_for_its_copies_does_not_count_for_the_sender(api: Api, client: PostfixClient) -> None:
    """Regression: each retry of the mail client counted, until the mailbox was suspended."""
    set_limits(api, forward_per_hour=1)
    await api.alias(f"one@{EXAMPLE}", ["a@far.test"])
    for process in "12":
        assert await request_expanding(client, f"one@{EXAMPLE}", instance=process) == "DUNNO"
    changes = {"recipient": f"one@{EXAMPLE}", "recipient_count": 1}
    assert await client.request("END-OF-MESSAGE", instance="1", queue_id="q1", **changes) == "DUNNO"
    assert (await client.request("END-OF-MESSAGE", instance="2", queue_id="q2", **changes)).startswith("450 4.7.1 ")
    counts = await api.sql("SELECT recipients FROM send_counts WHERE subject = %(key)s", key=ALICE)
    assert [row["recipients"] for row in counts] == [1]


async def test_copies_of_a_suspended_sender_are_not_charged(api: Api, client: PostfixClient) -> None:
    set_limits(api, sender_per_hour=1)
    await api.alias(f"one@{EXAMPLE}", ["a@far.test"])
    for number, expected in enumerate((1, 1)):
        changes = {"instance": str(number), "queue_id": f"q{number}"}
        assert await request_expanding(client, f"one@{EXAMPLE}", **changes) == "DUNNO"
        answer = await client.request("END-OF-MESSAGE", recipient=f"one@{EXAMPLE}", recipient_count=1, **changes)
        assert (answer == "DUNNO") is (number == 0)
        assert await count_forwarded(api) == expected


async def test_abandoned_transactions_do_not_displace_open_ones(
    api: Api, client: PostfixClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: copies were not counted after 10,000 transactions had ended with RSET."""
    monkeypatch.setattr("mailkeep.features.mailflow.policy.service._MAX_TRANSACTIONS", 3)
    await api.alias(f"one@{EXAMPLE}", ["a@far.test"])
    assert await request_expanding(client, f"one@{EXAMPLE}", instance="a.1") == "DUNNO"
    for number in range(10):
        assert await request_expanding(client, f"one@{EXAMPLE}", instance=f"b.{number}") == "DUNNO"
    assert await client.request("END-OF-MESSAGE", instance="a.1", policy_context="inbound") == "DUNNO"
    assert await count_forwarded(api) == 1


async def test_a_message_larger_than_the_quota_is_refused_at_its_end(api: Api, client: PostfixClient) -> None:
    await api.sql("UPDATE mailboxes SET quota_bytes = 1000 RETURNING id")
    assert await request_expanding(client, ALICE, size=0) == "DUNNO"
    answer = await client.request("END-OF-MESSAGE", recipient_count=1, size=1001, policy_context="inbound")
    assert answer.startswith("552 5.2.2 ")
    assert (await request_expanding(client, ALICE, size=1001, instance="2")).startswith("552 5.2.2 ")


async def counts(api: Api) -> dict[str, int]:
    rows = await api.sql("SELECT subject, sum(recipients)::integer AS n FROM send_counts GROUP BY subject")
    return {row["subject"]: row["n"] for row in rows}


TAGGED, TEAM, HELP = f"alice+1@{EXAMPLE}", f"team@{EXAMPLE}", f"help@{OTHER}"


@pytest.fixture
async def aliases(api: Api) -> None:
    for domain, source in ((EXAMPLE, "team"), (OTHER, "help")):
        body = {"domain_id": str(DOMAIN_IDS[domain]), "source_local_part": source, "destination": ALICE}
        assert (await api.sue.post("/aliases", body)).status == 201


@pytest.mark.usefixtures("aliases")
async def test_every_sender_address_of_a_login_counts_for_its_mailbox(api: Api, client: PostfixClient) -> None:
    set_limits(api, sender_per_hour=4)
    for number, sender in enumerate((ALICE, TAGGED, TEAM, HELP)):
        assert await client.message("a@far.test", sender=sender, instance=str(number)) == "DUNNO"
    assert await counts(api) == {ALICE: 4, EXAMPLE: 4}
    assert (await client.message("a@far.test", sender=f"alice+2@{EXAMPLE}", instance="9")).startswith("450 4.7.1 ")
    (row,) = (await api.sue.get("/abuse/suspensions")).data
    assert (row["address"], row["domain_id"]) == (ALICE, str(DOMAIN_IDS[EXAMPLE]))


@pytest.mark.usefixtures("aliases")
@pytest.mark.parametrize("sender", [ALICE, TAGGED, TEAM, HELP, ""])
async def test_a_suspended_mailbox_sends_under_no_address(api: Api, client: PostfixClient, sender: str) -> None:
    await api.suspension(ALICE)
    assert (await client.message("a@far.test", sender=sender)).startswith("550 5.7.1 Sending is suspended")


@pytest.mark.usefixtures("aliases")
@pytest.mark.parametrize("sender", [TAGGED, TEAM])
async def test_an_address_that_is_suspended_itself_sends_nothing(api: Api, client: PostfixClient, sender: str) -> None:
    await api.suspension(sender)
    action = await client.message("a@far.test", sender=sender)
    assert action == f"550 5.7.1 Sending is suspended for {sender}. An administrator can lift that."
    assert await client.message("a@far.test", sender=ALICE, instance="2") == "DUNNO"


@pytest.mark.usefixtures("aliases")
async def test_the_domain_of_the_sender_must_have_sending_enabled(api: Api, client: PostfixClient) -> None:
    await api.sql("UPDATE domains SET sending_enabled = false WHERE name = %(name)s RETURNING id", name=OTHER)
    assert (await client.message("a@far.test", sender=HELP)).startswith("550 5.7.1 Sending is disabled")
    assert await client.message("a@far.test", sender=TEAM, instance="2") == "DUNNO"


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("UPDATE domains SET active = false WHERE name = %(name)s RETURNING id", "421 4.7.0 "),
        ("UPDATE domains SET sending_enabled = false WHERE name = %(name)s RETURNING id", "550 5.7.1 "),
    ],
)
async def test_an_inactive_domain_or_one_without_sending_is_refused(
    api: Api, client: PostfixClient, statement: LiteralString, expected: str
) -> None:
    await api.sql(statement, name=EXAMPLE)
    assert (await client.message("a@far.test")).startswith(expected)


async def test_without_the_database_the_client_must_retry(
    client: PostfixClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def fail(self: DatabasePool) -> AsyncIterator[Any]:
        raise Unavailable
        yield

    with monkeypatch.context() as patch:
        patch.setattr(DatabasePool, "autocommit", fail)
        assert await client.message("a@far.test") == UNAVAILABLE
    assert await client.message("a@far.test", instance="2") == "DUNNO"


async def test_a_malformed_request_closes_the_connection(client: PostfixClient) -> None:
    client.writer.write(b"GET / HTTP/1.1\n\n")
    async with asyncio.timeout(60):
        assert await client.reader.read() == b""


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_are_a_request_or_malformed(content: bytes) -> None:
    try:
        assert parse_request(content)["request"] == "smtpd_access_policy"
    except MalformedPolicyRequest:
        pass


@given(st.text(max_size=100))
def test_an_answer_is_one_line(text: str) -> None:
    response = format_response(text)
    assert response.endswith(b"\n\n")
    assert response.count(b"\n") == 2
