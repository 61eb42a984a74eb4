"""The process `logs` with a Postfix log: events, lines and messages per second, and CPU per message.

Promise (shared with api and PostgreSQL): ≤ 0.45 ms of CPU per message. Each message has its complete log lines: smtpd,
cleanup, qmgr, a delivery, removed. Its attempt is in the history, as the API writes it before submitting. The log is
read at once, as after an outage, and in parts of a tenth of a second at 500 messages per second, as in a running
instance. Then inbound mail that other processes record. `python -m bench.logs_agent [MESSAGES]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from bench.rig.data import application, database
from mailkeep.app import App
from mailkeep.core.ids import uuid7
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Message, Recipient
from mailkeep.run.processes.logs_agent import LogFollower
from tests.support.client import DOMAIN_IDS, EXAMPLE

_A_PIECE = 50


def _attempt(app: App, number: int) -> Message:
    at = app.clock()
    one = uuid7(at)
    to = f"customer{number}@far.test"
    return Message(
        id=one, direction="outbound", message_id=f"<{one}@{EXAMPLE}>", queue_id=None, domain_id=DOMAIN_IDS[EXAMPLE],
        domain_name=EXAMPLE, mailbox_id=None, source="api", admin_id=None, api_key_id=None,
        mail_from=f"shop@{EXAMPLE}", from_address=f"shop@{EXAMPLE}", to_addresses=[to], cc_addresses=[],
        subject="Your order", size=2048, status="submitting", created_at=at, recipients=[Recipient(to, "submitting")],
    )  # fmt: skip


def _lines(message: Message, number: int, stamp: str) -> str:
    queue_id = f"4jWz{number:08d}z1".translate(str.maketrans("aeiou", "bcdfg"))
    head, to = f"{stamp} mx postfix/", message.to_addresses[0]
    return (
        f"{head}api/smtpd[9]: {queue_id}: client=localhost[127.0.0.1]\n"
        f"{head}cleanup[9]: {queue_id}: message-id={message.message_id}\n"
        f"{head}qmgr[9]: {queue_id}: from=<{message.mail_from}>, size=2048, nrcpt=1 (queue active)\n"
        f"{head}smtp[9]: {queue_id}: to=<{to}>, relay=mx.far.test[192.0.2.1]:25, delay=0.2, delays=0.1/0/0/0.1, "
        "dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as 12345)\n"
        f"{head}qmgr[9]: {queue_id}: removed\n"
    )


def _inbound_lines(number: int, stamp: str) -> str:
    """The lines of an inbound message to a mailbox; the process `logs` stops tracking it at its end."""
    queue_id = f"4jWx{number:08d}z1".translate(str.maketrans("aeiou", "bcdfg"))
    head, to = f"{stamp} mx postfix/", f"alice@{EXAMPLE}"
    about = f"from h[192.0.2.5]; from=<x@far.test> to=<{to}> proto=ESMTP helo=<h>"
    return (
        f"{head}mx/smtpd[9]: {queue_id}: client=h[192.0.2.5]\n"
        f"{head}inbound/cleanup[9]: {queue_id}: info: header From: A <x@far.test> {about}\n"
        f"{head}inbound/cleanup[9]: {queue_id}: info: header Subject: Your order {about}\n"
        f"{head}inbound/cleanup[9]: {queue_id}: message-id=<{number}@far.test>\n"
        f"{head}qmgr[9]: {queue_id}: from=<x@far.test>, size=2048, nrcpt=1 (queue active)\n"
        f"{head}lmtp[9]: {queue_id}: to=<{to}>, relay=mx[/run/lmtp.sock], delay=0.2, delays=0.1/0/0/0.1, dsn=2.0.0, "
        "status=sent (250 2.0.0 Saved)\n"
        f"{head}qmgr[9]: {queue_id}: removed\n"
    )


async def _read(app: App, log: Path, texts: list[str], *, whole: bool) -> tuple[float, float]:
    """Seconds and CPU seconds for the lines of `count` messages, written at once or in parts."""
    follower = LogFollower(app, log)
    began = cpu = 0.0
    for piece in [texts] if whole else [texts[at : at + _A_PIECE] for at in range(0, len(texts), _A_PIECE)]:
        with log.open("a") as file:
            file.writelines(piece)
        started, used = time.perf_counter(), _cpu()
        while await follower.read_next():
            pass
        began += time.perf_counter() - started
        cpu += _cpu() - used
    return began, cpu


def _postgres() -> float:
    """Seconds of CPU of the server that we started, and of its processes."""
    ours: dict[int, float] = {}
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            if name == "postgres":
                fields = rest.split()
                pid = int(path.parent.name)
                parents[pid], ours[pid] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    server = next((pid for pid, parent in parents.items() if parent == os.getpid()), 0)
    return sum(seconds for pid, seconds in ours.items() if server in (pid, parents[pid]))


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _bench(count: int) -> None:
    async with database() as urls:
        with tempfile.TemporaryDirectory() as folder:
            async with application(urls, Path(folder)) as app:
                for name, whole in (("whole", True), ("in pieces", False)):
                    attempts = [_attempt(app, number) for number in range(count)]
                    for at in range(0, count, 1000):
                        async with app.db.tx() as conn:
                            await messages.insert_messages(conn, attempts[at : at + 1000])
                    stamp = f"{app.clock().astimezone():%b %e %H:%M:%S}"
                    texts = [
                        _lines(message, number + (0 if whole else count), stamp)
                        for number, message in enumerate(attempts)
                    ]
                    before = _postgres()
                    seconds, cpu = await _read(app, Path(folder) / f"{name}.log", texts, whole=whole)
                    async with app.db.autocommit() as conn:
                        row = await (await conn.execute("SELECT count(*) AS n FROM events")).fetchone()
                    assert row is not None
                    assert row["n"] == 2 * count * (1 if whole else 2)
                    print(
                        f"{name}: {2 * count / seconds:,.0f} events a second, {5 * count / seconds:,.0f} lines, "
                        f"{count / seconds:,.0f} messages; {cpu / count * 1e6:,.0f} µs of CPU a message in the agent, "
                        f"{(_postgres() - before) / count * 1e6:,.0f} in PostgreSQL"
                    )
                stamp = f"{app.clock().astimezone():%b %e %H:%M:%S}"
                texts = [_inbound_lines(number, stamp) for number in range(count)]
                before = _postgres()
                # A part may end anywhere: the lines of each message are in several parts.
                lines = [line for text in texts for line in text.splitlines(keepends=True)]
                parts = ["".join(lines[at : at + 7]) for at in range(3, len(lines), 7)]
                seconds, cpu = await _read(app, Path(folder) / "inbound.log", parts, whole=False)
                print(
                    f"inbound, in pieces: {count / seconds:,.0f} messages a second; {cpu / count * 1e6:,.0f} µs of CPU "
                    f"a message in the agent, {(_postgres() - before) / count * 1e6:,.0f} in PostgreSQL"
                )


def main() -> None:
    asyncio.run(_bench(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))


if __name__ == "__main__":
    main()
