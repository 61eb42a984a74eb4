"""What analytics, alerts, the other endpoints of abuse, and search show to a tenant does not depend on other tenants.

Each endpoint is asked before and after another tenant has mail, alerts, incidents, suspensions, thresholds and failed
sign-ins: the answers to a domain_admin and to a scoped key are the same, those to a super_admin are not.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from mailkeep.core.clock import iso
from mailkeep.core.ids import uuid7
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.run.runtime.router import ENDPOINTS
from tests.plugins.post import Post, letter
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, PASSWORD, START, Client

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


async def fill(post: Post, domain_id: UUID, address: str) -> dict[str, Any]:
    """Mail of a key, with a bounce, and everything that the rules against abuse store; returns its objects."""
    api, (name, _, domain) = post.api, address.partition("@")
    mailbox = await api.mailbox(address)
    client, key = await api.key(api.sue, name=f"key of {name}")
    to = [{"email": "customer@elsewhere.test"}, {"email": "bounce@secret.test"}]
    tag = "orders" if domain == EXAMPLE else "merger"
    message = letter(**{"from": {"email": address}, "to": to, "subject": f"{tag.title()} of {name}", "tags": [tag]})
    assert (await client.post("/send", message)).status == 200
    await post.deliver(address)
    await post.run_queue()
    await api.suspension(f"spammer@{domain}")
    await api.alert(domain, kind="spike")
    await api.incident(mailbox)
    body = {"scope": "domain", "id": str(domain_id), "values": {"sender_per_hour": 2}}
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
    await fill(post, DOMAIN_IDS[EXAMPLE], f"alice@{EXAMPLE}")
    unknown = {name: uuid7(START) for name in UNKNOWN_BEFORE}
    callers = {"dora": post.api.dora, "scoped": post.api.scoped, "sue": post.api.sue}
    before = {name: await ask(client, unknown) for name, client in callers.items()}
    objects = await fill(post, DOMAIN_IDS[OTHER], MALLORY)
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


async def test_a_domain_that_is_added_again_starts_empty(post: Post):
    """T47: the new tenant sees nothing of what the former one's domain had, whose name it has."""
    api = post.api

    async def add() -> tuple[UUID, list[Client]]:
        """The domain, a domain_admin of it, and a key that is limited to it."""
        domain_id = UUID((await api.sue.post("/domains", {"name": "again.test"})).data["id"])
        email = f"{domain_id.hex}@tenants.test"
        admin = {"email": email, "password": PASSWORD, "role": "domain_admin", "domain_ids": [str(domain_id)]}
        assert (await api.sue.post("/admins", admin)).status == 201
        key, _ = await api.key(api.sue, scoped_domain_ids=[str(domain_id)])
        return domain_id, [await api.log_in(email), key]

    async def ask_about(domain_id: UUID, client: Client) -> dict[str, list[str]]:
        """The answers without the ID of the domain."""
        answers: dict[str, list[str]] = {}
        for path, queries in QUERIES.items():
            period = PERIOD if path.startswith("/analytics/") else {}
            of_domain = (
                {"scope": "domain", "id": domain_id} if path == "/abuse/thresholds" else {"domain_id": domain_id}
            )
            for query in ({}, of_domain) if len(queries) > 1 else ({},):
                answer = await client.get(path, **period, **query)
                text = json.dumps([answer.status, answer.data]).replace(str(domain_id), "ID")
                answers.setdefault(path, []).append(text)
        return answers

    first, tenants = await add()
    fresh = [await ask_about(first, each) for each in tenants]
    objects = await fill(post, first, "mallory@again.test")
    full = await ask_about(first, tenants[1])
    assert {path for path in full if full[path] == fresh[1][path]} == {"/health/alerts", "/sign-in-blocks"}  # refused
    assert (await api.sue.delete(f"/mailboxes/{objects['mailbox']}", purge="true")).status == 200
    assert (await api.sue.delete(f"/domains/{first}")).status == 200
    again, tenants = await add()
    for client, expected in zip(tenants, fresh, strict=True):
        answers = await ask_about(again, client)
        assert {path: answers[path] for path in answers if answers[path] != expected[path]} == {}
