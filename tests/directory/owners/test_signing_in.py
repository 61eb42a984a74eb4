"""Signing in at /me, and what ends it."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from mailkeep.core.secret import new_app_password
from tests.support.authenticator import SoftKey
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, PASSWORD, Api, Client, reason

ALICE = f"alice@{EXAMPLE}"
ELSEWHERE = "198.51.100.1"
DOMAIN = f"/domains/{DOMAIN_IDS[EXAMPLE]}"


async def sign_in(client: Client, password: str = PASSWORD, address: str = ALICE, **more: Any) -> Answer:
    return await client.post("/me/login", {"address": address, "password": password} | more)


async def test_an_owner_signs_in_sees_the_mailbox_and_signs_out(api: Api):
    mailbox_id = await api.mailbox(ALICE, quota_bytes=1000, used_bytes=10)
    answer = await sign_in(api.nobody, address="Alice@EXAMPLE.test")
    assert answer.status == 200, answer.body
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("svc_mailbox=")
    assert cookie.endswith("; Path=/; HttpOnly; Secure; SameSite=Strict")
    owner = api.nobody.with_cookie(cookie)
    me = (await owner.get("/me")).data
    assert me == answer.data["mailbox"]
    assert (me["id"], me["quota_bytes"], me["used_bytes"]) == (str(mailbox_id), 1000, 10)
    assert (me["second_factor"], me["totp_enabled"], me["passkeys"]) == (False, False, 0)
    [session] = (await owner.get("/me/sessions")).data
    assert (session["id"], session["current"]) == (answer.data["session_id"], True)
    out = await owner.post("/me/logout")
    assert out.headers["set-cookie"].startswith("svc_mailbox=; Max-Age=0;")
    assert (await owner.get("/me")).code == "SESSION_INVALID"
    [entry] = await api.audit_entries("auth.login")
    assert (entry["actor_type"], entry["actor_label"], entry["admin_id"]) == ("mailbox", ALICE, None)
    assert entry["domain_id"] == DOMAIN_IDS[EXAMPLE]
    # The administrator of the domain sees it, another does not.
    assert (await api.dora.get("/audit", action="auth.login")).data[0]["actor"]["type"] == "mailbox"
    assert (await api.otto.get("/audit", action="auth.login")).data == []


async def test_what_is_refused_looks_the_same(api: Api):
    mailbox_id = await api.mailbox(ALICE)
    await api.mailbox(f"off@{EXAMPLE}", active=False)
    await api.mailbox(f"gone@{EXAMPLE}", deleted_at=api.clock())
    await api.domain("idle.test", active=False)
    await api.mailbox("alice@idle.test")
    app_password = new_app_password()
    await api.app_password(mailbox_id, digest=hashlib.sha256(app_password.encode()).digest())
    answers = [
        await sign_in(api.nobody, "wrong"),
        await sign_in(api.nobody, app_password),
        await sign_in(api.nobody, address="x"),
        await sign_in(api.nobody, address=f"sue@{EXAMPLE}"),  # an administrator
        await sign_in(api.nobody, address=f"off@{EXAMPLE}"),
        await sign_in(api.nobody, address=f"gone@{EXAMPLE}"),
        await sign_in(api.nobody, address="alice@idle.test"),
    ]
    assert {(answer.status, answer.code, answer.json["error"]["message"]) for answer in answers} == {
        (401, "INVALID_CREDENTIALS", answers[0].json["error"]["message"])
    }
    assert all("set-cookie" not in answer.headers for answer in answers)
    entries = await api.audit_entries("auth.login")
    assert [entry["outcome"] for entry in entries] == ["failed"] * 7
    assert entries[2]["actor_label"] == "(no address)"
    # A mailbox's password is not that of an administrator with its address.
    await api.mailbox(f"adam@{EXAMPLE}", password_hash="{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=")  # "password"
    assert (await sign_in(api.nobody, address=f"adam@{EXAMPLE}")).code == "INVALID_CREDENTIALS"
    assert (await sign_in(api.nobody, "password", f"adam@{EXAMPLE}")).status == 200


async def test_guesses_from_elsewhere_do_not_lock_out_the_owner(api: Api):
    await api.mailbox(ALICE)
    await api.log_in_owner(ALICE)
    elsewhere = api.nobody.from_address(ELSEWHERE)
    answers = [await sign_in(elsewhere, f"guess {number}") for number in range(12)]
    assert [answer.status for answer in answers] == [401] * 10 + [429] * 2
    assert (await sign_in(elsewhere)).status == 429
    await api.log_in_owner(ALICE)
    [block] = (await api.sue.get("/sign-in-blocks")).data
    assert (block["account"], block["account_kind"]) == (ALICE, "mailbox")


class TestSelfService:
    async def test_switching_it_off_ends_sessions_and_refuses_sign_in(self, api: Api):
        await api.mailbox(ALICE)
        owner = await api.log_in_owner(ALICE)
        waiting = await self.begin_with_factor(api)
        assert (await api.adam.patch(DOMAIN, {"self_service": False})).data["self_service"] is False
        assert (await owner.get("/me")).code == "SESSION_INVALID"
        refused = await sign_in(api.nobody)
        assert (refused.status, refused.code, reason(refused)) == (403, "FORBIDDEN", "self_service")
        assert (await sign_in(api.nobody, "wrong")).code == "INVALID_CREDENTIALS"
        assert (await api.nobody.post("/me/login", waiting)).code == "SESSION_INVALID"
        await api.adam.patch(DOMAIN, {"self_service": True})
        assert (await owner.get("/me")).code == "SESSION_INVALID"
        await api.log_in_owner(ALICE)

    async def begin_with_factor(self, api: Api) -> dict[str, Any]:
        """A sign-in of another owner that waits for the second factor."""
        await api.mailbox(f"bob@{EXAMPLE}")
        bob = await api.log_in_owner(f"bob@{EXAMPLE}")
        authenticator = await api.enrol(bob, "/me")
        first = await sign_in(api.nobody, address=f"bob@{EXAMPLE}")
        return {"totp_session": first.data["totp_session"], "totp_code": authenticator.next_code()}


@pytest.mark.parametrize(
    "change",
    [{"active": False}, {"password": "incorrect pony charger clip"}, {"local_part": "alicia"}, {"domain_id": "other"}],
    ids=["deactivated", "new password", "renamed", "moved"],
)
async def test_a_change_by_an_administrator_ends_the_sessions(api: Api, change: dict[str, Any]):
    mailbox_id = await api.mailbox(ALICE)
    owner = await api.log_in_owner(ALICE)
    body = {"domain_id": str(await api.domain("moved.test"))} if "domain_id" in change else change
    assert (await api.sue.patch(f"/mailboxes/{mailbox_id}", body)).status == 200
    assert (await owner.get("/me")).code == "SESSION_INVALID"


async def test_the_end_of_the_domain_or_mailbox_ends_the_sessions(api: Api):
    mailbox_id = await api.mailbox(ALICE)
    owner = await api.log_in_owner(ALICE)
    await api.adam.patch(DOMAIN, {"active": False})
    assert (await owner.get("/me")).code == "SESSION_INVALID"
    await api.adam.patch(DOMAIN, {"active": True})
    owner = await api.log_in_owner(ALICE)
    await api.adam.delete(f"/mailboxes/{mailbox_id}")
    assert (await owner.get("/me")).code == "SESSION_INVALID"
    await api.adam.post(f"/mailboxes/{mailbox_id}/restore")
    assert (await owner.get("/me")).code == "SESSION_INVALID"


async def test_the_own_password_ends_the_other_sessions_and_those_of_mail_clients(api: Api):
    mailbox_id = await api.mailbox(ALICE)
    owner, other = await api.log_in_owner(ALICE), await api.log_in_owner(ALICE)
    body = {"current_password": PASSWORD, "new_password": "incorrect pony charger clip"}
    assert (await owner.post("/me/password", body | {"current_password": "wrong"})).code == "INVALID_CREDENTIALS"
    assert (await owner.post("/me/password", body | {"new_password": ALICE})).code == "WEAK_PASSWORD"
    before = await password_version(api, mailbox_id)
    changed = await owner.post("/me/password", body)
    assert (changed.status, changed.data["sessions_ended"]) == (200, 1)
    assert (await owner.get("/me")).status == 200
    assert (await other.get("/me")).code == "SESSION_INVALID"
    assert await password_version(api, mailbox_id) > before
    assert (await sign_in(api.nobody)).code == "INVALID_CREDENTIALS"
    await api.log_in_owner(ALICE, "incorrect pony charger clip")
    [entry] = [each for each in await api.audit_entries("mailbox.password") if each["outcome"] == "success"]
    assert (entry["actor_type"], entry["resource_id"]) == ("mailbox", str(mailbox_id))
    assert "pony" not in str(await api.sql("SELECT details FROM audit_entries"))


async def password_version(api: Api, mailbox_id: Any) -> int:
    return (await api.sql("SELECT password_version FROM mailboxes WHERE id = %(id)s", id=mailbox_id))[0][
        "password_version"
    ]


async def requires_app_passwords(api: Api) -> bool:
    rows = await api.sql("SELECT password FROM mta_login('alice', %(domain)s, 'imap')", domain=EXAMPLE)
    return rows[0]["password"] is None


class TestSecondFactors:
    async def test_an_authenticator_is_needed_to_sign_in_and_implies_app_passwords(self, api: Api):
        mailbox_id = await api.mailbox(ALICE, require_app_passwords=False)
        owner, other = await api.log_in_owner(ALICE), await api.log_in_owner(ALICE)
        version = await password_version(api, mailbox_id)
        authenticator = await api.enrol(owner, "/me")
        assert (await other.get("/me")).code == "SESSION_INVALID"
        assert await requires_app_passwords(api)
        assert await password_version(api, mailbox_id) > version  # open mail sessions with the password end
        me = (await owner.get("/me")).data
        assert (me["second_factor"], me["totp_enabled"], me["require_app_passwords"]) == (True, True, False)
        first = await sign_in(api.nobody)
        assert first.data["methods"] == ["totp", "recovery_code"]
        assert "set-cookie" not in first.headers
        step = {"totp_session": first.data["totp_session"]}
        assert (await api.nobody.post("/auth/login", step | {"totp_code": authenticator.next_code()})).code == (
            "SESSION_INVALID"  # it is no sign-in of an administrator
        )
        wrong = await api.nobody.post("/me/login", step | {"totp_code": authenticator.wrong_code()})
        assert wrong.code == "TOTP_INVALID"
        done = await api.nobody.post("/me/login", step | {"totp_code": authenticator.code()})
        assert done.data["mailbox"]["id"] == str(mailbox_id)
        signed_in = api.nobody.with_cookie(done.headers["set-cookie"])
        assert (await signed_in("DELETE", "/me/totp", {"code": authenticator.next_code()})).status == 200
        assert not await requires_app_passwords(api)
        assert (await sign_in(api.nobody)).data["mailbox"]["second_factor"] is False

    async def test_a_recovery_code_signs_in_once(self, api: Api):
        await api.mailbox(ALICE)
        authenticator = await api.enrol(await api.log_in_owner(ALICE), "/me")
        answers: list[Answer] = []
        for _ in range(2):
            token = (await sign_in(api.nobody)).data["totp_session"]
            body = {"totp_session": token, "recovery_code": authenticator.recovery_codes[0]}
            answers.append(await api.nobody.post("/me/login", body))
        assert [(answer.status, answer.code) for answer in answers] == [(200, None), (401, "TOTP_INVALID")]

    async def test_a_passkey_signs_in_at_its_own_place_only(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        owner, key = await api.log_in_owner(ALICE), SoftKey()
        options = (await owner.post("/me/passkeys/register/options", {})).data["options"]
        assert options["user"]["name"] == ALICE
        registered = await owner.post("/me/passkeys/register/verify", {"credential": key.create(options)})
        assert registered.status == 201, registered.body
        assert len(registered.data["recovery_codes"]) == 10
        assert await requires_app_passwords(api)
        done = await self.show(api, "/me", key)
        assert done.data["mailbox"]["id"] == str(mailbox_id)
        assert (await self.show(api, "/auth", key)).code == "INVALID_CREDENTIALS"
        admins_key, _ = await api.passkey("sue")
        assert (await self.show(api, "/me", admins_key)).code == "INVALID_CREDENTIALS"
        token = (await sign_in(api.nobody)).data["totp_session"]
        second = await self.show(api, "/me", key, token)
        assert second.status == 200, second.body
        await api.adam.patch(DOMAIN, {"self_service": False})
        assert reason(await self.show(api, "/me", key)) == "self_service"
        await api.adam.patch(DOMAIN, {"self_service": True})
        [passkey] = (await (await self.client(api, key)).get("/me/passkeys")).data
        deleted = await (await self.client(api, key)).delete(f"/me/passkeys/{passkey['id']}")
        assert deleted.status == 200, deleted.body
        assert not await requires_app_passwords(api)

    async def client(self, api: Api, key: SoftKey) -> Client:
        return api.nobody.with_cookie((await self.show(api, "/me", key)).headers["set-cookie"])

    async def show(self, api: Api, area: str, key: SoftKey, token: str | None = None) -> Answer:
        more = {"totp_session": token} if token else {}
        options = (await api.nobody.post(f"{area}/passkeys/login/options", more)).data["options"]
        return await api.nobody.post(f"{area}/passkeys/login/verify", {"credential": key.get(options)} | more)

    async def test_an_old_session_needs_the_password_to_change_them(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        owner = await api.log_in_owner(ALICE)
        app_password_id = await api.app_password(mailbox_id)
        api.clock.advance(minutes=16)
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("POST", "/me/totp/setup", {}),
            ("POST", "/me/passkeys/register/options", {}),
            ("POST", "/me/app-passwords", {"name": "Phone"}),
            ("DELETE", f"/me/app-passwords/{app_password_id}", {}),
        ]
        for method, path, body in calls:
            assert reason(await owner(method, path, body)) == "login_again", path
            wrong = await owner(method, path, body | {"current_password": "wrong"})
            assert wrong.code == "INVALID_CREDENTIALS", path
            assert (await owner(method, path, body | {"current_password": PASSWORD})).status in (200, 201), path
        # What is no way to sign in needs no password.
        assert (await owner.put("/me/forward", {"destinations": ["x@elsewhere.test"]})).status == 200


async def test_both_kinds_of_sessions_are_in_one_browser(api: Api):
    """Only the checks of Sieve scripts accept both; there an invalid session of an administrator is no obstacle."""
    owner = await api.owner(await api.mailbox(ALICE))
    mine, admins = owner.headers["cookie"], api.dora.headers["cookie"]
    both = api.nobody.with_cookie("")
    both = Client(both.app, {"cookie": f"{admins}; {mine}"})
    assert (await both.get("/me")).data["address"] == ALICE
    assert (await both.get("/auth/me")).data["id"] == str(ADMIN_IDS["dora"])
    checked = [await client.post("/sieve/validate", {"script": "keep;"}) for client in (owner, both)]
    stale = Client(both.app, {"cookie": f"svc_session=x.y; {mine}"})
    checked.append(await stale.post("/sieve/validate", {"script": "keep;"}))
    assert {answer.status for answer in checked} <= {200, 503}  # 503: Pigeonhole is not installed
    assert (await stale.get("/auth/me")).code == "SESSION_INVALID"
    key = Client(both.app, {"authorization": "Bearer svc_sk_unknown", "cookie": mine})
    assert (await key.get("/me")).status == 200
    assert (await key.post("/sieve/validate", {"script": "keep;"})).code == "API_KEY_INVALID"
