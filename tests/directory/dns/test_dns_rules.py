"""The DNS records of a domain."""

from datetime import UTC, datetime
from uuid import UUID

from mailkeep.features.directory.dkim.model import DkimKey, Stage
from mailkeep.features.directory.dns.rules import required_records


def key(selector: str, stage: Stage) -> DkimKey:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return DkimKey(UUID(int=1), UUID(int=2), selector, "ed25519", stage, b"sealed", b"\x00" * 32, at, at)


def test_the_records_of_a_domain():
    keys = [key("new", "pending"), key("now", "active"), key("old", "retired")]
    found = required_records(
        "example.test", "mx.example.net", ["192.0.2.10", "2001:db8::10"], keys, [key("own", "active")]
    )
    assert [(record.type, record.name) for record in found] == [
        ("MX", "example.test"),
        ("A", "mx.example.net"),
        ("PTR", "10.2.0.192.in-addr.arpa"),
        ("AAAA", "mx.example.net"),
        ("PTR", "0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"),
        ("TXT", "mx.example.net"),
        ("TXT", "own._domainkey.mx.example.net"),
        ("TXT", "example.test"),
        ("TXT", "new._domainkey.example.test"),
        ("TXT", "now._domainkey.example.test"),
        ("TXT", "_dmarc.example.test"),
    ]
    assert found[0].value == "10 mx.example.net."
    assert [record.value for record in (found[5], found[7])] == ["v=spf1 a -all", "v=spf1 mx -all"]
    assert found[8].value.startswith("v=DKIM1; k=ed25519; p=")


def test_a_server_named_like_the_domain_has_one_spf_record():
    found = required_records("example.test", "example.test", ["192.0.2.10"], [], [])
    assert [record.value for record in found if "spf1" in record.value] == ["v=spf1 mx -all"]
