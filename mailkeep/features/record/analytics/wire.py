"""JSON and CSV of figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct, to_builtins

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.record.analytics import rules
from mailkeep.features.record.analytics.model import (
    OTHER,
    OTHER_TAGS,
    BounceSum,
    Figures,
    Group,
    Interval,
    TimeWindow,
)
from mailkeep.features.record.analytics.service import Selection
from mailkeep.mail.smtp.bounce_class import BounceClass
from mailkeep.web.csv_table import write_csv
from mailkeep.web.fields import OWN_CODE, Query, Text, Timestamp

Format = Literal["json", "csv"]
Rate = Annotated[float | None, Meta(description="From 0 to 1; null if nothing was counted.")]
Seconds = Annotated[float | None, Meta(description="From the acceptance here to the other server's; within 6 %.")]
_Provider = Annotated[str, Meta(max_length=64, description="Such as `google`; `other`: unknown ones.")]


class AnalyticsQuery(Query, frozen=True):
    """What is added up: the mail of a time (in hours for 24h, in days of `tz` otherwise, the running one included), of
    one domain, and of one provider, tag or API key.
    """

    period: Annotated[
        str | None, Meta(extra=OWN_CODE, extra_json_schema={"enum": list(rules.PERIODS)}, description="Required.")
    ] = None
    tz: Annotated[str, Meta(max_length=64, description="The IANA name of the time zone of days.")] = "UTC"
    domain_id: UUID | None = None
    provider: _Provider | None = None
    tag: Text | None = None
    api_key_id: UUID | None = None
    format: Format = "json"


class SeriesQuery(AnalyticsQuery, frozen=True):
    """Also: the length of a step (`hour` for 24h, otherwise `day`), and whether of the period before."""

    interval: Interval | None = None
    previous: bool = False


class FigureFields(Struct, frozen=True, kw_only=True):
    """Figures count recipients; `messages` are the accepted messages. `deferred`: at least once; `rejected`: refused at
    SMTP; `spam`: received in Junk. Rates: delivered of all outcomes; bounced of bounced and delivered; complained,
    and delivered at the first attempt, of delivered.
    """

    messages: int
    accepted: int
    delivered: int
    deferred: int
    bounced: int
    failed: int
    suppressed: int
    complained: int
    received: int
    rejected: int
    spam: int
    delivery_rate: Rate
    bounce_rate: Rate
    complaint_rate: Rate
    first_attempt_rate: Rate
    median_seconds: Seconds
    p95_seconds: Seconds


class PeriodFigures(FigureFields, frozen=True, kw_only=True):
    """Figures of a period."""

    since: Timestamp
    until: Timestamp


class FiguresOverview(PeriodFigures, frozen=True, kw_only=True):
    """Figures of a period, and up to the same hour of the period before."""

    previous: PeriodFigures


class SeriesRow(FigureFields, frozen=True, kw_only=True):
    """Figures of the hour or day that begins at `at`."""

    at: Timestamp


class DomainRow(FigureFields, frozen=True, kw_only=True):
    """Figures of a domain; `domain` is null if it was deleted."""

    domain_id: UUID
    domain: str | None


class DestinationRow(FigureFields, frozen=True, kw_only=True):
    """Figures of the servers of a provider: only outcomes."""

    provider: str


class TagRow(FigureFields, frozen=True, kw_only=True):
    """Figures of mail with a tag. A domain has counters for 200 tags a day; `other` has the rest."""

    tag: str


class ApiKeyRow(FigureFields, frozen=True, kw_only=True):
    """Figures of mail sent with an API key; `name` is null if it was deleted, or is hidden by GET /api-keys."""

    api_key_id: UUID
    name: str | None


class BounceRow(Struct, frozen=True, rename={"bounce_class": "class"}):
    """Why mail was deferred, bounced or failed: how often, what to do, and the latest reply with its message."""

    bounce_class: BounceClass
    deferred: int
    bounced: int
    failed: int
    advice: str
    last_reply: str | None
    last_at: Timestamp | None
    message_id: UUID | None


def read_selection(query: AnalyticsQuery) -> Selection:
    """INVALID_PERIOD."""
    period = rules.read_period(query.period)
    tag = OTHER if query.tag == OTHER_TAGS else query.tag
    return Selection(period, query.tz, query.domain_id, query.provider, tag, query.api_key_id)


def _fields(figures: Figures) -> dict[str, Any]:
    n = figures.numbers
    return {name: number for name, number in n.items() if name != "first_attempt"} | {
        "delivery_rate": rules.rate(n["delivered"], n["delivered"], n["bounced"], n["failed"]),
        "bounce_rate": rules.rate(n["bounced"], n["delivered"], n["bounced"]),
        "complaint_rate": rules.rate(n["complained"], n["delivered"]),
        "first_attempt_rate": rules.rate(n["first_attempt"], n["delivered"]),
        "median_seconds": rules.percentile(figures.delays, 0.5),
        "p95_seconds": rules.percentile(figures.delays, 0.95),
    }


def to_overview(current: TimeWindow, figures: Figures, before: TimeWindow, previous: Figures) -> FiguresOverview:
    """The overview."""
    earlier = PeriodFigures(since=iso(before.since), until=iso(before.until), **_fields(previous))
    return FiguresOverview(since=iso(current.since), until=iso(current.until), previous=earlier, **_fields(figures))


def to_series(rows: Iterable[tuple[datetime, Figures]]) -> list[SeriesRow]:
    """The rows of a series."""
    return [SeriesRow(at=iso(at), **_fields(figures)) for at, figures in rows]


def to_domains(groups: Iterable[Group]) -> list[DomainRow]:
    """The rows of domains."""
    return [DomainRow(domain_id=UUID(each.key), domain=each.name, **_fields(each.figures)) for each in groups]


def to_destinations(groups: Iterable[Group]) -> list[DestinationRow]:
    """The rows of providers. Complaints are not counted by provider."""
    no_rate: dict[str, Any] = {"complaint_rate": None}
    return [DestinationRow(provider=each.key, **_fields(each.figures) | no_rate) for each in groups]


def to_tags(groups: Iterable[Group]) -> list[TagRow]:
    """The rows of tags."""
    return [TagRow(tag=each.key or OTHER_TAGS, **_fields(each.figures)) for each in groups]


def to_api_keys(groups: Iterable[Group]) -> list[ApiKeyRow]:
    """The rows of API keys."""
    return [ApiKeyRow(api_key_id=UUID(each.key), name=each.name, **_fields(each.figures)) for each in groups]


def to_bounces(sums: Iterable[BounceSum]) -> list[BounceRow]:
    """The rows of classes."""
    return [
        BounceRow(
            bounce_class=each.bounce_class,  # type: ignore[arg-type]
            deferred=each.deferred,
            bounced=each.bounced,
            failed=each.failed,
            advice=rules.ADVICE.get(each.bounce_class, rules.ADVICE["unknown"]),  # type: ignore[call-overload]
            last_reply=each.reply,
            last_at=iso_or_none(each.reply_at),
            message_id=each.message_id,
        )
        for each in sums
    ]


def to_csv(row_type: type[Struct], rows: Sequence[Struct]) -> bytes:
    """A table whose columns are the fields of the rows; of an overview, the period before is the second row."""
    names = [name for name in row_type.__struct_encode_fields__ if name != "previous"]
    lines = [to_builtins(row) for row in rows]
    cells = [["" if line[name] is None else str(line[name]) for name in names] for line in lines]
    return write_csv([names, *cells])
