"""Aliases and forwards behind the recipients of a message: how far outside they lead, and what they are counted for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE, OTHER, Api, reason


def limit(api: Api, *, expansion: int = 100, forwards: int = 10_000) -> None:
    settings = api.app.settings
    api.app.settings = replace(
        settings,
        limits=replace(settings.limits, external_expansion=expansion),
        abuse=replace(settings.abuse, forward_per_hour=forwards),
    )


async def forwarded(api: Api, domain: str = EXAMPLE) -> int:
    (row,) = await api.sql("SELECT forwarded_copies(%(at)s, %(domain)s) AS n", at=api.clock(), domain=domain)
    return row["n"]


async def test_a_send_to_an_alias_is_counted_for_the_domain_that_forwards(post: Post) -> None:
    """One counted recipient became as many external messages as its alias had."""
    limit(post.api, forwards=5)
    await post.api.alias(f"team@{OTHER}", ["a@far.test", "b@far.test", "c@far.test"])
    await post.api.alias(f"nested@{EXAMPLE}", [f"team@{OTHER}", "d@far.test"])
    assert (await post.send(to=[{"email": f"Nested+x@{EXAMPLE}"}, {"email": "x@far.test"}])).status == 200
    assert (await forwarded(post.api), await forwarded(post.api, OTHER)) == (4, 0)
    refused = await post.send(to=[{"email": f"nested@{EXAMPLE}"}])
    assert (refused.status, refused.code, reason(refused)) == (429, "RATE_LIMIT_EXCEEDED", "forward_rate")
    assert "retry-after" in refused.headers
    assert (await post.send(to=[{"email": f"team@{OTHER}"}])).status == 200
    post.api.clock.advance(minutes=62)
    assert (await post.send(to=[{"email": f"nested@{EXAMPLE}"}])).status == 200


async def test_a_recipient_that_leads_too_far_outside_is_invalid(post: Post) -> None:
    limit(post.api, expansion=3)
    await post.api.sql("UPDATE routing_settings SET external_expansion = 3 RETURNING hostname")
    await post.api.alias(f"four@{EXAMPLE}", [f"{name}@far.test" for name in "abcd"])
    await post.api.alias(f"two@{EXAMPLE}", ["a@far.test", "b@far.test"])
    await post.api.alias(f"@{OTHER}", ["e@far.test", "f@far.test"])
    refused = await post.send(to=[{"email": "x@far.test"}], cc=[{"email": f"Four@{EXAMPLE.upper()}"}])
    assert (refused.status, refused.code) == (400, "INVALID_RECIPIENT")
    assert refused.json["error"]["details"] == {"field": "cc", "index": 0, "reason": "expansion_limit"}
    together = [{"email": f"two@{EXAMPLE}"}, {"email": f"anyone@{OTHER}"}]
    assert (await post.send(to=together)).json["error"]["details"]["index"] == 1
    batch = {"messages": [letter(to=[each]) for each in together] + [letter(to=together)]}
    answer = await post.api.sue.post("/send/batch", batch)
    errors = [each.get("error") for each in answer.data["results"]]
    assert errors[:2] == [None, None]
    assert errors[2].startswith(f"to[1].email: anyone@{OTHER} forwards the message to too many external recipients")
    assert await forwarded(post.api) == 2


async def test_what_is_not_submitted_is_taken_back(post: Post) -> None:
    await post.api.alias(f"two@{EXAMPLE}", ["a@far.test", "b@far.test"])
    await post.api.suspension(f"shop@{EXAMPLE}")
    assert (await post.send(to=[{"email": f"two@{EXAMPLE}"}])).code == "MAILBOX_SUSPENDED"
    assert await forwarded(post.api) == 0


@pytest.mark.parametrize("keep_copy", [True, False])
async def test_the_embedded_listener_counts_what_it_forwards(post: Post, *, keep_copy: bool) -> None:
    limit(post.api, forwards=3)
    alice = await post.api.mailbox()
    forward = {"destinations": ["a@far.test", "b@far.test"], "keep_copy": keep_copy}
    assert (await post.api.sue.patch(f"/mailboxes/{alice}", {"forward": forward})).status == 200
    bob = await post.api.mailbox(f"bob@{EXAMPLE}")
    assert (await post.deliver(f"alice@{EXAMPLE}")).code == 250
    assert await forwarded(post.api) == 2
    result = await post.deliver(f"alice@{EXAMPLE}", f"bob@{EXAMPLE}")
    assert result.refused[f"alice@{EXAMPLE}"][0] == 450
    assert (result.code, len(post.mail_of(bob))) == (250, 1)
    post.api.clock.advance(minutes=62)
    assert (await post.deliver(f"alice@{EXAMPLE}")).code == 250


async def test_the_embedded_listener_limits_the_copies_of_a_message(post: Post) -> None:
    limit(post.api, expansion=3)
    await post.api.sql("UPDATE routing_settings SET external_expansion = 3 RETURNING hostname")
    for name in ("one", "two"):
        await post.api.alias(f"{name}@{EXAMPLE}", [f"{name}{n}@far.test" for n in (1, 2)])
    await post.api.alias(f"four@{EXAMPLE}", [f"{name}@far.test" for name in "abcd"])
    result = await post.deliver(*(f"{name}@{EXAMPLE}" for name in ("one", "two", "four")))
    assert result.code == 250
    assert {address: text[:5] for address, (_, text) in result.refused.items()} == {
        f"two@{EXAMPLE}": "4.5.3",
        f"four@{EXAMPLE}": "5.7.1",
    }
