"""Webhooks in the API: create, change, test; list and replay deliveries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mailkeep.core.clock import iso
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.webhooks.jobs import LEASE
from mailkeep.features.record.events import service as events
from tests.mailflow.webhooks.conftest import Hooks
from tests.plugins.post import Post
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, START, Api, faults, reason
from tests.support.events import sample_event

URL = "https://hooks.elsewhere.test/in?a=1"
ID_EXAMPLE = str(DOMAIN_IDS[EXAMPLE])


def new_webhook(**changes: Any) -> dict[str, Any]:
    body = {"url": URL, "events": ["mail.sent", "mail.bounced"]} | changes
    return {name: value for name, value in body.items() if value is not None}


async def test_a_created_webhook_has_a_secret_that_is_shown_once(api: Api):
    answer = await api.adam.post("/webhooks", new_webhook(domain_id=ID_EXAMPLE))
    assert answer.status == 201
    made = dict(answer.data)
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made == {
        "id": made["id"],
        "url": URL,
        "events": ["mail.sent", "mail.bounced"],
        "domain_id": ID_EXAMPLE,
        "active": True,
        "rotating_until": None,
        "failing_since": None,
        "disabled_at": None,
        "created_by": str(ADMIN_IDS["adam"]),
        "created_at": iso(START),
        "updated_at": iso(START),
    }
    listed = await api.adam.get("/webhooks")
    assert listed.data == [made]
    assert "pagination" not in listed.json["meta"]
    assert (await api.adam.get(f"/webhooks/{made['id']}")).data == made
    [entry] = await api.audit_entries("webhook.create")
    assert entry["details"]["after"] == made
    [row] = await api.sql("SELECT secret FROM webhooks")
    assert secret.encode() not in row["secret"]


async def test_a_repeated_creation_shows_no_secret(api: Api):
    first, again = [
        await api.sue("POST", "/webhooks", new_webhook(), headers={"idempotency-key": "once"}) for _ in range(2)
    ]
    assert again.status == 201
    assert again.data == first.data | {"secret": None}
    assert len((await api.sue.get("/webhooks")).data) == 1


@pytest.mark.parametrize(
    "url, setting",
    [
        ("https://192.168.1.1/", "webhooks.allowed_networks"),
        ("https://10.1.2.3:8443/", "webhooks.allowed_networks"),
        ("https://169.254.169.254/latest", "webhooks.allowed_networks"),
        ("https://[::1]/", "webhooks.allowed_networks"),
        ("https://[::ffff:192.168.0.1]/", "webhooks.allowed_networks"),
        ("https://[fd00::1]/", "webhooks.allowed_networks"),
        ("https://hooks.elsewhere.test:25/", "webhooks.allowed_ports"),
        ("https://hooks.elsewhere.test:80/", "webhooks.allowed_ports"),
        ("https://hooks.elsewhere.test:1023/", "webhooks.allowed_ports"),
    ],
)
async def test_a_private_address_or_port_is_refused_and_names_the_setting(api: Api, url: str, setting: str):
    made = await api.webhook()
    for answer in (
        await api.sue.post("/webhooks", new_webhook(url=url)),
        await api.sue.patch(f"/webhooks/{made}", {"url": url}),
    ):
        assert (answer.status, answer.code) == (400, "INVALID_URL"), answer.body
        assert answer.json["error"]["details"] == {"field": "url", "setting": setting}
        assert setting in answer.json["error"]["message"]
        assert "mailkeep listen" in answer.json["error"]["message"]
    webhooks = replace(api.app.settings.webhooks, allowed_networks=("0.0.0.0/0", "::/0"), allowed_ports=(25, 80, 1023))
    api.app.settings = replace(api.app.settings, webhooks=webhooks)
    assert (await api.sue.post("/webhooks", new_webhook(url=url))).status == 201
    assert (await api.sue.patch(f"/webhooks/{made}", {"url": url})).status == 200


@pytest.mark.parametrize("url", ["https://192.0.0.8.example:1024/", "https://8.8.8.8/", "https://a.test:65535/"])
async def test_public_addresses_and_high_ports_need_no_setting(api: Api, url: str):
    assert (await api.sue.post("/webhooks", new_webhook(url=url))).status == 201


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.elsewhere.test/",
        "ftp://hooks.elsewhere.test/",
        "hooks.elsewhere.test",
        "https://user@hooks.elsewhere.test/",
        "https://user:password@hooks.elsewhere.test/",
        "https://hooks.elsewhere.test/#part",
        "https://hooks.elsewhere.test/a b",
        "https://hooks.elsewhere.test/\t",
        "https://hooks.elsewhere.test/\r\nX: y",
        "https://hooks.elsewhere.test\\@127.0.0.1/",
        "https://0177.0.0.1/",
        "https://2130706433/",
        "https:///path",
        "https://hooks.elsewhere.test:0/",
        "https://hooks.elsewhere.test:65536/",
        "https://hooks.elsewhere.test/" + "a" * 2048,
    ],
)
async def test_a_url_that_is_not_allowed_is_refused(shared_api: Api, url: str):
    answer = await shared_api.sue.post("/webhooks", new_webhook(url=url))
    assert (answer.status, answer.code) == (400, "INVALID_URL"), answer.body
    made = await shared_api.webhook()
    answer = await shared_api.sue.patch(f"/webhooks/{made}", {"url": url})
    assert (answer.status, answer.code) == (400, "INVALID_URL")


@pytest.mark.parametrize(
    "changes, code, fields",
    [
        ({"url": None}, "MISSING_FIELDS", ["url"]),
        ({"url": ""}, "MISSING_FIELDS", ["url"]),
        ({"events": None}, "MISSING_FIELDS", ["events"]),
        ({"events": []}, "MISSING_FIELDS", ["events"]),
        ({"url": 7}, "INVALID_FIELD", ["url"]),
        ({"events": "mail.sent"}, "INVALID_FIELD", ["events"]),
        ({"events": ["mail.sent", "mail.read"]}, "INVALID_FIELD", ["events[1]"]),
        ({"events": ["system.*"]}, "INVALID_FIELD", ["events[0]"]),
        ({"domain_id": "no-id"}, "INVALID_FIELD", ["domain_id"]),
        ({"domainid": ID_EXAMPLE}, "INVALID_FIELD", ["domainid"]),
    ],
)
async def test_invalid_fields_are_named(shared_api: Api, changes: dict[str, Any], code: str, fields: list[str]):
    answer = await shared_api.sue.post("/webhooks", new_webhook(**changes))
    assert (answer.status, answer.code, faults(answer)) == (400, code, fields), answer.body


async def test_no_domain_and_null_both_mean_all_domains(api: Api):
    for body in (new_webhook(), new_webhook() | {"domain_id": None}):
        assert (await api.sue.post("/webhooks", body)).data["domain_id"] is None


async def test_a_scoped_key_has_no_access_to_global_webhooks(api: Api):
    everywhere, here, there = await api.webhook(), await api.webhook(EXAMPLE), await api.webhook(OTHER)
    assert (await api.scoped.post("/webhooks", new_webhook())).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.scoped.post("/webhooks", new_webhook() | {"domain_id": None})).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.scoped.post("/webhooks", new_webhook(domain_id=str(DOMAIN_IDS[OTHER])))).status == 403
    made = await api.scoped.post("/webhooks", new_webhook(domain_id=ID_EXAMPLE))
    assert made.status == 201
    assert {row["id"] for row in (await api.scoped.get("/webhooks")).data} == {str(here), made.data["id"]}
    for foreign in (everywhere, there):
        for answer in (
            await api.scoped.get(f"/webhooks/{foreign}"),
            await api.scoped.patch(f"/webhooks/{foreign}", {"active": False}),
            await api.scoped.delete(f"/webhooks/{foreign}"),
            await api.scoped.post(f"/webhooks/{foreign}/rotate-secret"),
            await api.scoped.get(f"/webhooks/{foreign}/deliveries"),
            await api.scoped.post(f"/webhooks/{foreign}/replay", {"since": iso(START - timedelta(1))}),
        ):
            assert (answer.status, answer.code) == (403, "API_KEY_DOMAIN_SCOPE")


async def test_a_webhook_is_deleted_with_its_domain(api: Api):
    doomed_id = await api.domain("doomed.test")
    doomed, kept = await api.webhook("doomed.test"), await api.webhook()
    async with api.app.db.tx() as conn:
        await emit(conn, doomed_id)
    assert (await api.sue.delete(f"/domains/{doomed_id}")).status == 200
    assert [row["id"] for row in (await api.sue.get("/webhooks")).data] == [str(kept)]
    assert (await api.sue.get(f"/webhooks/{doomed}")).code == "NOT_FOUND"
    assert [row["domain_id"] for row in await api.sql("SELECT domain_id FROM webhooks")] == [None]


async def emit(conn: Conn, domain_id: Any) -> None:
    await events.emit(conn, START, sample_event("mail.sent", domain_id, None, {}))


async def test_a_webhook_is_changed(api: Api):
    webhook_id = await api.webhook()
    api.clock.advance(seconds=5)
    changes = {"url": "https://new.elsewhere.test/", "events": ["*", "system.alert", "*"], "active": False}
    changed = (await api.adam.patch(f"/webhooks/{webhook_id}", changes)).data
    assert changed["url"] == changes["url"]
    assert changed["events"] == ["*", "system.alert"]
    assert (changed["active"], changed["updated_at"]) == (False, iso(START + timedelta(seconds=5)))
    [entry] = await api.audit_entries("webhook.update")
    assert set(entry["details"]["after"]) == {"url", "events", "active"}
    assert (await api.adam.patch(f"/webhooks/{webhook_id}", changes | {"events": ["*", "system.alert"]})).status == 200
    assert len(await api.audit_entries("webhook.update")) == 1, "nothing was changed"
    for wrong in ({"domain_id": ID_EXAMPLE}, {"events": []}, {"url": None}, {"secret": "x"}):
        assert (await api.adam.patch(f"/webhooks/{webhook_id}", wrong)).code == "INVALID_FIELD", wrong


async def test_a_deleted_webhook_is_not_found(api: Api):
    webhook_id = await api.webhook()
    answer = await api.adam.delete(f"/webhooks/{webhook_id}")
    assert (answer.status, answer.data["id"]) == (200, str(webhook_id))
    assert (await api.adam.delete(f"/webhooks/{webhook_id}")).code == "NOT_FOUND"
    assert (await api.adam.get(f"/webhooks/{webhook_id}/deliveries")).code == "NOT_FOUND"


async def test_a_rotation_shows_the_new_secret_once(api: Api):
    webhook_id = await api.webhook()
    answer = await api.adam.post(f"/webhooks/{webhook_id}/rotate-secret")
    assert answer.data["secret"].startswith("whsec_")
    assert answer.data["rotating_until"] == iso(START + timedelta(hours=24))
    [entry] = await api.audit_entries("webhook.rotate_secret")
    assert answer.data["secret"] not in str(entry)
    assert "secret" not in (await api.adam.get(f"/webhooks/{webhook_id}")).data


async def test_a_test_is_posted_at_once_and_signed(hooks: Hooks):
    good, bad = await hooks.webhook("/200/try"), await hooks.webhook("/500")
    await hooks.api.sue.patch(f"/webhooks/{good['id']}", {"active": False})
    tried = (await hooks.api.sue.post(f"/webhooks/{good['id']}/test")).data
    [posted] = hooks.sink.at("/200/try")
    assert (tried["delivered"], tried["status"], tried["event_id"]) == (True, 200, posted.id)
    assert (posted.json["event"], posted.json["data"]["webhook_id"]) == ("system.test", good["id"])
    assert "x-svc-signature" in posted.headers
    failed = (await hooks.api.sue.post(f"/webhooks/{bad['id']}/test")).data
    assert (failed["delivered"], failed["status"], failed["response_excerpt"]) == (False, 500, "status 500")
    assert await hooks.deliveries(good) == await hooks.deliveries(bad) == []
    assert [entry["details"]["status"] for entry in await hooks.api.audit_entries("webhook.test")] == [200, 500]


async def test_deliveries_are_listed_newest_first_by_page_state_and_kind(hooks: Hooks):
    webhook = await hooks.webhook("/500")
    for number in range(5):
        await hooks.emit("mail.sent" if number % 2 else "mail.bounced", n=number)
        hooks.api.clock.advance(seconds=1)
    whole = await hooks.deliveries(webhook)
    assert [row["created_at"] for row in whole] == sorted((row["created_at"] for row in whole), reverse=True)
    path, pages = f"/webhooks/{webhook['id']}/deliveries", list[Any]()
    answer = await hooks.api.sue.get(path, limit=2)
    while answer.json["meta"]["pagination"]["has_more"]:
        pages += answer.data
        answer = await hooks.api.sue.get(path, limit=2, cursor=answer.json["meta"]["pagination"]["next_cursor"])
    assert pages + answer.data == whole
    assert len(await hooks.deliveries(webhook, event="mail.sent")) == 2
    assert len(await hooks.deliveries(webhook, state="pending")) == 5
    await hooks.deliver()
    assert await hooks.deliveries(webhook, state="pending") == []
    assert len(await hooks.deliveries(webhook, state="waiting_for_retry", event="mail.bounced")) == 3
    assert (await hooks.api.sue.get(path, state="lost")).code == "INVALID_FIELD"
    assert (await hooks.api.sue.get(path, limit=0)).code == "INVALID_PAGINATION"


async def test_a_replayed_delivery_has_the_whole_schedule_and_the_same_id(hooks: Hooks):
    webhook = await hooks.webhook("/flaky")
    hooks.sink.statuses["/flaky"] = 500
    await hooks.emit()
    for wait in (0, 30, 120, 900, 3600, 7200):
        await hooks.deliver(wait)
    shown = await hooks.delivery(webhook)
    assert shown["state"] == "abandoned"
    path = f"/webhooks/{webhook['id']}/deliveries/{shown['id']}/replay"
    begun = (await hooks.api.sue.post(path)).data
    assert (begun["state"], begun["next_attempt_at"]) == ("pending", iso(hooks.api.clock()))
    await hooks.deliver()
    assert (await hooks.delivery(webhook))["next_attempt_at"] == iso(hooks.api.clock() + timedelta(seconds=30))
    hooks.sink.statuses["/flaky"] = 200
    await hooks.deliver(30)
    await hooks.api.sue.post(path)
    await hooks.deliver()
    shown = await hooks.delivery(webhook)
    assert [each["status"] for each in shown["attempts"]] == [500] * 7 + [200] * 2
    assert len({posted.id for posted in hooks.sink.posted}) == 1
    assert len(await hooks.api.audit_entries("webhook.replay")) == 2


async def test_the_last_twenty_attempts_are_shown(hooks: Hooks):
    webhook = await hooks.webhook("/500")
    await hooks.emit()
    [row] = await hooks.deliveries(webhook)
    for _ in range(22):
        await hooks.api.sue.post(f"/webhooks/{webhook['id']}/deliveries/{row['id']}/replay")
        hooks.api.clock.advance(seconds=1)
        await hooks.deliver()
    attempts = (await hooks.delivery(webhook))["attempts"]
    assert len(attempts) == 20
    assert attempts[-1]["at"] == iso(hooks.api.clock())


async def test_replays_of_unknown_deliveries_and_inactive_webhooks_fail(api: Api):
    one, other = await api.webhook(), await api.webhook()
    assert (await api.sue.post(f"/webhooks/{one}/deliveries/{other}/replay")).code == "NOT_FOUND"
    assert (await api.sue.post(f"/webhooks/{one}/deliveries/no-id/replay")).code == "NOT_FOUND"
    await api.sue.patch(f"/webhooks/{one}", {"active": False})
    for answer in (
        await api.sue.post(f"/webhooks/{one}/deliveries/{one}/replay"),
        await api.sue.post(f"/webhooks/{one}/replay", {"since": iso(START - timedelta(1))}),
    ):
        assert (answer.code, reason(answer)) == ("CONFLICT", "webhook_inactive")


async def test_a_period_is_replayed_with_missed_events(hooks: Hooks):
    # Later than in other tests, since the IDs of a process never go back by seconds.
    hooks.api.clock.advance(days=20)
    begun = hooks.api.clock()
    for second in range(4):
        await hooks.emit(n=second)
        hooks.api.clock.advance(seconds=1)
    webhook = await hooks.webhook("/200", ("mail.sent",), domain_id=ID_EXAMPLE)
    await hooks.emit("mail.sent", n=4)
    await hooks.emit("mail.bounced", n=5)
    await hooks.emit("mail.sent", OTHER, n=6)
    await hooks.deliver()
    path = f"/webhooks/{webhook['id']}/replay"
    span = {"since": iso(begun + timedelta(seconds=1)), "until": iso(begun + timedelta(seconds=3))}
    done = (await hooks.api.sue.post(path, span)).data
    assert done == {"queued": 2, "next_since": None}
    await hooks.deliver()
    first, *replayed = [posted.json["data"]["n"] for posted in hooks.sink.posted]
    assert (first, sorted(replayed)) == (4, [1, 2])  # side by side, in any order
    hooks.api.clock.advance(seconds=1)
    assert (await hooks.api.sue.post(path, {"since": iso(begun)})).data["queued"] == 5
    await hooks.deliver()
    assert sorted(posted.json["data"]["n"] for posted in hooks.sink.posted[3:]) == [0, 1, 2, 3, 4]
    [entry, *_] = await hooks.api.audit_entries("webhook.replay")
    assert entry["details"] == span | {"only_failed": False, "queued": 2}


async def test_only_failed_replays_abandoned_deliveries(hooks: Hooks):
    webhook = await hooks.webhook("/flaky")
    hooks.sink.statuses["/flaky"] = 500
    await hooks.emit(n=1)
    for wait in (0, 30, 120, 900, 3600, 7200):
        await hooks.deliver(wait)
    await hooks.emit(n=2)
    await hooks.deliver()
    hooks.sink.statuses["/flaky"] = 200
    await hooks.emit(n=3)
    await hooks.deliver()
    hooks.api.clock.advance(seconds=1)
    answer = await hooks.api.sue.post(f"/webhooks/{webhook['id']}/replay", {"since": iso(START), "only_failed": True})
    assert answer.data == {"queued": 1, "next_since": None}
    await hooks.deliver()
    assert [each.json["data"]["n"] for each in hooks.sink.posted[-1:]] == [1]


async def test_a_long_period_is_replayed_by_several_calls(hooks: Hooks, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mailkeep.features.mailflow.webhooks.service.MAX_REPLAYS", 3)
    hooks.api.clock.advance(days=21)
    webhook = await hooks.webhook("/200")
    for second in range(5):
        await hooks.emit(n=second)
        hooks.api.clock.advance(seconds=1)
    path, queued = f"/webhooks/{webhook['id']}/replay", list[int]()
    since: str | None = iso(hooks.api.clock() - timedelta(seconds=5))
    while since:
        done = (await hooks.api.sue.post(path, {"since": since})).data
        queued.append(done["queued"])
        since = done["next_since"]
    assert queued == [3, 2]


@pytest.mark.parametrize("until", [iso(START), iso(START - timedelta(seconds=1))])
async def test_a_period_must_begin_before_its_end(shared_api: Api, until: str):
    webhook_id = await shared_api.webhook()
    answer = await shared_api.sue.post(f"/webhooks/{webhook_id}/replay", {"since": iso(START), "until": until})
    assert faults(answer) == ["until"]


async def test_a_replay_does_not_change_attempts_in_progress(hooks: Hooks):
    webhook = await hooks.webhook("/200")
    await hooks.emit()
    await hooks.api.sql(
        "UPDATE webhook_deliveries SET lease = 1, claimed_at = %(at)s, next_attempt_at = %(until)s",
        at=START,
        until=START + LEASE,
    )
    before = await hooks.delivery(webhook)
    answer = await hooks.api.sue.post(f"/webhooks/{webhook['id']}/deliveries/{before['id']}/replay")
    assert answer.data == before


async def test_full_mail_events_are_emitted_while_a_webhook_subscribes(post: Post):
    await post.api.mailbox()
    await post.deliver(f"alice@{EXAMPLE}")
    assert [kind for kind, _ in await post.events()] == ["mail.received"]
    elsewhere = await post.api.webhook(OTHER, events=["mail.received.full"])
    await post.deliver(f"alice@{EXAMPLE}")
    assert len(await post.events()) == 2, "not for another domain"
    for kind, domain in (("mail.received.full", EXAMPLE), ("*", None)):
        webhook_id = await post.api.webhook(domain, events=[kind])
        await post.deliver(f"alice@{EXAMPLE}")
        assert {kind for kind, _ in (await post.events())[-2:]} == {"mail.received", "mail.received.full"}
        await post.api.sue.patch(f"/webhooks/{webhook_id}", {"active": False})
    count = len(await post.events())
    await post.deliver(f"alice@{EXAMPLE}")
    assert len(await post.events()) == count + 1, "no active webhook subscribes to it"
    assert (await post.api.sue.delete(f"/webhooks/{elsewhere}")).status == 200


async def test_a_send_and_its_outcome_are_queued_for_webhooks(post: Post):
    webhook_id = await post.api.webhook(EXAMPLE, events=["*"])
    sent = await post.send()
    await post.run_queue()
    rows = await post.api.sql(
        """
        SELECT d.kind, d.state, e.message_id FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
        WHERE d.webhook_id = %(id)s ORDER BY d.id
        """,
        id=webhook_id,
    )
    assert [(row["kind"], row["state"]) for row in rows] == [("mail.sent", "pending"), ("mail.delivered", "pending")]
    assert {str(row["message_id"]) for row in rows} == {sent.data["id"]}


async def test_attempts_are_counted_by_the_resulting_state_with_their_time(hooks: Hooks):
    await hooks.webhook("/200")
    await hooks.webhook("/500")
    hooks.api.app.counters.drain()
    await hooks.emit()
    await hooks.deliver()
    await hooks.deliver(30)
    counts = dict(hooks.api.app.counters.drain())
    assert counts["webhook_attempts", ("delivered",)] == 1
    assert counts["webhook_attempts", ("waiting_for_retry",)] == 2
    assert sum(count for (name, _), count in counts.items() if name == "webhook_attempt_seconds_bucket") == 3


async def test_kinds_about_the_whole_instance_are_for_super_admins(api: Api):
    new = {"url": "https://new.elsewhere.test/", "events": ["system.drift"]}
    assert (await api.sue.post("/webhooks", new)).status == 201
    assert (await api.adam.post("/webhooks", new)).code == "FORBIDDEN"
    assert (await api.sue.post("/webhooks", new | {"domain_id": ID_EXAMPLE})).code == "INVALID_FIELD"
    webhook_id = await api.webhook()
    assert (await api.adam.patch(f"/webhooks/{webhook_id}", {"events": ["system.drift"]})).code == "FORBIDDEN"
    assert (await api.sue.patch(f"/webhooks/{webhook_id}", {"events": ["system.drift"]})).status == 200
    assert (await api.adam.patch(f"/webhooks/{webhook_id}", {"active": False})).status == 200
