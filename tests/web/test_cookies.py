"""Cookies of a request."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from mailkeep.web.cookies import read_cookies


@pytest.mark.parametrize(
    "fields, cookies",
    [
        ([], {}),
        (["a=1; b=2"], {"a": "1", "b": "2"}),
        (["a=1", "b=x=y"], {"a": "1", "b": "x=y"}),  # HTTP/2 may split the field (RFC 9113 §8.2.3)
        (["a=1; a=1"], {"a": "1;1"}),
        (["a=1; b=2", "a=2; a=3"], {"a": "1;2;3", "b": "2"}),
        (["a=; a=1"], {"a": ";1"}),
        (["; ;a=1;"], {"a": "1"}),
    ],
)
def test_a_repeated_name_has_all_its_values(fields: list[str], cookies: dict[str, str]):
    headers = Headers(raw=[(b"cookie", field.encode()) for field in fields])
    assert {name: value for name, value in read_cookies(headers).items() if name} == cookies
