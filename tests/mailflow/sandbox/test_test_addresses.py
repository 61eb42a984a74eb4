"""Addresses that simulate outcomes: their history, events, webhooks and suppressions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE, OTHER

NONE = "00000000-0000-0000-0000-000000000000"


async def suppressed(post: Post) -> list[tuple[str, str]]:
    return [(row["address"], row["reason"]) for row in (await post.api.sue.get("/suppressions", order="asc")).data]


async def kinds_of(post: Post, message_id: str) -> list[str]:
    timeline = (await post.api.sue.get(f"/messages/{message_id}/events", order="asc")).data
    return [each["kind"] for each in timeline]


@pytest.mark.parametrize(
    "local_part, status, kinds, events",
    [
        ("bounce", "bounced", ["bounced"], ["mail.bounced"]),
        ("defer", "delivered", ["deferred", "delivered"], ["mail.bounced", "mail.delivered"]),
        ("fail", "failed", ["deferred", "failed"], ["mail.bounced", "mail.failed"]),
        ("complaint", "delivered", ["delivered", "complained"], ["mail.delivered", "mail.complained"]),
        ("Complaint", "delivered", ["delivered", "complained"], ["mail.delivered", "mail.complained"]),
    ],
)
async def test_an_address_simulates_an_outcome_again_and_again(
    post: Post, local_part: str, status: str, kinds: list[str], events: list[str]
):
    for _ in range(2):
        sent = (await post.send(to=[{"email": f"{local_part}@elsewhere.test"}])).data["id"]
        await post.run_queue()
        await post.run_queue(seconds=3)
        assert (await post.api.sue.get(f"/messages/{sent}")).data["status"] == status
        assert await kinds_of(post, sent) == ["submitted", "accepted", *kinds]
    assert [kind for kind, _ in await post.events()] == ["mail.sent", *events] * 2
    assert await suppressed(post) == []


async def test_a_complaint_names_no_suppression_without_a_tag_and_one_with_a_tag(post: Post):
    sent = await post.send(to=[{"email": "complaint@elsewhere.test"}, {"email": "complaint+1@elsewhere.test"}])
    await post.run_queue()
    [row] = await post.api.sql("SELECT id::text, address, reason, source_message_id::text AS of FROM suppressions")
    assert (row["address"], row["reason"], row["of"]) == ("complaint+1@elsewhere.test", "complaint", sent.data["id"])
    complaints = [data for kind, data in await post.events() if kind == "mail.complained"]
    assert {(each["to"], each["reason"], each["suppression_id"]) for each in complaints} == {
        ("complaint@elsewhere.test", "complaint", NONE),
        ("complaint+1@elsewhere.test", "complaint", row["id"]),
    }
    again = await post.send(to=[{"email": "complaint+1@elsewhere.test"}])
    assert again.code == "RECIPIENT_SUPPRESSED"


async def test_the_suppressed_address_is_left_out_of_a_send_and_refused_alone(post: Post):
    answer = await post.send(to=[{"email": "suppressed@elsewhere.test"}, {"email": "customer@elsewhere.test"}])
    assert answer.data["status"] == "partial"
    assert {each["address"]: each["status"] for each in answer.data["recipients"]} == {
        "customer@elsewhere.test": "queued",
        "suppressed@elsewhere.test": "suppressed",
    }
    [caught] = await post.caught()
    assert caught["rcpt_to"] == ["customer@elsewhere.test"]
    [(_, event)] = [each for each in await post.events() if each[0] == "mail.suppressed"]
    assert (event["to"], event["reason"], event["suppression_id"]) == ("suppressed@elsewhere.test", "hard_bounce", NONE)
    [row] = await post.messages()
    assert row["recipients"][1]["suppression"] == {"id": NONE, "reason": "hard_bounce"}
    for address in ("suppressed@elsewhere.test", "Suppressed+1@elsewhere.test"):
        alone = await post.send(to=[{"email": address}])
        assert (alone.status, alone.code) == (403, "RECIPIENT_SUPPRESSED")
        assert alone.json["error"]["details"]["recipients"][0]["suppression_id"] == NONE
    # Sending the message again is refused as with a suppression that is stored.
    await post.run_queue()
    assert (await post.api.sue.post(f"/messages/{row['id']}/resend")).code == "RECIPIENT_SUPPRESSED"
    assert await suppressed(post) == []
    mixed = [letter(to=[{"email": "suppressed@elsewhere.test"}]), letter()]
    batch = (await post.api.sue.post("/send/batch", {"messages": mixed})).data
    assert (batch["succeeded"], batch["results"][0]["code"]) == (1, "RECIPIENT_SUPPRESSED")


async def test_a_stored_suppression_of_the_address_is_named_instead(post: Post):
    suppression_id = await post.api.suppression("suppressed+1@elsewhere.test")
    alone = await post.send(to=[{"email": "suppressed+1@elsewhere.test"}])
    assert alone.json["error"]["details"]["recipients"][0]["suppression_id"] == str(suppression_id)


@pytest.mark.parametrize("local_part", ["suppressed", "complaint"])
async def test_such_an_address_of_a_managed_domain_is_an_ordinary_one(post: Post, local_part: str):
    await post.api.mailbox(f"{local_part}@{OTHER}")
    sent = await post.send(to=[{"email": f"{local_part}@{OTHER}"}])
    assert sent.status == 200
    await post.run_queue()
    assert (await post.api.sue.get(f"/messages/{sent.data['id']}")).data["status"] == "delivered"
    assert "mail.complained" not in [kind for kind, _ in await post.events()]


async def test_without_the_sandbox_nothing_is_suppressed_by_its_name(post: Post):
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, mta=replace(settings.mta, mode="smtp", host="localhost"))
    assert (await post.send(to=[{"email": "suppressed@elsewhere.test"}])).status == 200


async def test_forwarded_mail_is_not_reported(post: Post):
    sent = (await post.send(to=[{"email": "complaint+1@elsewhere.test"}])).data["id"]
    await post.api.sql("UPDATE messages SET source = 'system'")
    await post.run_queue()
    assert await kinds_of(post, sent) == ["submitted", "accepted", "delivered"]
    assert await suppressed(post) == []
    assert "mail.complained" not in [kind for kind, _ in await post.events()]


async def test_webhooks_get_the_complaint_and_the_suppression(post: Post):
    webhook_id = await post.api.webhook(EXAMPLE, events=["*"])
    to = [{"email": f"{local_part}@elsewhere.test"} for local_part in ("complaint", "suppressed")]
    sent = (await post.send(to=to)).data["id"]
    await post.run_queue()
    deliveries = (await post.api.sue.get(f"/webhooks/{webhook_id}/deliveries", order="asc")).data
    assert sorted(each["event"] for each in deliveries if each["id"] != str(webhook_id)) == [
        "mail.complained", "mail.delivered", "mail.sent", "mail.suppressed",
    ]  # fmt: skip
    assert await kinds_of(post, sent) == ["submitted", "suppressed", "accepted", "delivered", "complained"]
