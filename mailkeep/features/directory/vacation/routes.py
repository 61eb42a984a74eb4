"""Routes of vacations."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, MissingFields, NotFound, Unavailable
from mailkeep.features.directory.vacation import service, wire
from mailkeep.web.areas import MAILBOX, OWN_MAILBOX, Area, mailbox_id
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        mailbox, vacation = await service.find(conn, call.caller(), mailbox_id(call))
    return HttpResponse(wire.to_record(vacation), changed_at=wire.changed_at(mailbox, vacation))


async def _put(app: App, call: Call) -> HttpResponse:
    vacation = wire.read_vacation(call.body)
    stored, warnings = await service.write(app, call.caller(), mailbox_id(call), vacation, call.if_match)
    return HttpResponse(wire.to_write(stored, warnings), changed_at=stored.updated_at)


async def _delete(app: App, call: Call) -> HttpResponse:
    mailbox = await service.delete(app, call.caller(), mailbox_id(call), call.if_match)
    return HttpResponse(wire.VacationDeletion(f"{mailbox.address} sends no vacation replies."))


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            method="GET",
            path=f"{area.prefix}/vacation",
            handler=_get,
            action=area.action("mailbox.read"),
            summary="Get the vacation of a mailbox",
            tag=area.tag,
            versioned=True,
            data=wire.VacationRecord,
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="PUT",
            path=f"{area.prefix}/vacation",
            handler=_put,
            action=area.action("mailbox.write"),
            summary="Set the vacation of a mailbox",
            description=(
                "From `start_at` to `end_at` each sender gets one reply within `days`: not to spam, lists and "
                "automatic mail (RFC 3834), nor if the sender is not authenticated by SPF or DMARC. It applies to the "
                "next message, beside the owner's Sieve script. `warnings` says if it sends no replies. In the "
                "embedded profile an active vacation is UNAVAILABLE (`details.reason` needs_full_profile)."
            ),
            tag=area.tag,
            versioned=True,
            body=wire.VacationWrite,
            data=wire.VacationWriteResponse,
            audit="vacation.update",
            resource="mailbox",
            refusals=(MissingFields, NotFound, ApiKeyDomainScope, Unavailable),
            examples=(
                Example(
                    path=area.path,
                    body={
                        "subject": "Away until 15 August",
                        "text": "I am away until 15 August. Bob (bob@example.com) can help.",
                        "start_at": "2036-08-01T15:00:00Z",
                        "end_at": "2036-08-15T06:00:00Z",
                        "active": False,
                    },
                ),
            ),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/vacation",
            handler=_delete,
            action=area.action("mailbox.write"),
            summary="Delete the vacation of a mailbox",
            description="Also its text. PUT with `active` false keeps it.",
            tag=area.tag,
            versioned=True,
            data=wire.VacationDeletion,
            audit="vacation.delete",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path),),
        ),
    )


ENDPOINTS = _endpoints(MAILBOX)
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
