"""Endpoints of figures about mail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from msgspec import Struct

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidPeriod
from mailkeep.features.record.analytics import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


def _answer(call: Call, name: str, rows: Sequence[Struct], row_type: type[Struct]) -> HttpResponse:
    query = cast(wire.AnalyticsQuery, call.query)
    if query.format == "json":
        return HttpResponse(rows)
    file_name = f"{name}-{query.period}.csv"
    headers = {"content-disposition": f'attachment; filename="{file_name}"'}
    content = wire.to_csv(row_type, rows)
    return HttpResponse(content=content, content_type="text/csv; charset=utf-8", headers=headers)


async def _overview(app: App, call: Call) -> HttpResponse:
    overview = wire.to_overview(*await service.read_overview(app, call.caller(), wire.read_selection(call.query)))
    if cast(wire.AnalyticsQuery, call.query).format == "json":
        return HttpResponse(overview)
    return _answer(call, "overview", [overview, overview.previous], wire.PeriodFigures)


async def _series(app: App, call: Call) -> HttpResponse:
    query = cast(wire.SeriesQuery, call.query)
    chosen = wire.read_selection(query)
    rows = await service.read_series(app, call.caller(), chosen, query.interval, previous=query.previous)
    return _answer(call, "timeseries", wire.to_series(rows), wire.SeriesRow)


async def _domains(app: App, call: Call) -> HttpResponse:
    return _answer(call, "domains", wire.to_domains(await _groups(app, call, "domain")), wire.DomainRow)


async def _destinations(app: App, call: Call) -> HttpResponse:
    rows = wire.to_destinations(await _groups(app, call, "provider"))
    return _answer(call, "destinations", rows, wire.DestinationRow)


async def _tags(app: App, call: Call) -> HttpResponse:
    return _answer(call, "tags", wire.to_tags(await _groups(app, call, "tag")), wire.TagRow)


async def _api_keys(app: App, call: Call) -> HttpResponse:
    return _answer(call, "api-keys", wire.to_api_keys(await _groups(app, call, "api_key")), wire.ApiKeyRow)


async def _groups(app: App, call: Call, by: Literal["domain", "provider", "tag", "api_key"]) -> list[service.Group]:
    return await service.read_groups(app, call.caller(), wire.read_selection(call.query), by)


async def _bounces(app: App, call: Call) -> HttpResponse:
    rows = wire.to_bounces(await service.read_bounces(app, call.caller(), wire.read_selection(call.query)))
    return _answer(call, "bounces", rows, wire.BounceRow)


_REFUSALS = (InvalidPeriod, DomainNotFound, ApiKeyDomainScope)
_FILTERS = "`provider`, `tag` and `api_key_id` can't be combined. `format=csv` returns a table."


def _endpoint(name: str, handler: object, summary: str, description: str, data: object, **query: str) -> Endpoint:
    return Endpoint(
        method="GET",
        path=f"/analytics/{name}",
        handler=handler,  # type: ignore[arg-type]
        action="analytics.read",
        summary=summary,
        description=f"{description} {_FILTERS}",
        tag="Analytics",
        query=wire.SeriesQuery if name == "timeseries" else wire.AnalyticsQuery,
        data=data,
        refusals=_REFUSALS,
        examples=(Example(query={"period": "7d", **query}),),
    )


ENDPOINTS = (
    _endpoint(
        "overview",
        _overview,
        "Get the figures of a period",
        "How much mail was accepted, delivered, refused and received, how long delivery took, and the same of the "
        "period before.",
        wire.FiguresOverview,
        tz="Europe/Berlin",
    ),
    _endpoint(
        "timeseries",
        _series,
        "Get the figures of each hour or day",
        "One row for each hour or day, the running one last.",
        list[wire.SeriesRow],
        domain_id="{domain_id}",
    ),
    _endpoint(
        "domains",
        _domains,
        "Get the figures of each domain",
        "The domains with mail, those with the most first, at most 1,000.",
        list[wire.DomainRow],
    ),
    _endpoint(
        "destinations",
        _destinations,
        "Get the figures of each provider",
        "Outcomes by the provider of the server that gave them, so also for domains that a provider hosts. `tag` and "
        "`api_key_id` have no figures by provider.",
        list[wire.DestinationRow],
    ),
    _endpoint(
        "bounces",
        _bounces,
        "Get why mail was refused",
        "The classes of replies, the most frequent first, each with advice and its latest reply.",
        list[wire.BounceRow],
    ),
    _endpoint("tags", _tags, "Get the figures of each tag", "The tags with mail, at most 1,000.", list[wire.TagRow]),
    _endpoint(
        "api-keys",
        _api_keys,
        "Get the figures of each API key",
        "The keys with which mail was sent, at most 1,000.",
        list[wire.ApiKeyRow],
    ),
)
