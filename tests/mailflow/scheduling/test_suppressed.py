"""What scheduled messages, templates and suppressions have to do with each other."""

from __future__ import annotations

from datetime import timedelta

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE

HERE, GONE = "here@elsewhere.test", "gone@elsewhere.test"
AHEAD = timedelta(days=29)


async def test_suppressions_are_those_of_the_time_of_sending(post: Post):
    """A template is rendered when the message is scheduled, suppressions are looked up when it is due."""
    first = await post.api.suppression(HERE)
    template_id = str(await post.api.template(EXAMPLE, published=True))
    written = letter(
        to=[{"email": HERE}, {"email": GONE}], subject=None, text_body=None, template_id=template_id,
        variables={"name": "Ann", "number": 1 << 70}, scheduled_at=iso(post.api.clock() + AHEAD),
    )  # fmt: skip
    answer = await post.api.sue.post("/send", written)
    assert (answer.status, answer.data["status"]) == (200, "scheduled"), answer.body
    assert {each["status"] for each in answer.data["recipients"]} == {"scheduled"}
    message_id = answer.data["id"]
    assert (await post.api.sue.delete(f"/suppressions/{first}")).status == 200
    suppression_id = await post.api.suppression(GONE)
    await post.api.sql("DELETE FROM templates")

    post.api.clock.advance(days=29)
    await ScheduledWorker(post.api.app).drain()
    [caught] = await post.caught()
    assert caught["rcpt_to"] == [HERE]
    await post.run_queue()
    shown = (await post.api.sue.get(f"/messages/{message_id}")).data
    assert (shown["status"], shown["subject"], shown["template"]["version"]) == ("partial", "Hello Ann", 1)
    by_address = {each["address"]: each for each in shown["recipients"]}
    assert {address: each["status"] for address, each in by_address.items()} == {HERE: "delivered", GONE: "suppressed"}
    assert by_address[GONE]["suppression"] == {"id": str(suppression_id), "reason": "hard_bounce"}
    assert [kind for kind, _ in await post.events()] == ["mail.sent", "mail.suppressed", "mail.delivered"]
    timeline = (await post.api.sue.get(f"/messages/{message_id}/events", order="asc")).data
    assert [each["kind"] for each in timeline] == ["scheduled", "submitted", "suppressed", "accepted", "delivered"]


async def test_a_due_message_without_a_remaining_recipient_fails(post: Post):
    message_id = (await post.send(to=[{"email": GONE}], scheduled_at=iso(post.api.clock() + AHEAD))).data["id"]
    await post.api.suppression(GONE)
    post.api.clock.advance(days=29)
    await ScheduledWorker(post.api.app).drain()
    assert await post.caught() == []
    [(kind, event)] = await post.events()
    assert (kind, event["to"], event["reason"]) == ("mail.failed", GONE, "recipient_suppressed")
    assert (await post.api.sue.get(f"/messages/{message_id}")).data["status"] == "failed"


async def test_a_message_that_is_sent_again_leaves_out_suppressed_recipients(post: Post):
    other = "bounce@third.test"
    to = [{"email": "bounce@elsewhere.test"}, {"email": other}]
    original = (await post.send(to=to)).data["id"]
    await post.run_queue()
    await post.api.suppression("bounce@elsewhere.test")
    new = (await post.api.sue.post(f"/messages/{original}/resend", {})).data
    statuses = {each["address"]: each["status"] for each in new["recipients"]}
    assert statuses == {"bounce@elsewhere.test": "suppressed", other: "queued"}
    newest, *_ = await post.caught()
    assert newest["rcpt_to"] == [other]
    await post.api.suppression(other)
    await post.run_queue()
    refused = await post.api.sue.post(f"/messages/{new['id']}/resend", {})
    assert (refused.status, refused.code) == (403, "RECIPIENT_SUPPRESSED")


async def test_a_message_of_an_unsubscribe_group_is_not_sent_again_after_the_recipient_left_it(post: Post):
    group, other = [await post.api.unsubscribe_group(name) for name in ("News", "Offers")]
    ask = {"to": [{"email": "bounce@elsewhere.test"}], "unsubscribe": {"group_id": str(group)}}
    original = (await post.send(**ask)).data["id"]
    await post.run_queue()
    await post.api.suppression("bounce@elsewhere.test", reason="unsubscribe", group_id=other)
    again = await post.api.sue.post(f"/messages/{original}/resend", {})
    assert again.status == 201, again.body
    await post.run_queue()
    await post.api.suppression("bounce@elsewhere.test", reason="unsubscribe", group_id=group)
    for message_id in (original, again.data["id"]):  # the second one has the group of the first
        refused = await post.api.sue.post(f"/messages/{message_id}/resend", {})
        assert (refused.status, refused.code) == (403, "RECIPIENT_SUPPRESSED")
        assert refused.json["error"]["details"]["recipients"][0]["reason"] == "unsubscribe"
    assert len(await post.caught()) == 2
