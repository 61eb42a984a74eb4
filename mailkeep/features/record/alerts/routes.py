"""Endpoints of alerts: the same for abuse and for health, whose alerts belong to no domain."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainNotFound,
    InvalidPagination,
    NotFound,
    PreconditionFailed,
)
from mailkeep.features.record.alerts import service, wire
from mailkeep.features.record.alerts.model import AlertChange, AlertFilter, Area
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_CHANGE_REFUSALS = (NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed)


@dataclass(frozen=True, slots=True)
class AlertArea:
    """The endpoints of an area: its actions in the access policy, and the name of its alerts in examples."""

    area: Area
    tag: str
    actions: tuple[str, str, str]  # list, read, write
    example_id: str

    async def list_alerts(self, app: App, call: Call) -> HttpResponse:
        """A page of the alerts."""
        who, query = call.caller(), call.query
        assert call.page is not None
        domain_id = query.domain_id if isinstance(query, wire.AlertQuery) else None
        filters = AlertFilter(self.area, who.domains(), query.state, query.kind, domain_id)
        async with app.db.autocommit() as conn:
            page = await service.page(conn, who, filters, call.page)
        return HttpResponse([wire.to_response(each) for each in page.rows], page)

    async def get(self, app: App, call: Call) -> HttpResponse:
        """An alert."""
        async with app.db.autocommit() as conn:
            alert = await service.get(conn, call.caller(), self.area, call.id())
        return HttpResponse(wire.to_response(alert), changed_at=alert.changed_at)

    async def acknowledge(self, app: App, call: Call) -> HttpResponse:
        """Acknowledge an alert."""
        async with app.db.tx() as conn:
            alert = await service.acknowledge(conn, call.caller(), app.clock(), self._change(call))
        return HttpResponse(wire.to_response(alert), changed_at=alert.changed_at)

    async def resolve(self, app: App, call: Call) -> HttpResponse:
        """Resolve an alert."""
        async with app.db.tx() as conn:
            alert = await service.resolve(conn, call.caller(), app.clock(), self._change(call))
        return HttpResponse(wire.to_response(alert), changed_at=alert.changed_at)

    def _change(self, call: Call) -> AlertChange:
        return AlertChange(self.area, call.id(), call.body.note, call.if_match)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Declare them, without `resolve`."""
        return (self._list_endpoint(), self._get_endpoint(), self._acknowledge_endpoint())

    def _list_endpoint(self) -> Endpoint:
        is_abuse = self.area == "abuse"
        return Endpoint(
            method="GET",
            path=f"/{self.area}/alerts",
            handler=self.list_alerts,
            action=self.actions[0],
            summary=f"List {_AREAS[self.area]}",
            description=(
                "A problem has one alert until it has been in order for an hour, or an administrator resolves it. "
                "Resolved alerts are kept for 90 days."
            ),
            tag=self.tag,
            query=wire.AlertQuery if is_abuse else wire.HealthAlertQuery,
            listing=Listing(),
            data=list[wire.AlertResponse],
            refusals=(InvalidPagination, *((DomainNotFound,) if is_abuse else ()), ApiKeyDomainScope),
            examples=(Example(query={"state": "unresolved"}),),
        )

    def _get_endpoint(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=f"/{self.area}/alerts/{{id}}",
            handler=self.get,
            action=self.actions[1],
            summary=f"Get one of the {_AREAS[self.area]}",
            tag=self.tag,
            versioned=True,
            data=wire.AlertResponse,
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path={"id": self.example_id}),),
        )

    def _acknowledge_endpoint(self) -> Endpoint:
        return Endpoint(
            method="POST",
            path=f"/{self.area}/alerts/{{id}}/acknowledge",
            handler=self.acknowledge,
            action=self.actions[2],
            summary=f"Acknowledge one of the {_AREAS[self.area]}",
            description=(
                "Somebody looks after it: nobody is reminded of it any more. It is open again if it becomes critical. "
                "CONFLICT `resolved` if it has ended."
            ),
            tag=self.tag,
            body=wire.AlertNote,
            versioned=True,
            data=wire.AlertResponse,
            audit="alert.acknowledge",
            resource="alert",
            refusals=_CHANGE_REFUSALS,
            examples=(Example(path={"id": self.example_id}, body={"note": "I look after it."}),),
        )

    def resolve_endpoint(self) -> Endpoint:
        """Declare it for alerts about which nothing else is done."""
        return Endpoint(
            method="POST",
            path=f"/{self.area}/alerts/{{id}}/resolve",
            handler=self.resolve,
            action=self.actions[2],
            summary=f"Resolve one of the {_AREAS[self.area]}",
            description=(
                "Ends the alert. A problem that lasts is seen again and opens another one. CONFLICT `resolved` if it "
                "has ended."
            ),
            tag=self.tag,
            body=wire.AlertNote,
            versioned=True,
            data=wire.AlertResponse,
            audit="alert.resolve",
            resource="alert",
            refusals=_CHANGE_REFUSALS,
            examples=(Example(path={"id": self.example_id}, body={"note": "It was a test."}),),
        )


_AREAS = {"abuse": "alerts about abuse", "health": "alerts about the health of the server"}

_ABUSE = AlertArea("abuse", "Abuse", ("alert.list", "alert.read", "alert.write"), "{alert_id}")
_HEALTH = AlertArea("health", "Health", ("health.read", "health.read", "health.write"), "{health_alert_id}")

ENDPOINTS = (
    *_ABUSE.endpoints(),  # `mailflow/incidents` resolves them: it also acts on the sender
    *_HEALTH.endpoints(),
    _HEALTH.resolve_endpoint(),
)
