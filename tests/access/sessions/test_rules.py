from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.principal import Role
from mailkeep.core.secret import Vault
from mailkeep.features.access.logins import rules as login_rules
from mailkeep.features.access.sessions import rules

VAULT = Vault(b"v" * 32)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


LAN, OFFICE = ("10.0.0.0/8",), ("192.0.2.0/24", "2001:db8::/32")


@pytest.mark.parametrize(
    "address, allowed, bar",
    [
        ("192.0.2.1", [], None),
        ("192.0.2.1", [()], None),
        ("192.0.2.1", [(), ()], None),
        ("192.0.2.1", [OFFICE], None),
        ("2001:db8::7", [OFFICE], None),
        ("192.0.2.1", [LAN], "network"),
        ("192.0.2.1", [OFFICE, LAN], "network"),
        ("192.0.2.1", [OFFICE, ()], None),
        ("192.0.2.1", [(), LAN], "network"),
        ("no address", [OFFICE], "network"),
        ("", [("0.0.0.0/0", "::/0")], "network"),
    ],
)
def test_every_list_of_networks_must_have_the_address(address: str, allowed: list[tuple[str, ...]], bar: str | None):
    assert rules.network_block(address, *allowed) == bar


@pytest.mark.parametrize("role", list(Role))
def test_a_role_that_requires_a_second_factor_is_blocked_without(role: Role):
    others = [other.value for other in Role if other is not role]
    assert rules.second_factor_block(role, False, [role.value]) == "second_factor_required"
    assert rules.second_factor_block(role, True, [role.value]) is None
    assert rules.second_factor_block(role, False, others) is None
    assert rules.second_factor_block(role, False, ()) is None


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
    assert login_rules.account_key(email) == (key, label)


def test_a_signed_cookie_yields_its_token():
    assert rules.verify_token(VAULT, "admin", rules.sign_token(VAULT, "admin", "a-token")) == "a-token"


@given(st.text())
def test_no_other_text_is_accepted(text: str):
    assert rules.verify_token(VAULT, "admin", text) is None


@given(st.text(max_size=50), st.text(max_size=50))
def test_a_signature_fits_one_token_only(token: str, other: str):
    signature = rules.sign_token(VAULT, "admin", "a-token").rpartition(".")[2]
    assert rules.verify_token(VAULT, "admin", f"{token}.{signature}") is None or token == "a-token"
    assert rules.verify_token(VAULT, "admin", f"a-token.{other}") is None


def test_the_cookie_is_strict_and_not_for_scripts():
    cookie = rules.set_cookie("admin", "value", timedelta(hours=24))
    assert cookie == "svc_session=value; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Strict"
    assert "Max-Age=1;" in rules.set_cookie("admin", "value", seconds(0.36))
    assert rules.clear_cookie("admin").startswith("svc_session=; Max-Age=0;")
