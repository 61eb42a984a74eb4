"""Password guessing by mail protocols against the real daemons, from addresses of 127.0.0.0/8."""

from __future__ import annotations

import os
import signal
import socket
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import service_status
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually, trusting
from tests.stack.mail_sessions import PROTOCOLS

_SECONDS = 120.0


class Client:
    """A mail client at an address, which tries one password for each connection."""

    def __init__(self, stack: Stack, source: str) -> None:
        self.stack, self.source = stack, source

    def opens(self, protocol: str, address: str, password: str = PASSWORD) -> bool:
        """Whether the password opens a session. False only for the server's refusal of the password."""
        port = {"imap": "imaps", "pop3": "pop3s", "sieve": "sieve", "smtp": "submissions"}[protocol]
        plain = b64encode(f"\0{address}\0{password}".encode()).decode()
        target = (ADDRESS, self.stack.ports[port])
        with socket.create_connection(target, _SECONDS, (self.source, 0)) as connection:
            if protocol == "sieve":
                self._read(connection, ("OK",))
                connection.sendall(b"STARTTLS\r\n")
                self._read(connection, ("OK",))
            with trusting().wrap_socket(connection) as session:
                if protocol == "imap":
                    self._read(session, ("* OK",))
                    session.sendall(f'a LOGIN "{address}" "{password}"\r\n'.encode())
                    return self._read(session, ("a OK", "a NO")) == "a OK"
                if protocol == "pop3":
                    self._read(session, ("+OK",))
                    session.sendall(f"AUTH PLAIN {plain}\r\n".encode())
                    return self._read(session, ("+OK", "-ERR")) == "+OK"
                if protocol == "sieve":
                    self._read(session, ("OK",))
                    session.sendall(f'AUTHENTICATE "PLAIN" "{plain}"\r\n'.encode())
                    return self._read(session, ("OK", "NO")) == "OK"
                self._read(session, ("220 ",))
                session.sendall(b"EHLO client.test\r\n")
                self._read(session, ("250 ",))
                session.sendall(f"AUTH PLAIN {plain}\r\n".encode())
                return self._read(session, ("235 ", "535 ")) == "235 "

    @staticmethod
    def _read(connection: socket.socket, ends: tuple[str, ...]) -> str:
        """Read lines up to one that begins with one of `ends`; returns that beginning."""
        text = b""
        while True:
            received = connection.recv(4096)
            text += received
            for line in text.decode("latin-1").split("\r\n")[:-1]:
                for end in ends:
                    if line.startswith(end):
                        return end
            assert received, text


def verified(stack: Stack, address: str) -> int:
    """How many wrong passwords Dovecot has compared with the mailbox's, by its log."""
    log = (stack.data_dir / "log" / "dovecot.log").read_text()
    names = (f"sql({address},", f"sql({address}/")  # submission adds the version of the access
    return sum(any(name in line for name in names) and "assword mismatch" in line for line in log.splitlines())


def blocks(stack: Stack, **fields: Any) -> list[dict[str, Any]]:
    return [
        each
        for each in stack.do("GET", "/sign-in-blocks?limit=200")
        if all(each[name] == value for name, value in fields.items())
    ]


def test_an_address_that_guesses_at_many_accounts_is_blocked(stack: Stack) -> None:
    domain = stack.make_domain("guess-one.test")
    mailboxes = [stack.make_mailbox(domain, name)["address"] for name in ("ann", "ben", "cat", "dan", "eve")]
    owner = stack.make_mailbox(domain, "owner")["address"]
    attacker = Client(stack, "127.0.41.1")
    assert attacker.opens("imap", owner)
    numbers = count()
    guesses = [(PROTOCOLS[next(numbers) % 4], address, f"guess {n}") for n in range(8) for address in mailboxes]
    with ThreadPoolExecutor(12) as pool:
        assert not any(pool.map(lambda guess: attacker.opens(*guess), guesses))
    eventually(lambda: sum(verified(stack, each) for each in mailboxes) == 30, what="the log of 30 guesses")
    (block,) = blocks(stack, address="127.0.41.1", account=None)
    assert block["failures"] == 30
    with ThreadPoolExecutor(8) as pool:
        right = list(pool.map(lambda protocol: attacker.opens(protocol, mailboxes[0]), PROTOCOLS))
        own = list(pool.map(lambda protocol: attacker.opens(protocol, owner), PROTOCOLS))
    assert right == [False] * 4
    assert own == [True] * 4
    assert Client(stack, "127.0.41.2").opens("imap", mailboxes[0])
    stack.do("DELETE", f"/sign-in-blocks/{block['id']}")
    assert attacker.opens("smtp", mailboxes[1])


def test_guesses_from_200_addresses_are_bounded_and_do_not_lock_out_the_owner(stack: Stack) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("guess-many.test"), "alice")
    address = mailbox["address"]
    app_password = stack.do("POST", f"/mailboxes/{mailbox['id']}/app-passwords", {"name": "Phone"})["password"]
    home, travelling = Client(stack, "127.0.42.1"), Client(stack, "127.0.42.2")
    assert home.opens("imap", address)
    attackers = [Client(stack, f"127.0.43.{n}") for n in range(1, 201)]
    began = time.monotonic()
    with ThreadPoolExecutor(20) as pool:
        guesses = [
            pool.submit(attacker.opens, PROTOCOLS[n % 4], address, f"guess {n}") for n, attacker in enumerate(attackers)
        ]
        eventually(lambda: blocks(stack, account=address), _SECONDS, "the block of the account")
        for protocol in PROTOCOLS:
            assert home.opens(protocol, address), protocol
            assert travelling.opens(protocol, address, app_password), protocol
        assert not any(guess.result() for guess in guesses)
    # 10 at once; after that each failure doubles the wait: 15 s, 30 s, …
    seconds = time.monotonic() - began
    assert 10 <= verified(stack, address) <= 10 + len([n for n in range(1, 7) if 15 * (2**n - 1) < seconds])
    assert home.opens("imap", address)


@pytest.mark.parametrize("sent", [signal.SIGSTOP, signal.SIGKILL], ids=["hangs", "ends"])
def test_without_the_policy_server_logins_continue(alone: Stack, sent: signal.Signals) -> None:
    mailbox = alone.make_mailbox(alone.make_domain(f"no-policy-{sent.name.lower()}.test"), "alice")
    client = Client(alone, "127.0.44.1")
    pid = find_pid(alone)
    os.kill(pid, sent)
    try:
        for protocol in PROTOCOLS:
            assert client.opens(protocol, mailbox["address"]), protocol
    finally:
        eventually(lambda: find_pid(alone) not in (0, pid), 90, "a new process usage")


def find_pid(stack: Stack) -> int:
    """The process ID of `usage`, which decides about logins; 0 while it is down."""
    services = service_status.list_services(run_folder(stack.data_dir))
    return next((each.pid for each in services if each.name == "usage" and each.pid), 0)
