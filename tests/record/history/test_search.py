"""GET /messages: each filter compared with a model, page by page, by walk and by index."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.address import fold_local
from mailkeep.core.ids import uuid7
from mailkeep.features.record.history import rules
from mailkeep.features.record.messages import service
from mailkeep.features.record.messages.model import DeliveryAttempt, Message, Recipient, ServerReply
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, START, Api
from tests.support.messages import outbound

WORDS = ["Straße", "order", "100%", "a_b", "Приказ", "订单", "invoice", "Ω", "back\\slash", "ab", "'quote"]
PEOPLE = ["jörg@müller.example", "bob@out.test", "shop@example.test", "x_y@out.test"]
BOXES = [UUID(int=(7 << 76) | n) for n in range(3)]
REPLIES = {
    ("google", "mailbox_full"): ServerReply(452, "4.2.2", "The mailbox is full", "gmail-smtp-in.l.google.com"),
    ("google", "rate_limited"): ServerReply(421, "4.7.28", "Too many messages", "alt1.gmail-smtp-in.l.google.com"),
    ("other", "mailbox_full"): ServerReply(552, "5.2.2", "The mailbox is full", "mx.out.test"),
    (None, "bad_domain"): ServerReply(None, "5.4.4", "Host or domain name not found", None),
}
Tried = dict[UUID, list[tuple[str, str | None, str | None]]]
"""The attempts of each message: result, provider and class."""


def some(api: Api, chance: random.Random, number: int) -> Message:
    """A message of the test history; `number` is its position."""
    at = START - timedelta(days=100) + timedelta(hours=number)
    direction = "inbound" if chance.random() < 0.3 else "outbound"
    status = chance.choice(rules.STATUSES[direction])
    domain = chance.choice([EXAMPLE, EXAMPLE, OTHER, None])
    to = chance.sample(PEOPLE, chance.randint(1, 3))
    one = uuid7(at)
    return replace(
        outbound(api, *to),
        id=one,
        message_id=f"<{number % 50}@x.test>",
        queue_id=f"Q{number % 40}",
        direction=direction,
        status=status,
        domain_id=DOMAIN_IDS[domain] if domain else None,
        mailbox_id=chance.choice([*BOXES, None]),
        from_address=chance.choice(PEOPLE),
        to_addresses=to[:1],
        cc_addresses=to[1:2],
        recipients=[Recipient(each, status) for each in to],
        subject=" ".join(chance.choices(WORDS, k=chance.randint(0, 4))),
        tags=chance.sample(["news", "bill", "Ω"], chance.randint(0, 2)),
        created_at=at,
    )


def try_some(chance: random.Random, filed: list[Message]) -> tuple[list[DeliveryAttempt], Tried]:
    """Attempts for most of the outbound messages, with any results."""
    attempts: list[DeliveryAttempt] = []
    tried: Tried = {}
    for one in filed:
        for number in range(chance.randint(0, 4) if one.direction == "outbound" else 0):
            kind = chance.choice(["delivered", "deferred", "bounced", "failed", "relayed", "complained"])
            (provider, name), reply = chance.choice(list(REPLIES.items()))
            to = chance.choice(one.recipients).address
            attempts.append(DeliveryAttempt(uuid7(one.created_at), one.id, one.created_at, kind, to, number, reply))
            if kind in ("delivered", "deferred", "bounced", "failed"):
                tried.setdefault(one.id, []).append((kind, provider, None if kind == "delivered" else name))
    return attempts, tried


def has(text: str, part: str) -> bool:
    return fold_local(part) in fold_local(text)


def matches(one: Message, query: dict[str, str], attempts: Sequence[tuple[str, str | None, str | None]] = ()) -> bool:
    """The filters in Python."""
    if query.keys() & {"provider", "bounce_class"}:
        wanted = tuple(query.get(name) for name in ("status", "provider", "bounce_class"))
        if not any(all(w in (None, got) for w, got in zip(wanted, each, strict=True)) for each in attempts):
            return False
        query = {name: value for name, value in query.items() if name not in ("status", "provider", "bounce_class")}
    recipients = " ".join([each.address for each in one.recipients] + one.to_addresses + one.cc_addresses)
    tests = {
        "direction": lambda v: one.direction == v,
        "status": lambda v: one.status == v,
        "domain_id": lambda v: str(one.domain_id) == v,
        "mailbox_id": lambda v: str(one.mailbox_id) == v,
        "message_id": lambda v: one.message_id.strip("<>") == v.strip("<>"),
        "queue_id": lambda v: one.queue_id == v,
        "tag": lambda v: v in one.tags,
        "from": lambda v: has(one.from_address, v),
        "to": lambda v: has(recipients, v),
        "subject": lambda v: has(one.subject, v),
        "q": lambda v: all(
            any(has(text, word) for text in (one.subject, one.from_address, recipients)) for word in v.split()
        ),
        "since": lambda v: one.created_at.isoformat() >= v,
        "until": lambda v: one.created_at.isoformat() < v,
    }
    return all(tests[name](value) for name, value in query.items())


def queries(chance: random.Random, filed: list[Message]) -> Iterator[dict[str, str]]:
    """Each filter alone, then random combinations."""
    times = [one.created_at.isoformat() for one in filed]
    values: dict[str, list[str]] = {
        "direction": ["inbound", "outbound"],
        "status": [*rules.STATUSES["inbound"], *rules.STATUSES["outbound"]],
        "domain_id": [str(DOMAIN_IDS[EXAMPLE]), str(DOMAIN_IDS[OTHER])],
        "mailbox_id": [str(box) for box in BOXES],
        "message_id": ["<7@x.test>", "8@x.test", "<none@x.test>"],
        "queue_id": ["Q3", "Q99"],
        "tag": ["news", "Ω", "none"],
        "from": ["JÖRG", "müller", "x_y", "x%", "@", "shop@example.test", "nobody"],
        "to": ["Jörg@MÜLLER", "out.test", "x_y@", "zz"],
        "subject": ["STRASSE", "straße ord", "%", "100%", "_", "приказ", "订单", "ω", "\\", "k\\s", "ab", "'"],
        "q": ["order shop@", "PRIC приказ", "订 order", "ab", "invoice order jörg", "a_b  out.test", "nothing"],
        "since": chance.sample(times, 4),
        "until": chance.sample(times, 4),
        "provider": ["google", "other", "yahoo"],
        "bounce_class": ["mailbox_full", "rate_limited", "bad_domain", "content"],
    }
    for name, each in values.items():
        yield from ({name: value} for value in each)
    for _ in range(160):
        names = chance.sample(sorted(values), chance.randint(2, 4))
        yield {name: chance.choice(values[name]) for name in names}


async def listed(client: Any, query: dict[str, str], limit: int, order: str) -> list[str]:
    """All pages of a list."""
    ids: list[str] = []
    cursor = ""
    while True:
        answer = await client.get("/messages", **query, limit=limit, order=order, cursor=cursor or None)
        assert answer.status == 200, answer.body
        assert len(answer.data) <= limit
        ids += [each["id"] for each in answer.data]
        page = answer.json["meta"]["pagination"]
        if not page["has_more"]:
            return ids
        cursor = page["next_cursor"]


@pytest.mark.parametrize("first_walk, longest_walk", [(10, 40), (1000, 40000)], ids=["index early", "walk"])
async def test_every_filter_finds_the_messages_that_the_model_finds(
    api: Api, monkeypatch: pytest.MonkeyPatch, first_walk: int, longest_walk: int
):
    monkeypatch.setattr(rules, "FIRST_WALK", first_walk)
    monkeypatch.setattr(rules, "LONGEST_WALK", longest_walk)
    chance = random.Random(first_walk)
    filed = [some(api, chance, number) for number in range(300)]
    async with api.app.db.tx() as conn:
        await service.insert_messages(conn, filed)
        attempts, tried = try_some(chance, filed)
        await service.record_attempts(conn, attempts)
    await api.sql("ANALYZE messages")
    for query in queries(chance, filed):
        order, limit = chance.choice(["asc", "desc"]), chance.choice([7, 50, 200])
        found = [one for one in filed if matches(one, query, tried.get(one.id, ()))]
        expected = [str(one.id) for one in found]
        assert await listed(api.sue, query, limit, order) == (expected if order == "asc" else expected[::-1]), query
        own = [str(one.id) for one in found if one.domain_id == DOMAIN_IDS[EXAMPLE]]
        if query.get("domain_id") != str(DOMAIN_IDS[OTHER]):
            assert await listed(api.dora, query, 200, "asc") == own, query


async def test_a_caller_sees_only_messages_of_its_domains(api: Api):
    chance = random.Random(3)
    filed = [some(api, chance, number) for number in range(100)]
    async with api.app.db.tx() as conn:
        await service.insert_messages(conn, filed)
    both = await api.key(api.sue, scoped_domain_ids=[str(each) for each in DOMAIN_IDS.values()])
    expected = [str(one.id) for one in filed if one.domain_id is not None][::-1]
    assert await listed(both[0], {}, 30, "desc") == expected
    assert (await api.otto.get("/messages", domain_id=DOMAIN_IDS[EXAMPLE])).code == "FORBIDDEN"
    assert (await api.scoped.get("/messages", domain_id=DOMAIN_IDS[OTHER])).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.sue.get("/messages", domain_id=uuid7(START))).code == "DOMAIN_NOT_FOUND"


def test_the_length_of_walks():
    assert rules.next_walk(1000, 0, 51) is None  # no hit so far: use the index
    assert rules.next_walk(1000, 10, 41) == 8200
    assert rules.next_walk(1000, 1, 50) is None  # longer than the longest walk
    assert rules.next_walk(40_000, 50, 1) is None
    assert rules.index_pays(5_000, 10)
    assert not rules.index_pays(5_000, 1_000_000)  # a common word in a short list
