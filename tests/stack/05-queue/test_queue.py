"""The queue as an operator sees it, and its changes in the history."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Any

from mailkeep.mail.postfix import queue as postfix_queue
from tests.stack.harness import Stack, eventually, letter
from tests.support.instance import PROGRAM, ROOT

DOMAIN = "queue.test"


def seconds_apart(stack: Stack, waits: dict[str, Any]) -> float:
    """Seconds between the next attempts in history and queue."""
    (row,) = stack.do("GET", f"/messages?queue_id={waits['queue_id']}")
    if not (found := row["recipients"][0]["next_attempt_at"]):
        return inf
    return abs((datetime.fromisoformat(found) - datetime.fromisoformat(waits["next_attempt_at"])).total_seconds())


def test_queued_mail_is_shown_held_released_and_deleted(stack: Stack, tmp_path: Path) -> None:
    stack.make_domain(DOMAIN)
    recipient = "fail+queue@remote.test"
    assert stack.send(f"shop@{DOMAIN}", recipient, subject="waits").status == 200

    def waiting() -> dict[str, Any] | None:
        """During an attempt the next one is unknown: ask again."""
        (found,) = stack.do("GET", "/queue?state=deferred&recipient=fail%2Bqueue") or [None]
        return found if found and found["next_attempt_at"] else None

    waits = eventually(waiting, what="the deferral")
    assert (waits["sender"], waits["recipients"][0]["address"]) == (f"shop@{DOMAIN}", recipient)
    assert "45" in waits["recipients"][0]["reason"]
    assert waits["next_attempt_at"] > waits["arrived_at"]
    # The queue ID contains the time of the arrival.
    (tmp_path / "deferred").mkdir()
    (tmp_path / "deferred" / waits["queue_id"]).touch()
    oldest = postfix_queue.find_oldest_arrival(tmp_path)
    assert oldest is not None
    assert abs((oldest - datetime.fromisoformat(waits["arrived_at"])).total_seconds()) <= 1
    # Requested each time, because it is retried every few seconds.
    eventually(lambda: (now := waiting()) and seconds_apart(stack, now) < 2.5, what="the same next attempt")

    def act(action: str, **what: object) -> int:
        return stack.do("POST", "/queue/actions", {"action": action, **what})["affected"]

    ours = {"recipient": "fail+queue"}
    assert act("hold", filter=ours, dry_run=True) == 1
    assert act("hold", filter=ours) == 1
    assert [each["queue_id"] for each in stack.do("GET", "/queue?state=hold&recipient=fail%2Bqueue")] == [
        waits["queue_id"]
    ]
    assert act("release", ids=[waits["queue_id"]]) == 1
    assert act("flush", filter=ours) == 1
    # While Postfix moves it from one queue to another, its list may lack it.
    assert eventually(lambda: act("hold", filter=ours), what="the message") == 1
    assert act("delete", filter=ours) == 1
    assert stack.do("GET", "/queue?recipient=fail%2Bqueue") == []
    (row,) = eventually(lambda: stack.do("GET", "/messages?status=failed&subject=waits"), what="the end")
    assert row["recipients"][0]["diagnostic"] == "Deleted from the queue by an operator"


def test_the_command_line_shows_and_empties_it(stack: Stack) -> None:
    def command(*words: str) -> Any:
        done = subprocess.run(
            [*PROGRAM, "queue", *words, "--json", "--data-dir", str(stack.data_dir)],
            cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    stack.make_domain("queue-command.test")
    assert stack.send("shop@queue-command.test", "fail+command@remote.test").status == 200
    hold = {"action": "hold", "filter": {"recipient": "fail+command"}}
    eventually(lambda: stack.do("POST", "/queue/actions", hold)["affected"], what="the message")
    (shown,) = command("list", "--state", "hold", "--recipient", "fail+command")["messages"]
    assert shown["recipients"][0]["address"] == "fail+command@remote.test"
    assert shown["next_attempt_at"] is None
    assert command("act", "delete", "--recipient", "fail+command") == {"affected": 1, "dry_run": False}
    assert command("list", "--recipient", "fail+command") == {"messages": [], "more": False}


def test_an_incident_holds_a_senders_mail_until_its_undo(stack: Stack) -> None:
    domain = stack.make_domain("incident.test")
    team = "team@incident.test"
    alice, _ = (stack.make_mailbox(domain, name, send_as=[team]) for name in ("alice", "bob"))
    for sender, recipient in (("alice", "fail+incident"), ("malice", "fail+bystander")):
        assert stack.send(f"{sender}@incident.test", f"{recipient}@remote.test").status == 200
    # Both send under the address of the team; only what Alice sent is hers.
    for name, recipient in (("alice", "fail+incident-team"), ("bob", "fail+bystander-team")):
        with stack.login(f"{name}@incident.test") as client:
            client.sendmail(team, [f"{recipient}@remote.test"], letter(f"{recipient}@remote.test", sender=team))

    def states(recipient: str = "fail%2Bincident") -> list[str]:
        return [each["state"] for each in stack.do("GET", f"/queue?recipient={recipient}")]

    def act(*actions: str) -> dict[str, Any]:
        subject = {"type": "mailbox", "id": alice["id"]}
        # During an attempt Postfix's list may lack the message.
        incident = stack.do("POST", "/abuse/incidents", {"subject": subject, "actions": actions})
        assert {each["result"] for each in incident["actions"]} == {"done"}, incident
        return incident

    waiting = ["deferred", "deferred"]
    eventually(lambda: (states(), states("fail%2Bbystander")) == (waiting, waiting), what="the deferrals")
    incident = act("hold_queue")
    assert incident["actions"][0]["affected"] == 2
    assert states() == ["hold", "hold"]
    assert "hold" not in states("fail%2Bbystander")
    release = {"action": "release", "filter": {"recipient": "fail+incident"}}
    assert stack.do("POST", "/queue/actions", release)["affected"] == 0  # only the undo releases it
    done = stack.do("POST", f"/abuse/incidents/{incident['id']}/undo")
    assert [each["undo"] for each in done["actions"]] == ["restored"]
    eventually(lambda: "hold" not in states() and states(), what="the release")
    eventually(lambda: states() == waiting, what="another deferral")
    assert act("delete_queue")["actions"][0]["affected"] == 2
    assert states() == []
    assert len(states("fail%2Bbystander")) == 2
