"""Sends while Postfix restarts, is away for long, or was stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import child, service_status
from tests.stack.harness import Answer, Stack, eventually

SENDER = "shop@restart.test"
LONGEST = 10  # seconds that a request waits
BATCH = 20


@pytest.fixture
def shop(alone: Stack) -> Stack:
    if not alone.do("GET", "/domains?name=restart.test"):
        alone.make_domain("restart.test")
    return alone


def perform(stack: Stack, service: str, action: str) -> None:
    operation_id = stack.ask("POST", f"/orchestrator/services/{service}/{action}").data["operation_id"]
    path = f"/orchestrator/operations/{operation_id}"
    eventually(lambda: stack.do("GET", path)["state"] == "succeeded", 60, f"{action} {service}")


@contextlib.contextmanager
def postfix_killed(stack: Stack) -> Iterator[None]:
    """Postfix is away, as in the middle of a restart: the supervisor does not start it until the end."""
    services = {each["name"]: each for each in stack.do("GET", "/orchestrator")["services"]}
    supervisor = int((stack.data_dir / "lock").read_text())
    os.kill(supervisor, signal.SIGSTOP)
    try:
        for pid in child.list_session(services["postfix"]["pid"]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        yield
    finally:
        os.kill(supervisor, signal.SIGCONT)


def send_batch(stack: Stack, recipient: str) -> Answer:
    message = {"from": {"email": SENDER}, "to": [{"email": recipient}], "subject": "One of many", "text_body": "Hello."}
    return stack.ask("POST", "/send/batch", {"messages": [message] * BATCH})


def attempts(stack: Stack, recipient: str) -> list[dict[str, Any]]:
    return stack.do("GET", f"/messages?to={recipient}&limit=100")


@pytest.mark.timeout(200)
def test_sends_wait_while_postfix_restarts(shop: Stack) -> None:
    one, many = "one@remote.test", "many@remote.test"
    with ThreadPoolExecutor() as pool:
        with postfix_killed(shop):
            single = pool.submit(shop.send, SENDER, one)
            batch = pool.submit(send_batch, shop, many)
            # Postfix is back before a request has waited for too long; on a slow machine not all have begun by then.
            ends = time.monotonic() + LONGEST - 3
            while time.monotonic() < ends and not (attempts(shop, one) and len(attempts(shop, many)) == BATCH):
                time.sleep(0.1)
            assert not single.done()
            assert not batch.done()
        assert single.result(60).status == 200, single.result().body
        results = batch.result(60).data["results"]
        assert [each for each in results if each.get("code")] == []
    eventually(lambda: len(shop.caught(one)) >= 1 and len(shop.caught(many)) >= BATCH, 60, "the mail")
    assert (len(shop.caught(one)), len(shop.caught(many))) == (1, BATCH)


@pytest.mark.timeout(200)
def test_a_batch_waits_for_at_most_ten_seconds_in_all(shop: Stack) -> None:
    with postfix_killed(shop):
        began = time.monotonic()
        results = send_batch(shop, "nobody@remote.test").data["results"]
        waited = time.monotonic() - began
    assert {(each["code"], each["details"]["reason"]) for each in results} == {("SEND_FAILED", "relay")}
    assert LONGEST - 1 < waited < 2 * LONGEST, waited
    eventually(lambda: shop.send(SENDER, "somebody@remote.test").status == 200, 60, "the next Postfix")
    assert shop.caught("nobody@remote.test") == []


@pytest.mark.timeout(200)
def test_nothing_waits_for_a_postfix_that_was_stopped(shop: Stack) -> None:
    perform(shop, "postfix", "stop")
    try:
        run = run_folder(shop.data_dir)
        eventually(lambda: service_status.is_stopped(run, "postfix"), 20, "the state")
        began = time.monotonic()
        answers = [shop.send(SENDER, "stopped@remote.test") for _ in range(3)]
        assert time.monotonic() - began < 2 * LONGEST  # three that wait would take thirty seconds
        assert {(each.status, each.body["error"]["code"]) for each in answers} == {(500, "SEND_FAILED")}
    finally:
        perform(shop, "postfix", "start")
    assert shop.send(SENDER, "started@remote.test").status == 200
