"""The cost of mailbox usage (`features/directory/mailbox_usage`, in the processes `lmtp`, `usage` and `node`).

- Mail through the process `lmtp` into five mailboxes: CPU of the process `node` and of the Dovecot tool that it calls,
  per message and as a share of the time. CPU of the process `usage` per login.
- The time from the 250 of a delivery until its message is in the API and until its bytes equal Dovecot's count: on an
  idle instance, and while other mailboxes receive mail.
- A round through all mailboxes: checking folders for changes, and counting by Dovecot.

Root only, after `mailkeep install`. `python -m bench.usage [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

from bench.rig.calls import cpu_of, cpu_of_children
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot.count import count_mailboxes, find_last_change
from mailkeep.run.runtime import service_status
from tests.stack import harness
from tests.stack.harness import INTERNET, Stack, eventually

PEOPLE = ("alice", "bob", "carol", "dave", "erin")
BOXES, FOLDERS, LOGINS = 200, 6, 60
SETTLED = 6.0  # seconds until everything is counted
SINK = ("smtp-sink", "-u", "nobody", "-4", f"{INTERNET}:{{port}}", "1000")


def main() -> None:
    messages, rounds = (int(text) for text in (*sys.argv[1:], *("1000", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends child processes too
    try:
        harness.start(folder, SINK)
        stack = Stack(folder)
        places = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
        domain = stack.make_domain("example.test")
        for name in PEOPLE:
            stack.make_mailbox(domain, name)
        deliveries(places, messages, rounds)
        logins(stack, places)
        delay(stack, places)
        walk(stack, places, folder / "maildirs")
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def deliveries(places: InstancePaths, messages: int, rounds: int) -> None:
    """Deliver mail to five mailboxes, and measure the cost of counting them meanwhile and afterwards."""
    each: list[float] = []
    share: list[float] = []
    rates: list[float] = []
    fill(places, messages // 5)
    for _ in range(rounds):
        time.sleep(SETTLED)
        before, began = our_cpu(places, "node"), time.monotonic()
        rates.append(messages / fill(places, messages))
        share.append((our_cpu(places, "node") - before) / (time.monotonic() - began))
        time.sleep(SETTLED)
        each.append((our_cpu(places, "node") - before) / messages)
    time.sleep(SETTLED)
    before = our_cpu(places, "node")
    time.sleep(SETTLED)
    idle = (our_cpu(places, "node") - before) / SETTLED
    print(f"by the lmtp agent into Dovecot: {statistics.median(rates):.0f} messages/s")
    print(
        f"  counting: {statistics.median(each) * 1000:.2f} ms CPU for each message; the node's agent and its tool have"
    )
    print(f"  {statistics.median(share) * 100:.1f} % of a core meanwhile, {idle * 100:.1f} % at rest")


def logins(stack: Stack, places: InstancePaths) -> None:
    """CPU of the product per IMAP login."""
    before = our_cpu(places, "usage")
    for number in range(LOGINS):
        stack.imap(f"{PEOPLE[number % len(PEOPLE)]}@example.test").logout()
    time.sleep(2)
    print(f"a login: {(our_cpu(places, 'usage') - before) / LOGINS * 1000:.2f} ms CPU of ours")


def delay(stack: Stack, places: InstancePaths) -> None:
    """The time from the reply to a message until the API shows it, and until it is counted."""
    mailbox = stack.make_mailbox(stack.make_domain("delay.test"), "alice")
    conf, login = places.dovecot_conf / "dovecot.conf", mailbox["address"]
    seen: dict[str, list[float]] = {"shown": [], "exact": []}

    def figures() -> tuple[int, int]:
        now = stack.do("GET", f"/mailboxes/{mailbox['id']}")
        return now["message_count"], now["used_bytes"]

    def once(number: int) -> None:
        stack.deliver(login)
        began = time.monotonic()
        eventually(lambda: figures()[0] == number)
        seen["shown"].append(time.monotonic() - began)
        size = asyncio.run(count_mailboxes(conf, [login]))[login].size
        eventually(lambda: figures() == (number, size))
        seen["exact"].append(time.monotonic() - began)

    for name, numbers in (("in quiet", range(1, 16)), ("with mail to others", range(16, 31))):
        for took in seen.values():
            took.clear()
        with streaming(places) if "others" in name else nullcontext():
            for number in numbers:
                once(number)
        for what, took in seen.items():
            print(
                f"from the 250 until {what}, {name}: median {statistics.median(took):.2f} s, at most {max(took):.2f} s"
            )


@contextmanager
def streaming(places: InstancePaths) -> Generator[None]:
    """Continuous mail into five mailboxes, about ten messages per second."""
    ended = threading.Event()

    def send_until_stopped() -> None:
        while not ended.wait(0.4):
            fill(places, len(PEOPLE))

    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(send_until_stopped)
        try:
            yield
        finally:
            ended.set()
            going.result()


def walk(stack: Stack, places: InstancePaths, root: Path) -> None:
    """A round: for each mailbox a check of its folders and a count by Dovecot."""
    for number in range(BOXES):
        for folder in range(FOLDERS):
            for part in ("cur", "new"):
                (root / str(number) / (f".F{folder}" if folder else ".") / part).mkdir(parents=True)
    began = time.process_time()
    for number in range(BOXES):
        find_last_change(root / str(number))
    looked = (time.process_time() - began) / BOXES
    conf, people = places.dovecot_conf / "dovecot.conf", [f"{name}@example.test" for name in PEOPLE] * 20
    began = time.monotonic()
    found = asyncio.run(count_mailboxes(conf, people))
    took = time.monotonic() - began
    assert set(found) == set(people)
    print(
        f"a look at a mailbox of {FOLDERS} folders: {looked * 1e6:.0f} µs; a count: {took / len(people) * 1000:.1f} ms"
    )


def fill(places: InstancePaths, messages: int) -> float:
    """Seconds for `messages` messages through the process `lmtp`, to five mailboxes concurrently."""

    def one(name: str) -> None:
        recipient = f"{name}@example.test"
        argv = ["smtp-source", "-L", "-d", "-s", "1", "-m", str(messages // len(PEOPLE)), "-l", "2048"]
        argv += ["-f", "someone@remote.test", "-t", recipient, f"unix:{places.lmtp_socket}"]
        subprocess.run(argv, check=True)

    began = time.monotonic()
    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        list(pool.map(one, PEOPLE))
    return time.monotonic() - began


def our_cpu(places: InstancePaths, name: str) -> float:
    """CPU seconds of a process and of its finished children."""
    pid = next(part.pid for part in service_status.list_services(places.run) if part.name == name)
    assert pid
    return cpu_of(pid) + cpu_of_children(pid)


if __name__ == "__main__":
    main()
