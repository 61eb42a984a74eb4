"""Routes of certificates, and the answer to HTTP-01."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, InvalidPagination, NotFound, Unavailable
from mailkeep.features.operations.certificates import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "Operations"
_BY_ID = {"id": "{certificate_id}"}


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.page)
    return HttpResponse([service.describe(each, app.settings) for each in page.rows], page)


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        certificate = await service.get(conn, call.id())
    return HttpResponse(service.describe(certificate, app.settings))


async def _renew(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        certificate = await service.renew(app, conn, call.caller(), call.id())
    return HttpResponse(service.describe(certificate, app.settings))


async def _revoke(app: App, call: Call) -> HttpResponse:
    body: wire.CertificateRevocation = call.body
    async with app.db.tx() as conn:
        certificate = await service.revoke(app, conn, call.caller(), call.id(), body.reason, at_once=body.at_once)
    return HttpResponse(service.describe(certificate, app.settings))


async def _change_account_key(app: App, call: Call) -> HttpResponse:
    await service.change_account_key(app, call.caller())
    return HttpResponse(wire.AccountKeyChanged("The key of the account was replaced."))


async def _answer_challenge(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        content = await service.find_token(conn, call.path["token"])
    return HttpResponse(
        content=content.encode("ascii"), content_type="text/plain", headers={"cache-control": "no-store"}
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/certificates",
        handler=_list,
        action="certificate.read",
        summary="List certificates",
        description=(
            "Full profile: the certificate of the server and those of domains, with the reasons why host names are "
            "left out. They are ordered with `acme.enabled`. Private keys are never shown."
        ),
        tag=_TAG,
        listing=Listing(("name", "created_at")),
        data=list[wire.CertificateRecord],
        refusals=(InvalidPagination, ApiKeyDomainScope),
        examples=(Example(query={"limit": "20"}),),
    ),
    Endpoint(
        method="GET",
        path="/certificates/{id}",
        handler=_get,
        action="certificate.read",
        summary="Get a certificate",
        tag=_TAG,
        data=wire.CertificateRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path=_BY_ID),),
    ),
    Endpoint(
        method="POST",
        path="/certificates/{id}/renew",
        handler=_renew,
        action="certificate.write",
        summary="Renew a certificate now",
        description=(
            "It is replaced in the background, usually within seconds; without a certificate its names are looked at "
            "again. CONFLICT `not_managed`."
        ),
        tag=_TAG,
        body=wire.CertificateRenewal,
        data=wire.CertificateRecord,
        audit="certificate.renew",
        resource="certificate",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path=_BY_ID, body={}),),
    ),
    Endpoint(
        method="POST",
        path="/certificates/{id}/revoke",
        handler=_revoke,
        action="certificate.write",
        summary="Revoke a certificate and replace it",
        description=(
            "In the background: it is replaced, with another key, and then revoked. CONFLICT `not_managed`, "
            "`not_issued`, `being_revoked`."
        ),
        tag=_TAG,
        body=wire.CertificateRevocation,
        data=wire.CertificateRecord,
        audit="certificate.revoke",
        resource="certificate",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path=_BY_ID, body={"reason": "key_compromise"}),),
    ),
    Endpoint(
        method="POST",
        path="/certificates/account-key",
        handler=_change_account_key,
        action="certificate.write",
        summary="Replace the key of the ACME account",
        description="Certificates stay valid. CONFLICT `not_managed`; UNAVAILABLE if the authority does not accept it.",
        tag=_TAG,
        body=wire.AccountKeyChange,
        data=wire.AccountKeyChanged,
        audit="certificate.account_key",
        refusals=(ApiKeyDomainScope, Conflict, Unavailable),
        examples=(Example(body={}),),
    ),
    Endpoint(
        method="GET",
        path=f"{service.CHALLENGE_PATH}/{{token}}",
        handler=_answer_challenge,
        action=None,
        summary="Answer an ACME challenge",
        description="For certificate authorities (HTTP-01, RFC 8555 §8.3), at any host name. NOT_FOUND.",
        tag=_TAG,
        data=str,
        content="text/plain",
        bare=True,
        prefixed=False,
        refusals=(NotFound,),
        examples=(Example(path={"token": "{acme_token}"}),),
    ),
)
