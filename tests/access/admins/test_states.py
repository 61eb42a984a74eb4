"""Disabled administrators, and those that must change their password."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mailkeep.features.directory.bulk.jobs import BulkWorker
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, PASSWORD, Api, Client, email_of, reason

CHOSEN = "seven green bottles"
DORA = f"/admins/{ADMIN_IDS['dora']}"


async def log_in(api: Api, name: str, password: str = PASSWORD) -> tuple[int, str | None]:
    answer = await api.nobody.post("/auth/login", {"email": email_of(name), "password": password})
    return answer.status, answer.code


async def test_a_disabled_admin_can_not_sign_in_or_use_keys_until_enabled_again(api: Api):
    key, _ = await api.key(api.dora)
    await api.factor("dora", enabled_at=api.clock())
    pending = await api.nobody.post("/auth/login", {"email": email_of("dora"), "password": PASSWORD})
    answer = await api.sue.patch(DORA, {"active": False})
    assert (answer.status, answer.data["active"]) == (200, False)
    assert (await api.dora.get("/auth/me")).code == "SESSION_INVALID"
    assert await log_in(api, "dora") == (401, "INVALID_CREDENTIALS")
    second = {"totp_session": pending.data["totp_session"], "totp_code": "123456"}
    assert (await api.nobody.post("/auth/login", second)).code == "SESSION_INVALID"
    refused = await key.get("/auth/me")
    assert (refused.status, refused.code, refused.json["error"]["details"]) == (401, "API_KEY_INVALID", None)
    await api.sue.patch(DORA, {"active": True})
    assert (await key.get("/auth/me")).status == 200
    assert (await api.dora.get("/auth/me")).code == "SESSION_INVALID"
    assert (await log_in(api, "dora"))[0] == 200
    before_after = [entry["details"] for entry in await api.audit_entries("admin.update")]
    assert before_after == [
        {"before": {"active": True}, "after": {"active": False}},
        {"before": {"active": False}, "after": {"active": True}},
    ]


async def test_signing_in_while_disabled_looks_like_an_unknown_account(api: Api):
    await api.sue.patch(DORA, {"active": False})
    known = await api.nobody.post("/auth/login", {"email": email_of("dora"), "password": PASSWORD})
    unknown = await api.nobody.post("/auth/login", {"email": "who@example.test", "password": PASSWORD})
    assert known.json["error"] == unknown.json["error"]


async def test_a_passkey_of_a_disabled_admin_is_refused(api: Api):
    key, _ = await api.passkey("dora")
    options = await api.nobody.post("/auth/passkeys/login/options")
    await api.sue.patch(DORA, {"active": False})
    answer = await api.nobody.post("/auth/passkeys/login/verify", {"credential": key.get(options.data["options"])})
    assert (answer.status, answer.code) == (401, "INVALID_CREDENTIALS")


async def test_the_bulk_operation_of_a_disabled_admin_stops(api: Api):
    items = [{"address": f"new@{EXAMPLE}", "password": CHOSEN}]
    answer = await api.dora.post("/mailboxes/bulk", {"action": "create", "items": items})
    await api.sue.patch(DORA, {"active": False})
    await BulkWorker(api.app).drain()
    [result] = (await api.sue.get(f"/operations/{answer.data['operation_id']}")).data["results"]
    assert result["error"]["code"] == "FORBIDDEN"


async def test_a_disabled_admin_gets_no_mail_for_postmaster(api: Api):
    await api.sql(
        "UPDATE admins SET email = 'dora@elsewhere.test', email_key = 'dora@elsewhere.test' WHERE id = %(id)s",
        id=ADMIN_IDS["dora"],
    )

    async def administrators() -> list[str]:
        [row] = await api.sql("SELECT a.keys FROM route_administrators(%(id)s) a", id=DOMAIN_IDS[EXAMPLE])
        return row["keys"]

    assert await administrators() == ["dora@elsewhere.test"]
    await api.sue.patch(DORA, {"active": False})
    assert "dora@elsewhere.test" not in await administrators()


async def test_super_admins_hear_of_a_disabled_admin(api: Api):
    await api.sue.patch(DORA, {"active": False})  # a domain_admin: no mail
    await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"active": False})
    await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"active": True})
    rows = await api.sql("SELECT recipient, items FROM system_mail ORDER BY id")
    assert [(row["recipient"], row["items"][0]["changes"]) for row in rows] == [
        (email_of("sue"), ["disabled"]),
        (email_of("sue"), ["enabled"]),
    ]


class TestLastActiveSuperAdmin:
    @pytest.mark.parametrize("change", [{"active": False}, {"role": "admin"}])
    async def test_a_disabled_one_does_not_count(self, api: Api, change: dict[str, Any]):
        sue, adam = f"/admins/{ADMIN_IDS['sue']}", f"/admins/{ADMIN_IDS['adam']}"
        assert (await api.sue.patch(adam, {"role": "super_admin"})).status == 200
        assert (await api.sue.patch(adam, {"active": False})).status == 200
        answer = await api.sue.patch(sue, change)
        assert (answer.status, reason(answer)) == (409, "last_super_admin")
        assert reason(await api.sue.delete(sue)) == "last_super_admin"
        assert (await api.sue.delete(adam)).status == 200  # a disabled one can go

    async def test_two_that_disable_each_other_at_once(self, api: Api):
        sue, adam = f"/admins/{ADMIN_IDS['sue']}", f"/admins/{ADMIN_IDS['adam']}"
        await api.sql("UPDATE admins SET role = 'super_admin' WHERE id = %(id)s", id=ADMIN_IDS["adam"])
        for _ in range(5):
            await api.sql("UPDATE admins SET active = true, credentials_epoch = 0")
            await asyncio.gather(api.sue.patch(adam, {"active": False}), api.adam.patch(sue, {"active": False}))
            rows = await api.sql("SELECT count(*) AS n FROM admins WHERE role = 'super_admin' AND active")
            assert rows[0]["n"] >= 1

    async def test_one_of_two_may_disable_itself(self, api: Api):
        await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"role": "super_admin"})
        assert (await api.sue.patch(f"/admins/{ADMIN_IDS['sue']}", {"active": False})).status == 200
        assert (await api.sue.get("/auth/me")).code == "SESSION_INVALID"


class TestMustChangePassword:
    async def refusals(self, client: Client) -> set[str | None]:
        calls = [
            ("GET", "/domains"), ("GET", "/admins"), ("GET", "/auth/sessions"), ("GET", "/auth/passkeys"),
            ("POST", "/auth/logout-all"), ("POST", "/auth/totp/setup"), ("POST", "/api-keys"), ("POST", "/send"),
            ("GET", "/events/stream"), ("PATCH", f"/admins/{ADMIN_IDS['dora']}"),
        ]  # fmt: skip
        answers = [await client(method, path) for method, path in calls]
        assert {(answer.status, answer.code) for answer in answers} == {(403, "FORBIDDEN")}
        return {reason(answer) for answer in answers}

    async def test_only_the_password_can_be_changed(self, api: Api):
        assert (await api.sue.patch(DORA, {"must_change_password": True})).data["must_change_password"] is True
        assert await self.refusals(api.dora) == {"password_change_required"}
        assert (await api.dora.get("/auth/me")).data["must_change_password"] is True
        login = await api.nobody.post("/auth/login", {"email": email_of("dora"), "password": PASSWORD})
        assert login.data["admin"]["must_change_password"] is True
        same = {"current_password": PASSWORD, "new_password": PASSWORD}
        answer = await api.dora.post("/auth/password", same)
        assert (answer.code, reason(answer)) == ("WEAK_PASSWORD", "unchanged")
        assert (await api.dora.post("/auth/password", same | {"new_password": CHOSEN})).status == 200
        assert (await api.dora.get("/domains")).status == 200
        assert (await api.dora.get("/auth/me")).data["must_change_password"] is False

    async def test_it_may_sign_out(self, api: Api):
        await api.sue.patch(DORA, {"must_change_password": True})
        assert (await api.dora.post("/auth/logout")).status == 200

    async def test_keys_are_blocked_like_their_owner(self, api: Api):
        key, _ = await api.key(api.dora)
        await api.sue.patch(DORA, {"must_change_password": True})
        assert reason(await key.get("/domains")) == "password_change_required"
        assert (await key.get("/auth/me")).status == 200
        await api.sue.patch(DORA, {"must_change_password": False})
        assert (await key.get("/domains")).status == 200

    async def test_it_comes_before_the_second_factor(self, api: Api):
        body = {"email": "nora@example.test", "password": CHOSEN, "must_change_password": True}
        answer = await api.sue.post("/admins", body)
        assert (answer.status, answer.data["must_change_password"]) == (201, True)
        nora = await api.log_in("nora@example.test", CHOSEN)
        assert await self.refusals(nora) == {"password_change_required"}

    async def test_it_is_for_others_and_their_new_password_keeps_it(self, api: Api):
        answer = await api.sue.patch(f"/admins/{ADMIN_IDS['sue']}", {"must_change_password": True})
        assert (answer.status, answer.code) == (403, "FORBIDDEN")
        assert (await api.adam.patch(DORA, {"must_change_password": True})).status == 403
        await api.sue.patch(DORA, {"password": CHOSEN, "must_change_password": True})
        await api.sue.patch(DORA, {"password": "eight green bottles"})
        dora = await api.log_in(email_of("dora"), "eight green bottles")
        assert reason(await dora.get("/domains")) == "password_change_required"
        [*_, entry] = await api.audit_entries("admin.update")
        assert entry["details"]["after"] == {"password": "(secret)"}
