"""What is told is what the catalogue says of each kind: to the field, by mail that is really sent and received."""

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


def held(kind: str, data: Any) -> None:
    """Whether the data has exactly the fields of its kind, each of its type, in JSON."""
    told = msgspec.json.decode(msgspec.json.encode(data))
    shaped = msgspec.convert(told, CATALOGUE[kind], strict=True)  # type: ignore[index]
    assert msgspec.to_builtins(shaped) == told, kind


def test_every_kind_has_a_shape_with_words_and_an_example_of_it():
    kinds = set(get_args(Kind))
    assert kinds == set(CATALOGUE)
    for kind, shape in CATALOGUE.items():
        held(kind, shape.example)
        assert shape.__doc__
        for field in msgspec.inspect.type_info(shape).fields:  # type: ignore[union-attr]
            assert isinstance(field.type, msgspec.inspect.Metadata), f"{kind}: {field.encode_name}"


async def test_what_mail_tells_is_what_the_catalogue_says(post: Post):
    await post.api.mailbox(ALICE)
    everybody = ["customer", "bounce", "defer", "fail"]
    sent = await post.send(
        to=[{"email": f"{name}@elsewhere.test"} for name in everybody], tags=["a"], metadata={"n": "1"}
    )
    assert sent.status == 200
    for _ in range(4):
        await post.run_queue(3600)
    assert (await post.deliver(ALICE, content=whole_letter())).code == 250
    assert (await post.deliver(ALICE, content=LETTER + GTUBE)).code == 250
    many = [{"email": f"customer{number}@elsewhere.test"} for number in range(18)]
    assert [(await post.send(to=many)).status for _ in range(2)] == [200, 429]
    events = await post.events()
    assert {kind for kind, _ in events} == {
        *(kind for kind in CATALOGUE if kind.startswith("mail.")),
        "system.suspension",
    }
    for kind, data in events:
        held(kind, data)
        if kind == "mail.received.full":
            async with post.api.app.db.autocommit() as conn:
                held(kind, await receiving.load_full_data(conn, data))
    bounces = [data["bounce_type"] for kind, data in events if kind == "mail.bounced"]
    assert set(bounces) == {"permanent", "temporary"}


async def test_a_suspension_by_hand_is_told_as_well(post: Post):
    mailbox_id = await post.api.mailbox(ALICE)
    assert (await post.api.adam.post(f"/mailboxes/{mailbox_id}/suspend", {"reason": "spam"})).status == 200
    assert await post.events() == [
        ("system.suspension", {"address": ALICE, "domain": EXAMPLE, "reason": "spam", "by": "admin"})
    ]


def test_a_disabled_webhook_is_told_as_the_catalogue_says():
    at = fixed_id(1)
    told: dict[str, Any] = dict.fromkeys(Webhook.__slots__)
    held(
        "system.webhook_disabled",
        webhook_rules.disable_event(Webhook(**{**told, "id": at, "url": "https://x.test"})),
    )
