"""Parses TLS reports (RFC 8460 §4.4)."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mailkeep.mail.reports import values
from mailkeep.mail.reports.model import InvalidReport, TlsFailure, TlsPolicy, TlsReport

_MAX_POLICIES = 100
_MAX_FAILURES = 10_000
_MAX_HOSTS = 20
_MAX_NAME = 255
_TYPES = ("sts", "tlsa", "no-policy-found")


class _Dates(Struct, rename="kebab"):
    start_datetime: str
    end_datetime: str


class _Policy(Struct, rename="kebab"):
    policy_domain: str
    policy_type: str
    mx_host: str | list[str] = []


class _Summary(Struct, rename="kebab"):
    total_successful_session_count: int = 0
    total_failure_session_count: int = 0


class _Failure(Struct, rename="kebab"):
    result_type: str
    failed_session_count: int = 0
    sending_mta_ip: str = ""
    receiving_mx_hostname: str = ""
    failure_reason_code: str | None = ""


class _PolicyResult(Struct, rename="kebab"):
    policy: _Policy
    summary: _Summary
    failure_details: list[_Failure] = []


class _Report(Struct, rename="kebab"):
    date_range: _Dates
    report_id: str
    policies: list[_PolicyResult]
    organization_name: str = ""
    contact_info: str | None = ""


def parse_tls(content: bytes) -> TlsReport:
    """Parse a JSON document. InvalidReport."""
    try:
        report = msgspec.json.decode(content, type=_Report)
    except RecursionError:
        raise InvalidReport("The JSON is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise InvalidReport(f"The JSON is no TLS report: {values.text(str(error), 200)}") from None
    except (msgspec.DecodeError, ValueError):
        raise InvalidReport("The JSON is invalid") from None
    if not 1 <= len(report.policies) <= _MAX_POLICIES:
        raise InvalidReport(f"The report must have 1 to {_MAX_POLICIES} policies")
    domains = {values.domain(each.policy.policy_domain, "The policy-domain") for each in report.policies}
    if len(domains) != 1:
        raise InvalidReport("The report must be about exactly one domain (policy-domain)")
    if sum(len(each.failure_details) for each in report.policies) > _MAX_FAILURES:
        raise InvalidReport(f"The report has more than {_MAX_FAILURES} failures")
    report_id = values.text(report.report_id, _MAX_NAME)
    if not report_id:
        raise InvalidReport("The report has no report-id")
    begin, end = values.period(report.date_range.start_datetime, report.date_range.end_datetime)
    return TlsReport(
        domain=domains.pop(),
        organisation=values.text(report.organization_name, _MAX_NAME),
        report_id=report_id,
        contact=values.text(report.contact_info or "", _MAX_NAME),
        begin=begin,
        end=end,
        policies=[_policy(each) for each in report.policies],
    )


def _policy(result: _PolicyResult) -> TlsPolicy:
    kind = result.policy.policy_type.strip().lower()
    if kind not in _TYPES:
        raise InvalidReport("The policy-type is not sts, tlsa or no-policy-found")
    hosts = result.policy.mx_host
    return TlsPolicy(
        type=kind,
        successful=values.number(result.summary.total_successful_session_count, "The count of successful sessions"),
        failed=values.number(result.summary.total_failure_session_count, "The count of failed sessions"),
        mx_hosts=tuple(values.text(host, 253) for host in ([hosts] if isinstance(hosts, str) else hosts)[:_MAX_HOSTS]),
        failures=tuple(_failures(result.failure_details)),
    )


def _failures(details: list[_Failure]) -> list[TlsFailure]:
    """The failures, those with the same values added up."""
    counts: dict[tuple[str, str, str, str], int] = {}
    for each in details:
        key = (
            values.word(each.result_type, "The result-type"),
            values.ip_address(each.sending_mta_ip, "The sending-mta-ip") if each.sending_mta_ip else "",
            values.text(each.receiving_mx_hostname, 253).lower(),
            values.text(each.failure_reason_code or "", 200),
        )
        sessions = values.number(each.failed_session_count, "The failed-session-count")
        counts[key] = counts.get(key, 0) + sessions
    return [TlsFailure(key[0], sessions, *key[1:]) for key, sessions in counts.items()]
