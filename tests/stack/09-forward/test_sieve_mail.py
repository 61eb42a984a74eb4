"""Mail sent by Sieve: through a private spool and socket, from existing addresses, never lost."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.mailbox import homes as mailbox_homes
from mailkeep.run.runtime import child
from tests.stack.harness import ADDRESS, HOSTNAME, Stack, eventually, letter


def places_of(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


def make_mailbox_with_script(stack: Stack, domain: str, script: str) -> dict[str, Any]:
    """A mailbox whose owner has this script active."""
    mailbox = stack.make_mailbox(stack.make_domain(domain), "alice")
    home = places_of(stack).mail_root / mailbox["id"]
    home.mkdir(mode=0o700)
    path = home / "sieve.active"
    path.write_text(script)
    account = pwd.getpwnam("mailkeep-mail")
    for each in (home, path):
        os.chown(each, account.pw_uid, account.pw_gid)
    return mailbox


def send(stack: Stack, to: str, subject: str) -> str:
    """Deliver a message from outside; returns its unique sender."""
    sender = f"asks+{time.time_ns()}@remote.test"
    with stack.smtp() as client:
        client.sendmail(sender, [to], letter(to, subject, sender=sender))
    return sender


def ask(stack: Stack, to: str, subject: str, domain: str = "asks.test", headers: str = "") -> str:
    """Deliver a message from a server with SPF pass for `asks.test` and none for others; returns its sender."""
    stack.publish("asks.test", "MX", '@ TXT "v=spf1 ip4:198.51.100.7 -all"')
    sender = f"asks+{time.time_ns()}@{domain}"
    with stack.afar("198.51.100.7") as client:
        client.sendmail(sender, [to], letter(to, subject, headers, sender=sender))
    return sender


def pid_of(stack: Stack, name: str) -> int:
    return int((places_of(stack).run / "pids" / f"{name}.pid").read_text().split()[0])


def sessions_of(stack: Stack, address: str) -> str:
    """What `doveadm who` lists for this login, without its header."""
    command = ["doveadm", "-c", str(places_of(stack).dovecot_conf / "dovecot.conf"), "-f", "tab", "who", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    return "".join(line for line in done.stdout.splitlines() if line.startswith(address))


def spooled(stack: Stack) -> list[Path]:
    return list((places_of(stack).sieve_spool / "new").iterdir())


@contextlib.contextmanager
def suspended_postfix(stack: Stack) -> Iterator[None]:
    """Postfix is suspended, idle servers included, then killed; at the end its successor accepts connections."""
    pid = pid_of(stack, "postfix")
    processes = child.list_session(pid)
    for each in processes:
        os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in processes:
            os.kill(each, signal.SIGKILL)

    def has_restarted() -> bool:
        with socket.socket() as probe:
            return pid_of(stack, "postfix") != pid and probe.connect_ex((ADDRESS, stack.ports["smtp"])) == 0

    eventually(has_restarted, what="the next Postfix")


def submit(stack: Stack, mailbox: dict[str, Any], recipient: str) -> None:
    """Submit a message of a mailbox's script like Dovecot."""
    account = pwd.getpwnam("mailkeep-mail")
    program = places_of(stack).dovecot_conf / "bin" / "sendmail"
    done = subprocess.run(
        [str(program), mailbox["id"], "-i", "-f", mailbox["address"], "--", recipient],
        input=letter(recipient).replace("\r\n", "\n").encode(),
        user=account.pw_uid, group=account.pw_gid, extra_groups=[], timeout=60, check=False, capture_output=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_other_account_sends_as_anyone(stack: Stack) -> None:
    places = places_of(stack)
    sockets = [places.postfix_queue / "public" / name for name in ("reinjection", "api")]
    talk = "import socket,sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(3))"
    for account in ("nobody", "dovecot", "postfix", "_rspamd", "mailkeep-mail", "mailkeep"):
        found = pwd.getpwnam(account)
        who = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
        for path in sockets:
            command = ["/usr/bin/python3", "-I", "-c", talk, str(path)]
            tried = subprocess.run(command, **who, capture_output=True, check=False, timeout=60)
            # The queue and its sockets belong to the account postfix.
            assert (tried.returncode == 0) == (account == "postfix"), (account, path, tried.stdout)
        if account != "mailkeep-mail":
            command = ["test", "-w", str(places.sieve_spool / "new")]
            writes = subprocess.run(command, **who, check=False, timeout=60).returncode == 0
            assert writes == (account == "mailkeep"), account
    master = (places.postfix_conf / "master.cf").read_text()
    assert "10589" not in master
    assert [line for line in master.splitlines() if line.startswith("127.0.0.1:") and "afar" not in line][1:] == []
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", 10589), timeout=5):
        pass


def test_sieve_mail_has_the_server_name_and_the_domains_postmaster(stack: Stack) -> None:
    mailbox = make_mailbox_with_script(
        stack,
        "sieve-names.test",
        'require ["reject", "vacation"];\nif header :is "Subject" "No" { reject "Not this."; stop; }\n'
        'vacation :subject "Away" "I am away.";\n',
    )
    # A renewed certificate or the end of a database outage causes a reload.
    conf = places_of(stack).dovecot_conf / "dovecot.conf"
    subprocess.run(["doveadm", "-c", str(conf), "reload"], check=True, timeout=30)
    (rejection,) = stack.arrived(ask(stack, mailbox["address"], "No"))
    (reply,) = stack.arrived(ask(stack, mailbox["address"], "Yes"))
    assert b"From: Postmaster <postmaster@sieve-names.test>" in rejection
    for mail in (rejection, reply):
        head, _, _ = mail.partition(b"\r\n\r\n")
        (message_id,) = [line for line in head.splitlines() if line.lower().startswith(b"message-id:")]
        assert message_id.endswith(f"@{HOSTNAME}>".encode())


def test_unauthenticated_senders_get_no_reply_but_redirects_leave(stack: Stack) -> None:
    """Vacation replies and rejections were sent to any claimed sender."""
    mailbox = make_mailbox_with_script(
        stack,
        "sieve-forged.test",
        'require ["reject", "vacation", "copy"];\n'
        'if header :is "Subject" "No" { reject "Not this."; stop; }\n'
        'redirect :copy "friend+forged@remote.test";\nvacation :subject "Away" "I am away.";\n',
    )
    claims = "X-Rspamd-Action: no action\r\nX-Rspamd-Auth: spf=pass; dmarc=pass\r\n"
    forged = [ask(stack, mailbox["address"], subject, "remote.test", claims) for subject in ("Yes", "No")]
    (_,) = stack.arrived("friend+forged@remote.test")
    log_file = stack.data_dir / "log" / "reinjection.log"

    def dropped() -> int:
        lines = log_file.read_text().splitlines()
        return len([line for line in lines if "may be forged is dropped" in line and mailbox["id"] in line])

    eventually(lambda: dropped() == 2, what="the end of both answers")
    authenticated = [ask(stack, mailbox["address"], subject) for subject in ("Yes", "No")]
    assert [len(stack.arrived(each)) for each in authenticated] == [1, 1]
    eventually(lambda: not spooled(stack), what="an empty spool")
    assert [stack.caught(each) for each in forged] == [[], []]
    # Local mail is answered, because its sender was checked at submission.
    stack.make_mailbox(mailbox["domain_id"], "bob")
    with stack.login("bob@sieve-forged.test") as client:
        bob = "bob@sieve-forged.test"
        client.sendmail(bob, [mailbox["address"]], letter(mailbox["address"], "Yes", sender=bob))
    (reply,) = eventually(lambda: stack.mail_of("bob@sieve-forged.test"), what="a reply to our own user")
    assert b"I am away." in reply


def test_while_postfix_does_not_run_the_message_waits_and_then_leaves_once(alone: Stack) -> None:
    mailbox = make_mailbox_with_script(alone, "sieve-waits.test", "keep;")
    with suspended_postfix(alone):
        submit(alone, mailbox, "friend+waits@remote.test")
    assert len(alone.arrived("friend+waits@remote.test")) == 1
    eventually(lambda: not spooled(alone), what="an empty spool")
    assert len(alone.caught("friend+waits@remote.test")) == 1


def test_no_message_of_the_spool_is_lost_when_its_process_is_killed(alone: Stack) -> None:
    mailbox = make_mailbox_with_script(
        alone, "sieve-killed.test", 'require "copy"; redirect :copy "friend+killed@remote.test";'
    )
    ids: list[str] = []
    for number in range(12):
        if number % 3 == 0:
            pid = pid_of(alone, "reinjection")
            # Otherwise it is being restarted, and its ID may be another process's.
            with contextlib.suppress(ProcessLookupError):
                if pid in child.list_session(pid):
                    os.kill(pid, signal.SIGKILL)
        sender = send(alone, mailbox["address"], f"Number {number}")
        ids.append(sender)
    eventually(lambda: len(alone.mail_of(mailbox["address"])) == len(ids), what="all mail in the mailbox")

    def subjects() -> set[bytes]:
        lines = b"\r\n".join(alone.caught("friend+killed@remote.test")).splitlines()
        return {line.removeprefix(b"Subject: ") for line in lines if line.startswith(b"Subject: ")}

    eventually(lambda: len(subjects()) == len(ids), what="every redirected message")
    eventually(lambda: not spooled(alone), what="an empty spool")


def test_a_message_that_is_cut_off_when_dovecot_is_killed_does_not_leave(stack: Stack) -> None:
    mailbox = make_mailbox_with_script(stack, "sieve-cut.test", "keep;")
    account = pwd.getpwnam("mailkeep-mail")
    program = places_of(stack).dovecot_conf / "bin" / "sendmail"
    recipient = "friend+cut@remote.test"
    caller = (
        "import subprocess, sys, time\n"
        "program = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "program.stdin.write(b'Subject: Cut off\\n\\nThe first half')\n"
        "program.stdin.flush()\n"
        "print(program.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    command = ["/usr/bin/python3", "-I", "-c", caller, str(program), mailbox["id"], "-i", "-f", mailbox["address"]]
    for wait in (0.0, 1.0):  # killed before the program has begun to read, and after
        with subprocess.Popen(
            [*command, "--", recipient], stdout=subprocess.PIPE, start_new_session=True,
            user=account.pw_uid, group=account.pw_gid, extra_groups=[],
        ) as process:  # fmt: skip
            assert process.stdout is not None
            pid = int(process.stdout.readline())
            time.sleep(wait)
            process.kill()
        eventually(lambda pid=pid: not Path(f"/proc/{pid}").exists(), what="the end of the program")
    submit(stack, mailbox, recipient)
    assert b"Cut off" not in b"".join(stack.arrived(recipient))
    eventually(lambda: not spooled(stack), what="an empty spool")
    assert len(stack.caught(recipient)) == 1


def test_an_unknown_recipient_of_ours_bounces_to_the_mailbox(stack: Stack) -> None:
    mailbox = make_mailbox_with_script(
        stack, "sieve-unknown.test", 'if header :is "Subject" "On" { redirect "nobody@sieve-unknown.test"; }'
    )
    send(stack, mailbox["address"], "On")
    (bounce,) = eventually(lambda: stack.mail_of(mailbox["address"]), what="the bounce")
    assert b"nobody@sieve-unknown.test" in bounce
    assert b"Undelivered Mail Returned to Sender" in bounce


def test_what_can_not_be_submitted_is_returned_to_the_mailbox(stack: Stack) -> None:
    mailbox = make_mailbox_with_script(stack, "sieve-returned.test", "keep;")
    submit(stack, mailbox, "no@address@far..test")
    (notice,) = eventually(lambda: stack.mail_of(mailbox["address"]), what="the notification")
    expected_lines = (
        b"From: Mail Delivery System <postmaster@sieve-returned.test>",
        b'report-type="delivery-status"',
        b"Final-Recipient: rfc822; no@address@far..test",
        b"Status: 5.1.3",
        b"Subject: Hello",
    )
    for expected in expected_lines:
        assert expected in notice, notice
    assert spooled(stack) == []


def test_no_file_of_the_home_is_a_mail_folder(stack: Stack) -> None:
    mailbox = make_mailbox_with_script(stack, "phantom.test", 'require "vacation";\nvacation "I am away.";')
    stack.arrived(ask(stack, mailbox["address"], "Hello"))
    with stack.imap(mailbox["address"]) as client:
        folders = sorted(line.rpartition(b" ")[2] for line in client.list()[1] if isinstance(line, bytes))
    assert folders == [b"Drafts", b"INBOX", b"Junk", b"Sent", b"Trash"]
    home = places_of(stack).mail_root / mailbox["id"]
    assert (home / ".dovecot.lda-dupes").exists()


def test_a_mailbox_with_the_old_home_layout_keeps_its_data(stack: Stack) -> None:
    address = "alice@homes.test"
    mailbox = make_mailbox_with_script(
        stack,
        "homes.test",
        'require ["fileinto", "mailbox", "vacation"];\nvacation "Away.";\nfileinto :create "Filed";',
    )
    stack.arrived(ask(stack, address, "Before"))
    with stack.imap(address) as client:
        client.subscribe("Filed")
        client.select("Filed")
        client.store("1", "+FLAGS", "(\\Flagged $Later)")
        found = client.uid("FETCH", "1:*", "(FLAGS)")[1]
        assert found == [b"1 (UID 1 FLAGS (\\Flagged \\Recent $Later))"]
    # After LOGOUT Dovecot still writes in the mailbox, and would make its folders again.
    eventually(lambda: not sessions_of(stack, address), what="the end of the session")
    home = places_of(stack).mail_root / mailbox["id"]
    # The old layout: one folder.
    for path in sorted((home / mailbox_homes.MAILDIR).iterdir()):
        path.rename(home / path.name)
    (home / mailbox_homes.MAILDIR).rmdir()
    old = home.with_name("old-layout")
    old.mkdir()
    home.rename(old / home.name)
    assert mailbox_homes.separate_homes(old) == 1
    assert mailbox_homes.separate_homes(old) == 0
    (old / home.name).rename(home)
    old.rmdir()
    assert home.stat().st_uid == (home / "sieve.active").stat().st_uid == pwd.getpwnam("mailkeep-mail").pw_uid
    with stack.imap(address) as client:
        assert any(b"Filed" in line for line in client.lsub()[1] if isinstance(line, bytes))
        client.select("Filed")
        assert client.uid("FETCH", "1:*", "(FLAGS)")[1] == [b"1 (UID 1 FLAGS (\\Flagged $Later))"]
        assert not any(b"lda-dupes" in line for line in client.list()[1] if isinstance(line, bytes))
    send(stack, address, "After")
    eventually(lambda: len(stack.mail_of(address, "Filed")) == 2, what="mail that the script files")
