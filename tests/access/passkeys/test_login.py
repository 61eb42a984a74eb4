"""Logins by a passkey over HTTP: alone, and as the second factor."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mailkeep.core import passkey as webauthn
from mailkeep.features.access.passkeys import rules
from mailkeep.settings.tree import AuthSettings, LimitsSettings
from tests.access.passkeys.registering import by_password, log_in, login_options, show
from tests.support.authenticator import AT, BE, BS, ED, UP, UV, SoftKey, b64, bomb, unb64
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, START, Api, reason

REFUSED = (401, "INVALID_CREDENTIALS")
OVER = (401, "SESSION_INVALID")


def outcome(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.code


async def token_of_waiting(api: Api, name: str = "sue") -> str:
    return (await by_password(api, name)).data["totp_session"]


async def reasons(api: Api) -> list[str | None]:
    """The audit entries of failed logins."""
    return [row["details"].get("reason") for row in await api.audit_entries("auth.login") if row["outcome"] == "failed"]


async def test_a_passkey_alone_opens_a_session(api: Api):
    key, passkey_id = await api.passkey("sue")
    begun = await api.nobody.post("/auth/passkeys/login/options")
    assert begun.data["expires_at"] == "2026-03-01T12:05:00.000Z"
    options = begun.data["options"]
    assert len(unb64(options.pop("challenge"))) == 32
    assert options == {
        "timeout": 300_000,
        "rpId": "localhost",
        "allowCredentials": [],
        "userVerification": "required",
    }
    (api.app.data_dir / "initial-admin").write_text("secret")
    api.app.counters.drain()
    opened = await log_in(api.nobody, key)
    assert opened.status == 200
    assert (("logins", ("http", "success")), 1) in list(api.app.counters.drain())
    assert opened.data.keys() == {"admin", "session_id", "expires_at"}
    assert (opened.data["admin"]["id"], opened.data["admin"]["passkeys"]) == (str(ADMIN_IDS["sue"]), 1)
    cookie = opened.headers["set-cookie"]
    assert cookie.startswith("svc_session=")
    assert all(part in cookie for part in ("; Path=/", "; HttpOnly", "; Secure", "; SameSite=Strict"))
    client = api.nobody.with_cookie(cookie)
    me = (await client.get("/auth/me")).data
    assert (me["email"], me["last_login_at"]) == ("sue@example.test", "2026-03-01T12:00:00.000Z")
    assert [row["id"] for row in (await client.get("/auth/sessions")).data if row["current"]] == [
        opened.data["session_id"]
    ]
    assert (await client.get("/auth/passkeys")).data[0]["last_used_at"] == "2026-03-01T12:00:00.000Z"
    assert not (api.app.data_dir / "initial-admin").exists()
    (entry,) = await api.audit_entries("auth.login")
    assert (entry["outcome"], entry["actor_label"], entry["details"]) == (
        "success",
        "sue@example.test",
        {"method": "passkey"},
    )
    assert str(passkey_id) != entry["resource_id"] == opened.data["session_id"]


async def test_after_the_password_a_passkey_is_the_second_factor(api: Api):
    key, _ = await api.passkey("sue", SoftKey(flags=UP))  # a key without user verification
    other, _ = await api.passkey("sue")
    await api.passkey("adam")
    first_step = await by_password(api, "sue")
    assert "set-cookie" not in first_step.headers
    assert first_step.data["methods"] == ["passkey", "recovery_code"]
    token = first_step.data["totp_session"]
    options = await login_options(api.nobody, token)
    assert {unb64(one["id"]) for one in options["allowCredentials"]} == {key.credential_id, other.credential_id}
    assert options["userVerification"] == "preferred"
    opened = await show(api.nobody, key.get(options), token)
    assert opened.status == 200
    assert (await api.nobody.with_cookie(opened.headers["set-cookie"]).get("/auth/me")).status == 200
    assert (await api.audit_entries("auth.login"))[0]["details"] == {"method": "password+passkey"}
    assert outcome(await log_in(api.nobody, key)) == REFUSED  # alone it needs user verification
    again = await api.nobody.post("/auth/passkeys/login/options", {"totp_session": token})
    assert outcome(again) == OVER


async def test_with_an_authenticator_too_either_is_accepted(api: Api):
    sue = await api.enrol(api.sue)
    key, _ = await api.passkey("sue")
    first_step = await by_password(api, "sue")
    assert first_step.data["methods"] == ["totp", "passkey", "recovery_code"]
    by_code = {"totp_session": first_step.data["totp_session"], "totp_code": sue.next_code()}
    assert (await api.nobody.post("/auth/login", by_code)).status == 200
    assert (await log_in(api.nobody, key, await token_of_waiting(api))).status == 200
    assert (await log_in(api.nobody, key)).status == 200


async def test_without_an_authenticator_every_totp_code_is_wrong(api: Api):
    await api.passkey("sue")
    body = {"totp_session": await token_of_waiting(api), "totp_code": "123456"}
    assert outcome(await api.nobody.post("/auth/login", body)) == (401, "TOTP_INVALID")


Wrong = Callable[[SoftKey, dict[str, Any]], dict[str, Any]]


def by(**changes: Any) -> Wrong:
    """Another browser, or another authenticator."""
    return lambda key, options: dataclasses.replace(key, **changes).get(options)


def with_response(**changes: Any) -> Wrong:
    def make(key: SoftKey, options: dict[str, Any]) -> dict[str, Any]:
        credential = key.get(options)
        return credential | {"response": credential["response"] | changes}

    return make


def signed(change: Callable[[bytes], bytes]) -> Wrong:
    """Other authenticator data with a valid signature, as of a hostile authenticator."""

    def make(key: SoftKey, options: dict[str, Any]) -> dict[str, Any]:
        class Hostile(SoftKey):
            def used_data(self) -> bytes:
                return change(super().used_data())

        return Hostile(**{one.name: getattr(key, one.name) for one in dataclasses.fields(key)}).get(options)

    return make


def with_flags(data: bytes, flags: int, more: bytes) -> bytes:
    return data[:32] + bytes([data[32] | flags]) + data[33:] + more


WRONG: list[tuple[str, Wrong]] = [
    ("another origin", by(origin="https://evil.test")),
    ("another port", by(origin="http://localhost:8081")),
    ("another site", by(rp_id="evil.test")),
    ("nobody there", by(flags=UV)),
    ("a registration, not a use", by(client_data={"type": "webauthn.create"})),
    ("another key", by(key=SoftKey().key)),
    ("another credential", by(credential_id=b"unknown")),
    ("another account", by(user_handle=ADMIN_IDS["adam"].bytes)),
    ("eligible for backup all at once", by(flags=UP | UV | BE)),
    ("backed up without being eligible", by(flags=UP | UV | BS)),
    ("no signature", with_response(signature="")),
    ("what is no signature", with_response(signature=b64(b"\x30\x06\x02\x01\x01\x02\x01\x01"))),
    ("short data", signed(lambda data: data[:36])),
    ("something behind", signed(lambda data: data + b"\x00")),
    ("a credential in it", signed(lambda data: with_flags(data, AT, bytes(18) + b"\xa0"))),
    ("a bomb in it", signed(lambda data: with_flags(data, ED, bomb(60)))),
]


class TestWhatIsRefused:
    async def test_alone_and_as_second_factor(self, api: Api):
        key, _ = await api.passkey("sue")
        key.counter = 7
        for name, make in WRONG:
            for token in (None, await token_of_waiting(api)):
                answer = await show(api.nobody, make(key, await login_options(api.nobody, token)), token)
                assert outcome(answer) == REFUSED, name
                assert "set-cookie" not in answer.headers
                assert answer.json["error"]["details"] is None  # no hint at the reason
        for entry in await api.audit_entries("auth.login"):
            assert (entry["outcome"], entry["error_code"]) == ("failed", "INVALID_CREDENTIALS")
            assert entry["details"]["method"] == "passkey"
        assert len(await reasons(api)) == 2 * len(WRONG)
        assert await api.sql("SELECT sign_count, last_used_at FROM passkeys") == [
            {"sign_count": 0, "last_used_at": None}
        ]

    async def test_a_passkey_alone_needs_user_verification_and_handle(self, api: Api):
        key, _ = await api.passkey("sue")
        for change in ({"flags": UP}, {"user_handle": None}):
            lacking = dataclasses.replace(key, **change)
            assert outcome(await log_in(api.nobody, lacking)) == REFUSED
            key.counter = lacking.counter
            assert (await log_in(api.nobody, lacking, await token_of_waiting(api))).status == 200
            key.counter = lacking.counter

    async def test_a_passkey_of_another_account_is_no_second_factor(self, api: Api):
        await api.passkey("sue")
        foreign, _ = await api.passkey("adam")
        assert outcome(await log_in(api.nobody, foreign, await token_of_waiting(api))) == REFUSED
        (entry,) = await api.audit_entries("auth.login")
        assert (entry["actor_label"], entry["resource_id"]) == ("sue@example.test", str(ADMIN_IDS["sue"]))
        assert (await log_in(api.nobody, foreign)).status == 200

    async def test_an_unknown_passkey_is_verified_like_a_known_one(self, api: Api, monkeypatch: pytest.MonkeyPatch):
        tried: list[bytes] = []
        verify_used = webauthn.verify_assertion

        def noted(shown: Any, party: Any, public_key: bytes, *, user_verified: bool) -> Any:
            tried.append(public_key)
            return verify_used(shown, party, public_key, user_verified=user_verified)

        monkeypatch.setattr(webauthn, "verify_assertion", noted)
        key, _ = await api.passkey("sue")
        unknown = await log_in(api.nobody, SoftKey(user_handle=b"x"))
        known = await log_in(api.nobody, dataclasses.replace(key, key=SoftKey().key))
        assert tried[0] == rules.DUMMY_PUBLIC_KEY != tried[1]
        assert unknown.json["error"] == known.json["error"]
        assert await reasons(api) == ["unknown", "rejected"]
        labels = [row["actor_label"] for row in await api.audit_entries("auth.login")]
        assert labels == ["(unknown passkey)", "sue@example.test"]

    async def test_malformed_credentials_use_up_no_challenge(self, shared_api: Api):
        credential = SoftKey().get(await login_options(shared_api.nobody))
        for change in ({"authenticatorData": None}, {"signature": "+"}, {"userHandle": b64(bytes(65))}):
            changed = credential | {"response": credential["response"] | change}
            answer = await show(shared_api.nobody, changed)
            (name,) = change
            assert outcome(answer) == (400, "INVALID_FIELD")
            assert answer.json["error"]["details"]["fields"][0]["field"] == f"credential.response.{name}"
        assert (await shared_api.nobody.post("/auth/passkeys/login/verify", {})).code == "MISSING_FIELDS"
        assert outcome(await show(shared_api.nobody, credential)) == REFUSED  # now the challenge is used up
        assert outcome(await show(shared_api.nobody, credential)) == OVER


class TestChallenges:
    async def test_each_challenge_takes_one_response_right_or_wrong(self, api: Api):
        key, _ = await api.passkey("sue")
        credential = key.get(await login_options(api.nobody))
        assert (await show(api.nobody, credential)).status == 200
        assert outcome(await show(api.nobody, credential)) == OVER
        options = await login_options(api.nobody)
        assert outcome(await show(api.nobody, SoftKey(user_handle=b"x").get(options))) == REFUSED
        assert outcome(await show(api.nobody, key.get(options))) == OVER

    async def test_two_concurrent_responses_to_one_challenge(self, api: Api):
        key, _ = await api.passkey("sue")
        for _ in range(4):
            credential = key.get(await login_options(api.nobody))
            answers = await asyncio.gather(*(show(api.nobody, credential) for _ in range(4)))
            assert sorted(answer.status for answer in answers) == [200, 401, 401, 401]
            assert {answer.code for answer in answers if answer.status == 401} == {"SESSION_INVALID"}

    async def test_challenges_expire_after_five_minutes(self, api: Api):
        key, _ = await api.passkey("sue")
        in_time, late = [key.get(await login_options(api.nobody)) for _ in range(2)]
        api.clock.advance(seconds=299)
        assert (await show(api.nobody, in_time)).status == 200
        api.clock.advance(seconds=1)
        assert outcome(await show(api.nobody, late)) == OVER

    async def test_challenges_are_bound_to_their_purpose(self, api: Api):
        key, _ = await api.passkey("sue")
        tokens = [await token_of_waiting(api) for _ in range(2)]
        alone = key.get(await login_options(api.nobody))
        first = key.get(await login_options(api.nobody, tokens[0]))
        begun = await api.sue.post(
            "/auth/passkeys/register/options", {"current_password": "correct horse battery staple"}
        )
        registering = key.get(begun.data["options"])
        for credential, token in (
            (alone, tokens[0]),
            (first, None),
            (first, tokens[1]),
            (registering, None),
            (registering, tokens[0]),
        ):
            assert outcome(await show(api.nobody, credential, token)) == OVER
        for credential, token in ((first, tokens[0]), (key.get(await login_options(api.nobody)), None)):
            assert (await show(api.nobody, credential, token)).status == 200

    async def test_an_unknown_challenge_is_refused(self, api: Api):
        key, _ = await api.passkey("sue")
        made_up = {"challenge": b64(bytes(32))}
        assert outcome(await show(api.nobody, key.get(made_up))) == OVER


class TestCounters:
    @pytest.mark.parametrize(
        "stored, shown, right",
        [(0, 0, True), (0, 1, True), (7, 8, True), (7, 700, True), (7, 7, False), (7, 6, False), (7, 0, False)],
    )
    async def test_counters_must_increase(self, api: Api, stored: int, shown: int, right: bool):
        key, _ = await api.passkey("sue", SoftKey(counts=False), sign_count=stored)
        key.counter = shown
        for token in (None,) if right else (None, await token_of_waiting(api)):
            answer = await log_in(api.nobody, key, token)
            assert outcome(answer) == ((200, None) if right else REFUSED)
        assert await reasons(api) == ([] if right else ["counter", "counter"])
        (row,) = await api.sql("SELECT sign_count, last_used_at FROM passkeys")
        assert row == {"sign_count": shown if right else stored, "last_used_at": START if right else None}

    async def test_of_two_uses_with_the_same_counter_one_succeeds(self, api: Api):
        key, _ = await api.passkey("sue", SoftKey(counts=False))
        for count in range(1, 5):
            key.counter = count
            credentials = [key.get(await login_options(api.nobody)) for _ in range(3)]
            answers = await asyncio.gather(*(show(api.nobody, credential) for credential in credentials))
            assert sorted(answer.status for answer in answers) == [200, 401, 401]

    async def test_the_backup_state_is_stored(self, api: Api):
        key, _ = await api.passkey("sue", SoftKey(flags=UP | UV | BE), backup_eligible=True)
        for flags, backed_up in ((UP | UV | BE | BS, True), (UP | UV | BE, False)):
            key.flags = flags
            assert (await log_in(api.nobody, key)).status == 200
            assert (await api.sue.get("/auth/passkeys")).data[0]["backed_up"] is backed_up


class TestTheWaitingLogin:
    async def test_a_pending_login_has_five_attempts_of_any_kind(self, api: Api):
        await api.enrol(api.sue)
        key, _ = await api.passkey("sue")
        token = await token_of_waiting(api)
        right = key.get(await login_options(api.nobody, token))
        for number in range(5):
            if number % 2:
                body = {"totp_session": token, "totp_code": "no code"}
                assert (await api.nobody.post("/auth/login", body)).code == "TOTP_INVALID"
            else:
                assert outcome(await log_in(api.nobody, SoftKey(), token)) == REFUSED
        assert outcome(await show(api.nobody, right, token)) == OVER
        again = await api.nobody.post("/auth/passkeys/login/options", {"totp_session": token})
        assert outcome(again) == OVER

    async def test_the_fifth_attempt_may_be_right(self, api: Api):
        key, _ = await api.passkey("sue")
        token = await token_of_waiting(api)
        for _ in range(4):
            assert outcome(await log_in(api.nobody, SoftKey(), token)) == REFUSED
        assert (await log_in(api.nobody, key, token)).status == 200

    async def test_a_pending_login_expires_after_five_minutes(self, api: Api):
        key, _ = await api.passkey("sue")
        token = await token_of_waiting(api)
        api.clock.advance(seconds=299)
        late = key.get(await login_options(api.nobody, token))
        api.clock.advance(seconds=1)
        assert outcome(await show(api.nobody, late, token)) == OVER

    async def test_a_pending_login_is_completed_once(self, api: Api):
        key, _ = await api.passkey("sue")
        token = await token_of_waiting(api)
        credentials = [key.get(await login_options(api.nobody, token)) for _ in range(3)]
        answers = await asyncio.gather(*(show(api.nobody, one, token) for one in credentials))
        assert sorted(answer.status for answer in answers) == [200, 401, 401]

    async def test_an_unknown_pending_login_is_refused(self, shared_api: Api):
        for body in ({"totp_session": "x"}, {"totp_session": "é" * 1000}):
            assert outcome(await shared_api.nobody.post("/auth/passkeys/login/options", body)) == OVER
        answer = await show(shared_api.nobody, SoftKey().get({"challenge": "AAAA"}), "x")
        assert outcome(answer) == OVER


async def test_a_login_replaces_the_session_of_the_cookie(api: Api):
    key, _ = await api.passkey("sue")
    credential = key.get(await login_options(api.nobody))
    assert (await show(api.sue, credential)).status == 200
    assert outcome(await api.sue.get("/auth/me")) == OVER


async def test_a_passkey_deleted_meanwhile_opens_no_session(api: Api):
    key, passkey_id = await api.passkey("sue")
    credential = key.get(await login_options(api.nobody))
    await api.sue("DELETE", f"/auth/passkeys/{passkey_id}", {"current_password": "correct horse battery staple"})
    assert outcome(await show(api.nobody, credential)) == REFUSED
    other, _ = await api.passkey("adam")
    credential = other.get(await login_options(api.nobody))
    assert (await api.sue.delete(f"/admins/{ADMIN_IDS['adam']}")).status == 200
    assert outcome(await show(api.nobody, credential)) == REFUSED


async def test_only_from_allowed_networks(api: Api):
    key, _ = await api.passkey("sue")
    credential = key.get(await login_options(api.nobody))
    api.app.settings = replace(api.app.settings, auth=AuthSettings(allowed_networks=("198.51.100.0/24",)))
    for answer in (await show(api.nobody, credential), await api.nobody.post("/auth/passkeys/login/options")):
        assert (*outcome(answer), reason(answer)) == (403, "FORBIDDEN", "network")
    assert (await show(api.nobody.from_address("198.51.100.7"), credential)).status == 200


class TestHeldToTheLoginLimit:
    @pytest.fixture
    def api_settings(self, api_settings: Any) -> Any:
        return replace(api_settings, limits=LimitsSettings(login_per_second=5, requests_per_second=0))

    async def test_the_limit_is_five_a_second(self, api: Api):
        answers = [await api.nobody.post("/auth/passkeys/login/options") for _ in range(3)]
        answers += [await api.nobody.post("/auth/passkeys/login/verify", {}) for _ in range(3)]
        assert [answer.status for answer in answers] == [200] * 3 + [400] * 2 + [429]
        assert (await api.nobody.from_address("198.51.100.7").post("/auth/passkeys/login/options")).status == 200


async def test_no_cross_site_page_logs_anybody_in(api: Api):
    key, _ = await api.passkey("sue")
    credential = key.get(await login_options(api.nobody))
    foreign = replace(api.nobody, headers={"sec-fetch-site": "cross-site"})
    answer = await show(foreign, credential)
    assert (*outcome(answer), reason(answer)) == (403, "FORBIDDEN", "cross_site")
