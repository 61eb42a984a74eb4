"""Inline images and file names of attachments."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given, strategies as st

from mailkeep.features.mailflow.message_content.rules import (
    InlineImage,
    attachment_index,
    content_disposition,
    disarm_links,
    embed_images,
)

PNG = InlineImage("image/png", "iVBORw0KGgo=")
SHOWN = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    "html, expected",
    [
        ('<img src="cid:a@b">', f'<img src="{SHOWN}">'),
        ("<img src='CID:a@b'>", f"<img src='{SHOWN}'>"),
        ("<img src=cid:a@b>", f"<img src={SHOWN}>"),
        ('<img src="cid:a%40b">', f'<img src="{SHOWN}">'),
        ('<img src="cid:a&#64;b">', f'<img src="{SHOWN}">'),
        ("<p style=\"background:url('cid:a@b')\">", f"<p style=\"background:url('{SHOWN}')\">"),
        ('<img src="cid:a@b"><img src="cid:a@b">', f'<img src="{SHOWN}"><img src="{SHOWN}">'),
        ('<img src="cid:other">', '<img src="cid:other">'),
        ('<img src="acid:a@b">', '<img src="acid:a@b">'),
        ('<img src="cid:page">', '<img src="cid:page">'),
        ("", ""),
    ],
)
def test_cid_urls_are_replaced_by_images(html: str, expected: str):
    assert embed_images(html, {"a@b": PNG, "page": InlineImage("text/html", "PGI+")}) == expected


def test_an_image_with_many_references_is_inserted_up_to_the_limit():
    large = InlineImage("image/png", "A" * (4 << 20))
    html = '<img src="cid:large">' * 1000
    shown = embed_images(html, {"large": large})
    assert shown.count("data:image/png") == 4
    assert shown.count("cid:large") == 996


@given(st.text(max_size=200), st.text(min_size=1, max_size=20))
def test_other_html_is_unchanged(html: str, content_id: str):
    shown = embed_images(html, {content_id: PNG})
    pieces = re.split(r"(?i)\bcid:[^\s\"'<>()\\]{1,800}", html)
    assert [piece for piece in pieces if piece not in shown] == []
    assert embed_images(html, {}) == html


@pytest.mark.parametrize(
    "html, expected",
    [
        ('<link rel=dns-prefetch href="//t.test">', '<x-link rel=dns-prefetch href="//t.test">'),
        ("<LINK/rel=preconnect>", "<x-LINK/rel=preconnect>"),
        ("<lin<link\n>", "<lin<x-link\n>"),
        ("<linked>a</linked> <a>link</a>", "<linked>a</linked> <a>link</a>"),
        ("<link", "<x-link"),
    ],
)
def test_link_elements_are_renamed(html: str, expected: str):
    assert disarm_links(html) == expected


@given(st.text(max_size=300))
def test_a_file_name_is_one_parameter_that_can_be_decoded(name: str):
    name = name.encode("utf-8", "ignore").decode()
    written = content_disposition(name)
    assert re.fullmatch(r"attachment; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+", written)
    assert unquote(written.partition("''")[2]) == (name or "attachment")


@given(st.text(max_size=8))
def test_the_number_of_an_attachment_counts_from_1(written: str):
    found = attachment_index(written)
    assert found is None or (str(found + 1) == written and 0 <= found < 9999)
