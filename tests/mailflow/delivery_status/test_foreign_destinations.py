"""Two tenants (design/security.md T41): a sender sees the address it wrote to, and nothing of what lies behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.mailflow.delivery_status.log_writer import DEFERRED
from tests.mailflow.delivery_status.test_outcomes import Log
from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE, OTHER, Api, Client
from tests.support.messages import insert, outbound

_ID = "4jW9T1xz0bz1"
DESK, SALES = f"desk@{OTHER}", f"sales@{EXAMPLE}"
SECRET = "private.test"
REFUSED = f"dsn=5.1.1, status=bounced (host mx.{SECRET}[192.0.2.1] said: 550 5.1.1 <b@{SECRET}>: no such user)"
TAKEN = f"dsn=2.0.0, status=sent (250 2.0.0 <a@{SECRET}> Saved)"


@pytest.fixture
def log(api: Api, tmp_path: Path) -> Log:
    return Log(api, tmp_path / "log" / "mail.log")


@pytest.fixture
async def routes(api: Api) -> None:
    """The other tenant's alias leads to addresses that only that tenant may see; an alias of ours leads to it."""
    await api.mailbox(f"boss@{OTHER}", forward_destinations=[f"c@{SECRET}"], forward_keys=[f"c@{SECRET}"])
    await api.alias(DESK, [f"a@{SECRET}", f"b@{SECRET}", f"boss@{OTHER}"])
    await api.alias(SALES, ["seen@far.test", DESK])


async def every_view(client: Client, message_id: Any) -> str:
    """All that an administrator is shown of a message and its events, as one text."""
    answers = [
        await client.get("/messages"),
        await client.get("/messages", q=SECRET),
        await client.get(f"/messages/{message_id}"),
        await client.get(f"/messages/{message_id}/events"),
        await client.get(f"/messages/{message_id}/raw"),
        await client.get("/events"),
        await client.get("/queue"),
        await client.get("/routing/explain", address=DESK),
        await client.get("/audit"),
    ]
    return "\n".join(answer.body.decode() for answer in answers)


def seen_addresses(timeline: Any) -> set[str]:
    return {entry["recipient"] for entry in timeline if entry["recipient"]}


@pytest.mark.usefixtures("routes")
async def test_a_sender_sees_no_foreign_destinations_in_the_full_profile(api: Api, log: Log) -> None:
    hook = await api.webhook(EXAMPLE)
    sent = await insert(api, outbound(api, DESK, SALES, "plain@far.test"))
    log.api(_ID, sent.message_id, 8)
    log.tried(_ID, f"a@{SECRET}", DEFERRED.replace("far.test", SECRET), asked=DESK)
    await log.read()
    log.tried(_ID, f"a@{SECRET}", TAKEN, asked=DESK)
    log.tried(_ID, f"b@{SECRET}", REFUSED, asked=DESK)
    log.tried(_ID, f"c@{SECRET}", REFUSED, asked=DESK)
    log.filed(_ID, f"boss@{OTHER}", TAKEN, asked=DESK)
    log.tried(_ID, f"b@{SECRET}", REFUSED, asked=SALES)
    log.tried(_ID, "seen@far.test", asked=SALES)
    log.tried(_ID, "plain@far.test")
    log.removed(_ID)
    await log.read()

    shown = await every_view(api.dora, sent.id)
    assert SECRET not in shown
    assert f"boss@{OTHER}" not in shown
    found = (await api.dora.get(f"/messages/{sent.id}")).data
    assert {each["address"]: each["status"] for each in found["recipients"]} == {
        DESK: "delivered", SALES: "delivered", "plain@far.test": "delivered",
    }  # fmt: skip
    assert {each["address"]: each["diagnostic"] for each in found["recipients"]}["plain@far.test"] == "Ok"
    timeline = (await api.dora.get(f"/messages/{sent.id}/events")).data
    # What an alias of the sender's own domain leads to is no secret.
    assert seen_addresses(timeline) == {DESK, SALES, "plain@far.test", "seen@far.test"}
    stored = await api.sql("SELECT data FROM events WHERE message_id = %(id)s", id=sent.id)
    assert SECRET not in json.dumps(stored)
    queued = await api.sql("SELECT event_id FROM webhook_deliveries WHERE webhook_id = %(id)s", id=hook)
    assert queued  # what they deliver are these events


@pytest.mark.usefixtures("routes")
async def test_mail_passed_on_belongs_to_the_tenant_whose_alias_leads_there(api: Api, log: Log) -> None:
    log.passing(_ID, recipients=3)
    log.tried(_ID, f"b@{SECRET}", REFUSED, asked=SALES)
    log.tried(_ID, f"c@{SECRET}", REFUSED, asked=SALES)
    log.tried(_ID, "seen@far.test", asked=SALES)
    log.tried(_ID, "gone@elsewhere.test", asked=SALES)  # an alias had it that has changed since
    log.removed(_ID)
    await log.read()
    rows = {
        name: [each["address"] for row in (await client.get("/messages")).data for each in row["recipients"]]
        for name, client in (("dora", api.dora), ("otto", api.otto), ("sue", api.sue))
    }
    assert rows["dora"] == ["seen@far.test"]
    assert rows["otto"] == [f"b@{SECRET}", f"c@{SECRET}"]
    assert sorted(rows["sue"]) == sorted([*rows["dora"], *rows["otto"], "gone@elsewhere.test"])
    dora = json.dumps((await api.dora.get("/events")).data, default=str)
    assert SECRET not in dora + json.dumps((await api.dora.get("/messages")).data, default=str)


@pytest.mark.usefixtures("routes")
async def test_a_sender_sees_no_foreign_destinations_in_the_embedded_profile(post: Post) -> None:
    api = post.api
    answer = await api.dora.post("/send", letter(to=[{"email": DESK}, {"email": "plain@far.test"}]))
    assert answer.status == 200, answer
    await post.run_queue()
    await post.run_forwards()
    await post.run_queue(5)
    message_id = UUID(answer.data["message_id"][1:].partition("@")[0])
    shown = await every_view(api.dora, message_id)
    assert SECRET not in shown
    assert f"boss@{OTHER}" not in shown
    found = (await api.dora.get(f"/messages/{message_id}")).data
    assert {each["address"]: each["status"] for each in found["recipients"]} == {
        DESK: "delivered", "plain@far.test": "delivered",
    }  # fmt: skip
    assert seen_addresses((await api.dora.get(f"/messages/{message_id}/events")).data) == {DESK, "plain@far.test"}
    assert SECRET in json.dumps((await api.sue.get("/sandbox/messages")).data)
