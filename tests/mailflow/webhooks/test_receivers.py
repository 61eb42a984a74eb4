"""Faulty receivers: each kind of failure is recorded, and does not delay other webhooks."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest

from mailkeep.core.clock import iso
from tests.mailflow.webhooks.conftest import Hooks
from tests.support.client import START
from tests.support.webhook_sink import HERE


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


ANSWERED = {
    "/200": (200, "status 200"),
    "/204": (204, ""),
    "/301": (301, "status 301"),
    "/307": (307, "status 307"),
    "/400": (400, "status 400"),
    "/410": (410, "status 410"),
    "/429": (429, "status 429"),
    "/500": (500, "status 500"),
    "/nul": (500, "a\ufffdb \ufffd\ufffd \ufffd\ufffd\ufffd end"),
    "/endless": (200, "x" * 1000),
}
UNANSWERED = {
    "/never-answers": "timeout",
    "/slowly": "timeout",
    "/hangs-up": "protocol",
    "/garbage": "protocol",
}
UNTRUSTED = ("wrong", "expired", "self-signed")


@contextmanager
def never_accepting() -> Iterator[int]:
    """A port whose queue of connections is full."""
    with socket.create_server((HERE, 0), backlog=0) as listener, ExitStack() as fillers:
        port = listener.getsockname()[1]
        for _ in range(4):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex((HERE, port))
        yield port


async def test_each_kind_of_failure_is_recorded_and_retried(hooks: Hooks):
    made = {path: await hooks.webhook(path) for path in (*ANSWERED, *UNANSWERED, "/bomb")}
    untrusted = {kind: await hooks.webhook("/200", kind=kind) for kind in UNTRUSTED}
    with never_accepting() as port, socket.socket() as nobody:
        dead = await hooks.webhook(url=f"https://{HERE}:{port}/")
        nobody.bind((HERE, 0))  # which keeps the port from others, and does not listen
        refused = await hooks.webhook(url=f"https://{HERE}:{nobody.getsockname()[1]}/")
        inside = await hooks.webhook(url="https://localhost/")
        await hooks.api.sql("UPDATE webhooks SET url = 'https://[::1]/' WHERE id = %(id)s", id=inside["id"])
        await hooks.emit()
        begun = time.monotonic()
        await hooks.deliver()
        assert 10 <= time.monotonic() - begun < 29, "10 seconds in all, side by side: else three times that"

    async def ended(webhook: dict[str, Any]) -> dict[str, Any]:
        shown = await hooks.delivery(webhook)
        [attempt] = shown["attempts"]
        well = attempt["status"] in (200, 204)
        assert shown["state"] == ("delivered" if well else "waiting_for_retry"), shown
        # The clock does not advance, so the wait begins with the attempt.
        assert shown["next_attempt_at"] == (None if well else iso(START + timedelta(seconds=30)))
        return attempt

    for path, (status, excerpt) in ANSWERED.items():
        attempt = await ended(made[path])
        assert (attempt["status"], attempt["response_excerpt"], attempt["error"]) == (status, excerpt, None), path
    bomb = await ended(made["/bomb"])
    assert bomb["status"] == 200
    assert bomb["response_excerpt"].startswith("\x1f\ufffd\x08"), "not decompressed"
    for path, error in UNANSWERED.items():
        attempt = await ended(made[path])
        assert attempt["status"] is None
        assert attempt["error"].startswith(error), path
        if error == "timeout":
            assert 9_900 <= attempt["duration_ms"] < 25_000, "a byte a second takes 40"
    for kind, webhook in untrusted.items():
        assert (await ended(webhook))["error"].startswith("tls"), kind
    assert (await ended(dead))["error"].startswith("timeout")
    assert (await ended(refused))["error"].startswith("connect")
    assert (await ended(inside))["error"].startswith("address_refused")
    for webhook in [*made.values(), *untrusted.values(), dead, refused, inside]:
        error = ((await ended(webhook))["error"] or "").replace(f"not valid for '{HERE}'", "")  # as the URL says
        assert not re.search(r"[0-9]+\.[0-9]+\.[0-9]+|::1", error), "internal addresses are not shown"
    redirected = [each for each in hooks.sink.posted if each.path in ("/301", "/307", "/200")]
    assert len(redirected) == 3, "redirects are not followed, nothing is posted to untrusted servers"


@pytest.mark.usefixtures("patient")
async def test_a_slow_receiver_delays_only_its_own_deliveries(hooks: Hooks):
    slow, quick = await hooks.webhook("/200/slow"), await hooks.webhook("/200/quick")
    gate = hooks.sink.gates["/200/slow"] = asyncio.Event()
    for _ in range(40):
        await hooks.emit()
    async with asyncio.timeout(60):
        while len(hooks.sink.at("/200/quick")) < 40 or len(hooks.sink.at("/200/slow")) < 8:
            await hooks.worker._worker.fill()
            await asyncio.sleep(0.01)
    assert len(hooks.sink.at("/200/slow")) == 8
    gate.set()
    await hooks.worker._worker.wait_until_idle()
    await hooks.deliver()
    for webhook in (slow, quick):
        assert {each["state"] for each in await hooks.deliveries(webhook, limit=100)} == {"delivered"}


@pytest.mark.usefixtures("patient")
async def test_claims_alternate_between_webhooks(hooks: Hooks):
    """The first claim includes the only event of one webhook, however many are pending for another."""
    await hooks.webhook("/200/much")
    for _ in range(300):
        await hooks.emit("mail.sent")
    await hooks.webhook("/200/little")
    await hooks.emit("mail.sent")
    gate = hooks.sink.gates["/200/much"] = asyncio.Event()
    begun = await hooks.worker._worker.fill()
    async with asyncio.timeout(60):
        while not hooks.sink.at("/200/little"):
            await asyncio.sleep(0.01)
    assert begun < 20, "a new webhook starts with low concurrency"
    gate.set()
    await hooks.worker._worker.wait_until_idle()


async def test_a_failing_webhook_gets_fewer_concurrent_attempts(hooks: Hooks):
    await hooks.webhook("/500")
    for _ in range(30):
        await hooks.emit()
    sizes: list[int] = []
    while begun := await hooks.worker._worker.fill():
        sizes.append(begun)
        await hooks.worker._worker.wait_until_idle()
    assert sizes[0] == 8
    assert set(sizes[1:]) == {1}
