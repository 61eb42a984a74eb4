"""Routes of Junk."""

from __future__ import annotations

from dataclasses import replace

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, InvalidPagination, NotFound, Unavailable
from mailkeep.features.mailflow.junk import service, wire
from mailkeep.web.areas import MAILBOX, OWN_MAILBOX, Area, mailbox_id
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    query: wire.JunkQuery = call.query
    assert call.page is not None
    page = await service.page(app, call.caller(), mailbox_id(call), query.result, query.since, call.page)
    return HttpResponse([wire.to_record(each) for each in page.rows], page)


async def _release(app: App, call: Call) -> HttpResponse:
    return await _release_message(app, call, "message_id")


async def _release_own(app: App, call: Call) -> HttpResponse:
    return await _release_message(app, call, "id")


async def _release_message(app: App, call: Call, name: str) -> HttpResponse:
    body: wire.JunkRelease = call.body
    release = await service.release(app, call.caller(), mailbox_id(call), call.id(name), allow=body.allow)
    return HttpResponse(wire.to_release(release))


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    name = "id" if area.is_own_mailbox else "message_id"
    return (
        Endpoint(
            method="GET",
            path=f"{area.prefix}/junk",
            handler=_list,
            action=area.action("filter.read"),
            summary="List junk of a mailbox",
            description=(
                "What the filter filed in the folder Junk, and what it refused, newest first, with the rule that "
                "decided. Mail that was moved or deleted since is listed with `can_release` false; so is all mail of "
                "an inactive mailbox, and while Dovecot can't be asked."
            ),
            tag=area.tag,
            query=wire.JunkQuery,
            listing=Listing(),
            data=list[wire.JunkRecord],
            refusals=(NotFound, ApiKeyDomainScope, InvalidPagination),
            examples=(Example(path=area.path), Example(path=area.path, query={"result": "junk"})),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/junk/{{{name}}}/release",
            handler=_release_own if area.is_own_mailbox else _release,
            action=area.action("filter.write"),
            summary="Release a message from Junk",
            description=(
                "Moves it to the inbox and teaches the filter that it is not spam. Idempotent. With `allow` its author "
                "is added to the mailbox's allow list; INVALID_FIELD, and nothing is released, if it has no author or "
                "several; if the list is full, the message is released and `warnings` says so. CONFLICT with "
                "`details.reason` refused (the server did not keep the message), moved (to another folder), deleted, "
                "or inactive (the mailbox or its domain). UNAVAILABLE if the process `node` or Dovecot does not answer."
            ),
            tag=area.tag,
            body=wire.JunkRelease,
            data=wire.ReleaseResponse,
            audit="junk.release",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
            examples=(Example(path={**area.path, name: "{junk_id}"}, body={"allow": True}),),
        ),
    )


ENDPOINTS = _endpoints(replace(MAILBOX, tag="Filtering"))
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
