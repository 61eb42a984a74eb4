"""DNS lists in the settings: valid ones, and how a wrong one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mailkeep.settings import SettingsError, list_settings, load_settings

LIST: dict[str, Any] = {"zone": "bl.example.net", "codes": ["127.0.0.2"], "score": 3}


def load(*lists: Any) -> Any:
    return load_settings(Path("/nowhere"), {"MAILKEEP_FILTER__DNSBL": json.dumps(lists)})


def test_a_zone_may_have_several_scores():
    loaded = load(LIST, LIST | {"codes": ["127.0.0.10", "127.0.0.11"], "score": -0.5})
    assert [(each.codes, each.score) for each in loaded.settings.filter.dnsbl] == [
        (("127.0.0.2",), 3), (("127.0.0.10", "127.0.0.11"), -0.5),
    ]  # fmt: skip
    assert next(each for each in list_settings(loaded) if each.key == "filter.dnsbl").value


@pytest.mark.parametrize(
    "lists, problem",
    [
        ([LIST | {"codes": []}], "without, any answer would count"),
        ([{"zone": "bl.example.net", "score": 1}], "`codes`"),
        ([LIST | {"codes": ["127.255.255.254"]}], "can't mean that an address is listed"),
        ([LIST | {"codes": ["203.0.113.1"]}], "can't mean that an address is listed"),
        ([LIST | {"codes": ["127.0.0.256"]}], "is not an IPv4 address"),
        ([LIST | {"zone": "BL.example.net"}], "in lower case"),
        ([LIST | {"zone": "bl'.example"}], "is not a domain name"),
        ([LIST | {"score": 1000}], "its score must be from -100 to 100"),
        ([LIST | {"score": "high"}], "score"),
        ([LIST | {"weight": 1}], "`weight`"),
        ([LIST, LIST], "has a code twice"),
        ([LIST | {"zone": f"bl{number}.example"} for number in range(21)], "more than 20 lists"),
    ],
)
def test_a_wrong_list_is_refused_with_the_reason(lists: list[Any], problem: str):
    with pytest.raises(SettingsError) as refused:
        load(*lists)
    assert problem in str(refused.value)
