"""Copies of one message with different verdicts."""

from __future__ import annotations

import os
import signal
import socket
import time
from typing import Any

import psycopg
import pytest

from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import service_status
from tests.stack.harness import Stack, eventually, letter

CLIENT = "198.51.100.7"


@pytest.fixture
def copies(lab: Any) -> Stack:
    """The instance, with the thresholds of a new one."""
    lab.set_policy()
    return lab.stack


def places_of(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


def set_scores(stack: Stack, path: str, junk: float | str, reject: float | str = "off") -> None:
    stack.do("PATCH", f"/{path}/filtering", {"junk_score": junk, "reject_score": reject})


def mailbox(stack: Stack, domain: str, name: str, **more: Any) -> str:
    return stack.make_mailbox(domain, name, **more)["id"]


def alias(stack: Stack, domain: str, name: str, *destinations: str) -> None:
    body = {"domain_id": domain, "source_local_part": name, "destination": ",".join(destinations)}
    stack.do("POST", "/aliases", body)


def deliver(stack: Stack, subject: str, *recipients: str, score: int = 8, headers: str = "", body: str = "Hi.") -> None:
    content = letter(recipients[0], subject, f"X-Test-Score: {score}\r\n{headers}", body)
    with stack.afar(CLIENT) as client:
        assert client.sendmail("someone@remote.test", list(recipients), content) == {}


def folders(stack: Stack, subject: str, *addresses: str) -> list[str]:
    """The folder in which each mailbox has the message, once all have it."""

    def look() -> list[str] | None:
        found = [
            "+".join(
                folder
                for folder in ("INBOX", "Junk")
                for mail in stack.mail_of(address, folder)
                if f"Subject: {subject}\r\n".encode() in mail
            )
            for address in addresses
        ]
        return found if all(found) else None

    return eventually(look, 90, f"{subject} in {addresses}")


def copy_in(stack: Stack, address: str, folder: str, subject: str) -> bytes:
    (found,) = [mail for mail in stack.mail_of(address, folder) if f"Subject: {subject}\r\n".encode() in mail]
    return found


def forwarded(stack: Stack, address: str, subject: str, seconds: float = 90) -> list[bytes]:
    """The copies of a message that another server has, once it has one and the queue is empty."""

    def look() -> list[bytes]:
        return [mail for mail in stack.caught(address) if f"Subject: {subject}\r\n".encode() in mail]

    eventually(look, seconds, f"{subject} for {address}")
    eventually(lambda: not stack.do("GET", "/queue"), seconds, "the end of the queue")
    return look()


def pid_of(stack: Stack, name: str) -> int:
    services = service_status.list_services(run_folder(stack.data_dir))
    return next((service.pid or 0 for service in services if service.name == name), 0)


def kill_agent(stack: Stack) -> None:
    pid = pid_of(stack, "lmtp")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: pid_of(stack, "lmtp") not in (0, pid), 90, "the agent")


def test_one_message_ends_in_three_places(copies: Stack) -> None:
    domain = copies.make_domain("three.test")
    names = ("strict", "plain", "lenient")
    ids = {name: mailbox(copies, domain, name) for name in names}
    addresses = [f"{name}@three.test" for name in names]
    set_scores(copies, f"mailboxes/{ids['strict']}", 4, 5)  # would refuse it, but others do not
    set_scores(copies, f"mailboxes/{ids['lenient']}", 30)
    foreign = (
        "X-Spam: Yes\r\nX-Rspamd-Score: -50\r\nX-Mailkeep-Verdict: inbox\r\n"
        "X-Spamd-Result: forged\r\nX-Mailkeep-Copy: 1\r\n"
    )
    deliver(copies, "First", *addresses, headers=foreign)
    assert folders(copies, "First", *addresses) == ["Junk", "Junk", "INBOX"]
    junk, kept = copy_in(copies, addresses[0], "Junk", "First"), copy_in(copies, addresses[2], "INBOX", "First")
    assert b"X-Spam: Yes\r\nX-Mailkeep-Verdict: junk; score=" in junk
    assert b"; rule=reject_score; scope=mailbox\r\n" in junk
    assert b"X-Spam: Yes" not in kept
    assert b"X-Mailkeep-Verdict: inbox; score=" in kept
    for each in (junk, kept):
        assert each.count(b"X-Spam") == each.count(b"X-Spam: ") + 1  # X-Spamd-Result
        assert each.count(b"X-Mailkeep-Verdict") == 1
        assert b"forged" not in each
        assert b"X-Rspamd" not in each
    rows = copies.do("GET", f"/messages?direction=inbound&domain_id={domain}")
    spam = {row["recipients"][0]["address"]: row["spam"] for row in rows}
    assert [(spam[each]["action"], (spam[each]["decided_by"] or {}).get("rule")) for each in addresses] == [
        ("add header", "reject_score"), ("add header", "junk_score"), ("no action", None),
    ]  # fmt: skip
    assert all("TEST_0" in spam[each]["symbols"] for each in addresses)
    events = copies.do("GET", f"/events?domain_id={domain}&kind=mail.spam")
    assert [each["data"]["spam_action"] for each in events] == ["add header"] * 2
    # A changed threshold holds for the next message.
    set_scores(copies, f"mailboxes/{ids['strict']}", 40)
    set_scores(copies, f"domains/{domain}", 50)
    set_scores(copies, f"mailboxes/{ids['lenient']}", 3)
    deliver(copies, "Second", *addresses)
    assert folders(copies, "Second", *addresses) == ["INBOX", "INBOX", "Junk"]


def test_the_external_copy_of_a_diverted_message_is_forwarded_once(copies: Stack) -> None:
    domains = {name: copies.make_domain(f"{name}.test") for name in ("fwd-strict", "fwd-open", "fwd-shut")}
    strict = mailbox(copies, domains["fwd-strict"], "ann")
    set_scores(copies, f"mailboxes/{strict}", 4)
    set_scores(copies, f"domains/{domains['fwd-open']}", 30)
    alias(copies, domains["fwd-open"], "team", "friend+diverted@remote.test")
    alias(copies, domains["fwd-shut"], "team", "other+diverted@remote.test")
    to = ["ann@fwd-strict.test", "team@fwd-open.test", "team@fwd-shut.test"]
    deliver(copies, "Diverted", *to, headers="ARC-Seal: i=1; a=kept; cv=none\r\n")
    (copy,) = forwarded(copies, "friend+diverted@remote.test", "Diverted")
    assert folders(copies, "Diverted", "ann@fwd-strict.test") == ["Junk"]
    assert copies.caught("other+diverted@remote.test") == []
    head = copy.partition(b"\r\n\r\n")[0]
    assert b"X-Mailkeep" not in head
    assert b"X-Spam:" not in head
    assert b"ARC-Seal: i=1; a=kept" in head
    assert copies.senders("friend+diverted@remote.test")[0].startswith("SRS")

    def row_of(name: str, status: str, **more: str) -> dict[str, Any] | None:
        query = "&".join(f"{key}={value}" for key, value in more.items())
        rows = copies.do("GET", f"/messages?domain_id={domains[name]}&{query}")
        return next((row for row in rows if row["status"] == status), None)

    row = eventually(lambda: row_of("fwd-open", "delivered", direction="outbound"), what="the row of the copy")
    assert (row["source"], row["to"], row["subject"]) == ("system", ["team@fwd-open.test"], "Diverted")
    refused = eventually(lambda: row_of("fwd-shut", "rejected"), what="the row of what is not forwarded")
    assert (refused["recipients"][0]["address"], refused["spam"]["action"]) == ("team@fwd-shut.test", "reject")
    assert copies.do("GET", f"/messages?direction=outbound&domain_id={domains['fwd-shut']}") == []


def test_killed_between_two_groups_nothing_is_lost_or_doubled(copies: Stack) -> None:
    domain = copies.make_domain("groups.test")
    strict = mailbox(copies, domain, "strict")
    set_scores(copies, f"mailboxes/{strict}", 4)
    mailbox(copies, domain, "lenient")
    set_scores(copies, f"domains/{domain}", 30)
    addresses = ["strict@groups.test", "lenient@groups.test"]

    def found(subject: str) -> int:
        held = [mail for each in addresses for name in ("INBOX", "Junk") for mail in copies.mail_of(each, name)]
        return sum(f"Subject: {subject}\r\n".encode() in mail for mail in held)

    with psycopg.connect(socket_urls(places_of(copies).run).owner) as conn:
        conn.execute("LOCK TABLE inbound_claims IN SHARE MODE")  # the first group is delivered and can't be recorded
        deliver(copies, "Grouped", *addresses)
        eventually(lambda: found("Grouped"), 90, "the first group")
        kill_agent(copies)
        assert found("Grouped") == 1
    assert folders(copies, "Grouped", *addresses) == ["Junk", "INBOX"]
    eventually(lambda: not copies.do("GET", "/queue"), 90, "the end of the queue")
    assert folders(copies, "Grouped", *addresses) == ["Junk", "INBOX"]
    rows = copies.do("GET", f"/messages?direction=inbound&domain_id={domain}")
    assert sorted(row["recipients"][0]["address"] for row in rows) == sorted(addresses)


def _make_external(stack: Stack, name: str) -> tuple[list[str], str]:
    """A strict mailbox, and an alias of another domain to an external address: the recipients and this address."""
    inner, outer = stack.make_domain(f"{name}-in.test"), stack.make_domain(f"{name}-out.test")
    set_scores(stack, f"mailboxes/{mailbox(stack, inner, 'ann')}", 4)
    set_scores(stack, f"domains/{outer}", 30)
    alias(stack, outer, "team", f"friend+{name}@remote.test")
    return [f"ann@{name}-in.test", f"team@{name}-out.test"], f"friend+{name}@remote.test"


def _copy_state(conn: psycopg.Connection[Any], recipient: str) -> str:
    row = conn.execute("SELECT state FROM external_copies WHERE recipient = %s", [recipient]).fetchone()
    return row[0] if row else ""


def test_killed_before_the_copy_is_returned_it_is_not_lost(copies: Stack) -> None:
    recipients, address = _make_external(copies, "before")
    link = places_of(copies).returned_smtp
    target = link.readlink()
    link.unlink()
    with (
        socket.socket(socket.AF_UNIX) as silent,
        psycopg.connect(socket_urls(places_of(copies).run).owner, autocommit=True) as conn,
    ):
        try:
            silent.bind(str(link))
            link.chmod(0o666)
            silent.listen()
            deliver(copies, "Before", *recipients)
            eventually(lambda: _copy_state(conn, address) == "returning", what="the marker")
            kill_agent(copies)
        finally:
            link.unlink()
            link.symlink_to(target)
        assert len(forwarded(copies, address, "Before")) == 1
        assert _copy_state(conn, address) == "returned"
    assert folders(copies, "Before", recipients[0]) == ["Junk"]


def test_killed_after_the_copy_was_returned_it_is_not_sent_twice(copies: Stack) -> None:
    recipients, address = _make_external(copies, "after")
    with psycopg.connect(socket_urls(places_of(copies).run).owner, autocommit=True) as conn:
        conn.execute(
            "CREATE FUNCTION test_wait() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END'"
        )
        conn.execute(
            "CREATE TRIGGER test_wait BEFORE UPDATE ON external_copies FOR EACH ROW WHEN (NEW.state = 'returned')"
            " EXECUTE FUNCTION test_wait()"
        )
        try:
            conn.execute("SELECT pg_advisory_lock(4711)")  # neither the agent nor the log's reader can record the copy
            deliver(copies, "After", *recipients)
            eventually(lambda: copies.caught(address), 90, "the copy")
            assert _copy_state(conn, address) == "returning"
            kill_agent(copies)
            time.sleep(3)  # Postfix tries it again meanwhile: the log is not read
            conn.execute("SELECT pg_advisory_unlock(4711)")
            eventually(lambda: _copy_state(conn, address) == "returned", 90, "the end of the copy")
        finally:
            conn.execute("SELECT pg_advisory_unlock_all()")
            conn.execute("DROP TRIGGER test_wait ON external_copies")
            conn.execute("DROP FUNCTION test_wait()")
    assert len(forwarded(copies, address, "After")) == 1
    assert folders(copies, "After", recipients[0]) == ["Junk"]


def test_spam_causes_no_replies_and_redirects(copies: Stack, lab: Any) -> None:
    domain = copies.make_domain("silent.test")
    addresses = ["ann@silent.test", "ben@silent.test"]
    ids = [mailbox(copies, domain, name) for name in ("ann", "ben")]
    set_scores(copies, f"domains/{domain}", 30)
    set_scores(copies, f"mailboxes/{ids[0]}", 4)
    deliver(copies, "Plain", *addresses, score=0)
    assert folders(copies, "Plain", *addresses) == ["INBOX", "INBOX"]  # both have a home
    for each in ids:
        copies.do("PUT", f"/mailboxes/{each}/vacation", {"subject": "Away", "text": "I am away.", "active": True})
        home = copies.data_dir / "mail" / each
        (home / "sieve.active").write_text(f'require ["copy"];\nredirect :copy "to+{each}@remote.test";\n')
        os.chown(home / "sieve.active", home.stat().st_uid, home.stat().st_gid)
    # SPF allows it: only such senders get a reply.
    copies.publish("silent-asks.test", "MX")
    lab.dns.publish("silent-asks.test", "TXT", f"v=spf1 ip4:{CLIENT} -all")
    sender = "asks@silent-asks.test"
    with copies.afar(CLIENT) as client:
        client.sendmail(sender, addresses, letter(", ".join(addresses), "Silent", "X-Test-Score: 8\r\n", sender=sender))
    assert folders(copies, "Silent", *addresses) == ["Junk", "INBOX"]
    (reply,) = copies.arrived(sender)
    assert b"From: <ben@silent.test>" in reply or b"From: ben@silent.test" in reply
    assert len(forwarded(copies, f"to+{ids[1]}@remote.test", "Silent")) == 1
    assert len(copies.caught(sender)) == 1
    assert copies.caught(f"to+{ids[0]}@remote.test") == []


def test_a_full_mailbox_beside_another_verdict(copies: Stack) -> None:
    domain = copies.make_domain("full.test")
    tiny = mailbox(copies, domain, "tiny", quota_bytes=3000)
    set_scores(copies, f"mailboxes/{tiny}", 4)
    set_scores(copies, f"domains/{domain}", 30)
    mailbox(copies, domain, "ben")
    alias(copies, domain, "both", "tiny@full.test", "ben@full.test")
    deliver(copies, "Large", "both@full.test", body="A line that fills a mailbox.\r\n" * 200)
    assert folders(copies, "Large", "ben@full.test") == ["INBOX"]
    rows = eventually(lambda: copies.do("GET", f"/messages?status=rejected&domain_id={domain}"), what="the row of tiny")
    assert rows[0]["recipients"][0]["smtp_code"] == 552
    assert copies.mail_of("tiny@full.test", "Junk") == []
