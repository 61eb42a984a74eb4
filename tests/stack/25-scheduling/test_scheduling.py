"""Scheduled messages leave through Postfix, also after their worker was killed; retry flushes the queue."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

from mailkeep.db.instance import run_folder
from tests.stack.harness import Stack, eventually

DOMAIN = "scheduling.test"


def schedule(stack: Stack, recipient: str, seconds: float) -> dict[str, Any]:
    due = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
    sent = stack.send(f"shop@{DOMAIN}", recipient, scheduled_at=due)
    assert (sent.status, sent.data["status"]) == (200, "scheduled"), sent.body
    return sent.data


def test_a_worker_sends_scheduled_messages_also_after_a_kill(stack: Stack) -> None:
    stack.make_domain(DOMAIN)
    soon = schedule(stack, "customer+soon@remote.test", 3)
    eventually(lambda: stack.caught("customer+soon@remote.test"), what="the scheduled message")
    shown = eventually(
        lambda: (row := stack.do("GET", f"/messages/{soon['id']}"))["status"] == "delivered" and row,
        what="its delivery",
    )
    assert shown["message_id"] == soon["message_id"]
    kinds = [each["kind"] for each in stack.do("GET", f"/messages/{soon['id']}/events")]
    assert kinds == ["scheduled", "submitted", "accepted", "delivered"]
    assert stack.content(f"/messages/{soon['id']}/raw")
    later = schedule(stack, "customer+killed@remote.test", 4)
    os.kill(int((run_folder(stack.data_dir) / "pids" / "worker.pid").read_text().split()[0]), signal.SIGKILL)
    assert (
        len(eventually(lambda: stack.caught("customer+killed@remote.test"), 90, "the message of a killed worker")) == 1
    )
    cancelled = schedule(stack, "customer+cancelled@remote.test", 3600)
    assert stack.do("POST", f"/messages/{cancelled['id']}/cancel")["status"] == "cancelled"
    assert later["status"] == "scheduled"


def test_retry_flushes_the_queue(stack: Stack) -> None:
    stack.make_domain(f"retry.{DOMAIN}")
    sent = stack.send(f"shop@retry.{DOMAIN}", "fail+retry@remote.test").data
    path = f"/messages/{sent['id']}"
    eventually(lambda: stack.do("GET", path)["status"] == "deferred", what="the deferral")
    assert stack.do("POST", f"{path}/retry")["id"] == sent["id"]
    eventually(lambda: stack.do("GET", path)["recipients"][0]["attempts"] >= 2, what="another attempt")
    refused = stack.ask("POST", f"/messages/{sent['id']}/resend")
    assert refused.body["error"]["details"]["reason"] == "still_open"
