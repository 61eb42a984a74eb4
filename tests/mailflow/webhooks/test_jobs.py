"""Deliveries: requests, retries, disabling and clean-up."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime, timedelta
from typing import Any

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.webhooks import jobs
from mailkeep.features.record.events import service as events
from tests.mailflow.webhooks.conftest import Hooks
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, START
from tests.support.events import sample_event


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


# Requests


async def test_an_event_is_posted_to_each_subscriber(hooks: Hooks):
    everything = await hooks.webhook("/200/all")
    await hooks.webhook("/200/bounces", ("mail.bounced", "mail.sent"))
    await hooks.webhook("/200/other", domain_id=str(DOMAIN_IDS[OTHER]))
    await hooks.webhook("/200/received", ("mail.received",))
    await hooks.emit("mail.sent", subject="Grüße", n=1.5)
    assert await hooks.deliver() == 2
    assert sorted(each.path for each in hooks.sink.posted) == ["/200/all", "/200/bounces"]
    [event] = (await hooks.api.sue.get("/events")).data
    posted = hooks.sink.posted[0]
    assert posted.json == {
        "id": event["id"],
        "event": "mail.sent",
        "event_id": event["id"],
        "timestamp": iso(START),
        "data": {"subject": "Grüße", "n": 1.5},
    }
    shown = await hooks.delivery(everything)
    assert shown["state"] == "delivered"
    assert shown["next_attempt_at"] is None
    [attempt] = shown["attempts"]
    assert attempt == {
        "at": iso(START),
        "status": 200,
        "duration_ms": attempt["duration_ms"],
        "error": None,
        "response_excerpt": "status 200",
    }
    assert await hooks.deliver(10**6) == 0, "nothing is left to do"


async def test_a_delivery_is_signed_with_the_secret(hooks: Hooks):
    webhook = await hooks.webhook("/200")
    await hooks.emit()
    await hooks.deliver()
    [posted] = hooks.sink.posted
    secret = webhook["secret"].encode()
    assert posted.headers["x-svc-signature"] == hmac.new(secret, posted.body, hashlib.sha256).hexdigest()
    assert posted.headers["content-type"] == "application/json"
    assert posted.headers["webhook-timestamp"] == str(int(START.timestamp()))


async def test_after_a_rotation_both_secrets_sign_for_24_hours(hooks: Hooks):
    webhook = await hooks.webhook("/200")
    rotated = (await hooks.api.sue.post(f"/webhooks/{webhook['id']}/rotate-secret")).data
    assert rotated["secret"] != webhook["secret"]
    for seconds, signatures in ((0, 2), (24 * 3600 - 1, 2), (1, 1)):
        hooks.api.clock.advance(seconds=seconds)
        await hooks.emit()
        await hooks.deliver()
        assert len(hooks.sink.posted[-1].headers["webhook-signature"].split()) == signatures
    body, headers = hooks.sink.posted[0].body, hooks.sink.posted[0].headers
    names = {"x-svc-signature": rotated["secret"], "x-svc-signature-previous": webhook["secret"]}
    for name, secret in names.items():
        assert headers[name] == hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    await jobs.prune(hooks.api.app)
    [row] = await hooks.api.sql("SELECT previous_secret FROM webhooks")
    assert row["previous_secret"] is None


async def test_system_events_need_a_subscription_by_name(hooks: Hooks):
    await hooks.webhook("/200/all")
    await hooks.webhook("/200/named", ("system.suspension",))
    await hooks.emit("system.suspension", EXAMPLE, address="a@example.test")
    await hooks.deliver()
    assert [each.path for each in hooks.sink.posted] == ["/200/named"]


async def test_an_event_without_a_domain_is_for_global_webhooks_only(hooks: Hooks):
    await hooks.webhook("/200/all")
    await hooks.webhook("/200/domain", domain_id=str(DOMAIN_IDS[EXAMPLE]))
    await hooks.emit("mail.sent", None)
    await hooks.deliver()
    assert [each.path for each in hooks.sink.posted] == ["/200/all"]


async def test_an_event_that_is_rolled_back_is_not_delivered(hooks: Hooks):
    await hooks.webhook()
    async with hooks.api.app.db.autocommit() as conn, conn.transaction(force_rollback=True):
        await events.emit(conn, START, sample_event("mail.sent", None, None, {}))
    assert await hooks.deliver() == 0


# Retries


async def test_the_published_schedule_to_the_second(hooks: Hooks):
    webhook = await hooks.webhook("/500")
    await hooks.emit()
    waits = [0, 30, 120, 900, 3600, 7200]
    shown: dict[str, Any] = {}
    for number, wait in enumerate(waits, 1):
        if wait:
            assert await hooks.deliver(wait - 1) == 0, f"try {number} comes not a second early"
            assert await hooks.deliver(1) == 1
        else:
            assert await hooks.deliver() == 1
        shown = await hooks.delivery(webhook)
        assert len(shown["attempts"]) == number
        last = number == len(waits)
        assert shown["state"] == ("abandoned" if last else "waiting_for_retry")
        due = None if last else iso(hooks.api.clock() + timedelta(seconds=waits[number]))
        assert shown["next_attempt_at"] == due
    assert await hooks.deliver(10**7) == 0, "no seventh"
    assert len({posted.id for posted in hooks.sink.posted}) == 1
    assert len(hooks.sink.posted) == 6
    assert [moment(each["at"]) - START for each in shown["attempts"]] == [
        timedelta(seconds=sum(waits[: number + 1])) for number in range(6)
    ]


async def test_a_successful_retry_ends_the_delivery(hooks: Hooks):
    webhook = await hooks.webhook("/flaky")
    hooks.sink.statuses["/flaky"] = 503
    await hooks.emit()
    await hooks.deliver()
    hooks.sink.statuses["/flaky"] = 204
    await hooks.deliver(30)
    shown = await hooks.delivery(webhook)
    assert shown["state"] == "delivered"
    assert [each["status"] for each in shown["attempts"]] == [503, 204]
    first, second = hooks.sink.posted
    assert first.body == second.body
    assert first.id == second.id
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]


# Disabling


async def test_a_webhook_that_keeps_failing_is_disabled_with_an_event(hooks: Hooks):
    watcher = await hooks.webhook("/200/ops", ("system.webhook_disabled",))
    dead = await hooks.webhook("/500", domain_id=str(DOMAIN_IDS[EXAMPLE]))
    await hooks.emit()
    for wait in (0, 30, 120, 900, 3600, 7200):
        await hooks.deliver(wait)
    shown = (await hooks.api.sue.get(f"/webhooks/{dead['id']}")).data
    assert (shown["active"], shown["failing_since"]) == (True, iso(START)), (
        "abandoned once, but not failing for long enough"
    )
    hooks.api.clock.advance(hours=120)
    await hooks.emit()
    for wait in (0, 30, 120, 900, 3600, 7200):
        await hooks.deliver(wait)
    shown = (await hooks.api.sue.get(f"/webhooks/{dead['id']}")).data
    assert (shown["active"], shown["disabled_at"]) == (False, iso(hooks.api.clock()))
    [entry] = await hooks.api.audit_entries("webhook.disable")
    assert (entry["actor_type"], entry["resource_id"]) == ("system", dead["id"])
    await hooks.deliver()
    [event] = hooks.sink.at("/200/ops")
    assert event.json["event"] == "system.webhook_disabled"
    assert event.json["data"]["webhook_id"] == dead["id"]
    assert (await hooks.delivery(watcher))["state"] == "delivered"
    await hooks.emit()
    assert await hooks.deliver() == 0, "nothing is queued for it"
    again = (await hooks.api.sue.patch(f"/webhooks/{dead['id']}", {"active": True})).data
    assert (again["disabled_at"], again["failing_since"]) == (None, None)


async def test_a_success_resets_failing_since(hooks: Hooks):
    webhook = await hooks.webhook("/flaky")
    hooks.sink.statuses["/flaky"] = 500
    await hooks.emit()
    await hooks.deliver()
    assert (await hooks.api.sue.get(f"/webhooks/{webhook['id']}")).data["failing_since"] == iso(START)
    hooks.sink.statuses["/flaky"] = 200
    await hooks.deliver(30)
    assert (await hooks.api.sue.get(f"/webhooks/{webhook['id']}")).data["failing_since"] is None


# Clean-up


async def test_deliveries_for_an_inactive_webhook_keep_waiting(hooks: Hooks):
    webhook = await hooks.webhook()
    await hooks.emit()
    await hooks.api.sue.patch(f"/webhooks/{webhook['id']}", {"active": False})
    assert await hooks.deliver(3600) == 0
    await hooks.emit()
    await hooks.api.sue.patch(f"/webhooks/{webhook['id']}", {"active": True})
    assert await hooks.deliver() == 1


async def test_deliveries_are_deleted_with_their_webhook_and_when_old(hooks: Hooks):
    kept, gone = await hooks.webhook("/200"), await hooks.webhook("/500")
    await hooks.emit()
    await hooks.deliver()
    assert (await hooks.api.sue.delete(f"/webhooks/{gone['id']}")).status == 200
    assert await hooks.deliver(3600) == 0
    await jobs.prune(hooks.api.app)
    rows = await hooks.api.sql("SELECT webhook_id FROM webhook_deliveries")
    assert [str(row["webhook_id"]) for row in rows] == [kept["id"]]
    hooks.api.clock.advance(days=30)
    for _ in range(2):  # two checks, a day apart
        await jobs.prune(hooks.api.app)
        hooks.api.clock.advance(days=1)
    await jobs.prune(hooks.api.app)
    assert await hooks.api.sql("SELECT id FROM webhook_deliveries") == []


async def test_a_delivery_whose_event_was_deleted_is_abandoned(hooks: Hooks):
    webhook = await hooks.webhook("/500")
    await hooks.emit()
    await hooks.api.sql("DELETE FROM events")
    await hooks.deliver()
    shown = await hooks.delivery(webhook)
    assert shown["state"] == "abandoned"
    assert shown["attempts"][0]["error"] == "event_gone: The event is no longer stored (setting retention.event_days)."
    assert hooks.sink.posted == []


async def test_an_internal_error_is_retried_on_the_schedule(hooks: Hooks):
    """Here: a secret that was encrypted with another master secret."""
    webhook = await hooks.webhook("/200")
    await hooks.api.sql("UPDATE webhooks SET secret = 'x'")
    await hooks.emit()
    await hooks.deliver()
    shown = await hooks.delivery(webhook)
    assert shown["state"] == "waiting_for_retry"
    assert shown["attempts"][0]["error"] == "internal: The attempt failed in Mailkeep itself; see its log."
    assert shown["next_attempt_at"] == iso(START + timedelta(seconds=30))
    assert hooks.sink.posted == []


async def read_by(hooks: Hooks, statement: Any) -> int:
    """The number of pages of tables and indexes that a statement reads."""
    async with hooks.api.app.db.tx() as conn:
        named = {"at": hooks.api.clock() + timedelta(hours=1)}
        [row] = await (await conn.execute(b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement, named)).fetchall()
    plan = row["QUERY PLAN"][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


async def test_pending_deliveries_of_a_dead_webhook_do_not_slow_down_claims(hooks: Hooks):
    """Pages that a claim reads with a thousand and with a hundred thousand pending deliveries."""
    dead = await hooks.webhook("/dead")
    for _ in range(5):
        await hooks.webhook("/200/alive")
    statement = b"""
        SELECT * FROM claim_webhook_deliveries(%(at)s, %(at)s + interval '30 seconds',
            '00000000-0000-0000-0000-000000000000', 20, 4, '{}')
    """
    touched: list[int] = []
    for count in (1_000, 100_000):
        await hooks.api.sql(
            """
            INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
            SELECT gen_random_uuid(), %(webhook)s, gen_random_uuid(), 'mail.sent', 'pending', %(at)s, %(at)s
            FROM generate_series(1, %(count)s)
            """,
            webhook=dead["id"],
            at=START,
            count=count,
        )
        for _ in range(3):
            await hooks.emit()
            await read_by(hooks, statement)
        await hooks.emit()
        touched.append(await read_by(hooks, statement))
    assert touched[1] < 2 * touched[0], touched


async def test_retries_have_the_full_mail_while_it_is_kept(hooks: Hooks):
    """mail.received.full: content stored once and sent with every attempt; `truncated` once it is deleted."""
    await hooks.webhook("/500", ("mail.received.full",))
    data = {"message_id": "<1@x.test>", "queue_id": "Q1", "headers": None, "truncated": False, "body_text": None}
    await hooks.emit("mail.received.full", **data)
    content = json.dumps({"headers": {"Subject": ["Hi"]}, "body_text": "Hello", "attachments": []}).encode()
    await hooks.api.sql(
        "INSERT INTO event_payloads (queue_id, content, created_at) VALUES ('Q1', %(content)b, %(at)s)",
        content=content,
        at=START,
    )
    await hooks.deliver()
    await hooks.deliver(30)
    first, second = hooks.sink.posted
    assert first.body == second.body
    assert first.json["data"]["body_text"] == "Hello"
    await hooks.api.sql("DELETE FROM event_payloads")
    await hooks.deliver(120)
    data = hooks.sink.posted[-1].json["data"]
    assert (data["body_text"], data["truncated"], data["message_id"]) == (None, True, "<1@x.test>")
