"""Resend and retry: to whom, with what content, and when they are refused."""

from __future__ import annotations

from datetime import timedelta
from email import message_from_bytes
from typing import Any

import pytest

from mailkeep.core.clock import iso
from tests.plugins.post import Post
from tests.support.client import EXAMPLE, START, reason

GOOD, BAD, SLOW = "customer@elsewhere.test", "bounce@elsewhere.test", "defer@elsewhere.test"


async def send(post: Post, *addresses: str, **changes: Any) -> str:
    to = [{"email": each} for each in addresses]
    answer = await post.send(to=to, tags=["order"], metadata={"order": "7"}, **changes)
    assert answer.status == 200, answer.body
    await post.run_queue()
    return answer.data["id"]


async def test_resend_reaches_only_the_undelivered_recipients(post: Post):
    original = await send(post, GOOD, BAD, html_body="<p>Grüße</p>", bcc=[{"email": "bounce@third.test"}])
    before = (await post.api.sue.get(f"/messages/{original}")).data
    post.api.clock.advance(hours=1)
    headers = {"idempotency-key": "k"}
    answer = await post.api.unscoped("POST", f"/messages/{original}/resend", headers=headers)
    again = await post.api.unscoped("POST", f"/messages/{original}/resend", headers=headers)
    assert (answer.status, again.data["id"], again.headers["idempotent-replayed"]) == (201, answer.data["id"], "true")
    new = answer.data
    assert new["id"] != original
    assert [each["address"] for each in new["recipients"]] == [BAD, "bounce@third.test"]
    assert (new["tags"], new["metadata"], new["subject"]) == (["order"], {"order": "7"}, before["subject"])
    assert new["message_id"] == f"<{new['id']}@{EXAMPLE}>"
    caught = await post.caught()
    assert len(caught) == 2
    old_raw, new_raw = [
        message_from_bytes((await post.api.sue.get(f"/messages/{each}/raw")).body) for each in (original, new["id"])
    ]
    assert new_raw["Message-ID"] == new["message_id"]
    assert new_raw["Date"] == "Sun, 01 Mar 2026 13:00:00 +0000"
    assert [new_raw[name] for name in ("From", "To", "Subject")] == [
        old_raw[name] for name in ("From", "To", "Subject")
    ]
    assert new_raw.as_string().count("DKIM-Signature") == old_raw.as_string().count("DKIM-Signature") == 1
    assert new_raw.get_payload(1).get_payload(decode=True) == "<p>Grüße</p>".encode()  # type: ignore[union-attr]
    assert (await post.api.sue.get(f"/messages/{original}")).data == before
    await post.run_queue()
    assert (await post.api.sue.get(f"/messages/{new['id']}")).data["status"] != "delivered"
    [row] = await post.api.sql("SELECT sum(recipients) AS n FROM send_counts WHERE subject = 'shop@example.test'")
    assert row["n"] == 3 + 2


async def test_resend_is_refused(post: Post):
    mailbox = await post.api.mailbox(f"alice@{EXAMPLE}")
    await post.deliver(f"alice@{EXAMPLE}")
    [received] = await post.api.sql("SELECT id FROM messages WHERE mailbox_id = %(id)s", id=mailbox)
    delivered, deferred = await send(post, GOOD), await send(post, SLOW, BAD)
    scheduled = (await post.send(scheduled_at=iso(START + timedelta(hours=9)))).data["id"]
    cancelled = (await post.send(scheduled_at=iso(START + timedelta(hours=9)))).data["id"]
    await post.api.sue.post(f"/messages/{cancelled}/cancel")
    gone = await send(post, BAD)
    [file] = (post.api.app.data_dir / "content").glob(f"*/{gone}.eml")
    file.unlink()
    expected = {
        received["id"]: "not_outbound", delivered: "nothing_undelivered", deferred: "still_open",
        scheduled: "still_open", gone: "content_gone", cancelled: "content_gone",
    }  # fmt: skip
    for message_id, why in expected.items():
        answer = await post.api.sue.post(f"/messages/{message_id}/resend")
        assert (answer.status, reason(answer)) == (409, why)
    # Programs of mailboxes write addresses that the API refuses.
    odd = await send(post, BAD)
    await post.api.sql("UPDATE messages SET from_address = 'x y' WHERE id = %(id)s", id=odd)
    answer = await post.api.sue.post(f"/messages/{odd}/resend")
    assert (answer.status, reason(answer)) == (409, "malformed_address")
    await post.api.sql("UPDATE messages SET from_address = mail_from WHERE id = %(id)s", id=odd)
    await post.api.sql("UPDATE message_recipients SET address = '\"a b\"@x.test' WHERE message_id = %(id)s", id=odd)
    answer = await post.api.sue.post(f"/messages/{odd}/resend")
    assert (answer.status, reason(answer)) == (409, "malformed_address")
    bounced = await send(post, BAD)
    await post.api.sql("UPDATE domains SET active = false WHERE name = 'example.test'")
    answer = await post.api.sue.post(f"/messages/{bounced}/resend")
    assert (answer.status, answer.code) == (403, "DOMAIN_INACTIVE")


async def test_retry_attempts_a_deferred_delivery_now(post: Post):
    message_id = await send(post, SLOW)
    first = (await post.api.sue.get(f"/messages/{message_id}")).data["recipients"][0]
    assert (first["status"], first["attempts"]) == ("deferred", 1)
    answer = await post.api.session("dora").post(f"/messages/{message_id}/retry")
    assert (answer.status, answer.data["status"]) == (200, "deferred")
    await post.run_queue()
    second = (await post.api.sue.get(f"/messages/{message_id}")).data["recipients"][0]
    assert second["attempts"] == 2
    [entry] = await post.api.audit_entries("message.retry")
    assert (entry["resource_id"], entry["details"]["recipients"]) == (message_id, [SLOW])


@pytest.mark.parametrize("address", [GOOD, BAD])
async def test_retry_of_what_is_not_deferred(post: Post, address: str):
    message_id = await send(post, address)
    answer = await post.api.sue.post(f"/messages/{message_id}/retry")
    assert (answer.status, reason(answer)) == (409, "not_deferred")
