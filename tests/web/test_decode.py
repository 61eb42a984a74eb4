"""Strict decoding: pitfalls of JSON and of Python's parsers, each with its refusal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import example, given, settings, strategies as st
from msgspec import UNSET, Meta, UnsetType

from mailkeep.core.errors import InvalidField, InvalidJson, MissingFields, Refusal
from mailkeep.core.principal import Role
from mailkeep.web.decode import decode_body, decode_query
from mailkeep.web.fields import Body, Email, MayBeEmpty, MultiLine, Patch, Query, Text
from mailkeep.web.strict_json import MAX_DEPTH, parse_json
from mailkeep.web.string_views import EXTRACT_FROM_BODIES_OVER, EXTRACT_STRINGS_OVER, StringView

ID = UUID("01890000-0000-7000-8000-000000000001")


class Address(Body, frozen=True):
    email: Email
    name: Text | UnsetType = UNSET


class Message(Body, frozen=True):
    domain_id: UUID
    to: Annotated[list[Address], Meta(max_length=2)]
    source: MayBeEmpty
    subject: Text = ""
    text: MultiLine | UnsetType = UNSET
    rate: Annotated[int, Meta(ge=0, le=100)] = 60
    active: bool = True
    role: Role = Role.ADMIN
    mode: Literal["fast", "slow"] = "fast"
    headers: Annotated[dict[str, str], Meta(max_length=2)] | UnsetType = UNSET
    since: datetime | None = None
    note: Annotated[str, Meta(min_length=2, max_length=5, pattern="[a-z]+")] | None = None


class Change(Patch, frozen=True):
    destination: Text | UnsetType = UNSET
    note: Text | UnsetType | None = UNSET


class Filter(Query, frozen=True):
    domain_id: UUID | None = None
    active: bool | None = None
    size: Annotated[int, Meta(ge=0)] | None = None
    since: datetime | None = None
    name: Text | None = None


def message(**fields: Any) -> dict[str, Any]:
    return {"domain_id": str(ID), "to": [{"email": "a@b.test"}], "source": ""} | fields


def faults(value: Any, into: type[Any] = Message) -> dict[str, str]:
    with pytest.raises(InvalidField) as caught:
        decode_body(value, into)
    assert caught.value.details
    return {fault["field"]: fault["reason"] for fault in caught.value.details["fields"]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"a": 1,}',
        b"{'a': 1}",
        b'{"a": 1} {"b": 2}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 1e400}',
        b'{"a": -1e400}',
        b'{"a": 01}',
        b'{"a": +1}',
        b'{"a": .5}',
        b'{"a": 0x10}',
        b'{"a": 1_0}',
        '{"a": １２}'.encode(),
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "\\u0062": 2}}',
        b'{"a": "\\ud800"}',
        b'{"a": "\\udc00\\ud800"}',
        b'{"\\ud800": 1}',
        b'{"a": "\\uD8"}',
        b'{"a": "\n"}',
        b'{"a": "\x00"}',
        b'{"a": tru}',
        b"// comment\n{}",
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\xc0\x80"}',
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-16-le"),
        '{"a": 1}'.encode("utf-32"),
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b'[{"a":' * 33 + b"1" + b"}]" * 33,
        b"]" * 500_000,
        b"[}" * 500_000,
        b"[" * 500_000,
        b'{"a":' * 200_000,
        b'{"a": "' + b"\\" * 70_000,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_anything_but_strict_json_is_refused(body: bytes):
    with pytest.raises(InvalidJson):
        parse_json(body)


@pytest.mark.parametrize(
    "body, value",
    [
        (b"null", None),
        (b' {"a": [1, -2.5, true, null, "\\u00e9\\ud83d\\ude00"]} \r\n', {"a": [1, -2.5, True, None, "é😀"]}),
        (b'{"a": 9223372036854775807}', {"a": 2**63 - 1}),
        (b'{"a": "[[[[{{{{"}', {"a": "[[[[{{{{"}),
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        (b'["' + b"[" * 1000 + b'\\""]', ["[" * 1000 + '"']),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_strict_json_is_read(body: bytes, value: Any):
    read = parse_json(body)
    assert value is None or read == value


def test_a_body_nested_too_deep_is_refused():
    for deep in (b"[" * 65 + b"]" * 65, b'[{"a":' * 33 + b"1" + b"}]" * 33, b"[" * 1000):
        with pytest.raises(InvalidJson, match="nested deeper than 64"):
            parse_json(deep)
    assert parse_json(b'[{"a":' * 32 + b"1" + b"}]" * 32)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * (20 << 20),
        b"[}" * (2 << 20),
        b"[" * 65 + b'"\\' * (16 << 10),
        b"[" * 65 + b'"\\"' * (16 << 10) + b"\\",
        (b"[" * 63 + b"]" * 63 + b",") * 10_000,
    ],
    ids=lambda body: repr(body[-6:]),
)
def test_no_body_costs_more_time_than_its_length(body: bytes):
    def cost() -> float:
        began = time.process_time()
        with pytest.raises(InvalidJson):
            parse_json(body)
        return time.process_time() - began

    # Time that the host takes counts too, but not in each of the five runs.
    assert any(cost() < 0.8 for _ in range(5))


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_an_integer_beyond_64_bits_is_no_integer(number: int):
    assert faults(parse_json(json.dumps(message(rate=number)).encode())) == {"rate": "must be an integer from 0 to 100"}


def test_a_body_is_read_into_its_fields():
    decoded = decode_body(
        message(since="2026-01-31T12:00:00+02:00", text="two\r\n\tlines", role="super_admin", note="abc"),
        Message,
    )
    assert (decoded.domain_id, decoded.source, decoded.rate, decoded.role) == (ID, "", 60, Role.SUPER_ADMIN)
    assert decoded.to == [Address(email="a@b.test")]
    assert decoded.since == datetime(2026, 1, 31, 10, tzinfo=UTC)
    assert decoded.headers is UNSET


@pytest.mark.parametrize(
    "field, value, reason",
    [
        ("domain_id", "{01890000-0000-7000-8000-000000000001}", "UUID"),
        ("domain_id", "urn:uuid:01890000-0000-7000-8000-000000000001", "UUID"),
        ("domain_id", "01890000000070008000000000000001", "UUID"),
        ("domain_id", "01890000-0000-7000-8000-00000000000A", "UUID"),
        ("domain_id", "01890000-0000-7000-8000-00000000000１", "UUID"),
        ("domain_id", "01890000-0000-7000-8000-000000000001\n", "UUID"),
        ("domain_id", 7, "UUID"),
        ("to", {}, "array"),
        ("to", "a@b.test", "array"),
        ("to", [{"email": "a@b.test"}] * 3, "at most 2 items"),
        ("source", 1, "string"),
        ("source", "a\x00b", "control"),
        ("source", "x" * 1001, "at most 1000"),
        ("subject", "two\nlines", "control"),
        ("subject", "\x7f", "control"),
        ("subject", "\x85", "control"),
        ("text", "\x00", "control"),
        ("text", "\x0b", "control"),
        ("rate", True, "integer"),
        ("rate", "5", "integer"),
        ("rate", 5.0, "integer"),
        ("rate", -1, "from 0"),
        ("rate", 101, "to 100"),
        ("active", 1, "true or false"),
        ("active", "true", "true or false"),
        ("role", "root", "domain_admin, admin, super_admin"),
        ("role", ["admin"], "one of"),
        ("mode", "medium", "fast, slow"),
        ("mode", {}, "one of"),
        ("headers", [], "object"),
        ("headers", {"a": "1", "b": "2", "c": "3"}, "at most 2 entries"),
        ("since", "2026-01-31", "ISO 8601"),
        ("since", "2026-01-31T12:00:00", "ISO 8601"),
        ("since", "2026-02-30T12:00:00Z", "ISO 8601"),
        ("since", "９999-01-31T12:00:00Z", "ISO 8601"),
        ("since", "2026-01-31T12:00:00Z\n", "ISO 8601"),
        ("since", "2026-01-31T12:00:00+99:99", "ISO 8601"),
        ("since", 1700000000, "ISO 8601"),
        ("note", "a", "at least 2"),
        ("note", "abcdef", "at most 5"),
        ("note", "abc1", "match"),
        ("surprise", 1, "not a field"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_a_wrong_value_is_an_invalid_field(field: str, value: Any, reason: str):
    reasons = faults(message(**{field: value}))
    assert list(reasons) == [field]
    assert reason in reasons[field]


def test_all_faults_are_reported_at_once_with_their_paths():
    wrong = message(to=[{"email": 1}, {"email": "a@b.test", "nmae": "x"}], headers={"X-A": 1}, rate="no")
    assert list(faults(wrong)) == ["to[0].email", "to[1].nmae", "rate", "headers.X-A"]


class Recipients(Body, frozen=True):
    to: list[Address]
    named: dict[str, Address] | UnsetType = UNSET


@pytest.mark.parametrize(
    "recipients",
    [
        {"to": [{}] * 1000},
        {"to": [1] * 1000},
        {"to": [{"email": "a@b.test"}], "named": {str(number): None for number in range(1000)}},
        {"to": [{"email": "a@b.test"}]} | {"x" * 2000 + str(number): 1 for number in range(1000)},
        {"to": [{"email": "a@b.test"} | {str(number): 1 for number in range(1000)}]},
    ],
    ids=["missing", "items", "entries", "unknown", "nested"],
)
def test_only_the_first_hundred_faults_are_reported(recipients: dict[str, Any]):
    with pytest.raises((MissingFields, InvalidField)) as caught:
        decode_body(recipients, Recipients)
    assert caught.value.details
    assert len(caught.value.details["fields"]) == 100
    assert len(json.dumps([caught.value.message, caught.value.details])) < 20_000


def test_a_missing_field_is_reported_before_invalid_ones():
    with pytest.raises(MissingFields) as caught:
        decode_body({str(number): 1 for number in range(1000)}, Message)
    assert caught.value.details
    names = [fault["field"] for fault in caught.value.details["fields"]]
    assert len(names) == 100
    assert "0" in names


def test_the_message_names_the_first_five_missing_fields():
    with pytest.raises(MissingFields) as caught:
        decode_body({"to": [{}] * 6}, Recipients)
    places = [f"to[{index}].email" for index in range(6)]
    assert caught.value.message == f"Required fields are missing: {', '.join(places[:5])} and more."
    assert caught.value.details == {"fields": [{"field": place, "reason": "is required"} for place in places]}


@pytest.mark.parametrize(
    "value, missing",
    [
        ({}, ["domain_id", "to", "source"]),
        ({"domain_id": None, "to": [], "source": None}, ["domain_id", "to", "source"]),
        ({"domain_id": "", "to": [{}], "source": ""}, ["domain_id", "to[0].email"]),
        ({"domain_id": str(ID), "to": [{"email": ""}], "source": ""}, ["to[0].email"]),
        # Missing comes before invalid.
        ({"domain_id": 5, "to": [{"email": "a@b.test"}], "surprise": 1}, ["source"]),
    ],
)
def test_absent_null_and_empty_required_fields_are_missing(value: Any, missing: list[str]):
    with pytest.raises(MissingFields) as caught:
        decode_body(value, Message)
    assert caught.value.details
    required = [fault["field"] for fault in caught.value.details["fields"] if fault["reason"] == "is required"]
    assert required == missing


def test_a_misspelt_field_is_reported_with_the_missing_one():
    """Issue 17, number 24: MISSING_FIELDS hid it."""
    body = message()
    body["sorce"] = body.pop("source")
    with pytest.raises(MissingFields) as caught:
        decode_body(body, Message)
    assert caught.value.code == "MISSING_FIELDS"
    assert caught.value.details == {
        "fields": [
            {"field": "sorce", "reason": "is not a field of this request"},
            {"field": "source", "reason": "is required"},
        ]
    }
    assert "source" in caught.value.message
    assert "sorce: is not a field of this request" in caught.value.message


def test_null_for_an_optional_field_counts_as_absent():
    decoded = decode_body(message(rate=None, text=None, subject=None, headers=None, note=None), Message)
    assert (decoded.rate, decoded.text, decoded.subject, decoded.note) == (60, UNSET, "", None)


def test_in_a_patch_null_is_refused_unless_the_field_allows_it():
    assert decode_body({"note": None}, Change) == Change(note=None)
    assert decode_body({}, Change) == Change()
    assert faults({"destination": None}, Change) == {"destination": "must not be null"}


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_a_body_that_is_no_object_is_refused(value: Any):
    with pytest.raises(InvalidField) as refused:
        decode_body(value, Message)
    assert refused.value.message == "The body: must be a JSON object."
    assert faults(value) == {"": "must be a JSON object"}


def test_a_query_is_read_by_the_types_of_its_fields():
    pairs = [("active", "false"), ("size", "10"), ("since", "2026-01-31T12:00:00Z"), ("name", "")]
    assert decode_query(pairs, Filter) == Filter(active=False, size=10, since=datetime(2026, 1, 31, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    "name, text",
    [
        ("size", "1_0"),
        ("size", " 12"),
        ("size", "１２"),
        ("size", "٣"),
        ("size", "²"),
        ("size", "1e3"),
        ("size", "+1"),
        ("size", "-1"),
        ("size", "9" * 5000),
        ("active", "1"),
        ("active", "True"),
        ("domain_id", "urn:uuid:01890000-0000-7000-8000-000000000001"),
        ("since", "now"),
        ("name", "a\x00"),
        ("nmae", "x"),
        ("\x00", "x"),
    ],
)
def test_a_wrong_query_value_is_an_invalid_field(name: str, text: str):
    with pytest.raises(InvalidField) as caught:
        decode_query([(name, text)], Filter)
    assert caught.value.details
    assert [fault["field"] for fault in caught.value.details["fields"]] == [name]


def test_a_repeated_query_parameter_is_refused():
    with pytest.raises(InvalidField):
        decode_query([("name", "a"), ("name", "b")], Filter)


def test_only_the_first_hundred_faults_of_a_query_are_reported():
    with pytest.raises(InvalidField) as caught:
        decode_query([("x" * 2000, "")] * 1000, Filter)
    assert caught.value.details
    assert [len(fault["field"]) for fault in caught.value.details["fields"]] == [100] * 100


def test_a_large_string_is_a_view_with_the_same_text():
    text = "é\\n" * EXTRACT_STRINGS_OVER
    read = parse_json(f'{{"a": "{text}", "b": "short"}}'.encode())
    assert isinstance(read["a"], StringView)
    assert read["b"] == "short"
    assert read["a"].text() == "é\n" * EXTRACT_STRINGS_OVER
    assert faults(message(subject=read["a"]))["subject"] == "must not contain control characters"


@pytest.mark.parametrize("part", [b"\\x", b"\n", b"\xff", b"\\ud800"])
def test_a_large_string_follows_the_same_rules(part: bytes):
    read = parse_json(b'{"subject": "' + b"a" * (EXTRACT_STRINGS_OVER * 3) + part + b'"}')
    with pytest.raises(InvalidJson):
        decode_body(message() | read, Message)


@pytest.mark.parametrize("deep", ["%s", '{"headers": %s}', '[1, {"a": [%s]}]'])
def test_a_large_key_is_refused(deep: str):
    key = "k" * (EXTRACT_STRINGS_OVER + 1)
    body = deep % json.dumps({"a": "x" * EXTRACT_FROM_BODIES_OVER, key: "v"})
    with pytest.raises(InvalidJson, match=r"A key is longer than 32 KiB\."):
        parse_json(body.encode())


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(list(Message.__struct_fields__)) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)


def refusal(read: Callable[..., object], *arguments: object) -> Refusal | None:
    try:
        read(*arguments)
    except Refusal as wrong:
        return wrong
    return None


@settings(max_examples=300)
@given(st.binary(max_size=200))
@example(b'{"a":"\\')
@example(b'["\x80"]')
def test_no_bytes_raise_anything_but_a_refusal(body: bytes):
    assert isinstance(refusal(parse_json, body), InvalidJson | None)


@settings(max_examples=300)
@given(JSON)
def test_strict_json_makes_a_round_trip(value: Any):
    written = json.dumps(value).encode()
    wrong = refusal(parse_json, written)
    assert parse_json(written) == value if wrong is None else "surrogate" in wrong.message


@settings(max_examples=300)
@given(JSON | st.fixed_dictionaries({"domain_id": JSON, "to": JSON, "source": JSON}))
def test_no_value_raises_anything_but_a_refusal(value: Any):
    for into in (Message, Change):
        wrong = refusal(decode_body, value, into)
        assert wrong is None or (wrong.status == 400 and wrong.details)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(["size", "active", "domain_id", "since", "x"]), st.text()), max_size=4))
def test_no_query_raises_anything_but_a_refusal(pairs: list[tuple[str, str]]):
    assert isinstance(refusal(decode_query, pairs, Filter), MissingFields | InvalidField | None)
