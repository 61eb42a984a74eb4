"""Mail submitted on port 587, with and without our milter: messages a second, and CPU of the process `milter`.

Four clients (threads of one program) send messages of 2 KB, each in one session. The ways alternate:
a mailbox without the milter (only the filter that signs), a mailbox with it, and an API key, whose messages the milter
checks, counts, records and keeps.

Root only, after `mailkeep install`. `python -m bench.milter [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import shutil
import signal
import smtplib
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.full import SINK, wait_for_empty_queue
from bench.rig.calls import cpu_of
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import service_status
from tests.stack import harness
from tests.stack.harness import PASSWORD, Stack, letter

CLIENTS = 4
MAILBOX, KEY = "a mailbox", "an API key"
WAYS = {f"{MAILBOX}, without the milter": False, f"{MAILBOX}, with it": True, f"{KEY}, with it": True}


def main() -> None:
    count, rounds = (int(text) for text in (*sys.argv[1:], *("1200", "5")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends child processes too
    try:
        harness.start(folder, SINK, ABUSE__SENDER_PER_HOUR="1000000000", ABUSE__DOMAIN_PER_HOUR="1000000000")
        compare(Stack(folder), count, rounds)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def compare(stack: Stack, count: int, rounds: int) -> None:
    """Measure all ways and print them."""
    paths = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    domain = stack.make_domain("example.test")
    stack.make_mailbox(domain, "alice")
    key = stack.do("POST", "/api-keys", {"name": "bench", "rate_limit": 0})["key"]
    logins = {MAILBOX: ("alice@example.test", PASSWORD), KEY: ("apikey", key)}
    own = (paths.postfix_conf / "master.cf").read_text()
    without = own.replace(f"unix:{paths.milter_socket},", "")
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    cpu: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(rounds + 1):
        for way, with_milter in WAYS.items():
            use(paths, own if with_milter else without)
            before = milter_cpu(paths)
            took = send(stack, logins[way.partition(",")[0]], count)
            if number:  # the first round warms up
                rates[way].append(count / took)
                cpu[way].append((milter_cpu(paths) - before) * 1000 / count)
            wait_for_empty_queue(paths)
    base = statistics.median(rates[next(iter(WAYS))])
    for way, found in rates.items():
        rate, spent = statistics.median(found), statistics.median(cpu[way])
        print(f"{way}: {rate:.0f} messages/s, ratio {rate / base:.2f}; CPU of the milter {spent:.2f} ms each")
    memory = next(each for each in service_status.list_services(paths.run) if each.name == "milter").memory_bytes
    print(f"memory of the milter afterwards: {memory / 2**20:.1f} MiB")


def use(paths: InstancePaths, services: str) -> None:
    """Let Postfix use this master.cf."""
    file = paths.postfix_conf / "master.cf"
    if file.read_text() != services:
        file.write_text(services)
        subprocess.run(["postfix", "-c", str(paths.postfix_conf), "reload"], check=True, capture_output=True)
        time.sleep(2)


def milter_cpu(paths: InstancePaths) -> float:
    """CPU seconds of the process so far."""
    return cpu_of(next(each.pid for each in service_status.list_services(paths.run) if each.name == "milter") or 0)


def send(stack: Stack, login: tuple[str, str], count: int) -> float:
    """Seconds until all messages are accepted, from clients that have logged in."""
    sessions = [stack.login(*login) for _ in range(CLIENTS)]
    sender, to = "alice@example.test", "customer@elsewhere.test"
    body = ("x" * 62 + "\r\n") * 30

    def submit(client: smtplib.SMTP) -> None:
        for _ in range(count // CLIENTS):
            client.sendmail(sender, [to], letter(to, sender=sender, body=body))
        client.quit()

    began = time.monotonic()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(submit, sessions))
    return time.monotonic() - began


if __name__ == "__main__":
    main()
