"""Rules of webhooks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from mailkeep.features.mailflow.webhooks import rules


@given(st.binary(max_size=6000))
def test_any_response_becomes_text_that_postgresql_can_store(answer: bytes):
    text = rules.excerpt(answer)
    assert "\0" not in text
    assert len(text) <= 1000
    json.dumps(text).encode()
    text.encode("utf-8")


@pytest.mark.parametrize("answer, text", [(b"", ""), ("é".encode() * 3000, "é" * 1000), (b"ok\0", "ok\ufffd")])
def test_an_excerpt_is_the_beginning_of_the_response(answer: bytes, text: str):
    assert rules.excerpt(answer) == text


def test_kinds_are_unique_and_keep_their_order():
    assert rules.unique_kinds(["*", "mail.sent", "*"]) == ("*", "mail.sent")
