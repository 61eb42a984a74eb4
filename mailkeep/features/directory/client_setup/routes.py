"""Routes of the setup of mail programs: by mailbox, by host name, and the pages of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, NotFound, Unavailable, invalid_field
from mailkeep.features.directory.client_setup import rules, service, wire
from mailkeep.mail.client_setup import apple, autoconfig, autodiscover
from mailkeep.settings import Settings
from mailkeep.settings.server import PortsSettings
from mailkeep.web import public_page
from mailkeep.web.areas import MAILBOX, OWN_MAILBOX, Area, mailbox_id
from mailkeep.web.endpoint import XML, Call, Endpoint, Example, HttpResponse

_SVG = "image/svg+xml"
_TAG = "Client setup"


async def _get(app: App, call: Call) -> HttpResponse:
    query: wire.SetupQuery = call.query
    setup, link = await service.get(app, call.caller(), mailbox_id(call))
    if query.format == "apple":
        return _profile(await service.sign_profile(app, setup))
    if query.format == "qr":
        code = rules.draw_qr(service.url_of(app, service.require_link(link)))
        return HttpResponse(content=code, content_type=_SVG)
    return HttpResponse(wire.to_setup(setup, link and wire.to_link(link, service.url_of(app, link))))


def _profile(signed: bytes) -> HttpResponse:
    headers = {"content-disposition": 'attachment; filename="mail.mobileconfig"'}
    return HttpResponse(content=signed, content_type=apple.MEDIA_TYPE, headers=headers)


async def _create_link(app: App, call: Call) -> HttpResponse:
    link = await service.create_link(app, call.caller(), mailbox_id(call))
    return HttpResponse(wire.to_link(link, service.url_of(app, link)))


async def _delete_link(app: App, call: Call) -> HttpResponse:
    mailbox = await service.delete_link(app, call.caller(), mailbox_id(call))
    return HttpResponse(wire.SetupLinkDeletion("The setup link does not work any more.", mailbox.id))


async def _show_page(app: App, call: Call) -> HttpResponse:
    try:
        setup, link = await service.get_by_token(app, call.path["token"])
    except NotFound:
        return public_page.respond(rules.invalid_page(), rules.STYLE_PATH, 404)
    me_url = app.settings.http.public_url.removesuffix("/") + "/me"
    page = rules.setup_page(setup, service.url_of(app, link), me_url, link.expires_at)
    return public_page.respond(page, rules.STYLE_PATH)


async def _download_profile(app: App, call: Call) -> HttpResponse:
    setup, _ = await service.get_by_token(app, call.path["token"])
    return _profile(await service.sign_profile(app, setup))


async def _autoconfig(app: App, call: Call) -> HttpResponse:
    setup = await service.find_by_host(app, _host(call), _read_query(call).get("emailaddress", ""))
    document = autoconfig.compose(setup.domain, setup.login_domain, setup.services)
    return HttpResponse(content=document, content_type=XML[0])


async def _autodiscover(app: App, call: Call) -> HttpResponse:
    try:
        address = autodiscover.parse_request(bytes(call.raw_body))
    except autodiscover.UnknownSchemaError:
        return HttpResponse(content=autodiscover.compose_unknown_schema(f"{app.clock():%H:%M:%S}"), content_type=XML[0])
    except autodiscover.RequestError as error:
        raise invalid_field("body", str(error)) from error
    setup = await service.find_by_address(app, address)
    document = autodiscover.compose(address, rules.login_of(setup, address), setup.services)
    return HttpResponse(content=document, content_type=XML[0])


async def _autodiscover_json(app: App, call: Call) -> HttpResponse:
    query = _read_query(call)
    if query.get("protocol", autodiscover.JSON_PROTOCOL).lower() != autodiscover.JSON_PROTOCOL.lower():
        raise invalid_field("Protocol", f"must be {autodiscover.JSON_PROTOCOL}")
    address = call.path.get("address") or query.get("email", "")
    setup = await (service.find_by_address(app, address) if address else service.find_by_host(app, _host(call)))
    return HttpResponse(content=msgspec.json.encode(wire.to_reference(setup)))


def _host(call: Call) -> str:
    return call.headers.get("host", "")


def _request_limit(_: Settings) -> int:
    return autodiscover.MAX_REQUEST_BYTES


def _read_query(call: Call) -> Mapping[str, str]:
    """The parameters by their names in lower case: programs differ in that, and add others."""
    return {name.lower(): value for name, value in call.query_pairs}


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            method="GET",
            path=f"{area.prefix}/setup",
            handler=_get,
            action=area.action("mailbox.read"),
            summary="Show how to set up a mail client",
            description=(
                "The services that the mailbox may use. `format=apple` is a configuration profile, signed with the "
                "server's certificate (CONFLICT `no_mail_services` if the mailbox can't both read and send mail); "
                "`format=qr` the mailbox's setup link (NOT_FOUND without one). The embedded profile shows what the "
                "full one would offer with the same settings."
            ),
            tag=area.tag,
            query=wire.SetupQuery,
            data=wire.ClientSetupResponse,
            alternative_content=(apple.MEDIA_TYPE, _SVG),
            refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/setup-link",
            handler=_create_link,
            action=area.action("mailbox.write"),
            summary="Create a setup link",
            description=(
                "A page for whoever has the link: the settings, a profile for Apple's devices and a QR code of the "
                "link, but no password. It works for 7 days and replaces the mailbox's earlier link."
            ),
            tag=area.tag,
            data=wire.SetupLinkRecord,
            status=201,
            audit="setup_link.create",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/setup-link",
            handler=_delete_link,
            action=area.action("mailbox.write"),
            summary="Delete a setup link",
            description="It stops working at once. NOT_FOUND if there is none.",
            tag=area.tag,
            data=wire.SetupLinkDeletion,
            audit="setup_link.delete",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope),
            examples=(Example(path=area.path),),
        ),
    )


def _public(method: str, path: str, **options: Any) -> Endpoint:
    """An endpoint outside the API's prefix, without credentials."""
    defaults: dict[str, Any] = {"action": None, "bare": True, "prefixed": False, "public_page": True}
    defaults |= {"tag": _TAG, "refusals": (NotFound,)}
    return Endpoint(method=method, path=path, **(defaults | options))


_ADDRESS = "alice@example.test"
_SERVICES = rules.list_services("mail.example.test", asdict(PortsSettings()))
_AUTOCONFIG = autoconfig.compose("example.test", "example.test", _SERVICES).decode()
_AUTODISCOVER = autodiscover.compose(_ADDRESS, _ADDRESS, _SERVICES).decode()
_JSON_QUERY = {"Protocol": autodiscover.JSON_PROTOCOL, "Email": _ADDRESS}
_REFERENCE = {"Protocol": autodiscover.JSON_PROTOCOL, "Url": autodiscover.xml_url("example.test")}
_BY_HOST = "For mail programs; the answer is the same for every local part of a domain. "

ENDPOINTS = (
    *_endpoints(MAILBOX),
    *(
        _public(
            "GET",
            path,
            handler=_autoconfig,
            summary="Get the autoconfig document of a domain",
            description=_BY_HOST + "The domain is that of the Host field, with or without `autoconfig.`, or else that "
            "of `emailaddress`. NOT_FOUND for a domain that is not managed here.",
            query=wire.AutoconfigQuery,
            any_query=True,
            data=str,
            content=XML[0],
            examples=(Example(query={"emailaddress": _ADDRESS}, response=_AUTOCONFIG),),
        )
        for path in autoconfig.PATHS
    ),
    _public(
        "POST",
        autodiscover.XML_PATH,
        handler=_autodiscover,
        summary="Answer Autodiscover",
        description=_BY_HOST + "The body is Outlook's request in XML, at most 16 KiB, without a DTD. The path may be "
        "in upper or lower case. A request for another schema gets the error 601 of Autodiscover, with status 200.",
        any_case=True,
        raw_body=XML,
        body_limit=_request_limit,
        data=str,
        content=XML[0],
        examples=(Example(response=_AUTODISCOVER),),
    ),
    *(
        _public(
            "GET",
            path,
            handler=_autodiscover_json,
            summary="Say where the Autodiscover document of an address is",
            description=_BY_HOST + "Autodiscover version 2; the only `Protocol` is Autodiscoverv1 (INVALID_FIELD).",
            any_case=True,
            query=wire.AutodiscoverQuery,
            any_query=True,
            data=wire.AutodiscoverReference,
            enveloped=False,
            examples=(Example(path=example, query=_JSON_QUERY, response=_REFERENCE),),
        )
        for path, example in zip(autodiscover.JSON_PATHS, ({}, {"address": _ADDRESS}), strict=True)
    ),
    _public(
        "GET",
        rules.PAGE_PATH,
        handler=_show_page,
        summary="Show the page of a setup link",
        description="A page for people. 404 for a link that has ended.",
        data=str,
        content="text/html",
        is_page=True,
        examples=(Example(path={"token": "{setup_token}"}),),
    ),
    _public(
        "GET",
        rules.PROFILE_PATH,
        handler=_download_profile,
        summary="Download the profile of a setup link",
        description="As `GET /mailboxes/{id}/setup?format=apple`. NOT_FOUND for a link that has ended.",
        data=str,
        content=apple.MEDIA_TYPE,
        refusals=(NotFound, Conflict, Unavailable),
        examples=(Example(path={"token": "{setup_token}"}),),
    ),
    public_page.style_endpoint(rules.STYLE_PATH, rules.STYLE),
)
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
