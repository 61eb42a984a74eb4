"""Administrators over HTTP."""

import asyncio
from typing import Any

import pytest

from mailkeep.core.ids import uuid7
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, PASSWORD, START, Api, email_of, faults, reason

NORA = {"email": "nora@example.test", "password": "seven green bottles"}
UNKNOWN = uuid7(START)


def names(listed: list[dict[str, Any]]) -> list[str]:
    return [row["email"].partition("@")[0] for row in listed]


async def test_lists_show_the_visible_administrators(shared_api: Api):
    answer = await shared_api.sue.get("/admins")
    assert names(answer.data) == ["otto", "dora", "adam", "sue"]
    assert "pagination" not in answer.json["meta"]
    assert names((await shared_api.adam.get("/admins")).data) == ["otto", "dora", "adam", "sue"]
    assert names((await shared_api.unscoped.get("/admins")).data) == ["otto", "dora", "adam", "sue"]
    assert names((await shared_api.dora.get("/admins")).data) == ["dora"]
    assert names((await shared_api.otto.get("/admins")).data) == ["otto"]
    assert names((await shared_api.scoped.get("/admins")).data) == ["adam"]


async def test_domain_admins_see_only_accounts_that_share_a_domain(api: Api):
    both = [DOMAIN_IDS[EXAMPLE], DOMAIN_IDS[OTHER]]
    await api.sue.post("/admins", NORA | {"role": "domain_admin", "domain_ids": both})
    listed = (await api.dora.get("/admins")).data
    assert names(listed) == ["nora", "dora"]
    assert listed[0]["domain_ids"] == [str(DOMAIN_IDS[EXAMPLE])]


async def test_a_record_has_the_documented_fields_and_no_password(shared_api: Api):
    (admin,) = (await shared_api.dora.get("/admins")).data
    assert admin.keys() == {
        "id",
        "email",
        "role",
        "active",
        "must_change_password",
        "totp_enabled",
        "passkeys",
        "oidc_provider",
        "last_login_at",
        "domain_ids",
        "created_at",
        "updated_at",
    }


async def test_a_super_admin_creates_an_admin_who_can_log_in(api: Api):
    answer = await api.sue.post("/admins", NORA)
    assert answer.status == 201
    assert (answer.data["email"], answer.data["role"], answer.data["domain_ids"]) == (
        "nora@example.test",
        "admin",
        [],
    )
    nora = await api.log_in("Nora@Example.Test", "seven green bottles")
    assert (await nora.get("/auth/me")).data["id"] == answer.data["id"]
    assert (await api.sue.get(f"/admins/{answer.data['id']}")).data["last_login_at"] is not None
    (entry,) = await api.audit_entries("admin.create")
    assert entry["details"]["after"] == {
        "email": "nora@example.test", "role": "admin", "active": True, "must_change_password": False, "domain_ids": [],
    }  # fmt: skip
    assert (entry["admin_id"], entry["resource_id"]) == (ADMIN_IDS["sue"], answer.data["id"])


async def test_an_unscoped_super_admin_key_may_create_a_scoped_one_not(api: Api):
    scoped, _ = await api.key(api.sue, scoped_domain_ids=[DOMAIN_IDS[EXAMPLE]])
    assert (await scoped.post("/admins", NORA)).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.unscoped.post("/admins", NORA)).status == 201


@pytest.mark.parametrize(
    "body, status, code, details",
    [
        ({}, 400, "MISSING_FIELDS", ["email", "password"]),
        (NORA | {"email": ""}, 400, "MISSING_FIELDS", ["email"]),
        (NORA | {"email": "nora"}, 400, "INVALID_FIELD", ["email"]),
        (NORA | {"role": "root"}, 400, "INVALID_FIELD", ["role"]),
        (NORA | {"domain_ids": "all"}, 400, "INVALID_FIELD", ["domain_ids"]),
        (NORA | {"domain_ids": ["x"]}, 400, "INVALID_FIELD", ["domain_ids[0]"]),
        (NORA | {"admin": True}, 400, "INVALID_FIELD", ["admin"]),
        (NORA | {"password": "short"}, 400, "WEAK_PASSWORD", "too_short"),
        (NORA | {"password": "x" * 257}, 400, "WEAK_PASSWORD", "too_long"),
        (NORA | {"password": "Password"}, 400, "WEAK_PASSWORD", "common"),
        (NORA | {"password": "Nora@example.test"}, 400, "WEAK_PASSWORD", "email"),
        (NORA | {"domain_ids": [DOMAIN_IDS[EXAMPLE], UNKNOWN]}, 404, "DOMAIN_NOT_FOUND", None),
        (NORA | {"email": "SUE@example.test"}, 409, "CONFLICT", "email_taken"),
    ],
)
async def test_an_invalid_admin_is_refused(shared_api: Api, body: Any, status: int, code: str, details: Any):
    answer = await shared_api.sue.post("/admins", body)
    assert (answer.status, answer.code) == (status, code)
    if details is not None:
        assert (faults(answer) if isinstance(details, list) else reason(answer)) == details
    assert len((await shared_api.sue.get("/admins")).data) == len(ADMIN_IDS)


@pytest.mark.parametrize("method, path", [("POST", ""), ("PATCH", "/{id}"), ("DELETE", "/{id}")])
async def test_only_super_admins_write(api: Api, method: str, path: str):
    target = "/admins" + path.replace("{id}", str(ADMIN_IDS["otto"]))
    for name in ("adam", "dora", "otto", "scoped"):
        answer = await api.callers[name](method, target, {} if method != "DELETE" else None)
        assert (answer.status, answer.code) == (403, "FORBIDDEN"), name
    denied = await api.sql("SELECT outcome FROM audit_entries WHERE resource_type = 'admin'")
    assert [row["outcome"] for row in denied] == ["denied"] * 4


async def test_one_admin_is_shown_to_those_who_may_see_it(shared_api: Api):
    path = f"/admins/{ADMIN_IDS['adam']}"
    assert (await shared_api.sue.get(path)).data["email"] == email_of("adam")
    assert (await shared_api.scoped.get(path)).data["email"] == email_of("adam")
    assert (await shared_api.dora.get(path)).code == "FORBIDDEN"
    assert (await shared_api.scoped.get(f"/admins/{ADMIN_IDS['sue']}")).code == "API_KEY_DOMAIN_SCOPE"
    for unknown in (UNKNOWN, "nonsense", str(ADMIN_IDS["adam"]).upper()):
        assert (await shared_api.sue.get(f"/admins/{unknown}")).code == "NOT_FOUND"


class TestChange:
    async def test_email_and_domains(self, api: Api):
        path = f"/admins/{ADMIN_IDS['dora']}"
        body = {"email": "Dora@other.test", "domain_ids": [DOMAIN_IDS[OTHER], DOMAIN_IDS[OTHER]]}
        answer = await api.sue.patch(path, body)
        assert answer.status == 200
        assert (answer.data["email"], answer.data["domain_ids"]) == ("Dora@other.test", [str(DOMAIN_IDS[OTHER])])
        # Neither ends a session; the assignment applies immediately.
        assert (await api.dora.get("/auth/me")).data["email"] == "Dora@other.test"
        assert names((await api.dora.get("/admins")).data) == ["otto", "Dora"]
        (entry,) = await api.audit_entries("admin.update")
        assert entry["details"] == {
            "before": {"email": "dora@example.test", "domain_ids": [str(DOMAIN_IDS[EXAMPLE])]},
            "after": {"email": "Dora@other.test", "domain_ids": [str(DOMAIN_IDS[OTHER])]},
        }

    @pytest.mark.parametrize("body", [{"password": "seven green bottles"}, {"role": "domain_admin"}])
    async def test_a_new_password_or_role_ends_the_sessions(self, api: Api, body: dict[str, str]):
        assert (await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", body)).status == 200
        assert (await api.adam.get("/auth/me")).code == "SESSION_INVALID"
        assert (await api.scoped.get("/auth/me")).status == 200
        assert (await api.sue.get("/auth/me")).status == 200

    async def test_the_own_session_survives_the_own_change(self, api: Api):
        other = await api.log_in("sue@example.test")
        path = f"/admins/{ADMIN_IDS['sue']}"
        body = {"password": "seven green bottles", "current_password": PASSWORD}
        assert (await api.sue.patch(path, body)).status == 200
        assert (await other.get("/auth/me")).code == "SESSION_INVALID"
        assert (await api.sue.get("/auth/me")).status == 200

    async def test_the_same_values_are_no_change(self, api: Api):
        path = f"/admins/{ADMIN_IDS['dora']}"
        before = (await api.sue.get(path)).data
        api.clock.advance(hours=1)
        same = {"email": before["email"], "role": before["role"], "domain_ids": before["domain_ids"]}
        assert (await api.sue.patch(path, same)).data == before
        assert (await api.sue.patch(path, {})).data == before
        assert (await api.dora.get("/auth/me")).status == 200
        assert await api.audit_entries("admin.update") == []

    @pytest.mark.parametrize(
        "body, status, code",
        [
            ({"email": None}, 400, "INVALID_FIELD"),
            ({"email": ""}, 400, "INVALID_FIELD"),
            ({"role": "boss"}, 400, "INVALID_FIELD"),
            ({"id": str(UNKNOWN)}, 400, "INVALID_FIELD"),
            ({"password": ""}, 400, "WEAK_PASSWORD"),
            ({"password": "dora@example.test"}, 400, "WEAK_PASSWORD"),
            ({"email": "new@x.test", "password": "new@x.test"}, 400, "WEAK_PASSWORD"),
            ({"domain_ids": [str(UNKNOWN)]}, 404, "DOMAIN_NOT_FOUND"),
            ({"email": "Otto@EXAMPLE.test"}, 409, "CONFLICT"),
        ],
    )
    async def test_an_invalid_change_is_refused(self, shared_api: Api, body: Any, status: int, code: str):
        answer = await shared_api.sue.patch(f"/admins/{ADMIN_IDS['dora']}", body)
        assert (answer.status, answer.code) == (status, code)

    async def test_an_unknown_admin_is_not_found(self, shared_api: Api):
        for body in ({"role": "admin"}, {"password": "seven green bottles"}):
            assert (await shared_api.sue.patch(f"/admins/{UNKNOWN}", body)).code == "NOT_FOUND"

    async def test_the_audit_log_contains_no_password(self, api: Api):
        await api.sue.patch(f"/admins/{ADMIN_IDS['dora']}", {"password": "seven green bottles"})
        (entry,) = await api.audit_entries("admin.update")
        assert "bottles" not in str(entry)
        assert "argon2" not in str(entry)
        assert entry["details"]["after"] == {"password": "(secret)"}


class TestDelete:
    async def test_its_sessions_and_keys_are_deleted_too(self, api: Api):
        key, _ = await api.key(api.dora)
        answer = await api.sue.delete(f"/admins/{ADMIN_IDS['dora']}")
        assert (answer.status, answer.data["id"]) == (200, str(ADMIN_IDS["dora"]))
        assert (await api.dora.get("/auth/me")).code == "SESSION_INVALID"
        assert (await key.get("/auth/me")).code == "API_KEY_INVALID"
        assert (await api.sue.delete(f"/admins/{ADMIN_IDS['dora']}")).code == "NOT_FOUND"
        body = {"email": "dora@example.test", "password": PASSWORD}
        assert (await api.nobody.post("/auth/login", body)).code == "INVALID_CREDENTIALS"

    async def test_its_audit_entries_stay_without_its_id(self, api: Api):
        await api.key(api.dora)
        await api.sue.delete(f"/admins/{ADMIN_IDS['dora']}")
        (entry,) = (await api.sue.get("/audit", action="api_key.create")).data
        assert (entry["admin_id"], entry["actor"]["label"]) == (None, "dora@example.test")


class TestLastSuperAdmin:
    async def test_it_can_not_be_deleted_or_demoted(self, api: Api):
        path = f"/admins/{ADMIN_IDS['sue']}"
        for answer in (await api.sue.delete(path), await api.sue.patch(path, {"role": "admin"})):
            assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "last_super_admin")
        body = {"role": "super_admin", "email": "s@x.test", "current_password": PASSWORD}
        assert (await api.sue.patch(path, body)).status == 200

    async def test_one_of_two_can_be_deleted(self, api: Api):
        await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"role": "super_admin"})
        assert (await api.sue.delete(f"/admins/{ADMIN_IDS['sue']}")).status == 200

    async def test_two_that_delete_each_other_concurrently(self, api: Api):
        for _ in range(5):
            await api.sql("UPDATE admins SET role = 'super_admin' WHERE email_key LIKE ANY('{sue@%%,adam@%%}')")
            await api.sql("UPDATE sessions SET credentials_epoch = 0")
            await api.sql("UPDATE admins SET credentials_epoch = 0")
            answers = await asyncio.gather(
                api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"role": "admin"}),
                api.adam.patch(f"/admins/{ADMIN_IDS['sue']}", {"role": "admin"}),
            )
            rows = await api.sql("SELECT count(*) AS n FROM admins WHERE role = 'super_admin'")
            assert rows == [{"n": 1}]
            assert min(answer.status for answer in answers) == 200


async def test_the_audit_log_lists_the_keys_revoked_with_an_account(api: Api):
    key, key_id = await api.key(api.adam)
    _, child_id = await api.key(key)
    assert (await api.sue.delete(f"/admins/{ADMIN_IDS['adam']}")).status == 200
    (entry,) = await api.audit_entries("admin.delete")
    gone = set(entry["details"]["revoked_with_it"])
    assert {str(key_id), str(child_id)} <= gone
    assert (await key.get("/auth/me")).code == "API_KEY_INVALID"
    assert not await api.sql("SELECT id FROM api_keys WHERE id = ANY(%(gone)s::uuid[])", gone=list(gone))


class TestOwnCredentials:
    """Changes of the own password and email need a session and the current password."""

    async def test_they_do_not_change_without_the_current_password(self, api: Api):
        path = f"/admins/{ADMIN_IDS['sue']}"
        for change in ({"password": "seven green bottles"}, {"email": "sue@x.test"}):
            answer = await api.sue.patch(path, change)
            assert (answer.status, answer.code, faults(answer)) == (400, "MISSING_FIELDS", ["current_password"])
            answer = await api.sue.patch(path, change | {"current_password": "wrong one, sorry"})
            assert (answer.status, answer.code) == (401, "INVALID_CREDENTIALS")
        # Other fields and other accounts need no password.
        assert (await api.sue.patch(path, {"domain_ids": [DOMAIN_IDS[EXAMPLE]]})).status == 200
        assert (await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"email": "a@x.test"})).status == 200
        entries = await api.audit_entries("admin.update")
        assert [row["outcome"] for row in entries] == ["failed", "failed", "failed", "failed", "success", "success"]
        body = {"email": "sue@x.test", "password": "seven green bottles", "current_password": PASSWORD}
        assert (await api.sue.patch(path, body)).data["email"] == "sue@x.test"
        await api.log_in("sue@x.test", "seven green bottles")

    async def test_they_do_not_change_with_any_api_key(self, api: Api):
        """Even a key of the account with the right password is refused."""
        path = f"/admins/{ADMIN_IDS['sue']}"
        for change in ({"password": "seven green bottles"}, {"email": "sue@x.test"}):
            for more in ({}, {"current_password": PASSWORD}):
                answer = await api.unscoped.patch(path, change | more)
                assert (answer.status, answer.code) == (403, "FORBIDDEN")
        body = {"current_password": PASSWORD, "new_password": "seven green bottles"}
        assert (await api.unscoped.post("/auth/password", body)).code == "FORBIDDEN"
        await api.log_in("sue@example.test")

    async def test_wrong_ones_are_limited(self, api: Api):
        path = f"/admins/{ADMIN_IDS['sue']}"
        body = {"email": "sue@x.test", "current_password": "wrong one, sorry"}
        codes = [(await api.sue.patch(path, body)).code for _ in range(12)]
        assert codes == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMIT_EXCEEDED"] * 2
        # They count apart from sign-ins.
        await api.log_in("sue@example.test", address="198.51.100.7")
