"""Attachments: validation, and file names in any script."""

from __future__ import annotations

from email import message_from_string, policy

import pytest
from hypothesis import assume, given, strategies as st

from mailkeep.core.errors import InvalidField
from mailkeep.mail.message.attachments import (
    OutgoingAttachment,
    attachment_entity,
    check_content_id,
    check_content_type,
    clean_file_name,
)
from mailkeep.mail.message.base64_content import Base64

CONTENT = Base64.encode(b"abc")


def head_of(name: str, **more: str | bool) -> str:
    return attachment_entity("attachments[0]", OutgoingAttachment(name, "image/png", CONTENT, **more)).head  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text, name",
    [
        ("report.pdf", "report.pdf"),
        ("/etc/passwd", "passwd"),
        ("../../x.txt", "x.txt"),
        ("C:\\Users\\bob\\a.doc", "a.doc"),
        ("猫.png", "猫.png"),
        (".profile", ".profile"),
        ("a" * 255, "a" * 255),
    ],
)
def test_a_file_name_is_the_last_path_component(text: str, name: str) -> None:
    assert clean_file_name("filename", text) == name


@pytest.mark.parametrize(
    "text", ["", " ", ".", "..", "a/", "a/..", "a\\", "a\r\nb", "a\x00.exe", "a\tb", "a" * 256, "猫" * 86]
)
def test_an_invalid_file_name_is_rejected(text: str) -> None:
    with pytest.raises(InvalidField, match="filename"):
        clean_file_name("filename", text)


@pytest.mark.parametrize("text", ["image/png", "Application/PDF", "application/vnd.ms-excel+x_1", "a/b"])
def test_a_content_type_is_type_and_subtype(text: str) -> None:
    check_content_type("content_type", text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "image",
        "image/",
        "/png",
        "image/png; name=x",
        "image/png\r\nBcc: x",
        "image/png ",
        "image/png\n",
        "im age/png",
        "a/b/c",
        "multipart/mixed",
        "Multipart/Mixed",
        "message/rfc822",
        "MESSAGE/partial",
        "text/plaın",
        "a" * 128 + "/b",
    ],
)
def test_other_content_types_are_rejected(text: str) -> None:
    with pytest.raises(InvalidField, match="content_type"):
        check_content_type("content_type", text)


@pytest.mark.parametrize("text", ["", "<logo>", "a b", "a\r\nb", "ä", "a" * 201])
def test_an_invalid_content_id_is_rejected(text: str) -> None:
    with pytest.raises(InvalidField, match="content_id"):
        check_content_id("content_id", text)


def test_an_inline_image_has_its_id() -> None:
    assert head_of("a b.png", content_id="logo@x", inline=True) == (
        "Content-Type: image/png\r\n"
        "Content-Transfer-Encoding: base64\r\n"
        'Content-Disposition: inline; filename="a b.png"\r\n'
        "Content-ID: <logo@x>\r\n"
    )


@pytest.mark.parametrize(
    "name, parameter",
    [
        ("100%.txt", 'filename="100%.txt"'),
        ('a"b', "filename*=utf-8''a%22b"),
        ("猫.png", "filename*=utf-8''%E7%8C%AB.png"),
        ("=?utf-8?b?YQ==?=", "filename*=utf-8''%3D%3Futf-8%3Fb%3FYQ%3D%3D%3F%3D"),
        (" a", "filename*=utf-8''%20a"),
    ],
)
def test_there_is_one_file_name_and_no_fallback(name: str, parameter: str) -> None:
    head = head_of(name).replace("\r\n ", " ")
    assert f"Content-Disposition: attachment; {parameter}\r\n" in head
    assert head.count("name") == 1


def test_the_composer_checks_attachments_again() -> None:
    for broken in (
        OutgoingAttachment("a\r\nb", "a/b", CONTENT),
        OutgoingAttachment("a", "a/b\r\nX: y", CONTENT),
        OutgoingAttachment("a", "a/b", CONTENT, "a>\r\nX: y"),
    ):
        with pytest.raises(InvalidField, match=r"attachments\[3\]"):
            attachment_entity("attachments[3]", broken)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=90))
def test_any_file_name_reads_back(name: str) -> None:
    assume(not set(name) & set("/\\") and name.strip(" .") and len(name.encode()) <= 255)
    head = head_of(name)
    assert head.isascii()
    assert max(map(len, head.split("\r\n"))) <= 76
    part = message_from_string(head + "\r\n", policy=policy.default)
    assert part["content-disposition"].params == {"filename": name}
