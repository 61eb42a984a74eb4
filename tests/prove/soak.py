"""`make prove-soak` (ARGS=minutes; 30 without): what an instance holds stays flat under mixed load, hour after hour.

Readers, writers, senders, strangers who deliver, people who log in, and clients who break off in the middle of a head,
a body, an answer or a dialogue go on all the time. Every ten seconds is counted what the instance holds. What it holds
in the last quarter of the time is held against the second quarter; the first one warms up.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import platform
import shutil
import smtplib
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

from mailkeep import __version__
from tests.support import instance as instances
from tests.support.instance import Instance
from tests.support.processes import memory_mib, process_tree
from tests.support.scratch import new_directory

EMAIL, PASSWORD = "admin@example.test", "correct horse battery staple"
SETTINGS = {
    "MAILKEEP_ADMIN_EMAIL": EMAIL,
    "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
    "MAILKEEP_LOG__LEVEL": "warning",
    "MAILKEEP_ABUSE__SENDER_PER_HOUR": "1000000",
    "MAILKEEP_ABUSE__DOMAIN_PER_HOUR": "1000000",
    "MAILKEEP_EVENTS__RECEIVED_FULL": "true",
}
LETTER = b"From: someone@elsewhere.test\r\nSubject: soak\r\n\r\nHi.\r\n"
EVERY = 10.0
PROMISED_MINUTES = 30


@dataclass(frozen=True)
class Held:
    """What an instance holds at a moment; memory in MiB, of the database what is not shared."""

    memory: float
    database_memory: float
    threads: float
    descriptors: float
    sockets: float
    database_connections: float
    processes: float
    temporary_files: float


# By how much each may be more in the last quarter than in the second: a share, and a number.
ALLOWED = {
    "memory": (0.05, 6),
    "database_memory": (0.10, 8),
    "threads": (0, 3),
    "descriptors": (0.05, 8),
    "sockets": (0.05, 8),
    "database_connections": (0, 2),
    "processes": (0, 3),
    "temporary_files": (0, 4),
}


def held(running: Instance) -> Held:
    """Count it; once more where a process ends meanwhile."""
    while True:
        with contextlib.suppress(OSError, StopIteration):
            return _held(running)


def _held(running: Instance) -> Held:
    main, *others = process_tree(running.process.pid)
    targets: list[str] = []
    for number in Path(f"/proc/{main}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(str(number.readlink()))
    titles = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ") for pid in others]
    backends = [title for title in titles if title.startswith(b"postgres: mailkeep")]
    servers = [pid for pid, title in zip(others, titles, strict=True) if b"postgres" in title]
    temporary = [*(running.data_dir / "tmp").iterdir(), *running.data_dir.glob("*/**/*.part")]
    temporary += running.data_dir.glob("mail/*/tmp/*")
    return Held(
        memory=memory_mib(main),
        database_memory=sum(memory_mib(pid, "Pss_Anon") for pid in servers),
        threads=len(list(Path(f"/proc/{main}/task").iterdir())),
        descriptors=len(targets),
        sockets=sum(target.startswith("socket:") for target in targets),
        database_connections=len(backends),
        processes=len(others) + 1,
        temporary_files=len(temporary),
    )


class House:
    """An instance with a domain, a mailbox, an alias to the outside and a key; and what is done to it."""

    def __init__(self, running: Instance) -> None:
        self.running = running
        self.host, _, port = running.http.removeprefix("http://").rpartition(":")
        self.port = int(port)
        self.headers = {"content-type": "application/json"}
        self.seen: Counter[str] = Counter()
        self.numbers = itertools.count()
        _, cookie, _ = self.call("POST", "/auth/login", {"email": EMAIL, "password": PASSWORD})
        self.headers["cookie"] = cookie.partition(";")[0]
        self.domain_id = self.made("/domains", {"name": "example.test"})["id"]
        self.made("/mailboxes", {"domain_id": self.domain_id, "local_part": "alice", "password_hash": "{SHA}x"})
        key = self.made("/api-keys", {"name": "soak", "rate_limit": 0})["key"]
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}

    def call(self, method: str, path: str, body: object = None) -> tuple[int, str, bytes]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            raw = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1{path}", raw, self.headers)
            answer = connection.getresponse()
            return answer.status, answer.headers["set-cookie"] or "", answer.read()
        finally:
            connection.close()

    def made(self, path: str, body: object) -> dict[str, str]:
        status, _, content = self.call("POST", path, body)
        assert status in (200, 201), content
        return json.loads(content)["data"]

    def read(self) -> str:
        paths = ("/domains", "/mailboxes", "/messages?limit=50", "/events?limit=50", "/audit?limit=50", "/health")
        return str({self.call("GET", path)[0] for path in paths})

    def write(self) -> str:
        body = {"domain_id": self.domain_id, "source_local_part": f"a{next(self.numbers)}", "destination": "b@c.test"}
        alias = self.made("/aliases", body)["id"]
        return str(self.call("DELETE", f"/aliases/{alias}")[0])

    def _send(self, size: int) -> str:
        file = {"filename": "a.bin", "content_type": "application/octet-stream", "content": "QUJD" * (size // 4)}
        letter = {"from": {"email": "shop@example.test"}, "to": [{"email": "alice@example.test"}], "subject": "soak"}
        letter |= {"text_body": "Hello.", "attachments": [file]}
        return str(self.call("POST", "/send", letter)[0])

    def send(self) -> str:
        return self._send(2000)

    def send_large(self) -> str:
        return self._send(8 << 20)

    def deliver(self) -> str:
        with smtplib.SMTP(*self._smtp, "elsewhere.test", timeout=30) as client:
            client.sendmail("someone@elsewhere.test", ["alice@example.test"], LETTER)
            with contextlib.suppress(smtplib.SMTPRecipientsRefused):
                client.sendmail("someone@elsewhere.test", ["nobody@example.test"], LETTER)
        return "250"

    @property
    def _smtp(self) -> tuple[str, int]:
        host, _, port = self.running.smtp.rpartition(":")
        return host, int(port)

    def log_in(self) -> str:
        statuses = [
            self.call("POST", "/auth/login", {"email": EMAIL, "password": each})[0]
            for each in (PASSWORD, "not this one")
        ]
        return str(statuses)

    def break_off(self) -> str:
        """In the middle of a head, a body small and large, an answer, and a message."""
        auth = f"authorization: {self.headers.get('authorization')}"
        post = f"POST /api/v1/send HTTP/1.1\r\nhost: x\r\n{auth}\r\ncontent-type: application/json\r\n"
        begun = [
            "GET /api/v1/hea",
            f"{post}content-length: 1000\r\n\r\n{{",
            f"{post}content-length: 30000000\r\n\r\n" + "{" * 3_000_000,
            f"{post}transfer-encoding: chunked\r\n\r\n30000\r\n" + "{" * 0x20000,
            f"{post}content-length: 2\r\n\r\n{{{{" * 10,
            "GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 10,
        ]
        for sent in begun:
            with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=10) as client:
                client.sendall(sent.encode())
        dialogue = b"EHLO x\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<alice@example.test>\r\nDATA\r\n" + b"a" * 900_000
        with socket.create_connection(self._smtp, timeout=10) as client:
            client.sendall(dialogue)
        return "broken off"

    def go_on(self, over: threading.Event, work: Callable[[], str], pause: float) -> None:
        while not over.wait(pause):
            try:
                self.seen[f"{work.__name__}: {work()}"] += 1
            except (OSError, http.client.HTTPException, smtplib.SMTPException, AssertionError) as error:
                self.seen[f"{work.__name__}: {type(error).__name__}"] += 1


def soak(house: House, minutes: float) -> list[Held]:
    """The load, and what is held meanwhile."""
    over = threading.Event()
    works = [
        (house.read, 0.2),
        (house.write, 0.2),
        (house.send, 0.1),
        (house.send, 0.1),
        (house.send_large, 5.0),
        (house.deliver, 0.2),
        (house.log_in, 2.0),
        (house.break_off, 1.0),
    ]
    threads = [threading.Thread(target=house.go_on, args=(over, *work), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    samples: list[Held] = []
    ends = time.monotonic() + minutes * 60
    while time.monotonic() < ends:
        time.sleep(EVERY)
        samples.append(held(house.running))
    over.set()
    for thread in threads:
        thread.join(60)
    return samples


def verdict(samples: list[Held]) -> bool:
    """Print each figure by quarters; whether all are flat."""
    quarter = len(samples) // 4
    quarters = [samples[at * quarter : (at + 1) * quarter] for at in range(4)]
    flat = True
    print(f"{'median of each quarter':24}" + "".join(f"{number:>10}" for number in range(1, 5)) + "   most")
    for name in (field.name for field in fields(Held)):
        medians = [median(getattr(each, name) for each in part) for part in quarters]
        share, number = ALLOWED[name]
        good = medians[3] <= medians[1] * (1 + share) + number
        most = max(getattr(each, name) for each in samples)
        shown = "".join(f"{each:10.1f}" for each in medians)
        print(f"{name:24}{shown} {most:6.1f}  {'flat' if good else 'GROWS'}")
        flat &= good
    return flat


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else PROMISED_MINUTES
    folder = new_directory("mailkeep-soak-", 0o755)
    (folder / "data").mkdir()
    (folder / "data").chmod(0o711)  # so that the database's account can enter
    try:
        running = instances.start(folder / "data", SETTINGS)
        try:
            house = House(running)
            samples = soak(house, minutes)
        finally:
            code = running.stop()
        assert code == 0, running.log[-2000:]
        traces = running.log.count("Traceback")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(
        f"Mailkeep {__version__}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}: {minutes:g} minutes"
    )
    if minutes < PROMISED_MINUTES:
        print(f"Shorter than the {PROMISED_MINUTES} minutes that are asked for.")
    for what, number in sorted(house.seen.items()):
        print(f"{number:8} {what}")
    print(f"{traces:8} tracebacks in the log")
    return 0 if verdict(samples) and not traces else 1


if __name__ == "__main__":
    sys.exit(main())
