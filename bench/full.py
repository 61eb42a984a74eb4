"""The full profile compared with its daemons alone: sending, inbound mail, look-ups at RCPT, idle memory.

- `/send/batch` (10 concurrent calls, 100 messages of 2 KB each) and `/send` (10 clients), compared with `smtp-source`
  and the same bytes on the same socket of Postfix. All messages are signed, queued, and delivered to `smtp-sink` at the
  same time. Also: the batch with a webhook for every event, and the delay of the process `logs`. CPU is that of api,
  logs and PostgreSQL until all outcomes are written; `smtp-source` causes some of it too: queries and log.
- Inbound mail until the last delivery: through the process `lmtp`, and from Postfix directly to Dovecot.
- RCPT with 1,000 and with 1,000,000 aliases: the whole reply, on one connection.
- Idle memory of each service (PSS).

Root only, after `mailkeep install`. `python -m bench.full [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
import smtplib
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from bench.rig.calls import call_all, cpu_of, cpu_of_children
from bench.rig.hook_receiver import HookSink
from bench.rig.sends import message
from mailkeep.core.address import parse_address
from mailkeep.core.ids import uuid7
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.message.compose import OutgoingMessage, compose
from mailkeep.mail.message.headers import MailboxAddress
from mailkeep.run.runtime import service_status
from tests.stack import harness
from tests.stack.harness import ADDRESS, INTERNET, Stack
from tests.support.webhook_sink import trusted_settings

OURS = ("api", "logs")
LAG = 3  # seconds until the process `logs` has written the outcome of a log line
# A mailbox accepts one message at a time, so several are used.
PEOPLE = ("alice", "bob", "carol", "dave", "erin")
SINK = ("smtp-sink", "-u", "nobody", "-4", f"{INTERNET}:{{port}}", "1000")


def main() -> None:
    count, rounds = (int(text) for text in (*sys.argv[1:], *("3000", "3")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends child processes too
    trusted = trusted_settings(folder)
    receiver = HookSink(folder)
    try:
        harness.start(
            folder,
            SINK,
            ABUSE__SENDER_PER_HOUR="1000000000",
            ABUSE__DOMAIN_PER_HOUR="1000000000",
            WEBHOOKS__ALLOWED_NETWORKS=json.dumps(trusted.allowed_networks),
            WEBHOOKS__EXTRA_CA_FILE=trusted.extra_ca_file,
        )
        stack = Stack(folder)
        places = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
        memory(places)
        domain = stack.make_domain("example.test")
        for name in PEOPLE:
            stack.make_mailbox(domain, name)
        outbound(stack, places, receiver.url, count, rounds)
        inbound(stack, places, count // 4, rounds)
        lookups(stack, places)
    finally:
        harness.stop(folder)
        receiver.end()
        shutil.rmtree(folder, ignore_errors=True)


def memory(places: InstancePaths) -> None:
    """Idle memory of each service."""
    time.sleep(3)
    services = service_status.list_services(places.run)
    for part in services:
        print(f"memory {part.name:10} {part.memory_bytes / 2**20:6.1f} MiB in {part.processes} processes")
    print(
        f"memory {'together':10} {sum(part.memory_bytes for part in services) / 2**20:6.1f} MiB, PostgreSQL not counted"
    )


def outbound(stack: Stack, places: InstancePaths, hook: str, count: int, rounds: int) -> None:
    """Sending: the API by batch and one by one, compared with `smtp-source`."""
    letter = composed(stack.folder)
    ways = {"/send/batch": 100, "/send": 1, "/send/batch with a webhook": 100}
    rates: dict[str, list[float]] = {way: [] for way in ("smtp-source", *ways)}
    cpu: dict[str, list[dict[str, float]]] = {way: [] for way in rates}
    for _ in range(rounds):
        for way, found in rates.items():
            made = stack.do("POST", "/webhooks", {"url": hook, "events": ["*"]})["id"] if "webhook" in way else None
            before = our_cpu(stack, places)
            if way in ways:
                took = asyncio.run(send(stack, way.partition(" ")[0], ways[way], count))
            else:
                took = run_smtp_source(f"unix:{places.api_smtp}", "customer@elsewhere.test", count, letter=letter)
            found.append(count / took)
            wait_for_empty_queue(places)
            time.sleep(LAG)
            after = our_cpu(stack, places)
            cpu[way].append({name: (after[name] - before[name]) * 1000 / count for name in after})
            if made:
                stack.ask("DELETE", f"/webhooks/{made}")
    base = statistics.median(rates["smtp-source"])
    for way, found in rates.items():
        rate = statistics.median(found)
        parts = {name: statistics.median(each[name] for each in cpu[way]) for name in cpu[way][0]}
        costs = ", ".join(f"{name} {spent:.2f}" for name, spent in parts.items())
        print(f"{way}: {rate:.0f} messages/s, ratio {rate / base:.2f}; CPU {sum(parts.values()):.2f} ms each ({costs})")
    lag(places)


def composed(folder: Path) -> Path:
    """Write the message that the API composes to a file."""
    asked = message()
    sender, to = (MailboxAddress(parse_address(who["email"]), who["name"]) for who in (asked["from"], *asked["to"]))
    mail = OutgoingMessage(
        sender=sender,
        to=[to],
        subject=asked["subject"],
        message_id=f"<{uuid7(datetime.now(UTC))}@{sender.address.domain}>",
        date=datetime.now(UTC),
        text_body=asked["text_body"],
    )
    file = folder / "letter.eml"
    file.write_bytes(b"".join(compose(mail).chunks()).replace(b"\r\n", b"\n"))  # smtp-source adds the CR
    return file


def lag(places: InstancePaths) -> None:
    """Seconds from the log line to the written delivery outcome, for the last 250."""
    time.sleep(5)
    with psycopg.connect(socket_urls(places.run).owner) as conn:
        rows = conn.execute(
            """
            SELECT extract(epoch FROM e.created_at - a.at)::float8 FROM events e
            JOIN message_attempts a ON a.message_id = e.message_id AND a.kind = 'delivered'
            WHERE e.kind = 'mail.delivered' ORDER BY e.tx DESC LIMIT 250
            """
        ).fetchall()
    late = sorted(seconds for (seconds,) in rows)
    print(f"the last {len(late)} outcomes were written {statistics.median(late):.2f} s after their log lines")
    print(f"  (median; the latest {late[-1]:.2f} s)")


async def send(stack: Stack, path: str, batch: int, count: int) -> float:
    """Seconds for `count` messages by the API."""
    one = message()
    body = json.dumps(one if batch == 1 else {"messages": [one] * batch}).encode()
    port = int(stack.api.rpartition(":")[2])
    headers = {"Cookie": stack.cookie, "Content-Type": "application/json"}
    began = time.monotonic()
    await call_all(port, "POST", f"/api/v1{path}", headers, [body] * (count // batch), 10)
    return time.monotonic() - began


def our_cpu(stack: Stack, places: InstancePaths, names: tuple[str, ...] = OURS) -> dict[str, float]:
    """CPU seconds so far."""
    pids = {part.name: part.pid for part in service_status.list_services(places.run)}
    up = int((stack.data_dir / "lock").read_text())
    children = Path(f"/proc/{up}/task/{up}/children").read_text().split()
    servers = [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == "postgres\n"]
    ours = {name: cpu_of(pid) for name in names if (pid := pids[name])}
    return ours | {"database": sum(map(cpu_of, servers)) + sum(map(cpu_of_children, servers))}


def inbound(stack: Stack, places: InstancePaths, count: int, rounds: int) -> None:
    """Inbound mail until it is in the mailbox, with and without the process `lmtp`."""
    ways = {"straight to Dovecot": places.dovecot_lmtp, "by the lmtp agent": places.lmtp_socket}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    places.dovecot_lmtp.chmod(0o666)  # usually only the process `lmtp` has access
    for _ in range(rounds):
        for name, path in ways.items():
            settings = f"virtual_transport=lmtp:unix:{path}"
            subprocess.run(["postconf", "-c", str(places.postfix_conf), "-e", settings], check=True)
            subprocess.run(["postfix", "-c", str(places.postfix_conf), "reload"], check=True, capture_output=True)
            time.sleep(2)
            began = time.monotonic()
            with ThreadPoolExecutor(len(PEOPLE)) as pool:
                where = f"inet:{ADDRESS}:{stack.ports['smtp']}"
                each = [
                    pool.submit(run_smtp_source, where, f"{who}@example.test", count // len(PEOPLE), 2)
                    for who in PEOPLE
                ]
                for one in each:
                    one.result()
            wait_for_empty_queue(places)
            rates[name].append(count / (time.monotonic() - began))
    base, agent = (statistics.median(found) for found in rates.values())
    print(f"from outside directly to Dovecot: {base:.0f} messages/s")
    print(f"from outside through lmtp: {agent:.0f} messages/s, ratio {agent / base:.2f}")


def lookups(stack: Stack, places: InstancePaths) -> None:
    """RCPT on one connection, with few and with many aliases."""
    medians: list[float] = []
    for number, total in ((1, 1_000), (2, 1_000_000)):
        name = f"aliases{number}.test"
        domain = stack.make_domain(name)
        with psycopg.connect(socket_urls(places.run).app) as conn:
            conn.execute(
                """
                INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations, destination_keys,
                                     active, created_at, updated_at)
                SELECT gen_random_uuid(), %(domain)s, 'a' || n, 'a' || n, ARRAY['alice@example.test'],
                       ARRAY['alice@example.test'], true, now(), now()
                FROM generate_series(1, %(total)s) n
                """,
                {"domain": domain, "total": total},
            )
        with psycopg.connect(socket_urls(places.run).owner, autocommit=True) as conn:
            conn.execute("ANALYZE aliases")
        took: list[float] = []
        with smtplib.SMTP(ADDRESS, stack.ports["smtp"], timeout=30) as client:
            client.ehlo()
            for turn in range(2_000):
                if turn % 100 == 0:
                    client.rset()
                    client.mail("someone@remote.test")
                began = time.perf_counter()
                code, _ = client.rcpt(f"a{random.randint(1, total)}@{name}")
                took.append((time.perf_counter() - began) * 1000)
                assert code == 250
        took.sort()
        medians.append(took[len(took) // 2])
        print(f"RCPT among {total:,} aliases: median {medians[-1]:.2f} ms, p99 {took[len(took) * 99 // 100]:.2f} ms")
    print(f"RCPT, ratio of the medians: {medians[1] / medians[0]:.2f}")


def run_smtp_source(where: str, recipient: str, count: int, sessions: int = 10, letter: Path | None = None) -> float:
    """Seconds of smtp-source for `count` messages with this content, or with 2 KB of its own."""
    sender = "shop@example.test" if where.startswith("unix:") else "someone@remote.test"
    content = ("-F", str(letter)) if letter else ("-l", "2048")
    began = time.monotonic()
    subprocess.run(
        [
            "smtp-source",
            "-s",
            str(sessions),
            "-m",
            str(count),
            *content,
            "-f",
            sender,
            "-t",
            recipient,
            "-d",
            where,
        ],
        check=True,
    )
    return time.monotonic() - began


def wait_for_empty_queue(places: InstancePaths) -> None:
    """Wait until the queue is empty."""
    while (
        "Mail queue is empty"
        not in subprocess.run(
            ["postqueue", "-c", str(places.postfix_conf), "-p"], capture_output=True, text=True, check=False
        ).stdout
    ):
        time.sleep(0.1)


if __name__ == "__main__":
    main()
