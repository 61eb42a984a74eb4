"""The running full instance that all scenarios share: how it is started, and how it is talked to."""

from __future__ import annotations

import contextlib
import http.client
import imaplib
import json
import os
import random
import select
import signal
import smtplib
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tests.instance import PROGRAM, ROOT

T = TypeVar("T")

ADDRESS, INTERNET = "127.0.0.1", "127.0.0.26"
ADMIN, PASSWORD = "admin@localhost", "correct horse battery staple"
_PORTS = ("smtp", "submission", "submissions", "imap", "imaps", "pop3", "pop3s", "sieve", "reinjection")
_START_SECONDS = 150
# Who started them may be gone before they are ended, by whom it may be another: kept, so that nobody misses a wait.
_started: list[subprocess.Popen[bytes]] = []


def free_port(host: str) -> int:
    """A port that nobody has, for now, and that the kernel gives to nobody who connects somewhere."""
    while True:
        port = random.randint(12_000, 31_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, port))
            return port


def eventually(look: Callable[[], T | None], seconds: float = 20, what: str = "it") -> T:
    """What `look` finds, as soon as it is not None, nor empty, nor False."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {seconds:g} s")
        time.sleep(0.1)
    return found


def start(folder: Path, other: Sequence[str] = (), **settings: str) -> None:
    """Start the Internet and the instance; what they are is written to `stack.json` in the folder.

    `other` is another program to be the Internet, with `{port}` for its port on 127.0.0.26; `settings` as in the
    environment, without the prefix.
    """
    folder.chmod(0o755)
    caught, data = folder / "caught", folder / "data"
    caught.mkdir()
    ports = {name: free_port(ADDRESS if name != "reinjection" else "127.0.0.1") for name in _PORTS}
    relay = free_port(INTERNET)
    with (folder / "internet.log").open("wb") as output:
        internet = subprocess.Popen(
            [part.format(port=relay) for part in other]
            or [sys.executable, "-m", "tests.stack.internet", INTERNET, str(relay), str(caught)],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    environ = {key: value for key, value in os.environ.items() if not key.startswith("MAILKEEP_")} | {
        "MAILKEEP_ADMIN_EMAIL": ADMIN,
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
        "MAILKEEP_SERVER__HOSTNAME": "mx.stack.test",
        "MAILKEEP_SERVER__ADDRESSES": json.dumps([ADDRESS]),
        "MAILKEEP_FILTER__NETWORK_CHECKS": "false",
        "MAILKEEP_OUTBOUND__RELAY": f"{INTERNET}:{relay}",
        "MAILKEEP_OUTBOUND__TLS": "none",
        "MAILKEEP_OUTBOUND__FIRST_RETRY_SECONDS": "2",
        "MAILKEEP_OUTBOUND__LONGEST_RETRY_SECONDS": "3",
        "MAILKEEP_OUTBOUND__GIVE_UP_HOURS": "0.003",
        "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
        "MAILKEEP_HTTP__LISTEN": "127.0.0.1:0",
        "MAILKEEP_HTTP__INTERNAL": "127.0.0.1:0",
    }
    environ |= {f"MAILKEEP_PORTS__{name.upper()}": str(port) for name, port in ports.items()}
    environ |= {f"MAILKEEP_{name}": text for name, text in settings.items()}
    with (folder / "up.log").open("wb") as output:
        up = subprocess.Popen(
            [*PROGRAM, "up", "--profile", "full", "--data-dir", str(data)],
            cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    _started.extend((up, internet))
    written = folder / "stack.json"
    written.write_text(json.dumps({"pids": [up.pid, internet.pid], "ports": ports}))

    def told() -> bool:
        if up.poll() is not None:
            raise AssertionError(f"mailkeep up ended with {up.returncode}:\n{(folder / 'up.log').read_text()}")
        return (data / "run.json").exists()

    eventually(told, _START_SECONDS, "the full instance")


def stop(folder: Path) -> None:
    """End both, where they were started."""
    try:
        pids = json.loads((folder / "stack.json").read_text())["pids"]
    except FileNotFoundError:
        return
    handles: list[int] = []
    for pid in pids:
        try:
            handles.append(os.pidfd_open(pid))
            signal.pidfd_send_signal(handles[-1], signal.SIGTERM)
        except ProcessLookupError:
            continue
    for handle in handles:
        select.select([handle], [], [], 30)
        os.close(handle)


@dataclass
class Answer:
    """What the API said."""

    status: int
    body: Any

    @property
    def data(self) -> Any:
        """Of a call that succeeded."""
        assert self.status < 300, self.body
        return self.body["data"]


class Stack:
    """One who talks to the instance in this folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self.ports: dict[str, int] = json.loads((folder / "stack.json").read_text())["ports"]
        self.api = json.loads((self.data_dir / "run.json").read_text())["http"]

    @cached_property
    def cookie(self) -> str:
        """The first administrator's session."""
        _, _, cookie = self._call("POST", "/auth/login", {"email": ADMIN, "password": PASSWORD}, {})
        return cookie.partition(";")[0]

    def _call(self, method: str, path: str, body: object, headers: dict[str, str]) -> tuple[int, bytes, str]:
        place = urlsplit(self.api)
        with contextlib.closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)) as connection:
            text = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1{path}", text, {"Content-Type": "application/json"} | headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.getheader("Set-Cookie", "")

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """A call as the first administrator."""
        status, text, _ = self._call(method, path, body, {"Cookie": self.cookie})
        return Answer(status, json.loads(text) if text else None)

    def do(self, method: str, path: str, body: object = None) -> Any:
        """A call that must succeed; its data."""
        return self.ask(method, path, body).data

    def make_domain(self, name: str, **more: object) -> str:
        """A domain; its id."""
        return self.ask("POST", "/domains", {"name": name} | more).data["id"]

    def make_mailbox(self, domain_id: str, local_part: str, **more: object) -> dict[str, Any]:
        """A mailbox with the password that all have here."""
        body = {"domain_id": domain_id, "local_part": local_part, "password": PASSWORD} | more
        return self.ask("POST", "/mailboxes", body).data

    def send(self, sender: str, *recipients: str, **more: object) -> Answer:
        """A message by the API."""
        body = {
            "from": {"email": sender},
            "to": [{"email": each} for each in recipients],
            "subject": "By the API",
            "text_body": "Hello.",
        }
        return self.ask("POST", "/send", body | more)

    def smtp(self, port: str = "smtp") -> smtplib.SMTP:
        """A connection to an SMTP port, greeted."""
        client = smtplib.SMTP(ADDRESS, self.ports[port], local_hostname="client.test", timeout=30)
        client.ehlo()
        return client

    def deliver(self, recipient: str, subject: str = "From outside", headers: str = "", body: str = "Hello.") -> None:
        """A message from outside."""
        with self.smtp() as client:
            client.sendmail("someone@remote.test", [recipient], letter(recipient, subject, headers, body))

    def login(self, address: str, password: str = PASSWORD) -> smtplib.SMTP:
        """A session on the submission port, by STARTTLS."""
        client = self.smtp("submission")
        try:
            client.starttls(context=trusting())
            client.login(address, password)
        except BaseException:
            client.close()
            raise
        return client

    def imap(self, address: str, password: str = PASSWORD) -> imaplib.IMAP4_SSL:
        """A session by IMAP over TLS."""
        client = imaplib.IMAP4_SSL(ADDRESS, self.ports["imaps"], ssl_context=trusting(), timeout=30)
        try:
            client.login(address, password)
        except BaseException:
            client.shutdown()
            raise
        return client

    def mail_of(self, address: str, folder: str = "INBOX") -> list[bytes]:
        """All messages in a folder of a mailbox, whole."""
        with self.imap(address) as client:
            if client.select(folder, readonly=True)[0] != "OK":
                return []
            numbers = client.search(None, "ALL")[1][0].split()
            found: list[Any] = [client.fetch(number, "(BODY.PEEK[])")[1] for number in numbers]
            return [parts[0][1] for parts in found]

    def caught(self, recipient: str) -> list[bytes]:
        """What the Internet has taken for a recipient, oldest first."""
        return [
            told.with_suffix(".eml").read_bytes()
            for told in sorted((self.folder / "caught").glob("*.json"))
            if recipient in json.loads(told.read_text())["rcpt_to"]
        ]


def trusting() -> ssl.SSLContext:
    """Any certificate: the instance's own is signed by itself."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def letter(
    to: str, subject: str = "Hello", headers: str = "", body: str = "Hello.", sender: str = "someone@remote.test"
) -> str:
    """A message as a mail program writes it."""
    return (
        f"From: {sender}\r\nTo: {to}\r\nSubject: {subject}\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n"
        f"Message-ID: <{time.time_ns()}@client.test>\r\n{headers}\r\n{body}\r\n"
    )
