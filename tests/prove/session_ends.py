"""How long open sessions outlive the access that they were opened with: each protocol, each way to lose access."""

from __future__ import annotations

import contextlib
import os
import poplib
import signal
import smtplib
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mailkeep.db.instance import run_folder
from tests.prove.checks import Checks
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually, letter, trusting

ALLOWED = 2.0
_NEW_PASSWORD = "a password that is new to everybody"
_WATCHED_SECONDS = 4.0
_SLOW_SECONDS = 1.0  # until the client of `SLOW` reads on: what had been sent before is still there
_RACES = 3
_REFUSALS = (b"l NO", b"x NO", b"x BAD", b"NO ")  # of IMAP and ManageSieve
_PROTOCOLS = ("imap", "pop3", "sieve", "smtp")
_FILLING = 24 << 20  # bytes of the message that it fetches

SLOW = "imap fetch"
READERS = ("imap IDLE", "imap STARTTLS", "imap 2nd", SLOW, "pop3", "pop3 STLS", "sieve")
SUBMITTERS = ("587", "465")
COLUMNS = (*READERS, *SUBMITTERS)


def protocol_of(column: str) -> str:
    return "smtp" if column in SUBMITTERS else column.partition(" ")[0]


def _read_until(connection: socket.socket, *ends: bytes) -> bytes:
    text = b""
    while not any(text.startswith(end) or b"\n" + end in text for end in ends):
        received = connection.recv(65536)
        assert received, text
        text += received
        assert not any(b"\n" + refusal in b"\n" + text for refusal in _REFUSALS), text
    return text


def _imap(stack: Stack, port: str, address: str) -> socket.socket:
    connection = socket.create_connection((ADDRESS, stack.ports[port]), timeout=30)
    if port == "imap":
        _read_until(connection, b"* OK")
        connection.sendall(b"s STARTTLS\r\n")
        _read_until(connection, b"s OK")
    connection = trusting().wrap_socket(connection)
    connection.sendall(f'l LOGIN {address} "{PASSWORD}"\r\nx SELECT INBOX\r\n'.encode())
    _read_until(connection, b"x OK")
    return connection


def _idle(stack: Stack, address: str) -> socket.socket:
    connection = _imap(stack, "imaps", address)
    connection.sendall(b"i IDLE\r\n")
    _read_until(connection, b"+ ")
    return connection


def _slow_fetch(stack: Stack, address: str) -> socket.socket:
    """A session in the middle of an answer that its client does not read."""
    connection = _imap(stack, "imaps", address)
    connection.sendall(b"f FETCH 1 (BODY.PEEK[])\r\n")
    connection.recv(1000)
    return connection


def _pop3(stack: Stack, port: str, address: str) -> socket.socket:
    if port == "pop3s":
        client: poplib.POP3 = poplib.POP3_SSL(ADDRESS, stack.ports[port], context=trusting(), timeout=30)
    else:
        client = poplib.POP3(ADDRESS, stack.ports[port], timeout=30)
        client.stls(trusting())
    client.user(address)
    client.pass_(PASSWORD)
    return client.sock


def open_managesieve(stack: Stack, address: str) -> socket.socket:
    """A ManageSieve session (RFC 5804)."""
    connection = socket.create_connection((ADDRESS, stack.ports["sieve"]), timeout=30)
    _read_until(connection, b"OK")
    connection.sendall(b"STARTTLS\r\n")
    _read_until(connection, b"OK")
    connection = trusting().wrap_socket(connection)
    _read_until(connection, b"OK")
    credentials = b64encode(f"\0{address}\0{PASSWORD}".encode()).decode()
    connection.sendall(f'AUTHENTICATE "PLAIN" "{credentials}"\r\n'.encode())
    _read_until(connection, b"OK")
    return connection


def _submission(stack: Stack, column: str, address: str) -> smtplib.SMTP:
    if column == "587":
        return stack.login(address)
    client = smtplib.SMTP_SSL(ADDRESS, stack.ports["submissions"], context=trusting(), timeout=30)
    client.login(address, PASSWORD)
    return client


def submit(client: smtplib.SMTP, address: str) -> tuple[int, bytes]:
    """The first refusal of a new message, else the answer to its recipient."""
    try:
        client.rset()
        code, words = client.mail(address)
        return (code, words) if code != 250 else client.rcpt("friend@remote.test")
    except (smtplib.SMTPServerDisconnected, OSError):
        return 0, b"disconnected"


@dataclass
class Sessions:
    """One session of each column of a mailbox."""

    address: str
    readers: dict[str, socket.socket] = field(default_factory=dict[str, socket.socket])
    submitters: dict[str, smtplib.SMTP] = field(default_factory=dict[str, smtplib.SMTP])
    fetched: int = 0  # bytes that the one who does not read got after all

    def end_seconds(self, begun: float) -> dict[str, float | None]:
        """When each session ended, in seconds after `begun`; None: it stayed open."""
        ended: dict[str, float | None] = dict.fromkeys(COLUMNS)
        for column, client in self.submitters.items():
            code, _ = submit(client, self.address)
            ended[column] = time.monotonic() - begun if code in (0, 421) else None
        waiting = dict(self.readers)
        for connection in waiting.values():
            connection.settimeout(0)
        while waiting and time.monotonic() < begun + _WATCHED_SECONDS:
            time.sleep(0.005)
            for column, connection in list(waiting.items()):
                if column == SLOW and time.monotonic() < begun + _SLOW_SECONDS:
                    continue
                if self.has_ended(connection, counts=column == SLOW):
                    ended[column] = time.monotonic() - begun
                    del waiting[column]
        return ended

    def has_ended(self, connection: socket.socket, *, counts: bool) -> bool:
        while True:
            try:
                received = len(connection.recv(1 << 20))
            except (ssl.SSLWantReadError, BlockingIOError):
                return False
            except OSError:
                return True
            self.fetched += received if counts else 0
            if not received:
                return True


@contextlib.contextmanager
def open_sessions(stack: Stack, address: str) -> Iterator[Sessions]:
    with contextlib.ExitStack() as held:
        found = Sessions(address)
        makers: dict[str, Callable[[], socket.socket]] = {
            "imap IDLE": lambda: _idle(stack, address),
            "imap STARTTLS": lambda: _imap(stack, "imap", address),
            "imap 2nd": lambda: _imap(stack, "imaps", address),
            SLOW: lambda: _slow_fetch(stack, address),
            "pop3": lambda: _pop3(stack, "pop3s", address),
            "pop3 STLS": lambda: _pop3(stack, "pop3", address),
            "sieve": lambda: open_managesieve(stack, address),
        }
        for column, make in makers.items():
            found.readers[column] = make()
            held.callback(found.readers[column].close)
        for column in SUBMITTERS:
            client = found.submitters[column] = _submission(stack, column, address)
            held.callback(client.close)
            assert submit(client, address)[0] == 250
        yield found


def _patch(stack: Stack, mailbox: dict[str, Any], **changes: object) -> None:
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", changes)


def _withdraw(stack: Stack, mailbox: dict[str, Any], *protocols: str) -> None:
    _patch(stack, mailbox, protocols=dict.fromkeys(protocols, False))


def _delete(stack: Stack, mailbox: dict[str, Any], *, purge: bool = False) -> None:
    stack.do("DELETE", f"/mailboxes/{mailbox['id']}" + ("?purge=true" if purge else ""))


def _make_again(stack: Stack, mailbox: dict[str, Any]) -> None:
    _delete(stack, mailbox, purge=True)
    stack.make_mailbox(mailbox["domain_id"], "alice", password=_NEW_PASSWORD)


def _delete_domain(stack: Stack, mailbox: dict[str, Any]) -> None:
    _delete(stack, mailbox)
    stack.do("DELETE", f"/domains/{mailbox['domain_id']}")


def _kill_agent_and_change(stack: Stack, mailbox: dict[str, Any]) -> None:
    pid = int((run_folder(stack.data_dir) / "pids" / "node.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    _patch(stack, mailbox, password=_NEW_PASSWORD)


def _change_and_kill_agent(stack: Stack, mailbox: dict[str, Any]) -> None:
    _patch(stack, mailbox, password=_NEW_PASSWORD)
    os.kill(int((run_folder(stack.data_dir) / "pids" / "node.pid").read_text().split()[0]), signal.SIGKILL)


Way = Callable[[Stack, dict[str, Any]], object]
ALL = frozenset(_PROTOCOLS)
WAYS: dict[str, tuple[Way, frozenset[str]]] = {
    "account deactivated": (lambda stack, mailbox: _patch(stack, mailbox, active=False), ALL),
    "account deactivated and activated": (
        lambda stack, mailbox: (_patch(stack, mailbox, active=False), _patch(stack, mailbox, active=True)),
        ALL,
    ),
    "account deleted (trash)": (_delete, ALL),
    "account purged": (lambda stack, mailbox: _delete(stack, mailbox, purge=True), ALL),
    "account renamed": (lambda stack, mailbox: _patch(stack, mailbox, local_part="other"), ALL),
    "password changed by PATCH": (lambda stack, mailbox: _patch(stack, mailbox, password=_NEW_PASSWORD), ALL),
    "purged and created again by POST": (_make_again, ALL),
    "all protocols withdrawn": (
        lambda stack, mailbox: _withdraw(stack, mailbox, *_PROTOCOLS),
        ALL,
    ),
    # A submission session sees that the access has another version, whatever was withdrawn: its client logs in again.
    "imap withdrawn": (lambda stack, mailbox: _withdraw(stack, mailbox, "imap"), frozenset({"imap", "smtp"})),
    "pop3 withdrawn": (lambda stack, mailbox: _withdraw(stack, mailbox, "pop3"), frozenset({"pop3", "smtp"})),
    "sieve withdrawn": (lambda stack, mailbox: _withdraw(stack, mailbox, "sieve"), frozenset({"sieve", "smtp"})),
    "smtp withdrawn": (lambda stack, mailbox: _withdraw(stack, mailbox, "smtp"), frozenset({"smtp"})),
    "domain deactivated": (
        lambda stack, mailbox: stack.do("PATCH", f"/domains/{mailbox['domain_id']}", {"active": False}),
        ALL,
    ),
    "account and domain deleted": (_delete_domain, ALL),
    "password, node agent just killed": (_kill_agent_and_change, ALL),
    "password, node agent killed after": (_change_and_kill_agent, ALL),
}


def prove(stack: Stack, checks: Checks) -> None:
    print(f"{'seconds after the answer of the API':34}" + "".join(f"{column:>15}" for column in COLUMNS))
    for number, way in enumerate(WAYS):
        _prove_way(stack, checks, number, way)
    _prove_suspension(stack, checks)
    for protocol in _PROTOCOLS:
        _prove_race(stack, checks, protocol)


def _prove_way(stack: Stack, checks: Checks, number: int, way: str) -> None:
    change, protocols = WAYS[way]
    mailbox = stack.make_mailbox(stack.make_domain(f"ends-{number}.test"), "alice")
    bystander = stack.make_mailbox(stack.make_domain(f"stays-{number}.test"), "alice")
    with stack.imap(mailbox["address"]) as client:
        body = ("x" * 70 + "\r\n") * (_FILLING // 72)
        client.append("INBOX", "", "", letter(mailbox["address"], body=body).encode())
    staying = _imap(stack, "imaps", bystander["address"])
    with staying, open_sessions(stack, mailbox["address"]) as sessions:
        change(stack, mailbox)
        ended = sessions.end_seconds(time.monotonic())
        staying.sendall(b"n NOOP\r\n")
        _read_until(staying, b"n OK")
    print(f"{way:34}" + "".join(f"{'stays' if at is None else f'{at:.2f}':>15}" for at in ended.values()), flush=True)
    late = [column for column, at in ended.items() if protocol_of(column) in protocols and (at is None or at > ALLOWED)]
    lost = [column for column, at in ended.items() if protocol_of(column) not in protocols and at is not None]
    whole = [SLOW] if "imap" in protocols and sessions.fetched >= _FILLING else []
    if late or lost or whole:
        checks.fail(f"{way}: open after {ALLOWED:g} s: {late}, ended without a reason: {lost}, fetched whole: {whole}")


def _prove_suspension(stack: Stack, checks: Checks) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("suspended-sessions.test"), "alice")
    address = mailbox["address"]
    with stack.imap(address) as reading, contextlib.ExitStack() as held:
        clients = [held.enter_context(_submission(stack, column, address)) for column in SUBMITTERS]
        stack.do("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "A proof"})
        answers: list[str] = []
        for client in clients:
            try:
                client.sendmail(address, ["friend@remote.test"], letter("friend@remote.test", sender=address))
                answers.append("accepted")
            except smtplib.SMTPDataError as refused:
                words = refused.smtp_error
                answers.append(f"{refused.smtp_code} {words.decode() if isinstance(words, bytes) else words}")
        stays = reading.noop()[0] == "OK"
    good = stays and all(answer.startswith("550 5.7.1") for answer in answers)
    checks.check("sending suspended: IMAP stays, the next message is refused", good, "; ".join(sorted(set(answers))))


def _prove_race(stack: Stack, checks: Checks, protocol: str) -> None:
    """Clients that log in all the time while the password changes: 2 seconds later no session of the old one works."""
    before = after = still = 0
    for number in range(_RACES):
        mailbox = stack.make_mailbox(stack.make_domain(f"race-{protocol}-{number}.test"), "alice")
        opened_before, opened_after, usable = _race(stack, mailbox, protocol)
        before, after, still = before + opened_before, after + opened_after, still + usable
    summary = f"{before} sessions opened before it, {after} while it was made, {still} usable {ALLOWED:g} s after it"
    good = still == 0 and before >= _RACES
    checks.check(f"{protocol} logins in a loop while the password changes ({_RACES} times)", good, summary)


def _race(stack: Stack, mailbox: dict[str, Any], protocol: str) -> tuple[int, int, int]:
    address, stop = mailbox["address"], threading.Event()
    opened: list[tuple[float, socket.socket | smtplib.SMTP]] = []

    def log_in() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError, AssertionError, poplib.error_proto, smtplib.SMTPException):
                opened.append((time.monotonic(), _log_in(stack, protocol, address)))

    threads = [threading.Thread(target=log_in, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(opened) >= len(threads), what="sessions")
    begun = time.monotonic()
    _patch(stack, mailbox, password=_NEW_PASSWORD)
    time.sleep(ALLOWED)
    stop.set()
    sessions = list(opened)
    still = sum(_works(session, address) for _, session in sessions)
    for thread in threads:
        thread.join(30)
    for _, session in opened:
        session.close()
    late = sum(at >= begun for at, _ in sessions)
    return len(sessions) - late, late, still


def _log_in(stack: Stack, protocol: str, address: str) -> socket.socket | smtplib.SMTP:
    match protocol:
        case "imap":
            return _idle(stack, address)
        case "pop3":
            return _pop3(stack, "pop3s", address)
        case "sieve":
            return open_managesieve(stack, address)
        case _:
            return _submission(stack, "587", address)


def _works(session: socket.socket | smtplib.SMTP, address: str) -> bool:
    if isinstance(session, smtplib.SMTP):
        return submit(session, address)[0] == 250
    session.settimeout(0)
    return not Sessions(address).has_ended(session, counts=False)
