"""The policy agent asked as Postfix asks: the API's counters, thresholds and suspensions on submission."""

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
from mailkeep.features.mailflow.policy.rules import UNAVAILABLE
from mailkeep.features.mailflow.policy.service import PolicyServer
from mailkeep.mail.message import srs
from mailkeep.mail.postfix.policy import MalformedPolicyRequest, format_response, parse_request, serve_policy
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api

ALICE = f"alice@{EXAMPLE}"


class Client:
    """A Postfix process with its connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, login: str) -> None:
        self.reader, self.writer, self.login = reader, writer, login

    async def ask(self, state: str, **given: object) -> str:
        attributes = {
            "request": "smtpd_access_policy", "protocol_state": state, "instance": "1.1", "sender": ALICE,
            "sasl_username": self.login, "client_address": "192.0.2.5", "queue_id": "4jW9T1xz0bz1",
        } | given  # fmt: skip
        self.writer.write("".join(f"{name}={value}\n" for name, value in attributes.items()).encode() + b"\n")
        async with asyncio.timeout(60):
            line = await self.reader.readline()
            assert await self.reader.readline() == b"\n"
        return line.decode().strip().removeprefix("action=")

    async def message(self, *to: str, **given: object) -> str:
        """RCPT for each recipient, and the end of the message; the first action that is not DUNNO."""
        for each in to:
            if (action := await self.ask("RCPT", recipient=each, **given)) != "DUNNO":
                return action
        more = {"recipient": to[0]} if len(to) == 1 else {}
        return await self.ask("END-OF-MESSAGE", recipient_count=len(to), **more, **given)


@pytest.fixture
async def client(api: Api) -> AsyncIterator[Client]:
    await api.mailbox(ALICE)
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        path = Path(folder) / "policy"
        server = await serve_policy(path, PolicyServer(api.app).answer, mode=0o600, group=os.getgid())
        reader, writer = await asyncio.open_unix_connection(path)
        (row,) = await api.sql("SELECT access_version FROM mailboxes WHERE address_key = %(key)s", key=ALICE)
        yield Client(reader, writer, f"{ALICE}/{row['access_version']}")
        writer.close()
        server.close()


def limit(api: Api, **per_hour: int) -> None:
    api.app.settings = replace(api.app.settings, abuse=replace(api.app.settings.abuse, **per_hour))


async def test_a_message_is_let_through_counted_and_its_envelope_noted(api: Api, client: Client) -> None:
    assert await client.message("a@far.test", "hidden@far.test") == "DUNNO"
    (noted,) = await api.sql("SELECT queue_id, login, sender, recipients, client FROM submission_envelopes")
    assert noted == {
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
    api: Api, client: Client, change: dict[str, Any] | None
) -> None:
    (row,) = await api.sql("SELECT id FROM mailboxes WHERE address_key = %(key)s", key=ALICE)
    assert await client.ask("RCPT", recipient="a@far.test", instance="1") == "DUNNO"
    if change is None:
        assert (await api.sue.delete(f"/mailboxes/{row['id']}")).status == 200
        await api.mailbox(ALICE)  # another one, with the address of the first
    else:
        assert (await api.sue.patch(f"/mailboxes/{row['id']}", change)).status == 200
    ended = "421 4.7.0 Your password or access has changed: log in again"
    assert await client.ask("END-OF-MESSAGE", recipient_count=1, instance="1") == ended
    assert await client.ask("RCPT", recipient="a@far.test", instance="2") == ended


async def test_a_login_without_a_version_is_disconnected(client: Client) -> None:
    assert (await client.message("a@far.test", sasl_username=ALICE)).startswith("421 ")
    assert (await client.message("a@far.test", sasl_username="")).startswith("421 ")


async def test_crossing_the_threshold_refuses_and_suspends_also_for_the_api(api: Api, client: Client) -> None:
    limit(api, sender_per_hour=3)
    assert await client.message("a@far.test", "b@far.test") == "DUNNO"
    assert (await client.message("c@far.test", "d@far.test", instance="2")).startswith("450 4.7.1 ")
    assert (await client.message("e@far.test", instance="3")).startswith("550 5.7.1 Sending is suspended")
    (row,) = (await api.sue.get("/abuse/suspensions")).data
    assert row["address"] == ALICE


async def test_a_message_above_the_threshold_is_refused_for_good(api: Api, client: Client) -> None:
    limit(api, sender_per_hour=2)
    answered = await client.message("a@far.test", "b@far.test", "c@far.test")
    assert answered.startswith("550 5.7.1 ")


async def test_the_number_of_recipients_counts_also_where_they_were_not_shown(api: Api, client: Client) -> None:
    assert await client.ask("END-OF-MESSAGE", recipient_count=7) == "DUNNO"
    assert await api.sql("SELECT queue_id FROM submission_envelopes") == []
    counts = await api.sql("SELECT recipients FROM send_counts WHERE subject = %(one)s", one=ALICE)
    assert [row["recipients"] for row in counts] == [7]


async def test_the_null_sender_is_counted_for_the_login(api: Api, client: Client) -> None:
    assert await client.message("a@far.test", sender="") == "DUNNO"
    assert await api.sql("SELECT subject FROM send_counts WHERE subject = %(one)s", one=ALICE)


async def forwards(api: Api, domain: str = EXAMPLE) -> int:
    (row,) = await api.sql("SELECT forwarded_copies(%(at)s, %(domain)s) AS n", at=api.clock(), domain=domain)
    return row["n"]


async def ask_expanding(client: Client, recipient: str, **given: object) -> str:
    return await client.ask("RCPT", recipient=recipient, policy_context="expanding", **given)


async def test_one_counted_recipient_does_not_become_many_external_messages(api: Api, client: Client) -> None:
    """An alias led to as many external recipients as it had, and nothing counted them."""
    limit(api, forward_per_hour=5)
    await api.alias(f"team@{EXAMPLE}", ["a@far.test", "b@far.test", ALICE])
    await api.alias(f"more@{OTHER}", ["c@far.test"])
    for instance, context in (("1", {}), ("2", {"policy_context": "inbound"})):
        given = {"instance": instance, "queue_id": f"4jW9T1xz0bz{instance}"}
        assert await ask_expanding(client, f"team@{EXAMPLE}", **given) == "DUNNO"
        assert await ask_expanding(client, f"more@{OTHER}", **given) == "DUNNO"
        assert await client.ask("END-OF-MESSAGE", recipient_count=2, **context, **given) == "DUNNO"
    assert (await forwards(api), await forwards(api, OTHER)) == (4, 2)
    assert (await ask_expanding(client, f"team@{EXAMPLE}", instance="3")).startswith("450 4.7.1 ")
    assert await ask_expanding(client, f"more@{OTHER}", instance="3") == "DUNNO"


def going_on(action: str) -> str:
    """The sender of `PREPEND X-Mailkeep-Sender: MARK SENDER`."""
    words = action.split(" ")
    assert words[:-1] == ["PREPEND", "X-Mailkeep-Sender:", "4a5b"], action
    return b64decode(words[-1]).decode()


async def test_the_sender_of_mail_with_external_copies_is_rewritten(api: Api, client: Client) -> None:
    await api.alias(f"team@{EXAMPLE}", ["a@far.test", ALICE])
    given = {"policy_context": "expanding/4a5b", "sasl_username": ""}

    async def rcpt(recipient: str, sender: str, instance: str, **more: str) -> str:
        return await client.ask("RCPT", recipient=recipient, sender=sender, instance=instance, **given | more)

    rewritten = going_on(await rcpt(f"team@{EXAMPLE}", "Wrîter@far.test", "1"))
    assert srs.rewriter(api.app.vault, api.app.settings).restore(rewritten) == "Wrîter@far.test"
    assert await rcpt(f"team+x@{EXAMPLE}", "Wrîter@far.test", "1") == "DUNNO"  # rewritten once
    assert await rcpt(ALICE, "writer@far.test", "2") == "DUNNO"
    assert going_on(await rcpt(f"team@{EXAMPLE}", "writer@far.test", "2"))
    for number, sender in enumerate(("", "x" * 240 + "@far.test", "two words@far.test")):
        assert await rcpt(f"team@{EXAMPLE}", sender, f"3.{number}") == "DUNNO"
    # What comes back to such a sender is passed on, too.
    assert await rcpt(rewritten, "", "4") == "DUNNO"
    assert going_on(await rcpt(rewritten, "friend@far.test", "4"))
    # On the ports for mail clients nothing is rewritten.
    assert await rcpt(f"team@{EXAMPLE}", "writer@far.test", "5", policy_context="expanding") == "DUNNO"


async def test_the_counter_holds_when_messages_come_at_the_same_time(api: Api, client: Client) -> None:
    limit(api, forward_per_hour=5)
    await api.alias(f"team@{EXAMPLE}", ["a@far.test", "b@far.test"])
    for instance in "123":
        assert await ask_expanding(client, f"team@{EXAMPLE}", instance=instance) == "DUNNO"
    answers = [
        await client.ask("END-OF-MESSAGE", instance=each, queue_id=f"q{each}", policy_context="inbound")
        for each in "123"
    ]
    assert [each[:9] for each in answers] == ["DUNNO", "DUNNO", "450 4.7.1"]
    assert await forwards(api) == 4


async def test_a_message_has_a_limited_number_of_external_copies(api: Api, client: Client) -> None:
    limits = replace(api.app.settings.limits, external_expansion=3)
    api.app.settings = replace(api.app.settings, limits=limits)
    await api.sql("UPDATE routing_settings SET external_expansion = 3 RETURNING hostname")
    await api.alias(f"two@{EXAMPLE}", ["a@far.test", "b@far.test"])
    await api.alias(f"tow@{EXAMPLE}", ["a@far.test", "c@far.test"])
    await api.alias(f"four@{EXAMPLE}", [f"{name}@far.test" for name in "abcd"])
    assert await ask_expanding(client, f"two@{EXAMPLE}") == "DUNNO"
    assert (await ask_expanding(client, f"tow@{EXAMPLE}")).startswith("452 4.5.3 ")
    assert (await ask_expanding(client, f"four@{EXAMPLE}")).startswith("550 5.7.1 ")


async def test_what_sieve_redirects_counts_for_the_domain_of_the_mailbox(api: Api, client: Client) -> None:
    limit(api, forward_per_hour=2)
    context = {"policy_context": "redirect", "sasl_username": ""}
    for instance in "12":
        given = context | {"instance": instance, "queue_id": f"q{instance}"}
        assert await client.ask("RCPT", recipient="a@far.test", **given) == "DUNNO"
        assert await client.ask("END-OF-MESSAGE", recipient_count=1, **given) == "DUNNO"
    assert await forwards(api) == 2
    assert (await client.ask("RCPT", recipient="a@far.test", **context)).startswith("450 4.7.1 ")
    assert await client.ask("RCPT", recipient=ALICE, **context) == "DUNNO"
    assert await client.ask("RCPT", recipient="a@far.test", **context | {"sender": ""}) == "DUNNO"  # a reply


async def test_redirected_mail_with_the_null_sender_counts_for_its_alias(api: Api, client: Client) -> None:
    await api.alias(f"team@{OTHER}", ["a@far.test", "b@far.test"])
    given = {"policy_context": "redirect", "sasl_username": "", "sender": ""}
    assert await client.message(f"team@{OTHER}", **given) == "DUNNO"
    assert await forwards(api, OTHER) == 2


async def test_a_sender_is_not_counted_for_what_is_refused_for_its_copies(api: Api, client: Client) -> None:
    """Each retry of the mail client counted again, until the mailbox was suspended."""
    limit(api, forward_per_hour=1)
    await api.alias(f"one@{EXAMPLE}", ["a@far.test"])
    for process in "12":
        assert await ask_expanding(client, f"one@{EXAMPLE}", instance=process) == "DUNNO"
    given = {"recipient": f"one@{EXAMPLE}", "recipient_count": 1}
    assert await client.ask("END-OF-MESSAGE", instance="1", queue_id="q1", **given) == "DUNNO"
    assert (await client.ask("END-OF-MESSAGE", instance="2", queue_id="q2", **given)).startswith("450 4.7.1 ")
    counts = await api.sql("SELECT recipients FROM send_counts WHERE subject = %(key)s", key=ALICE)
    assert [row["recipients"] for row in counts] == [1]


async def test_copies_of_a_suspended_sender_are_not_charged(api: Api, client: Client) -> None:
    limit(api, sender_per_hour=1)
    await api.alias(f"one@{EXAMPLE}", ["a@far.test"])
    for number, expected in enumerate((1, 1)):
        given = {"instance": str(number), "queue_id": f"q{number}"}
        assert await ask_expanding(client, f"one@{EXAMPLE}", **given) == "DUNNO"
        answer = await client.ask("END-OF-MESSAGE", recipient=f"one@{EXAMPLE}", recipient_count=1, **given)
        assert (answer == "DUNNO") is (number == 0)
        assert await forwards(api) == expected


async def test_abandoned_transactions_do_not_displace_open_ones(
    api: Api, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies of a message were not charged after RSET had ended 10,000 others."""
    monkeypatch.setattr("mailkeep.features.mailflow.policy.service._MAX_TRANSACTIONS", 3)
    await api.alias(f"one@{EXAMPLE}", ["a@far.test"])
    assert await ask_expanding(client, f"one@{EXAMPLE}", instance="a.1") == "DUNNO"
    for number in range(10):
        assert await ask_expanding(client, f"one@{EXAMPLE}", instance=f"b.{number}") == "DUNNO"
    assert await client.ask("END-OF-MESSAGE", instance="a.1", policy_context="inbound") == "DUNNO"
    assert await forwards(api) == 1


async def test_a_message_larger_than_the_whole_quota_is_refused_at_its_end(api: Api, client: Client) -> None:
    await api.sql("UPDATE mailboxes SET quota_bytes = 1000 RETURNING id")
    assert await ask_expanding(client, ALICE, size=0) == "DUNNO"
    answer = await client.ask("END-OF-MESSAGE", recipient_count=1, size=1001, policy_context="inbound")
    assert answer.startswith("552 5.2.2 ")
    assert (await ask_expanding(client, ALICE, size=1001, instance="2")).startswith("552 5.2.2 ")


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
async def test_whatever_a_login_goes_out_under_counts_for_its_mailbox(api: Api, client: Client) -> None:
    limit(api, sender_per_hour=4)
    for number, sender in enumerate((ALICE, TAGGED, TEAM, HELP)):
        assert await client.message("a@far.test", sender=sender, instance=str(number)) == "DUNNO"
    assert await counts(api) == {ALICE: 4, EXAMPLE: 4}
    assert (await client.message("a@far.test", sender=f"alice+2@{EXAMPLE}", instance="9")).startswith("450 4.7.1 ")
    (row,) = (await api.sue.get("/abuse/suspensions")).data
    assert (row["address"], row["domain_id"]) == (ALICE, str(DOMAIN_IDS[EXAMPLE]))


@pytest.mark.usefixtures("aliases")
@pytest.mark.parametrize("sender", [ALICE, TAGGED, TEAM, HELP, ""])
async def test_a_suspended_mailbox_sends_under_no_address(api: Api, client: Client, sender: str) -> None:
    await api.suspension(ALICE)
    assert (await client.message("a@far.test", sender=sender)).startswith("550 5.7.1 Sending is suspended")


@pytest.mark.usefixtures("aliases")
@pytest.mark.parametrize("sender", [TAGGED, TEAM])
async def test_an_address_that_is_suspended_itself_sends_nothing(api: Api, client: Client, sender: str) -> None:
    await api.suspension(sender)
    refused = await client.message("a@far.test", sender=sender)
    assert refused == f"550 5.7.1 Sending is suspended for {sender}. An administrator can lift that."
    assert await client.message("a@far.test", sender=ALICE, instance="2") == "DUNNO"


@pytest.mark.usefixtures("aliases")
async def test_the_domain_that_must_be_one_that_may_send_is_the_senders(api: Api, client: Client) -> None:
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
async def test_a_domain_that_may_not_send(api: Api, client: Client, statement: LiteralString, expected: str) -> None:
    await api.sql(statement, name=EXAMPLE)
    assert (await client.message("a@far.test")).startswith(expected)


async def test_with_the_database_away_the_client_is_to_come_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def away(self: DatabasePool) -> AsyncIterator[Any]:
        raise Unavailable
        yield

    with monkeypatch.context() as patch:
        patch.setattr(DatabasePool, "autocommit", away)
        assert await client.message("a@far.test") == UNAVAILABLE
    assert await client.message("a@far.test", instance="2") == "DUNNO"


async def test_what_is_no_request_ends_the_connection(client: Client) -> None:
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
    wire = format_response(text)
    assert wire.endswith(b"\n\n")
    assert wire.count(b"\n") == 2
