"""What Sieve sends while its programs are killed: nothing is lost, and no message leaves in part."""

from __future__ import annotations

import contextlib
import os
import signal
import smtplib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.prove.checks import Checks
from tests.stack.harness import PASSWORD, Stack, eventually

_ROUNDS = 3
_LINES = 60_000  # of 72 bytes: so large that the programs are at work for a while
_END = b"The end of the message."
_SETTLED = 180.0
ADDRESS, FRIEND = "alice@kills.test", "friend+kills@remote.test"


def prove(stack: Stack, checks: Checks, install: Callable[[str, str], None]) -> None:
    """`install` uploads and activates a script for an address."""
    domain = stack.make_domain("kills.test")
    stack.make_mailbox(domain, "alice", password=PASSWORD)
    install(ADDRESS, f'require "copy"; redirect :copy "{FRIEND}";')
    stream = _Stream(stack)
    places = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    killed: Counter[str] = Counter()
    with stream.flowing():
        for _ in range(_ROUNDS):
            for name in ("sendmail", "lmtp", "lmtp under sendmail", "reinjection", "postfix", "dovecot"):
                if _kill(places, name):
                    killed[name] += 1
                time.sleep(3)
    names = {
        "sendmail": "the program that writes to the spool",
        "lmtp": "Dovecot's delivery process",
        "lmtp under sendmail": "Dovecot's delivery process while the program writes",
        "reinjection": "the reinjection process",
        "postfix": "Postfix's master",
        "dovecot": "Dovecot's master",
    }
    for name, words in names.items():
        checks.check(f"kill -9 of {words}", killed[name] > 0, f"{killed[name]} times")
    stream.settle(places)
    kept, sent = stream.copies(stack.mail_of(ADDRESS)), stream.copies(stack.caught(FRIEND))
    for what, found in {"mailbox": kept, "redirect": sent}.items():
        lost = stream.accepted - set(found)
        summary = (
            f"{len(stream.accepted)} accepted, {len(lost)} lost, {sum(found.values()) - len(found)} more than once"
        )
        checks.check(what, not lost, summary)
    cut = [name for name, mail in (("mailbox", stack.mail_of(ADDRESS)), ("redirect", stack.caught(FRIEND)))
           for each in mail if _END not in each[-200:]]  # fmt: skip
    checks.check("no message is cut off", not cut, ", ".join(cut))
    checks.check("the spool is empty", not list((places.sieve_spool / "new").iterdir()))


class _Stream:
    """Large messages from outside, one after the other, each until it is accepted."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.accepted: set[str] = set()
        self._stop = threading.Event()

    def _send(self) -> None:
        body = ("x" * 70 + "\r\n") * _LINES + _END.decode()
        number = 0
        while not self._stop.is_set():
            number += 1
            subject = f"Kill {number}"
            while not self._stop.is_set():
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    self.stack.deliver(ADDRESS, subject, body=body)
                    self.accepted.add(subject)
                    break
                time.sleep(0.2)
            time.sleep(0.3)

    @contextlib.contextmanager
    def flowing(self) -> Iterator[None]:
        thread = threading.Thread(target=self._send, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(60)

    def settle(self, places: InstancePaths) -> None:
        def settled() -> bool:
            kept = self.copies(self.stack.mail_of(ADDRESS))
            sent = self.copies(self.stack.caught(FRIEND))
            spooled = list((places.sieve_spool / "new").iterdir())
            return self.accepted <= set(kept) and self.accepted <= set(sent) and not spooled

        with contextlib.suppress(AssertionError):
            eventually(settled, _SETTLED, "all messages")

    def copies(self, mail: list[bytes]) -> Counter[str]:
        lines = [line for each in mail for line in each[:8192].split(b"\r\n") if line.startswith(b"Subject: ")]
        return Counter(line.removeprefix(b"Subject: ").decode() for line in lines)


def _kill(places: InstancePaths, name: str) -> bool:
    """Kill a process of this instance, as soon as there is one."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        pid = _find(places, name)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        time.sleep(0.002)
    return False


def _pid(places: InstancePaths, name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int((places.run / "pids" / f"{name}.pid").read_text().split()[0])
    return None


def _find(places: InstancePaths, name: str) -> int | None:
    if name in ("reinjection", "postfix", "dovecot"):
        return _pid(places, name)
    master = _pid(places, "dovecot")
    for lmtp in _children(master):
        program = next((each for each in _children(lmtp) if b"/bin/sendmail" in _command(each)), None)
        if name == "sendmail" and program is not None:
            return program
        if name == "lmtp under sendmail" and program is not None:
            return lmtp
        if name == "lmtp" and _command(lmtp).partition(b"\0")[0].endswith(b"/lmtp"):
            return lmtp
    return None


def _children(pid: int | None) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
