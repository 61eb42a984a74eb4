"""Rules of webhooks, purely."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from mailkeep.features.mailflow.webhooks import rules


@given(st.binary(max_size=6000))
def test_whatever_is_answered_makes_text_that_postgresql_stores(answer: bytes):
    text = rules.excerpt(answer)
    assert "\0" not in text
    assert len(text) <= 1000
    json.dumps(text).encode()
    text.encode("utf-8")


@pytest.mark.parametrize("answer, text", [(b"", ""), ("é".encode() * 3000, "é" * 1000), (b"ok\0", "ok\ufffd")])
def test_an_excerpt_is_the_beginning(answer: bytes, text: str):
    assert rules.excerpt(answer) == text


def test_kinds_stand_once_in_the_order_given():
    assert rules.unique_kinds(["*", "mail.sent", "*"]) == ("*", "mail.sent")
