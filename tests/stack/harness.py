"""The instance of the full profile that tests share: start it and talk to it.

It uses a separate DNS server (`names`), whose zones tests publish: for MX records, and for the filter's checks of
senders. Because Postfix has no setting for the DNS server, the instance runs in a mount namespace with another
/etc/resolv.conf.
"""

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
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.cli import install
from mailkeep.run.processes.node import NodeAgent, create_rotation
from mailkeep.run.runtime.context import attach
from tests.stack import names
from tests.support.instance import PROGRAM, ROOT
from tests.support.ports import free_port

T = TypeVar("T")


def require_full_profile(*, antivirus: bool = False, webmail: bool = False) -> None:
    """Skip the test if this machine lacks what the full profile needs."""
    if missing := install.make_plan(antivirus=antivirus, webmail=webmail).steps:
        command = f"mailkeep install{' --antivirus' if antivirus else ''}{' --webmail' if webmail else ''}"
        pytest.skip(f"the full profile needs: {'; '.join(missing)} (`{command}` does it)")


ADDRESS, INTERNET, HOSTNAME = "127.0.0.1", "127.0.0.26", "mx.stack.test"
ADMIN, PASSWORD = "admin@localhost", "correct horse battery staple"
OUR_ADDRESS = "192.0.2.10"
"""The public address of the instance for tests that act as another server (`afar`)."""
_EDGE_PORTS = ("http", "https")
_PORTS = ("smtp", "submission", "submissions", "imap", "imaps", "pop3", "pop3s", "sieve")
# External domains that always exist.
_FAR_DOMAINS = ("remote.test", "elsewhere.test", "far.test")
_WITH_OTHER_NAMES = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
                     'mount --bind "$0" /etc/resolv.conf && exec "$@"')  # fmt: skip
_START_SECONDS = 150
# `stop` reaps them.
_started: list[subprocess.Popen[bytes]] = []


def free_address(port: int) -> str:
    """A loopback address on which this port is free."""
    for _ in range(50):
        address = f"127.{random.randint(20, 250)}.{random.randint(1, 250)}.{random.randint(1, 250)}"
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp, contextlib.suppress(OSError):
            tcp.bind((address, port))
            udp.bind((address, port))
            return address
    raise AssertionError(f"port {port} is taken on every address of this machine")


def eventually(look: Callable[[], T | None], seconds: float = 60, what: str = "it") -> T:
    """What `look` finds, as soon as it is not None, nor empty, nor False. A look that takes long is rarer."""
    deadline = time.monotonic() + seconds
    while True:
        begun = time.monotonic()
        if found := look():
            return found
        if begun > deadline:
            raise AssertionError(f"{what} did not come within {seconds:g} s")
        time.sleep(min(max(0.1, time.monotonic() - begun), 2))


def start(folder: Path, other: Sequence[str] = (), hosts: Mapping[str, str] | None = None, **settings: str) -> None:
    """Start the external servers and the instance; their addresses are written to `stack.json` in the folder.

    `other` is another program instead of the external servers, with `{port}` for its port on 127.0.0.26: all mail is
    relayed to it, without DNS. `hosts` are names with their addresses. `settings` are environment variables without
    the prefix.
    """
    folder.chmod(0o755)
    (folder / "caught").mkdir()
    ports = {name: free_port(ADDRESS) for name in (*_PORTS, "afar", *_EDGE_PORTS)}
    kept: dict[str, Any] = {"ports": ports}
    before: Sequence[str] = ()
    relayhost = ""
    if other:
        relay = free_port(INTERNET)
        around = [_spawn(folder / "internet.log", [part.format(port=relay) for part in other])]
        settings = {"FILTER__NETWORK_CHECKS": "false", "DNS__CHECK_MINUTES": "0"} | settings
        relayhost = f"[{INTERNET}]:{relay}"
    else:
        kept |= {"internet": free_address(25), "names": free_address(53), "by_mx": _may_mount()}
        around = _internet(folder, kept["internet"], kept["names"])
        for name, address in (hosts or {}).items():
            names.publish(folder / "zones", name, f"@ A {address}")
        settings = {"DNS__SERVERS": json.dumps([kept["names"]])} | settings
        if kept["by_mx"]:
            (folder / "resolv.conf").write_text(f"nameserver {kept['names']}\noptions timeout:2\n")
            before = (*_WITH_OTHER_NAMES, str(folder / "resolv.conf"))
        else:
            relayhost = f"[{kept['internet']}]:25"
    command = [*before, *PROGRAM, "up", "--profile", "full", "--data-dir", str(folder / "data")]
    up = _spawn(folder / "up.log", command, _environ(ports, settings))
    written = folder / "stack.json"
    written.write_text(json.dumps(kept | {"pids": [up.pid, *(each.pid for each in around)]}))

    def has_started() -> bool:
        if up.poll() is not None:
            raise AssertionError(f"mailkeep up ended with {up.returncode}:\n{(folder / 'up.log').read_text()}")
        return (folder / "data" / "run.json").exists()

    eventually(has_started, _START_SECONDS, "the full instance")
    add_port_with_xclient(folder / "data", ports, relayhost)


def _may_mount() -> bool:
    """Whether the instance can have a mount namespace; in a container without that right, mail leaves by a relay."""
    return (
        subprocess.run([*_WITH_OTHER_NAMES, "/etc/resolv.conf", "true"], capture_output=True, check=False).returncode
        == 0
    )


def _internet(folder: Path, address: str, server: str) -> list[subprocess.Popen[bytes]]:
    """Start an external MTA on port 25 and the DNS server with its MX records."""
    zones = folder / "zones"
    zones.mkdir(exist_ok=True)  # with what was published before
    for domain in _FAR_DOMAINS:
        names.publish(zones, domain, "@ MX 10 mx", f"mx A {address}")
    names.publish(zones, "stack.test", f"mx A {ADDRESS}", f'mx TXT "v=spf1 ip4:{OUR_ADDRESS} a -all"')
    python = (sys.executable, "-m")
    return [
        _spawn(folder / "internet.log", [*python, "tests.stack.internet", address, "25", str(folder / "caught")]),
        _spawn(folder / "names.log", [*python, "tests.stack.names", server, "53", str(zones)]),
    ]


def _spawn(log: Path, command: Sequence[str], environ: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    _started.append(process)
    return process


def _environ(ports: dict[str, int], settings: dict[str, str]) -> dict[str, str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("MAILKEEP_")} | {
        "MAILKEEP_ADMIN_EMAIL": ADMIN,
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
        "MAILKEEP_SERVER__HOSTNAME": HOSTNAME,
        "MAILKEEP_SERVER__ADDRESSES": json.dumps([ADDRESS]),
        "MAILKEEP_OUTBOUND__TLS": "none",
        "MAILKEEP_OUTBOUND__FIRST_RETRY_SECONDS": "2",
        "MAILKEEP_OUTBOUND__LONGEST_RETRY_SECONDS": "3",
        "MAILKEEP_OUTBOUND__GIVE_UP_HOURS": "0.006",
        "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
        "MAILKEEP_EDGE__ENABLED": "true",
        "MAILKEEP_EDGE__LISTEN": json.dumps([ADDRESS]),
        "MAILKEEP_HTTP__LISTEN": "127.0.0.1:0",
        "MAILKEEP_HTTP__INTERNAL": "127.0.0.1:0",
    }
    environ |= {f"MAILKEEP_PORTS__{name.upper()}": str(ports[name]) for name in _PORTS}
    environ |= {f"MAILKEEP_EDGE__{name.upper()}_PORT": str(ports[name]) for name in _EDGE_PORTS}
    return environ | {f"MAILKEEP_{name}": text for name, text in settings.items()}


def add_port_with_xclient(data: Path, ports: dict[str, int], relayhost: str) -> None:
    """Add a port for tests: like port 25, but clients may change their address (XCLIENT).

    The filter makes no network checks for clients on loopback. `relayhost` replaces MX records.
    """
    conf = InstancePaths(data, run_folder(data)).postfix_conf
    if relayhost:
        with (conf / "main.cf").open("a") as main:
            main.write(f"relayhost = {relayhost}\n")
    services = (conf / "master.cf").read_text().split("\n")
    first = services.index(f"{ports['smtp']} inet n - n - - smtpd")
    last = next(number for number in range(first + 1, len(services)) if not services[number].startswith(" "))
    service = [f"{ADDRESS}:{ports['afar']} inet n - n - - smtpd", *services[first + 1 : last]]
    service.append("  -o smtpd_authorized_xclient_hosts=127.0.0.0/8")
    (conf / "master.cf").write_text("\n".join([*services, *service]) + "\n")
    subprocess.run(["postfix", "-c", str(conf), "reload"], check=True, capture_output=True)

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((ADDRESS, ports["afar"])) == 0

    eventually(answers, what="the port for clients from afar")


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
        select.select([handle], [], [], 90)
        os.close(handle)
    for process in _started:
        process.poll()


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
    """A client of the instance in this folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        kept = json.loads((folder / "stack.json").read_text())
        self.ports: dict[str, int] = kept["ports"]
        self.internet: str = kept.get("internet", INTERNET)
        self.names: str | None = kept.get("names")
        self.by_mx: bool = kept.get("by_mx", False)
        self.relayhost = "" if self.by_mx else f"[{self.internet}]:25"
        self.api = json.loads((self.data_dir / "run.json").read_text())["http"]

    @cached_property
    def cookie(self) -> str:
        """The first administrator's session."""
        _, _, cookie = self._call("POST", "/auth/login", {"email": ADMIN, "password": PASSWORD}, {})
        return cookie.partition(";")[0]

    def _call(self, method: str, path: str, body: object, headers: dict[str, str]) -> tuple[int, bytes, str]:
        place = urlsplit(self.api)
        with contextlib.closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)) as connection:
            text = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1{path}", text, {"Content-Type": "application/json"} | headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.getheader("Set-Cookie", "")

    def sign_in_owner(self, address: str) -> str:
        """The cookie of a new session of a mailbox's owner."""
        _, _, cookie = self._call("POST", "/me/login", {"address": address, "password": PASSWORD}, {})
        return cookie.partition(";")[0]

    def ask(self, method: str, path: str, body: object = None, cookie: str | None = None) -> Answer:
        """A call as the first administrator, or with another session."""
        status, text, _ = self._call(method, path, body, {"Cookie": cookie or self.cookie})
        return Answer(status, json.loads(text) if text else None)

    def content(self, path: str) -> bytes:
        """The body of a GET response that is not JSON."""
        status, content, _ = self._call("GET", path, None, {"Cookie": self.cookie})
        assert status == 200, content
        return content

    def do(self, method: str, path: str, body: object = None) -> Any:
        """A call that must succeed; its data."""
        return self.ask(method, path, body).data

    def make_domain(self, name: str, **more: object) -> str:
        """A domain; its id."""
        return self.ask("POST", "/domains", {"name": name} | more).data["id"]

    def get_domain(self, name: str) -> str:
        """A domain that exists afterwards; its id. For fixtures of modules: they run again if another module ran
        between its tests.
        """
        answer = self.ask("POST", "/domains", {"name": name})
        if answer.status == 201:
            return answer.data["id"]
        (found,) = [each for each in self.do("GET", f"/domains?name={name}") if each["name"] == name]
        return found["id"]

    def make_mailbox(self, domain_id: str, local_part: str, **more: object) -> dict[str, Any]:
        """A mailbox with the common password."""
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
        """A connection to an SMTP port, after EHLO."""
        client = smtplib.SMTP(ADDRESS, self.ports[port], local_hostname="client.test", timeout=60)
        client.ehlo()
        return client

    @contextlib.contextmanager
    def afar(self, address: str, helo: str = "mx.remote.test") -> Generator[smtplib.SMTP]:
        """A connection like to port 25, with this client address (XCLIENT)."""
        with self.smtp("afar") as client:
            code, words = client.docmd("XCLIENT", f"ADDR={address} NAME={helo}")
            assert code == 220, words
            client.ehlo(helo)
            yield client

    def filter_servers(self, number: int) -> list[str]:
        """A value of `filter.dns_servers`, a setting that only reloads the filter: its server, `number` times."""
        assert self.names
        return [f"{self.names}:53"] * number

    def publish(self, origin: str, *records: str) -> None:
        """Publish a zone (`names.publish`); `MX` alone is a record for the external MTA."""
        mx = ("@ MX 10 mx", f"mx A {self.internet}")
        zone = [line for record in records for line in (mx if record == "MX" else (record,))]
        names.publish(self.folder / "zones", origin, *zone)

    def deliver(self, recipient: str, subject: str = "From outside", headers: str = "", body: str = "Hello.") -> None:
        """Deliver a message from outside."""
        with self.smtp() as client:
            client.sendmail("someone@remote.test", [recipient], letter(recipient, subject, headers, body))

    def login(self, address: str, password: str = PASSWORD) -> smtplib.SMTP:
        """A session on the submission port with STARTTLS."""
        client = self.smtp("submission")
        try:
            client.starttls(context=trusting())
            client.login(address, password)
        except BaseException:
            client.close()
            raise
        return client

    def imap(self, address: str, password: str = PASSWORD) -> imaplib.IMAP4_SSL:
        """An IMAP session over TLS."""
        client = imaplib.IMAP4_SSL(ADDRESS, self.ports["imaps"], ssl_context=trusting(), timeout=60)
        try:
            client.login(address, password)
        except BaseException:
            client.shutdown()
            raise
        return client

    def mail_of(self, address: str, folder: str = "INBOX") -> list[bytes]:
        """The complete messages in a folder of a mailbox."""
        with self.imap(address) as client:
            if client.select(folder, readonly=True)[0] != "OK":
                return []
            numbers = client.search(None, "ALL")[1][0].split()
            found: list[Any] = [client.fetch(number, "(BODY.PEEK[])")[1] for number in numbers]
            return [parts[0][1] for parts in found]

    def caught(self, recipient: str) -> list[bytes]:
        """The messages that the external MTA accepted for a recipient, oldest first."""
        return [
            envelope_file.with_suffix(".eml").read_bytes()
            for envelope_file in sorted((self.folder / "caught").glob("*.json"))
            if recipient in json.loads(envelope_file.read_text())["rcpt_to"]
        ]

    def senders(self, recipient: str) -> list[str]:
        """The envelope senders of the messages that the external MTA accepted for a recipient, oldest first."""
        envelopes = [json.loads(each.read_text()) for each in sorted((self.folder / "caught").glob("*.json"))]
        return [each["mail_from"] for each in envelopes if recipient in each["rcpt_to"]]

    def arrived(self, recipient: str, seconds: float = 60) -> list[bytes]:
        """Wait for `caught`; on timeout the error has the message's history."""
        try:
            return eventually(lambda: self.caught(recipient), seconds, f"mail for {recipient}")
        except AssertionError as late:
            rows = self.do("GET", f"/messages?to={quote(recipient)}")
            recipients = [self.do("GET", f"/messages/{row['id']}")["recipients"] for row in rows]
            raise AssertionError(f"{late}; the history: {recipients}") from None


async def reconcile(data_dir: Path) -> None:
    """Compare history and queue like the node agent every ten minutes: missing twice means unknown."""
    async with attach(data_dir, "tests") as app:
        node = NodeAgent(app, InstancePaths(data_dir, run_folder(data_dir)), grace=timedelta(0))
        for _ in range(2):
            await node.reconcile_once()


async def forget_failed_logins(data_dir: Path) -> None:
    """Forget wrong passwords of earlier tests: all come from 127.0.0.1, which would be blocked."""
    async with attach(data_dir, "tests") as app, app.db.autocommit() as conn:
        await conn.execute("DELETE FROM sign_in_failures")
        await conn.execute("DELETE FROM sign_in_blocks")


async def rotate(data_dir: Path) -> None:
    """Rotate all logs, like the node agent once a day, and compress the logs rotated before."""
    async with attach(data_dir, "tests") as app:
        rotation = create_rotation(app, InstancePaths(data_dir, run_folder(data_dir)))
        os.utime(data_dir / "log" / ".rotated", (0, 0))
        with contextlib.suppress(FileNotFoundError):  # the instance's own task has compressed the file before
            await rotation.run_once(time.time())


async def compress(data_dir: Path) -> None:
    """Compress rotated logs that are no longer read, like the node agent every half minute."""
    async with attach(data_dir, "tests") as app:
        await create_rotation(app, InstancePaths(data_dir, run_folder(data_dir))).compress()


def trusting() -> ssl.SSLContext:
    """Accepts any certificate, because the instance's is self-signed."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def letter(
    to: str, subject: str = "Hello", headers: str = "", body: str = "Hello.", sender: str = "someone@remote.test"
) -> str:
    """A message as a mail client writes it."""
    return (
        f"From: {sender}\r\nTo: {to}\r\nSubject: {subject}\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n"
        f"Message-ID: <{time.time_ns()}@client.test>\r\n{headers}\r\n{body}\r\n"
    )
