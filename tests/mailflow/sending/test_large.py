"""Large messages: exact to the byte at the limit, identical at the other end, on the way as slices of the body."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from mailkeep.settings import Settings
from mailkeep.settings.tree import AbuseSettings, LimitsSettings, SmtpSettings
from tests.plugins.post import Post, letter
from tests.support.caller import Answer, Caller
from tests.support.client import cookie_of, token_of

MIB = 1 << 20
PIECE = 256 << 10
HEADERS = {"content-type": "application/json", "cookie": cookie_of(token_of("sue"))}


@pytest.fixture
def api_settings() -> Settings:
    """Nobody sends too much."""
    return Settings(
        limits=LimitsSettings(login_per_second=0, requests_per_second=0),
        smtp=SmtpSettings(listen="127.0.0.1:0"),
        abuse=AbuseSettings(sender_per_hour=1_000_000, domain_per_hour=1_000_000),
    )


async def send_raw(post: Post, body: bytes, path: str = "/api/v1/send") -> Answer:
    """A POST in pieces, as they come from a socket."""
    pieces = [body[at : at + PIECE] for at in range(0, len(body), PIECE)]
    headers = HEADERS | {"content-length": str(len(body))}
    return await Caller(post.api.pipeline)("POST", path, headers, pieces)


def attached(content: str, name: str = "big.bin") -> dict[str, Any]:
    return {"filename": name, "content_type": "application/octet-stream", "content": content}


def text_of(octets: int) -> str:
    """Text of this many octets on the wire, without its last line break."""
    return ("y" * 70 + "\n") * (octets // 72) + "z" * (octets % 72)


async def content_of(post: Post, name: str = "big.bin") -> bytes:
    """The bytes of the named attachment of the message caught last."""
    caught = (await post.caught())[0]
    raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
    return base64.b64decode(raw.partition(f'filename="{name}"\r\n\r\n'.encode())[2].partition(b"\r\n--")[0])


async def test_37_mib_are_taken_up_to_the_last_byte_of_the_limit(post: Post):
    data = random.Random(37).randbytes(37 * MIB)
    content = base64.b64encode(data).decode()
    limit = post.api.app.settings.limits.message_size_bytes

    def body(octets: int) -> bytes:
        return json.dumps(letter(text_body=text_of(octets), attachments=[attached(content)])).encode()

    refused = await send_raw(post, body(MIB))
    assert (refused.status, refused.code) == (413, "PAYLOAD_TOO_LARGE")
    limits = refused.json["error"]["details"]
    assert limits["limit"] == limit == 50 * MIB
    fits = MIB - (limits["size"] - limit)
    over = await send_raw(post, body(fits + 1))
    assert (over.status, over.json["error"]["details"]["size"]) == (413, limit + 1)
    assert (await send_raw(post, body(fits))).status == 200
    assert await content_of(post) == data


async def test_a_body_over_its_limit_is_refused_before_it_is_read(post: Post):
    limit = post.api.app.settings.limits.message_size_bytes * 3 // 2
    read = 0

    def pieces():
        nonlocal read
        while True:
            read += 1
            yield b" " * PIECE

    call = Caller(post.api.pipeline)
    announced = await call("POST", "/api/v1/send", HEADERS | {"content-length": str(limit + 1)}, pieces())
    assert (announced.code, read) == ("PAYLOAD_TOO_LARGE", 0)
    unannounced = await call("POST", "/api/v1/send", HEADERS, pieces())
    assert unannounced.code == "PAYLOAD_TOO_LARGE"
    assert read * PIECE <= limit + 2 * PIECE


@pytest.mark.parametrize("size", [1000, 300_000])
async def test_content_with_escapes_arrives_just_the_same(post: Post, size: int):
    data = random.Random(size).randbytes(size)
    lines = base64.encodebytes(data).decode()
    body = json.dumps(letter(attachments=[attached(lines)])).replace("/", "\\/").replace("A", "\\u0041")
    assert (await send_raw(post, body.encode())).status == 200
    assert await content_of(post) == data


@pytest.mark.parametrize("size", [1000, 300_000])
@pytest.mark.parametrize(
    "broken,code",
    [
        ("\n", "INVALID_JSON"),
        ("\r", "INVALID_JSON"),
        ("\\x", "INVALID_JSON"),
        ("\\ud800", "INVALID_JSON"),
        ("\\n", None),
        ("\\t", "INVALID_FIELD"),
        ("%", "INVALID_FIELD"),
        ("=", "INVALID_FIELD"),
        ("é", "INVALID_FIELD"),
        (" ", "INVALID_FIELD"),
    ],
)
async def test_what_is_no_base64_is_refused_at_any_size(post: Post, size: int, broken: str, code: str | None):
    body = json.dumps(letter(attachments=[attached("AAAA" * (size // 4) + "@" + "AAAA")])).replace("@", broken, 3)
    body = body.replace(f"shop{broken}", "shop@").replace(f"customer{broken}", "customer@")
    answer = await send_raw(post, body.encode())
    assert answer.code == code, answer.body
    if code == "INVALID_FIELD":
        assert answer.json["error"]["details"]["fields"][0]["field"] == "attachments[0].content"


async def test_other_large_strings_are_read_as_ever(post: Post):
    """In a large body, strings of more than 32 KiB are cut out, which makes no difference but where one is a key."""
    long = "word " * 8000
    sent = await post.send(text_body=long, html_body=f"<p>{long}</p>", headers={"X-Long": long.strip()})
    assert sent.status == 200, sent.body
    assert (await post.send(text_body=long, html_body=long, **{"from": {"email": long}})).code == "INVALID_SENDER"
    assert (await post.send(text_body=long, html_body=long, to=[{"email": long}])).code == "INVALID_RECIPIENT"
    assert (await post.send(text_body=long, html_body=long, subject=long)).code == "INVALID_FIELD"
    assert (await post.send(text_body=long, html_body=long, **{long: 1})).code == "INVALID_JSON"


@pytest.mark.parametrize("many", ['"",', "[],", '"a",{"b":1},'])
async def test_a_body_of_countless_values_is_refused_at_once(post: Post, many: str):
    """Each of them would take up to fifty times its place in memory."""
    answer = await send_raw(post, ("[" + many * (60 * MIB // len(many)) + "1]").encode())
    assert answer.code == "INVALID_JSON"


async def test_a_batch_of_many_recipients_is_written_in_groups_in_order(post: Post):
    messages = [
        letter(subject=f"number {n}", to=[{"email": f"a{k}@elsewhere.test"} for k in range(300 + 100 * n)])
        for n in range(6)
    ]
    messages[4]["to"] = [{"email": "no address"}]
    answer = await send_raw(post, json.dumps({"messages": messages}).encode(), "/api/v1/send/batch")
    assert answer.status == 200, answer.body
    results = answer.data["results"]
    assert [(each["index"], each.get("code")) for each in results] == [
        (index, "INVALID_RECIPIENT" if index == 4 else None) for index in range(6)
    ]
    assert [len(each.get("recipients") or ()) for each in results] == [300, 400, 500, 600, 0, 800]
    rows = await post.api.sql("SELECT subject, batch_index FROM messages ORDER BY batch_index")
    assert [(row["subject"], row["batch_index"]) for row in rows] == [(f"number {n}", n) for n in (0, 1, 2, 3, 5)]
