"""Rights that are withdrawn while the body of a request arrives: a client may hold requests back for that moment."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message

from mailkeep.web import pipeline
from tests.support.caller import Caller
from tests.support.client import ADMIN_IDS, EXAMPLE, PASSWORD, Api, Client

NEW = "incorrect pony charger clip"
SUPER = {"email": "backdoor@else.test", "password": NEW, "role": "super_admin"}
OWN = {"current_password": PASSWORD, "new_password": NEW}


async def held(client: Client, path: str, body: Any, meanwhile: Callable[[], Awaitable[Any]]) -> str | None:
    """The error code of a POST whose body arrives only after `meanwhile`."""
    raw, sent = json.dumps(body).encode(), list[Message]()
    headers = {**client.headers, "content-type": "application/json", "content-length": str(len(raw))}

    async def receive() -> Message:
        answer = await meanwhile()
        assert answer.status == 200, answer.body
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await client.app(Caller(client.app).scope("POST", f"/api/v1{path}", headers), receive, send)
    error = json.loads(sent[1]["body"])["error"]
    return error and error["code"]


@pytest.mark.parametrize(
    "path, body, change",
    [
        ("/admins", SUPER, {"active": False}),
        ("/admins", SUPER, {"role": "admin"}),
        ("/api-keys", {"name": "persistent"}, {"password": PASSWORD}),
        ("/auth/password", OWN, {"password": PASSWORD}),
    ],
)
async def test_a_slow_body_is_not_carried_out_with_the_rights_from_before_it(
    api: Api, monkeypatch: pytest.MonkeyPatch, path: str, body: Any, change: Any
):
    monkeypatch.setattr(pipeline, "_PROMPT_SECONDS", -1.0)
    await api.sql("UPDATE admins SET role = 'super_admin' WHERE id = %(id)s", id=ADMIN_IDS["adam"])
    adam = api.session("adam")
    withdrawn = await held(adam, path, body, lambda: api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", change))
    assert withdrawn == "SESSION_INVALID"
    assert await api.sql("SELECT FROM admins WHERE email = %(email)s", email=SUPER["email"]) == []
    assert await api.sql("SELECT FROM api_keys WHERE name = 'persistent'") == []


async def test_a_slow_body_is_read_with_the_domains_of_its_end(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pipeline, "_PROMPT_SECONDS", -1.0)
    domain_id = (await api.dora.get("/domains")).data[0]["id"]
    alias = {"domain_id": domain_id, "source_local_part": "sales", "destination": "x@else.test"}
    dora = f"/admins/{ADMIN_IDS['dora']}"
    assert await held(api.dora, "/aliases", alias, lambda: api.sue.patch(dora, {"domain_ids": []})) == "FORBIDDEN"


@pytest.mark.parametrize(
    "path, body",
    [
        ("/me/totp/verify", None),
        ("/me/app-passwords", {"name": "persistent"}),
        ("/me/password", {"current_password": NEW, "new_password": "seven green bottles"}),
    ],
)
async def test_a_session_that_has_ended_changes_no_credentials_and_stays_ended(api: Api, path: str, body: Any):
    """Also if the request is too quick to be authenticated again."""
    box = await api.mailbox(f"alice@{EXAMPLE}")
    owner = await api.log_in_owner(f"alice@{EXAMPLE}")
    body = body or {"code": (await api.set_up(owner, "/me")).code()}
    reset = await held(owner, path, body, lambda: api.dora.patch(f"/mailboxes/{box}", {"password": NEW}))
    assert reset == "SESSION_INVALID"
    assert (await owner.get("/me")).code == "SESSION_INVALID"
    assert await api.sql("SELECT FROM app_passwords") == []
    assert (await api.nobody.post("/me/login", {"address": f"alice@{EXAMPLE}", "password": NEW})).status == 200


@pytest.mark.parametrize("path", ["/auth/totp/verify", "/auth/password"])
async def test_the_session_of_an_administrator_too(api: Api, path: str):
    adam = await api.log_in(f"adam@{EXAMPLE}")
    body = {"current_password": NEW, "new_password": "seven green bottles"}
    if path.endswith("verify"):
        body = {"code": (await api.set_up(adam)).code()}
    change = f"/admins/{ADMIN_IDS['adam']}"
    assert await held(adam, path, body, lambda: api.sue.patch(change, {"password": NEW})) == "SESSION_INVALID"
    assert (await adam.get("/auth/me")).code == "SESSION_INVALID"
