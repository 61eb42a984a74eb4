"""Inbound mail: CPU of each process per message, compared with plain Postfix and Dovecot with the same filter.

20 connections deliver messages of 2 KB to five mailboxes until the last is delivered. The plain side is the same
instance with a reduced Postfix configuration: a static domain and mailboxes, no look-ups in PostgreSQL, no sender
rewriting, no header lines in the log, and delivery directly to Dovecot. CPU is that of each service's processes and of
their finished children. It depends little on the load of the machine; the rates do.

Root only, after `mailkeep install`. `python -m bench.inbound [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.full import PEOPLE, SINK, run_smtp_source, wait_for_empty_queue
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import child, service_status
from tests.stack import harness
from tests.stack.harness import ADDRESS, Stack
from tests.support.processes import children

_TICKS = os.sysconf("SC_CLK_TCK")
PLAIN = (
    "virtual_mailbox_domains=example.test",
    "virtual_mailbox_maps=static:1",
    "virtual_alias_maps=",
    "smtpd_relay_restrictions=reject_unauth_destination",
    "smtpd_recipient_restrictions=reject_unauth_destination",
)


def main() -> None:
    """Print both sides and the ratio."""
    count, rounds = (int(text) for text in (*sys.argv[1:], *("1000", "3")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        harness.start(folder, SINK)
        stack = Stack(folder)
        places = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
        domain = stack.make_domain("example.test")
        for name in PEOPLE:
            stack.make_mailbox(domain, name)
        compare(stack, places, count, rounds)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def compare(stack: Stack, places: InstancePaths, count: int, rounds: int) -> None:
    """Interleaved rounds of both sides; medians."""
    ours = {name: (places.postfix_conf / name).read_text() for name in ("main.cf", "master.cf")}
    places.dovecot_lmtp.chmod(0o666)  # usually only the process `lmtp` has access
    rates: dict[str, list[float]] = {"plain": [], "mailkeep": []}
    cpu: dict[str, list[dict[str, float]]] = {side: [] for side in rates}
    for _ in range(rounds):
        for side, found in rates.items():
            configure(places, ours, plain=side == "plain")
            before, began = spent(stack, places), time.monotonic()
            with ThreadPoolExecutor(len(PEOPLE)) as pool:
                where = f"inet:{ADDRESS}:{stack.ports['smtp']}"
                sends = [
                    pool.submit(run_smtp_source, where, f"{who}@example.test", count // len(PEOPLE), 4)
                    for who in PEOPLE
                ]
                for each in sends:
                    each.result()
            wait_for_empty_queue(places)
            found.append(count / (time.monotonic() - began))
            configure(
                places, ours, plain=side == "plain"
            )  # ends Postfix's processes: only the CPU of ended children is counted
            time.sleep(3)
            after = spent(stack, places)
            cpu[side].append({name: (after[name] - before[name]) * 1000 / count for name in after})
    for side, found in rates.items():
        parts = {name: statistics.median(each[name] for each in cpu[side]) for name in cpu[side][0]}
        costs = ", ".join(
            f"{name} {ms:.2f}" for name, ms in sorted(parts.items(), key=lambda each: -each[1]) if ms >= 0.01
        )
        print(f"{side}: {statistics.median(found):.0f} messages/s; CPU {sum(parts.values()):.2f} ms each ({costs})")
    base, own = (statistics.median(found) for found in rates.values())
    print(f"ratio {own / base:.2f}")


def configure(places: InstancePaths, ours: dict[str, str], *, plain: bool) -> None:
    """Apply the product's Postfix configuration or the plain one."""
    for name, text in ours.items():
        (places.postfix_conf / name).write_text(text)
    if plain:
        conf = ["-c", str(places.postfix_conf)]
        transport = f"virtual_transport=lmtp:unix:{places.dovecot_lmtp}"
        subprocess.run(["postconf", *conf, "-e", transport, *PLAIN], check=True)
        subprocess.run(["postconf", *conf, "-F", "inbound-cleanup/unix/command=cleanup"], check=True)
    subprocess.run(["postfix", "-c", str(places.postfix_conf), "reload"], check=True, capture_output=True)
    time.sleep(2)


def spent(stack: Stack, places: InstancePaths) -> dict[str, float]:
    """Seconds of CPU by service, and by program within Postfix's and Dovecot's."""
    found = {
        part.name: sum(seconds(pid) for pid in child.list_session(part.pid))
        for part in service_status.list_services(places.run)
        if part.pid
    }
    up = int((stack.data_dir / "lock").read_text())
    server = next(pid for pid in children(up) if Path(f"/proc/{pid}/comm").read_text() == "postgres\n")
    return found | {"postgresql": sum(seconds(pid) for pid in (server, *children(server)))}


def seconds(pid: int) -> float:
    """CPU of a process and of its children that have ended (proc(5): utime, stime, cutime, cstime)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


if __name__ == "__main__":
    main()
