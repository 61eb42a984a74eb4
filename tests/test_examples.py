"""Every example of the documentation, called as it stands against the whole router, answers what is documented.

Sue (super_admin) calls, and the owner of a mailbox what is below /me; `{name}` stands for the rows that
`Api.placeholders` makes, for a message, its event and its catch in the sandbox. Each call that changes something has a
database of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator
from psycopg.conninfo import conninfo_to_dict

from mailkeep.backup import restic
from mailkeep.db.postgres import Urls
from mailkeep.features.operations.certificates import service as certificates
from mailkeep.features.operations.orchestrator import service as orchestrator
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.net import mta_sts
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.settings import Settings
from mailkeep.web.endpoint import PREFIX, XML, Endpoint, Example
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.mailflow.queue.stand_in import answering, waiting
from tests.plugins.api import NO_RATE_LIMITS, running_on
from tests.plugins.post import Post, open_post, with_mail
from tests.support.autodiscover import outlook_request
from tests.support.caller import Answer, Caller
from tests.support.client import cookie_of, token_of
from tests.support.junk import insert_junk
from tests.support.openapi import openapi_document

pytestmark = pytest.mark.usefixtures("unhurried")

EXAMPLES = [(endpoint, example) for endpoint in ENDPOINTS for example in endpoint.examples]
READING = [each for each in EXAMPLES if each[0].method == "GET"]
CHANGING = [each for each in EXAMPLES if each[0].method != "GET"]


OWN_PATHS = {endpoint.path for endpoint in ENDPOINTS if endpoint.path == "/me" or endpoint.path.startswith("/me/")}
FACTOR_CHANGES = {("DELETE", "/me/totp"), ("POST", "/me/totp/recovery-codes")}


async def owner_names(post: Post, names: dict[str, str]) -> dict[str, str]:
    """The names for endpoints of the owner of the examples' mailbox; kept in `names` with the prefix `owner_`."""
    if "owner_cookie" not in names:
        owner, own = await post.api.owner_placeholders(UUID(names["mailbox_id"]))
        names |= {f"owner_{name}": value for name, value in own.items()} | {"owner_cookie": owner.headers["cookie"]}
    own = {name.removeprefix("owner_"): value for name, value in names.items() if name.startswith("owner_")}
    return names | own


async def placeholders(post: Post) -> dict[str, str]:
    attached = [{"filename": "order.txt", "content_type": "text/plain", "content": "b25lIHNvZmE="}]
    sent = await post.send(html_body="<p>It is on its way.</p>", attachments=attached)
    assert sent.status == 200, sent.body
    scheduled = [(await post.send(scheduled_at="2026-03-02T12:00:00Z")).data["id"] for _ in range(2)]

    async def finished(address: str) -> str:
        message_id = (await post.send(to=[{"email": address}])).data["id"]
        await post.run_queue()
        return message_id

    caught = await post.caught()
    event = (await post.api.sql("SELECT id FROM events ORDER BY id LIMIT 1"))[0]
    operation = await post.api.sql(
        """
        INSERT INTO orchestrator_operations (id, kind, service, state, author, created_at, steps)
        VALUES (gen_random_uuid(), 'restart', 'dovecot', 'succeeded', 'sue', now(), '[]') RETURNING id
        """
    )
    made = {
        "operation_id": str(operation[0]["id"]),
        "plan_id": (await orchestrator.make_plan(post.api.app)).id,
        "message_id": sent.data["id"],
        "scheduled_id": scheduled[0],
        "cancellable_id": scheduled[1],
        "bounced_id": await finished("bounce@elsewhere.test"),
        "deferred_id": await finished("defer@elsewhere.test"),
        "sandbox_id": caught[0]["id"],
        "event_id": str(event["id"]),
    }
    names = await post.api.placeholders()
    made["junk_id"] = str((await insert_junk(post.api, UUID(names["mailbox_id"]))).id)
    return names | made


def fill(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, meant in names.items():
            value = value.replace(f"{{{name}}}", meant)
        assert "{" not in value.replace("{{", ""), value
    elif isinstance(value, list):
        value = [fill(each, names) for each in value]
    elif isinstance(value, dict):
        value = {name: fill(each, names) for name, each in value.items()}
    return value


async def run(post: Post, endpoint: Endpoint, example: Example, names: dict[str, str]) -> Answer:
    names = await complete_names(post, endpoint, names)
    if (endpoint.method, endpoint.path) in FACTOR_CHANGES or endpoint.action == "factor.change":
        await post.api.sql("UPDATE totp_secrets SET enabled_at = created_at")  # the caller's second factor is enabled
    if endpoint.tag == "Queue":
        async with answering(post.api.app, pytest.MonkeyPatch(), [waiting(1)]):
            return await ask(post, endpoint, example, names)
    if endpoint.path.endswith("/mail.mobileconfig"):
        async with agent(post, {"client_setup.sign": {"profile": "c2lnbmVk"}}):
            return await ask(post, endpoint, example, names)
    if endpoint.path.startswith(("/mailboxes/{id}/sieve", "/me/sieve")):
        script = {"name": "main", "active": False, "text": "keep;", "tag": '"1"'}
        done = {"outcome": "done", "active": False, "tag": '"1"', "errors": [], "warnings": []}
        results = {"sieve.list": {"scripts": [script]}, "sieve.get": {"script": script}, "sieve.change": done}
        async with agent(post, results):
            return await ask(post, endpoint, example, names)
    if endpoint.path.startswith("/sieve/") and not shutil.which("sieve-test"):
        pytest.skip("Pigeonhole is not installed")
    if endpoint.path == mta_sts.PATH:
        await post.api.sql("UPDATE domains SET mta_sts_mode = 'testing' WHERE name = 'example.test'")
        settings = post.api.app.settings
        post.api.app.settings = replace(settings, server=replace(settings.server, hostname="mail.example.test"))
    if endpoint.path == "/orchestrator/confirm":
        await post.api.sql("UPDATE orchestrator_operations SET state = 'succeeded'")  # those of other examples
        await post.api.sql(
            """
            INSERT INTO orchestrator_operations (id, kind, state, author, created_at, steps, confirm_until)
            VALUES (gen_random_uuid(), 'apply', 'running', 'sue', now(), '[]', now() + interval '1 day')
            """
        )
    if endpoint.path == "/orchestrator/rollback":
        generation = {"n": 12, "created_at": post.api.app.clock().isoformat(), "revision": 0}
        overview = {"services": [], "generation": generation, "generations": [generation]}
        async with agent(post, {"orchestrator.services": overview, "orchestrator.prepare": {"refusal": None}}):
            return await ask(post, endpoint, example, names)
    if endpoint.path == "/certificates/account-key":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(certificates, "change_account_key", change_nothing)
            return await ask(post, endpoint, example, names)
    if endpoint.path.startswith("/orchestrator/services/"):
        settings = post.api.app.settings
        post.api.app.settings = replace(settings, mta=replace(settings.mta, mode="postfix"))
        post.api.app.running_services = lambda: {"dovecot": True}
    return await ask(post, endpoint, example, names)


async def complete_names(post: Post, endpoint: Endpoint, names: dict[str, str]) -> dict[str, str]:
    """The names for an endpoint. Of backups without operations of other examples, or with the one to be cancelled."""
    if endpoint.path in OWN_PATHS:
        return await owner_names(post, names)
    if not endpoint.path.startswith("/backups"):
        return names
    if not restic.find_program():
        pytest.skip("restic is not installed")
    await post.api.sql("DELETE FROM backup_operations")
    is_cancel = endpoint.path.endswith("/cancel")
    return names | ({"running_backup_id": str(await post.api.running_backup())} if is_cancel else {})


async def change_nothing(*_: object) -> None:
    """Without an authority."""


@contextlib.asynccontextmanager
async def agent(post: Post, results: Mapping[str, Mapping[str, Any]]) -> AsyncIterator[None]:
    """The full profile with a process `node` that answers with these results."""
    app = post.api.app
    before = app.settings
    app.settings = replace(before, mta=replace(before.mta, mode="postfix"))

    async def answer(result: Mapping[str, Any], _: Mapping[str, Any]) -> Mapping[str, Any]:
        return result

    async def work() -> None:
        while True:
            if not await node_tasks.run_next(app, {kind: partial(answer, each) for kind, each in results.items()}):
                await asyncio.sleep(0.01)

    working = asyncio.create_task(work())
    yield
    await cancel_all(working)
    app.settings = before


async def ask(post: Post, endpoint: Endpoint, example: Example, names: dict[str, str]) -> Answer:
    call = Caller(Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL))
    path = endpoint.path
    for name, value in example.path.items():
        path = path.replace(f"{{{name}}}", quote(fill(value, names), safe=""))
    query = urlencode(fill(dict(example.query), names))
    target = (PREFIX if endpoint.prefixed else "") + path + (f"?{query}" if query else "")
    headers = {"cookie": names["owner_cookie"] if endpoint.path in OWN_PATHS else cookie_of(token_of("sue"))}
    if endpoint.path == mta_sts.PATH:
        headers["host"] = "mta-sts.example.test"
    if endpoint.tag == "Client setup" and not example.path:
        headers["host"] = "autoconfig.example.test"
    if endpoint.raw_body == XML:
        return await call(endpoint.method, target, headers | {"content-type": XML[0]}, [outlook_request()])
    if example.body is None:
        return await call(endpoint.method, target, headers)
    body = json.dumps(fill(example.body, names)).encode()
    return await call(endpoint.method, target, headers | {"content-type": "application/json"}, [body])


def check(endpoint: Endpoint, answer: Answer) -> None:
    assert answer.status == endpoint.status, answer.body
    assert answer.headers["content-type"].partition(";")[0] == endpoint.content
    if not endpoint.documented or endpoint.content != "application/json":
        return
    operation = openapi_document()["paths"][endpoint.path][endpoint.method.lower()]
    schema = operation["responses"][str(endpoint.status)]["content"]["application/json"]["schema"]
    whole = {**schema, "components": openapi_document()["components"]}
    Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(answer.json)


def named(each: Any) -> str:
    return f"{each.method} {each.path}" if isinstance(each, Endpoint) else "example"


@dataclass(frozen=True)
class Furnished:
    """A database and a data directory with everything that the examples name."""

    database: str
    data_dir: Path
    settings: Settings
    names: dict[str, str]


@pytest.fixture(scope="module")
async def furnished(
    make_database: Callable[[str], Urls],
    drop_database: Callable[[Urls], None],
    users_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Furnished]:
    urls, folder = make_database(users_template), tmp_path_factory.mktemp("furnished")
    async with running_on(urls, NO_RATE_LIMITS, folder) as api, open_post(api) as post:
        names = await placeholders(post)
    yield Furnished(str(conninfo_to_dict(urls.app)["dbname"]), folder, api.app.settings, names)
    drop_database(urls)


@pytest.fixture
async def copied(
    furnished: Furnished,
    make_database: Callable[[str], Urls],
    drop_database: Callable[[Urls], None],
    tmp_path: Path,
) -> AsyncIterator[Post]:
    """`post` with a copy of `furnished`: making its rows costs more than most examples."""
    urls = make_database(furnished.database)
    shutil.copytree(furnished.data_dir, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("tmp"))
    async with running_on(urls, furnished.settings, tmp_path) as api, with_mail(api) as post:
        yield post
    drop_database(urls)


@pytest.mark.parametrize("endpoint, example", CHANGING, ids=named)
async def test_an_example_that_changes_something(
    furnished: Furnished, copied: Post, endpoint: Endpoint, example: Example
):
    check(endpoint, await run(copied, endpoint, example, dict(furnished.names)))


async def test_the_examples_that_read(post: Post):
    names = await placeholders(post)
    for endpoint, example in READING:
        check(endpoint, await run(post, endpoint, example, names))
