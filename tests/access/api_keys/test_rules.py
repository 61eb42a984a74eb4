from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.errors import Forbidden, InvalidField
from mailkeep.features.access.api_keys import rules
from mailkeep.features.access.api_keys.model import ApiKey, NewApiKey

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOON, LATE = NOW + timedelta(days=1), NOW + timedelta(days=2)


def parent(rate_limit: int = 60, expires_at: datetime | None = None, networks: tuple[str, ...] = ()) -> ApiKey:
    some = UUID(int=1)
    return ApiKey(some, some, None, "parent", "svc_sk_12345", False, (), rate_limit, networks, None, expires_at, NOW)


def new_key(
    rate_limit: int | None = None, expires_at: datetime | None = None, networks: tuple[str, ...] = ()
) -> NewApiKey:
    return NewApiKey("child", rate_limit=rate_limit, expires_at=expires_at, allowed_networks=networks)


LAN = ("10.0.0.0/8",)


@pytest.mark.parametrize(
    "requested, parent_key, rate_limit, expires_at",
    [
        (new_key(), None, 60, None),
        (new_key(0, LATE), None, 0, LATE),
        (new_key(), parent(), 60, None),
        (new_key(), parent(30), 30, None),
        (new_key(), parent(600), 60, None),
        (new_key(), parent(0), 60, None),
        (new_key(0), parent(0), 0, None),
        (new_key(600), parent(600), 600, None),
        (new_key(), parent(expires_at=SOON), 60, SOON),
        (new_key(expires_at=SOON), parent(expires_at=LATE), 60, SOON),
        (new_key(expires_at=SOON), parent(expires_at=SOON), 60, SOON),
        (new_key(expires_at=LATE), parent(), 60, LATE),
    ],
)
def test_defaults_are_the_usual_values_or_lower_ones_of_the_parent(
    requested: NewApiKey, parent_key: ApiKey | None, rate_limit: int, expires_at: datetime | None
):
    limited = rules.apply_parent_limits(requested, parent_key)
    assert (limited.rate_limit, limited.expires_at) == (rate_limit, expires_at)


@pytest.mark.parametrize(
    "requested, parent_key, reason",
    [
        (new_key(61), parent(), "faster"),
        (new_key(0), parent(1_000_000), "faster"),
        (new_key(expires_at=LATE), parent(expires_at=SOON), "longer_lived"),
        (new_key(networks=("0.0.0.0/0",)), parent(networks=LAN), "more_networks"),
        (new_key(networks=("10.1.0.0/16", "::/0")), parent(networks=LAN), "more_networks"),
    ],
)
def test_a_key_can_not_create_a_key_that_exceeds_itself(requested: NewApiKey, parent_key: ApiKey, reason: str):
    with pytest.raises(Forbidden) as refused:
        rules.apply_parent_limits(requested, parent_key)
    assert refused.value.details == {"reason": reason}


@pytest.mark.parametrize(
    "requested, parent_key, networks",
    [
        (new_key(), parent(), ()),
        (new_key(networks=LAN), None, LAN),
        (new_key(networks=LAN), parent(), LAN),
        (new_key(), parent(networks=LAN), LAN),
        (new_key(networks=("10.1.0.0/16", "10.2.3.4/32")), parent(networks=LAN), ("10.1.0.0/16", "10.2.3.4/32")),
    ],
)
def test_a_child_inherits_the_networks_of_its_parent(
    requested: NewApiKey, parent_key: ApiKey | None, networks: tuple[str, ...]
):
    assert rules.apply_parent_limits(requested, parent_key).allowed_networks == networks


@pytest.mark.parametrize(
    "texts, networks",
    [
        ([], ()),
        (["10.0.0.0/8", "10.0.0.0/255.0.0.0", "192.0.2.1"], ("10.0.0.0/8", "192.0.2.1/32")),
        (["2001:DB8:0::/32"], ("2001:db8::/32",)),
    ],
)
def test_networks_are_kept_in_their_shortest_form(texts: list[str], networks: tuple[str, ...]):
    assert rules.parse_networks(texts) == networks


def test_every_invalid_network_is_reported():
    with pytest.raises(InvalidField) as refused:
        rules.parse_networks(["10.0.0.1/8", "10.0.0.0/8", "lan", ""])
    assert refused.value.details
    assert [fault["field"] for fault in refused.value.details["fields"]] == [
        "allowed_networks[0]",
        "allowed_networks[2]",
        "allowed_networks[3]",
    ]


@given(st.text())
def test_only_the_exact_format_is_a_key(text: str):
    assert not rules.is_raw_key(text)
    assert not rules.is_raw_key("svc_sk_" + "a" * 43 + (text or "\n"))
    assert rules.is_raw_key("svc_sk_" + "a" * 43)
