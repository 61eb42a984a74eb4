"""How long after the log line of a hard bounce its address is suppressed: the full profile, an external server that
refuses each recipient as unknown.

A thread looks at Postfix's log and another one at the table every 5 ms, so a figure is at most 10 ms too large. First
one message after the other, then all at once by `/send/batch`. Root only, after `mailkeep install`.
`python -m bench.bounce_suppression [MESSAGES]`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import psycopg

from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.harness import Stack, eventually

PROMISED = 1.0  # seconds
_BOUNCED = re.compile(rb"to=<([^>]+)>.{1,400}status=bounced")


class Watch:
    """When the log line, and the suppression, of each address was first seen."""

    def __init__(self, stack: Stack) -> None:
        self.logged: dict[str, float] = {}
        self.suppressed: dict[str, float] = {}
        self._ended = threading.Event()
        log = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).mail_log
        url = socket_urls(run_folder(stack.data_dir)).owner
        self._threads = [
            threading.Thread(target=self._watch_log, args=(log,)),
            threading.Thread(target=self._watch_table, args=(url,)),
        ]
        for thread in self._threads:
            thread.start()

    def _watch_log(self, log: Path) -> None:
        with log.open("rb") as file:
            file.seek(0, 2)
            rest = b""
            while not self._ended.wait(0.005):
                *lines, rest = (rest + file.read()).split(b"\n")
                for line in lines:
                    if match := _BOUNCED.search(line):
                        self.logged.setdefault(match[1].decode(), time.monotonic())

    def _watch_table(self, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as conn:
            while not self._ended.wait(0.005):
                for (address,) in conn.execute("SELECT address FROM suppressions").fetchall():
                    self.suppressed.setdefault(address, time.monotonic())

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(10)


def main(count: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    try:
        harness.start(folder, ABUSE__SENDER_PER_HOUR="1000000000", ABUSE__DOMAIN_PER_HOUR="1000000000")
        stack = Stack(folder)
        stack.make_domain("example.test")
        watch = Watch(stack)
        try:
            single = [f"bounce+{number}@remote.test" for number in range(count)]
            for address in single:
                assert stack.send("shop@example.test", address).status == 200
                eventually(lambda wanted=address: wanted in watch.suppressed, what=address)
            together = [f"bounce+batch{number}@remote.test" for number in range(count)]
            messages = [
                {"from": {"email": "shop@example.test"}, "to": [{"email": each}], "subject": "x", "text_body": "x"}
                for each in together
            ]
            assert stack.ask("POST", "/send/batch", {"messages": messages}).status == 200
            eventually(lambda: watch.suppressed.keys() >= set(together), 300, "all suppressions")
        finally:
            watch.end()
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    worst = 0.0
    for name, addresses in (("one after the other", single), ("all at once", together)):
        late = sorted(watch.suppressed[each] - watch.logged[each] for each in addresses)
        worst = max(worst, late[-1])
        print(
            f"{count} {name}: median {median(late) * 1000:.0f} ms, largest {late[-1] * 1000:.0f} ms after the log line"
        )
    result = {"bench": "bounce_suppression", "promise": PROMISED, "ratio": round(worst, 2), "held": worst <= PROMISED}
    print(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
