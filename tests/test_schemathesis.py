"""The API held to its OpenAPI document by generated calls: no 5xx, no answer that is not documented.

Five callers: nobody, Dora (domain_admin, by session), Adam's key (admin, scoped), Sue (super_admin) and the owner of a
mailbox. Owners call only what is for them, and administrators not what is only for owners. Ids in paths are made up in
half of the calls, and those of real rows in the other half. The calls are the same each time;
`MAILKEEP_FUZZ_SECONDS` spends more time on other ones.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import hypothesis
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mailkeep.core.principal import POLICY
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.web.endpoint import Endpoint
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.plugins.post import Post
from tests.support.caller import Answer, Caller
from tests.support.client import ADMIN_IDS, ADMINS, EXAMPLE, PASSWORD_HASH, Client, email_of
from tests.support.openapi import openapi_document
from tests.test_examples import fill, owner_names, placeholders

pytestmark = pytest.mark.usefixtures("unhurried")

SECONDS = float(os.environ.get("MAILKEEP_FUZZ_SECONDS", "0"))
CALLS = 2  # for each operation, kind of value and caller, where no time is given
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SETTINGS = hypothesis.settings(
    max_examples=CALLS,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
# Those that end the caller's session come last.
LAST = (
    "/auth/password",
    "/auth/sessions/{id}",
    "/auth/logout",
    "/auth/logout-all",
    "/auth/passkeys/login/verify",
    "/auth/login",
    "/me/password",
    "/me/sessions/{id}",
    "/me/logout",
    "/me/logout-all",
    "/me/passkeys/login/verify",
    "/me/login",
)
OWNER = f"alice@{EXAMPLE}"
BY_ROUTE = {(endpoint.method, endpoint.path): endpoint for endpoint in ENDPOINTS if endpoint.documented}


@cache
def schema() -> Any:
    return schemathesis.openapi.from_dict(openapi_document())


def send(client: Client, call: requests.PreparedRequest, loop: asyncio.AbstractEventLoop) -> Answer:
    """The call as the client makes it, on the application's loop; nobody's own credentials are made up too."""
    headers = {name.lower(): value for name, value in call.headers.items() if isinstance(value, str)}
    if client.headers:
        headers = {name: value for name, value in headers.items() if name not in ("cookie", "authorization")}
    body = call.body or b""
    body = body.encode() if isinstance(body, str) else body
    assert isinstance(body, bytes)
    calling = Caller(client.app)(str(call.method), call.path_url, headers | dict(client.headers), [body])
    return asyncio.run_coroutine_threadsafe(calling, loop).result(90)


@dataclass(frozen=True)
class Drawn:
    """A call that the document describes, or one that it doesn't; in half of them values of the example stand."""

    case: Any
    path: bool
    query: bool
    body: frozenset[str]
    """The members of the body that are the example's."""

    def of(self, endpoint: Endpoint, names: dict[str, str]) -> Any:
        """The call with these names of real rows, in place of those of whoever asked before."""
        case, example = self.case, endpoint.examples[0]
        if self.path:
            case.path_parameters = fill(dict(example.path), names)
        if self.query:
            case.query = case.query | fill(dict(example.query), names)
        if self.body:
            known = {name: value for name, value in example.body.items() if name in self.body}
            case.body = case.body | fill(known, names)
        return case


@st.composite
def calls(draw: st.DrawFn, endpoint: Endpoint, mode: GenerationMode) -> Drawn:
    case = draw(schema()[endpoint.path][endpoint.method].as_strategy(generation_mode=mode))
    if endpoint.content == "text/event-stream":
        case.query = {**(case.query or {}), "duration": 0}  # it shall end
    example = endpoint.examples[0]
    path = bool(example.path) and draw(st.booleans())
    query = bool(example.query) and isinstance(case.query, dict) and draw(st.booleans())
    body: set[str] = set()
    if isinstance(example.body, dict) and example.body and isinstance(case.body, dict):
        body = draw(st.sets(st.sampled_from(sorted(example.body))))
    return Drawn(case, path, query, frozenset(body))


def draw(endpoint: Endpoint, mode: GenerationMode, number: int) -> list[Drawn]:
    found: list[Drawn] = []

    def keep(call: Drawn) -> None:
        found.append(call)

    hypothesis.seed(number)(SETTINGS(given(call=calls(endpoint, mode))(keep)))()
    return found


@lru_cache(1)
def drawn(number: int) -> dict[tuple[str, str], list[Drawn]]:
    """The calls of this number to each operation: drawing them takes longer than making them, so it is done once."""
    return {
        route: [call for mode in modes(endpoint) for call in draw(endpoint, mode, number)]
        for route, endpoint in BY_ROUTE.items()
    }


def modes(endpoint: Endpoint) -> list[GenerationMode]:
    """Where a call has neither body nor parameters there is nothing in it that could be wrong: any text is a token."""
    path = endpoint.path.replace("{token}", "")
    bare = endpoint.body is None and endpoint.query is None and endpoint.listing is None and "{" not in path
    return [GenerationMode.POSITIVE] if bare else list(GenerationMode)


def turn(endpoint: Endpoint) -> tuple[int, bool]:
    """What others need is removed after them."""
    return LAST.index(endpoint.path) if endpoint.path in LAST else -1, endpoint.method == "DELETE"


def is_for(endpoint: Endpoint, who: str) -> bool:
    """Whether this caller calls the operation; nobody calls all."""
    if endpoint.action is None or who == "nobody":
        return True
    rule = POLICY[endpoint.action]
    return rule.owners if who == "owner" else rule.role is not None


def fuzz(
    post: Post, client: Client, who: str, names: dict[str, str], loop: asyncio.AbstractEventLoop, number: int
) -> Counter[int]:
    """Calls to every operation that is for the caller; how many answers there were by status."""
    client = Client(Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL), client.headers)
    statuses: Counter[int] = Counter()
    for endpoint in sorted((each for each in BY_ROUTE.values() if is_for(each, who)), key=turn):
        for call in drawn(number)[endpoint.method, endpoint.path]:
            statuses[check(call.of(endpoint, names), client, loop)] += 1
    return statuses


def check(case: Any, client: Client, loop: asyncio.AbstractEventLoop) -> int:
    endpoint = BY_ROUTE[case.operation.method.upper(), case.operation.path]
    base = "http://mail.example.test" + ("/api/v1" if endpoint.prefixed else "")
    call = requests.Request(**case.as_transport_kwargs(base_url=base)).prepare()
    answer = send(client, call, loop)
    headers = {name: answer.headers.getlist(name) for name in answer.headers}
    # Documented: what the embedded profile has not, restic where it is not installed, and the certificate authority,
    # which the tests have not.
    reasons = (b'"needs_full_profile"', b'"needs_restic"', b"The authority can't be reached")
    absent = answer.status == 503 and any(each in answer.body for each in reasons)
    checks = [each for each in CHECKS if not (absent and each is not_a_server_error)]
    case.validate_response(Response(answer.status, headers, answer.body, call, 0.0, False), checks=checks)
    return answer.status


async def come_again(post: Post, who: str, client: Client) -> Client:
    """The caller with a new session, where the calls ended the one before, or changed the password."""
    post.api.clock.advance(hours=1)
    if who == "owner":
        mailbox_id = (await post.api.sql("SELECT id FROM mailboxes WHERE address_key = %(a)s", a=OWNER))[0]["id"]
        return await post.api.owner(mailbox_id)
    if who not in ADMINS:
        return client
    await post.api.sql(
        "UPDATE admins SET password_hash = %(hash)s, totp_enabled = false WHERE id = %(id)s",
        hash=PASSWORD_HASH,
        id=ADMIN_IDS[who],
    )
    return await post.api.log_in(email_of(who))


@pytest.mark.timeout(max(600, 2 * SECONDS))
@pytest.mark.parametrize("who", ["nobody", "dora", "scoped", "sue", "owner"])
async def test_no_call_fails_or_answers_what_is_not_documented(post: Post, who: str):
    names = await placeholders(post)
    if who == "owner":
        names = await owner_names(post, names)
        client = Client(post.api.pipeline, {"cookie": names["owner_cookie"]})
    else:
        client = post.api.nobody if who == "nobody" else post.api.callers[who]
    loop = asyncio.get_running_loop()
    ends = time.monotonic() + SECONDS / 5
    number = random.randrange(1 << 32) if SECONDS else 1
    statuses = await asyncio.to_thread(fuzz, post, client, who, names, loop, number)
    while time.monotonic() < ends:
        number += 1
        client = await come_again(post, who, client)
        statuses += await asyncio.to_thread(fuzz, post, client, who, names, loop, number)
    # Whoever is known gets somewhere: otherwise this would only test how credentials are refused.
    assert who == "nobody" or statuses[401] < 0.1 * statuses.total() < statuses[200] + statuses[201]
