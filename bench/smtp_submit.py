"""Our SMTP client against aiosmtplib and smtplib in threads, our SMTP server against aiosmtpd: CPU time per message.

The sink is a process of its own that answers from a table; all clients keep their connections and send the same
bytes, ours and aiosmtplib on uvloop. Interleaved runs, CPU time of the client; the ratio is what counts. Then
compose and submit together against EmailMessage and aiosmtplib, and one message of 48 MB. Both servers run on uvloop
with a handler that accepts everything; our client sends to them alternately. `python -m bench.smtp_submit [MESSAGES]`.
"""

from __future__ import annotations

import asyncio
import json
import os
import smtplib
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from functools import partial
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

import aiosmtpd.smtp
import aiosmtplib
import uvloop

from mailkeep.core.address import parse_address
from mailkeep.mail.message.compose import OutgoingMessage, compose
from mailkeep.mail.message.headers import MailboxAddress
from mailkeep.mail.smtp.client import OutgoingEnvelope
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage

PAIRS = 7
CONNECTIONS = 10
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TEXT = "Hello Bob, here is your invoice. Thank you.\n" * 46
SMALL = b"Subject: x\r\n\r\n" + TEXT.replace("\n", "\r\n").encode()
LARGE = b"Subject: x\r\n\r\n" + (b"A" * 76 + b"\r\n") * (48_000_000 // 78)
ENVELOPE = OutgoingEnvelope("alice@example.com", ["bob@example.org"])


class Sink(asyncio.Protocol):
    """A minimal SMTP server with PIPELINING."""

    def __init__(self) -> None:
        self.in_data = False
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.answer(b"220 sink ESMTP\r\n")

    def answer(self, reply: bytes) -> None:
        self.transport.write(reply)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if self.in_data:
            self.rest = (self.rest + data)[-5:] if len(data) < 5 else data[-5:]
            if self.rest == b"\r\n.\r\n":
                self.in_data, self.rest = False, b""
                self.answer(b"250 2.0.0 Ok: queued as 4jW9\r\n")
            return
        lines = (self.rest + data).split(b"\r\n")
        self.rest = lines.pop()
        self.answer(b"".join(self.reply(line[:4].upper()) for line in lines))

    def reply(self, verb: bytes) -> bytes:
        if verb == b"EHLO":
            return b"250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 100000000\r\n"
        if verb == b"DATA":
            self.in_data = True
            return b"354 go\r\n"
        return b"250 2.1.0 Ok\r\n"


class AcceptingHandler:
    """A handler that accepts everything and stores nothing."""

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        return SmtpReply(250, "2.1.5", "Ok")

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        return SmtpReply(250, "2.0.0", "Ok: queued as 4jW9")

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        return


class AcceptingAiosmtpdHandler:
    """The same for aiosmtpd, which accepts senders and recipients without a handler."""

    async def handle_DATA(self, server: object, session: object, envelope: object) -> str:  # noqa: N802
        return "250 2.0.0 Ok: queued as 4jW9"


async def child(kind: str) -> None:
    """Serve until the standard input ends; print the port, then the CPU seconds that serving took."""
    loop = asyncio.get_running_loop()
    if kind == "sink":
        server = await loop.create_server(Sink, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
    elif kind == "aiosmtpd":
        taker = AcceptingAiosmtpdHandler()
        factory = lambda: aiosmtpd.smtp.SMTP(taker, data_size_limit=10**8, enable_SMTPUTF8=True, loop=loop)  # noqa: E731
        server = await loop.create_server(factory, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
    else:
        limits = SmtpLimits(message_size=10**8, sessions_per_source=0)
        port = (await serve("127.0.0.1", 0, AcceptingHandler(), limits)).port
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)


class Child:
    """A serving process and the CPU time it has used."""

    def __init__(self, kind: Literal["sink", "session", "aiosmtpd"]) -> None:
        command = [sys.executable, "-m", "bench.smtp_submit", kind]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """The highest memory since the last call, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def end(self) -> None:
        self.process.communicate(timeout=10)


def composed() -> OutgoingMessage:
    return OutgoingMessage(
        sender=MailboxAddress(parse_address("alice@example.com"), "Alice Example"),
        to=[MailboxAddress(parse_address("bob@example.org"), "Bob Example")],
        subject="Your invoice",
        message_id="<01996f2e-0000-7000-8000-000000000000@example.com>",
        date=AT,
        text_body=TEXT,
    )


def built() -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"] = "Alice Example <alice@example.com>"
    mail["To"] = "Bob Example <bob@example.org>"
    mail["Subject"] = "Your invoice"
    mail["Message-ID"] = "<01996f2e-0000-7000-8000-000000000000@example.com>"
    mail["Date"] = "Fri, 02 Jan 2026 03:04:05 +0000"
    mail.set_content(TEXT)
    return mail


class Run(NamedTuple):
    """CPU seconds and elapsed seconds, each of one message."""

    cpu: float
    elapsed: float


async def run(times: int, clients: Sequence[Callable[[], Awaitable[object]]], child: Child | None = None) -> Run:
    """`times` calls by concurrent clients; CPU time of `child`, or of this process."""

    async def work(client: Callable[[], Awaitable[object]]) -> None:
        for _ in range(times // len(clients)):
            await client()

    used = child.cpu if child else time.process_time
    start, before = time.perf_counter(), used()
    await asyncio.gather(*map(work, clients))
    calls = times // len(clients) * len(clients)
    return Run((used() - before) / calls, (time.perf_counter() - start) / calls)


async def compare(
    name: str, pairs: int, ours: Callable[[], Awaitable[Run]], other: Callable[[], Awaitable[Run]]
) -> float:
    """Run both alternately and print the medians; returns the median ratio of CPU time, other to ours."""
    runs = [(await ours(), await other()) for _ in range(pairs + 1)][1:]  # the first warms up
    left, right = (Run(*(median(run[side][field] for run in runs) for field in (0, 1))) for side in (0, 1))
    ratios = sorted(run[1].cpu / run[0].cpu for run in runs)
    print(
        f"{name:34} {left.cpu * 1e6:10.1f} µs {1 / left.elapsed:8,.1f}/s {right.cpu * 1e6:10.1f} µs"
        f" {1 / right.elapsed:8,.1f}/s {ratios[0]:7.1f} {median(ratios):7.1f} {ratios[-1]:7.1f}"
    )
    return median(ratios)


async def submitting(sink: Child, messages: int) -> float:
    """Compare submitting alone, composing and submitting, and submitting a large message. Returns the ratio of the
    second.
    """
    pool = SmtpPool(Relay("127.0.0.1", sink.port), size=CONNECTIONS)
    others = [aiosmtplib.SMTP(hostname="127.0.0.1", port=sink.port, use_tls=False) for _ in range(CONNECTIONS)]
    for other in others:
        await other.connect()

    def theirs(content: bytes) -> list[Callable[[], Awaitable[object]]]:
        return [lambda o=other: o.sendmail("alice@example.com", ["bob@example.org"], content) for other in others]

    async def composing() -> None:
        await pool.submit(ENVELOPE, compose(composed()).data_chunks(), stuffed=True)

    def building(other: aiosmtplib.SMTP) -> Callable[[], Awaitable[object]]:
        return lambda: other.sendmail("alice@example.com", ["bob@example.org"], built().as_bytes())

    small = [lambda: pool.submit(ENVELOPE, [SMALL], stuffed=True)] * CONNECTIONS
    fewer = max(CONNECTIONS, messages // 5)
    await compare("submit 2 KB, aiosmtplib", PAIRS, lambda: run(messages, small), lambda: run(fewer, theirs(SMALL)))
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        loop = asyncio.get_running_loop()
        blocking = [smtplib.SMTP("127.0.0.1", sink.port) for _ in range(CONNECTIONS)]

        def threaded(client: smtplib.SMTP) -> Callable[[], Awaitable[object]]:
            send = partial(client.sendmail, "alice@example.com", ["bob@example.org"], SMALL)
            return lambda: loop.run_in_executor(threads, send)

        clients = [threaded(client) for client in blocking]
        await compare(
            "submit 2 KB, smtplib in threads", PAIRS, lambda: run(messages, small), lambda: run(fewer, clients)
        )
        for client in blocking:
            client.close()
    both = await compare(
        "compose and submit 2 KB, aiosmtplib",
        PAIRS,
        lambda: run(messages, [composing] * CONNECTIONS),
        lambda: run(fewer, [building(other) for other in others]),
    )
    for name, stuffed in (("submit 48 MB", False), ("the same, stuffed before", True)):
        large = partial(pool.submit, ENVELOPE, [LARGE], stuffed=stuffed)
        await compare(name, 3, lambda once=large: run(2, [once]), lambda: run(2, theirs(LARGE)[:1]))
    await pool.close()
    for other in others:
        other.close()
    return both


async def receiving(server: Child, other: Child, messages: int) -> None:
    """Compare the CPU time of both servers per message, and their highest memory."""
    pools = [SmtpPool(Relay("127.0.0.1", each.port), size=CONNECTIONS) for each in (server, other)]
    for name, times, pairs, content in (("2 KB", messages, PAIRS, SMALL), ("48 MB", 2, 3, LARGE)):

        def half(pool: SmtpPool, child: Child, times: int = times, content: bytes = content) -> Awaitable[Run]:
            return run(times, [lambda: pool.submit(ENVELOPE, [content], stuffed=True)] * min(times, CONNECTIONS), child)

        for child in (server, other):
            child.peak()
        await compare(
            f"receive {name}, aiosmtpd", pairs, partial(half, pools[0], server), partial(half, pools[1], other)
        )
        print(f"  most memory: {server.peak():,.0f} MiB, aiosmtpd {other.peak():,.0f} MiB")
    for pool in pools:
        await pool.close()


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    children = sink, server, other = Child("sink"), Child("session"), Child("aiosmtpd")
    try:
        print(f"{'':34} {'mailkeep: CPU, rate':>24} {'other: CPU, rate':>24} {'ratio: min, median, max':>24}")
        both = uvloop.run(submitting(sink, messages))
        uvloop.run(receiving(server, other, messages))
    finally:
        for each in children:
            each.end()
    print(json.dumps({"bench": "smtp_submit", "promise": 15, "ratio": round(both, 1), "held": both >= 15}))


if __name__ == "__main__":
    if sys.argv[1:] in (["sink"], ["session"], ["aiosmtpd"]):
        uvloop.run(child(sys.argv[1]))
    else:
        main()
