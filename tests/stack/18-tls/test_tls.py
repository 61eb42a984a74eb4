"""TLS on the mail ports, and access to the instance's files and sockets."""

from __future__ import annotations

import contextlib
import imaplib
import poplib
import smtplib
import socket
import ssl
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import service_status
from tests.stack.harness import ADDRESS, HOSTNAME, Stack

WEAK = "ALL:COMPLEMENTOFALL:!ECDHE+AESGCM:!ECDHE+CHACHA20:!TLSv1.3@SECLEVEL=0"
"""The forbidden cipher suites of TLS 1.2: anonymous ones, CBC, RSA key exchange."""


def client(ciphers: str, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    context.set_ciphers(ciphers)
    return context


def by_smtp(port: int, context: ssl.SSLContext) -> tuple[str, str, int]:
    with smtplib.SMTP(ADDRESS, port, timeout=30) as session:
        session.starttls(context=context)
        assert isinstance(session.sock, ssl.SSLSocket)
        return session.sock.cipher() or ("", "", 0)


def from_the_start(port: int, context: ssl.SSLContext) -> tuple[str, str, int]:
    with socket.create_connection((ADDRESS, port), 30) as raw, context.wrap_socket(raw) as wrapped:
        return wrapped.cipher() or ("", "", 0)


def by_imap(port: int, context: ssl.SSLContext) -> tuple[str, str, int]:
    session = imaplib.IMAP4(ADDRESS, port, 30)
    try:
        session.starttls(context)
        assert isinstance(session.sock, ssl.SSLSocket)
        return session.sock.cipher() or ("", "", 0)
    finally:
        with contextlib.suppress(OSError):  # a failed handshake has closed it
            session.shutdown()


def by_pop3(port: int, context: ssl.SSLContext) -> tuple[str, str, int]:
    session = poplib.POP3(ADDRESS, port, 30)
    try:
        session.stls(context)
        assert isinstance(session.sock, ssl.SSLSocket)
        return session.sock.cipher() or ("", "", 0)
    finally:
        with contextlib.suppress(OSError):
            session.close()


def by_sieve(port: int, context: ssl.SSLContext) -> tuple[str, str, int]:
    with socket.create_connection((ADDRESS, port), 30) as raw:
        lines = raw.makefile("rwb")
        while not lines.readline().startswith(b"OK"):
            pass
        lines.write(b"STARTTLS\r\n")
        lines.flush()
        assert lines.readline().startswith(b"OK")
        with context.wrap_socket(raw) as wrapped:
            return wrapped.cipher() or ("", "", 0)


PORTS: dict[str, Callable[[int, ssl.SSLContext], tuple[str, str, int]]] = {
    "smtp": by_smtp,
    "submission": by_smtp,
    "submissions": from_the_start,
    "imap": by_imap,
    "imaps": from_the_start,
    "pop3": by_pop3,
    "pop3s": from_the_start,
    "sieve": by_sieve,
}


@pytest.mark.parametrize("name", PORTS)
def test_tls_offers_no_anonymous_dh_and_no_cbc_suites(stack: Stack, name: str) -> None:
    port, connect = stack.ports[name], PORTS[name]
    with pytest.raises((ssl.SSLError, ConnectionError, smtplib.SMTPException)):
        print(connect(port, client(WEAK, ssl.TLSVersion.TLSv1_2)))
    for suite in ("ECDHE+AESGCM", "ECDHE+CHACHA20"):
        assert connect(port, client(suite, ssl.TLSVersion.TLSv1_2))[0].startswith("ECDHE-")
    assert connect(port, client("DEFAULT", ssl.TLSVersion.TLSv1_3))[1] == "TLSv1.3"


def listening_ports(pid: int) -> set[int]:
    """The TCP ports that a process listens on (proc(5): state 0A)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {f"socket:[{row[9]}]": int(row[1].partition(":")[2], 16) for row in rows if row[3] == "0A"}
    found: set[int] = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found |= {port for name, port in ports.items() if name == str(descriptor.readlink())}
    return found


def test_random_loopback_ports_are_unix_sockets(stack: Stack) -> None:
    run = run_folder(stack.data_dir)
    open_ports = {part.name: listening_ports(part.pid) for part in service_status.list_services(run) if part.pid}
    own = {name: found - set(stack.ports.values()) for name, found in open_ports.items()}
    # The API and its internal listener, and logins: Dovecot reports them by HTTP over TCP alone.
    assert {name: len(found) for name, found in own.items() if found} == {"api": 2, "usage": 1}
    assert stat.S_IMODE((run / "filter" / "keys.sock").stat().st_mode) == 0o660


def _connects_anybody(path: Path, run: Path) -> bool:
    """Whether every local account may connect to this socket."""
    if path.is_symlink() or not path.is_socket():  # the links lead to Postfix's private folder
        return False
    folders = [each for each in path.parents if run == each or run in each.parents]
    return bool(path.stat().st_mode & 0o002) and all(each.stat().st_mode & 0o001 for each in folders)


def test_no_log_and_no_private_socket_is_open_to_everybody(stack: Stack) -> None:
    run = run_folder(stack.data_dir)
    loose = [path.name for path in (stack.data_dir / "log").iterdir() if path.stat().st_mode & 0o007]
    assert loose == []
    # PostgreSQL asks the kernel who connects, and so does the socket of local programs.
    assert {path.name for path in run.rglob("*") if _connects_anybody(path, run)} == {".s.PGSQL.5432", "sendmail.sock"}
    secret = ("dovecot/conf/dovecot.conf", "dovecot/conf/sql.conf", "rspamd/conf/rspamd.local.lua", "secret")
    for name in secret:
        with contextlib.suppress(FileNotFoundError):
            assert not (stack.data_dir / name).stat().st_mode & 0o007, name
    with smtplib.SMTP(ADDRESS, stack.ports["smtp"], timeout=30) as session:
        assert HOSTNAME in (session.ehlo()[1]).decode()
