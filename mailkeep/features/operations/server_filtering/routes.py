"""Routes of the server's filter settings."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import FILTER_AREAS, OwnerValues
from mailkeep.features.operations.server_filtering import service
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_AREA = FILTER_AREAS[0][1]


async def _get(app: App, call: Call) -> HttpResponse:
    return _respond(*await service.get(app))


async def _change(app: App, call: Call) -> HttpResponse:
    changes = filtering.read_patch(call.body)
    return _respond(*await service.change(app, call.caller(), changes, call.if_match))


def _respond(values: OwnerValues, tag: str) -> HttpResponse:
    return HttpResponse(filtering.to_record(values), headers={"etag": tag})


ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_AREA.prefix,
        handler=_get,
        action=_AREA.action("filter.read"),
        summary="Get the filter settings of the server",
        description="They are in force where a mailbox and its domain have none. `effective` has the values in force. "
        "`ETag` is the number of the newest revision of the settings.",
        tag=_AREA.tag,
        versioned=True,
        data=filtering.FilteringRecord,
        examples=(Example(),),
    ),
    Endpoint(
        method="PATCH",
        path=_AREA.prefix,
        handler=_change,
        action=_AREA.action("filter.write"),
        summary="Change the filter settings of the server",
        description="Adds a revision of the settings (PATCH /config) and applies to the next message. Null: the "
        "default. INVALID_FIELD if the file or the environment sets a value.",
        tag=_AREA.tag,
        versioned=True,
        body=filtering.FilteringPatch,
        data=filtering.FilteringRecord,
        audit="config.update",
        resource="config",
        examples=(Example(body={"junk_score": 6.5, "digest": "weekly"}),),
    ),
)
