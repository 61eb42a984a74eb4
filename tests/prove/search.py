"""`make prove-search`: full-text search on and off on a mailbox of 20,000 messages, and `kill -9` of the indexer.

It measures searches, build and size of the index, and counts the mail after each step. It takes about four minutes and
needs root. ARGS="2000" for another number of messages.
"""

from __future__ import annotations

import contextlib
import imaplib
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from email.utils import formatdate
from pathlib import Path

from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.harness import Stack, eventually
from tests.stack.searching import append, index_of, kill_workers, search, switch

ADDRESS = "alice@searched.test"
_STEMS = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu")
_MIDDLES = ("lan", "mer", "nit", "por", "rus", "sel", "tav", "ven", "wix", "zor")
_ENDS = ("", "a", "e", "is", "on", "um", "ar", "el", "ek", "ot")
_COMMON = 20  # every 20th message has the same common word
_KILLS = 8
_PATIENCE = 600.0  # seconds: on a busy machine a build takes minutes


@contextlib.contextmanager
def session(stack: Stack) -> Generator[imaplib.IMAP4]:
    """A session with INBOX selected."""
    with stack.imap(ADDRESS) as client:
        client.sock.settimeout(_PATIENCE)
        client.select("INBOX")
        yield client


class Proof:
    """The mailbox, and what must be found in it."""

    def __init__(self, stack: Stack, checks: Checks, count: int) -> None:
        self.stack, self.checks, self.count = stack, checks, count
        self.mailbox = stack.make_mailbox(stack.make_domain("searched.test"), "alice")
        with session(stack):
            pass  # creates the home
        self._fill()

    def _fill(self) -> None:
        """Write the messages as Dovecot would, of 4.7 KB each."""
        maildir = self.stack.data_dir / "mail" / self.mailbox["id"] / "Maildir"
        owner, source = maildir.stat(), random.Random(1)
        words = [stem + middle + end for stem in _STEMS for middle in _MIDDLES for end in _ENDS]
        for number in range(self.count):
            body = "\r\n".join(" ".join(source.choices(words, k=10)) for _ in range(70))
            text = (
                f"From: writer{number % 50}@far.test\r\nTo: {ADDRESS}\r\nSubject: Report {number}\r\n"
                f"Date: {formatdate(1.7e9 + number)}\r\nMessage-ID: <{number}@far.test>\r\n\r\n"
                f"{body}\r\nneedle{number} common{number % _COMMON}\r\n"
            )
            path = maildir / "cur" / f"{1_700_000_000 + number}.{number}.far,S={len(text)}:2,S"
            path.write_text(text)
            os.chown(path, owner.st_uid, owner.st_gid)

    def measure(self, what: str, *words: str) -> tuple[list[bytes], float]:
        """Search in a new session; print the time."""
        with session(self.stack) as client:
            begun = time.perf_counter()
            found = search(client, *words)
            took = time.perf_counter() - begun
        print(f"        {what}: {len(found)} found in {took * 1000:.0f} ms", flush=True)
        return found, took

    def is_complete(self, when: str) -> None:
        """Check that all mail is there, and found by a common and by its own word."""
        with session(self.stack) as client:
            total = int(client.select("INBOX")[1][0] or b"0")
            files = sum(1 for _ in (index_of(self.stack, self.mailbox["id"]).parent / "cur").iterdir())
            found = len(search(client, "common3"))
            own = len(search(client, f"needle{self.count - 2}"))
        expected = self.count // _COMMON
        good = (total, files, found, own) == (self.count, self.count, expected, 1)
        self.checks.check(f"{when}: all mail is there and found", good, f"{total} messages, {found} of {expected}")

    def size(self) -> float:
        """The size of the index in MB."""
        files = index_of(self.stack, self.mailbox["id"]).iterdir()
        return sum(file.stat().st_size for file in files) / 1e6


def _kill_while_building(proof: Proof) -> None:
    """Kill the indexer again and again while it builds the index for searches."""
    killed, stop = 0, threading.Event()

    def kill() -> None:
        nonlocal killed
        while killed < _KILLS and not stop.is_set():
            stop.wait(2)
            killed += kill_workers(proof.stack)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        right, searches = 0, 0
        while killer.is_alive() and searches < _KILLS * 3:
            with session(proof.stack) as client:
                right += len(search(client, "common5")) == proof.count // _COMMON
            searches += 1
    finally:
        stop.set()
        killer.join()
    proof.checks.check(
        "kill -9 of the indexer while it builds: every search is right", right == searches,
        f"{killed} kills, {right} of {searches} searches",
    )  # fmt: skip


def _kill_while_adding(proof: Proof) -> None:
    """Kill the indexer while it adds new mail to a complete index."""
    right = killed = 0
    with session(proof.stack) as client:
        for number in range(_KILLS):
            append(client, ADDRESS, [f"new{number} fresh"] * 50)
            killer = threading.Timer(0.05 * number, lambda: kill_workers(proof.stack))
            killer.start()
            fresh = len(search(client, "fresh"))
            killer.join()
            killed += 1
            right += fresh == 50 * (number + 1) and len(search(client, "common5")) == proof.count // _COMMON
        _remove_fresh(client)
    proof.checks.check(
        "kill -9 of the indexer while it adds new mail: every search is right", right == _KILLS,
        f"{killed} kills, {right} of {_KILLS} searches",
    )  # fmt: skip


def _remove_fresh(client: imaplib.IMAP4) -> None:
    found = search(client, "fresh")
    client.store(b",".join(found).decode(), "+FLAGS", r"\Deleted")
    client.expunge()


def prove(stack: Stack, checks: Checks, count: int) -> None:
    """All checks."""
    proof = Proof(stack, checks, count)
    print(f"\n{count} messages, load {os.getloadavg()[0]:.1f}")
    proof.measure("without an index, first search", "needle77")
    proof.measure("without an index", "needle77")
    proof.measure("without an index, common word", "common3")
    proof.is_complete("off")
    switch(stack, "words")
    _, took = proof.measure("the first search, which builds the index", "needle77")
    print(f"        {count / took:.0f} messages/s, the index has {proof.size():.1f} MB")
    proof.measure("with the index, a word of one message", "needle77")
    proof.measure("with the index, a common word", "common3")
    with session(stack) as client:
        append(client, ADDRESS, ["fresh word"])
        begun = time.perf_counter()
        search(client, "fresh")
        print(f"        after one new message: {(time.perf_counter() - begun) * 1000:.0f} ms")
        _remove_fresh(client)
    proof.is_complete("on")
    switch(stack, "off")
    eventually(lambda: not index_of(stack, proof.mailbox["id"]).exists(), 120, "the removal of the index")
    proof.is_complete("off again, index removed")
    switch(stack, "words")
    _kill_while_building(proof)
    proof.is_complete("after the kills")
    _kill_while_adding(proof)
    proof.is_complete("after the kills")
    print(f"        the index has {proof.size():.1f} MB")
    switch(stack, None)


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(circumstances("full-text search by IMAP"))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-prove-"))
    folder.chmod(0o755)
    checks = Checks()
    try:
        harness.start(folder)
        prove(Stack(folder), checks, count)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
