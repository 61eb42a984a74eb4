"""A request from the socket to the envelope: the order of refusals, limits, origins, cursors."""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.types import Message

from mailkeep.web.endpoint import Call
from tests.support.caller import Answer, Caller
from tests.web.pipeline_setup import ADA_KEY, API, BOB_KEY, JSON_TYPE, PipelineSetup, open_flows


@pytest.fixture
def setup() -> PipelineSetup:
    return PipelineSetup()


async def test_an_answer_is_an_envelope_with_its_headers(setup: PipelineSetup):
    answer = await setup.call("GET", f"{API}/open")
    assert set(answer.json) == {"data", "error", "meta"}
    assert answer.json["error"] is None
    assert answer.json["meta"] == {
        "request_id": answer.headers["x-request-id"],
        "timestamp": "2026-03-01T12:00:00.000Z",
    }
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", answer.headers["x-request-id"]
    )
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path, status", [("/open", 200), ("/nowhere", 404), ("/things", 401), ("/broken", 500)])
async def test_every_answer_has_the_security_headers(setup: PipelineSetup, path: str, status: int):
    answer = await setup.call("GET", API + path, {"x-request-id": "mine", "origin": "https://app.example"})
    assert answer.status == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-request-id"] != "mine"
    assert "access-control-allow-origin" not in answer.headers
    assert "vary" not in answer.headers


async def test_the_cause_of_a_bug_is_not_in_the_answer(setup: PipelineSetup):
    answer = await setup.call("GET", f"{API}/broken")
    assert (answer.status, answer.code, answer.json["error"]["details"]) == (500, "INTERNAL_ERROR", None)
    assert b"secret" not in answer.body


async def test_unavailable_has_retry_after(setup: PipelineSetup):
    answer = await setup.call("GET", f"{API}/away")
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "UNAVAILABLE", "2")


@pytest.mark.parametrize("headers", [{}, ADA_KEY, {"authorization": "Bearer wrong"}])
@pytest.mark.parametrize(
    "path",
    ["/", "/api", API, f"{API}/", f"{API}/nowhere", f"{API}/open/", f"{API}//open", f"{API}/things/a/b",
     f"{API}/things/", f"{API}/things/a%00b", f"{API}/things/a%0Ab", f"{API}/live", "/things"],
)  # fmt: skip
async def test_an_unknown_path_is_not_found_with_and_without_credentials(
    setup: PipelineSetup, path: str, headers: dict[str, str]
):
    answer = await setup.call("GET", path, headers)
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_an_unknown_method_is_refused_before_credentials(setup: PipelineSetup):
    answer = await setup.call("PUT", f"{API}/things")
    assert (answer.status, answer.code) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "GET, HEAD, POST"


async def test_paths_without_the_prefix(setup: PipelineSetup):
    for path in ("/open", f"{API}/open", "/live"):
        assert (await setup.call("GET", path)).status == 200


async def test_head_is_answered_as_get(setup: PipelineSetup):
    answer = await setup.call("HEAD", f"{API}/open")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert int(answer.headers["content-length"]) > 0
    assert (await setup.call("HEAD", f"{API}/echo")).status == 405


@pytest.mark.parametrize("host", ["mail.test/api/v1/open?", "mail.test/api/v1/open#", "[", "a@b:c", "", "\xff"])
async def test_the_host_header_does_not_affect_the_path(setup: PipelineSetup, host: str):
    answer = await setup.call("GET", f"{API}/things", {"host": host})
    assert (answer.status, answer.code) == (401, "AUTH_REQUIRED")


async def test_an_encoded_delimiter_is_part_of_its_segment(setup: PipelineSetup):
    answer = await setup.call("GET", f"{API}/things/a%3Fb%23%2Fc%25?", ADA_KEY)
    assert answer.data["path"] == {"id": "a?b#/c%"}


async def test_content_and_cookies_of_a_handler_are_unchanged(setup: PipelineSetup):
    answer = await setup.call("GET", f"{API}/text")
    assert (answer.body, answer.headers["content-type"]) == (b"hello", "text/plain; charset=utf-8")
    assert answer.headers.getlist("set-cookie") == ["a=1; Path=/", "b=2; Path=/"]


async def test_the_order_of_refusals(setup: PipelineSetup):
    """A call with everything wrong: each fix leads to the next refusal."""
    big = b"{" * ((1 << 20) + 1)

    async def send(headers: dict[str, str], body: bytes, method: str = "POST", path: str = "/things?x=1") -> Answer:
        return await setup.call(method, API + path, {"content-length": str(len(body))} | headers, [body])

    steps = [
        (await send({}, big, "POST", "/nowhere"), "NOT_FOUND"),
        (await send({}, big, "PUT"), "METHOD_NOT_ALLOWED"),
        (await send({}, big), "AUTH_REQUIRED"),
        (await send({"authorization": "Bearer svc_no"}, big), "API_KEY_INVALID"),
    ]
    setup.access.used_up = True
    steps.append((await send(BOB_KEY, big), "RATE_LIMIT_EXCEEDED"))
    setup.access.used_up = False
    steps += [
        (await send(BOB_KEY, big), "PAYLOAD_TOO_LARGE"),
        (await send(BOB_KEY, b"{}"), "UNSUPPORTED_MEDIA_TYPE"),
        (await send(BOB_KEY | JSON_TYPE, b"{"), "FORBIDDEN"),
        (await send(ADA_KEY | JSON_TYPE, b"{"), "INVALID_FIELD"),
        (await send(ADA_KEY | JSON_TYPE, b"{", path="/things"), "INVALID_JSON"),
        (await send(ADA_KEY | JSON_TYPE, b'{"nmae":1}', path="/things"), "MISSING_FIELDS"),
        (await send(ADA_KEY | JSON_TYPE, b'{"name":1}', path="/things"), "INVALID_FIELD"),
        (await send(ADA_KEY | JSON_TYPE, b'{"name":"a"}', path="/things"), "CONFLICT"),
    ]
    assert [answer.code for answer, _ in steps] == [code for _, code in steps]


async def test_refused_changes_of_known_callers_are_recorded(setup: PipelineSetup):
    await setup.post(f"{API}/things", {"name": "a"})
    await setup.post(f"{API}/things", {"name": "a"}, BOB_KEY)
    await setup.post(f"{API}/things", {"name": "a"}, ADA_KEY)
    await setup.post(f"{API}/echo", {"x": 1}, ADA_KEY)
    assert setup.access.recorded == ["thing.create FORBIDDEN", "thing.create CONFLICT"]


@pytest.mark.parametrize("announced", [str((1 << 20) + 1), "9" * 40])
async def test_a_too_large_content_length_is_refused_before_reading(setup: PipelineSetup, announced: str):
    def chunks() -> Iterator[bytes]:
        yield pytest.fail("it was read")

    headers = ADA_KEY | JSON_TYPE | {"content-length": announced}
    answer = await setup.call("POST", f"{API}/echo", headers, chunks())
    assert (answer.status, answer.code) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("announced", ["-1", "\xb2", "1e3", ""])
async def test_a_malformed_content_length_is_refused_before_reading(setup: PipelineSetup, announced: str):
    def chunks() -> Iterator[bytes]:
        yield pytest.fail("it was read")

    headers = ADA_KEY | JSON_TYPE | {"content-length": announced}
    answer = await setup.call("POST", f"{API}/echo", headers, chunks())
    assert (answer.status, answer.code) == (400, "BAD_REQUEST")
    assert answer.json["error"]["message"] == "Content-Length is not a number."


async def test_a_chunked_body_is_refused_when_it_grows_too_large(setup: PipelineSetup):
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(64):
            sent += 1
            yield b"[" * (64 << 10)

    answer = await setup.call("POST", f"{API}/echo", ADA_KEY | JSON_TYPE, chunks())
    assert (answer.status, answer.code) == (413, "PAYLOAD_TOO_LARGE")
    assert answer.json["error"]["details"] == {"limit": 1 << 20}
    assert sent == 17


async def test_a_route_may_have_its_own_body_limit(setup: PipelineSetup):
    setup.app.change("limits", message_size_mb=2)
    body = b'{"a":"' + b"x" * (1 << 20) + b'"}'
    answer = await setup.post(f"{API}/large", body, ADA_KEY)
    assert answer.code == "INVALID_FIELD"
    assert (await setup.post(f"{API}/large", b"x" * ((2 << 20) + 1), ADA_KEY)).status == 413


async def test_the_largest_body_is_accepted(setup: PipelineSetup):
    body = b'{"name":"' + b"x" * ((1 << 20) - 11) + b'"}'
    assert len(body) == 1 << 20
    assert (await setup.post(f"{API}/things", body, ADA_KEY)).code == "INVALID_FIELD"


@pytest.mark.parametrize(
    "headers, code",
    [
        ({}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "text/plain"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "application/x-www-form-urlencoded"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "multipart/form-data; boundary=x"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "application/jsonx"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "application/json; charset=utf-16"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "application/json", "content-encoding": "gzip"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "application/json", "content-encoding": "identity, gzip"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"content-type": "application/json", "content-encoding": "Identity"}, "CONFLICT"),
        ({"content-type": "application/json"}, "CONFLICT"),
        ({"content-type": "Application/JSON; Charset=UTF-8"}, "CONFLICT"),
        ({"content-type": 'application/json;charset="utf-8";'}, "CONFLICT"),
    ],
)
async def test_a_body_must_be_json_and_not_encoded(setup: PipelineSetup, headers: dict[str, str], code: str):
    answer = await setup.call("POST", f"{API}/things", ADA_KEY | headers, [b'{"name"', b':"a"}'])
    assert answer.code == code


@pytest.mark.parametrize("body, code", [(b"", None), (b"{}", None), (b"null", None), (b'{"x":1}', "INVALID_FIELD")])
async def test_a_call_without_fields_accepts_no_fields(setup: PipelineSetup, body: bytes, code: str | None):
    answer = await setup.post(f"{API}/echo", body, ADA_KEY)
    assert answer.code == code


async def test_a_missing_body_is_invalid_json(setup: PipelineSetup):
    assert (await setup.call("POST", f"{API}/things", ADA_KEY)).code == "INVALID_JSON"


async def test_a_client_that_stalls_within_a_body_is_refused(setup: PipelineSetup):
    setup.app.change("http", body_timeout_seconds=0.1)
    slow = await setup.call("POST", f"{API}/things", ADA_KEY | JSON_TYPE, [b"{", b"}"], pause=0.5)
    assert (slow.status, slow.code) == (400, "INVALID_JSON")

    def chunks() -> Iterator[bytes]:
        # The event loop is blocked meanwhile, so a pause of the machine does not count as the client's.
        for piece in [b" "] * 8 + [b'{"name":"a"}']:
            time.sleep(0.03)
            yield piece

    steady = await setup.call("POST", f"{API}/things", ADA_KEY | JSON_TYPE, chunks())
    assert steady.code == "CONFLICT"


async def test_rate_limit_headers(setup: PipelineSetup):
    by_address = await setup.call("GET", f"{API}/open")
    assert by_address.headers["ratelimit-limit"] == "1000"
    assert by_address.headers["ratelimit-remaining"] == "999"
    by_key = await setup.call("GET", f"{API}/things/a", ADA_KEY)
    assert [by_key.headers[f"ratelimit-{name}"] for name in ("limit", "remaining", "reset")] == ["60", "59", "30"]
    setup.access.used_up = True
    refused = await setup.call("GET", f"{API}/things/a", ADA_KEY)
    assert (refused.status, refused.headers["retry-after"]) == (429, "30")
    assert refused.headers["ratelimit-remaining"] == "0"


async def test_every_answer_is_measured(setup: PipelineSetup):
    await setup.call("GET", f"{API}/things/1", ADA_KEY)
    await setup.call("GET", f"{API}/things/1")
    await setup.call("GET", "/nowhere")
    assert [(seen.path, seen.status, seen.code) for seen in setup.meter.seen] == [
        ("/things/{id}", 200, None),
        ("/things/{id}", 401, "AUTH_REQUIRED"),
        ("other", 404, "NOT_FOUND"),
    ]
    assert setup.meter.flying == 0


async def test_other_asgi_scopes_are_ignored(setup: PipelineSetup):
    async def untouched(*_: Any) -> Any:
        raise AssertionError("not ours")

    await setup.pipeline({"type": "lifespan"}, untouched, untouched)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Collects garbage and disables the collector during the test."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def test_a_stream_that_is_cut_off_is_closed(setup: PipelineSetup, uncollected: None):
    cut, stuck = asyncio.Event(), asyncio.Event()
    whole: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if whole:
            return whole.pop()
        await cut.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":  # the client reads nothing
            stuck.set()
            await asyncio.Event().wait()

    scope = Caller(setup.pipeline).scope("GET", f"{API}/flow", {})
    answering = asyncio.create_task(setup.pipeline(scope, receive, send))
    async with asyncio.timeout(60):
        await stuck.wait()
        assert open_flows == ["flow"]
        cut.set()
        await answering
    assert open_flows == []


def _calls() -> int:
    return sum(isinstance(each, Call) for each in gc.get_objects())


@pytest.mark.parametrize(
    "path, body, status",
    [
        ("/large", b"{" + b" " * (2 << 20) + b"}", 200),
        ("/large", b"[" + b" " * (2 << 20), 400),
        ("/echo", b"{}", 200),
        ("/things", b'{"name": "a"}', 409),
        ("/things", b"{}", 400),
    ],
)
async def test_no_memory_of_a_call_is_held_after_its_answer(
    setup: PipelineSetup, uncollected: None, path: str, body: bytes, status: int
):
    """Its reservation in the memory budget is released by then."""
    before = _calls()
    for _ in range(3):
        assert (await setup.post(API + path, body, ADA_KEY)).status == status
    deadline = time.monotonic() + 30
    while _calls() > before and time.monotonic() < deadline:
        await asyncio.sleep(0.01)  # a thread releases its work a moment after the result
    assert _calls() <= before  # fewer if a thread of the test before did so now


async def test_only_the_first_hundred_unknown_parameters_are_reported():
    answer = await PipelineSetup().call("GET", f"{API}/open?" + "&".join(["x" * 300] * 1000))
    assert answer.code == "INVALID_FIELD"
    assert [len(fault["field"]) for fault in answer.json["error"]["details"]["fields"]] == [100] * 100
