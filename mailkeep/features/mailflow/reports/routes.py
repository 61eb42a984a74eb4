"""Endpoints of reports."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    DomainNotFound,
    InvalidField,
    InvalidPagination,
    InvalidPeriod,
    NotFound,
)
from mailkeep.features.mailflow.reports import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_BODY_LIMIT = 16 << 20
_EXAMPLE = (
    "eyJvcmdhbml6YXRpb24tbmFtZSI6IkV4YW1wbGUgTWFpbCIsImRhdGUtcmFuZ2UiOnsic3RhcnQtZGF0ZXRpbWUiOiIyMDI2LTAxLTAxVDAwOjAwOjAwWiIs"
    "ImVuZC1kYXRldGltZSI6IjIwMjYtMDEtMDFUMjM6NTk6NTlaIn0sInJlcG9ydC1pZCI6IjEiLCJwb2xpY2llcyI6W3sicG9saWN5Ijp7InBvbGljeS10"
    "eXBlIjoic3RzIiwicG9saWN5LWRvbWFpbiI6ImV4YW1wbGUudGVzdCJ9LCJzdW1tYXJ5Ijp7InRvdGFsLXN1Y2Nlc3NmdWwtc2Vzc2lvbi1jb3VudCI6"
    "MTAsInRvdGFsLWZhaWx1cmUtc2Vzc2lvbi1jb3VudCI6MH19XX0="
)


async def _dmarc(app: App, call: Call) -> HttpResponse:
    query: wire.PeriodQuery = call.query
    async with app.db.autocommit() as conn:
        summary = await service.summarize_dmarc(app, conn, call.caller(), call.id(), query.period)
    return HttpResponse(wire.to_dmarc(query.period, summary))


async def _tls(app: App, call: Call) -> HttpResponse:
    query: wire.PeriodQuery = call.query
    async with app.db.autocommit() as conn:
        summary = await service.summarize_tls(app, conn, call.caller(), call.id(), query.period)
    return HttpResponse(wire.to_tls(query.period, summary))


async def _list(app: App, call: Call) -> HttpResponse:
    query: wire.ReportQuery = call.query
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.caller(), call.id(), query.kind, query.proved, call.page)
    return HttpResponse([wire.to_record(each) for each in page.rows], page)


async def _upload(app: App, call: Call) -> HttpResponse:
    body: wire.ReportUpload = call.body
    return HttpResponse(wire.to_uploaded(await service.upload(app, call.caller(), body.read_content())))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/domains/{id}/dmarc",
        handler=_dmarc,
        action="report.read",
        summary="Get what DMARC reports say about a domain",
        description=(
            "Sources of mail in the domain's name, figures per day, who reported, and advice: which sources are "
            "yours and "
            "which `p=` is safe. Reports count once per organisation and ID, and only if their sender passed DMARC."
        ),
        tag="Reports",
        query=wire.PeriodQuery,
        data=wire.DmarcSummaryRecord,
        refusals=(InvalidPeriod, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}, query={"period": "7d"}),),
    ),
    Endpoint(
        method="GET",
        path="/domains/{id}/tls-reports",
        handler=_tls,
        action="report.read",
        summary="Get what TLS reports say about a domain",
        description="Encrypted and failed sessions of other servers to this one (RFC 8460), by policy and by result.",
        tag="Reports",
        query=wire.PeriodQuery,
        data=wire.TlsSummaryRecord,
        refusals=(InvalidPeriod, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}, query={"period": "30d"}),),
    ),
    Endpoint(
        method="GET",
        path="/domains/{id}/reports",
        handler=_list,
        action="report.read",
        summary="List the reports about a domain",
        description="DMARC reports, TLS reports and abuse reports (ARF), newest first; also those that do not count.",
        tag="Reports",
        query=wire.ReportQuery,
        listing=Listing(),
        data=list[wire.ReportRecord],
        refusals=(InvalidField, InvalidPagination, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}, query={"kind": "arf"}),),
    ),
    Endpoint(
        method="POST",
        path="/reports",
        handler=_upload,
        action="report.upload",
        summary="Upload a report",
        description=(
            "A DMARC, TLS or abuse report that was received elsewhere. It counts like a mailed one; uploading it again "
            "changes nothing. A report that can't be read is INVALID_FIELD with the reason; one about a domain that "
            "is not "
            "managed here is DOMAIN_NOT_FOUND."
        ),
        tag="Reports",
        status=202,
        body=wire.ReportUpload,
        body_limit=lambda _: _BODY_LIMIT,
        data=wire.UploadedReport,
        audit="report.upload",
        resource="domain",
        refusals=(DomainNotFound, ApiKeyDomainScope),
        examples=(Example(body={"filename": "example.json", "content": _EXAMPLE}),),
    ),
)
