"""Traps of Unicode, JSON and Python's own parsers, sprung over HTTP and SMTP: each is a refusal, none a bypass."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api, Client, cookie_of, token_of

SHARP, DOUBLE = "xn--fa-hia.de", "fass.de"
MEGABYTE = 1 << 20
DOMAIN_ID = str(DOMAIN_IDS[EXAMPLE])


async def make(client: Client, path: str, **body: Any) -> str:
    answer = await client.post(path, body)
    assert answer.status == 201, answer.body
    return answer.data["id"]


def outcome(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.code


# Domains: IDNA2008, where `faß.de` and `fass.de` are two; nothing is mapped into another name


async def test_a_domain_with_sharp_s_is_another_than_one_with_two(post: Post):
    sharp = await make(post.api.sue, "/domains", name="faß.de")
    double = await make(post.api.sue, "/domains", name="fass.de")
    assert sharp != double
    assert (await post.api.sue.get(f"/domains/{sharp}")).data["name"] == SHARP
    assert (await post.api.sue.get(f"/domains/{sharp}")).data["unicode_name"] == "faß.de"
    for name in ("faß.de", SHARP, "XN--FA-HIA.DE", "FASS.DE"):
        assert outcome(await post.api.sue.post("/domains", {"name": name})) == (409, "DOMAIN_EXISTS")
    there = await make(post.api.sue, "/mailboxes", domain_id=sharp, local_part="ute", password_hash="{SHA}x")
    here = await make(post.api.sue, "/mailboxes", domain_id=double, local_part="ute", password_hash="{SHA}x")
    await post.deliver("ute@faß.de", utf8=True)
    await post.deliver(f"ute@{SHARP}")
    await post.deliver("ute@fass.de")
    assert [len(post.mail_of(UUID(box))) for box in (there, here)] == [2, 1]


async def test_who_has_one_of_them_does_not_send_from_the_other(post: Post):
    await make(post.api.sue, "/domains", name="faß.de")
    double = await make(post.api.sue, "/domains", name="fass.de")
    await post.api.sql("UPDATE admin_domains SET domain_id = %(id)s", id=UUID(double))
    key, _ = await post.api.key(post.api.sue, scoped_domain_ids=[double])
    for sender in ("shop@faß.de", f"shop@{SHARP}"):
        body = letter(**{"from": {"email": sender}})
        assert outcome(await post.api.dora.post("/send", body)) == (403, "FORBIDDEN")
        assert outcome(await key.post("/send", body)) == (403, "API_KEY_DOMAIN_SCOPE")
    body = letter(**{"from": {"email": "shop@fass.de"}})
    assert [(await who.post("/send", body)).status for who in (post.api.dora, key)] == [200, 200]


async def test_an_unmanaged_domain_is_not_taken_for_its_look_alike(post: Post):
    await make(post.api.sue, "/domains", name="fass.de")
    answer = await post.send(**{"from": {"email": "shop@faß.de"}})
    assert outcome(answer) == (403, "DOMAIN_NOT_FOUND")
    result = await post.deliver("ute@faß.de", utf8=True)
    assert result.refused["ute@faß.de"][0] == 554


LOOK_ALIKES = (
    "exam\u00adple.test",  # soft hyphen
    "ｅｘａｍｐｌｅ.test",
    "example\uff0etest",  # full-width dot
    "example\u3002test",  # ideographic dot
    "e\u200dxample.test",  # zero width joiner
    "\u212aelvin.test",  # KELVIN SIGN
    "ﬁne.test",  # ligature
    "Ünicode.test",
    "u\u0308nicode.test",  # not composed
    "xn--.test",
    "xn--a.test",
    "xn--fass-.de",
    "example..test",
    "-example.test",
    "127.0.0.1",
    "[127.0.0.1]",
    "example.test\x00",
    "example.test\n",
)


async def test_look_alikes_are_refused_and_never_mapped(post: Post):
    for name in LOOK_ALIKES:
        sue = post.api.sue
        alias = {"domain_id": DOMAIN_ID, "source_local_part": "x", "destination": f"a@{name}"}
        answers = {
            "INVALID_FIELD": [
                await sue.post("/domains", {"name": name}),
                await sue.post("/aliases", alias),
                await sue.get("/routing/explain", address=f"a@{name}"),
            ],
            "INVALID_SENDER": [await post.send(**{"from": {"email": f"shop@{name}"}})],
            "INVALID_RECIPIENT": [await post.send(to=[{"email": f"a@{name}"}])],
        }
        for code, refused in answers.items():
            for answer in refused:
                assert outcome(answer) == (400, code), (name, answer.body)


# Local parts: NFC and full case folding, the same here and in the SQL that mail runs through

FOLDED = (
    ("straße", ("strasse", "STRASSE", "STRAẞE", "Straße", "stra\u1e9ee")),
    ("ﬀ", ("ff", "FF")),
    ("café", ("cafe\u0301", "CAFÉ", "CAFE\u0301")),
    ("ΣΑΣ", ("σας", "σασ", "ΣΑσ")),
    ("\u212aelvin", ("kelvin", "KELVIN")),
    ("İx", ("i\u0307x",)),
)


async def test_aliases_are_reached_under_every_folding(post: Post):
    for number, (source, others) in enumerate(FOLDED):
        box = await make(
            post.api.sue, "/mailboxes", domain_id=DOMAIN_ID, local_part=f"box{number}", password_hash="{SHA}x"
        )
        to = f"box{number}@{EXAMPLE}"
        await make(post.api.sue, "/aliases", domain_id=DOMAIN_ID, source_local_part=source, destination=to)
        for other in others:
            again = {"domain_id": DOMAIN_ID, "source_local_part": other, "destination": to}
            answer = await post.api.sue.post("/aliases", again)
            assert (*outcome(answer), answer.json["error"]["details"]["reason"]) == (409, "CONFLICT", "source_taken")
            explained = (await post.api.sue.get("/routing/explain", address=f"{other}@{EXAMPLE}")).data
            assert [place["mailbox_id"] for place in explained["deliveries"]] == [box], other
            assert (await post.deliver(f"{other}@{EXAMPLE}", utf8=True)).code == 250, other
        assert len(post.mail_of(UUID(box))) == len(others)


async def test_what_folds_otherwise_is_another(post: Post):
    """A Turkish dotless i is no i, a long vowel no short one."""
    for source in ("ix", "ıx", "ο", "o", "u", "ü"):
        await make(post.api.sue, "/mailboxes", domain_id=DOMAIN_ID, local_part=source, password_hash="{SHA}x")


# JSON, also where a body is so large that it is read another way

BROKEN = (
    b'{"x": NaN}',
    b'{"x": Infinity}',
    b'{"x": -Infinity}',
    b'{"x": 1e400}',
    b'{"x": 1, "x": 1}',
    b'{"x": {"y": 1, "y": 1}}',
    b'{"x": "\\ud800"}',
    b'{"x": "\\udc00\\ud800"}',
    b'{"\\ud800": 1}',
    b'{"x": "\xff"}',
    b'{"x": "\xed\xa0\x80"}',
    b'{"x": "\xc0\xaf"}',
    b"\xef\xbb\xbf{}",
    '{"x": 1}'.encode("utf-16"),
    '{"x": 1}'.encode("utf-16-le"),
    '{"x": 1}'.encode("utf-32"),
    b"[" * 100_000,
    b'{"x": ' + b"[" * 1000 + b"]" * 1000 + b"}",
    b'{"x": ' + b'{"x": ' * 65 + b"1" + b"}" * 66,
    b'{"x": ' + b"9" * 5000,
    b'{"x": 01}',
    b'{"x": +1}',
    b'{"x": .5}',
    b'{"x": 1_0}',
    "{“x”: 1}".encode(),
    '{"x": １}'.encode(),
    b'{"x": "a\nb"}',
    b'{"x": 1}\x00',
    b'{"x": 1} {}',
    b"{'x': 1}",
    b'{"x": tru',
    b"/**/{}",
    b"",
    b"\x00",
)


async def test_what_is_not_strict_json_is_invalid_json(api: Api):
    for body in BROKEN:
        for path in ("/domains", "/send"):
            assert outcome(await api.sue.post(path, body)) == (400, "INVALID_JSON"), (path, body[:50])
        if body.startswith(b'{"x"') and body.endswith(b"}"):
            large = b'{"text_body": "' + b"a" * MEGABYTE + b'", ' + body[1:]
            assert outcome(await api.sue.post("/send", large)) == (400, "INVALID_JSON"), body[:50]


WRONG_VALUES = (
    ("max_mailboxes", "true"),
    ("max_mailboxes", "1.5"),
    ("max_mailboxes", '"1"'),
    ("max_mailboxes", "1e3"),
    ("max_mailboxes", "9" * 30),
    ("max_mailboxes", "-1"),
    ("max_mailboxes", "9223372036854775808"),
    ("active", "1"),
    ("active", '"true"'),
    ("description", '"a\\u0000b"'),
    ("description", '"a\\u001bb"'),
    ("description", "[]"),
    ("description", "5"),
    ("nmae", '"x"'),
    ("Name", '"x"'),
    ("__proto__", "{}"),
    ("", "1"),
)


async def test_values_of_another_type_or_range_are_refused(api: Api):
    for field, value in WRONG_VALUES:
        body = f'{{"name": "new.test", {json.dumps(field)}: {value}}}'.encode()
        assert outcome(await api.sue.post("/domains", body)) == (400, "INVALID_FIELD"), body
    assert not await api.sql("SELECT FROM domains WHERE name = 'new.test'")


async def test_a_misspelt_scope_makes_no_key_to_all_domains(api: Api):
    for field in ("scoped_domains", "scoped_domain_id", "Scoped_domain_ids", "scoped_domain_ids "):
        answer = await api.sue.post("/api-keys", {"name": "k", field: [DOMAIN_ID]})
        assert outcome(answer) == (400, "INVALID_FIELD"), field
    for value in (DOMAIN_ID, {DOMAIN_ID: 1}, [[DOMAIN_ID]], [None], [""], True):
        answer = await api.sue.post("/api-keys", {"name": "k", "scoped_domain_ids": value})
        assert outcome(answer) == (400, "INVALID_FIELD"), value


# Python's parsers take more than they should

PLAIN_ID = UUID(DOMAIN_ID)
ODD_IDS = (
    DOMAIN_ID.upper(),
    DOMAIN_ID.replace("-", ""),
    f"{{{DOMAIN_ID}}}",
    f"urn:uuid:{DOMAIN_ID}",
    f" {DOMAIN_ID}",
    f"{DOMAIN_ID}\n",
    DOMAIN_ID.translate({ord(str(digit)): 0xFF10 + digit for digit in range(10)}),
    DOMAIN_ID.translate({ord(str(digit)): 0x0660 + digit for digit in range(10)}),
    DOMAIN_ID[:-1],
    f"{DOMAIN_ID}0",
    str(PLAIN_ID.int),
    "null",
    "\x00",
    "é",
)


async def test_an_id_has_one_form(api: Api):
    assert (await api.sue.get(f"/domains/{DOMAIN_ID}")).status == 200
    for text in ODD_IDS:
        assert outcome(await api.sue.get(f"/domains/{quote(text, safe='')}")) == (404, "NOT_FOUND"), text
        assert outcome(await api.sue.get("/mailboxes", domain_id=text)) == (400, "INVALID_FIELD"), text
        body = {"domain_id": text, "source_local_part": "x", "destination": "a@elsewhere.test"}
        assert outcome(await api.sue.post("/aliases", body)) == (400, "INVALID_FIELD"), text


LIMITS = (
    "1_0", " 12 ", "12 ", "１２", "٣", "²", "+5", "-1", "0", "201", "1e1", "0x10", "1.0", "", "true", "9" * 99, "1\x00",
)  # fmt: skip


async def test_a_page_is_asked_for_in_ascii_digits_and_by_our_cursor(api: Api):
    for text in LIMITS:
        assert outcome(await api.sue.get("/domains", limit=text)) == (400, "INVALID_PAGINATION"), text
    for text in ("é", "٣", "a", "=", "." * 5000, "%", "\x00"):
        assert outcome(await api.sue.get("/domains", cursor=text)) == (400, "INVALID_PAGINATION"), text


async def test_a_lifetime_beyond_the_calendar_is_refused(api: Api):
    for days in (10**12, 10**18, 10**30, 3_000_000, -1, True, 1.5, "1", 1e300):
        answer = await api.sue.post("/api-keys", {"name": "k", "expires_in_days": days})
        assert outcome(answer) == (400, "INVALID_FIELD"), days


NO_TIMES = (
    "10000-01-01T00:00:00Z", "99999999999", "1e400", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00+99:00",
    "２026-01-01T00:00:00Z", "2026-01-01T00:00:00Z\n", "yesterday", "0000-01-01T00:00:00Z", "nan", "-1",
)  # fmt: skip


async def test_a_time_beyond_the_calendar_is_refused(api: Api):
    for text in NO_TIMES:
        for path, name in (("/audit", "since"), ("/audit", "until"), ("/messages", "since"), ("/messages", "until")):
            assert outcome(await api.sue.get(path, **{name: text})) == (400, "INVALID_FIELD"), (path, name, text)


async def test_the_ends_of_the_calendar_are_times(api: Api):
    for text in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00"):
        for path in ("/audit", "/messages"):
            answer = await api.sue.get(path, since=text)
            assert answer.status in (200, 400), answer.body


async def test_credentials_in_other_alphabets_are_refused_not_a_fault(api: Api):
    token = token_of("sue")
    for odd in ("é", "²", "\xff", "ß" * 43, "", "=", "." * 100, "a.b.c", "%00"):
        for cookie in (f"svc_session={token}.{odd}", f"svc_session={odd}.{odd}", f"{cookie_of(token)}{odd}x"):
            answer = await replace(api.nobody, headers={"cookie": cookie}).get("/auth/me")
            assert outcome(answer) == (401, "SESSION_INVALID"), cookie
        for key in (odd, f"svc_sk_{odd}", f"svc_sk_{odd * 43}"):
            answer = await api.nobody.with_key(key).get("/auth/me")
            assert outcome(answer) == (401, "API_KEY_INVALID"), key


async def test_a_login_in_any_alphabet_is_only_wrong(api: Api):
    for email, password in (("é@ü", "ß" * 256), ("\u212a@x", "x" * 5000), ("a" * 5000, "x"), ("x\u202ey@z", "\u0660")):
        answer = await api.nobody.post("/auth/login", {"email": email, "password": password})
        assert (answer.status, answer.code) in ((401, "INVALID_CREDENTIALS"), (400, "INVALID_FIELD")), answer.body
