"""Reports about a domain: uploaded, counted once, summed up, and only for those who may see the domain."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest

from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.mailflow.reports import jobs, rules
from mailkeep.mail.message.dkim import sign
from mailkeep.settings.server import ServerSettings
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client, faults
from tests.support.dns_server import DnsServer
from tests.support.messages import insert, outbound
from tests.support.reports import BEGIN, DAY, Dmarc, Record, abuse_report, tls_report
from tests.support.statements import trace_statements

OURS, RELAY, FORWARDER, SHOP, THIEF = "192.0.2.1", "192.0.2.2", "198.51.100.3", "198.51.100.4", "203.0.113.5"
ID = DOMAIN_IDS[EXAMPLE]


async def upload(client: Client, content: bytes, filename: str = "r.xml") -> Answer:
    return await client.post("/reports", {"filename": filename, "content": b64encode(content).decode()})


async def dmarc(api: Api, period: str = "30d", **changes: Any) -> dict[str, Any]:
    return (await api.dora.get(f"/domains/{changes.get('id', ID)}/dmarc", period=period)).data


def reason_of(answer: Answer) -> str:
    return answer.json["error"]["details"]["fields"][0]["reason"]


def key(selector: str, result: str = "pass") -> tuple[str, str, str, str]:
    return ("dkim", EXAMPLE, selector, result)


@pytest.fixture
async def selector(api: Api) -> str:
    """The selector of the domain's key. The server has the address OURS."""
    api.app.settings = replace(api.app.settings, server=ServerSettings(hostname="mx.test", addresses=(OURS,)))
    await api.sql(
        """
        INSERT INTO dkim_keys (id, domain_id, selector, algorithm, stage, private_key, public_key, created_at,
                               updated_at)
        VALUES (gen_random_uuid(), %(id)s, 'mk1', 'rsa2048', 'retired', '', '', %(at)s, %(at)s)
        """,
        id=ID,
        at=api.clock(),
    )
    return "mk1"


async def test_other_requests_go_on_while_records_are_added_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[threading.Thread] = set()
    is_forwarded = rules.is_forwarded

    def note_thread(row: Any) -> bool:
        threads.add(threading.current_thread())
        return is_forwarded(row)

    monkeypatch.setattr(rules, "is_forwarded", note_thread)
    assert (await upload(api.adam, Dmarc([Record()]).xml())).status == 202
    assert threads
    assert threading.current_thread() not in threads


async def test_a_tls_report_with_many_failures_is_stored_in_short(api: Api) -> None:
    """Strangers may send a thousand such reports a day, which a summary reads together."""
    report = json.loads(tls_report(certificate_expired=7, starttls_not_supported=1))
    (policy,) = report["policies"]
    failures = policy["failure-details"]
    failures[0]["receiving-mx-hostname"] = "MX.example.test"
    more = {"result-type": "validation-failure", "failed-session-count": 1, "failure-reason-code": "y" * 200}
    failures += [more | {"receiving-mx-hostname": f"{number}.{'x' * 240}"} for number in range(9000)]
    policy["policy"]["mx-host"] = ["z" * 253] * 20
    report["policies"] = [policy, policy | {"failure-details": failures[:2]}]
    assert (await upload(api.adam, json.dumps(report).encode(), "r.json")).status == 202
    [(size,)] = [tuple(row.values()) for row in await api.sql("SELECT octet_length(content::text) FROM reports")]
    assert size < 50_000
    found = (await api.dora.get(f"/domains/{ID}/tls-reports")).data
    assert found["failures"][:2] == [
        {"result_type": "certificate-expired", "receiving_host": "mx.example.test", "sessions": 14},
        {"result_type": "starttls-not-supported", "receiving_host": "mx.example.test", "sessions": 2},
    ]
    assert (len(found["failures"]), found["totals"]["successful"], found["totals"]["failed"]) == (100, 20, 16)
    assert found["days"] == [{"date": "2026-02-27", "successful": 20, "failed": 16}]


async def test_sources_are_classified_by_what_the_reporter_saw(api: Api, selector: str) -> None:
    report = Dmarc(
        [
            Record(OURS, 10, auth=(key(selector),)),
            Record(OURS, 1, "fail", "fail", "reject"),
            Record(RELAY, 5, auth=(key(selector),)),
            Record(FORWARDER, 4, "pass", "fail", auth=(key(selector), ("spf", "list.test", "", "pass"))),
            Record(FORWARDER, 1, "fail", "fail", reasons=("mailing_list",)),
            Record(SHOP, 3, "fail", "fail", "quarantine", auth=(("spf", "shop.test", "", "pass"), key("x", "fail"))),
            Record("198.51.100.6", 2, "pass", "fail", auth=(key("other"),)),
            Record(THIEF, 7, "fail", "fail", "reject", auth=(("spf", "thief.test", "", "fail"),)),
        ]
    )
    assert (await upload(api.adam, report.xml())).status == 202
    found = await dmarc(api)
    assert [(each["ip"], each["kind"], each["ours"], each["messages"]) for each in found["sources"]] == [
        (OURS, "ours", True, 11),
        (THIEF, "unknown", False, 7),
        (RELAY, "ours", True, 5),
        (FORWARDER, "forwarder", False, 5),
        (SHOP, "other", False, 3),
        ("198.51.100.6", "sender", False, 2),
    ]
    assert found["sources"][4]["authenticated_for"] == "shop.test"
    assert found["totals"] == {
        "messages": 33, "aligned": 21, "quarantined": 3, "rejected": 8, "sources": 6, "unproved_reports": 0,
    }  # fmt: skip
    (day,) = found["days"]
    assert (day["date"], day["aligned"], day["failed"], day["unknown"]) == ("2026-02-27", 21, 5, 7)
    assert found["reporters"][0]["organisation"] == "google.com"
    assert found["policy"] == {"published": "none", "safe": "none", "since": None}
    assert [each["code"] for each in found["advice"]] == [
        "stay_at_none",
        "own_failures",
        "forwarded",
        "unknown_senders",
    ]


async def test_a_report_counts_once(api: Api) -> None:
    first = await upload(api.adam, Dmarc().xml())
    assert first.data == {"id": first.data["id"], "kind": "dmarc", "domain_id": str(ID)}
    assert (await upload(api.adam, Dmarc().xml())).data == first.data
    await upload(api.adam, Dmarc(report_id="2").xml())
    await upload(api.adam, Dmarc(organisation="yahoo.com").xml())
    assert (await dmarc(api))["totals"]["messages"] == 3
    entries = (await api.sue.get("/audit", action="report.upload")).data
    assert len(entries) == 4
    assert entries[0]["domain_name"] == EXAMPLE


async def test_the_period_is_that_of_the_reports(api: Api) -> None:
    """START is noon of 1 March; the advice has its own period."""
    for days in (1, 5, 20, 60, 95):
        begin = BEGIN + DAY - days * DAY + DAY
        await upload(api.adam, Dmarc(report_id=str(days), begin=begin, end=begin + DAY - 1).xml())
    shown = {period: (await dmarc(api, period))["totals"]["messages"] for period in ("24h", "7d", "30d", "90d")}
    assert shown == {"24h": 1, "7d": 2, "30d": 3, "90d": 4}
    assert (await api.dora.get(f"/domains/{ID}/dmarc", period="1y")).code == "INVALID_PERIOD"


async def test_a_report_about_another_domain_is_not_found_and_leaks_nothing(api: Api) -> None:
    unknown = await upload(api.adam, Dmarc(domain="unmanaged.test", records=[Record(header_from="")]).xml())
    assert (unknown.status, unknown.code) == (404, "DOMAIN_NOT_FOUND")
    foreign = Dmarc(domain=OTHER, records=[Record(header_from=OTHER, ip=THIEF)])
    assert (await upload(api.dora, foreign.xml())).code == "FORBIDDEN"
    assert (await upload(api.scoped, foreign.xml())).code == "API_KEY_DOMAIN_SCOPE"
    assert (await upload(api.adam, foreign.xml())).status == 202
    mixed = await upload(api.adam, Dmarc([Record(), Record(header_from=OTHER)]).xml())
    assert (mixed.code, faults(mixed)) == ("INVALID_FIELD", ["content"])
    assert "record for another domain" in reason_of(mixed)
    assert (await dmarc(api))["sources"] == []
    assert (await api.dora.get(f"/domains/{ID}/reports")).data == []
    assert (await api.dora.get(f"/domains/{DOMAIN_IDS[OTHER]}/dmarc")).code == "FORBIDDEN"


async def test_invalid_uploads_name_the_reason(api: Api) -> None:
    for content, reason in (
        (b"<html/>", "feedback"),
        (Dmarc(begin=BEGIN + 5 * DAY, end=BEGIN + 6 * DAY).xml(), "future"),
    ):
        answer = await upload(api.adam, content)
        assert answer.code == "INVALID_FIELD"
        assert reason in reason_of(answer)
    for text in ("%%%", "", "YQ"):
        answer = await api.adam.post("/reports", {"filename": "x", "content": text})
        assert answer.code in ("INVALID_FIELD", "MISSING_FIELDS")
    large = await api.adam.post("/reports", {"filename": "x", "content": "A" * (17 << 20)})
    assert large.code == "PAYLOAD_TOO_LARGE"


async def test_a_domain_that_is_added_again_starts_empty(api: Api) -> None:
    """T47: reports belong to the domain's ID."""
    domain_id = await api.domain("again.test")
    content = Dmarc(domain="again.test", records=[Record(header_from="again.test")]).xml()
    assert (await upload(api.sue, content)).status == 202
    assert (await upload(api.sue, tls_report("again.test"))).status == 202
    assert (await api.sue.delete(f"/domains/{domain_id}")).status == 200
    assert (await upload(api.sue, content)).code == "DOMAIN_NOT_FOUND"
    new_id = (await api.sue.post("/domains", {"name": "again.test"})).data["id"]
    for path in ("dmarc", "tls-reports"):
        found = (await api.sue.get(f"/domains/{new_id}/{path}")).data
        assert (found["reporters"], found["days"]) == ([], [])
    assert (await api.sue.get(f"/domains/{new_id}/reports")).data == []
    assert (await api.sql("SELECT count(*) AS n FROM dmarc_rows"))[0]["n"] == 0


async def test_tls_reports_are_summed_up_with_advice(api: Api) -> None:
    empty = (await api.dora.get(f"/domains/{ID}/tls-reports")).data
    assert [each["code"] for each in empty["advice"]] == ["no_reports"]
    await upload(api.adam, tls_report(certificate_expired=3, starttls_not_supported=1))
    await upload(api.adam, tls_report(report_id="t2", certificate_expired=1))
    found = (await api.dora.get(f"/domains/{ID}/tls-reports")).data
    assert found["totals"] == {"successful": 20, "failed": 5, "unproved_reports": 0}
    assert found["policies"] == [{"type": "sts", "successful": 20, "failed": 5}]
    assert [(each["result_type"], each["sessions"]) for each in found["failures"]] == [
        ("certificate-expired", 4),
        ("starttls-not-supported", 1),
    ]
    assert found["days"] == [{"date": "2026-02-27", "successful": 20, "failed": 5}]
    assert (
        found["advice"][0]["text"] == "4 sessions failed: certificate-expired. The certificate has expired. Renew it."
    )


async def test_abuse_reports_are_listed_and_change_nothing(api: Api) -> None:
    await upload(api.adam, abuse_report(), "complaint.eml")
    await upload(api.adam, Dmarc().xml())
    (shown,) = (await api.dora.get(f"/domains/{ID}/reports", kind="arf")).data
    assert shown["abuse"] == {
        "feedback_type": "abuse", "source_ip": "192.0.2.1", "mail_from": "news@example.test",
        "recipients": ["user@isp.test"], "message_id": "<8787@example.test>", "subject": "Earn money", "signed": False,
    }  # fmt: skip
    assert (await api.sue.get("/abuse/suspensions")).data == []
    page = await api.dora.get(f"/domains/{ID}/reports", limit=1)
    assert page.data[0]["kind"] == "dmarc"
    (second,) = (
        await api.dora.get(f"/domains/{ID}/reports", limit=1, cursor=page.json["meta"]["pagination"]["next_cursor"])
    ).data
    assert second["kind"] == "arf"


async def test_a_complaint_about_a_message_that_we_signed_says_so(api: Api) -> None:
    key = dkim.generate_key(api.app.vault, ID, api.clock(), "ed25519")
    async with api.app.db.tx() as conn:
        await dkim.insert(conn, key)
    message = f"From: <news@{EXAMPLE}>\r\nSubject: News\r\n\r\nBuy a sofa.".encode()
    signed = sign([message], EXAMPLE, [dkim.decrypt(api.app.vault, key)], api.clock()) + message
    await upload(api.adam, abuse_report(signed))
    await upload(api.adam, abuse_report(signed.replace(b"sofa", b"watch")))
    listed = (await api.dora.get(f"/domains/{ID}/reports")).data
    assert [each["abuse"]["signed"] for each in listed] == [False, True]


async def test_reverse_names_are_looked_up_later_and_shown_if_they_are_confirmed(api: Api) -> None:
    await upload(api.adam, Dmarc([Record(OURS, 3), Record(SHOP, 2), Record(THIEF, 1)]).xml())
    with DnsServer() as server:
        server.publish("1.2.0.192.in-addr.arpa", "PTR", "mail.shop.co.uk.")
        server.publish("mail.shop.co.uk", "A", OURS)
        server.publish("4.100.51.198.in-addr.arpa", "PTR", "forged.google.com.")
        server.publish("forged.google.com", "A", "203.0.113.77")
        api.app.settings = replace(
            api.app.settings, dns=replace(api.app.settings.dns, servers=(f"127.0.0.1:{server.port}",))
        )
        before = sum(server.queries.values())
        assert [each["name"] for each in (await dmarc(api))["sources"]] == [None] * 3
        assert sum(server.queries.values()) == before  # never during the request
        assert await jobs.look_up_names(api.app) == 3
        assert await jobs.look_up_names(api.app) == 0
    shown = [(each["name"], each["organisation"]) for each in (await dmarc(api))["sources"]]
    assert shown == [("mail.shop.co.uk", "shop.co.uk"), (None, None), (None, None)]


async def test_old_reports_are_deleted(api: Api) -> None:
    await upload(api.adam, Dmarc([Record(THIEF)]).xml())
    days = api.app.settings.retention.report_days
    api.clock.advance(days=days - 1)
    await upload(api.adam, Dmarc(report_id="2", begin=BEGIN + (days - 1) * DAY, end=BEGIN + days * DAY).xml())
    for _ in range(3):  # two checks of the clock, a day apart, with mail that shows that it is right
        await insert(api, outbound(api, "a@else.test"))
        await jobs.prune(api.app)
        api.clock.advance(days=1, seconds=1)
    assert [each["report_id"] for each in (await api.dora.get(f"/domains/{ID}/reports")).data] == ["2"]
    assert [row["ip"] for row in await api.sql("SELECT host(ip) AS ip FROM source_names")] == [OURS]


async def test_20000_records_take_a_fixed_number_of_statements(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [Record(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}", auth=(key("mk1"),)) for n in range(20_000)]
    contents = (Dmarc().xml(), Dmarc(records, report_id="2").xml())
    counts: list[int] = []
    for content in contents:
        with trace_statements(monkeypatch) as statements:
            assert (await upload(api.adam, content)).status == 202
        counts.append(len(statements.own))
    assert counts[0] == counts[1]
    found = await dmarc(api)
    assert (found["totals"]["messages"], found["totals"]["sources"]) == (20_001, 20_001)
    assert len(found["sources"]) == rules.MAX_SOURCES


async def test_a_domain_has_a_daily_limit_of_reports(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_DAILY_REPORTS", 2)
    for number in range(2):
        assert (await upload(api.adam, Dmarc(report_id=str(number)).xml())).status == 202
    assert (await upload(api.adam, Dmarc(report_id="3").xml())).code == "INVALID_FIELD"
    api.clock.advance(seconds=DAY + 1)
    assert (await upload(api.adam, Dmarc(report_id="3").xml())).status == 202
