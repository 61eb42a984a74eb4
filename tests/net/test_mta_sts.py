"""Policies and records of MTA-STS as others write them."""

from __future__ import annotations

import pytest

from mailkeep.net.mta_sts import MtaStsPolicy, PolicyError, find_id, format_policy, parse_policy

TEXT = "version: STSv1\r\nmode: enforce\r\nmx: Mail.Example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        (TEXT, MtaStsPolicy("enforce", ("mail.example.com", "*.example.net"), 604800)),
        (TEXT.replace("\r\n", "\n").replace(": ", ":").strip(), parse_policy(TEXT)),
        (f"{TEXT}mode: none\nmax_age: 1\nfuture_field: anything: at all\n", parse_policy(TEXT)),
        ("mode: none\nmax_age: 9999999999\nversion: STSv1\n", MtaStsPolicy("none", (), 31_557_600)),
    ],
    ids=["CRLF and capitals", "LF without spaces", "repeated and unknown fields", "none without mx, capped"],
)
def test_a_valid_policy(text: str, expected: MtaStsPolicy) -> None:
    assert parse_policy(text) == expected
    assert parse_policy(format_policy(expected)) == expected


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "version"),
        ("<html>\n</html>", "colon"),
        (TEXT.replace("STSv1", "STSv2"), "version"),
        (TEXT.replace("enforce", "Enforce"), "mode"),
        (TEXT.replace("604800", "-1"), "max_age"),
        (TEXT.replace("604800", "٦"), "max_age"),
        (TEXT.replace("604800", "1" * 11), "max_age"),
        ("version: STSv1\nmode: testing\nmax_age: 1\n", "names no server"),
        (TEXT.replace("*.example.net", "*.*.example.net"), "invalid server"),
        (TEXT.replace("*.example.net", "mail.example.net:.evil.test"), "invalid server"),
        (TEXT.replace("*.example.net", "192.0.2.1"), "invalid server"),
    ],
)
def test_an_invalid_policy(text: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem) as error:
        parse_policy(text)
    assert error.value.fault == "malformed"


@pytest.mark.parametrize(
    "values, expected",
    [
        (["v=STSv1; id=20160831085700Z;"], "20160831085700Z"),
        (["v=spf1 -all", "v=STSv1;id=a1;x=y"], "a1"),
        (["v=STSv1; id=1", "v=STSv1; id=2"], None),
        (["v=STSv12; id=1"], None),
        (["v=STSv1"], None),
        (["v=STSv1; id=with-hyphen"], None),
        ([f"v=STSv1; id={'a' * 33}"], None),
        ([], None),
    ],
)
def test_the_record(values: list[str], expected: str | None) -> None:
    assert find_id(values) == expected
