"""Logins with app passwords compared with a mailbox's own password: 200 IMAP clients log in at once.

The time is from the first connection to the last answer, TLS included. Each client disconnects after its login, because
a connection with TLS occupies one of Dovecot's 100 login processes. The own password is verified with Argon2id, an app
password by its SHA-256. Both sides use the same ten mailboxes in turn. Also: one client alone.

Root only, after `mailkeep install`. `python -m bench.app_password_logins [CLIENTS] [ROUNDS]`.
"""

from __future__ import annotations

import imaplib
import shutil
import signal
import ssl
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.stack import harness
from tests.stack.harness import ADDRESS, PASSWORD, Stack, trusting


def main() -> None:
    count, rounds = (int(text) for text in (*sys.argv[1:], *("200", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        harness.start(folder)
        stack = Stack(folder)
        domain = stack.make_domain("example.test")
        mailboxes = [stack.make_mailbox(domain, f"user{n}") for n in range(10)]
        passwords = {"own password": {each["address"]: PASSWORD for each in mailboxes}}
        passwords["app password"] = {
            each["address"]: stack.do("POST", f"/mailboxes/{each['id']}/app-passwords", {"name": "Bench"})["password"]
            for each in mailboxes
        }
        for by_address in passwords.values():
            log_in_at_once(stack, by_address, 10)
        times: dict[str, list[float]] = {kind: [] for kind in passwords}
        single: dict[str, list[float]] = {kind: [] for kind in passwords}
        for _ in range(rounds):
            for kind, by_address in passwords.items():
                times[kind].append(log_in_at_once(stack, by_address, count))
                single[kind].append(statistics.median(log_in_at_once(stack, by_address, 1) for _ in range(5)))
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    for what, measured in ((f"{count} clients at once", times), ("one client", single)):
        own, app = (statistics.median(measured[kind]) for kind in ("own password", "app password"))
        print(f"{what}: own password {own:.3f} s, app password {app:.3f} s, ratio {own / app:.1f} ×")


def log_in_at_once(stack: Stack, by_address: dict[str, str], count: int) -> float:
    """Seconds until all of `count` clients, which start at the same time, have logged in."""
    addresses, tls = list(by_address), trusting()
    with ThreadPoolExecutor(count) as pool:
        began = time.perf_counter()
        for number in range(count):
            address = addresses[number % len(addresses)]
            pool.submit(log_in, stack, tls, address, by_address[address])
        pool.shutdown()
        return time.perf_counter() - began


def log_in(stack: Stack, tls: ssl.SSLContext, address: str, password: str) -> None:
    """Log in and disconnect. A client that Dovecot drops tries again."""
    while True:
        try:
            client = imaplib.IMAP4_SSL(ADDRESS, stack.ports["imaps"], ssl_context=tls, timeout=300)
            try:
                client.login(address, password)
                return
            finally:
                client.shutdown()
        except (imaplib.IMAP4.abort, OSError):
            continue


if __name__ == "__main__":
    main()
