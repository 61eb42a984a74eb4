"""What the figures of mailboxes cost (`run/figures`).

- Mail into Dovecot by LMTP while it tells each change and each login, against the same Dovecot that tells nothing; CPU
  of the process for each message and each login.
- From a delivery to the figure in the API.
- A round through all mailboxes: looking whether a folder changed, and having Dovecot count it.

Root only, after `mailkeep install`. `python -m bench.figures [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.rig.calls import cpu_of
from mailkeep.db.instance import run_folder
from mailkeep.mail.dovecot_count import changed_at, count
from mailkeep.mail.places import Places
from mailkeep.run import parts_told
from tests.stack import stand
from tests.stack.stand import INTERNET, Stack, eventually

PEOPLE = ("alice", "bob", "carol", "dave", "erin")
BOXES, FOLDERS, LOGINS = 200, 6, 60
SINK = ("smtp-sink", "-u", "nobody", "-4", f"{INTERNET}:{{port}}", "1000")


def main() -> None:
    messages, rounds = (int(text) for text in (*sys.argv[1:], *("1000", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended, too
    try:
        stand.start(folder, SINK)
        stack = Stack(folder)
        places = Places(stack.data_dir, run_folder(stack.data_dir))
        domain = stack.make_domain("example.test")
        for name in PEOPLE:
            stack.make_mailbox(domain, name)
        deliveries(places, messages, rounds)
        logins(stack, places)
        delay(stack)
        walk(stack, places, folder / "maildirs")
    finally:
        stand.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def deliveries(places: Places, messages: int, rounds: int) -> None:
    """Mail into five mailboxes, told and not told, turn by turn."""
    rates: dict[bool, list[float]] = {True: [], False: []}
    cpu: list[float] = []
    fill(places, messages // 5)
    for turn in range(rounds * 2):
        told = turn % 2 == 0
        tell(places, told)
        before = our_cpu(places)
        rates[told].append(messages / fill(places, messages))
        if told:
            time.sleep(2)
            cpu.append((our_cpu(places) - before) / messages)
    with_it, without = statistics.median(rates[True]), statistics.median(rates[False])
    print(f"into Dovecot by LMTP: {without:.0f} messages/s that tells nothing, {with_it:.0f} that tells")
    print(f"  ratio {with_it / without:.2f}; {statistics.median(cpu) * 1000:.2f} ms CPU of ours for each")
    tell(places, True)


def logins(stack: Stack, places: Places) -> None:
    """CPU of ours for a login by IMAP."""
    before = our_cpu(places)
    for number in range(LOGINS):
        stack.imap(f"{PEOPLE[number % len(PEOPLE)]}@example.test").logout()
    time.sleep(2)
    print(f"a login: {(our_cpu(places) - before) / LOGINS * 1000:.2f} ms CPU of ours")


def delay(stack: Stack) -> None:
    """From the reply to a message to its figure."""
    mailbox = stack.make_mailbox(stack.make_domain("delay.test"), "alice")
    took: list[float] = []
    for number in range(1, 16):
        stack.deliver(mailbox["address"])
        began = time.monotonic()
        path = f"/mailboxes/{mailbox['id']}"
        eventually(lambda n=number, p=path: stack.do("GET", p)["message_count"] == n)
        took.append(time.monotonic() - began)
    print(f"from the 250 to the figure: median {statistics.median(took):.2f} s, the latest {max(took):.2f} s")


def walk(stack: Stack, places: Places, root: Path) -> None:
    """A round, for each mailbox: a look at its folders, and a count by Dovecot."""
    for number in range(BOXES):
        for folder in range(FOLDERS):
            for part in ("cur", "new"):
                (root / str(number) / (f".F{folder}" if folder else ".") / part).mkdir(parents=True)
    began = time.process_time()
    for number in range(BOXES):
        changed_at(root / str(number))
    looked = (time.process_time() - began) / BOXES
    conf, people = places.dovecot_conf / "dovecot.conf", [f"{name}@example.test" for name in PEOPLE] * 20
    began = time.monotonic()
    found = asyncio.run(count(conf, people))
    took = time.monotonic() - began
    assert set(found) == set(people)
    print(
        f"a look at a mailbox of {FOLDERS} folders: {looked * 1e6:.0f} µs; a count: {took / len(people) * 1000:.1f} ms"
    )


def tell(places: Places, told: bool) -> None:
    """Have Dovecot tell, or not."""
    conf = places.dovecot_conf / "dovecot.conf"
    text = conf.read_text().replace("quota quota_clone\n", "quota\n")
    if told:
        text = text.replace("$mail_plugins quota\n", "$mail_plugins quota quota_clone\n")
    conf.write_text(text)
    subprocess.run(["doveadm", "-c", str(conf), "reload"], check=True)
    time.sleep(1)


def fill(places: Places, messages: int) -> float:
    """Seconds for so many messages by LMTP, to five mailboxes side by side."""

    def one(name: str) -> None:
        recipient = f"{name}@example.test"
        argv = ["smtp-source", "-L", "-d", "-s", "1", "-m", str(messages // len(PEOPLE)), "-l", "2048"]
        argv += ["-f", "someone@remote.test", "-t", recipient, f"unix:{places.dovecot_lmtp}"]
        subprocess.run(argv, check=True)

    began = time.monotonic()
    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        list(pool.map(one, PEOPLE))
    return time.monotonic() - began


def our_cpu(places: Places) -> float:
    """CPU seconds of the process so far."""
    pid = next(part.pid for part in parts_told.parts_of(places.run) if part.name == "figures")
    assert pid
    return cpu_of(pid)


if __name__ == "__main__":
    main()
