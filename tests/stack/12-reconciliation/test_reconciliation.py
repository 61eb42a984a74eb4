"""Reconciliation of history and queue: a message missing from queue and log becomes unknown."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import service_status
from tests.stack.harness import Stack, eventually, reconcile

DOMAIN = "settled.test"


def pid_of(stack: Stack, name: str) -> int:
    [pid] = [part.pid for part in service_status.list_services(run_folder(stack.data_dir)) if part.name == name]
    assert pid is not None
    return pid


def log_of(stack: Stack) -> Path:
    return stack.data_dir / "log" / "mail.log"


@contextlib.contextmanager
def nobody_reads(stack: Stack) -> Iterator[None]:
    """Suspend the logs agent."""
    reader = pid_of(stack, "logs")
    os.kill(reader, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(reader, signal.SIGCONT)


def by_hand(stack: Stack, *words: str) -> None:
    """`postsuper`, as an operator calls it."""
    conf = str(stack.data_dir / "postfix" / "conf")
    subprocess.run(["postsuper", "-c", conf, *words], check=True, timeout=30, capture_output=True)


def held(stack: Stack, name: str) -> dict[str, Any]:
    """A message that was deferred once and lies in the queue on hold; its row."""
    assert stack.send(f"shop@{DOMAIN}", f"fail+{name}@remote.test", subject=name).status == 200

    def deferred() -> Any:
        return next(iter(stack.do("GET", f"/messages?direction=outbound&subject={name}&status=deferred")), None)

    row = eventually(deferred, what=f"the deferral of {name}")

    def waits() -> bool:
        by_hand(stack, "-h", row["queue_id"])  # fails during a delivery attempt
        return [each["state"] for each in stack.do("GET", f"/queue?queue_id={row['queue_id']}")] == ["hold"]

    eventually(waits, what=f"the hold of {name}")
    return row


def row_of(stack: Stack, name: str) -> dict[str, Any]:
    found = stack.do("GET", f"/messages?direction=outbound&subject={name}")  # other messages may contain the word
    (row,) = [each for each in found if each["subject"] == name]
    return row


def events_of(stack: Stack, name: str) -> list[str]:
    """The kinds of a message's events."""
    domain = row_of(stack, name)["domain_id"]
    feed = stack.do("GET", f"/events?limit=200&domain_id={domain}")
    return [each["kind"] for each in feed if each["data"].get("subject") == name]


async def test_only_mail_missing_from_queue_and_log_becomes_unknown(alone: Stack) -> None:
    alone.make_domain(DOMAIN)
    kept, removed, lost = (held(alone, name) for name in ("kept", "removed", "lost"))
    eventually(lambda: row_of(alone, "lost")["recipients"][0]["next_attempt_at"] is None, what="the hold")
    by_hand(alone, "-d", removed["queue_id"])
    eventually(lambda: row_of(alone, "removed")["status"] == "failed", what="the removal")
    with nobody_reads(alone):
        read = log_of(alone).stat().st_size
        by_hand(alone, "-d", lost["queue_id"])
        os.truncate(log_of(alone), read - 1000)  # removes its lines, and some that were already read
    await reconcile(alone.data_dir)
    assert row_of(alone, "lost")["status"] == "unknown"
    assert row_of(alone, "kept")["status"] == "deferred", (kept["queue_id"], alone.do("GET", "/queue"))
    os.kill(pid_of(alone, "logs"), signal.SIGKILL)
    await reconcile(alone.data_dir)
    assert row_of(alone, "kept")["queue_id"] == kept["queue_id"]
    assert [row_of(alone, name)["status"] for name in ("kept", "removed", "lost")] == ["deferred", "failed", "unknown"]
    assert events_of(alone, "lost") == ["mail.sent", "mail.bounced", "system.alert"]
    assert events_of(alone, "removed") == ["mail.sent", "mail.bounced", "mail.failed"]
    assert events_of(alone, "kept") == ["mail.sent", "mail.bounced"]
    assert row_of(alone, "removed")["recipients"][0]["diagnostic"] == "Deleted from the queue by an operator"
    by_hand(alone, "-d", kept["queue_id"])
    eventually(lambda: row_of(alone, "kept")["status"] == "failed", what="the end")


def test_mail_with_lost_log_lines_is_followed_by_later_lines(alone: Stack) -> None:
    domain = f"cut.{DOMAIN}"
    alone.make_domain(domain)
    to = subject = ""
    for number in range(10):
        to, subject = f"defer+cut{number}@remote.test", f"cut{number}"
        with nobody_reads(alone):
            read = log_of(alone).stat().st_size
            assert alone.send(f"shop@{domain}", to, subject=subject).status == 200
            tried = f" to=<{to}>,".encode()  # the log has the address before, in a header field that cleanup replaces
            eventually(lambda: tried in log_of(alone).read_bytes()[read:], what="the first try")  # noqa: B023
            os.truncate(log_of(alone), 0)
            if not alone.caught(to):
                break  # else another attempt before the cut was removed too
    eventually(lambda: row_of(alone, subject)["status"] == "delivered", 90, "the delivery")
    assert events_of(alone, subject) == ["mail.sent", "mail.delivered"]
