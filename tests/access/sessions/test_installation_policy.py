"""Requirements of the installation: second factors by role, and allowed networks."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from mailkeep.settings.tree import AuthSettings
from tests.support.client import KEY_IDS, PASSWORD, Api, reason

SUE = {"email": "sue@example.test", "password": PASSWORD}
Ask = Callable[[AuthSettings], None]


@pytest.fixture
def ask(api: Api) -> Ask:
    """Change `auth.*` of the running application."""

    def change(auth: AuthSettings) -> None:
        api.app.settings = replace(api.app.settings, auth=auth)

    return change


class TestSecondFactorRequired:
    async def test_until_enrolled_only_enrolment_is_allowed(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("admin", "super_admin")))
        answer = await api.nobody.post("/auth/login", SUE)
        assert answer.data["admin"]["second_factor_required"] is True
        sue = api.nobody.with_cookie(answer.headers["set-cookie"])
        for method, path in (
            ("GET", "/domains"),
            ("GET", "/auth/sessions"),
            ("GET", "/admins"),
            ("POST", "/auth/logout-all"),
            ("POST", "/auth/password"),
            ("POST", "/api-keys"),
            ("DELETE", "/auth/totp"),
            ("POST", "/auth/totp/recovery-codes"),
        ):
            answer = await sue(method, path)
            assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "second_factor_required"), path
        assert (await sue.get("/auth/me")).data["second_factor_required"] is True
        await api.enrol(sue)
        assert (await sue.get("/auth/me")).data["second_factor_required"] is False
        assert (await sue.get("/domains")).status == 200
        assert (await sue.post("/auth/logout")).status == 200

    async def test_logging_out_is_allowed_before_enrolment(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("super_admin",)))
        assert (await api.sue.post("/auth/logout")).status == 200

    async def test_other_roles_are_not_affected(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("super_admin",)))
        assert (await api.adam.get("/domains")).status == 200
        assert (await api.dora.get("/auth/me")).data["second_factor_required"] is False
        assert reason(await api.sue.get("/domains")) == "second_factor_required"

    async def test_a_key_is_blocked_like_its_owner(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("super_admin",)))
        assert reason(await api.unscoped.get("/domains")) == "second_factor_required"
        assert (await api.unscoped.get("/auth/me")).status == 200
        assert (await api.scoped.get("/domains")).status == 200
        await api.enrol(api.sue)
        assert (await api.unscoped.get("/domains")).status == 200

    async def test_the_current_role_counts(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("admin",)))
        await api.sql("UPDATE admins SET role = 'domain_admin' WHERE email = 'adam@example.test'")
        assert (await api.adam.get("/domains")).status == 200
        await api.sql("UPDATE admins SET role = 'admin' WHERE email = 'dora@example.test'")
        assert reason(await api.dora.get("/domains")) == "second_factor_required"

    async def test_after_disabling_enrolment_is_required_again(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("super_admin",)))
        sue = await api.enrol(api.sue)
        assert (await api.sue("DELETE", "/auth/totp", {"code": sue.next_code()})).status == 200
        assert reason(await api.sue.get("/domains")) == "second_factor_required"

    async def test_a_refused_change_is_audited(self, api: Api, ask: Ask):
        ask(AuthSettings(require_second_factor=("admin",)))
        await api.adam.post("/domains", {"name": "new.test"})
        (entry,) = await api.audit_entries("domain.create")
        assert (entry["outcome"], entry["details"]) == ("denied", {"reason": "second_factor_required"})
        assert await api.sql("SELECT id FROM domains WHERE name = 'new.test'") == []


class TestAllowedNetworks:
    INSIDE, OUTSIDE = "198.51.100.7", "203.0.113.7"

    @pytest.fixture(autouse=True)
    def bound(self, ask: Ask) -> None:
        ask(AuthSettings(allowed_networks=("198.51.100.0/24", "2001:db8::/32")))

    async def test_outside_allowed_networks_everything_is_refused(self, api: Api):
        for client in (api.sue, api.dora, api.unscoped, api.scoped):
            for path in ("/auth/me", "/domains", f"/admins/{KEY_IDS['scoped']}"):
                answer = await client.from_address(self.OUTSIDE).get(path)
                assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "network")
            assert (await client.from_address(self.INSIDE).get("/domains")).status == 200
            assert (await client.from_address("2001:db8:7::1").get("/domains")).status == 200

    async def test_a_login_outside_does_not_reveal_if_the_password_is_right(self, api: Api):
        outside = api.nobody.from_address(self.OUTSIDE)
        for body in (SUE, SUE | {"password": "wrong"}, {"totp_session": "x", "totp_code": "123456"}):
            answer = await outside.post("/auth/login", body)
            assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "network")
        assert await api.sql("SELECT account FROM sign_in_failures") == []
        await api.log_in("sue@example.test", address=self.INSIDE)

    async def test_public_endpoints_stay_public(self, api: Api):
        assert (await api.nobody.from_address(self.OUTSIDE).get("/health")).status == 200
        assert (await api.sue.from_address(self.OUTSIDE).get("/health")).status == 200

    async def test_the_networks_of_a_key_apply_too(self, api: Api):
        key, _ = await api.key(api.sue.from_address(self.INSIDE), allowed_networks=["198.51.100.0/28", self.OUTSIDE])
        assert (await key.from_address(self.INSIDE).get("/domains")).status == 200
        for address in ("198.51.100.77", self.OUTSIDE):
            assert reason(await key.from_address(address).get("/domains")) == "network"

    async def test_calls_from_outside_are_not_counted(self, api: Api):
        key, _ = await api.key(api.sue.from_address(self.INSIDE), rate_limit=2)
        assert {reason(await key.from_address(self.OUTSIDE).get("/domains")) for _ in range(4)} == {"network"}
        assert [(await key.from_address(self.INSIDE).get("/domains")).status for _ in range(3)] == [200, 200, 429]

    async def test_the_network_is_checked_first(self, api: Api):
        outside = api.dora.from_address(self.OUTSIDE)
        for method, path in (("POST", "/admins"), ("GET", "/sandbox/messages"), ("DELETE", "/domains/x")):
            assert reason(await outside(method, path)) == "network"
        assert (await api.nobody.from_address(self.OUTSIDE).get("/domains")).code == "AUTH_REQUIRED"


async def test_a_forged_address_is_not_accepted(api: Api, ask: Ask):
    ask(AuthSettings(allowed_networks=("198.51.100.0/24",)))
    forged = {"x-forwarded-for": "198.51.100.7"}
    assert reason(await api.sue("GET", "/domains", headers=forged)) == "network"
    api.app.settings = replace(api.app.settings, http=replace(api.app.settings.http, trusted_proxies=("192.0.2.0/24",)))
    assert (await api.sue("GET", "/domains", headers=forged)).status == 200
    forwarded = {"x-forwarded-for": "198.51.100.7, 203.0.113.7"}
    assert reason(await api.sue("GET", "/domains", headers=forwarded)) == "network"
