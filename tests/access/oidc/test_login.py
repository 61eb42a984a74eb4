"""Logins by an identity, linking one, and disconnecting it."""

from __future__ import annotations

import ssl
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme

from mailkeep.core.secret import new_token
from mailkeep.settings.tree import AuthSettings
from tests.access.oidc.provider import CLIENT_ID, CLIENT_SECRET, Provider, Visitor, ended, question_of, settings_of
from tests.support.client import ADMIN_IDS, PASSWORD, Api, cookie_of, email_of, reason, token_of


async def link(api: Api, name: str, provider: Provider) -> None:
    """Link a test user to the provider's subject, by SQL."""
    await api.sql(
        """
        INSERT INTO oidc_identities (admin_id, issuer, subject, linked_at)
        VALUES (%(id)s, %(issuer)s, 'subject-1', %(at)s)
        """,
        id=ADMIN_IDS[name],
        issuer=provider.issuer,
        at=api.clock(),
    )
    await api.sql("UPDATE admins SET oidc_provider = 'acme' WHERE id = %(id)s", id=ADMIN_IDS[name])


async def test_a_linked_identity_opens_a_session_with_a_strict_cookie(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    answer = await visitor.log_in(provider)
    assert ended(answer) == ("/", {})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("svc_session=")
    assert cookie.endswith("Path=/; HttpOnly; Secure; SameSite=Strict")
    me = await api.nobody.with_cookie(cookie).get("/auth/me")
    assert (me.data["email"], me.data["oidc_provider"]) == (email_of("sue"), "acme")
    entry = (await api.audit_entries("auth.login"))[-1]
    assert (entry["outcome"], entry["details"]["method"]) == ("success", "oidc:acme")


async def test_a_lax_cookie_binds_the_login_to_the_browser(api: Api, provider: Provider, visitor: Visitor):
    answer = await visitor.client.get("/auth/oidc/login/acme")
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == "svc_oidc"
    assert rest.endswith("Max-Age=600; Path=/api/v1/auth/oidc; HttpOnly; Secure; SameSite=Lax")
    question = question_of(answer.headers["location"])
    assert question["redirect_uri"] == "https://mail.example.test/api/v1/auth/oidc/callback/acme"
    assert question["scope"] == "openid email profile"
    # The database has none of the secrets in the URL in plain text.
    (row,) = await api.sql("SELECT * FROM oidc_logins")
    assert question["state"].encode() not in bytes(row["state_hash"])
    assert question["nonce"] not in str(row)


async def test_providers_are_listed_for_everybody(api: Api, provider: Provider):
    answer = await api.nobody.get("/auth/oidc/providers")
    login_path = "/api/v1/auth/oidc/login/"
    assert answer.data == [
        {"id": "acme", "name": "Acme", "login_path": f"{login_path}acme"},
        {"id": "other", "name": "Acme", "login_path": f"{login_path}other"},
    ]


async def test_an_unknown_provider_is_not_found(api: Api):
    for path in ("login", "callback"):
        answer = await api.nobody.get(f"/auth/oidc/{path}/nobody")
        assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_an_identity_without_an_account_is_refused(api: Api, provider: Provider, visitor: Visitor):
    provider.claims = {"email": email_of("sue"), "email_verified": True}
    assert ended(await visitor.log_in(provider)) == ("/login", {"error": "FORBIDDEN", "reason": "not_linked"})
    provider.claims = {"email": "stranger@elsewhere.test", "email_verified": True}
    assert ended(await visitor.log_in(provider)) == ("/login", {"error": "FORBIDDEN", "reason": "no_account"})
    entries = await api.audit_entries("auth.login")
    assert [(e["outcome"], e["error_code"], e["details"]["reason"]) for e in entries] == [
        ("failed", "FORBIDDEN", "not_linked"),
        ("failed", "FORBIDDEN", "no_account"),
    ]
    assert not await api.sql("SELECT 1 FROM oidc_identities")


TRUSTING = pytest.mark.parametrize("options", [{"trust_email": True}])


@TRUSTING
@pytest.mark.parametrize(
    "claims, userinfo",
    [
        ({"email": "SUE@Example.TEST", "email_verified": True}, {}),
        ({"email": email_of("sue"), "email_verified": "true"}, {}),
        ({}, {"email": email_of("sue"), "email_verified": True}),
    ],
)
async def test_a_verified_email_links_if_the_provider_is_trusted(
    api: Api, provider: Provider, visitor: Visitor, claims: dict[str, Any], userinfo: dict[str, Any]
):
    provider.claims, provider.userinfo = claims, userinfo
    assert ended(await visitor.log_in(provider)) == ("/", {})
    (row,) = await api.sql("SELECT admin_id, issuer, subject FROM oidc_identities")
    assert row == {"admin_id": ADMIN_IDS["sue"], "issuer": provider.issuer, "subject": "subject-1"}
    (entry,) = await api.audit_entries("oidc.link")
    assert entry["actor_label"] == "oidc:acme"
    # From now on only the subject is compared.
    provider.claims, provider.userinfo = {"email": "renamed@elsewhere.test", "email_verified": True}, {}
    assert ended(await visitor.log_in(provider)) == ("/", {})


@TRUSTING
@pytest.mark.parametrize(
    "claims",
    [
        {"email": email_of("sue")},
        {"email": email_of("sue"), "email_verified": False},
        {"email": email_of("sue"), "email_verified": 1.5},
        {"email": f"{email_of('sue')}, x@y.test", "email_verified": True},
        {"email": [email_of("sue")], "email_verified": True},
        {"preferred_username": email_of("sue"), "email_verified": True},
    ],
)
async def test_an_unverified_email_is_ignored(api: Api, provider: Provider, visitor: Visitor, claims: dict[str, Any]):
    provider.claims = claims
    assert ended(await visitor.log_in(provider)) == ("/login", {"error": "FORBIDDEN", "reason": "no_account"})


@pytest.mark.parametrize(
    "options", [{"trust_email": True, "allowed_email_domains": ("acme.test",), "auto_create_role": "admin"}]
)
async def test_emails_count_only_within_the_allowed_domains(api: Api, provider: Provider, visitor: Visitor):
    provider.claims = {"email": email_of("sue"), "email_verified": True}
    assert ended(await visitor.log_in(provider))[1] == {"error": "FORBIDDEN", "reason": "no_account"}
    provider.claims = {"email": "new@acme.test", "email_verified": True}
    assert ended(await visitor.log_in(provider)) == ("/", {})


@TRUSTING
async def test_an_account_has_one_identity_at_most(api: Api, provider: Provider, visitor: Visitor):
    provider.claims = {"email": email_of("sue"), "email_verified": True}
    assert ended(await visitor.log_in(provider)) == ("/", {})
    provider.claims |= {"sub": "somebody else"}
    assert ended(await visitor.log_in(provider))[1] == {"error": "CONFLICT", "reason": "already_linked"}


@pytest.mark.parametrize("options", [{"auto_create_role": "admin"}])
async def test_super_admins_get_mail_about_an_admin_whom_the_provider_creates(
    api: Api, provider: Provider, visitor: Visitor
):
    provider.claims = {"email": "new@acme.test", "email_verified": True}
    await visitor.log_in(provider)
    (job,) = await api.sql("SELECT recipient, items FROM system_mail")
    (item,) = job["items"]
    assert (job["recipient"], item["actor"], item["email"]) == (email_of("sue"), "oidc:acme", "new@acme.test")


@pytest.mark.parametrize("options", [{"auto_create_role": "domain_admin"}])
async def test_an_account_is_created_if_the_provider_may(api: Api, provider: Provider, visitor: Visitor):
    provider.claims = {"email": "New@Acme.test", "email_verified": True}
    answer = await visitor.log_in(provider)
    new = api.nobody.with_cookie(answer.headers["set-cookie"])
    me = await new.get("/auth/me")
    assert (me.data["email"], me.data["role"], me.data["domain_ids"]) == ("New@acme.test", "domain_admin", [])
    (entry,) = [e for e in await api.audit_entries("admin.create") if e["actor_label"] == "oidc:acme"]
    assert entry["actor_type"] == "system"
    # It has no password, so its last login method cannot be removed.
    for password in ("", "any password at all"):
        refused = await api.nobody.post("/auth/login", {"email": "new@acme.test", "password": password or "x"})
        assert refused.code == "INVALID_CREDENTIALS"
    refused = await new.delete("/auth/oidc/disconnect")
    assert (refused.status, refused.code, reason(refused)) == (409, "CONFLICT", "last_way_in")
    # The same subject gets no second account.
    assert ended(await visitor.log_in(provider)) == ("/", {})
    assert len(await api.sql("SELECT 1 FROM admins WHERE email_key = 'new@acme.test'")) == 1


async def test_a_session_links_an_identity_and_the_other_sessions_end(api: Api, provider: Provider, visitor: Visitor):
    another = await api.log_in(email_of("dora"))
    mine = await api.log_in(email_of("dora"))
    there = await Visitor(api, mine).begin(provider, link=1, next="/settings")
    assert "svc_session" not in there.client.headers["cookie"]
    assert ended(await there.come_back(provider, provider.authorize(there.location))) == ("/settings", {})
    assert (await mine.get("/auth/me")).data["oidc_provider"] == "acme"
    assert (await another.get("/auth/me")).code == "SESSION_INVALID"
    (entry,) = await api.audit_entries("oidc.link")
    assert (entry["admin_id"], entry["outcome"]) == (ADMIN_IDS["dora"], "success")
    assert ended(await visitor.log_in(provider)) == ("/", {})


async def test_linking_needs_a_recent_session(api: Api, provider: Provider, visitor: Visitor):
    answer = await api.nobody.get("/auth/oidc/login/acme", link=1)
    assert ended(answer) == ("/login", {"error": "AUTH_REQUIRED"})
    mine = await api.log_in(email_of("dora"))
    api.clock.advance(minutes=16)
    answer = await mine.get("/auth/oidc/login/acme", link=1)
    assert ended(answer) == ("/login", {"error": "FORBIDDEN", "reason": "login_again"})
    answer = await api.unscoped.get("/auth/oidc/login/acme", link=1)
    assert ended(answer)[1]["error"] == "FORBIDDEN"
    assert not await api.sql("SELECT 1 FROM oidc_logins")


async def test_a_session_that_has_ended_links_nothing(api: Api, provider: Provider, visitor: Visitor):
    mine = await api.log_in(email_of("dora"))
    there = await Visitor(api, mine).begin(provider, link=1)
    (row,) = await api.sql("SELECT link_session_id FROM oidc_logins")
    await api.sql("UPDATE admins SET credentials_epoch = 7 WHERE id = %(id)s", id=ADMIN_IDS["dora"])
    answer = await there.come_back(provider, provider.authorize(there.location))
    assert ended(answer) == ("/login", {"error": "SESSION_INVALID"})
    assert row["link_session_id"] is not None
    assert not await api.sql("SELECT 1 FROM oidc_identities")


async def test_an_identity_belongs_to_one_account(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    mine = await api.log_in(email_of("dora"))
    there = await Visitor(api, mine).begin(provider, link=1)
    answer = await there.come_back(provider, provider.authorize(there.location))
    assert ended(answer) == ("/login", {"error": "CONFLICT", "reason": "identity_taken"})
    (entry,) = await api.audit_entries("oidc.link")
    assert (entry["admin_id"], entry["outcome"], entry["error_code"]) == (ADMIN_IDS["dora"], "failed", "CONFLICT")


async def test_disconnecting_leaves_the_password_and_ends_other_sessions(
    api: Api, provider: Provider, visitor: Visitor
):
    await link(api, "sue", provider)
    answer = await visitor.log_in(provider)
    by_identity = api.nobody.with_cookie(answer.headers["set-cookie"])
    answer = await api.sue.delete("/auth/oidc/disconnect")
    assert (answer.status, answer.data["oidc_provider"]) == (200, None)
    assert (await api.sue.get("/auth/me")).data["oidc_provider"] is None
    assert (await by_identity.get("/auth/me")).code == "SESSION_INVALID"
    assert (await api.sue.delete("/auth/oidc/disconnect")).code == "NOT_FOUND"
    assert ended(await visitor.log_in(provider))[1]["error"] == "FORBIDDEN"
    done, refused = await api.audit_entries("oidc.disconnect")
    assert done["details"]["before"] == {"oidc_provider": "acme"}
    assert refused["error_code"] == "NOT_FOUND"


async def test_the_second_factor_is_required_after_the_provider(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    authenticator = await api.factor("sue", enabled_at=api.clock())
    provider.claims = {"amr": ["pwd", "mfa"]}
    answer = await visitor.log_in(provider, next="/inbox")
    path, parameters = ended(answer)
    assert (path, parameters["methods"], parameters["next"]) == ("/login", "totp,recovery_code", "/inbox")
    assert "?" not in answer.headers["location"]
    assert "set-cookie" not in answer.headers
    step = {"totp_session": parameters["totp_session"], "totp_code": authenticator.next_code()}
    assert (await api.nobody.post("/auth/login", step)).status == 200


@pytest.mark.parametrize("options", [{"trusted_mfa": True}])
@pytest.mark.parametrize(
    "amr, required", [(["pwd", "mfa"], False), (["pwd"], True), ("mfa", True), (None, True), ([["mfa"]], True)]
)
async def test_the_second_factor_of_a_trusted_provider_counts(
    api: Api, provider: Provider, visitor: Visitor, amr: Any, required: bool
):
    await link(api, "sue", provider)
    await api.factor("sue", enabled_at=api.clock())
    provider.claims = {"amr": amr}
    assert ended(await visitor.log_in(provider))[0] == ("/login" if required else "/")


@pytest.mark.parametrize(
    "next_path, path",
    [
        ("/domains", "/domains"),
        ("/domains?x=1#y", "/domains"),
        ("//evil.test/", "/"),
        ("/\\evil.test/", "/"),
        ("https://evil.test/", "/"),
        ("/%0d%0aSet-Cookie:x", "/%0d%0aSet-Cookie:x"),
        ("/\r\nSet-Cookie: x=y", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.test", "/"),
        ("", "/"),
    ],
)
async def test_the_browser_ends_on_this_site(api: Api, provider: Provider, visitor: Visitor, next_path: str, path: str):
    await link(api, "sue", provider)
    begun = await visitor.client.get("/auth/oidc/login/acme", next=next_path)
    if begun.status == 400:  # control characters are refused before anything else
        return
    there = Visitor(api, api.nobody.with_cookie(begun.headers["set-cookie"]), begun.headers["location"])
    assert ended(await there.come_back(provider, provider.authorize(there.location)))[0] == path


async def test_two_logins_of_one_browser_can_be_in_progress(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    first = await visitor.begin(provider)
    second = await first.begin(provider)
    assert second.client == first.client
    for there in (second, first):
        assert ended(await there.come_back(provider, provider.authorize(there.location))) == ("/", {})


async def test_allowed_networks_apply_to_single_sign_on(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    there = await visitor.begin(provider)
    api.app.settings = replace(api.app.settings, auth=AuthSettings(allowed_networks=("10.0.0.0/8",)))
    answer = await there.come_back(provider, provider.authorize(there.location))
    assert ended(answer) == ("/login", {"error": "FORBIDDEN", "reason": "network"})
    assert ended(await visitor.client.get("/auth/oidc/login/acme"))[1]["reason"] == "network"


async def test_a_malformed_cookie_is_replaced(api: Api, provider: Provider):
    for cookie in ("svc_oidc=x", f"svc_oidc={'a' * 44}", cookie_of(token_of("sue"))):
        answer = await api.nobody.with_cookie(cookie).get("/auth/oidc/login/acme")
        assert answer.headers["set-cookie"].startswith("svc_oidc=")
        assert f"svc_oidc={'a' * 44}" not in answer.headers["set-cookie"]
    own = new_token()
    answer = await api.nobody.with_cookie(f"svc_oidc={own}").get("/auth/oidc/login/acme")
    assert f"svc_oidc={own};" in answer.headers["set-cookie"]


async def test_the_password_still_works_beside_an_identity(api: Api, provider: Provider):
    await link(api, "sue", provider)
    assert (await api.nobody.post("/auth/login", {"email": email_of("sue"), "password": PASSWORD})).status == 200


# Requests to the provider


async def test_the_client_secret_is_sent_in_the_header(api: Api, provider: Provider, visitor: Visitor):
    """RFC 6749 §2.3.1: both values are form-encoded before they are joined."""
    await link(api, "sue", provider)
    assert ended(await visitor.log_in(provider)) == ("/", {})
    basic = b64encode(b"mailkeep:a%20secret%3A%20with%25%20signs").decode()
    assert provider.credentials == (f"Basic {basic}", None, None)


async def test_the_client_secret_is_sent_in_the_body_if_configured(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    provider.document = {"token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"]}
    assert ended(await visitor.log_in(provider)) == ("/", {})
    assert provider.credentials == (None, CLIENT_ID, CLIENT_SECRET)


@pytest.mark.parametrize("options", [{"client_secret": ""}])
async def test_a_client_without_a_secret_sends_none(api: Api, provider: Provider, visitor: Visitor):
    await link(api, "sue", provider)
    assert ended(await visitor.log_in(provider)) == ("/", {})
    assert provider.credentials == (None, CLIENT_ID, None)


async def test_extra_ca_file_verifies_the_provider(api: Api, tmp_path: Path):
    authority, provider = trustme.CA(), Provider("acme", now=lambda: api.clock().timestamp())
    provider.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(provider.context)
    await provider.start()
    networks = ("127.0.0.0/8", "::1/128")
    api.app.settings = settings_of(provider.settings(), networks=networks)
    visitor = Visitor(api, api.nobody)
    assert ended(await visitor.client.get("/auth/oidc/login/acme"))[1]["error"] == "UNAVAILABLE"
    assert (await api.audit_entries("auth.login"))[-1]["details"]["reason"] == "tls"
    file = tmp_path / "ca.pem"
    file.write_bytes(authority.cert_pem.bytes())
    api.app.settings = settings_of(provider.settings(), networks=networks, extra_ca_file=str(file))
    api.clock.advance(seconds=5)
    await link(api, "sue", provider)
    assert ended(await visitor.log_in(provider)) == ("/", {})
    await provider.stop()
