"""Whatever is killed comes back, and no sender is told that nobody has his address."""

import os
import signal
import smtplib
import time
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run import child, parts_told
from tests.stack.stand import Stack, eventually, letter

PARTS = (
    "api", "dovecot", "keys", "lmtp", "logs", "node", "nursery", "policy", "postfix", "redis", "rspamd", "worker",
)  # fmt: skip


def pid_of(stack: Stack, name: str) -> int | None:
    """The process of a part, None while it is away."""
    return next((told.pid for told in parts_told.parts_of(run_folder(stack.data_dir)) if told.name == name), None)


def delivered(stack: Stack, recipient: str, subject: str) -> int:
    """Deliver a message as a mail server does, trying again where it is put off; how often it was."""
    tries = 0
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with stack.smtp() as client:
                client.sendmail("someone@remote.test", [recipient], letter(recipient, subject))
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
        except smtplib.SMTPResponseException as error:
            codes = [error.smtp_code]
        except OSError:
            codes = [421]
        else:
            return tries
        assert all(400 <= code < 500 for code in codes), codes
        tries += 1
        time.sleep(0.3)
    raise AssertionError("a minute of temporary refusals")


def test_every_part_that_is_killed_comes_back(alone: Stack):
    domain = alone.make_domain("killed.test")
    alone.make_mailbox(domain, "alice")
    before = {name: pid_of(alone, name) for name in PARTS}
    assert all(before.values()), before
    for number, name in enumerate(PARTS):
        pid = before[name]
        assert pid
        os.kill(pid, signal.SIGKILL)
        delivered(alone, "alice@killed.test", f"While {name} was killed")
        eventually(lambda whose=name, was=pid: pid_of(alone, whose) not in (None, was), 30, name)
        sent = eventually(
            lambda n=number: alone.send("shop@killed.test", f"friend+{n}@remote.test").status == 200,
            30,
            f"after {name}",
        )
        assert sent
    subjects = {f"Subject: While {name} was killed".encode() for name in PARTS}

    def all_there() -> bool:
        found = alone.mail_of("alice@killed.test")
        return subjects == {line for mail in found for line in mail.splitlines() if line.startswith(b"Subject: While")}

    assert eventually(all_there, 40, "the mail")
    for number in range(len(PARTS)):
        assert eventually(lambda n=number: alone.caught(f"friend+{n}@remote.test"), 40)


def test_a_database_that_is_away_puts_senders_off(alone: Stack):
    domain = alone.make_domain("away.test")
    alone.make_mailbox(domain, "alice")
    up = int((alone.data_dir / "lock").read_text())
    server = next(
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if path.read_text().rpartition(")")[2].split()[1] == str(up) and "postgres" in path.read_text()
    )
    os.kill(server, signal.SIGSTOP)
    try:
        with (
            pytest.raises((smtplib.SMTPException, TimeoutError)) as refused,
            smtplib.SMTP("127.0.0.1", alone.ports["smtp"], timeout=4) as client,
        ):
            client.sendmail("someone@remote.test", ["alice@away.test"], letter("alice@away.test"))
        assert "550" not in str(refused.value)
    finally:
        os.kill(server, signal.SIGCONT)
    os.kill(server, signal.SIGKILL)
    began = time.monotonic()
    delivered(alone, "alice@away.test", "After the database was killed")
    assert time.monotonic() - began < 30
    assert eventually(lambda: alone.mail_of("alice@away.test"), 40)


def test_a_postlogd_that_hangs_does_not_stop_the_mail(alone: Stack):
    domain = alone.make_domain("hanging.test")
    alone.make_mailbox(domain, "alice")
    master = pid_of(alone, "postfix")
    assert master
    delivered(alone, "alice@hanging.test", "Before")

    def writers() -> list[int]:
        return [pid for pid in child.session_of(master) if Path(f"/proc/{pid}/comm").read_text() == "postlogd\n"]

    for postlogd in eventually(writers, what="postlogd"):
        os.kill(postlogd, signal.SIGSTOP)
    began = time.monotonic()
    eventually(lambda: pid_of(alone, "postfix") not in (None, master), 40, "Postfix")
    assert time.monotonic() - began < 30
    delivered(alone, "alice@hanging.test", "After all")
    assert eventually(lambda: len(alone.mail_of("alice@hanging.test")) == 2)
