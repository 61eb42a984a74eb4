"""Every code that an endpoint says it can answer is answered somewhere: one way to provoke each, over HTTP.

What endpoints say is taken from the router, so that a refusal without a row here fails.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.errors import MethodNotAllowed, NotFound
from mailkeep.core.ids import parse_uuid
from mailkeep.db.pool import DatabasePool
from mailkeep.features.access.sessions.rules import sign_token
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.web import openapi_errors
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, PASSWORD, VAULT, Api, email_of

NOWHERE = "01890000-0000-7000-8000-000000000000"
Provoke = Callable[[Post], Awaitable[Answer]]


def posting(path: str, body: Any, name: str = "sue") -> Provoke:
    """A test user posts a body."""

    async def provoke(post: Post) -> Answer:
        return await post.api.callers[name].post(path, body)

    return provoke


def getting(path: str, name: str = "sue", **query: Any) -> Provoke:
    async def provoke(post: Post) -> Answer:
        return await post.api.callers[name].get(path, **query)

    return provoke


def sending(**changes: Any) -> Provoke:
    return posting("/send", letter(**changes))


async def nobody(post: Post) -> Answer:
    return await post.api.nobody.get("/auth/me")


async def ended_session(post: Post) -> Answer:
    cookie = f"svc_session={sign_token(VAULT, 'admin', 'unknown')}"
    return await post.api.nobody.with_cookie(cookie).get("/auth/me")


async def unknown_key(post: Post) -> Answer:
    return await post.api.nobody.with_key(f"svc_sk_{'x' * 43}").get("/auth/me")


async def wrong_password(post: Post) -> Answer:
    return await post.api.nobody.post("/auth/login", {"email": email_of("sue"), "password": "not the one"})


async def wrong_code(post: Post) -> Answer:
    await post.api.factor("adam", enabled_at=post.api.clock())
    asked = await post.api.nobody.post("/auth/login", {"email": email_of("adam"), "password": PASSWORD})
    return await post.api.nobody.post(
        "/auth/login", {"totp_session": asked.data["totp_session"], "totp_code": "no code"}
    )


async def used_up_key(post: Post) -> Answer:
    key, _ = await post.api.key(post.api.sue, rate_limit=1)
    assert (await key.get("/auth/me")).status == 200
    return await key.get("/auth/me")


async def deactivated(post: Post) -> Answer:
    await post.api.sql("UPDATE domains SET active = false WHERE name = %(name)s", name=OTHER)
    body = {"domain_id": str(DOMAIN_IDS[OTHER]), "source_local_part": "x", "destination": "out@elsewhere.test"}
    return await post.api.sue.post("/aliases", body)


async def suppressed(post: Post) -> Answer:
    await post.api.suppression("gone@elsewhere.test")
    return await post.send(to=[{"email": "gone@elsewhere.test"}])


async def suspended(post: Post) -> Answer:
    mailbox_id = await post.api.mailbox(f"spammer@{EXAMPLE}")
    assert (await post.api.sue.post(f"/mailboxes/{mailbox_id}/suspend", {"reason": "spam"})).status == 200
    return await post.send(**{"from": {"email": f"spammer@{EXAMPLE}"}})


async def taken(post: Post) -> Answer:
    await post.api.mailbox(f"taken@{EXAMPLE}")
    body = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "local_part": "Taken", "password_hash": "{SHA}x"}
    return await post.api.sue.post("/mailboxes", body)


async def another_version(post: Post) -> Answer:
    return await post.api.sue("DELETE", f"/domains/{DOMAIN_IDS[OTHER]}", headers={"if-match": '"0"'})


async def busy_orchestrator(post: Post) -> Answer:
    await post.api.sql(
        """
        INSERT INTO orchestrator_operations (id, kind, service, state, author, created_at, steps)
        VALUES (gen_random_uuid(), 'restart', 'dovecot', 'running', 'test', now(), '[]')
        """
    )
    settings = post.api.app.settings
    full = replace(settings, mta=replace(settings.mta, mode="postfix"))
    app = replace(post.api.app, settings=full, running_services=lambda: {"dovecot": True})
    busy = replace(post.api, pipeline=Pipeline(app, Router(ENDPOINTS), ACCESS_CONTROL))
    return await busy.sue("POST", "/orchestrator/services/dovecot/reload")


async def wrong_type(post: Post) -> Answer:
    return await post.api.sue("POST", "/domains", b"name=x", headers={"content-type": "text/plain"})


async def a_bug(post: Post) -> Answer:
    broken = replace(post.api.app, db=None)
    return await replace(post.api, pipeline=Pipeline(broken, Router(ENDPOINTS), ACCESS_CONTROL)).sue.get("/domains")


async def no_mta(post: Post) -> Answer:
    post.api.app.mta = None
    return await post.send()


async def dead_mta(post: Post) -> Answer:
    post.api.app.mta = SmtpPool(Relay("127.0.0.1", 1))
    return await post.send()


async def no_database(post: Post) -> Answer:
    away = DatabasePool("postgresql://127.0.0.1:1/none", min_size=1, timeout=0.2)
    await away.open()
    pipeline = Pipeline(replace(post.api.app, db=away), Router(ENDPOINTS), ACCESS_CONTROL)
    answer = await replace(post.api, pipeline=pipeline).sue.get("/domains")
    await away.close()
    return answer


async def with_key(post: Post, subject: str, key: str) -> Answer:
    return await post.api.sue("POST", "/send", letter(subject=subject), headers={"idempotency-key": key})


async def another_body(post: Post) -> Answer:
    await with_key(post, "One", "used")
    return await with_key(post, "Two", "used")


async def under_way(post: Post) -> Answer:
    first = await with_key(post, "One", "busy")
    await post.api.sql("UPDATE idempotency_keys SET status = NULL, answer = NULL")
    post.api.pipeline._keys._running.add(UUID(first.json["meta"]["request_id"]))
    return await with_key(post, "One", "busy")


ROWS: dict[tuple[str, int], Provoke] = {
    ("INVALID_JSON", 400): posting("/domains", b'{"name": '),
    ("MISSING_FIELDS", 400): posting("/domains", {}),
    ("INVALID_FIELD", 400): posting("/domains", {"name": "new.test", "nmae": "x"}),
    ("INVALID_PAGINATION", 400): getting("/domains", limit=0),
    ("INVALID_PERIOD", 400): getting(f"/domains/{DOMAIN_IDS[EXAMPLE]}/dmarc", period="1y"),
    ("INVALID_SENDER", 400): sending(**{"from": {"email": "no address"}}),
    ("INVALID_RECIPIENT", 400): sending(to=[{"email": "no address"}]),
    ("INVALID_HEADER", 400): sending(headers={"Subject": "x"}),
    ("INVALID_URL", 400): posting("/webhooks", {"url": "http://hooks.elsewhere.test/", "events": ["*"]}),
    ("WEAK_PASSWORD", 400): posting("/admins", {"email": "new@example.test", "password": "password", "role": "admin"}),
    ("EMPTY_BATCH", 400): posting("/send/batch", {"messages": []}),
    ("BATCH_TOO_LARGE", 400): posting("/send/batch", {"messages": [letter()] * 101}),
    ("AUTH_REQUIRED", 401): nobody,
    ("SESSION_INVALID", 401): ended_session,
    ("API_KEY_INVALID", 401): unknown_key,
    ("INVALID_CREDENTIALS", 401): wrong_password,
    ("TOTP_INVALID", 401): wrong_code,
    ("FORBIDDEN", 403): posting("/domains", {"name": "new.test"}, "dora"),
    ("API_KEY_DOMAIN_SCOPE", 403): posting("/domains", {"name": "new.test"}, "scoped"),
    ("DOMAIN_NOT_FOUND", 403): sending(**{"from": {"email": "shop@unmanaged.test"}}),
    ("DOMAIN_INACTIVE", 403): deactivated,
    ("RECIPIENT_SUPPRESSED", 403): suppressed,
    ("MAILBOX_SUSPENDED", 403): suspended,
    ("NOT_FOUND", 404): getting(f"/mailboxes/{NOWHERE}"),
    ("DOMAIN_NOT_FOUND", 404): getting("/mailboxes", domain_id=NOWHERE),
    ("METHOD_NOT_ALLOWED", 405): posting("/health", {}),
    ("CONFLICT", 409): taken,
    ("DOMAIN_EXISTS", 409): posting("/domains", {"name": EXAMPLE}),
    ("IDEMPOTENCY_MISMATCH", 409): another_body,
    ("IDEMPOTENCY_IN_PROGRESS", 409): under_way,
    ("ORCHESTRATOR_BUSY", 409): busy_orchestrator,
    ("PRECONDITION_FAILED", 412): another_version,
    ("PAYLOAD_TOO_LARGE", 413): posting("/domains", json.dumps({"name": "x" * (1 << 20)}).encode()),
    ("UNSUPPORTED_MEDIA_TYPE", 415): wrong_type,
    ("RATE_LIMIT_EXCEEDED", 429): used_up_key,
    ("INTERNAL_ERROR", 500): a_bug,
    ("SEND_FAILED", 500): dead_mta,
    ("SEND_UNAVAILABLE", 503): no_mta,
    ("UNAVAILABLE", 503): no_database,
}


def said() -> set[tuple[str, int]]:
    """The codes of endpoints, pipeline and router."""
    listed = {each for endpoint in ENDPOINTS for each in openapi_errors.refusals(endpoint)}
    return {(each.code, each.status) for each in listed | {NotFound, MethodNotAllowed}}


def test_every_documented_code_has_a_row():
    assert ROWS.keys() == said()


@pytest.fixture
async def all_routes(post: Post) -> Post:
    api: Api = replace(post.api, pipeline=Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL))
    return replace(post, api=api)


async def test_every_code_is_answered_in_the_envelope(all_routes: Post):
    sent_by = all_routes.api.app.mta
    for (code, status), provoke in ROWS.items():
        answer = await provoke(all_routes)
        all_routes.api.app.mta = sent_by
        assert (answer.code, answer.status) == (code, status), answer.body
        body = answer.json
        assert body.keys() == {"data", "error", "meta"}
        assert body["data"] is None
        assert body["error"].keys() == {"code", "message", "details"}
        assert body["error"]["message"].endswith(".")
        assert parse_uuid(body["meta"]["request_id"])
        assert body["meta"]["request_id"] == answer.headers["x-request-id"]
        waits = status in (429, 503) or code == "IDEMPOTENCY_IN_PROGRESS"
        assert ("retry-after" in answer.headers) == waits, code
        assert PASSWORD not in answer.body.decode()
