"""What analytics, alerts, the other endpoints of abuse, and search show to a tenant does not depend on other tenants.

Each endpoint is asked before and after another tenant has mail, alerts, incidents, suspensions, thresholds and failed
sign-ins: the answers to a domain_admin and to a scoped key are the same, those to a super_admin are not.
"""

from __future__ import annotations

from typing import Any

from mailkeep.core.clock import iso
from mailkeep.core.ids import uuid7
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.run.runtime.router import ENDPOINTS
from tests.plugins.post import Post, letter
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, START, Client

AREAS = ("/analytics/", "/abuse/", "/messages", "/health/alerts", "/sign-in-blocks")
MALLORY = f"mallory@{OTHER}"

PERIOD = {"period": "24h"}
OF_OTHER = {"domain_id": DOMAIN_IDS[OTHER]}
FIGURES: tuple[dict[str, Any], ...] = (
    PERIOD,
    PERIOD | OF_OTHER,
    PERIOD | {"provider": "other"},
    PERIOD | {"tag": "merger"},
    PERIOD | {"api_key_id": "{key}"},
)
QUERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "/analytics/overview": FIGURES,
    "/analytics/timeseries": FIGURES,
    "/analytics/domains": FIGURES,
    "/analytics/destinations": FIGURES[:3],
    "/analytics/bounces": FIGURES,
    "/analytics/tags": FIGURES[:2],
    "/analytics/api-keys": FIGURES[:2],
    "/abuse/overview": ({}, OF_OTHER),
    "/abuse/alerts": ({}, OF_OTHER, {"state": "unresolved"}, {"kind": "spike"}),
    "/abuse/incidents": ({}, OF_OTHER, {"state": "open"}, {"subject_id": "{mailbox}"}),
    "/abuse/suspensions": ({}, OF_OTHER),
    "/abuse/thresholds": (
        {},
        {"scope": "domain", "id": DOMAIN_IDS[EXAMPLE]},
        {"scope": "domain", "id": DOMAIN_IDS[OTHER]},
        {"scope": "mailbox", "id": "{mailbox}"},
    ),
    "/health/alerts": ({},),
    "/sign-in-blocks": ({},),
    "/messages": (
        {},
        OF_OTHER,
        {"q": "mallory"},
        {"from": MALLORY},
        {"to": "bounce@secret.test"},
        {"subject": "Merger"},
        {"tag": "merger"},
        {"status": "bounced"},
        {"api_key_id": "{key}"},
        {"mailbox_id": "{mailbox}"},
        {"since": iso(START)},
        {"limit": 1},
    ),
    "/messages/totals": ({}, OF_OTHER),
}
UNKNOWN_BEFORE = {"mailbox", "key"}
"""Objects of the other tenant: before, an ID that does not exist. A refusal says no more than that."""


async def fill(post: Post, domain: str, name: str) -> dict[str, Any]:
    """Mail of a key, with a bounce, and everything that the rules against abuse store; returns its objects."""
    api, address = post.api, f"{name}@{domain}"
    mailbox = await api.mailbox(address)
    client, key = await api.key(api.sue, name=f"key of {name}")
    to = [{"email": "customer@elsewhere.test"}, {"email": "bounce@secret.test"}]
    tag = "merger" if domain == OTHER else "orders"
    message = letter(**{"from": {"email": address}, "to": to, "subject": f"{tag.title()} of {name}", "tags": [tag]})
    assert (await client.post("/send", message)).status == 200
    await post.deliver(address)
    await post.run_queue()
    await api.suspension(f"spammer@{domain}")
    await api.alert(domain, kind="spike")
    await api.incident(mailbox)
    body = {"scope": "domain", "id": str(DOMAIN_IDS[domain]), "values": {"sender_per_hour": 2}}
    assert (await api.sue.patch("/abuse/thresholds", body)).status == 200
    for number in range(3):
        credentials = {"address": address, "password": f"wrong {number}"}
        assert (await api.nobody.from_address("203.0.113.9").post("/me/login", credentials)).status == 401
    await api.sign_in_block(f"mailbox:{address}")
    await api.alert()
    return {"mailbox": mailbox, "key": key}


async def ask(client: Client, objects: dict[str, Any]) -> dict[tuple[str, int], Any]:
    """The answers to all queries: status with data or error."""
    answers: dict[tuple[str, int], Any] = {}
    for path, queries in QUERIES.items():
        for number, query in enumerate(queries):
            filled = {name: objects.get(str(value).strip("{}"), value) for name, value in query.items()}
            answer = await client.get(path, **filled)
            answers[path, number] = (answer.status, answer.data, answer.json["error"])
    return answers


def test_every_list_of_these_areas_is_in_the_table():
    lists = {
        each.path for each in ENDPOINTS if each.method == "GET" and each.path.startswith(AREAS) and "{" not in each.path
    }
    assert lists == set(QUERIES)


async def test_nothing_that_a_tenant_is_shown_depends_on_another(post: Post):
    async with post.api.app.db.tx() as conn:
        await dkim.insert(conn, dkim.generate_key(post.api.app.vault, DOMAIN_IDS[OTHER], START, "ed25519"))
    await fill(post, EXAMPLE, "alice")
    unknown = {name: uuid7(START) for name in UNKNOWN_BEFORE}
    callers = {"dora": post.api.dora, "scoped": post.api.scoped, "sue": post.api.sue}
    before = {name: await ask(client, unknown) for name, client in callers.items()}
    objects = await fill(post, OTHER, "mallory")
    after = {name: await ask(client, objects) for name, client in callers.items()}
    for name in ("dora", "scoped"):
        differences = {
            where: (before[name][where], after[name][where])
            for where in before[name]
            if after[name][where] != before[name][where] and not is_refusal(after[name][where])
        }
        assert differences == {}, name
    seen = {path for (path, number), answer in after["sue"].items() if answer != before["sue"][path, number]}
    assert seen == set(QUERIES)


def is_refusal(answer: tuple[int, Any, Any]) -> bool:
    """Whether an answer says only that the caller may not see this, with nothing about it."""
    status, data, error = answer
    return status == 403 and data is None and error["details"] in (None, {})
