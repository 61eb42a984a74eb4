"""Vacation replies beside forwards and the owner's script: to whom, when, signed, and without loops."""

from __future__ import annotations

import email
import email.policy
import json
import os
import signal
import smtplib
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import dkim
import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import service_status
from tests.stack.harness import HOSTNAME, Stack, eventually, letter
from tests.support.processes import children

SERVER = "198.51.100.7"
NAME = f"vacation-{os.getpid()}.test"  # each process of the test run has its own domain
FILE_NEWS = 'require ["fileinto", "mailbox"];\nfileinto :create "News";\n'
AWAY = "I am away until Monday."


def places(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


@pytest.fixture(scope="session")
def domain(stack_folder: Path) -> str:
    stack = Stack(stack_folder)
    stack.publish("asker.test", "MX", f'@ TXT "v=spf1 ip4:{SERVER} -all"')
    return stack.make_domain(NAME)


def set_vacation(stack: Stack, mailbox: dict[str, Any], **fields: Any) -> list[str]:
    body = {"subject": "Away", "text": AWAY} | fields
    return stack.do("PUT", f"/mailboxes/{mailbox['id']}/vacation", body)["warnings"]


def set_script(stack: Stack, mailbox: dict[str, Any], script: str) -> None:
    stack.do("PUT", f"/mailboxes/{mailbox['id']}/sieve/main", {"script": script})
    stack.do("POST", f"/mailboxes/{mailbox['id']}/sieve/main/activate")


def new_sender(local_part: str = "asker", domain: str = "asker.test") -> str:
    return f"{local_part}{time.time_ns()}@{domain}"


def write(stack: Stack, to: str, sender: str | None = None, content: str = "", mail_from: str | None = None) -> str:
    """A message from a server with SPF for asker.test; returns its sender."""
    sender = sender or new_sender()
    with stack.afar(SERVER) as client:
        envelope_sender = sender if mail_from is None else mail_from
        client.sendmail(envelope_sender, [to], content or letter(to, sender=sender))
    return sender


def read(content: bytes) -> EmailMessage:
    message = email.message_from_bytes(content, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def wait_until_sent(stack: Stack) -> None:
    """Wait until neither the spool nor the queue has a message."""

    def is_empty() -> bool:
        command = ["postqueue", "-c", str(places(stack).postfix_conf), "-j"]
        queue = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
        return not list((places(stack).sieve_spool / "new").iterdir()) and "asker.test" not in queue

    eventually(is_empty, what="an empty spool and queue")


def test_vacation_forward_and_script_apply_to_one_message_and_each_alone(stack: Stack, domain: str) -> None:
    """What a message causes: a signed reply, a copy with a rewritten sender that is counted, a folder."""

    def counted() -> int:
        thresholds = stack.do("GET", f"/abuse/thresholds?scope=domain&id={domain}")
        return thresholds["values"]["forward_per_hour"]["used"]

    answered, reply = "", b""
    for name in ("all", "vacation", "forward", "script", "none"):
        friend = f"friend+{name}@remote.test"
        forward = {"forward": {"destinations": [friend]}} if name in ("all", "forward") else {}
        mailbox = stack.make_mailbox(domain, f"flow-{name}", name="Flo", **forward)
        if name in ("all", "vacation"):
            assert set_vacation(stack, mailbox) == []
        if name in ("all", "script"):
            set_script(stack, mailbox, FILE_NEWS)
        before = counted()
        sender = write(stack, mailbox["address"])
        folder = "News" if name in ("all", "script") else "INBOX"
        (kept,) = eventually(lambda a=mailbox["address"], f=folder: stack.mail_of(a, f), what=f"{name}: the mail")
        assert f"Return-Path: <{sender}>".encode() in kept
        assert folder == "INBOX" or stack.mail_of(mailbox["address"]) == []
        if name in ("all", "forward"):
            stack.arrived(friend)
            envelopes = [json.loads(each.read_text()) for each in (stack.folder / "caught").glob("*.json")]
            (mail_from,) = [each["mail_from"] for each in envelopes if friend in each["rcpt_to"]]
            assert mail_from.startswith("SRS0=")
            assert mail_from.endswith(f"=asker.test={sender.partition('@')[0]}@{HOSTNAME}")
        if name in ("all", "vacation"):
            (reply,) = stack.arrived(sender)
            answered = sender
        wait_until_sent(stack)
        copies = {"all": 2, "vacation": 1, "forward": 1}.get(name, 0)
        eventually(lambda b=before, c=copies: counted() == b + c, what=f"{name}: {copies} counted copies")
        assert len(stack.caught(sender)) == (name in ("all", "vacation"))
    message = read(reply)
    assert (message["From"], message["Subject"]) == (f"flow-vacation@{NAME}", "Away")
    assert message["Auto-Submitted"] == "auto-replied (vacation)"
    assert message.get_content().strip() == AWAY
    keys = stack.do("GET", f"/domains/{domain}/dkim-keys")
    records = {key["dns"]["name"]: key["dns"]["value"].encode() for key in keys}
    assert dkim.DKIM(reply).verify(0, lambda name, timeout=5: records[name.decode().rstrip(".")])
    (row,) = eventually(lambda: stack.do("GET", f"/messages?to={answered}"), what="the history of the reply")
    assert (row["from"], row["source"]) == (f"flow-vacation@{NAME}", "system")


def test_lists_programs_spam_and_unauthenticated_senders_get_no_reply(stack: Stack, domain: str) -> None:
    mailbox = stack.make_mailbox(domain, "quiet")
    to = mailbox["address"]
    set_vacation(stack, mailbox)
    fields = (
        "List-Id: <news.asker.test>", "List-Unsubscribe: <mailto:off@asker.test>", "Precedence: bulk",
        "Precedence: list", "Auto-Submitted: auto-generated", "Auto-Submitted: auto-replied (vacation)",
        "X-Auto-Response-Suppress: OOF",
    )  # fmt: skip
    sent = [write(stack, to, s := new_sender(), letter(to, headers=f"{field}\r\n", sender=s)) for field in fields]
    sent += [write(stack, to, f"{name}@asker.test") for name in ("owner-news", "news-request", "mailer-daemon")]
    sent.append(write(stack, to, new_sender(domain="remote.test")))  # its domain publishes no SPF record
    sent.append(write(stack, to, s := new_sender(), letter(to, sender=s), mail_from=""))
    # Blind carbon copy, or a list without List-Id: the mailbox is not a recipient in the header.
    sent.append(write(stack, to, s := new_sender(), letter("others@asker.test", sender=s)))
    eventually(lambda: len(stack.mail_of(to)) == len(sent), what="all the mail")
    # The filter adds points for the missing fields.
    spam = f"From: {(s := new_sender())}\r\nCc: {to}\r\n\r\nGolden watches: limited offer. Order tonight.\r\n"
    sent.append(write(stack, to, s, spam))
    eventually(lambda: stack.mail_of(to, "Junk"), what="the spam")
    asker = write(stack, to)
    stack.arrived(asker)
    wait_until_sent(stack)
    assert {sender: len(stack.caught(sender)) for sender in sent} == dict.fromkeys(sent, 0)
    assert len(stack.caught(asker)) == 1


def test_one_reply_to_each_sender_within_the_period(stack: Stack, domain: str) -> None:
    mailbox = stack.make_mailbox(domain, "timed")
    address, now = mailbox["address"], datetime.now(UTC)
    past, future = (now - timedelta(minutes=5)).isoformat(), (now + timedelta(hours=1)).isoformat()
    asker, count = new_sender(), 0

    def deliver(sender: str, replies: int) -> None:
        nonlocal count
        count += 1
        write(stack, address, sender)
        eventually(lambda: len(stack.mail_of(address)) == count, what="the mail")
        wait_until_sent(stack)
        eventually(lambda: len(stack.caught(sender)) >= replies, what="the reply")
        assert len(stack.caught(sender)) == replies

    set_vacation(stack, mailbox, start_at=future)
    deliver(asker, 0)
    assert set_vacation(stack, mailbox, end_at=past) != []
    deliver(asker, 0)
    set_vacation(stack, mailbox, active=False)
    deliver(asker, 0)
    set_vacation(stack, mailbox, start_at=past, end_at=future)
    deliver(asker, 1)
    deliver(asker, 1)
    deliver(new_sender(), 1)
    # A new text is a new reply. It is exact, also if it is large and looks like Sieve or MIME.
    text = 'Away: \\ "quoted" ${subject} .\r\n.\n"; discard; "\n--boundary\n' + "ü ☃ " * 3000
    set_vacation(stack, mailbox, subject='Über "Subject" \\', text=text, html=f"<p>{'€' * 30_000}</p>")
    deliver(asker, 2)
    reply = read(stack.caught(asker)[-1])
    assert reply["Subject"] == 'Über "Subject" \\'
    body, html = reply.get_body(("plain",)), reply.get_body(("html",))
    assert body
    assert html
    assert body.get_content().replace("\r\n", "\n") == text.replace("\r\n", "\n")
    assert html.get_content().strip() == f"<p>{'€' * 30_000}</p>"
    stack.do("DELETE", f"/mailboxes/{mailbox['id']}/vacation")
    deliver(new_sender(), 0)


def test_a_mailbox_that_only_forwards_sends_no_reply_and_warns(stack: Stack, domain: str) -> None:
    forward = {"destinations": ["friend+only@remote.test"], "keep_copy": False}
    mailbox = stack.make_mailbox(domain, "onward", forward=forward)
    (warning,) = set_vacation(stack, mailbox)
    assert "only forwards" in warning
    sender = write(stack, mailbox["address"])
    stack.arrived("friend+only@remote.test")
    wait_until_sent(stack)
    assert stack.caught(sender) == []


def test_two_vacations_do_not_loop(stack: Stack, domain: str) -> None:
    mailboxes = [stack.make_mailbox(domain, name) for name in ("ping", "pong")]
    for mailbox in mailboxes:
        set_vacation(stack, mailbox)
    ping, pong = (each["address"] for each in mailboxes)
    with stack.login(ping) as client:
        client.sendmail(ping, [pong], letter(pong, sender=ping))
    (reply,) = eventually(lambda: stack.mail_of(ping), what="the reply")
    assert read(reply)["From"] == pong
    assert reply.count(b"DKIM-Signature:") == 2
    # The script has run when the mail is in the mailbox: an answer to the reply would be in the spool or the queue.
    wait_until_sent(stack)
    assert (len(stack.mail_of(pong)), len(stack.mail_of(ping))) == (1, 1)


def test_two_scripts_do_not_multiply_a_message(stack: Stack, domain: str) -> None:
    """Each redirects to two tags of the other, new ones each time, which Pigeonhole does not recognise as a loop."""
    left, right = (stack.make_mailbox(domain, name) for name in ("left", "right"))
    for mailbox, other in ((left, "right"), (right, "left")):
        set_id = 'if header :regex "Received" "id ([A-Za-z0-9]+)" { set "id" "${1}"; }\n'
        redirects = "".join(f'redirect "{other}+{number}${{id}}@{NAME}";\n' for number in range(2))
        set_script(stack, mailbox, f'require ["variables", "regex"];\n{set_id}{redirects}keep;\n')
    write(stack, f"left+first@{NAME}")
    log_file = stack.data_dir / "log" / "reinjection.log"
    eventually(lambda: f"left@{NAME} has redirected it before" in log_file.read_text(), what="the end")
    wait_until_sent(stack)
    # Deliveries in one LMTP session have the same ID.
    assert 2 <= len(stack.mail_of(left["address"])) <= 5
    assert len(stack.mail_of(right["address"])) == 2


def test_the_reply_comes_from_the_address_that_was_written_to(stack: Stack, domain: str) -> None:
    mailbox = stack.make_mailbox(domain, "person")
    for name in ("sales", ""):
        body = {"domain_id": domain, "source_local_part": name, "destination": mailbox["address"]}
        stack.do("POST", "/aliases", body)
    set_vacation(stack, mailbox)
    for to in (f"sales@{NAME}", f"person+tag@{NAME}"):
        (reply,) = stack.arrived(write(stack, to))
        assert read(reply)["From"] == to
    # A catch-all receives mail for addresses that nobody has: nobody may send from them.
    sender = write(stack, f"anything@{NAME}")
    eventually(lambda: len(stack.mail_of(mailbox["address"])) == 3, what="the mail")
    wait_until_sent(stack)
    assert stack.caught(sender) == []


def test_a_script_replies_once_and_only_as_its_mailbox(stack: Stack, domain: str) -> None:
    mailbox = stack.make_mailbox(domain, "twice")
    stack.make_mailbox(domain, "boss")
    forged = new_sender()
    set_script(
        stack,
        mailbox,
        'require ["vacation", "envelope"];\n'
        f'if envelope "from" "{forged}" {{ vacation :from "boss@{NAME}" "You are fired."; }}\n'
        'else { vacation "The owner is away."; }\n',
    )
    write(stack, mailbox["address"], forged)
    log_file = stack.data_dir / "log" / "reinjection.log"
    eventually(lambda: f"twice@{NAME} may not send as boss@{NAME}" in log_file.read_text(), what="the refusal")
    (reply,) = stack.arrived(write(stack, mailbox["address"]))
    assert b"The owner is away." in reply
    set_vacation(stack, mailbox)
    sender = write(stack, mailbox["address"])
    (reply,) = stack.arrived(sender)
    assert AWAY.encode() in reply
    # A suspended mailbox sends nothing; what its script redirects waits.
    stack.do("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "tried"})
    suspended, friend = write(stack, mailbox["address"]), new_sender("friend")
    eventually(lambda: "sending is suspended" in log_file.read_text(), what="the refusal")
    wait_until_sent(stack)
    set_script(stack, mailbox, f'redirect "{friend}";')
    write(stack, mailbox["address"], mail_from="")
    eventually(
        lambda: f'["{friend}"], "why": "451 4.3.0 sending is suspended"' in log_file.read_text(), what="the pause"
    )
    assert [len(stack.caught(each)) for each in (forged, sender, suspended, friend)] == [0, 1, 0, 0]
    stack.do("POST", f"/mailboxes/{mailbox['id']}/unsuspend")
    stack.arrived(friend)


@pytest.fixture
def patient(alone: Stack) -> Iterator[Stack]:
    """The instance with a Postfix that gives mail up after a day."""
    command = ["-c", str(places(alone).postfix_conf)]
    main = places(alone).postfix_conf / "main.cf"
    before = main.read_text()
    subprocess.run(["postconf", *command, "-e", "maximal_queue_lifetime=1d"], check=True, timeout=30)
    subprocess.run(["postfix", *command, "reload"], check=True, timeout=30, capture_output=True)
    yield alone
    main.write_text(before)
    subprocess.run(["postfix", *command, "reload"], check=True, timeout=30, capture_output=True)


def test_without_the_script_mail_waits_and_is_answered_once(patient: Stack, domain: str) -> None:
    mailbox = patient.make_mailbox(domain, "waiting")
    set_vacation(patient, mailbox)
    socket = places(patient).dovecot_run / "dict-async"
    socket.chmod(0)
    try:
        sender = write(patient, mailbox["address"])
        log_file = places(patient).mail_log
        eventually(
            lambda: f"to=<{mailbox['address']}>" in (text := log_file.read_text(errors="replace"))
            and "451 4.2.0" in text,
            what="the deferral",
        )  # fmt: skip
        assert patient.mail_of(mailbox["address"]) == []
    finally:
        socket.chmod(0o600)
    patient.arrived(sender)
    wait_until_sent(patient)
    assert (len(patient.mail_of(mailbox["address"])), len(patient.caught(sender))) == (1, 1)


def test_without_the_database_the_sender_gets_451_and_nothing_is_lost(patient: Stack, domain: str) -> None:
    mailbox = patient.make_mailbox(domain, "outage", forward={"destinations": ["friend+outage@remote.test"]})
    set_vacation(patient, mailbox)
    up = int((patient.data_dir / "lock").read_text())
    services = service_status.list_services(places(patient).run)
    agent = next(each.pid for each in services if each.name == "lmtp")
    assert agent
    os.kill(up, signal.SIGSTOP)  # services keep running, but are not restarted
    os.kill(agent, signal.SIGSTOP)
    try:
        accepted = write(patient, mailbox["address"])  # it waits for the agent
        server = next(pid for pid in children(up) if Path(f"/proc/{pid}/comm").read_text() == "postgres\n")
        os.kill(server, signal.SIGKILL)

        def is_refused() -> bool:
            with patient.afar(SERVER) as client:
                client.mail(new_sender())
                return client.rcpt(mailbox["address"])[0] == 451

        eventually(is_refused, what="the 451")
    finally:
        os.kill(agent, signal.SIGCONT)
        os.kill(up, signal.SIGCONT)

    def is_taken() -> str:
        try:
            return write(patient, mailbox["address"])
        except (smtplib.SMTPException, OSError):
            return ""

    repeated = eventually(is_taken, 120, "the database")
    for sender in (accepted, repeated):
        # After a reload Postfix skips a message that is being delivered, and retries it a minute later.
        patient.arrived(sender, seconds=150)
    eventually(lambda: len(patient.caught("friend+outage@remote.test")) == 2, what="both copies")
    eventually(lambda: len(patient.mail_of(mailbox["address"])) == 2, what="both messages")
    wait_until_sent(patient)
    assert [len(patient.caught(each)) for each in (accepted, repeated)] == [1, 1]
