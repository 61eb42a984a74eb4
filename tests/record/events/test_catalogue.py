"""The events of mail that is really sent and received have exactly the fields of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import msgspec
import pytest

from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.receiving.rules import GTUBE
from mailkeep.features.mailflow.webhooks import rules as webhook_rules
from mailkeep.features.mailflow.webhooks.model import CATALOGUE, Webhook
from mailkeep.features.record.events.model import Kind
from mailkeep.settings import Settings
from mailkeep.settings.tree import AbuseSettings, EventsSettings
from tests.mailflow.receiving.test_received_events import whole_letter
from tests.plugins.api import NO_RATE_LIMITS
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE, fixed_id

ALICE = f"alice@{EXAMPLE}"


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, events=EventsSettings(received_full=True), abuse=AbuseSettings(sender_per_hour=20))


def assert_payload(kind: str, data: Any) -> None:
    """The data has exactly the fields of its kind, each of its type, in JSON."""
    decoded = msgspec.json.decode(msgspec.json.encode(data))
    payload = msgspec.convert(decoded, CATALOGUE[kind], strict=True)  # type: ignore[index]
    assert msgspec.to_builtins(payload) == decoded, kind


def test_every_kind_has_descriptions_and_a_valid_example():
    assert set(get_args(Kind)) == set(CATALOGUE)
    for kind, payload_type in CATALOGUE.items():
        assert_payload(kind, payload_type.example)
        assert payload_type.__doc__
        for field in msgspec.inspect.type_info(payload_type).fields:  # type: ignore[union-attr]
            assert isinstance(field.type, msgspec.inspect.Metadata), f"{kind}: {field.encode_name}"


async def test_events_of_mail_match_the_catalogue(post: Post):
    await post.api.mailbox(ALICE)
    to = [
        {"email": f"{name}@elsewhere.test"}
        for name in ("customer", "bounce", "defer", "fail", "complaint", "suppressed")
    ]
    sent = await post.send(to=to, tags=["a"], metadata={"n": "1"})
    assert sent.status == 200
    for _ in range(4):
        await post.run_queue(3600)
    assert (await post.deliver(ALICE, content=whole_letter())).code == 250
    assert (await post.deliver(ALICE, content=LETTER + GTUBE)).code == 250
    many = [{"email": f"customer{number}@elsewhere.test"} for number in range(17)]
    assert [(await post.send(to=many)).status for _ in range(2)] == [200, 429]
    events = await post.events()
    assert {kind for kind, _ in events} == {
        *(kind for kind in CATALOGUE if kind.startswith("mail.")),
        "system.suspension",
        "system.alert",
    }
    for kind, data in events:
        assert_payload(kind, data)
        if kind == "mail.received.full":
            async with post.api.app.db.autocommit() as conn:
                assert_payload(kind, await receiving.load_full_data(conn, data))
    bounces = [data["bounce_type"] for kind, data in events if kind == "mail.bounced"]
    assert set(bounces) == {"permanent", "temporary"}


async def test_a_suspension_by_an_admin_emits_an_event(post: Post):
    mailbox_id = await post.api.mailbox(ALICE)
    assert (await post.api.adam.post(f"/mailboxes/{mailbox_id}/suspend", {"reason": "spam"})).status == 200
    assert await post.events() == [
        ("system.suspension", {"address": ALICE, "domain": EXAMPLE, "reason": "spam", "by": "admin"})
    ]


def test_the_event_of_a_disabled_webhook_matches_the_catalogue():
    fields: dict[str, Any] = {**dict.fromkeys(Webhook.__slots__), "id": fixed_id(1), "url": "https://x.test"}
    assert_payload("system.webhook_disabled", webhook_rules.disabled_payload(Webhook(**fields)))
