"""App passwords with real mail clients: scope, expiry, deletion, required app passwords, and what is stored of them."""

from __future__ import annotations

import contextlib
import imaplib
import os
import poplib
import pwd
import re
import smtplib
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from mailkeep.db.instance import run_folder
from mailkeep.db.postgres_cluster import DATABASE
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually, letter, trusting
from tests.stack.mail_sessions import PROTOCOLS, open_managesieve, open_sessions

NEW_PASSWORD = "a password that is new to everybody"


def create(stack: Stack, mailbox: dict[str, Any], name: str = "Phone", **more: object) -> dict[str, Any]:
    return stack.do("POST", f"/mailboxes/{mailbox['id']}/app-passwords", {"name": name} | more)


def shown(stack: Stack, mailbox: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in stack.do("GET", f"/mailboxes/{mailbox['id']}/app-passwords")}


def delete(stack: Stack, mailbox: dict[str, Any], app_password: dict[str, Any]) -> None:
    stack.do("DELETE", f"/mailboxes/{mailbox['id']}/app-passwords/{app_password['id']}")


def by_imap(stack: Stack, address: str, password: str) -> None:
    stack.imap(address, password).logout()


def by_pop3(stack: Stack, address: str, password: str) -> None:
    client = poplib.POP3_SSL(ADDRESS, stack.ports["pop3s"], timeout=60, context=trusting())
    try:
        client.user(address)
        client.pass_(password)
    finally:
        client.close()


def by_sieve(stack: Stack, address: str, password: str) -> None:
    open_managesieve(stack, address, password).close()


def by_submission(stack: Stack, address: str, password: str) -> None:
    with stack.login(address, password) as client:
        client.sendmail(address, [address], letter(address, "By 587", sender=address))


def by_submissions(stack: Stack, address: str, password: str) -> None:
    with smtplib.SMTP_SSL(ADDRESS, stack.ports["submissions"], "client.test", timeout=60, context=trusting()) as client:
        client.login(address, password)
        client.sendmail(address, [address], letter(address, "By 465", sender=address))


CLIENTS: dict[str, tuple[str, Callable[[Stack, str, str], None]]] = {
    "imap": ("imap", by_imap),
    "pop3": ("pop3", by_pop3),
    "sieve": ("sieve", by_sieve),
    "587": ("smtp", by_submission),
    "465": ("smtp", by_submissions),
}


def refusal(client: str, stack: Stack, address: str, password: str) -> str | None:
    """What the client gets as an answer if the password is refused; None if it works."""
    try:
        CLIENTS[client][1](stack, address, password)
    except (imaplib.IMAP4.error, poplib.error_proto, ConnectionRefusedError, smtplib.SMTPAuthenticationError) as error:
        return str(error)
    return None


def refusals(stack: Stack, address: str, password: str) -> dict[str, str | None]:
    """The refusal of each client. All at once: Dovecot delays refusals."""
    with ThreadPoolExecutor(len(CLIENTS)) as pool:
        answer = pool.map(lambda client: refusal(client, stack, address, password), CLIENTS)
        return dict(zip(CLIENTS, answer, strict=True))


def working(stack: Stack, address: str, password: str) -> set[str]:
    return {client for client, answer in refusals(stack, address, password).items() if answer is None}


def test_an_app_password_opens_its_protocols_and_shows_its_last_use(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("apps-scope.test"), "alice")
    everything, sending = create(stack, mailbox), create(stack, mailbox, "Printer", protocols=["smtp"])
    reading = create(stack, mailbox, "Reader", protocols=["imap", "sieve"])
    address = mailbox["address"]
    assert working(stack, address, everything["password"]) == set(CLIENTS)
    assert working(stack, address, sending["password"]) == {"587", "465"}
    assert working(stack, address, reading["password"]) == {"imap", "sieve"}
    assert working(stack, address, PASSWORD) == set(CLIENTS)
    eventually(lambda: all(each["last_used_at"] for each in shown(stack, mailbox).values()), what="the last uses")
    assert {each["last_used_ip"] for each in shown(stack, mailbox).values()} == {ADDRESS}
    assert stack.do("GET", f"/mailboxes/{mailbox['id']}")["last_login"]["ip"] == ADDRESS
    # Mail of such a session is this mailbox's in the history, and only from its addresses.
    with stack.login(address, sending["password"]) as client:
        client.mail("bob@apps-scope.test")
        assert client.rcpt("friend@remote.test")[0] == 553
    rows = eventually(
        lambda: (rows := stack.do("GET", f"/messages?mailbox_id={mailbox['id']}&subject=By%20465"))[2:] and rows
    )
    assert {row["from"] for row in rows} == {address}


@pytest.mark.parametrize("protocol", ["pop3", "smtp"])  # `test_session_ends` has all
def test_a_protocol_that_the_mailbox_does_not_allow_stays_closed(stack: Stack, protocol: str) -> None:
    mailbox = stack.make_mailbox(stack.make_domain(f"apps-without-{protocol}.test"), "alice")
    app_password = create(stack, mailbox)
    with open_sessions(stack, mailbox["address"], app_password["password"]) as sessions:
        stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"protocols": {protocol: False}})
        if protocol == "smtp":
            assert sessions.begin_message()[0] == 421
        else:
            sessions.wait_for_end(protocol)
    closed = {client for client, (name, _) in CLIENTS.items() if name == protocol}
    assert working(stack, mailbox["address"], app_password["password"]) == set(CLIENTS) - closed


@contextlib.contextmanager
def in_idle(stack: Stack, address: str, password: str) -> Iterator[imaplib.IMAP4_SSL]:
    """An IMAP session that waits for changes (RFC 2177)."""
    client = stack.imap(address, password)
    try:
        client.select("INBOX")
        client.send(b"x IDLE\r\n")
        assert client.readline().startswith(b"+")
        yield client
    finally:
        client.shutdown()


def wait_for_end(client: imaplib.IMAP4_SSL, seconds: float = 30) -> None:
    client.sock.settimeout(seconds)
    while client.readline():
        pass


def test_deleting_ends_the_sessions_of_that_app_password_alone(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("apps-deleted.test"), "alice")
    address, (leaving, staying) = mailbox["address"], [create(stack, mailbox, name) for name in ("Leaving", "Staying")]
    with (
        in_idle(stack, address, leaving["password"]) as idle,
        open_sessions(stack, address, leaving["password"]) as ending,
        open_sessions(stack, address, staying["password"]) as others,
        open_sessions(stack, address) as own,
    ):
        delete(stack, mailbox, leaving)
        wait_for_end(idle)
        for protocol in ("imap", "pop3", "sieve"):
            ending.wait_for_end(protocol)
        assert ending.begin_message()[0] == 421
        assert working(stack, address, leaving["password"]) == set()
        for sessions in (others, own):
            assert [protocol for protocol in PROTOCOLS if not sessions.works(protocol)] == []


def test_expiry_ends_open_sessions(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("apps-expired.test"), "alice")
    seconds = 8
    while True:
        expires_at = datetime.now(UTC) + timedelta(seconds=seconds)
        app_password = create(stack, mailbox, f"For {seconds} seconds", expires_at=expires_at.isoformat())
        try:
            with open_sessions(stack, mailbox["address"], app_password["password"]) as sessions:
                for protocol in ("imap", "pop3", "sieve"):
                    sessions.wait_for_end(protocol)
                assert datetime.now(UTC) >= expires_at
                assert sessions.begin_message()[0] == 421
            break
        except (
            imaplib.IMAP4.error,
            poplib.error_proto,
            ConnectionRefusedError,
            smtplib.SMTPAuthenticationError,
            OSError,
        ):
            assert datetime.now(UTC) >= expires_at  # on a slow machine it expired before all sessions were open
            seconds *= 2
            assert seconds < 100
    assert working(stack, mailbox["address"], app_password["password"]) == set()


def test_the_own_password_ends_its_own_sessions_alone(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("apps-own.test"), "alice")
    app_password = create(stack, mailbox)
    with (
        open_sessions(stack, mailbox["address"], app_password["password"]) as staying,
        open_sessions(stack, mailbox["address"]) as ending,
    ):
        stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"password": NEW_PASSWORD})
        for protocol in ("imap", "pop3", "sieve"):
            ending.wait_for_end(protocol)
        assert ending.begin_message()[0] == 421
        assert [protocol for protocol in PROTOCOLS if not staying.works(protocol)] == []


@pytest.mark.parametrize("what", ["domain", "trash"])
def test_an_inactive_mailbox_closes_its_app_passwords(stack: Stack, what: str) -> None:
    domain = stack.make_domain(f"apps-inactive-{what}.test")
    mailbox = stack.make_mailbox(domain, "alice")
    app_password = create(stack, mailbox)
    path = f"/domains/{domain}"
    with open_sessions(stack, mailbox["address"], app_password["password"]) as sessions:
        if what == "trash":
            stack.do("DELETE", f"/mailboxes/{mailbox['id']}")
        else:
            stack.do("PATCH", path, {"active": False})
        for protocol in ("imap", "pop3", "sieve"):
            sessions.wait_for_end(protocol)
        assert sessions.begin_message()[0] == 421
    assert working(stack, mailbox["address"], app_password["password"]) == set()
    if what == "trash":
        stack.do("POST", f"/mailboxes/{mailbox['id']}/restore")
    else:
        stack.do("PATCH", path, {"active": True})
    by_imap(stack, mailbox["address"], app_password["password"])


def test_a_required_app_password_closes_the_own_one(stack: Stack) -> None:
    domain = stack.make_domain("apps-required.test")
    mailbox, exempt = (
        stack.make_mailbox(domain, "alice"),
        stack.make_mailbox(domain, "bob", require_app_passwords=False),
    )
    address, app_password = mailbox["address"], create(stack, mailbox)
    wrong = refusals(stack, address, NEW_PASSWORD)
    with (
        open_sessions(stack, address) as ending,
        open_sessions(stack, address, app_password["password"]) as staying,
        open_sessions(stack, exempt["address"]) as exempted,
        required(stack, "server", mailbox),
    ):
        for protocol in ("imap", "pop3", "sieve"):
            ending.wait_for_end(protocol)
        assert ending.begin_message()[0] == 421
        for sessions in (staying, exempted):
            assert [protocol for protocol in PROTOCOLS if not sessions.works(protocol)] == []
        # The client can't tell it from a wrong password; the log can.
        assert refusals(stack, address, PASSWORD) == wrong
        assert working(stack, address, app_password["password"]) == set(CLIENTS)
        assert working(stack, exempt["address"], PASSWORD) == set(CLIENTS)
        assert inherited(stack, exempt) == {"value": True, "source": "server"}
    log = stack.data_dir / "log" / "usage.log"
    for protocol in PROTOCOLS:
        eventually(
            lambda protocol=protocol: any(
                "only app passwords" in line and address in line and f'"{protocol}"' in line
                for line in log.read_text().splitlines()
            ),
            what=f"the reason for {protocol}",
        )
    by_imap(stack, address, PASSWORD)


@pytest.mark.parametrize("level", ["mailbox", "domain"])
def test_app_passwords_are_required_by_a_domain_or_for_a_mailbox(stack: Stack, level: str) -> None:
    domain = stack.make_domain(f"apps-required-{level}.test")
    mailbox, exempt = (
        stack.make_mailbox(domain, "alice"),
        stack.make_mailbox(domain, "bob", require_app_passwords=False),
    )
    app_password = create(stack, mailbox)
    with open_sessions(stack, mailbox["address"]) as ending, required(stack, level, mailbox):
        ending.wait_for_end("imap")
        assert refusal("imap", stack, mailbox["address"], PASSWORD) is not None
        by_imap(stack, mailbox["address"], app_password["password"])
        by_imap(stack, exempt["address"], PASSWORD)
        assert inherited(stack, exempt) == (
            {"value": True, "source": "domain"} if level == "domain" else {"value": False, "source": "server"}
        )


@contextlib.contextmanager
def required(stack: Stack, level: str, mailbox: dict[str, Any]) -> Iterator[None]:
    """App passwords are required by the server, the mailbox's domain, or for the mailbox."""
    path = {
        "mailbox": f"/mailboxes/{mailbox['id']}", "domain": f"/domains/{mailbox['domain_id']}", "server": "/config"
    }[level]  # fmt: skip
    name = "auth.require_app_passwords" if level == "server" else "require_app_passwords"
    on, off = {name: True}, {name: None}
    stack.do("PATCH", path, {"changes": on} if level == "server" else on)
    try:
        yield
    finally:
        stack.do("PATCH", path, {"changes": off} if level == "server" else off)


def inherited(stack: Stack, mailbox: dict[str, Any]) -> dict[str, Any]:
    return stack.do("GET", f"/mailboxes/{mailbox['id']}")["inherited"]["require_app_passwords"]


def test_failures_of_others_at_the_same_address_do_not_delay_an_app_password(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("apps-delayed.test"), "alice")
    app_password = create(stack, mailbox)
    for number in range(6):
        assert refusal("imap", stack, f"nobody{number}@apps-delayed.test", f"guess {number}") is not None
    began = time.monotonic()
    by_imap(stack, mailbox["address"], app_password["password"])
    # Dovecot's penalty for an address would be 15 s by now; a success ends it.
    assert time.monotonic() - began < 12


def test_no_app_password_reaches_postgresql(alone: Stack) -> None:
    mailbox = alone.make_mailbox(alone.make_domain("apps-logged.test"), "alice")
    server = alone.data_dir / "log" / "postgresql.log"
    set_log_statement(alone, "ALTER SYSTEM SET log_statement = 'all'")
    try:
        app_password = create(alone, mailbox)
        assert working(alone, mailbox["address"], app_password["password"]) == set(CLIENTS)
        assert working(alone, mailbox["address"], app_password["password"] + "x") == set()
    finally:
        set_log_statement(alone, "ALTER SYSTEM RESET log_statement")
    queries = [
        line for line in server.read_text().splitlines() if "mta_app_login" in line and "apps-logged.test" in line
    ]
    assert {
        match[1] for line in queries if (match := re.search(r"mta_app_login\('alice', '[^']*', '(\w+)'", line))
    } == {*PROTOCOLS}
    secret = app_password["password"].removeprefix("mk-")
    for path in [*(alone.data_dir / "log").iterdir(), *(alone.data_dir / "log").glob("*/*")]:
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def set_log_statement(stack: Stack, statement: str) -> None:
    account = pwd.getpwnam("postgres")
    (program,) = sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1:]
    url = make_conninfo(host=str(run_folder(stack.data_dir) / "pg"), port=5432, dbname=DATABASE, user="postgres")
    command = [str(program), "--no-psqlrc", "-At", "-c", statement, "-c", "SELECT pg_reload_conf()", url]
    subprocess.run(
        command, user=account.pw_uid, group=account.pw_gid, extra_groups=[], check=True, capture_output=True, cwd="/",
        timeout=60, env=os.environ | {"HOME": "/"},
    )  # fmt: skip
