"""Endpoints of health and version; public, and also without the prefix."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Unavailable
from mailkeep.features.operations.health import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _health(app: App, call: Call) -> HttpResponse:
    health = await service.health(app)
    if health.status == "down":
        down = ", ".join(check.component for check in health.checks if check.status == "down")
        raise Unavailable(f"The server is down: {down}.", **wire.details(health))
    return HttpResponse(wire.health(health))


async def _details(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.components(await service.details(app)))


async def _version(app: App, call: Call) -> HttpResponse:
    is_sandbox = app.settings.mta.mode == "sandbox"
    return HttpResponse(wire.version(service.build(), full=app.settings.is_full_profile, sandbox=is_sandbox))


async def _alive(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.Alive("ok"))


async def _ready(app: App, call: Call) -> HttpResponse:
    if not await service.ready(app):
        raise Unavailable("The database does not answer, or does not have the schema of this version.")
    return HttpResponse(wire.Alive("ok"))


_TAG = "Health"

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/health",
        handler=_health,
        action=None,
        summary="Get the health of the server",
        description=(
            "200 if the server works, even `degraded`; 503 if it is `down`, with the same content in `details`. In the "
            "full profile, a daemon or agent that does not run is `degraded` until it has restarted."
        ),
        tag=_TAG,
        data=wire.HealthResponse,
        bare=True,
        refusals=(Unavailable,),
        examples=(
            Example(
                response={
                    "status": "ok",
                    "checks": [
                        {"component": "database", "status": "ok"},
                        {"component": "disk", "status": "ok"},
                        {"component": "mta", "status": "ok"},
                    ],
                }
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="/health/details",
        handler=_details,
        action="health.read",
        summary="Get the health of each component",
        description=(
            "`database`, `mta`, `filter` and `mailboxes` (their processes, versions and latency), `queue` (its length, "
            "and when its oldest message arrived), `certificates` (expiry and failed renewals, also of domains), `dns` "
            "(`server.hostname` and the PTR records of the sending addresses), `probe` (once a minute a message from "
            "port 25 through MTA and filter to a mailbox of its own, and a login there: `latency_ms` is the time until "
            "it arrived, `details` has when, and the `stage` that failed: `login`, `connect`, `envelope`, `content` or "
            "`delivery`), `antivirus`, `dns_lists` (those of the filter), `disk` (bytes and inodes, and by the growth "
            "of 14 days the days until they are used up; `history` has the use per day), `clock` (compared with the "
            "database's, and by NTP with `server.ntp_server`), `workers` (background jobs and when each last "
            "succeeded), `blocklists` (of the server's addresses), `backups` (late, failed or not verified) and "
            "`replication`. A component that this profile does not have, or that is off, is `disabled`. `since` is "
            "when it got its status. `advice` says what to do. For super_admin."
        ),
        tag=_TAG,
        data=wire.HealthDetails,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/version",
        handler=_version,
        action=None,
        summary="Get the version",
        tag=_TAG,
        data=wire.VersionResponse,
        bare=True,
        examples=(
            Example(response={"version": "0.1.0", "commit": None, "api": "v1", "profile": "embedded", "sandbox": True}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/healthz",
        handler=_alive,
        action=None,
        summary="Check whether the process is alive",
        tag=_TAG,
        data=wire.Alive,
        bare=True,
        prefixed=False,
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        handler=_ready,
        action=None,
        summary="Check whether requests can be served",
        description="The database answers and has the schema of this version.",
        tag=_TAG,
        data=wire.Alive,
        bare=True,
        prefixed=False,
        refusals=(Unavailable,),
        examples=(Example(),),
    ),
)
