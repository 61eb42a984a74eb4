"""Listing and ending sessions, and the changes that end them."""

from dataclasses import replace

import pytest

from tests.support.client import ADMIN_IDS, PASSWORD, SESSION_IDS, Api, email_of, reason

NEW = "incorrect pony charger clip"


async def test_me_returns_the_own_account(api: Api):
    account = (await api.dora.get("/auth/me")).data
    assert (account["id"], account["email"], account["role"]) == (
        str(ADMIN_IDS["dora"]),
        "dora@example.test",
        "domain_admin",
    )
    assert (account["totp_enabled"], account["oidc_provider"], account["last_login_at"]) == (False, None, None)


async def test_a_key_reads_but_does_not_change_its_owners_account(api: Api):
    for client, owner in ((api.scoped, "adam"), (api.unscoped, "sue")):
        assert (await client.get("/auth/me")).data["id"] == str(ADMIN_IDS[owner])
        (session,) = (await client.get("/auth/sessions")).data
        assert (session["id"], session["current"]) == (str(SESSION_IDS[owner]), False)
        for method, path, body in (
            ("POST", "/auth/logout", None),
            ("POST", "/auth/logout-all", None),
            ("DELETE", f"/auth/sessions/{session['id']}", None),
            ("POST", "/auth/password", {"current_password": PASSWORD, "new_password": NEW}),
        ):
            answer = await client(method, path, body)
            assert (answer.status, answer.code) == (403, "FORBIDDEN"), path
        assert (await api.session(owner).get("/auth/me")).status == 200


async def test_only_active_sessions_are_listed_the_current_one_marked(api: Api):
    old = await api.log_in("sue@example.test")
    api.clock.advance(hours=20)
    new = await api.log_in("sue@example.test")
    api.clock.advance(hours=10)
    assert (await old.get("/auth/me")).code == "SESSION_INVALID"
    listed = (await new.get("/auth/sessions")).data
    assert [row["current"] for row in listed] == [True, False]
    assert listed[1]["id"] == str(SESSION_IDS["sue"])
    assert {"id", "ip_address", "user_agent", "created_at", "expires_at"} <= listed[0].keys()


async def test_a_session_ends_at_its_absolute_end(api: Api):
    client = await api.log_in("sue@example.test")
    api.clock.advance(hours=23, minutes=59)
    assert (await client.get("/auth/me")).status == 200
    api.clock.advance(minutes=1)
    answer = await client.get("/auth/me")
    assert (answer.status, answer.code) == (401, "SESSION_INVALID")


async def test_logout_ends_the_session_and_clears_the_cookie(api: Api):
    other = await api.log_in("sue@example.test")
    answer = await api.sue.post("/auth/logout")
    assert answer.status == 200
    assert answer.data["message"]
    assert answer.headers["set-cookie"].startswith("svc_session=; Max-Age=0; Path=/;")
    assert (await api.sue.get("/auth/me")).code == "SESSION_INVALID"
    assert (await other.get("/auth/me")).status == 200


async def test_logout_all_ends_every_session_of_the_admin_only(api: Api):
    other = await api.log_in("sue@example.test")
    answer = await api.sue.post("/auth/logout-all", {})
    assert (answer.status, answer.data["sessions_ended"]) == (200, 2)
    assert "Max-Age=0" in answer.headers["set-cookie"]
    for client in (api.sue, other):
        assert (await client.get("/auth/me")).code == "SESSION_INVALID"
    assert (await api.adam.get("/auth/me")).status == 200
    assert (await api.unscoped.get("/auth/me")).status == 200


async def test_a_session_is_ended_by_its_id(api: Api):
    other = await api.log_in("sue@example.test")
    (session,) = [row for row in (await other.get("/auth/sessions")).data if row["current"]]
    answer = await api.sue.delete(f"/auth/sessions/{session['id']}")
    assert (answer.status, answer.data["id"]) == (200, session["id"])
    assert "set-cookie" not in answer.headers
    assert (await other.get("/auth/me")).code == "SESSION_INVALID"
    own = await api.sue.delete(f"/auth/sessions/{SESSION_IDS['sue']}")
    assert "Max-Age=0" in own.headers["set-cookie"]


async def test_sessions_of_others_are_not_found(api: Api):
    for name in (str(SESSION_IDS["adam"]), str(ADMIN_IDS["adam"]), "nonsense", str(SESSION_IDS["adam"]).upper()):
        answer = await api.sue.delete(f"/auth/sessions/{name}")
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
    assert (await api.adam.get("/auth/me")).status == 200


async def test_the_id_of_a_session_is_no_credential(api: Api):
    for value in (str(SESSION_IDS["sue"]), f"{SESSION_IDS['sue']}.x"):
        answer = await api.nobody.with_cookie(f"svc_session={value}").get("/auth/me")
        assert answer.code == "SESSION_INVALID"


class TestPassword:
    async def test_a_new_password_ends_the_other_sessions_only(self, api: Api):
        other = await api.log_in("sue@example.test")
        answer = await api.sue.post("/auth/password", {"current_password": PASSWORD, "new_password": NEW})
        assert (answer.status, answer.data["sessions_ended"]) == (200, 1)
        assert (await api.sue.get("/auth/me")).status == 200
        assert (await other.get("/auth/me")).code == "SESSION_INVALID"
        assert (await api.unscoped.get("/auth/me")).status == 200
        fresh = await api.log_in("sue@example.test", NEW)
        again = {"current_password": NEW, "new_password": PASSWORD}
        assert (await fresh.post("/auth/password", again)).data["sessions_ended"] == 1
        assert (await api.sue.get("/auth/me")).code == "SESSION_INVALID"
        assert (await fresh.get("/auth/me")).status == 200

    async def test_the_old_password_no_longer_works(self, api: Api):
        await api.sue.post("/auth/password", {"current_password": PASSWORD, "new_password": NEW})
        answer = await api.nobody.post("/auth/login", {"email": "sue@example.test", "password": PASSWORD})
        assert answer.code == "INVALID_CREDENTIALS"

    async def test_a_weak_password_is_refused(self, api: Api):
        for new, why in (("short", "too_short"), ("sue@example.test", "email"), ("1234567890", "common")):
            answer = await api.sue.post("/auth/password", {"current_password": PASSWORD, "new_password": new})
            assert (answer.status, answer.code, reason(answer)) == (400, "WEAK_PASSWORD", why)

    async def test_a_stolen_session_can_not_guess_the_password(self, api: Api):
        wrong = {"current_password": "a guess", "new_password": NEW}
        for _ in range(10):
            answer = await api.sue.post("/auth/password", wrong)
            assert (answer.status, answer.code) == (401, "INVALID_CREDENTIALS")
        answer = await api.sue.post("/auth/password", {"current_password": PASSWORD, "new_password": NEW})
        assert (answer.status, answer.headers["retry-after"]) == (429, "30")
        await api.log_in("sue@example.test")

    async def test_the_audit_log_contains_no_password(self, api: Api):
        await api.sue.post("/auth/password", {"current_password": "a wrong guess", "new_password": NEW})
        await api.sue.post("/auth/password", {"current_password": PASSWORD, "new_password": NEW})
        failed, changed = await api.audit_entries("admin.password")
        assert (failed["outcome"], failed["error_code"]) == ("failed", "INVALID_CREDENTIALS")
        assert changed["details"] == {"before": {"password": "(secret)"}, "after": {"password": "(secret)"}}
        assert not any(text in str((failed, changed)) for text in (PASSWORD, NEW, "guess", "argon2"))


class TestWhereItComesFrom:
    """The address and user agent of a session."""

    async def client_of(self, api: Api, peer: str, headers: dict[str, str]) -> tuple[str, str | None]:
        body = {"email": email_of("sue"), "password": PASSWORD}
        answer = await api.nobody.from_address(peer)("POST", "/auth/login", body, headers=headers)
        client = api.nobody.with_cookie(answer.headers["set-cookie"])
        (row,) = [row for row in (await client.get("/auth/sessions")).data if row["current"]]
        return row["ip_address"], row["user_agent"]

    @pytest.mark.parametrize(
        "peer, forwarded, address",
        [
            ("203.0.113.7", None, "203.0.113.7"),
            ("203.0.113.7", "198.51.100.7", "203.0.113.7"),
            ("192.0.2.1", None, "192.0.2.1"),
            ("192.0.2.1", "198.51.100.7", "198.51.100.7"),
            ("192.0.2.1", "10.9.9.9, 198.51.100.7", "198.51.100.7"),
            ("192.0.2.1", "198.51.100.7, 192.0.2.9", "198.51.100.7"),
            ("192.0.2.1", "nonsense", "192.0.2.1"),
            ("192.0.2.1", "198.51.100.7, nonsense", "192.0.2.1"),
            ("::ffff:192.0.2.1", "2001:DB8::7", "2001:db8::7"),
        ],
    )
    async def test_only_a_trusted_proxy_sets_the_address(
        self, shared_api: Api, peer: str, forwarded: str | None, address: str
    ):
        settings = shared_api.app.settings
        shared_api.app.settings = replace(settings, http=replace(settings.http, trusted_proxies=("192.0.2.0/24",)))
        try:
            headers = {"x-forwarded-for": forwarded} if forwarded else {}
            assert (await self.client_of(shared_api, peer, headers))[0] == address
        finally:
            shared_api.app.settings = settings

    async def test_without_trusted_proxies_the_header_is_ignored(self, shared_api: Api):
        for name in ("x-forwarded-for", "x-real-ip", "forwarded"):
            assert (await self.client_of(shared_api, "192.0.2.1", {name: "198.51.100.7"}))[0] == "192.0.2.1"

    async def test_the_user_agent_is_truncated(self, shared_api: Api):
        assert (await self.client_of(shared_api, "192.0.2.1", {"user-agent": "curl/8"}))[1] == "curl/8"
        assert (await self.client_of(shared_api, "192.0.2.1", {}))[1] is None
        assert (await self.client_of(shared_api, "192.0.2.1", {"user-agent": "x" * 5000}))[1] == "x" * 500


async def test_a_session_ends_with_account_role_password_or_factor(api: Api):
    """Each change by another caller or session ends the session immediately."""
    path = f"/admins/{ADMIN_IDS['adam']}"
    for change in (
        lambda: api.sue.patch(path, {"password": NEW}),
        lambda: api.sue.patch(path, {"role": "domain_admin"}),
        lambda: api.sue.patch(path, {"role": "super_admin"}),
        lambda: api.sue.delete(path),
    ):
        password = NEW if await api.audit_entries("admin.update") else PASSWORD
        adam = await api.log_in("adam@example.test", password)
        assert (await adam.get("/auth/me")).status == 200
        assert (await change()).status == 200
        assert (await adam.get("/auth/me")).code == "SESSION_INVALID"
