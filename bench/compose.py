"""Composing messages, compared with the standard library: CPU per message, throughput and memory of a large attachment.

Both sides get the same fields and return the bytes for SMTP. Medians of interleaved pairs in CPU time of this
process; the result is the ratio.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from os import urandom
from statistics import median

from mailkeep.core.address import parse_address
from mailkeep.mail.message.attachments import OutgoingAttachment
from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.compose import OutgoingMessage, compose
from mailkeep.mail.message.headers import MailboxAddress

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TEXT = "Hello Bob, here is your invoice. Thank you.\n" * 46
GERMAN = "Grüße an Bob, hier ist die Rechnung. Vielen Dank für alles.\n" * 34
HTML = f"<p>{TEXT}</p>"
PAIRS = 15


def ours(subject: str, text: str, html: str | None = None, body: memoryview | None = None) -> int:
    files = []
    if body is not None:
        files = [OutgoingAttachment("a.bin", "application/octet-stream", Base64.parse(body))]
    mail = OutgoingMessage(
        sender=MailboxAddress(parse_address("alice@example.com"), "Alice Example"),
        to=[MailboxAddress(parse_address("bob@example.org"), "Bob Example")],
        subject=subject,
        message_id="<01996f2e-0000-7000-8000-000000000000@example.com>",
        date=AT,
        text_body=text,
        html_body=html,
        attachments=files,
        headers={"X-Campaign": "spring"},
    )
    return sum(map(len, compose(mail).data_chunks()))


def theirs(subject: str, text: str, html: str | None = None, body: memoryview | None = None) -> int:
    mail = EmailMessage(policy=SMTP)
    mail["From"] = "Alice Example <alice@example.com>"
    mail["To"] = "Bob Example <bob@example.org>"
    mail["Subject"] = subject
    mail["Message-ID"] = "<01996f2e-0000-7000-8000-000000000000@example.com>"
    mail["Date"] = format_datetime(AT)
    mail["X-Campaign"] = "spring"
    mail.set_content(text)
    if html is not None:
        mail.add_alternative(html, subtype="html")
    if body is not None:
        data = b64decode(body, validate=True)
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename="a.bin")
    return len(mail.as_bytes())


def cpu(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def compare(name: str, mine: Callable[[], object], other: Callable[[], object], times: int, pairs: int) -> float:
    """Print microseconds of both sides; return the median of the pairs' ratios."""
    runs = [(cpu(mine, times), cpu(other, max(1, times // 10))) for _ in range(pairs)]
    left, right = median(run[0] for run in runs), median(run[1] for run in runs)
    ratio = median(run[1] / run[0] for run in runs)
    print(f"{name:34} {left * 1e6:12.1f} µs {right * 1e6:14.1f} µs {ratio:8.1f} x")
    return ratio


def memory(work: Callable[[], object]) -> float:
    """Peak of Python memory above the start, in MB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def main() -> None:
    print(f"{'':34} {'mailkeep':>15} {'EmailMessage':>17} {'ratio':>10}")
    small = compare("text, 2 KB", lambda: ours("Your invoice", TEXT), lambda: theirs("Your invoice", TEXT), 1000, PAIRS)
    compare("text, not ASCII, 2 KB", lambda: ours("Grüße", GERMAN), lambda: theirs("Grüße", GERMAN), 1000, PAIRS)
    compare("text and html", lambda: ours("Hi", TEXT, HTML), lambda: theirs("Hi", TEXT, HTML), 1000, PAIRS)
    body = memoryview(b64encode(urandom(37 * 2**20)))
    compare("attachment of 37 MiB", lambda: ours("x", "y", None, body), lambda: theirs("x", "y", None, body), 1, 3)
    seconds = cpu(lambda: ours("x", "y", None, body), 5)
    mine, other = (memory(lambda side=side: side("x", "y", None, body)) for side in (ours, theirs))
    print(f"check and wrap {len(body) / seconds / 1e6:,.0f} MB of base64 a second of CPU")
    print(f"memory above the body {mine:.1f} MB against {other:.1f} MB")
    print(json.dumps({"bench": "compose", "promise": 15, "ratio": round(small, 1), "held": small >= 15}))


if __name__ == "__main__":
    main()
