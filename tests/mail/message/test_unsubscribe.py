"""List-Unsubscribe: URLs and addresses can't inject anything."""

from __future__ import annotations

import pytest

from mailkeep.core.errors import InvalidField
from mailkeep.mail.message.unsubscribe import Unsubscribe, unsubscribe_fields

URL = "https://example.com/u?id=1&t=%20"


def test_one_click_is_a_second_field() -> None:
    assert unsubscribe_fields(Unsubscribe(URL, "list+leave@example.com", True)) == (
        "List-Unsubscribe: <mailto:list+leave@example.com>,\r\n"
        f" <{URL}>\r\n"
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
    )


@pytest.mark.parametrize(
    "mailto, uri",
    [
        ("leave@faß.de", "mailto:leave@xn--fa-hia.de"),
        ("a%b?c@example.com", "mailto:a%25b%3Fc@example.com"),
        ("jörg@example.com", "mailto:j%C3%B6rg@example.com"),
        ("mailto:leave@example.com?subject=off", "mailto:leave@example.com?subject=off"),
    ],
)
def test_an_address_becomes_a_uri(mailto: str, uri: str) -> None:
    assert unsubscribe_fields(Unsubscribe(mailto=mailto)) == f"List-Unsubscribe: <{uri}>\r\n"


@pytest.mark.parametrize(
    "given",
    [
        Unsubscribe(),
        Unsubscribe("javascript:alert(1)"),
        Unsubscribe("https://"),
        Unsubscribe("https://example.com/ü"),
        Unsubscribe("https://example.com/>, <https://evil.test"),
        Unsubscribe("https://example.com/\r\nBcc: x"),
        Unsubscribe("https://example.com/ "),
        Unsubscribe("https://example.com/" + "a" * 900),
        Unsubscribe("http://example.com/", one_click=True),
        Unsubscribe(mailto="a@example.com", one_click=True),
        Unsubscribe(mailto="nobody"),
        Unsubscribe(mailto="mailto:"),
        Unsubscribe(mailto="mailto:a@b>,<c"),
        Unsubscribe(mailto="mailto:a b@example.com"),
        Unsubscribe(mailto="mailto:a@example.com\n"),
        Unsubscribe(mailto="a@example.com\r\nBcc: x"),
    ],
)
def test_anything_else_is_refused(given: Unsubscribe) -> None:
    with pytest.raises(InvalidField, match="list_unsubscribe"):
        unsubscribe_fields(given)
