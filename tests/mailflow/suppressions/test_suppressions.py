"""Suppressions: what is left out of a send, which failures suppress, and the list with import and export."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from mailkeep.features.mailflow.suppressions import service
from mailkeep.features.record.messages.model import DeliveryOutcome, ServerReply
from tests.plugins.post import Post, letter
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, faults, reason

GONE = ServerReply(550, "5.1.1", "User unknown", "mx.elsewhere.test")


async def suppressed(api: Api, **query: Any) -> list[tuple[str, str]]:
    rows = (await api.sue.get("/suppressions", order="asc", **query)).data
    return [(row["address"], row["reason"]) for row in rows]


async def test_a_suppressed_recipient_is_left_out(post: Post):
    suppression_id = await post.api.suppression("gone@elsewhere.test")
    answer = await post.send(to=[{"email": "Gone@Elsewhere.test"}, {"email": "here@elsewhere.test"}])
    assert answer.status == 200
    assert answer.data["status"] == "partial"
    assert answer.data["recipients"] == [
        {"address": "here@elsewhere.test", "status": "queued"},
        {"address": "Gone@elsewhere.test", "status": "suppressed"},
    ]
    (caught,) = await post.caught()
    assert caught["rcpt_to"] == ["here@elsewhere.test"]
    sent, event = await post.events()
    assert (sent[0], event[0]) == ("mail.sent", "mail.suppressed")
    assert event[1] | {"queue_id": None} == {
        "message_id": answer.data["message_id"],
        "from": f"shop@{EXAMPLE}",
        "to": "Gone@elsewhere.test",
        "domain": EXAMPLE,
        "subject": "Your order",
        "queue_id": None,
        "reason": "hard_bounce",
        "suppression_id": str(suppression_id),
    }
    await post.run_queue()
    (row,) = await post.messages(status="suppressed")
    assert [(each["status"], each["class"]) for each in row["recipients"]] == [
        ("delivered", None),
        ("suppressed", None),
    ]
    assert row["recipients"][1]["suppression"] == {"id": str(suppression_id), "reason": "hard_bounce"}
    timeline = (await post.api.sue.get(f"/messages/{row['id']}/events", order="asc")).data
    assert [each["kind"] for each in timeline] == ["submitted", "suppressed", "accepted", "delivered"]
    # Only the recipient that was submitted counts.
    (count,) = await post.api.sql("SELECT sum(recipients) AS n FROM send_counts WHERE subject = %(s)s", s=EXAMPLE)
    assert count["n"] == 1


async def test_without_a_remaining_recipient_nothing_is_sent(post: Post):
    suppression_id = await post.api.suppression("müller@xn--bcher-kva.test")
    await post.api.suppression("other@elsewhere.test", OTHER)
    answer = await post.send(to=[{"email": "MÜLLER@bücher.test"}])
    assert (answer.status, answer.code) == (403, "RECIPIENT_SUPPRESSED")
    (detail,) = answer.json["error"]["details"]["recipients"]
    assert (detail["reason"], detail["suppression_id"]) == ("hard_bounce", str(suppression_id))
    assert await post.messages() == []
    assert await post.events() == []
    assert await post.caught() == []
    assert await post.api.sql("SELECT FROM send_counts") == []
    # Of another domain; and in a batch, each message by itself.
    items = [letter(to=[{"email": "other@elsewhere.test"}]), letter(to=[{"email": "müller@bücher.test"}])]
    batch = await post.api.sue.post("/send/batch", {"messages": items})
    assert [each.get("code") for each in batch.data["results"]] == [None, "RECIPIENT_SUPPRESSED"]


async def test_a_hard_bounce_suppresses_and_a_test_address_does_not(post: Post):
    await post.send(to=[{"email": "bounce@elsewhere.test"}, {"email": "bounce+1@elsewhere.test"}])
    await post.run_queue()
    (message,) = await post.messages()
    rows = (await post.api.sue.get("/suppressions")).data
    assert [(row["address"], row["reason"], row["source_message_id"]) for row in rows] == [
        ("bounce+1@elsewhere.test", "hard_bounce", message["id"])
    ]
    assert [(each["class"], each["provider"]) for each in message["recipients"]] == [("invalid_recipient", "other")] * 2
    bounced = [data for kind, data in await post.events() if kind == "mail.bounced"]
    assert {(data["class"], data["provider"], data["bounce_type"]) for data in bounced} == {
        ("invalid_recipient", "other", "permanent")
    }


async def _fail(post: Post, to: str, reply: ServerReply, status: Any = "bounced") -> None:
    """Send a message, and record this outcome as an MTA reports it."""
    answer = await post.send(to=[{"email": to}])
    assert answer.status == 200, answer.body
    outcome = DeliveryOutcome(UUID(answer.data["id"]), to, status, 1, reply)
    async with post.api.app.db.tx() as conn:
        await service.record_outcomes(conn, post.api.clock(), [outcome])


async def test_which_failures_suppress(post: Post):
    await _fail(post, "policy@x.test", ServerReply(550, "5.7.1", "User unknown", "mx.x.test"))
    await _fail(post, "spam@x.test", ServerReply(554, "5.7.1", "blocked using zen.spamhaus.org", "mx.x.test"))
    await _fail(post, "later@x.test", ServerReply(450, "4.1.1", "User unknown", "mx.x.test"), "deferred")
    await _fail(post, "expired@x.test", ServerReply(None, "4.4.7", "Delivery time expired"), "failed")
    assert await suppressed(post.api) == []
    await _fail(post, "closed@x.test", ServerReply(550, "5.2.1", "Account disabled", "mx.x.test"))
    await _fail(post, "no@domain.test", ServerReply(None, "5.4.4", "Host or domain name not found"))
    assert await suppressed(post.api) == [("closed@x.test", "hard_bounce"), ("no@domain.test", "hard_bounce")]


async def test_a_mailbox_is_full_three_times_in_two_weeks(post: Post):
    full = ServerReply(552, "5.2.2", "Mailbox full", "mx.x.test")
    await _fail(post, "full@x.test", full)
    post.api.clock.advance(days=15)
    await _fail(post, "full@x.test", full)
    await _fail(post, "full@x.test", ServerReply(452, "4.2.2", "Over quota", "mx.x.test"), "failed")
    assert await suppressed(post.api) == []
    await _fail(post, "full@x.test", full)
    assert await suppressed(post.api) == [("full@x.test", "hard_bounce")]


async def test_forwarded_mail_suppresses_nobody(post: Post):
    answer = await post.send(to=[{"email": "x@x.test"}])
    await post.api.sql("UPDATE messages SET source = 'system'")
    outcome = DeliveryOutcome(UUID(answer.data["id"]), "x@x.test", "bounced", 1, GONE)
    async with post.api.app.db.tx() as conn:
        await service.record_outcomes(conn, post.api.clock(), [outcome])
    assert await suppressed(post.api) == []


async def test_the_list_and_single_suppressions(api: Api):
    body = {"address": "Gone@Elsewhere.test", "domain_id": str(DOMAIN_IDS[EXAMPLE])}
    created = await api.dora.post("/suppressions", body)
    assert (created.status, created.data["reason"], created.data["group_id"]) == (201, "manual", None)
    again = await api.dora.post("/suppressions", body | {"address": "gone@elsewhere.test", "reason": "complaint"})
    assert (again.status, reason(again)) == (409, "exists")
    assert again.json["error"]["details"]["suppression_id"] == created.data["id"]
    assert faults(await api.dora.post("/suppressions", body | {"address": "no address"})) == ["address"]
    group = await api.unsubscribe_group("News", OTHER)
    unknown = await api.dora.post("/suppressions", body | {"group_id": str(group)})
    assert (unknown.status, faults(unknown)) == (400, ["group_id"])
    await api.suppression("100%_sure@elsewhere.test", reason="complaint")
    await api.suppression("else@where.test", OTHER)
    assert [each[0] for each in await suppressed(api, address="%_")] == ["100%_sure@elsewhere.test"]
    assert [each[0] for each in await suppressed(api, address="GONE@")] == ["Gone@elsewhere.test"]
    assert [each[0] for each in await suppressed(api, reason="complaint")] == ["100%_sure@elsewhere.test"]
    assert [each[0] for each in await suppressed(api, domain_id=DOMAIN_IDS[OTHER])] == ["else@where.test"]
    removed = await api.dora.delete(f"/suppressions/{created.data['id']}", note="has a new mailbox")
    assert removed.status == 200
    (entry,) = await api.audit_entries("suppression.delete")
    assert entry["details"]["note"] == "has a new mailbox"
    assert entry["details"]["before"]["address"] == "Gone@elsewhere.test"
    assert (await api.dora.delete(f"/suppressions/{created.data['id']}")).status == 404


async def test_import_and_export(api: Api):
    await api.suppression("old@elsewhere.test", reason="complaint")
    group = await api.unsubscribe_group("News")
    table = (
        "address;reason;domain;group_id\r\n"
        f"'=cmd@elsewhere.test;;{EXAMPLE};\r\n"
        f"old@elsewhere.test;hard_bounce;{EXAMPLE.upper()};\r\n"
        f"no address;;{EXAMPLE};\r\n"
        f"a@elsewhere.test;;{OTHER};\r\n"
        f"a@elsewhere.test;wrong;{EXAMPLE};\r\n"
        "a@elsewhere.test;;unknown.test;\r\n"
        f"a@elsewhere.test;unsubscribe;;{group}\r\n"
    ).encode()
    query = {"domain_id": str(DOMAIN_IDS[EXAMPLE])}
    answer = await api.dora("POST", "/suppressions/import", table, query=query, headers={"content-type": "text/csv"})
    assert answer.status == 200, answer.body
    assert (answer.data["total"], answer.data["succeeded"], answer.data["failed"]) == (7, 3, 4)
    codes = [each.get("code") for each in answer.data["results"]]
    assert codes == [None, None, "INVALID_FIELD", "FORBIDDEN", "INVALID_FIELD", "DOMAIN_NOT_FOUND", None]
    assert await suppressed(api) == [
        ("old@elsewhere.test", "complaint"), ("=cmd@elsewhere.test", "manual"), ("a@elsewhere.test", "unsubscribe"),
    ]  # fmt: skip
    (entry,) = await api.audit_entries("suppression.import")
    assert entry["details"] == {"rows": 7, "succeeded": 3, "domains": [EXAMPLE]}
    exported = await api.dora.get("/suppressions/export")
    assert exported.headers["content-type"].startswith("text/csv")
    assert b'"\'=cmd@elsewhere.test"' in exported.body
    await api.sql("DELETE FROM suppressions")
    content = exported.body
    back = await api.dora("POST", "/suppressions/import", content, headers={"content-type": "text/csv"})
    assert (back.data["succeeded"], back.data["failed"]) == (3, 0)
    assert (await api.dora.get("/suppressions/export")).body.count(b"\n") == content.count(b"\n")
    assert (await api.dora.post("/suppressions/import", {"items": []})).code == "EMPTY_BATCH"
    many = await api.dora.post("/suppressions/import", {"items": [{"address": "a@b.test"}] * 10_001})
    assert many.code == "BATCH_TOO_LARGE"
    missing = await api.dora.post("/suppressions/import", {"items": [{"address": "a@b.test"}, {"reason": "manual"}]})
    assert [each["code"] for each in missing.data["results"]] == ["MISSING_FIELDS"] * 2
