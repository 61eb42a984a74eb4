"""TLS on the mail ports; permissions of the instance's files and sockets."""

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

Cipher = tuple[str, str, int]  # name, protocol, bits
FORBIDDEN_CIPHERS = "ALL:COMPLEMENTOFALL:!ECDHE+AESGCM:!ECDHE+CHACHA20:!TLSv1.3@SECLEVEL=0"
"""Cipher suites of TLS 1.2 that must be refused: anonymous key exchange, RSA key exchange, CBC."""


def create_context(ciphers: str, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    context.set_ciphers(ciphers)
    return context


def connect_smtp(port: int, context: ssl.SSLContext) -> Cipher:
    """Negotiate TLS with STARTTLS; return the cipher suite. The same for the other protocols below."""
    with smtplib.SMTP(ADDRESS, port, timeout=30) as session:
        session.starttls(context=context)
        assert isinstance(session.sock, ssl.SSLSocket)
        return session.sock.cipher() or ("", "", 0)


def connect_implicit_tls(port: int, context: ssl.SSLContext) -> Cipher:
    with socket.create_connection((ADDRESS, port), 30) as connection, context.wrap_socket(connection) as tls:
        return tls.cipher() or ("", "", 0)


def connect_imap(port: int, context: ssl.SSLContext) -> Cipher:
    session = imaplib.IMAP4(ADDRESS, port, 30)
    try:
        session.starttls(context)
        assert isinstance(session.sock, ssl.SSLSocket)
        return session.sock.cipher() or ("", "", 0)
    finally:
        with contextlib.suppress(OSError):  # a failed handshake has closed the connection
            session.shutdown()


def connect_pop3(port: int, context: ssl.SSLContext) -> Cipher:
    session = poplib.POP3(ADDRESS, port, 30)
    try:
        session.stls(context)
        assert isinstance(session.sock, ssl.SSLSocket)
        return session.sock.cipher() or ("", "", 0)
    finally:
        with contextlib.suppress(OSError):
            session.close()


def connect_sieve(port: int, context: ssl.SSLContext) -> Cipher:
    with socket.create_connection((ADDRESS, port), 30) as connection:
        lines = connection.makefile("rwb")
        while not lines.readline().startswith(b"OK"):
            pass
        lines.write(b"STARTTLS\r\n")
        lines.flush()
        assert lines.readline().startswith(b"OK")
        with context.wrap_socket(connection) as tls:
            return tls.cipher() or ("", "", 0)


PORTS: dict[str, Callable[[int, ssl.SSLContext], Cipher]] = {
    "smtp": connect_smtp,
    "submission": connect_smtp,
    "submissions": connect_implicit_tls,
    "imap": connect_imap,
    "imaps": connect_implicit_tls,
    "pop3": connect_pop3,
    "pop3s": connect_implicit_tls,
    "sieve": connect_sieve,
}


@pytest.mark.parametrize("name", PORTS)
def test_tls_offers_no_anonymous_dh_and_no_cbc_suites(stack: Stack, name: str) -> None:
    port, connect = stack.ports[name], PORTS[name]
    with pytest.raises((ssl.SSLError, ConnectionError, smtplib.SMTPException)):
        print(connect(port, create_context(FORBIDDEN_CIPHERS, ssl.TLSVersion.TLSv1_2)))
    for suite in ("ECDHE+AESGCM", "ECDHE+CHACHA20"):
        assert connect(port, create_context(suite, ssl.TLSVersion.TLSv1_2))[0].startswith("ECDHE-")
    assert connect(port, create_context("DEFAULT", ssl.TLSVersion.TLSv1_3))[1] == "TLSv1.3"


def list_listening_ports(pid: int) -> set[int]:
    """The TCP ports that a process listens on (proc(5): state 0A)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {f"socket:[{row[9]}]": int(row[1].partition(":")[2], 16) for row in rows if row[3] == "0A"}
    listening: set[int] = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            listening |= {port for name, port in ports.items() if name == str(descriptor.readlink())}
    return listening


def test_random_loopback_ports_are_unix_sockets(stack: Stack) -> None:
    run = run_folder(stack.data_dir)
    open_ports = {
        service.name: list_listening_ports(service.pid) for service in service_status.list_services(run) if service.pid
    }
    other_ports = {name: ports - set(stack.ports.values()) for name, ports in open_ports.items()}
    # `api`: the API and the internal listener. `usage`: Dovecot can report logins only by HTTP over TCP.
    assert {name: len(ports) for name, ports in other_ports.items() if ports} == {"api": 2, "usage": 1}
    assert stat.S_IMODE((run / "filter" / "keys.sock").stat().st_mode) == 0o660


def _is_open_to_all(path: Path, run: Path) -> bool:
    """Whether every local account can connect to this socket."""
    if path.is_symlink() or not path.is_socket():  # the links point into Postfix's private folder
        return False
    folders = [each for each in path.parents if run == each or run in each.parents]
    return bool(path.stat().st_mode & 0o002) and all(each.stat().st_mode & 0o001 for each in folders)


def test_no_log_and_no_private_socket_is_open_to_everybody(stack: Stack) -> None:
    run = run_folder(stack.data_dir)
    readable_logs = [path.name for path in (stack.data_dir / "log").iterdir() if path.stat().st_mode & 0o007]
    assert readable_logs == []
    # These two authenticate the peer by its user ID (SO_PEERCRED).
    assert {path.name for path in run.rglob("*") if _is_open_to_all(path, run)} == {".s.PGSQL.5432", "sendmail.sock"}
    secret_files = ("dovecot/conf/dovecot.conf", "dovecot/conf/sql.conf", "rspamd/conf/rspamd.local.lua", "secret")
    for name in secret_files:
        with contextlib.suppress(FileNotFoundError):
            assert not (stack.data_dir / name).stat().st_mode & 0o007, name
    with smtplib.SMTP(ADDRESS, stack.ports["smtp"], timeout=30) as session:
        assert HOSTNAME in (session.ehlo()[1]).decode()
