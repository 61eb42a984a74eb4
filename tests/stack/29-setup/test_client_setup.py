"""Mail programs set themselves up with the records that the API says to publish; ports are tested from outside.

The "outside" is a network namespace in which the server's ports and an HTTPS proxy are at 127.0.0.1, as the published
records say.
"""

from __future__ import annotations

import http.client
import imaplib
import json
import plistlib
import smtplib
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import dns.resolver
import pytest
import trustme
from defusedxml.ElementTree import fromstring

from mailkeep.mail.client_setup import autodiscover
from tests.stack.harness import ADDRESS, HOSTNAME, PASSWORD, Stack, eventually, trusting
from tests.support.autodiscover import outlook_request
from tests.support.instance import PROGRAM
from tests.support.network_namespace import NetworkNamespace, environment

NAME = "setup.test"
USER = f"alice@{NAME}"
MAIL_PORTS = ("smtp", "submission", "submissions", "imap", "imaps", "sieve")


@dataclass
class Outside:
    """The domain with its records published, and the network in which its mail programs are."""

    stack: Stack
    namespace: NetworkNamespace
    authority: trustme.CA
    records: list[dict[str, Any]]
    here: ThreadPoolExecutor  # its thread is not in the namespace, where no name server is

    def resolve(self, name: str, kind: str) -> list[Any]:
        """What the stack's name server answers; empty for no such name."""
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers, resolver.cache = [self.stack.names or ""], None
        try:
            return list(self.here.submit(resolver.resolve, name, kind, lifetime=20).result(30))
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []

    def fetch(self, url: str, body: bytes | None = None) -> bytes | None:
        """The content at a URL, with the certificate verified; None if the name or the content does not exist."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        if not (found := self.resolve(host, "A")):
            return None
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        with (
            socket.create_connection((str(found[0]), 443), 30) as plain,
            context.wrap_socket(plain, server_hostname=host) as tls,
        ):
            connection = http.client.HTTPConnection(host)
            connection.sock = tls
            headers = {"Content-Type": "text/xml"} if body else {}
            connection.request("POST" if body else "GET", target, body, headers)
            answer = connection.getresponse()
            return answer.read() if answer.status == 200 else None

    def sign_in(self, imap: tuple[str, int], smtp: tuple[str, int], login: str) -> None:
        """Read and send mail with TLS from the start at these servers."""
        address = str(self.resolve(imap[0], "A")[0])
        with imaplib.IMAP4_SSL(address, imap[1], ssl_context=trusting(), timeout=60) as client:
            client.login(login, PASSWORD)
            assert client.select("INBOX")[0] == "OK"
        address = str(self.resolve(smtp[0], "A")[0])
        with smtplib.SMTP_SSL(address, smtp[1], timeout=60, context=trusting()) as client:
            client.login(login, PASSWORD)
            client.sendmail(USER, [USER], f"From: {USER}\r\nTo: {USER}\r\nSubject: Set up\r\n\r\nIt works.\r\n")


@pytest.fixture(scope="module")
def outside(stack_folder: Path) -> Iterator[Outside]:
    stack = Stack(stack_folder)
    domain_id = stack.get_domain(NAME)
    if not stack.do("GET", f"/mailboxes?domain_id={domain_id}"):
        stack.make_mailbox(domain_id, "alice")
    records = stack.do("GET", f"/domains/{domain_id}/dns")["records"]
    shown = [each for each in records if each["purpose"] in ("autoconfig", "autodiscover", "srv")]
    stack.publish(NAME, *(to_line(each) for each in shown))
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(f"autoconfig.{NAME}", f"autodiscover.{NAME}").configure_cert(context)
    api = urlsplit(stack.api)
    target = (api.hostname or "", api.port or 0)
    with NetworkNamespace() as namespace, ThreadPoolExecutor(1) as here:
        here.submit(int).result()  # the thread starts here
        for name in MAIL_PORTS:
            namespace.forward(stack.ports[name], (ADDRESS, stack.ports[name]))
        namespace.forward(443, target, context)
        namespace.forward(80, target)
        yield Outside(stack, namespace, authority, shown, here)


def to_line(record: dict[str, Any]) -> str:
    """A line of the zone file."""
    return f"{record['name']}. {record['type']} {record['value']}."


def ask_like_thunderbird(outside: Outside, address: str) -> Any:
    """The first of the provider's documents that exists, in Thunderbird's order; the user's name is filled in."""
    domain = address.rpartition("@")[2]
    for url in (
        f"https://autoconfig.{domain}/mail/config-v1.1.xml?emailaddress={quote(address)}",
        f"https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml?emailaddress={quote(address)}",
    ):
        if document := outside.fetch(url):
            return fromstring(document.replace(b"%EMAILADDRESS%", address.encode()))
    return None


def run_outside(outside: Outside, work: Callable[[], None]) -> None:
    outside.namespace.call(work)


def test_thunderbird_finds_the_servers(outside: Outside):
    def discover() -> None:
        config = ask_like_thunderbird(outside, USER)
        assert config is not None
        incoming = next(each for each in config.iter("incomingServer") if each.get("type") == "imap")
        outgoing = next(config.iter("outgoingServer"))
        assert {incoming.findtext("socketType"), outgoing.findtext("socketType")} == {"SSL"}
        imap, smtp = ((each.findtext("hostname"), int(each.findtext("port"))) for each in (incoming, outgoing))
        assert imap[0] == smtp[0] == HOSTNAME
        outside.sign_in(imap, smtp, incoming.findtext("username"))
        assert ask_like_thunderbird(outside, "alice@nowhere.test") is None

    before = len(outside.stack.mail_of(USER))
    run_outside(outside, discover)
    eventually(lambda: len(outside.stack.mail_of(USER)) > before, what="the message that was sent")


def test_outlook_finds_the_servers(outside: Outside):
    url = f"https://autodiscover.{NAME}/Autodiscover/Autodiscover.xml"

    def discover() -> None:
        reference = outside.fetch(f"https://autodiscover.{NAME}/autodiscover/autodiscover.json/v1.0/{USER}")
        assert reference
        assert json.loads(reference)["Url"].lower() == url.lower()
        document = outside.fetch(url, outlook_request(USER))
        assert document
        found: dict[str, dict[str, str]] = {}
        for protocol in fromstring(document).iter():
            if protocol.tag.endswith("}Protocol"):
                fields = {each.tag.rpartition("}")[2]: each.text or "" for each in protocol}
                found[fields["Type"]] = fields
        imap, smtp = ((found[kind]["Server"], int(found[kind]["Port"])) for kind in ("IMAP", "SMTP"))
        outside.sign_in(imap, smtp, found["IMAP"]["LoginName"])
        bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>'
        assert outside.fetch(url, outlook_request(USER, start=bomb.decode())) is None
        too_large = outlook_request(USER) + b" " * autodiscover.MAX_REQUEST_BYTES
        assert outside.fetch(url, too_large) is None

    run_outside(outside, discover)


def test_other_programs_find_the_servers_by_srv_records(outside: Outside):
    def discover() -> None:
        places: dict[str, tuple[str, int]] = {}
        for service in ("imaps", "submissions"):
            [record] = outside.resolve(f"_{service}._tcp.{NAME}", "SRV")
            places[service] = (record.target.to_text(omit_final_dot=True), record.port)
        outside.sign_in(places["imaps"], places["submissions"], USER)

    run_outside(outside, discover)


def test_the_published_records_are_found_right(outside: Outside):
    domain_id = outside.stack.get_domain(NAME)

    def check() -> list[dict[str, Any]] | None:
        outside.stack.ask("POST", f"/domains/{domain_id}/dns/check")
        records = outside.stack.do("GET", f"/domains/{domain_id}/dns")["records"]
        found = [each for each in records if each["purpose"] in ("autoconfig", "autodiscover", "srv")]
        return found if all(each["status"] == "ok" for each in found) else None

    assert len(eventually(check, 90, "the check of the records")) == len(outside.records)


def test_the_profile_is_signed_with_the_servers_certificate(outside: Outside, tmp_path: Path):
    stack = outside.stack
    [mailbox] = stack.do("GET", f"/mailboxes?domain_id={stack.get_domain(NAME)}")
    signed = stack.content(f"/mailboxes/{mailbox['id']}/setup?format=apple")
    served = stack.data_dir / "tls/served.pem"
    verify = ["openssl", "cms", "-verify", "-inform", "DER", "-purpose", "any", "-CAfile", str(served)]
    result = subprocess.run(verify, input=signed, capture_output=True, check=False, timeout=30)
    assert result.returncode == 0, result.stderr
    [account] = plistlib.loads(result.stdout)["PayloadContent"]
    assert account["EmailAddress"] == USER
    assert (account["IncomingMailServerHostName"], account["IncomingMailServerPortNumber"]) == (
        HOSTNAME,
        stack.ports["imaps"],
    )
    # Whoever has the link gets the same profile, without signing in.
    link = stack.do("POST", f"/mailboxes/{mailbox['id']}/setup-link")["url"]
    place = urlsplit(stack.api)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    connection.request("GET", f"{urlsplit(link).path}/mail.mobileconfig")
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Content-Type")) == (200, "application/x-apple-aspen-config")
    result = subprocess.run(verify, input=answer.read(), capture_output=True, check=False, timeout=30)
    assert (result.returncode, plistlib.loads(result.stdout)["PayloadContent"]) == (0, [account])
    connection.close()


def test_doctor_tests_the_ports_from_inside_and_outside(outside: Outside):
    stack = outside.stack
    doctor = [*PROGRAM, "doctor", "--ports", "--json"]
    mail_ports = {name: port for name, port in stack.ports.items() if name not in ("afar", "http", "https")}
    ports = {f"PORTS__{name.upper()}": str(port) for name, port in mail_ports.items()}
    settings = environment(SERVER__HOSTNAME=HOSTNAME, SERVER__ADDRESSES=json.dumps([ADDRESS]), **ports)

    def run(*argv: str) -> tuple[int, dict[str, Any]]:
        result = subprocess.run(argv, env=settings, capture_output=True, check=False, timeout=120)
        assert result.stdout, result.stderr
        return result.returncode, json.loads(result.stdout)

    code, report = run(*doctor, "--data-dir", str(stack.data_dir), "--from", "127.0.0.2")
    assert (code, report["ok"]) == (0, True), report
    assert {(each["seen_from"], each["status"]) for each in report["results"]} == {
        ("inside", "open"),
        ("outside", "open"),
    }
    assert {each["service"] for each in report["results"]} == set(mail_ports)
    # In the namespace, where POP3 is not reachable.
    code, report = run(*outside.namespace.command(*doctor, "--host", ADDRESS, "--data-dir", "/nonexistent"))
    closed = {each["service"] for each in report["results"] if each["status"] != "open"}
    assert (code, closed) == (0, {"pop3", "pop3s"}), report
    assert {each["status"] for each in report["results"] if each["service"] in closed} == {"refused"}
    with NetworkNamespace() as nowhere:
        code, report = run(*nowhere.command(*doctor, "--host", ADDRESS, "--data-dir", "/nonexistent"))
    assert code == 1
    assert {each["status"] for each in report["results"]} == {"refused"}
