"""The virus scanner, DNS lists and the limit of messages per client, with an instance of their own.

It starts with none of them; the settings are applied while it runs, so that clamd starts then.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import json
import os
import random
import shutil
import signal
import smtplib
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest

from mailkeep.core.clock import utc_now
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons import scanning
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import checks
from mailkeep.run.runtime.context import attach
from mailkeep.run.runtime.filter_watch import FilterWatch
from tests.stack import harness
from tests.stack.harness import Stack, eventually
from tests.support.dns_server import DnsServer
from tests.support.scratch import new_directory

BOX, DOMAIN = "ann@scan.example", "scan.example"
LIST = "bl.lists.example"
LISTED, LISTED_V6, CLEAN = "198.51.100.77", "2001:db8::77", "198.51.100.78"
RATE = 20
DNSBL = [
    {"zone": LIST, "codes": ["127.0.0.2", "127.0.0.4"], "score": 3.5},
    {"zone": LIST, "codes": ["127.0.0.9"], "score": 1.25},
]
# The EICAR test file: in a 7z archive, and in a zip and a 7z archive with a password (of the last, also the names).
IN_7Z = (
    "N3q8ryccAAR8XPwMSAAAAAAAAABaAAAAAAAAAB5gLLEBAENYNU8hUCVAQVBbNFxQWlg1NChQXik3Q0MpN30kRUlDQVItU1RBTkRBUkQtQU5USVZJ"
    "UlVTLVRFU1QtRklMRSEkSCtIKgABBAYAAQlIAAcLAQABISEBAAxEAAgKATzPUWgAAAUBGQwAAAAAAAAAAAAAAAARFQBlAGkAYwBhAHIALgB0AHgA"
    "dAAAABQKAQCboprzr33dARUGAQAggKSBAAA="
)
ENCRYPTED_ZIP = (
    "UEsDBAoACQAAAFxxel08z1FoUAAAAEQAAAAJABwAZWljYXIudHh0VVQJAAPvPQhr7z0Ia3V4CwABBG0AAAAEAAAAACiw+BqhHtJiP2VfXXit16Z1"
    "8gHG1ym3UDBpGAo3IrzAWtAJixrNO5FEmSsk5443ZewL1sb1IKjpSEjZA2eKWy7psBj+Q2vhkqWQjx8aA3vFUEsHCDzPUWhQAAAARAAAAFBLAQIe"
    "AwoACQAAAFxxel08z1FoUAAAAEQAAAAJABgAAAAAAAEAAACkgQAAAABlaWNhci50eHRVVAUAA+89CGt1eAsAAQRtAAAABAAAAABQSwUGAAAAAAEA"
    "AQBPAAAAowAAAAAA"
)
ENCRYPTED_7Z = (
    "N3q8ryccAAQLM4hiwAAAAAAAAAAuAAAAAAAAAA3phl97WDgAJURKe+j/ymvsGeffeW/MfCmGr4+0bx2cjInzoIlg24xf/hg8oy4hb1uk52+EJQzW"
    "y5S3RDsw8dE32Qa79q+LwvjwdIcoGz9W4p6rxO3fJH0ODECRw4xTZkqsU1hI0s9ZjoKr5t3fWJkpW/WVxnESvS3bbh5flazwhoWT2deajj/B/b4a"
    "HD2XEL3RK2g2yHmhlqIRwbSfS525CGooYLOOM5Pvs/POEGk9UI4wUwlPKPWAQZThXRrDb7zLRvcXBlABCXAABwsBAAEkBvEHARJTD4/f6KZAIww/"
    "Syf3J5nFNPsMagoBprjZ7gAA"
)


@dataclass
class World:
    """The instance, and the DNS server of its filter."""

    stack: Stack
    dns: DnsServer
    domain_id: str
    mailbox_id: str

    @property
    def paths(self) -> InstancePaths:
        return InstancePaths(self.stack.data_dir, run_folder(self.stack.data_dir))

    def apply(self, **changes: Any) -> None:
        """Change settings, and apply them."""
        named = {key.replace("__", "."): value for key, value in changes.items()}
        self.stack.do("PATCH", "/config", {"changes": named})
        plan = self.stack.do("GET", "/orchestrator/plan")
        assert all(each["ok"] for each in plan["checks"]), plan["checks"]
        overwritten = [f"{file['service']}/{file['path']}" for file in plan["files"] if file["change"] == "drifted"]
        body = {"plan_id": plan["id"], "watch_seconds": 5, "overwrite_drift": overwritten}
        operation_id = self.stack.do("POST", "/orchestrator/apply", body)["operation_id"]

        def finished() -> dict[str, Any] | None:
            operation = self.stack.do("GET", f"/orchestrator/operations/{operation_id}")
            return operation if operation["state"] != "running" else None

        operation = eventually(finished, 120, "the apply")
        assert operation["state"] == "succeeded", operation
        if overwritten:
            harness.add_port_with_xclient(self.stack.data_dir, self.stack.ports, self.stack.relayhost)

    def services(self) -> dict[str, str]:
        return {each["name"]: each["state"] for each in self.stack.do("GET", "/orchestrator")["services"]}

    def component(self, name: str) -> dict[str, Any]:
        components = self.stack.do("GET", "/health/details")["components"]
        return next(each for each in components if each["component"] == name)

    def alerts(self, name: str) -> list[str]:
        """The reasons of the alerts with this name, oldest first."""
        events = self.stack.do("GET", "/events?kind=system.alert&limit=100")
        return [each["data"]["reason"] for each in events if each["data"]["alert"] == name]

    def deliver(self, attachment: bytes | None = None, client: str = "", parts: int = 1) -> tuple[float, bytes]:
        """Deliver a message; its duration, and the message as it arrived. Raises smtplib.SMTPDataError."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "eve@remote.test", BOX, f"Scan {time.time_ns()}"
        message["Message-ID"] = f"<{time.time_ns()}@client.test>"
        message.set_content("See the file.\n")
        for number in range(parts if attachment is not None else 0):
            content = attachment if number == parts - 1 else b"part %d" % number
            assert content is not None
            message.add_attachment(content, maintype="application", subtype="octet-stream", filename="f.bin")
        client = client or f"198.51.100.{random.randint(100, 250)}"  # each has a limit of messages
        with self.stack.afar(client) as session:
            began = time.monotonic()
            session.sendmail("eve@remote.test", [BOX], message.as_bytes())
            seconds = time.monotonic() - began
        marker = f"Subject: {message['Subject']}".encode()

        def look() -> bytes | None:
            found = [*self.stack.mail_of(BOX), *self.stack.mail_of(BOX, "Junk")]
            return next((each for each in found if marker in each), None)

        return seconds, eventually(look, what="the message")

    def refuse(self, attachment: bytes, parts: int = 1) -> smtplib.SMTPDataError:
        with pytest.raises(smtplib.SMTPDataError) as refused:
            self.deliver(attachment, parts=parts)
        return refused.value

    def score(self, client: str) -> float:
        """What the DNS lists add to the score of a message from this address."""
        _, received = self.deliver(client=client)
        fields = received.decode().replace("\n\t", " ").replace("\n ", " ").replace("\r", "")
        results = next(line for line in fields.splitlines() if line.startswith("X-Spamd-Result:"))
        rows = [part for part in results.split(";") if "DNSBL_" in part]
        return sum(float(row.split("(")[1].split(")")[0]) for row in rows)

    def score_of_v6(self, client: str) -> float:
        """As `score`, asked of Rspamd itself: the instance has no IPv6 address."""
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        with contextlib.closing(connection):
            connection.sock.connect(str(self.paths.controller_socket))
            headers = {"IP": client, "Settings-ID": "inbound"}
            connection.request("POST", "/checkv2", harness.letter(BOX), headers)
            symbols = json.loads(connection.getresponse().read())["symbols"]
        return sum(symbol["score"] for name, symbol in symbols.items() if name.startswith("DNSBL_"))

    def clamd(self) -> int | None:
        """The process ID of the running scanner."""
        (found,) = [each for each in self.stack.do("GET", "/orchestrator")["services"] if each["name"] == "clamd"]
        return found["pid"]


@pytest.fixture(scope="module", autouse=True)
def without_failed_logins() -> None:
    """The shared instance is not used."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    harness.require_full_profile(antivirus=True)
    folder = new_directory("mailkeep-scan-", 0o755, programs=True)
    with contextlib.ExitStack() as running:
        running.callback(shutil.rmtree, folder, ignore_errors=True)
        dns = running.enter_context(DnsServer())
        running.callback(harness.stop, folder)
        harness.start(folder, FILTER__DNS_SERVERS=json.dumps([dns.address]), FILTER__ANTIVIRUS_MIRROR="")
        stack = Stack(folder)
        domain_id = stack.make_domain(DOMAIN)
        yield World(stack, dns, domain_id, stack.make_mailbox(domain_id, "ann")["id"])


@pytest.fixture(scope="module")
def scanning_world(world: World) -> World:
    """The world with everything on, applied while it runs."""
    assert "clamd" not in world.services()
    assert world.component("antivirus")["status"] == "disabled"
    publish_list(world.dns)
    world.apply(
        filter__antivirus=True, filter__antivirus_encrypted="junk", filter__dnsbl=DNSBL, smtp__client_message_rate=RATE
    )  # fmt: skip
    assert world.services()["clamd"] == "running"
    assert "freshclam" not in world.services()  # without a mirror
    eventually(lambda: world.component("antivirus")["status"] == "ok", what="the scanner")
    return world


def publish_list(dns: DnsServer) -> None:
    """A list that works, with one address of each family."""
    dns.withdraw(f"*.{LIST}")
    for name in (LIST, f"*.{LIST}"):
        dns.fail(name, None)
    nibbles = "7.7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2"
    v6_test = f"2.0.0.0.0.0.f.7.f.f.f.f.{'0.' * 20}{LIST}"
    for name in (f"77.100.51.198.{LIST}", f"2.0.0.127.{LIST}", f"{nibbles}.{LIST}", v6_test):
        dns.publish(name, "A", "127.0.0.2")
    dns.withdraw(f"1.0.0.127.{LIST}")


def test_only_the_intended_modules_are_on(world: World) -> None:
    folders = {
        "LOCAL_CONFDIR": world.paths.rspamd_conf, "DBDIR": world.paths.rspamd_data,
        "RUNDIR": world.paths.filter_sockets, "LOGDIR": world.paths.log,
    }  # fmt: skip
    tool = ["rspamadm", *(f"--var={name}={path}" for name, path in folders.items()), "configdump", "-c", checks.RSPAMD]
    states = subprocess.run([*tool, "--modules-state"], capture_output=True, text=True, check=True, timeout=60).stdout
    enabled = next(line for line in states.splitlines() if line.startswith("Modules enabled: "))
    assert set(enabled.removeprefix("Modules enabled: ").split(", ")) == {
        "arc", "chartable", "dkim", "dmarc", "forged_recipients", "maillist", "mime_types", "once_received", "regexp",
        "spf",
        # Without rules of their own: expiry of Bayes' statistics, our header fields and the settings of the milters.
        "bayes_expiry", "emails", "force_actions", "milter_headers", "settings",
    }  # fmt: skip
    config = json.loads(subprocess.run([*tool, "-j"], capture_output=True, check=True, timeout=60).stdout)
    for module in ("arc", "dkim", "dmarc", "forged_recipients", "maillist", "mime_types", "once_received", "spf"):
        assert "://" not in json.dumps(config[module]).replace("fallback+file://", ""), module


def test_a_virus_is_refused_wherever_it_is(scanning_world: World) -> None:
    world = scanning_world
    # Neither thresholds nor a list that allows every sender matters.
    path = f"/mailboxes/{world.mailbox_id}/filtering"
    world.stack.do("PATCH", path, {"junk_score": "off", "reject_score": "off"})
    entry = {"list": "allow", "kind": "network", "value": "198.51.100.0/24"}
    world.stack.do("POST", f"/domains/{world.domain_id}/filtering/entries", entry)
    eicar = scanning.EICAR
    zipped = _zip(eicar)
    for content, parts in ((eicar, 1), (eicar + b"\r\n", 300), (zipped, 1), (base64.b64decode(IN_7Z), 1)):
        refused = world.refuse(content, parts)
        assert refused.smtp_code == 554
        assert refused.smtp_error == b"5.7.1 Message contains a virus"

    def list_rejected() -> list[dict[str, Any]]:
        rows = world.stack.do("GET", f"/messages?to={BOX}&status=rejected")
        return rows if len(rows) == 4 else []

    rows = eventually(list_rejected, what="the history")
    rule = {"scope": "server", "rule": "virus", "entry_id": None}
    assert [(row["spam"]["action"], row["spam"]["decided_by"]) for row in rows] == [("reject", rule)] * 4
    spam = world.stack.do("GET", "/events?kind=mail.spam&limit=100")
    assert [(each["data"]["spam_action"], each["data"]["decided_by"]["rule"]) for each in spam] == [
        ("reject", "virus")
    ] * 4


def _zip(content: bytes) -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("f.com", content)
        return file.getvalue()


def test_other_mail_arrives(scanning_world: World) -> None:
    random_bytes = random.Random(1).randbytes(10_000_000)
    for content in (b"clean", random_bytes):
        _, received = scanning_world.deliver(content)
        assert b"\nX-Spam: Yes" not in received
    for content in (ENCRYPTED_ZIP, ENCRYPTED_7Z):
        _, received = scanning_world.deliver(base64.b64decode(content))
        assert b"\nX-Spam: Yes" in received
        assert received in scanning_world.stack.mail_of(BOX, "Junk")


def _nested(depth: int) -> str:
    """A message with parts in each other."""
    body = "Content-Type: text/plain\r\n\r\nHello.\r\n"
    for number in range(depth):
        body = f'Content-Type: multipart/mixed; boundary="{number}"\r\n\r\n--{number}\r\n{body}--{number}--\r\n'
    return f"From: eve@remote.test\r\nMIME-Version: 1.0\r\n{body}"


def _beside(parts: int) -> str:
    """A message with parts beside each other."""
    head = 'From: eve@remote.test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n'
    return head + "".join(f"--b\r\n\r\nPart {number}\r\n" for number in range(parts)) + "--b--\r\n"


def test_what_can_not_be_scanned_completely_is_refused(scanning_world: World) -> None:
    with scanning_world.stack.afar("198.51.100.79") as session:
        for content in (_nested(29), _beside(999)):
            session.sendmail("eve@remote.test", [BOX], content)
        for content in (_nested(30), _nested(60), _beside(1001)):
            with pytest.raises(smtplib.SMTPDataError) as refused:
                session.sendmail("eve@remote.test", [BOX], content)
            assert refused.value.smtp_error == b"5.7.1 Message has too many or too deeply nested parts"


def test_a_scanner_that_hangs_or_is_killed(scanning_world: World) -> None:
    world = scanning_world
    pid = eventually(world.clamd, what="the scanner")
    os.kill(pid, signal.SIGSTOP)
    try:
        seconds, _ = world.deliver(b"accepted while the scanner hangs")
        assert 5 < seconds < 20  # 6 s, and what a busy machine adds
    finally:
        os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: world.clamd() not in (None, pid), what="another process")

    def scans() -> bool:
        try:
            world.deliver(scanning.EICAR + b"%d" % time.time_ns())
        except smtplib.SMTPDataError as refused:
            return refused.smtp_code == 554
        return False

    eventually(scans, what="a scan by the new process")


def test_only_a_working_list_adds_to_the_score(scanning_world: World) -> None:
    world, dns = scanning_world, scanning_world.dns
    listed, tested = f"77.100.51.198.{LIST}", f"2.0.0.127.{LIST}"
    scores = {"listed": world.score(LISTED), "IPv6": world.score_of_v6(LISTED_V6), "not listed": world.score(CLEAN)}
    assert scores == {"listed": 3.5, "IPv6": 3.5, "not listed": 0}
    queries = dns.queries.total()
    assert world.score("127.0.0.1") == 0  # this machine is not looked up
    assert dns.queries.total() - queries < 3

    publish_list(dns)
    for codes, expected in (
        (["127.0.0.9"], 1.25), (["127.0.0.9", "127.0.0.4"], 4.75),
        (["127.0.0.3"], 0), (["127.255.255.254"], 0), (["127.0.0.2", "127.255.255.252"], 0), (["203.0.113.1"], 0),
    ):  # fmt: skip
        dns.publish(listed, "A", *codes)
        assert world.score(LISTED) == expected, codes

    # The list contains every address, as one that has expired does, or refuses this name server.
    for name, code in ((f"*.{LIST}", "127.0.0.2"), (f"1.0.0.127.{LIST}", "127.0.0.2"), (tested, "127.255.255.254")):
        publish_list(dns)
        if name.startswith("*"):
            dns.withdraw(listed)
            dns.withdraw(tested)
        dns.publish(name, "A", code)
        assert world.score(LISTED) == 0, (name, code)
    publish_list(dns)
    dns.withdraw(tested)
    assert world.score(LISTED) == 0

    for name in (listed, tested, f"1.0.0.127.{LIST}"):
        for fault in ("servfail", "refused", "silent"):
            publish_list(dns)
            dns.fail(name, fault)
            seconds, received = world.deliver(client=LISTED)
            assert b"DNSBL_" not in received, (name, fault)
            assert seconds < 20, (name, fault)
            dns.fail(name, None)


async def test_a_list_that_fails_its_test_is_reported_once(scanning_world: World) -> None:
    world, dns = scanning_world, scanning_world.dns
    publish_list(dns)
    eventually(lambda: world.component("dns_lists")["status"] == "ok", what="a test of the list")
    now = utc_now()
    async with attach(world.stack.data_dir, "tests") as app:
        app.clock = lambda: now
        filtering = replace(app.settings.filter, dns_servers=(dns.address,), antivirus=False)
        app.settings = replace(app.settings, filter=filtering)
        watch = FilterWatch(app, world.paths)

        async def test_after(minutes: int) -> str | None:
            nonlocal now
            now += timedelta(minutes=minutes)
            await watch.check()
            (status,) = watch.dns_lists
            return status.problem

        assert await test_after(0) is None
        dns.publish(f"1.0.0.127.{LIST}", "A", "127.0.0.2")
        assert await test_after(59) is None
        problem = "The list contains every address: it is out of service."
        assert [await test_after(1), await test_after(60)] == [problem] * 2
        assert world.alerts("dns_list_failed") == [f"{LIST}: {problem}"]
        publish_list(dns)
        assert await test_after(60) is None
        assert len(world.alerts("dns_list_failed")) == len(world.alerts("dns_list_recovered")) == 1


def test_mail_waits_until_it_can_be_scanned(scanning_world: World) -> None:
    world = scanning_world
    world.apply(filter__antivirus_on_failure="defer", filter__antivirus_encrypted="refuse")
    for content in (ENCRYPTED_ZIP, ENCRYPTED_7Z):
        refused = world.refuse(base64.b64decode(content))
        assert (refused.smtp_code, refused.smtp_error) == (554, b"5.7.1 Message contains an encrypted archive")
    # clamd answers with an error: it can't write the part to its folder.
    world.paths.clamd_tmp.chmod(0)
    try:
        assert world.refuse(b"not written").smtp_code == 451
    finally:
        world.paths.clamd_tmp.chmod(0o700)
    world.deliver(b"written")
    assert world.refuse(scanning.EICAR).smtp_code == 554
    pid = eventually(world.clamd, what="the scanner")
    os.kill(pid, signal.SIGSTOP)
    try:
        refused = world.refuse(b"not scanned")
        assert (refused.smtp_code, refused.smtp_error[:5]) == (451, b"4.7.1")
        assert world.refuse(scanning.EICAR).smtp_code == 554  # its result is stored
        eventually(lambda: world.component("antivirus")["status"] == "down", 60, "the status of the scanner")
        (reason,) = eventually(lambda: world.alerts("antivirus_failed"), 90, "the alert")
        assert "deferred" in reason
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually(lambda: world.alerts("antivirus_recovered"), what="the end of the alert")
    eventually(lambda: world.component("antivirus")["status"] == "ok", what="the status of the scanner")
    world.deliver(b"scanned")


def test_a_client_has_a_limit_of_messages_a_minute(scanning_world: World) -> None:
    def send_beyond_the_limit(session: smtplib.SMTP) -> tuple[int, bytes]:
        for _ in range(RATE + 2):
            code, text = session.mail("eve@remote.test")
            if code != 250:
                return code, text
            session.rset()
        return 250, b""

    with scanning_world.stack.afar("198.51.100.5") as client:
        code, text = send_beyond_the_limit(client)
        assert (code, text[:5]) == (450, b"4.7.1")
    with scanning_world.stack.smtp() as local:
        assert send_beyond_the_limit(local)[0] == 250
    with scanning_world.stack.afar("198.51.100.6") as other:
        assert other.mail("eve@remote.test")[0] == 250


def test_the_scanner_is_switched_off(scanning_world: World) -> None:
    world = scanning_world
    world.apply(filter__antivirus=False)
    assert "clamd" not in world.services()
    eventually(lambda: world.component("antivirus")["status"] == "disabled", what="the status of the scanner")
    world.deliver(scanning.EICAR)
