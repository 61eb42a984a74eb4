from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.secret import Vault
from mailkeep.features.auth import rules
from mailkeep.features.auth.model import Failures

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
VAULT = Vault(b"v" * 32)


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
def test_an_unfamiliar_source_waits_longer_with_every_try(seen: Failures | None, wait: int):
    assert rules.count_try(seen, NOW, familiar=False)[1] == wait


@pytest.mark.parametrize("failures", [9, 10, 11, 1000])
def test_a_familiar_source_never_waits(failures: int):
    counted, wait = rules.count_try(after(failures), NOW, familiar=True)
    assert (counted.failures, wait) == (failures + 1, 0)


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
def test_failures_are_forgotten_after_a_quarter_of_an_hour(seen: Failures, failures: int):
    assert rules.count_try(seen, NOW, familiar=False)[0].failures == failures


@pytest.mark.parametrize(
    "email, key, label",
    [
        ("Sue@Example.test", "sue@example.test", "Sue@example.test"),
        ("straße@example.test", "strasse@example.test", "straße@example.test"),
        ("hunter2", "malformed:hunter2", "(no address)"),
        (" sue@example.test", "malformed: sue@example.test", "(no address)"),
        ("x" * 1000, "malformed:" + "x" * 320, "(no address)"),
    ],
)
def test_failures_are_counted_by_the_folded_email(email: str, key: str, label: str):
    assert rules.account_key(email) == (key, label)


def test_a_cookie_opens_to_the_token_that_was_signed():
    assert rules.open_token(VAULT, rules.sign_token(VAULT, "a-token")) == "a-token"


@given(st.text())
def test_no_other_text_opens(text: str):
    assert rules.open_token(VAULT, text) is None


@given(st.text(max_size=50), st.text(max_size=50))
def test_a_signature_fits_one_token_only(token: str, other: str):
    signature = rules.sign_token(VAULT, "a-token").rpartition(".")[2]
    assert rules.open_token(VAULT, f"{token}.{signature}") is None or token == "a-token"
    assert rules.open_token(VAULT, f"a-token.{other}") is None


def test_the_cookie_is_for_this_site_and_no_script():
    cookie = rules.set_cookie("value", timedelta(hours=24))
    assert cookie == "svc_session=value; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Strict"
    assert "Max-Age=1;" in rules.set_cookie("value", seconds(0.36))
    assert rules.clear_cookie().startswith("svc_session=; Max-Age=0;")
