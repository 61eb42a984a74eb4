"""What a check says about each record: name servers that answer rightly, wrongly, not at all, twice, slowly, lame,
truncated, with SERVFAIL, differently from each other, and changing answers.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import pytest

from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dns.model import DnsRecord, DomainMail, MailServices, ServerIdentity
from mailkeep.features.directory.dns.rules import domain_records, server_records
from mailkeep.features.directory.dns_checks.examine import Context, examine_domain
from mailkeep.features.directory.dns_checks.model import RecordFinding
from mailkeep.features.directory.dns_checks.rules import summarize
from mailkeep.net.dns_lookups import Lookups
from mailkeep.net.dns_query import DnsQuery
from tests.support.dns_server import DnsServer, Fault

DOMAIN, HOST = "example.test", "mx.host.test"
V4, V6 = ipaddress.ip_address("192.0.2.10"), ipaddress.ip_address("2001:db8::10")
SERVER = ServerIdentity(HOST, (V4, V6))
AT = datetime(2026, 11, 21, tzinfo=UTC)
KEY = DkimKey(UUID(int=1), UUID(int=2), "s1", "ed25519", "active", b"", bytes(range(32)), AT, AT)
POLICY = "v=STSv1; id=20261121"
PUBLIC = KEY.dns_value.partition("p=")[2]
Publish = Callable[[DnsServer], None]


def right(server: DnsServer) -> None:
    """Publish every record as recommended."""
    records = [
        *domain_records(DomainMail(DOMAIN, (KEY,), mta_sts=POLICY), SERVER, MailServices((("imaps", 993),))),
        *server_records(SERVER, [KEY], is_managed=False),
    ]
    for record in records:
        if record.value is not None and record.purpose != "address":
            server.publish(record.name, record.type, record.value)
    server.publish(HOST, "A", str(V4))
    server.publish(HOST, "AAAA", str(V6))


def with_(name: str, record_type: str, *values: str) -> Publish:
    def publish(server: DnsServer) -> None:
        right(server)
        server.publish(name, record_type, *values)

    return publish


def without(name: str, record_type: str | None = None) -> Publish:
    def publish(server: DnsServer) -> None:
        right(server)
        server.withdraw(name, record_type)

    return publish


def failing(name: str, fault: Fault) -> Publish:
    def publish(server: DnsServer) -> None:
        right(server)
        server.fail(name, fault)

    return publish


def all_of(*parts: Publish) -> Publish:
    def publish(server: DnsServer) -> None:
        for part in parts:
            part(server)

    return publish


@dataclass(frozen=True)
class Case:
    """`servers`: what each of the name servers publishes. `problem`, `advice`: words in them; None: there is none."""

    purpose: str
    status: str
    servers: tuple[Publish, ...]
    problem: str | None = None
    advice: str | None = None
    relay: str | None = None
    more: dict[str, Any] = field(default_factory=dict[str, Any])


DMARC, STS, TLS = f"_dmarc.{DOMAIN}", f"_mta-sts.{DOMAIN}", f"_smtp._tls.{DOMAIN}"
DKIM, SRV = f"s1._domainkey.{DOMAIN}", f"_imaps._tcp.{DOMAIN}"
PTR4 = V4.reverse_pointer
REPORTS = f"rua=mailto:dmarc@{HOST}"
MANY = "v=spf1 mx " + " ".join(f"include:i{number}.test" for number in range(10)) + " -all"


def includes(server: DnsServer) -> None:
    for number in range(10):
        server.publish(f"i{number}.test", "TXT", "v=spf1 ip4:198.51.100.1 -all")


CASES = {
    # Name servers, as seen by any record.
    "right": Case("mx", "ok", (right, right)),
    "slow": Case("mx", "ok", (failing(DOMAIN, "slow"),)),
    "truncated": Case("mx", "ok", (failing(DOMAIN, "truncated"),)),
    "without EDNS": Case("mx", "ok", (failing(DOMAIN, "no_edns"),)),
    "silent": Case("mx", "dns_error", (failing(DOMAIN, "silent"),), "no answer in time", "says nothing"),
    "SERVFAIL": Case("mx", "dns_error", (failing(DOMAIN, "servfail"),), "the server answered SERVFAIL", "dns.servers"),
    "refused": Case("mx", "dns_error", (failing(DOMAIN, "refused"),), "the server answered REFUSED", "dns.servers"),
    "lame": Case("mx", "dns_error", (failing(DOMAIN, "lame"),), "does not know the zone", "dns.servers"),
    "garbage": Case("mx", "dns_error", (failing(DOMAIN, "garbage"),), "not valid DNS", "dns.servers"),
    "one of two fails": Case("mx", "ok", (failing(DOMAIN, "servfail"), right)),
    "one of two is silent, the other lacks it": Case(
        "mx", "missing", (failing(DOMAIN, "silent"), without(DOMAIN, "MX")), "There is no MX record.", "Add this record"
    ),
    "one of two lacks it": Case(
        "mx", "mismatch", (right, without(DOMAIN, "MX")), "not yet visible everywhere: 1 of 2", "Wait until"
    ),
    "an old value at one of two": Case(
        "dkim", "mismatch", (right, with_(DKIM, "TXT", "v=DKIM1; p=b2xk")), "not yet visible everywhere", "Wait until"
    ),
    # MX
    "no domain": Case("mx", "missing", (lambda server: None,), "There is no MX record.", f"value 10 {HOST}"),
    "another server": Case(
        "mx", "mismatch", (with_(DOMAIN, "MX", "5 old.test."),), "goes to old.test, not to this server",
        f"Replace the MX records by 10 {HOST}",
    ),
    "a better server": Case(
        "mx", "mismatch", (with_(DOMAIN, "MX", "5 old.test.", f"10 {HOST}."),), "old.test has the best preference",
        "lowest number",
    ),
    "an equal server": Case(
        "mx", "mismatch", (with_(DOMAIN, "MX", "10 old.test.", f"10 {HOST}."),), "old.test has the best preference",
        "lowest number",
    ),
    "a backup": Case("mx", "ok", (with_(DOMAIN, "MX", "20 backup.test.", f"10 {HOST}."),)),
    "null MX": Case("mx", "mismatch", (with_(DOMAIN, "MX", "0 ."),), "goes to no server", "Replace the MX records"),
    # SPF
    "SPF right": Case("spf", "ok", (right,)),
    "SPF by addresses": Case("spf", "ok", (with_(DOMAIN, "TXT", f"v=spf1 ip4:{V4} ip6:{V6} ~all", "other text"),)),
    "no SPF": Case("spf", "missing", (with_(DOMAIN, "TXT", "other text"),), "no SPF record", "v=spf1 mx -all"),
    "two SPF": Case(
        "spf", "multiple", (with_(DOMAIN, "TXT", "v=spf1 mx -all", "v=spf1 a -all"),), "There are 2 SPF records",
        "with the terms of all",
    ),
    "not our addresses": Case(
        "spf", "mismatch", (with_(DOMAIN, "TXT", "v=spf1 ip4:198.51.100.1 -all"),),
        "Mail from 192.0.2.10, 2001:db8::10 does not pass: SPF says fail", "v=spf1 mx -all",
    ),
    "not our IPv6 address": Case(
        "spf", "mismatch", (with_(DOMAIN, "TXT", f"v=spf1 ip4:{V4} -all"),), "Mail from 2001:db8::10 does not pass",
        "keep their terms",
    ),
    "SPF syntax": Case(
        "spf", "mismatch", (with_(DOMAIN, "TXT", "v=spf1 ipv4:1.2.3.4 -all"),), "`ipv4:1.2.3.4` is not a known term",
        "v=spf1 mx -all",
    ),
    "SPF loop": Case(
        "spf", "mismatch", (with_(DOMAIN, "TXT", f"v=spf1 include:{DOMAIN} -all"),), "includes itself", "v=spf1 mx -all"
    ),
    "too many look-ups after ours": Case(
        "spf", "ok", (all_of(with_(DOMAIN, "TXT", MANY), includes),), None, "need more than 10 DNS look-ups"
    ),
    "too many look-ups before ours": Case(
        "spf", "mismatch",
        (all_of(with_(DOMAIN, "TXT", MANY.replace(" mx", "").replace("-all", "mx -all")), includes),),
        "need more than 10 DNS look-ups", "v=spf1 mx -all",
    ),
    "many look-ups": Case(
        "spf", "ok", (all_of(with_(DOMAIN, "TXT", MANY.replace("include:i9.test ", "")), includes),), None,
        "needs 10 of at most 10",
    ),
    "everybody may send": Case("spf", "ok", (with_(DOMAIN, "TXT", "v=spf1 +all"),), None, "allows every server"),
    "an include without an answer": Case(
        "spf", "dns_error",
        (all_of(failing("slow.test", "servfail"),
                lambda server: server.publish(DOMAIN, "TXT", "v=spf1 include:slow.test -all")),),
        "SERVFAIL (for slow.test TXT)", "says nothing about the record",
    ),
    "a relay whose term is known": Case(
        "spf", "ok",
        (all_of(with_(DOMAIN, "TXT", "v=spf1 include:sendgrid.net -all"),
                lambda server: server.publish("sendgrid.net", "TXT", "v=spf1 ip4:198.51.100.0/24 -all")),),
        relay="smtp.sendgrid.net",
    ),
    "a relay whose term lacks": Case(
        "spf", "mismatch", (with_(DOMAIN, "TXT", "v=spf1 mx -all"),), "has no `include:sendgrid.net`",
        "Add include:sendgrid.net", relay="smtp.sendgrid.net",
    ),
    "an unknown relay whose address passes": Case(
        "spf", "ok", (with_(DOMAIN, "TXT", "v=spf1 ip4:198.51.100.9 -all"),), relay="198.51.100.9"
    ),
    "an unknown relay": Case(
        "spf", "ok", (with_(DOMAIN, "TXT", "v=spf1 mx -all"),), None, "Ask its provider", relay="198.51.100.9"
    ),
    # DKIM
    "DKIM right": Case("dkim", "ok", (right,)),
    "DKIM by CNAME": Case(
        "dkim", "ok",
        (all_of(without(DKIM), with_("k.host.test", "TXT", KEY.dns_value), lambda server: server.withdraw(DKIM),
                lambda server: server.publish(DKIM, "CNAME", "k.host.test.")),),
    ),
    "no DKIM": Case("dkim", "missing", (without(DKIM),), "no DKIM record", f"name {DKIM}"),
    "another key": Case(
        "dkim", "mismatch", (with_(DKIM, "TXT", "v=DKIM1; k=ed25519; p=b3RoZXI="),), "is another one", "Copy the value"
    ),
    "a key cut off": Case(
        "dkim", "mismatch", (with_(DKIM, "TXT", KEY.dns_value[:-9]),), "is cut off", "pieces of 255 characters"
    ),
    "a revoked key": Case("dkim", "mismatch", (with_(DKIM, "TXT", "v=DKIM1; p="),), "revokes the key", "Copy"),
    "another key type": Case(
        "dkim", "mismatch", (with_(DKIM, "TXT", f"v=DKIM1; p={PUBLIC}"),), "`k=` must be ed25519", "Copy the value"
    ),
    "two keys": Case(
        "dkim", "multiple", (with_(DKIM, "TXT", KEY.dns_value, "v=DKIM1; p=b2xk"),), "has 2 TXT records", "Remove"
    ),
    "a key in test mode": Case("dkim", "ok", (with_(DKIM, "TXT", f"{KEY.dns_value}; t=y"),), None, "being tested"),
    # DMARC
    "DMARC right": Case("dmarc", "ok", (right,)),
    "DMARC stricter": Case("dmarc", "ok", (with_(DMARC, "TXT", f"v=DMARC1; p=reject; {REPORTS}"),)),
    "reports elsewhere": Case(
        "dmarc", "ok", (with_(DMARC, "TXT", "v=DMARC1; p=none; rua=mailto:me@else.test"),), None,
        f"Add mailto:dmarc@{HOST}",
    ),
    "DMARC invalid": Case(
        "dmarc", "mismatch", (with_(DMARC, "TXT", "v=DMARC1; p=nothing"),), "`p=` must be none", "v=DMARC1; p=none"
    ),
    "no DMARC": Case("dmarc", "missing", (without(DMARC),), "no DMARC record", "v=DMARC1; p=none"),
    "DMARC of the domain above": Case(
        "dmarc", "ok", (with_("_dmarc.parent.test", "TXT", "v=DMARC1; p=reject"),), None, "policy of parent.test",
        more={"domain": "sub.parent.test"},
    ),
    "two DMARC": Case(
        "dmarc", "multiple", (with_(DMARC, "TXT", "v=DMARC1; p=none", "v=DMARC1; p=reject"),), "There are 2", "one"
    ),
    # MTA-STS, TLS-RPT, names of services
    "STS right": Case("mta_sts", "ok", (right,)),
    "STS with another ID": Case("mta_sts", "ok", (with_(STS, "TXT", "v=STSv1; id=2024"),), None, "Replace it by"),
    "STS invalid": Case("mta_sts", "mismatch", (with_(STS, "TXT", "v=STSv1; id=a-b"),), "`id=` must be", "Replace"),
    "TLS-RPT right": Case("tls_rpt", "ok", (right,)),
    "TLS-RPT elsewhere": Case(
        "tls_rpt", "ok", (with_(TLS, "TXT", "v=TLSRPTv1; rua=https://a.test/x"),), None, "Reports go elsewhere"
    ),
    "TLS-RPT invalid": Case("tls_rpt", "mismatch", (with_(TLS, "TXT", "v=TLSRPTv1; rua=me"),), "`rua=`", "Replace"),
    "autoconfig by address": Case(
        "autoconfig", "ok",
        (all_of(without(f"autoconfig.{DOMAIN}"), lambda server: server.publish(f"autoconfig.{DOMAIN}", "A", str(V4))),),
    ),
    "autodiscover elsewhere": Case(
        "autodiscover", "mismatch", (with_(f"autodiscover.{DOMAIN}", "CNAME", "autodiscover.outlook.com."),),
        "another server", HOST,
    ),
    "SRV right": Case("srv", "ok", (right,)),
    "SRV elsewhere": Case("srv", "mismatch", (with_(SRV, "SRV", "0 1 993 imap.old.test."),), "another server", "993"),
    # The server
    "address right": Case("address", "ok", (right,)),
    "address missing": Case("address", "missing", (without(HOST, "A"),), "no A record", "value 192.0.2.10"),
    "address wrong": Case(
        "address", "mismatch", (with_(HOST, "A", "198.51.100.1"),), "leads to 198.51.100.1, not", "Replace"
    ),
    "address more": Case("address", "ok", (with_(HOST, "A", str(V4), "198.51.100.1"),), None, "which is not in"),
    "address by CNAME": Case(
        "address", "mismatch",
        (all_of(right, lambda server: server.withdraw(HOST), lambda server: server.publish("a.test", "A", str(V4)),
                lambda server: server.publish(HOST, "CNAME", "a.test.")),),
        "is an alias (CNAME) of a.test", "addresses of its own",
    ),
    "PTR right": Case("ptr", "ok", (right,)),
    "PTR missing": Case("ptr", "missing", (without(PTR4),), "no reverse DNS", "Ask the provider"),
    "PTR of the provider": Case(
        "ptr", "mismatch", (with_(PTR4, "PTR", "vps10.provider.test."),), "is vps10.provider.test", "Ask the provider"
    ),
    "PTR not confirmed": Case("ptr", "mismatch", (with_(HOST, "A", "198.51.100.1"),), "does not lead", "Add the"),
    "PTR twice": Case("ptr", "ok", (with_(PTR4, "PTR", f"{HOST}.", "other.test."),), None, "several names"),
    "reports allowed": Case("report_authorization", "ok", (right,)),
    "reports not allowed": Case(
        "report_authorization", "missing", (without(f"*._report._dmarc.{HOST}"),), "no record that allows", "v=DMARC1"
    ),
    "CAA above": Case("caa", "ok", (with_("host.test", "CAA", '0 issue "letsencrypt.org"'),)),
    "zone not signed": Case("dnssec", "missing", (right,), "not signed", "Optional"),
    "zone signed, not verified": Case(
        "dnssec", "mismatch", (with_("host.test", "DNSKEY", "257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4="),),
        "did not verify", "DS record",
    ),
    "TLSA not signed": Case(
        "tlsa", "mismatch", (with_(f"_25._tcp.{HOST}", "TLSA", "3 1 1 " + "ab" * 32),), "senders ignore it", "Sign"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_finding(case: Case):
    running = [DnsServer() for _ in case.servers]
    for server, publish in zip(running, case.servers, strict=True):
        server.__enter__()
        publish(server)
    try:
        finding = await examine(case.purpose, running, case.relay, case.more.get("domain", DOMAIN))
    finally:
        for server in running:
            server.__exit__()
    assert finding.status == case.status, finding
    for text, expected in ((finding.problem, case.problem), (finding.advice, case.advice)):
        assert (text is None) if expected is None else (text is not None and expected in text), finding


async def examine(
    purpose: str, servers: list[DnsServer], relay: str | None = None, domain: str = DOMAIN
) -> RecordFinding:
    """The first finding with this purpose."""
    records = [
        *domain_records(
            DomainMail(domain, (KEY,), relay=relay, mta_sts=POLICY), SERVER, MailServices((("imaps", 993),))
        ),
        *server_records(SERVER, [], is_managed=True),
    ]
    record = next(each for each in records if each.purpose == purpose)
    lookups = Lookups(DnsQuery([("127.0.0.1", server.port) for server in servers]), asyncio.Semaphore(32))
    outcome = await examine_domain(Context(lookups, SERVER, relay), [record])
    [(_, finding)] = outcome.findings
    return finding


@pytest.fixture
def names() -> Iterator[DnsServer]:
    with DnsServer() as server:
        right(server)
        yield server


async def test_changing_answers_are_seen_by_the_next_check(names: DnsServer):
    names.alternate(DOMAIN, "MX", ["10 old.test."], [f"10 {HOST}."])
    assert [(await examine("mx", [names])).status for _ in range(3)] == ["mismatch", "ok", "ok"]


async def test_a_signed_zone(names: DnsServer):
    names.authenticated = True
    assert (await examine("dnssec", [names])).status == "ok"
    names.publish(f"_25._tcp.{HOST}", "TLSA", "3 1 1 " + "ab" * 32)
    assert (await examine("tlsa", [names])).status == "ok"
    names.withdraw(f"_25._tcp.{HOST}")
    finding = await examine("tlsa", [names])
    assert (finding.status, finding.advice) == (
        "missing",
        "Optional in a signed zone: it protects delivery to this server.",
    )


@pytest.mark.parametrize(
    "statuses, expected",
    [
        ({"mx": "ok", "spf": "ok"}, "ok"),
        ({"mx": "missing", "spf": "dns_error"}, "failing"),
        ({"mx": "ok", "spf": "dns_error"}, None),
        ({"mx": "dns_error", "spf": "dns_error", "tls_rpt": "dns_error"}, None),
        ({"mx": "not_checked", "spf": "not_checked"}, None),
        ({"mx": "ok", "tls_rpt": "missing"}, "ok"),
        ({"mx": "ok", "tls_rpt": "multiple"}, "attention"),
        ({"mx": "ok", "tls_rpt": "dns_error"}, "ok"),
        ({"mx": "partial"}, "attention"),
        ({"mx": "advice"}, "attention"),
    ],
)
def test_the_status_of_a_domain(statuses: dict[str, str], expected: str | None):
    def finding_of(text: str) -> RecordFinding:
        if text == "partial":
            return RecordFinding("mismatch", "x", "y", partial=True)
        return RecordFinding("ok", None, "Do it.") if text == "advice" else RecordFinding(cast(Any, text))

    required = {"mx", "spf"}
    pairs = [
        (DnsRecord(cast(Any, name), "TXT", "a.test", "x", "", name in required), finding_of(text))
        for name, text in statuses.items()
    ]
    assert summarize(pairs) == expected
