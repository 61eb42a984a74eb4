"""The DNS records of a domain and of the server, and their zone files."""

from __future__ import annotations

import ipaddress
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import dns.zone
import pytest

from mailkeep.features.directory.dkim.model import DkimKey, Stage
from mailkeep.features.directory.dns.model import DnsRecord, DomainMail, MailServices, ServerIdentity
from mailkeep.features.directory.dns.rules import (
    domain_records,
    public_addresses,
    public_name,
    relay_term,
    server_records,
    to_zone_file,
)

ADDRESSES = (ipaddress.ip_address("192.0.2.10"), ipaddress.ip_address("2001:db8::10"))
SERVER = ServerIdentity("mx.example.net", ADDRESSES)
SERVICES = MailServices((("submissions", 465), ("imaps", 993)))


def key(selector: str, stage: Stage, public: bytes = b"\x00" * 32) -> DkimKey:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return DkimKey(UUID(int=1), UUID(int=2), selector, "ed25519", stage, b"sealed", public, at, at)


def values(records: list[DnsRecord]) -> list[tuple[str, str, str | None, bool]]:
    return [(each.type, each.name, each.value, each.required) for each in records]


def test_the_records_of_a_domain():
    keys = (key("new", "pending"), key("now", "active"), key("old", "retiring"), key("gone", "retired"))
    found = domain_records(DomainMail("example.test", keys, mta_sts="v=STSv1; id=1"), SERVER, SERVICES)
    public = "v=DKIM1; k=ed25519; p=" + "A" * 43 + "="
    assert values(found) == [
        ("MX", "example.test", "10 mx.example.net", True),
        ("TXT", "example.test", "v=spf1 mx -all", True),
        ("TXT", "new._domainkey.example.test", public, False),
        ("TXT", "now._domainkey.example.test", public, True),
        ("TXT", "old._domainkey.example.test", public, False),
        ("TXT", "_dmarc.example.test", "v=DMARC1; p=none; rua=mailto:dmarc@mx.example.net", True),
        ("TXT", "_smtp._tls.example.test", "v=TLSRPTv1; rua=mailto:tls@mx.example.net", False),
        ("TXT", "_mta-sts.example.test", "v=STSv1; id=1", False),
        ("CNAME", "mta-sts.example.test", "mx.example.net", False),
        ("CNAME", "autoconfig.example.test", "mx.example.net", False),
        ("CNAME", "autodiscover.example.test", "mx.example.net", False),
        ("SRV", "_submissions._tcp.example.test", "0 1 465 mx.example.net", False),
        ("SRV", "_imaps._tcp.example.test", "0 1 993 mx.example.net", False),
    ]
    without_policy = {each.purpose for each in domain_records(DomainMail("example.test", keys), SERVER, SERVICES)}
    assert {each.purpose for each in found} - without_policy == {"mta_sts", "mta_sts_host"}


def test_a_direction_that_is_off_requires_nothing():
    keys = (key("now", "active"),)
    silent = domain_records(DomainMail("example.test", keys, sends=False), SERVER, MailServices())
    assert [each.purpose for each in silent if each.required] == ["mx"]
    deaf = domain_records(DomainMail("example.test", keys, receives=False), SERVER, MailServices())
    assert [each.purpose for each in deaf if each.required] == ["spf", "dkim", "dmarc"]


def test_the_records_of_the_server():
    found = server_records(SERVER, [key("own", "active")], is_managed=False)
    assert [(each.type, each.name) for each in found if each.required] == [
        ("A", "mx.example.net"),
        ("AAAA", "mx.example.net"),
        ("PTR", "10.2.0.192.in-addr.arpa"),
        ("PTR", "0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"),
        ("TXT", "mx.example.net"),
        ("TXT", "own._domainkey.mx.example.net"),
    ]
    assert [each.value for each in found if each.purpose in ("spf", "report_authorization")] == [
        "v=spf1 a -all", "v=DMARC1",
    ]  # fmt: skip
    managed = server_records(SERVER, [], is_managed=True)
    assert not [each for each in managed if each.purpose in ("spf", "dkim")]
    assert server_records(ServerIdentity(None, ADDRESSES), [], is_managed=False) == []


@pytest.mark.parametrize(
    "hostname, expected",
    [("MX.Example.com.", "mx.example.com"), ("", None), ("mail", None), ("mail.local", None), ("localhost", None),
     ("a.localhost", None), ("192.0.2.1", None), ("server.internal", None)],
)  # fmt: skip
def test_public_names(hostname: str, expected: str | None):
    assert public_name(hostname) == expected


def test_public_addresses():
    texts = ["127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.1.1", "fe80::1",
             "fd00::1", "0.0.0.0", "192.0.2.1", "2001:db8::1"]  # fmt: skip
    assert [str(each) for each in public_addresses(texts)] == ["192.0.2.1", "2001:db8::1"]


def test_spf_terms_of_relays():
    assert relay_term("email-smtp.eu-west-1.amazonaws.com") == ("include:amazonses.com", True)
    assert relay_term("smtp.sendgrid.net") == ("include:sendgrid.net", True)
    assert relay_term("relay.example.org") == ("a:relay.example.org", False)
    mail = DomainMail("example.test", (), relay="smtp.sendgrid.net")
    assert domain_records(mail, SERVER, MailServices())[1].value == "v=spf1 include:sendgrid.net -all"


def zone_of(domain: str) -> str:
    """A zone with the records of a domain, one of them too long for one string."""
    long = DomainMail(domain, (key("now", "active", b"\x17" * 550),))
    records = [*domain_records(long, SERVER, SERVICES), *server_records(SERVER, [], is_managed=False)]
    text = to_zone_file("records", [each for each in records if each.name.endswith(domain) or each.type == "PTR"])
    assert '"v=DKIM1; k=ed25519; p=FxcX' in text
    head = f"$TTL 3600\n{domain}. IN SOA ns.{domain}. a.{domain}. 1 2 3 4 5\n{domain}. IN NS ns.{domain}.\n"
    return f"{head}ns.{domain}. IN A 192.0.2.1\n{text}"


def test_the_zone_file_is_read_by_parsers(tmp_path: Path):
    zone = dns.zone.from_text(zone_of("example.test"), "example.test.", relativize=False)
    names = {str(name) for name in zone.nodes}
    assert "now._domainkey.example.test." in names
    assert "_imaps._tcp.example.test." in names
    [text] = zone.find_rdataset("now._domainkey.example.test.", "TXT")
    assert b"".join(text.strings).startswith(b"v=DKIM1; k=ed25519; p=FxcX")
    assert all(len(part) <= 255 for part in text.strings)
    assert len(text.strings) == 3
    if program := shutil.which("named-checkzone") or shutil.which("kzonecheck"):
        (tmp_path / "example.test.zone").write_text(zone_of("example.test"))
        arguments = ["example.test"] if "named" in program else ["-o", "example.test"]
        command = [program, *arguments, tmp_path / "example.test.zone"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
