"""What the filter refuses is in the history; when a process of it is away, nothing is lost or refused wrongly."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import child, service_status
from tests.stack.harness import eventually

GOOD, ANN, EVIL = "203.0.113.10", "ann@good.test", "evil@mailer.test"


def pids(lab: Any, name: str) -> list[int]:
    """All processes of a service."""
    services = service_status.list_services(run_folder(lab.stack.data_dir))
    (pid,) = [each.pid for each in services if each.name == name]
    assert pid
    return child.list_session(pid)


@contextlib.contextmanager
def away(lab: Any, name: str, sent: signal.Signals) -> Iterator[None]:
    """A service is killed or stopped, and not restarted meanwhile."""
    up = int((lab.stack.data_dir / "lock").read_text())
    affected = pids(lab, name)
    os.kill(up, signal.SIGSTOP)
    try:
        for pid in affected:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sent)
        yield
    finally:
        for pid in affected:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        os.kill(up, signal.SIGCONT)


def rows(lab: Any, recipient: str, status: str) -> list[dict[str, Any]]:
    found = lab.stack.do("GET", f"/messages?to={quote(recipient)}&status={status}")
    return [lab.stack.do("GET", f"/messages/{row['id']}") for row in found]


def test_what_is_refused_at_the_end_has_a_row_and_an_event_for_each_recipient(lab: Any) -> None:
    lab.set_policy(alice={"entries": [("deny", "domain", "good.test")]})
    content = lab.build(f"Ann <{ANN}>", score=17, sign="good.test", subject="Refused at the end")
    recipients = ["alice+end@lab.test", "bob+end@lab.test"]
    # A client of its own: at most 60 refused recipients of a client are recorded in a minute.
    assert lab.send("203.0.113.41", EVIL, recipients, content)["data"] == "554 5.7.1 Refused by the recipient's filter"
    (alice,) = eventually(lambda: rows(lab, recipients[0], "rejected"), what="the history's row")
    (bob,) = rows(lab, recipients[1], "rejected")
    for row, name in ((alice, "alice"), (bob, "bob")):
        assert (row["subject"], row["from"], row["mailbox_id"]) == ("Refused at the end", ANN, str(lab.ids[name]))
        (recipient,) = row["recipients"]
        assert (recipient["status"], recipient["smtp_code"], recipient["enhanced_code"]) == ("rejected", 554, "5.7.1")
        assert row["spam"]["action"] == "reject"
        assert row["spam"]["score"] > 15
        assert "TEST_1" in row["spam"]["symbols"]
    assert alice["spam"]["decided_by"]["rule"] == "deny_entry"
    assert alice["spam"]["decided_by"]["scope"] == "mailbox"
    assert bob["spam"]["decided_by"] == {"scope": "server", "rule": "reject_score", "entry_id": None}
    events = lab.stack.do("GET", "/events?kind=mail.spam&limit=200")
    about = [each["data"] for each in events if each["message_id"] in (alice["id"], bob["id"])]
    assert [(each["spam_action"], each["from"]) for each in about] == [("reject", ANN)] * 2
    (hits,) = eventually(lambda: lab.sql.execute("SELECT hits FROM filter_entries WHERE hits > 0").fetchall())
    assert hits == (1,)


def test_a_thousand_recipients_with_long_addresses_are_one_question(lab: Any) -> None:
    lab.set_policy()
    body = {"domain_id": str(lab.ids["lab"]), "source_local_part": "", "destination": "carol@lab.test"}
    catch_all = lab.stack.do("POST", "/aliases", body)
    recipients = [f"{'x' * 58}{number:06}@lab.test" for number in range(1000)]
    try:
        replies = lab.send("203.0.113.42", ANN, recipients, lab.build(ANN, score=17, sign="good.test"))
    finally:
        lab.stack.do("DELETE", f"/aliases/{catch_all['id']}")
    assert {reply[:3] for reply in replies.values()} == {"250", "554"}
    eventually(lambda: count_recorded(lab) >= 50, what="rows")
    assert count_recorded(lab) <= 60, "the limit of rows for a client"


def count_recorded(lab: Any) -> int:
    (row,) = lab.sql.execute("SELECT count(*) FROM message_recipients WHERE address LIKE 'xxxx%'").fetchall()
    return row[0]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_without_an_answer_mail_arrives_and_the_agent_decides(lab: Any, sent: signal.Signals) -> None:
    lab.set_policy(alice={"entries": [("deny", "address", "nobody@good.test")]})
    subject = f"While the listener is {sent.name}"
    before = len(list_alerts(lab))
    with away(lab, "keys", sent):
        began = time.monotonic()
        content = lab.build(ANN, score=17, sign="good.test", subject=subject)
        assert lab.send(GOOD, ANN, ["alice@lab.test"], content)["data"].startswith("250")
        print(f"{sent.name}: {time.monotonic() - began:.1f} s")
        assert lab.find("alice", subject).startswith(b"X-Folder: Junk")
        if sent == signal.SIGSTOP:
            eventually(lambda: filter_status(lab) == "degraded", 90, "the status of the component")
    eventually(lambda: filter_status(lab) == "ok", 90, "the recovery")
    refused = lab.build(ANN, score=17, sign="good.test")
    eventually(lambda: lab.send(GOOD, ANN, ["alice@lab.test"], refused)["data"].startswith("554"), 90, "refusals")
    if sent == signal.SIGSTOP:
        assert list_alerts(lab)[before:] == ["filter_failed", "filter_recovered"]


def list_alerts(lab: Any) -> list[str]:
    events = lab.stack.do("GET", "/events?kind=system.alert&limit=200")
    return [each["data"]["alert"] for each in events if each["data"]["alert"].startswith("filter_")]


def filter_status(lab: Any) -> str:
    (component,) = [
        each for each in lab.stack.do("GET", "/health/details")["components"] if each["component"] == "filter"
    ]
    return component["status"]


def accepts(lab: Any, sender: str = ANN) -> bool:
    replies = lab.send(GOOD, sender, ["alice@lab.test"], lab.build(sender, sign="good.test"))
    return replies.get("data", "").startswith("250")


def test_without_the_filter_mail_waits_at_its_sender(lab: Any) -> None:
    lab.set_policy()
    with away(lab, "rspamd", signal.SIGKILL), lab.stack.afar(GOOD) as smtp:
        code, text = smtp.mail(ANN)
        if code == 250:
            code, text = smtp.rcpt("alice@lab.test")
        if code == 250:
            code, text = smtp.data(lab.build(ANN, sign="good.test"))
        assert code == 451, text
    eventually(lambda: accepts(lab), 90, "normal operation")


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_deny_entries_do_not_wait_for_the_policy_server(lab: Any, sent: signal.Signals) -> None:
    lab.set_policy(alice={"entries": [("deny", "address", ANN)]})
    eventually(lambda: accepts(lab, "other@good.test"), 90, "normal operation")
    with away(lab, "policy", sent), lab.stack.afar(GOOD) as smtp:
        assert smtp.mail(ANN)[0] == 250
        began = time.monotonic()
        assert smtp.rcpt("alice@lab.test")[0] == 250
        assert time.monotonic() - began < 15
    eventually(lambda: lab.send(GOOD, ANN, ["alice@lab.test"], b"x")["alice@lab.test"].startswith("550"), 90)
