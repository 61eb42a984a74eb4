"""A killed process is restarted, and no sender gets "user unknown"."""

import contextlib
import imaplib
import os
import signal
import smtplib
import time
from pathlib import Path

import psycopg
import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import child, service_status
from tests.stack.harness import Stack, eventually, letter
from tests.support.processes import children

PARTS = (
    "api", "dovecot", "usage", "keys", "learner", "lmtp", "logs", "milter", "nginx", "node", "policy", "postfix",
    "prefork", "redis", "rspamd", "worker",
)  # fmt: skip


def pid_of(stack: Stack, name: str) -> int | None:
    """The process ID of a service, None while it is down."""
    return next(
        (each.pid for each in service_status.list_services(run_folder(stack.data_dir)) if each.name == name),
        None,
    )


def delivered(stack: Stack, recipient: str, subject: str) -> int:
    """Deliver a message as a mail server does, trying again while it is deferred; returns the number of attempts."""
    tries = 0
    deadline = time.monotonic() + 120
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
    raise AssertionError("two minutes of temporary refusals")


def test_every_killed_service_is_restarted(alone: Stack):
    domain = alone.make_domain("killed.test")
    alone.make_mailbox(domain, "alice")
    # A service that an earlier test killed may still be restarting.
    eventually(lambda: all(pid_of(alone, name) for name in PARTS), what="every part")
    before = {name: pid_of(alone, name) for name in PARTS}
    for number, name in enumerate(PARTS):
        pid = before[name]
        assert pid
        os.kill(pid, signal.SIGKILL)
        delivered(alone, "alice@killed.test", f"While {name} was killed")
        eventually(lambda whose=name, was=pid: pid_of(alone, whose) not in (None, was), 90, name)
        sent = eventually(
            lambda n=number: alone.send("shop@killed.test", f"friend+{n}@remote.test").status == 200,
            90,
            f"after {name}",
        )
        assert sent
    subjects = {f"Subject: While {name} was killed".encode() for name in PARTS}

    def all_there() -> bool:
        found = alone.mail_of("alice@killed.test")
        return subjects == {line for mail in found for line in mail.splitlines() if line.startswith(b"Subject: While")}

    assert eventually(all_there, 90, "the mail")
    for number in range(len(PARTS)):
        assert eventually(lambda n=number: alone.caught(f"friend+{n}@remote.test"), 90)


def database_pid(stack: Stack) -> int:
    """The PostgreSQL server: the supervisor's only child of that name."""
    up = int((stack.data_dir / "lock").read_text())
    return next(pid for pid in children(up) if Path(f"/proc/{pid}/comm").read_text() == "postgres\n")


def database_answers(stack: Stack) -> bool:
    conninfo = f"host={run_folder(stack.data_dir) / 'pg'} user=mailkeep_app dbname=mailkeep connect_timeout=3"
    try:
        with psycopg.connect(conninfo) as conn:
            conn.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def verdicts(stack: Stack, *recipients: str) -> list[int]:
    """The reply of a new connection to RCPT for each."""
    with stack.smtp() as client:
        client.mail("someone@remote.test")
        return [client.rcpt(recipient)[0] for recipient in recipients]


def test_mail_is_deferred_while_the_database_hangs(alone: Stack):
    domain = alone.make_domain("hung.test")
    alone.make_mailbox(domain, "alice")
    server = database_pid(alone)
    held = [server]
    os.kill(server, signal.SIGSTOP)
    try:
        # Processes with open connections are stopped too; the supervisor reaps none of them.
        held += children(server)
        for pid in held[1:]:
            os.kill(pid, signal.SIGSTOP)
        with (
            pytest.raises((smtplib.SMTPException, TimeoutError)) as refused,
            smtplib.SMTP("127.0.0.1", alone.ports["smtp"], timeout=4) as client,
        ):
            client.sendmail("someone@remote.test", ["alice@hung.test"], letter("alice@hung.test"))
        assert "550" not in str(refused.value)
    finally:
        for pid in held:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def test_replies_are_right_immediately_after_a_database_outage(alone: Stack):
    # Postfix and Dovecot themselves retry after a minute, and Postfix caches results for senders and recipients for
    # longer. Only the node agent makes it faster.
    domain = alone.make_domain("away.test")
    alone.make_mailbox(domain, "alice")
    asked = ("alice@away.test", "nobody@away.test")
    assert verdicts(alone, *asked) == [250, 550]
    up, server = int((alone.data_dir / "lock").read_text()), database_pid(alone)
    os.kill(up, signal.SIGSTOP)  # services keep running, but are not restarted
    try:
        os.kill(server, signal.SIGKILL)
        eventually(lambda: verdicts(alone, *asked) == [451, 451], 40, "451 for both")
        with pytest.raises(imaplib.IMAP4.error):
            alone.imap("alice@away.test")
    finally:
        os.kill(up, signal.SIGCONT)
    eventually(lambda: database_answers(alone), 60, "the database")
    back = time.monotonic()
    eventually(lambda: verdicts(alone, *asked) == [250, 550], 40, "the right answers")
    print(f"RCPT is answered right {time.monotonic() - back:.2f} s after the database is back")

    def logs_in() -> bool:
        with contextlib.suppress(imaplib.IMAP4.error), alone.imap("alice@away.test"):
            return True
        return False

    eventually(logs_in, 40, "a login by IMAP")
    print(f"IMAP lets in {time.monotonic() - back:.2f} s after it")
    eventually(lambda: alone.send("alice@away.test", "friend@remote.test").status == 200, 40, "a send by the API")
    delivered(alone, "alice@away.test", "After the database was away")
    assert eventually(lambda: alone.mail_of("alice@away.test"), 90)


def test_a_postlogd_that_hangs_does_not_stop_the_mail(alone: Stack):
    domain = alone.make_domain("hanging.test")
    alone.make_mailbox(domain, "alice")
    master = pid_of(alone, "postfix")
    assert master
    delivered(alone, "alice@hanging.test", "Before")

    def writers() -> list[int]:
        return [pid for pid in child.list_session(master) if Path(f"/proc/{pid}/comm").read_text() == "postlogd\n"]

    for postlogd in eventually(writers, what="postlogd"):
        os.kill(postlogd, signal.SIGSTOP)
    began = time.monotonic()
    eventually(lambda: pid_of(alone, "postfix") not in (None, master), 90, "Postfix")
    assert time.monotonic() - began < 60
    delivered(alone, "alice@hanging.test", "After all")
    assert eventually(lambda: len(alone.mail_of("alice@hanging.test")) == 2)


def test_health_names_each_service_and_one_that_stays_down(alone: Stack):
    def services() -> dict[str, str]:
        return {check["component"]: check["status"] for check in alone.do("GET", "/health")["checks"]}

    eventually(lambda: {name for name, status in services().items() if status == "ok"} >= {*PARTS, "supervisor"})

    def killed_again() -> bool:
        if pid := pid_of(alone, "worker"):  # restarted after a longer pause each time
            with contextlib.suppress(ProcessLookupError):  # it is reported for a moment longer
                os.kill(pid, signal.SIGKILL)
        return services()["worker"] == "degraded"

    eventually(killed_again, 90, "the worker's end")
    eventually(lambda: services()["worker"] == "ok", 90, "its return")
