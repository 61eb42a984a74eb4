"""Reports by mail in the full profile: only those of senders that pass DMARC count, each once, whatever is killed."""

from __future__ import annotations

import os
import signal
import smtplib
import time
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import service_status
from tests.stack.harness import HOSTNAME, Stack, eventually
from tests.support.reports import DAY, Dmarc, Record, mailed, tls_report

REPORTER, STRANGER = "198.51.100.7", "203.0.113.66"
FORGED = {"X-Rspamd-Auth": "spf=pass; dkim=pass; dmarc=pass", "X-Rspamd-Action": "no action"}


def send(stack: Stack, client_address: str, to: str, report: bytes, **fields: str) -> None:
    content = mailed(report, sender="reports@reporter.test", fields=fields)
    with stack.afar(client_address) as client:
        client.sendmail("reports@reporter.test", [f"{to}@{HOSTNAME}"], content)


def report(domain: str, report_id: str) -> bytes:
    begin = int(time.time()) // DAY * DAY - DAY
    records = [Record("192.0.2.1", 5, header_from=domain)]
    return Dmarc(records, domain, "reporter.test", report_id, begin, begin + DAY - 1).xml()


def kill(stack: Stack, name: str) -> None:
    (service,) = [each for each in service_status.list_services(run_folder(stack.data_dir)) if each.name == name]
    assert service.pid
    os.kill(service.pid, signal.SIGKILL)


def test_reports_count_once_and_only_from_proved_senders(stack: Stack) -> None:
    domain_id = stack.make_domain("reported.test")
    spf = f'@ TXT "v=spf1 ip4:{REPORTER} -all"'
    stack.publish("reporter.test", "MX", spf, '_dmarc TXT "v=DMARC1; p=none"')
    for address in ("dmarc", "tls"):
        explained = stack.do("GET", f"/routing/explain?address={address}%40{HOSTNAME}")
        assert explained["deliveries"][0]["type"] == "report"

    def found() -> dict[str, Any]:
        return stack.do("GET", f"/domains/{domain_id}/dmarc?period=7d")

    send(stack, REPORTER, "dmarc", report("reported.test", "1"))
    eventually(lambda: found()["totals"]["messages"] == 5, what="the report")
    send(stack, REPORTER, "dmarc", report("reported.test", "1"))
    send(stack, STRANGER, "dmarc", report("reported.test", "2"), **FORGED)
    eventually(lambda: found()["totals"]["unproved_reports"] == 1, what="the unproved report")
    kill(stack, "worker")
    send(stack, REPORTER, "dmarc", report("reported.test", "3"))
    send(stack, REPORTER, "tls", tls_report("reported.test", begin=int(time.time()) - DAY))
    eventually(lambda: found()["totals"]["messages"] == 10, what="the report after a kill")
    tls = f"/domains/{domain_id}/tls-reports"
    eventually(lambda: stack.do("GET", tls)["totals"]["successful"] == 10, what="the TLS report")
    assert found()["totals"]["messages"] == 10
    assert [each["sender_domain"] for each in found()["reporters"]] == ["reporter.test"]
    rows = stack.do("GET", f"/messages?to=dmarc%40{HOSTNAME}")
    assert {row["status"] for row in rows} == {"received"}
    with stack.afar(REPORTER) as client, pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        client.sendmail("reports@reporter.test", [f"nobody@{HOSTNAME}"], b"Subject: x\r\n\r\nx\r\n")
    assert refused.value.recipients[f"nobody@{HOSTNAME}"][0] == 550
