"""What the decision at the end of DATA costs: CPU of all processes per inbound message, with and without the filter's
question to Mailkeep (`rspamd/lua/verdict.lua`), and their ratio.

20 connections deliver messages of 2 KB to five mailboxes until the last is delivered; interleaved rounds, medians. The
domain has 1,000 list entries of its own and each mailbox 100, of which none matches.

Root only, after `mailkeep install`. `python -m bench.verdict [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psycopg

from bench.full import PEOPLE, SINK, run_smtp_source, wait_for_empty_queue
from bench.inbound import spent
from mailkeep.core.ids import uuid7
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import rspamd_reload, service_status
from tests.stack import harness
from tests.stack.harness import ADDRESS, Stack

_PART = 'require "lua.verdict"\n'


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
        mailboxes = [stack.make_mailbox(domain, name)["id"] for name in PEOPLE]
        add_entries(places, domain, mailboxes)
        compare(stack, places, count, rounds)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def add_entries(places: InstancePaths, domain: str, mailboxes: list[str]) -> None:
    """Insert allow entries that match nothing."""
    at = datetime.now(UTC)
    scopes = [(domain, None, 1000), *((None, mailbox, 100) for mailbox in mailboxes)]
    rows = [
        (uuid7(at), domain_id and UUID(domain_id), mailbox_id and UUID(mailbox_id), f"n{number}@never.test", at)
        for domain_id, mailbox_id, size in scopes
        for number in range(size)
    ]
    with psycopg.connect(socket_urls(places.run).app) as conn, conn.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO filter_entries (id, domain_id, mailbox_id, list, kind, value, created_by, created_at) "
            "VALUES (%s, %s, %s, 'allow', 'address', %s, 'bench', %s)",
            rows,
        )


def compare(stack: Stack, places: InstancePaths, count: int, rounds: int) -> None:
    """Interleaved rounds of both sides; medians."""
    local = places.rspamd_conf / "rspamd.local.lua"
    asking = local.read_text()
    assert _PART in asking
    texts = {"without": asking.replace(_PART, ""), "with": asking}
    cpu: dict[str, list[dict[str, float]]] = {side: [] for side in texts}
    for number in range(rounds + 1):
        for side, text in texts.items():
            local.write_text(text)
            reload(places)
            before = spent(stack, places)
            deliver(stack, places, count)
            after = spent(stack, places)
            if number:  # the first round warms up
                cpu[side].append({name: (after[name] - before[name]) * 1000 / count for name in after})
    totals = {side: statistics.median(sum(each.values()) for each in found) for side, found in cpu.items()}
    for side, found in cpu.items():
        parts = {name: statistics.median(each[name] for each in found) for name in found[0]}
        costs = ", ".join(
            f"{name} {ms:.2f}" for name, ms in sorted(parts.items(), key=lambda each: -each[1]) if ms >= 0.01
        )
        print(f"{side}: CPU {totals[side]:.2f} ms each ({costs})")
    print(f"ratio {totals['with'] / totals['without']:.3f}; load {os.getloadavg()[0]:.0f}")


def reload(places: InstancePaths) -> None:
    """Let Rspamd use its changed file."""
    (pid,) = [each.pid for each in service_status.list_services(places.run) if each.name == "rspamd"]
    assert pid
    asyncio.run(rspamd_reload.reload(places, pid))
    time.sleep(3)


def deliver(stack: Stack, places: InstancePaths, count: int) -> None:
    """Send messages to all mailboxes until the last is delivered."""
    where = f"inet:{ADDRESS}:{stack.ports['smtp']}"
    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        sends = [pool.submit(run_smtp_source, where, f"{who}@example.test", count // len(PEOPLE), 4) for who in PEOPLE]
        for each in sends:
            each.result()
    wait_for_empty_queue(places)
    time.sleep(3)  # what is written later


if __name__ == "__main__":
    main()
