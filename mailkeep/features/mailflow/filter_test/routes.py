"""Routes of the test of a decision."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, MissingFields, NotFound
from mailkeep.features.mailflow.filter_test import service, wire
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import FILTER_AREAS
from mailkeep.web.areas import Area
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _test(app: App, call: Call) -> HttpResponse:
    trial = await service.try_message(app, call.caller(), filtering.read_owner(call), wire.read_test(call.body))
    return HttpResponse(wire.to_test_result(trial))


def _endpoint(area: Area) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"{area.prefix}/test",
        handler=_test,
        action=area.action("filter.write"),
        summary="Explain what the filter would do with a message",
        description=(
            "For a message that is described, or for one of the history (`message_id`), whose client address is not "
            "known. The decision is that of the filter itself; it changes nothing and counts no hit. A message to "
            "several mailboxes is refused only if all refuse it, and goes to Junk otherwise. In the embedded profile "
            "nothing proves an author, and only the test string GTUBE gives a score: allow entries apply by network "
            "only, and `score` has no effect."
        ),
        tag=area.tag,
        body=wire.FilterTest,
        data=wire.FilterTestResult,
        refusals=(MissingFields, NotFound, ApiKeyDomainScope),
        examples=(
            Example(
                path=area.path,
                body={
                    "mail_from": "news@partner.test",
                    "from": "news@partner.test",
                    "client_address": "192.0.2.10",
                    "score": 7.5,
                    "auth": {"spf": "pass", "dkim": "pass", "dmarc": "pass"},
                },
            ),
        ),
    )


*_AREAS, (_, _OWN) = FILTER_AREAS
ENDPOINTS = tuple(_endpoint(area) for _, area in _AREAS)
OWN_MAILBOX_ENDPOINTS = (_endpoint(_OWN),)
