"""What is a report, and what is refused with which reason."""

from __future__ import annotations

import gzip
import json
from base64 import encodebytes
from collections.abc import Callable

import pytest

from mailkeep.mail.reports.model import AbuseReport, DkimResult, DmarcReport, InvalidReport, TlsReport
from mailkeep.mail.reports.read import read
from tests.support.reports import BEGIN, DAY, Dmarc, Record, abuse_report, mailed, tls_report, zipped

ONE = Dmarc([Record(auth=(("dkim", "Example.test", "mk1", "pass"), ("spf", "example.test", "", "fail")))])
AS_RFC_9990 = ' xmlns="urn:ietf:params:xml:ns:dmarc-2.0"'


@pytest.mark.parametrize(
    "content",
    [
        ONE.xml(),
        Dmarc(ONE.records, namespace=AS_RFC_9990).xml(),
        b"\xef\xbb\xbf \n" + ONE.xml(),
        gzip.compress(ONE.xml()),
        zipped(ONE.xml()),
        mailed(ONE.xml()),
        b"From: a@b.test\r\nContent-Type: application/gzip\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + encodebytes(gzip.compress(ONE.xml())),
    ],
    ids=["xml", "namespace", "BOM", "gzip", "zip", "attachment", "whole message"],
)
def test_a_dmarc_report_is_read_from_each_form(content: bytes) -> None:
    report = read(content)
    assert isinstance(report, DmarcReport)
    assert (report.domain, report.organisation, report.report_id) == ("example.test", "google.com", "1")
    assert (report.begin, report.end, report.policy.p, report.messages) == (BEGIN, BEGIN + DAY - 1, "none", 1)
    (row,) = report.rows
    assert row.signatures == (DkimResult("example.test", "mk1", "pass"),)
    assert (row.source_ip, row.dkim, row.spf, row.header_from) == ("192.0.2.1", True, True, "example.test")


def test_records_with_the_same_results_are_added_up() -> None:
    report = read(Dmarc([Record(count=2), Record(ip="2001:DB8::1"), Record(count=3)]).xml())
    assert isinstance(report, DmarcReport)
    assert [(row.source_ip, row.messages) for row in report.rows] == [("192.0.2.1", 5), ("2001:db8::1", 1)]


def test_a_tls_report_is_read() -> None:
    for content in (tls_report(certificate_expired=3), mailed(tls_report(certificate_expired=3))):
        report = read(content)
        assert isinstance(report, TlsReport)
        (policy,) = report.policies
        assert (policy.type, policy.successful, policy.failed) == ("sts", 10, 3)
        assert (policy.failures[0].result_type, policy.failures[0].sessions) == ("certificate-expired", 3)


def test_an_abuse_report_is_read() -> None:
    report = read(abuse_report())
    assert isinstance(report, AbuseReport)
    assert (report.domain, report.feedback_type, report.organisation) == ("example.test", "abuse", "isp.test")
    assert (report.mail_from, report.recipients) == ("news@example.test", ("user@isp.test",))
    assert report.message_id == "<8787@example.test>"
    assert report.original.endswith(b"\r\n\r\nSpam")


def tls(**changes: object) -> bytes:
    return json.dumps(json.loads(tls_report()) | changes).encode()


def two_domains() -> bytes:
    report = json.loads(tls_report())
    report["policies"] += json.loads(tls_report("other.test"))["policies"]
    return json.dumps(report).encode()


BILLION_LAUGHS = b'<!DOCTYPE f [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><feedback>&b;</feedback>'
XXE = b'<?xml version="1.0"?><!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><feedback>&x;</feedback>'
REFUSED: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "entities": (BILLION_LAUGHS, "has a DTD, an entity"),
    "XXE": (XXE, "has a DTD, an entity"),
    "external DTD": (b'<!DOCTYPE f SYSTEM "http://169.254.169.254/"><feedback/>', "has a DTD, an entity"),
    "gzip bomb": (lambda: gzip.compress(b" " * (200 << 20), 1), "larger than 64 MB"),
    "zip bomb": (lambda: zipped(b" " * (200 << 20)), "larger than 64 MB"),
    "zip in zip": (zipped(zipped(ONE.xml())), "contains another archive"),
    "zip in gzip": (gzip.compress(zipped(ONE.xml())), "contains another archive"),
    "gzip in gzip": (gzip.compress(gzip.compress(ONE.xml())), "contains another archive"),
    "two files": (zipped(ONE.xml(), ONE.xml()), "exactly one file (it has 2)"),
    "empty zip": (zipped(), "exactly one file (it has 0)"),
    "damaged zip": (zipped(ONE.xml())[:60], "zip archive is damaged"),
    "cut gzip": (gzip.compress(ONE.xml())[:-20], "gzip file is incomplete"),
    "damaged gzip": (b"\x1f\x8b\x08" + b"x" * 50, "gzip file is damaged"),
    "deep XML": (b"<feedback>" * 10_000, "nested deeper than 12"),
    "wide XML": (b"<feedback>" + b"<a/>" * 300 + b"</feedback>", "more than 200 elements"),
    "long text": (b"<feedback><a>" + b"x" * 5000 + b"</a></feedback>", "more than 4096 characters"),
    "not well-formed": (b"<feedback><a></feedback>", "not well-formed"),
    "unknown encoding": (b'<?xml version="1.0" encoding="x-none"?><feedback/>', "not well-formed"),
    "another document": (b"<html></html>", "root element is not feedback"),
    "too many records": (lambda: Dmarc([Record()] * 100_001).xml(), "more than 100000 records"),
    "huge count": (Dmarc([Record(count="9" * 5000)]).xml(), "more than 4096 characters"),
    "large count": (Dmarc([Record(count=10**10)]).xml(), "The count of record 1 is not a number from 0 to 1000000000"),
    "negative count": (Dmarc([Record(count=-1)]).xml(), "The count of record 1"),
    "other digits": (Dmarc([Record(count="\u0663")]).xml(), "The count of record 1"),
    "no address": (Dmarc([Record(), Record(ip="300.1.1.1")]).xml(), "The source_ip of record 2 is not an IP address"),
    "scoped address": (Dmarc([Record(ip="fe80::1%eth0")]).xml(), "The source_ip of record 1"),
    "disposition": (Dmarc([Record(disposition="drop")]).xml(), "The disposition of record 1"),
    "no date": (Dmarc(begin="yesterday").xml(), "The begin date is not a time"),
    "date before 2000": (Dmarc(begin=5).xml(), "The begin date is not between"),
    "reversed dates": (Dmarc(begin=BEGIN, end=BEGIN - 1).xml(), "ends before it begins"),
    "a long time": (Dmarc(begin=BEGIN, end=BEGIN + 40 * DAY).xml(), "more than 32 days"),
    "two policies": (Dmarc(more="<policy_published/>").xml(), "exactly one domain"),
    "foreign record": (Dmarc([Record(header_from="other.test")]).xml(), "has a record for another domain"),
    "suffix": (Dmarc([Record(header_from="notexample.test")]).xml(), "has a record for another domain"),
    "no domain": (Dmarc(domain="a..b").xml(), "is not a domain name"),
    "no report ID": (Dmarc(report_id="").xml(), "no org_name or no report_id"),
    "TLS: two domains": (two_domains(), "exactly one domain"),
    "TLS: no policies": (tls(policies=[]), "1 to 100 policies"),
    "TLS: wrong type": (tls(policies=3), "is no TLS report: Expected `array`"),
    "JSON, cut": (tls_report()[:-5], "JSON is invalid"),
    "deep JSON": (b'{"x":' + b"[" * 100_000, "JSON"),
    "text": (b"hello", "neither XML, JSON, gzip, zip nor a mail message"),
    "empty": (b"", "neither XML, JSON, gzip, zip nor a mail message"),
    "mail without a report": (b"From: a@b.test\r\n\r\nHello\r\n", "has no report"),
    "ARF without a date": (abuse_report().replace(b"-Date", b"-X").replace(b"Fri, 27", b"Fri, 77"), "no valid date"),
    "ARF without a type": (abuse_report().replace(b"Feedback-Type", b"X-Type"), "no Feedback-Type"),
    "ARF: address": (abuse_report().replace(b"Source-IP: 192", b"Source-IP: 999"), "The Source-IP is not an IP"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_and_invalid_reports_are_refused_with_the_reason(name: str) -> None:
    content, reason = REFUSED[name]
    with pytest.raises(InvalidReport) as refused:
        read(content() if callable(content) else content)
    assert reason in str(refused.value)
