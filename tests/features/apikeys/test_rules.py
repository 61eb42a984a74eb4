from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.errors import Forbidden
from mailkeep.features.apikeys import rules
from mailkeep.features.apikeys.model import Key, Wanted

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOON, LATE = NOW + timedelta(days=1), NOW + timedelta(days=2)


def parent(rate_limit: int = 60, expires_at: datetime | None = None) -> Key:
    some = UUID(int=1)
    return Key(some, some, None, "parent", "svc_sk_12345", False, (), rate_limit, None, expires_at, NOW)


def wanted(rate_limit: int | None = None, expires_at: datetime | None = None) -> Wanted:
    return Wanted("child", rate_limit=rate_limit, expires_at=expires_at)


@pytest.mark.parametrize(
    "asked, made_by, rate_limit, expires_at",
    [
        (wanted(), None, 60, None),
        (wanted(0, LATE), None, 0, LATE),
        (wanted(), parent(), 60, None),
        (wanted(), parent(30), 30, None),
        (wanted(), parent(600), 60, None),
        (wanted(), parent(0), 60, None),
        (wanted(0), parent(0), 0, None),
        (wanted(600), parent(600), 600, None),
        (wanted(), parent(expires_at=SOON), 60, SOON),
        (wanted(expires_at=SOON), parent(expires_at=LATE), 60, SOON),
        (wanted(expires_at=SOON), parent(expires_at=SOON), 60, SOON),
        (wanted(expires_at=LATE), parent(), 60, LATE),
    ],
)
def test_what_is_left_open_takes_the_usual_or_less(
    asked: Wanted, made_by: Key | None, rate_limit: int, expires_at: datetime | None
):
    made = rules.bounded(asked, made_by)
    assert (made.rate_limit, made.expires_at) == (rate_limit, expires_at)


@pytest.mark.parametrize(
    "asked, made_by, reason",
    [
        (wanted(61), parent(), "faster"),
        (wanted(0), parent(1_000_000), "faster"),
        (wanted(expires_at=LATE), parent(expires_at=SOON), "longer_lived"),
    ],
)
def test_a_key_makes_no_key_that_has_more_than_itself(asked: Wanted, made_by: Key, reason: str):
    with pytest.raises(Forbidden) as refused:
        rules.bounded(asked, made_by)
    assert refused.value.details == {"reason": reason}


@given(st.text())
def test_only_what_we_make_is_a_key(text: str):
    assert not rules.is_raw_key(text)
    assert not rules.is_raw_key("svc_sk_" + "a" * 43 + (text or "\n"))
    assert rules.is_raw_key("svc_sk_" + "a" * 43)
