"""Values of another shape are refused in plain words, not in those of the parser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mailkeep.settings import SettingsError, load_settings


@pytest.mark.parametrize(
    "key, value, text",
    [
        ("oidc.providers", "frob", "the value is text, not a list"),
        ("oidc.providers", ["frob"], "entry 1 is text, not a table"),
        ("oidc.providers", [{"id": "x"}], "entry 1 has no `issuer`"),
        (
            "oidc.providers",
            [{"id": "x", "issuer": "https://x", "client_id": "x", "scopes": ["a", 5]}],
            "entry 2 of `scopes` of entry 1 is a number, not text",
        ),
        (
            "oidc.providers",
            [{"id": "x", "issuer": "https://x", "client_id": "x", "frob": 1}],
            "entry 1 must not have `frob`",
        ),
        ("overlays.rspamd", {"actions.conf": ["x"]}, "a value is a list, not text"),
        ("overlays.postfix", 5, "the value is a number, not text"),
    ],
)
def test_the_fault_is_named_in_plain_words(tmp_path: Path, key: str, value: Any, text: str) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(tmp_path, {}).with_stored({key: value})
    assert str(error.value).endswith(f": {text}")


def test_text_that_is_not_json_is_refused_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="it is not JSON"):
        load_settings(tmp_path, {}, {"overlays.rspamd": "{"})
