"""Reports of other servers, as they are sent."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any

from tests.support.client import EXAMPLE

DAY = 86_400
BEGIN = int(datetime(2026, 2, 27, tzinfo=UTC).timestamp())  # START is two days later


@dataclass(frozen=True)
class Record:
    """A record of a DMARC report; `auth`: (method, domain, selector, result)."""

    ip: str = "192.0.2.1"
    count: Any = 1
    dkim: str = "pass"
    spf: str = "pass"
    disposition: str = "none"
    header_from: str = EXAMPLE
    auth: tuple[tuple[str, str, str, str], ...] = ()
    reasons: tuple[str, ...] = ()

    def xml(self) -> str:
        reasons = "".join(f"<reason><type>{each}</type><comment/></reason>" for each in self.reasons)
        auth = "".join(
            f"<{method}><domain>{domain}</domain><selector>{selector}</selector><result>{result}</result></{method}>"
            for method, domain, selector, result in self.auth
        )
        return (
            f"<record><row><source_ip>{self.ip}</source_ip><count>{self.count}</count><policy_evaluated>"
            f"<disposition>{self.disposition}</disposition><dkim>{self.dkim}</dkim><spf>{self.spf}</spf>{reasons}"
            f"</policy_evaluated></row><identifiers><header_from>{self.header_from}</header_from></identifiers>"
            f"<auth_results>{auth}</auth_results></record>"
        )


@dataclass(frozen=True)
class Dmarc:
    """A DMARC report."""

    records: Iterable[Record] = (Record(),)
    domain: str = EXAMPLE
    organisation: str = "google.com"
    report_id: str = "1"
    begin: Any = BEGIN
    end: Any = BEGIN + DAY - 1
    policy: str = "none"
    namespace: str = ""
    more: str = field(default="")

    def xml(self) -> bytes:
        return (
            f'<?xml version="1.0" encoding="UTF-8"?><feedback{self.namespace}><version>1.0</version><report_metadata>'
            f"<org_name>{self.organisation}</org_name><email>noreply@{self.organisation}</email>"
            f"<report_id>{self.report_id}</report_id><date_range><begin>{self.begin}</begin><end>{self.end}</end>"
            f"</date_range></report_metadata><policy_published><domain>{self.domain}</domain><adkim>r</adkim>"
            f"<p>{self.policy}</p><sp>none</sp><pct>100</pct></policy_published>{self.more}"
            f"{''.join(each.xml() for each in self.records)}</feedback>"
        ).encode()


def tls_report(domain: str = EXAMPLE, report_id: str = "t1", begin: int = BEGIN, **failures: int) -> bytes:
    """A TLS report with 10 successful sessions, and failed ones by result type (with `_` for `-`)."""
    return json.dumps(
        {
            "organization-name": "Google Inc.",
            "date-range": {"start-datetime": _rfc3339(begin), "end-datetime": _rfc3339(begin + DAY - 1)},
            "contact-info": "smtp-tls-reporting@google.com",
            "report-id": report_id,
            "policies": [
                {
                    "policy": {"policy-type": "sts", "policy-string": ["version: STSv1"], "policy-domain": domain},
                    "summary": {
                        "total-successful-session-count": 10,
                        "total-failure-session-count": sum(failures.values()),
                    },
                    "failure-details": [
                        {
                            "result-type": kind.replace("_", "-"),
                            "sending-mta-ip": "2001:db8::1",
                            "receiving-mx-hostname": "mx.example.test",
                            "failed-session-count": count,
                        }
                        for kind, count in failures.items()
                    ],
                }
            ],
        }
    ).encode()


def _rfc3339(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def zipped(*files: bytes) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(files):
            archive.writestr(f"{number}.xml", content)
    return buffer.getvalue()


def mailed(content: bytes, *, sender: str = "noreply@google.com", fields: dict[str, str] | None = None) -> bytes:
    """A message with a report as its attachment, in gzip."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "dmarc@mx.test"
    message["Subject"] = "Report Domain: example.test"
    message["Message-ID"] = "<r1@google.com>"
    for name, value in (fields or {}).items():
        message[name] = value
    message.set_content("This is an aggregate report.")
    message.add_attachment(gzip.compress(content), maintype="application", subtype="gzip", filename="r.xml.gz")
    return message.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def abuse_report(original: bytes | None = None, domain: str = EXAMPLE) -> bytes:
    """A feedback loop's report about a message from `news@` the domain (RFC 5965, appendix B)."""
    message = (
        original
        or (
            f"DKIM-Signature: v=1; a=rsa-sha256; d={domain}; s=mk1; h=from; bh=x; b=y\r\n"
            f"From: <news@{domain}>\r\nTo: <user@isp.test>\r\n"
            "Subject: Earn money\r\nMessage-ID: <8787@example.test>\r\n\r\nSpam"
        ).encode()
    )
    head = (
        "From: <abusedesk@isp.test>\r\nDate: Fri, 27 Feb 2026 17:40:36 +0000\r\nTo: <dmarc@mx.test>\r\n"
        "Subject: FW: Earn money\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/report; report-type=feedback-report; boundary="part"\r\n\r\n'
        "--part\r\nContent-Type: text/plain\r\n\r\nThis is an email abuse report.\r\n"
        "--part\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\n"
        "User-Agent: Generator/1.0\r\nVersion: 1\r\nOriginal-Mail-From: <news@example.test>\r\n"
        "Original-Rcpt-To: <user@isp.test>\r\nArrival-Date: Fri, 27 Feb 2026 15:00:00 +0000\r\n"
        "Source-IP: 192.0.2.1\r\n\r\n--part\r\nContent-Type: message/rfc822\r\n\r\n"
    )
    return head.encode() + message + b"\r\n--part--\r\n"
