from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.errors import Conflict
from mailkeep.core.secret import new_recovery_code
from mailkeep.features.access.second_factors import rules
from mailkeep.features.access.second_factors.model import Failures, TotpFactor

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def after(failures: int, *, ago: float = 0, started: float = 60) -> Failures:
    return Failures(NOW - seconds(started), failures, NOW - seconds(ago))


@pytest.mark.parametrize(
    "seen, wait",
    [
        (None, 0),
        (after(1), 0),
        (after(9), 0),
        (after(10), 30),
        (after(10, ago=14), 30),
        (after(10, ago=15), 0),
        (after(11), 60),
        (after(14), 480),
        (after(15), 900),
        (after(16), 900),
        (after(2_000_000), 900),
        (after(2_000_000, ago=899), 900),
        (after(2_000_000, ago=900), 0),
    ],
)
def test_the_wait_grows_with_every_attempt(seen: Failures | None, wait: int):
    assert rules.count_attempt(seen, NOW)[1] == wait


@pytest.mark.parametrize(
    "seen, failures",
    [
        (after(9, started=899), 10),
        (after(9, started=900), 1),
        (after(9, started=-900), 1),  # the clock was set back
        (after(12, ago=899, started=5000), 13),
        (after(12, ago=900, started=5000), 1),
    ],
)
def test_failures_expire_after_fifteen_minutes(seen: Failures, failures: int):
    assert rules.count_attempt(seen, NOW)[0].failures == failures


def factor(*, age: float = 0, enabled: bool = False) -> TotpFactor:
    created_at = NOW - seconds(age)
    return TotpFactor(b"sealed", created_at, created_at if enabled else None)


@pytest.mark.parametrize(
    "found, setup, verify, use",
    [
        (None, None, "no_setup", "totp_off"),
        (factor(), None, None, "totp_off"),
        (factor(age=599), None, None, "totp_off"),
        (factor(age=600), None, "no_setup", "totp_off"),
        (factor(enabled=True), "totp_enabled", "totp_enabled", None),
        (factor(enabled=True, age=600), "totp_enabled", "totp_enabled", None),
    ],
)
def test_each_state_of_an_authenticator_allows_its_actions(
    found: TotpFactor | None, setup: str | None, verify: str | None, use: str | None
):
    for ask, why in (
        (lambda: rules.refuse_if_enabled(found), setup),
        (lambda: rules.require_pending(found, NOW), verify),
        (lambda: rules.require_enabled(found), use),
    ):
        if why is None:
            ask()
            continue
        with pytest.raises(Conflict) as refused:
            ask()
        assert refused.value.details == {"reason": why}


def test_a_recovery_code_is_the_same_however_it_is_typed():
    some, other = UUID(int=1), UUID(int=2)
    code = new_recovery_code()
    assert len(code) == 19
    hashed = rules.hash_recovery_code(some, code)
    assert {rules.hash_recovery_code(some, typed) for typed in (code.upper(), f" {code} ", code.replace("-", ""))} == {
        hashed
    }
    assert rules.hash_recovery_code(other, code) != hashed
    assert len({new_recovery_code() for _ in range(1000)}) == 1000


@given(st.text())
def test_any_text_can_be_tried_as_a_recovery_code(text: str):
    assert len(rules.hash_recovery_code(UUID(int=1), text)) == 32
