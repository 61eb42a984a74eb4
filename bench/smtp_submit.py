"""CPU per message of submitting over SMTP, compared with aiosmtplib, and of receiving.

The sink is a separate process that answers from a table. Both clients run on uvloop, keep their connections and send
the same bytes. Medians of interleaved pairs in CPU time of the client; the result is the ratio. Also: composing and
submitting compared with EmailMessage and aiosmtplib, a message of 48 MB, and the CPU of our server for such messages.
`python -m bench.smtp_submit [MESSAGES]`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from statistics import median
from typing import Literal

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


class Taker:
    """A handler that accepts everything and stores nothing."""

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        return SmtpReply(250, "2.1.5", "Ok")

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        return SmtpReply(250, "2.0.0", "Ok: queued as 4jW9")

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        return


async def child(kind: str) -> None:
    """Serve until the standard input ends; print the port, then the CPU seconds that serving took."""
    loop = asyncio.get_running_loop()
    if kind == "sink":
        server = await loop.create_server(Sink, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
    else:
        limits = SmtpLimits(message_size=10**8, sessions_per_source=0)
        port = (await serve("127.0.0.1", 0, Taker(), limits)).port
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)


class Child:
    """A serving process and the CPU time it has used."""

    def __init__(self, kind: Literal["sink", "session"]) -> None:
        command = [sys.executable, "-m", "bench.smtp_submit", kind]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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


async def cpu(times: int, clients: Sequence[Callable[[], Awaitable[object]]]) -> float:
    """CPU seconds of this process per call, for `times` calls by concurrent clients."""

    async def work(client: Callable[[], Awaitable[object]]) -> None:
        for _ in range(times // len(clients)):
            await client()

    start = time.process_time()
    await asyncio.gather(*map(work, clients))
    return (time.process_time() - start) / (times // len(clients) * len(clients))


async def submitting(sink: Child, messages: int) -> dict[str, float]:
    """The ratios of submitting alone, with composing, and of a large message."""
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

    cases = {
        "submit 2 KB": (
            messages,
            [lambda: pool.submit(ENVELOPE, [SMALL], stuffed=True)] * CONNECTIONS,
            theirs(SMALL),
        ),
        "compose and submit 2 KB": (messages, [composing] * CONNECTIONS, [building(o) for o in others]),
        "submit 48 MB": (2, [lambda: pool.submit(ENVELOPE, [LARGE])], theirs(LARGE)[:1]),
        "the same, stuffed before": (
            2,
            [lambda: pool.submit(ENVELOPE, [LARGE], stuffed=True)],
            theirs(LARGE)[:1],
        ),
    }
    ratios: dict[str, float] = {}
    for name, (times, mine, other) in cases.items():
        pairs = PAIRS if times > 2 else 3
        runs = [(await cpu(times, mine), await cpu(max(1, times // 5), other)) for _ in range(pairs)]
        left, right = (median(run[side] for run in runs) for side in (0, 1))
        ratios[name] = median(run[1] / run[0] for run in runs)
        print(f"{name:26} {left * 1e6:12.1f} µs {right * 1e6:14.1f} µs {ratios[name]:8.1f} x")
    await pool.close()
    for other in others:
        other.close()
    return ratios


async def receiving(server: Child, messages: int) -> None:
    """CPU and elapsed seconds of our session per message."""
    pool = SmtpPool(Relay("127.0.0.1", server.port), size=CONNECTIONS)
    for name, times, content in (("2 KB", messages * 5, SMALL), ("48 MB", 5, LARGE)):
        start, used = time.perf_counter(), server.cpu()
        await cpu(times, [lambda c=content: pool.submit(ENVELOPE, [c], stuffed=True)] * min(times, CONNECTIONS))
        seconds, used = time.perf_counter() - start, server.cpu() - used
        print(f"receive {name:18} {used / times * 1e6:12.1f} µs of CPU, {seconds / times * 1e6:,.1f} µs passed")
    await pool.close()


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    sink, server = Child("sink"), Child("session")
    try:
        print(f"{'':26} {'mailkeep':>15} {'aiosmtplib':>17} {'ratio':>10}")
        ratios = uvloop.run(submitting(sink, messages))
        uvloop.run(receiving(server, messages))
    finally:
        sink.end()
        server.end()
    both = ratios["compose and submit 2 KB"]
    print(json.dumps({"bench": "smtp_submit", "promise": 15, "ratio": round(both, 1), "held": both >= 15}))


if __name__ == "__main__":
    if sys.argv[1:] in (["sink"], ["session"]):
        uvloop.run(child(sys.argv[1]))
    else:
        main()
