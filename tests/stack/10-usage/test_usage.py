"""Mailbox usage and last login in the API, whatever changes them."""

import asyncio
import imaplib
import os
import poplib
import signal
import smtplib
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, LiteralString

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import service_status
from mailkeep.run.runtime.context import open_app
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually, letter, trusting
from tests.support.processes import children

# Dovecot reports changes in an open folder ten seconds after the change.
OPEN_SESSION = 60
BODY = ("0123456789" * 7 + "\r\n") * 2_000


def shown(stack: Stack, mailbox: Mapping[str, Any]) -> dict[str, Any]:
    """The mailbox as the API shows it."""
    return stack.do("GET", f"/mailboxes/{mailbox['id']}")


def holds(stack: Stack, mailbox: Mapping[str, Any], messages: int, seconds: float = 60) -> int:
    """Wait until the API shows `count` messages; returns the bytes shown, an estimate after a delivery."""
    seen = eventually(
        lambda: (now := shown(stack, mailbox))["message_count"] == messages and now,
        seconds,
        f"the figure {messages} of {mailbox['address']}",
    )
    return seen["used_bytes"]


def stored(stack: Stack, address: str) -> int:
    """Dovecot's count of all folders, in bytes."""
    with stack.imap(address) as client:
        folders = [line.rpartition(b' "/" ')[2].decode() for line in client.list()[1] if isinstance(line, bytes)]
        sizes = 0
        for folder in folders:
            state, (count, *_) = client.select(folder, readonly=True)
            if state != "OK" or count == b"0":  # one that is offered, and not there yet; one that is empty
                continue
            for line in client.fetch("1:*", "(RFC822.SIZE)")[1]:
                sizes += int(line.rpartition(b"RFC822.SIZE ")[2].rstrip(b")")) if isinstance(line, bytes) else 0
        return sizes


def exact(stack: Stack, mailbox: Mapping[str, Any], messages: int, seconds: float = 60) -> int:
    """Wait until the API shows `count` messages and the bytes that Dovecot counts; returns the bytes."""
    holds(stack, mailbox, messages, seconds)
    size = stored(stack, mailbox["address"])

    def same() -> bool:
        now = shown(stack, mailbox)
        return (now["message_count"], now["used_bytes"]) == (messages, size)

    eventually(same, 90, f"the {size} bytes of {mailbox['address']}")
    return size


def received(stack: Stack, mailbox: Mapping[str, Any], messages: int) -> None:
    """Wait until the history has `count` messages delivered to the mailbox."""
    path = f"/messages?mailbox_id={mailbox['id']}&status=received"
    eventually(lambda: len(stack.do("GET", path)) == messages, what=f"{messages} messages for {mailbox['address']}")


def logged_in(stack: Stack, mailbox: Mapping[str, Any], protocol: str) -> dict[str, Any]:
    """The last login, once it is one by this protocol."""
    return eventually(
        lambda: (last := shown(stack, mailbox)["last_login"])["protocol"] == protocol and last, what=protocol
    )


@contextmanager
def held(stack: Stack, query: LiteralString, mailbox_id: str) -> Generator[None]:
    """A transaction in the instance's database that stays open meanwhile."""
    loop = asyncio.new_event_loop()

    async def begin() -> Any:
        context = open_app(stack.data_dir)
        app = await context.__aenter__()
        transaction = app.db.tx()
        conn = await transaction.__aenter__()
        await conn.execute(query, {"id": mailbox_id})
        return context, transaction

    context, transaction = loop.run_until_complete(begin())
    try:
        yield
    finally:
        loop.run_until_complete(transaction.__aexit__(None, None, None))
        loop.run_until_complete(context.__aexit__(None, None, None))
        loop.close()


def test_mail_that_comes_moves_and_goes(stack: Stack):
    domain = stack.make_domain("figures.test")
    alice, bob = (stack.make_mailbox(domain, name) for name in ("alice", "bob"))
    assert (alice["used_bytes"], alice["message_count"]) == (0, 0)
    stack.deliver(alice["address"], "One", body=BODY)
    stack.deliver(alice["address"], "Two")
    stack.deliver(bob["address"], "One")
    received(stack, alice, 2)
    received(stack, bob, 1)
    holds(stack, alice, 2, 40)
    holds(stack, bob, 1, 40)
    exact(stack, alice, 2)
    exact(stack, bob, 1)
    with stack.imap(alice["address"]) as client:
        client.select("INBOX")
        client.copy("1:2", "Trash")
        client.append("INBOX", "", "", letter(alice["address"], "Appended").encode())
        client.store("2", "+FLAGS", r"\Deleted")
        client.expunge()
    used = exact(stack, alice, 4)
    assert stack.do("GET", f"/domains/{domain}")["usage"]["bytes"] == used + shown(stack, bob)["used_bytes"]
    with stack.imap(alice["address"]) as client:
        client.delete("Trash")
    exact(stack, alice, 2)


def test_copies_filed_by_sieve_are_counted(stack: Stack):
    domain = stack.make_domain("sieved.test")
    alice = stack.make_mailbox(domain, "alice")
    stack.deliver(alice["address"])
    exact(stack, alice, 1)
    home = stack.data_dir / "mail" / alice["id"]
    script = home / "sieve.active"
    script.write_text(
        'require ["fileinto", "copy", "mailbox"];\n'
        'if header :is "Subject" "Gone" { discard; stop; }\nfileinto :copy :create "Twice";\n'
    )
    os.chown(script, home.stat().st_uid, home.stat().st_gid)
    for _ in range(2):
        stack.deliver(alice["address"], "Gone")
    received(stack, alice, 3)
    time.sleep(1.5)  # the estimate is written by now, or was replaced by a count
    exact(stack, alice, 1)
    stack.deliver(alice["address"], "Kept")
    eventually(lambda: len(stack.mail_of(alice["address"])) == 2)  # not an earlier estimate
    exact(stack, alice, 3)
    assert len(stack.mail_of(alice["address"])) == 2


def test_changes_in_an_open_session_are_counted(stack: Stack):
    domain = stack.make_domain("open.test")
    alice = stack.make_mailbox(domain, "alice")
    with stack.imap(alice["address"]) as client:
        for _ in range(2):
            client.append("INBOX", "", "", letter(alice["address"]).encode())
        client.select("INBOX")
        client.store("1", "+FLAGS", r"\Deleted")
        client.expunge()
        assert holds(stack, alice, 1, OPEN_SESSION) > 100


def test_the_last_login_by_each_protocol(stack: Stack):
    domain = stack.make_domain("lastlogin.test")
    alice = stack.make_mailbox(domain, "alice")
    address = alice["address"]
    assert shown(stack, alice)["last_login"] == {"at": None, "protocol": None, "ip": None}
    with pytest.raises(Exception, match="AUTHENTICATIONFAILED"):
        stack.imap(address, PASSWORD + "!")
    stack.deliver(address)
    holds(stack, alice, 1)
    assert shown(stack, alice)["last_login"]["at"] is None
    stack.imap(address).logout()
    by_imap = logged_in(stack, alice, "imap")
    assert by_imap["ip"] == ADDRESS
    client = poplib.POP3_SSL(ADDRESS, stack.ports["pop3s"], timeout=30, context=trusting())
    client.user(address)
    client.pass_(PASSWORD)
    client.dele(1)
    client.quit()
    by_pop3 = logged_in(stack, alice, "pop3")
    assert by_pop3["at"] > by_imap["at"]
    assert holds(stack, alice, 0) == 0
    stack.login(address).quit()
    assert logged_in(stack, alice, "smtp")["at"] > by_pop3["at"]
    assert shown(stack, alice)["updated_at"] == alice["updated_at"]


def test_a_quota_is_reached_and_freed_and_changed(stack: Stack):
    domain = stack.make_domain("quota.test")
    alice = stack.make_mailbox(domain, "alice", quota_bytes=200_000)
    address = alice["address"]

    def delivered(subject: str) -> None:
        with stack.smtp() as client:
            client.sendmail(f"sender@{domain}.test", [address], letter(address, subject, body=BODY))

    delivered("Fits")
    used = exact(stack, alice, 1)
    assert 144_000 < used < 200_000
    with pytest.raises(smtplib.SMTPRecipientsRefused) as full:
        delivered("Does not")
    assert full.value.recipients[address][0] == 452
    assert shown(stack, alice)["message_count"] == 1
    with stack.imap(address) as client:
        assert f"(STORAGE {-(-used // 1024)} 196)".encode() in client.getquotaroot("INBOX")[1][1][0]  # KiB, rounded up
        client.select("INBOX")
        client.store("1", "+FLAGS", r"\Deleted")
        client.expunge()
    assert holds(stack, alice, 0) == 0
    delivered("Fits again")
    holds(stack, alice, 1)
    stack.do("PATCH", f"/mailboxes/{alice['id']}", {"quota_bytes": 400_000})
    with stack.imap(address) as client:
        assert b" 391)" in client.getquotaroot("INBOX")[1][1][0]
    delivered("Fits by the new quota")
    assert holds(stack, alice, 2) > 200_000


def test_a_session_ends_when_its_mailbox_gets_another_address(stack: Stack):
    domain = stack.make_domain("renamed.test")
    first = stack.make_mailbox(domain, "alice")
    stack.deliver(first["address"])
    holds(stack, first, 1)
    client = stack.imap(first["address"])
    client.select("INBOX")
    stack.do("PATCH", f"/mailboxes/{first['id']}", {"local_part": "alicia"})
    second = stack.make_mailbox(domain, "alice")

    def ended() -> bool:
        try:
            client.noop()
        except (imaplib.IMAP4.abort, OSError):
            return True
        return False

    eventually(ended, what="the end of the session")
    client.shutdown()
    with stack.imap(first["address"]) as client:
        client.append("INBOX", "", "", letter("alice@renamed.test").encode())
    holds(stack, second, 1)
    assert shown(stack, first)["message_count"] == 1


def test_a_locked_mailbox_row_delays_neither_login_nor_delivery(stack: Stack):
    domain = stack.make_domain("locked.test")
    alice, bob = (stack.make_mailbox(domain, name) for name in ("alice", "bob"))
    with held(stack, "SELECT id FROM mailboxes WHERE id = %(id)s FOR UPDATE", alice["id"]):
        began = time.monotonic()
        stack.deliver(alice["address"])
        stack.deliver(bob["address"])
        eventually(lambda: stack.mail_of(alice["address"]))
        assert time.monotonic() - began < 40
        holds(stack, bob, 1)
        assert shown(stack, alice)["message_count"] == 0
    exact(stack, alice, 1)
    logged_in(stack, alice, "imap")


def test_unreported_changes_are_counted(alone: Stack):
    """Ten minutes after the last count, and in the first round of the node agent."""
    stack = alone
    domain = stack.make_domain("lost.test")
    alice = stack.make_mailbox(domain, "alice")
    stack.deliver(alice["address"])
    exact(stack, alice, 1)
    socket = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).usage_socket
    elsewhere = socket.with_name("figures.away")
    socket.rename(elsewhere)
    try:
        with stack.imap(alice["address"]) as client:
            client.append("INBOX", "", "", letter(alice["address"], "While nobody listened").encode())
    finally:
        elsewhere.rename(socket)
    assert shown(stack, alice)["message_count"] == 1
    kill(stack, "node")
    exact(stack, alice, 2, 90)


def test_changes_pending_in_killed_agents_are_counted(alone: Stack):
    """One has not written the deliveries yet, the other not counted them."""
    domain = alone.make_domain("agents-killed.test")
    alice = alone.make_mailbox(domain, "alice")
    alone.deliver(alice["address"])
    exact(alone, alice, 1)
    alone.deliver(alice["address"])
    received(alone, alice, 2)
    kill(alone, "lmtp")
    kill(alone, "node")
    exact(alone, alice, 2, 90)
    alone.deliver(alice["address"])
    exact(alone, alice, 3)


def test_a_hanging_usage_process_is_restarted_and_delays_no_delivery(alone: Stack):
    domain = alone.make_domain("figureshang.test")
    alice = alone.make_mailbox(domain, "alice")
    before = _pid(alone, "usage")
    os.kill(before, signal.SIGSTOP)
    alone.deliver(alice["address"])
    holds(alone, alice, 1, 30)
    eventually(lambda: _pid(alone, "usage") not in (0, before), 90, "the process")
    with alone.imap(alice["address"]) as client:
        client.append("INBOX", "", "", letter(alice["address"], "Once it is back").encode())
    exact(alone, alice, 2)


def test_a_database_outage_delays_no_session_and_loses_no_counts(alone: Stack):
    domain = alone.make_domain("nodatabase.test")
    alice = alone.make_mailbox(domain, "alice")
    address = alice["address"]
    alone.deliver(address)
    holds(alone, alice, 1)
    client = alone.imap(address)
    server = _postgres(alone)
    os.kill(server, signal.SIGSTOP)
    try:
        began = time.monotonic()
        client.append("INBOX", "", "", letter(address).encode())
        client.append("INBOX", "", "", letter(address).encode())
        client.select("INBOX")
        client.store("1", "+FLAGS", r"\Deleted")
        client.expunge()
        client.logout()
        assert time.monotonic() - began < 25
    finally:
        os.kill(server, signal.SIGCONT)
        os.kill(server, signal.SIGKILL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            alone.deliver(address, "Once it is back")
            break
        except (smtplib.SMTPException, OSError):
            time.sleep(0.5)

    def read() -> bool:
        with suppress(imaplib.IMAP4.error):  # logins may still be refused for a moment
            return len(alone.mail_of(address)) == 3
        return False

    eventually(read, 90)
    exact(alone, alice, 3, 90)
    logged_in(alone, alice, "imap")


def kill(stack: Stack, name: str) -> None:
    """Kill one of our processes, and wait for the next of its name."""
    before = _pid(stack, name)
    os.kill(before, signal.SIGKILL)
    eventually(lambda: _pid(stack, name) not in (0, before), 90, name)


def _pid(stack: Stack, name: str) -> int:
    """The process ID by name, 0 while it is down."""
    services = service_status.list_services(run_folder(stack.data_dir))
    return next((each.pid for each in services if each.name == name and each.pid), 0)


def _postgres(stack: Stack) -> int:
    """The database server, which is the supervisor's child."""
    up = int((stack.data_dir / "lock").read_text())
    return next(pid for pid in children(up) if Path(f"/proc/{pid}/comm").read_text() == "postgres\n")
