"""All logs rotate three times while mail with every outcome is delivered: no event is lost or published twice."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.stack.harness import Stack, compress, eventually, rotate

DOMAIN = "rotation.test"
EACH = 30
WANTED: dict[str, tuple[str, ...]] = {
    "anna": ("mail.sent", "mail.delivered"),
    "bounce": ("mail.sent", "mail.bounced permanent"),
    "content": ("mail.sent", "mail.bounced permanent"),
    "defer": ("mail.sent", "mail.bounced temporary", "mail.delivered"),
    "fail": ("mail.sent", "mail.bounced temporary", "mail.failed"),
}
"""The events of mail to each local part."""


def postfix(stack: Stack, command: str, *words: str) -> None:
    argv = [command, "-c", str(stack.data_dir / "postfix" / "conf"), *words]
    subprocess.run(argv, check=True, timeout=30, capture_output=True)


def events_of(stack: Stack, domain: str) -> Counter[tuple[str, str]]:
    """The number of events of each kind for each recipient."""
    found: Counter[tuple[str, str]] = Counter()
    after: str | None = None
    while True:
        place = f"&after={after}" if after else ""
        page: list[dict[str, Any]] = stack.do("GET", f"/events?limit=200&domain_id={domain}{place}")
        for each in page:
            kind, to = each["kind"], each["data"]["to"]
            kind += f" {each['data']['bounce_type']}" if kind == "mail.bounced" else ""
            found[kind, to[0] if isinstance(to, list) else to] += 1
        if not page:
            return found
        after = page[-1]["id"]


def test_three_rotations_under_load_lose_and_repeat_no_outcome(alone: Stack) -> None:
    domain = alone.make_domain(DOMAIN)
    alone.make_mailbox(domain, "alice")
    recipients = [f"{name}+r{number}@remote.test" for number in range(EACH) for name in WANTED]
    rotations: list[float] = []
    over, rotated = threading.Event(), threading.Event()

    def send(number: int) -> int:
        # A quarter of the load follows each rotation.
        while number * 4 >= EACH * len(WANTED) * (len(rotations) + 1) and not rotated.is_set():
            time.sleep(0.05)
        time.sleep(0.2)
        return alone.send(f"shop@{DOMAIN}", recipients[number], subject=recipients[number]).status

    def load() -> None:
        with ThreadPoolExecutor(4) as sending:
            assert set(sending.map(send, range(len(recipients)))) == {200}
        over.set()

    thread = threading.Thread(target=load)
    thread.start()
    try:
        while len(rotations) < 3:
            time.sleep(1.5)
            assert not over.is_set(), "the load was over before the log was rotated three times"
            asyncio.run(rotate(alone.data_dir))
            rotations.append(time.monotonic())
    finally:
        rotated.set()
        thread.join()

    def ended() -> bool:
        # A rotation reloads Postfix; the node agent resumes interrupted deliveries.
        return all(
            alone.do("GET", f"/messages?domain_id={domain}&status={status}&limit=1") == []
            for status in ("submitting", "queued", "deferred")
        )

    eventually(ended, 180, "the end of all mail")
    time.sleep(1)  # enough time for a repeated event
    assert events_of(alone, domain) == Counter((kind, to) for to in recipients for kind in WANTED[to.partition("+")[0]])
    folder = alone.data_dir / "log"
    assert len(list(folder.glob("mail.log*"))) >= 4

    def compressed() -> bool:
        asyncio.run(compress(alone.data_dir))
        return len(list(folder.glob("mail.log.*.gz"))) >= 3

    eventually(compressed, 60, "the compression of what the agent has read")
    for name in ("dovecot", "rspamd", "postgresql"):
        assert list(folder.glob(f"{name}.log.*")), f"{name}.log was not rotated"
    asyncio.run(rotate(alone.data_dir))
    alone.deliver(f"alice@{DOMAIN}", "After the rotation")
    eventually(lambda: "After the rotation" in (folder / "mail.log").read_text(errors="replace"), what="its line")
    eventually(lambda: (folder / "dovecot.log").stat().st_size, what="Dovecot's line")
    loose = [path.name for path in folder.iterdir() if path.stat().st_mode & 0o007]
    assert loose == [], "logs that everybody may read"
