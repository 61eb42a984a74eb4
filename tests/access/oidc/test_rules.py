"""Rules for paths, parameters and email addresses, without a server."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.errors import AuthRequired, Conflict, Forbidden, InvalidCredentials, Refusal, Unavailable
from mailkeep.features.access.oidc import rules
from mailkeep.settings import OidcProvider
from tests.support.client import VAULT

ACME = OidcProvider(id="acme", issuer="https://id.example", client_id="x")


@pytest.mark.parametrize(
    "text, path",
    [
        (None, "/"), ("", "/"), ("/", "/"), ("/a/b?c=d#e", "/a/b?c=d#e"), ("/%2f%2fevil.test", "/%2f%2fevil.test"),
        ("//evil.test", "/"), ("///evil.test", "/"), ("/\\evil.test", "/"), ("\\/evil.test", "/"), ("/?x", "/"),
        ("https://evil.test", "/"), ("evil.test", "/"), ("/a b", "/"), ("/a\nb", "/"), ("/a\x00", "/"), ("/é", "/"),
        (f"/{'x' * 500}", f"/{'x' * 500}"), (f"/{'x' * 501}", "/"),
    ],
)  # fmt: skip
def test_a_login_ends_on_a_local_path(text: str | None, path: str):
    assert rules.next_path(text) == path


@given(st.text(max_size=40) | st.text(alphabet="/\\.:@?#%\t\n a", max_size=12))
def test_no_text_leads_to_another_site(text: str):
    path = rules.next_path(text)
    parts = urlsplit(urljoin("https://mail.example/api/v1/auth/oidc/callback/acme", path))
    assert (parts.scheme, parts.netloc) == ("https", "mail.example")
    assert path.isascii()
    assert path.isprintable()


@given(st.lists(st.tuples(st.sampled_from(["state", "code", "iss", "error", "x"]), st.text(max_size=20)), max_size=6))
def test_any_query_is_parsed_or_refused(pairs: list[tuple[str, str]]):
    try:
        answer = rules.read_response(pairs)
    except InvalidCredentials:
        return
    assert answer.state
    assert [value for name, value in pairs if name == "state"] == [answer.state]


@pytest.mark.parametrize(
    "wrong, location",
    [
        (Forbidden(reason="no_account"), "/login?error=FORBIDDEN&reason=no_account"),
        (Conflict(reason="identity_taken"), "/login?error=CONFLICT&reason=identity_taken"),
        (Unavailable(reason="provider", cause="timeout"), "/login?error=UNAVAILABLE&reason=provider"),
        (InvalidCredentials(reason="token_nonce"), "/login?error=INVALID_CREDENTIALS"),
        (AuthRequired(), "/login?error=AUTH_REQUIRED"),
    ],
)
def test_users_see_reasons_that_they_can_act_on(wrong: Refusal, location: str):
    assert rules.error_location(wrong) == location


def test_the_token_is_in_the_fragment():
    location = rules.factor_location("token&x", ["totp", "passkey"], "/a?b=c")
    assert location == "/login#totp_session=token%26x&methods=totp%2Cpasskey&next=%2Fa%3Fb%3Dc"


def test_nonce_and_verifier_differ_and_belong_to_one_login():
    secrets = {rules.derive_secret(VAULT, purpose, state) for purpose in ("nonce", "verifier") for state in ("a", "b")}
    assert len(secrets) == 4
    assert {len(each) for each in secrets} == {43}


@pytest.mark.parametrize(
    "endpoint, url",
    [("https://id.example/auth", "https://id.example/auth?a=b+c"), ("https://x/?t=1", "https://x/?t=1&a=b+c")],
)
def test_parameters_are_added_to_the_query_of_the_endpoint(endpoint: str, url: str):
    assert rules.authorization_url(endpoint, {"a": "b c"}) == url


def test_the_callback_is_below_the_public_url():
    for public_url in ("https://mail.example", "https://mail.example/"):
        assert rules.callback_url(public_url, ACME) == "https://mail.example/api/v1/auth/oidc/callback/acme"
