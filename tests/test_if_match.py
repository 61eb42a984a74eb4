"""Entity tags (RFC 9110 §8.8.3) and If-Match (§13.1.1): a change of an object that has changed since it was read is
refused, and changes nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from mailkeep.run.runtime.router import ENDPOINTS
from mailkeep.web.endpoint import Endpoint
from tests.plugins.post import Post
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, SESSION_IDS, Api
from tests.test_examples import fill

pytestmark = pytest.mark.usefixtures("unhurried")

CHANGES = [each for each in ENDPOINTS if each.method in ("PATCH", "PUT", "DELETE")]
SINGLE = {each.path for each in ENDPOINTS if each.method == "GET" and each.documented and each.path.endswith("}")}
# Scripts need the process `node`: tests/directory/sieve.
VERSIONED = [each for each in CHANGES if each.versioned and "{id}" in each.path and each.tag != "Sieve"]
OTHER_VERSION = '"0"'


def name_of(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


async def call(
    api: Api, endpoint: Endpoint, values: dict[str, str], if_match: str, body: Mapping[str, Any] | None = None
) -> Answer:
    example = endpoint.examples[0]
    path = endpoint.path.format_map({name: fill(value, values) for name, value in example.path.items()})
    filled = None if example.body is None else fill(example.body if body is None else body, values)
    return await api.sue(endpoint.method, path, filled, headers={"if-match": if_match})


def test_an_object_that_can_be_read_and_changed_has_a_version() -> None:
    changeable = {each.path for each in CHANGES} & SINGLE
    assert changeable <= {each.path for each in CHANGES if each.versioned}
    for path in changeable:
        methods = {each.method for each in ENDPOINTS if each.path == path}
        assert {each.method for each in ENDPOINTS if each.path == path and each.versioned} == methods


@pytest.mark.parametrize("endpoint", VERSIONED, ids=name_of)
async def test_a_change_of_another_version_is_refused(post: Post, endpoint: Endpoint) -> None:
    api = post.api
    values = await api.placeholders()
    values["scheduled_id"] = (await post.send(scheduled_at="2026-03-02T12:00:00Z")).data["id"]
    object_path = endpoint.path.format_map(fill(dict(endpoint.examples[0].path), values))
    before = await api.sue.get(object_path)
    tag = before.headers["etag"]
    refused = await call(api, endpoint, values, OTHER_VERSION)
    assert (refused.status, refused.code) == (412, "PRECONDITION_FAILED")
    assert refused.json["error"]["details"] == {"expected": OTHER_VERSION, "actual": tag}
    after = await api.sue.get(object_path)
    assert (after.data, after.headers["etag"]) == (before.data, tag)
    api.clock.advance(seconds=1)
    changed = await call(api, endpoint, values, f'W/"x", {tag}')
    assert changed.status == endpoint.status, changed.body
    if endpoint.method == "PATCH":
        # The example of some changes nothing; the version of a scheduled message has no field of its own.
        is_same = "updated_at" in before.data and changed.data["updated_at"] == before.data["updated_at"]
        assert (changed.headers["etag"] == tag) == is_same
        assert (await api.sue.get(object_path)).headers["etag"] == changed.headers["etag"]
        assert (await call(api, endpoint, values, tag)).status == (200 if is_same else 412)


@pytest.mark.parametrize(
    "endpoint", [each for each in CHANGES if not each.versioned and each.path != "/config"], ids=name_of
)
async def test_an_object_without_a_version_matches_no_tag(api: Api, endpoint: Endpoint) -> None:
    path = endpoint.path.replace("{id}", str(SESSION_IDS["sue"]))
    client = await api.owner(await api.mailbox()) if path.startswith("/me/") else api.sue
    refused = await client(endpoint.method, path, _any_body(endpoint), headers={"if-match": '"1"'})
    assert (refused.status, refused.json["error"]["details"]["actual"]) == (412, None)


def _any_body(endpoint: Endpoint) -> Any:
    if not endpoint.examples:
        return None
    return json.loads(json.dumps(endpoint.examples[0].body).replace("{domain_id}", str(DOMAIN_IDS[EXAMPLE])))


@pytest.mark.parametrize("value", ["", "61f0", '"open', '"a" "b"', "W/*", '"a",,"b"', '*, "a"'])
async def test_a_malformed_condition_is_refused(api: Api, value: str) -> None:
    answer = await api.sue(
        "PATCH", f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"description": "x"}, headers={"if-match": value}
    )
    assert (answer.status, answer.code) == (400, "INVALID_FIELD")


@pytest.mark.parametrize("value", ["*", " * "])
async def test_a_star_matches_every_version(api: Api, value: str) -> None:
    answer = await api.sue(
        "PATCH", f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"description": "x"}, headers={"if-match": value}
    )
    assert answer.status == 200


async def test_a_weak_tag_never_matches(api: Api) -> None:
    path = f"/domains/{DOMAIN_IDS[EXAMPLE]}"
    tag = (await api.sue.get(path)).headers["etag"]
    answer = await api.sue("PATCH", path, {"description": "x"}, headers={"if-match": f"W/{tag}"})
    assert answer.status == 412


async def test_who_may_not_change_an_object_does_not_learn_its_version(api: Api) -> None:
    path = f"/mailboxes/{await api.mailbox(f'x@{OTHER}')}"
    answer = await api.dora("PATCH", path, {"name": "x"}, headers={"if-match": OTHER_VERSION})
    assert (answer.status, answer.code) == (403, "FORBIDDEN")


async def test_of_two_concurrent_changes_of_a_version_one_succeeds(api: Api) -> None:
    for path, body in (
        (f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"description": "{}"}),
        (f"/mailboxes/{await api.mailbox()}", {"name": "{}"}),
        (f"/aliases/{await api.alias(f'info@{EXAMPLE}', [f'alice@{EXAMPLE}'])}", {"destination": "{}@elsewhere.test"}),
        (f"/webhooks/{await api.webhook()}", {"url": "https://{}.example/hook"}),
        (f"/admins/{ADMIN_IDS['otto']}", {"email": "{}@elsewhere.test"}),
    ):
        headers = {"if-match": (await api.sue.get(path)).headers["etag"]}
        api.clock.advance(seconds=1)
        bodies = [{name: value.format(f"change-{number}") for name, value in body.items()} for number in range(4)]
        answers = await asyncio.gather(*(api.sue("PATCH", path, each, headers=headers) for each in bodies))
        assert sorted(each.status for each in answers) == [200, 412, 412, 412], path


async def test_counters_do_not_change_the_version(api: Api) -> None:
    mailbox_id = await api.mailbox()
    tag = (await api.sue.get(f"/mailboxes/{mailbox_id}")).headers["etag"]
    await api.sql("UPDATE mailboxes SET used_bytes = 7, message_count = 1 WHERE id = %(id)s", id=mailbox_id)
    assert (await api.sue.get(f"/mailboxes/{mailbox_id}")).headers["etag"] == tag


async def test_a_created_object_has_its_version_in_the_response(api: Api) -> None:
    created = await api.sue.post("/domains", {"name": "new.test"})
    assert created.headers["etag"] == (await api.sue.get(f"/domains/{created.data['id']}")).headers["etag"]
