"""/abuse/thresholds: hourly limits and the usage of a domain."""

from __future__ import annotations

from mailkeep.features.mailflow.abuse import service
from tests.support.builders import NOWHERE
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api


async def test_the_usage_of_a_domain_is_shown_with_its_limits(api: Api):
    """Shows forwarded copies, and the limit from which mail is deferred."""
    assert await service.charge_forwards(api.app, api.clock(), "4jW9T1xz0bz1", {EXAMPLE: 7}) is None
    limits = api.app.settings.abuse
    shown = (await api.sue.get("/abuse/thresholds", scope="domain", id=DOMAIN_IDS[EXAMPLE])).data
    assert shown == {
        "scope": "domain",
        "id": str(DOMAIN_IDS[EXAMPLE]),
        "values": {
            "sender_per_hour": {"value": limits.sender_per_hour, "source": "global", "used": None},
            "domain_per_hour": {"value": limits.domain_per_hour, "source": "global", "used": 0},
            "forward_per_hour": {"value": limits.forward_per_hour, "source": "global", "used": 7},
        },
    }
    api.clock.advance(minutes=62)
    (later,) = [(await api.sue.get("/abuse/thresholds", scope="domain", id=DOMAIN_IDS[EXAMPLE])).data["values"]]
    assert later["forward_per_hour"]["used"] == 0


async def test_global_limits_have_no_usage(api: Api):
    shown = (await api.dora.get("/abuse/thresholds")).data
    assert (shown["scope"], shown["id"]) == ("global", None)
    assert {each["used"] for each in shown["values"].values()} == {None}


async def test_invalid_queries_are_refused(api: Api):
    assert (await api.sue.get("/abuse/thresholds", scope="domain")).code == "MISSING_FIELDS"
    assert (await api.sue.get("/abuse/thresholds", id=DOMAIN_IDS[EXAMPLE])).code == "INVALID_FIELD"
    assert (await api.sue.get("/abuse/thresholds", scope="planet")).code == "INVALID_FIELD"
    assert (await api.sue.get("/abuse/thresholds", scope="domain", id=NOWHERE)).code == "DOMAIN_NOT_FOUND"
    scoped = await api.scoped.get("/abuse/thresholds", scope="domain", id=DOMAIN_IDS[OTHER])
    assert scoped.code == "API_KEY_DOMAIN_SCOPE"
