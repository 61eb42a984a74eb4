"""Deliveries: what is posted, when it is tried again, and what a bad receiver can't do."""

from __future__ import annotations

from tests.features.webhooks.conftest import Hooks


async def test_an_event_is_posted_once_to_each_who_wants_it(hooks: Hooks):
    all_of_it = await hooks.webhook("/200/all")
    await hooks.webhook("/200/bounces", ("mail.bounced",))
    await hooks.emit("mail.sent", subject="Hello")
    assert await hooks.deliver() == 1
    [posted] = hooks.sink.posted
    assert posted.path == "/200/all"
    [shown] = await hooks.deliveries(all_of_it)
    print(shown, posted)
    assert await hooks.deliver(10**6) == 0
