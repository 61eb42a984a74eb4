"""Logins by password, and the protection against guessing."""

import asyncio
from pathlib import Path

import pytest

from mailkeep.core.secret import token_hash
from mailkeep.features.access.admins import service as admins
from tests.support.client import (
    ADMIN_IDS,
    PASSWORD,
    SESSION_IDS,
    Api,
    Client,
    cookie_of,
    email_of,
    faults,
    reason,
    token_of,
)

SUE = {"email": "sue@example.test", "password": PASSWORD}
WRONG = {"email": "sue@example.test", "password": "not this one"}


async def fail(client: Client, times: int, email: str = "sue@example.test") -> None:
    for n in range(times):
        answer = await client.post("/auth/login", {"email": email, "password": f"not this one {n}"})
        assert answer.code == "INVALID_CREDENTIALS"


async def test_a_login_returns_the_account_and_sets_the_cookie(api: Api):
    answer = await api.nobody.post("/auth/login", SUE)
    assert answer.status == 200
    assert answer.data["expires_at"] == "2026-03-02T12:00:00.000Z"
    account = answer.data["admin"]
    assert (account["id"], account["role"], account["totp_enabled"]) == (str(ADMIN_IDS["sue"]), "super_admin", False)
    assert (account["email"], account["last_login_at"]) == ("sue@example.test", "2026-03-01T12:00:00.000Z")
    cookie = answer.headers["set-cookie"]
    assert cookie.endswith("; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Strict")
    assert (await api.nobody.with_cookie(cookie).get("/auth/me")).data == account


async def test_logins_are_counted_by_result(api: Api):
    api.app.counters.drain()
    await api.nobody.post("/auth/login", SUE)
    for n in range(60):  # until they are refused
        await api.nobody.post("/auth/login", WRONG | {"password": f"guess {n}"})
    counts = {labels: count for (name, labels), count in api.app.counters.drain() if name == "logins"}
    assert counts["http", "success"] == 1
    assert counts["http", "failed"] >= 4
    assert sum(counts.values()) == 61


async def test_null_for_the_fields_of_the_second_step_counts_as_absent(api: Api):
    answer = await api.nobody.post("/auth/login", SUE | {"totp_session": None, "totp_code": None})
    assert answer.status == 200


async def test_the_email_is_compared_folded(api: Api):
    await api.log_in("SUE@Example.TEST")


async def test_only_hashes_are_stored(api: Api):
    cookie = (await api.nobody.post("/auth/login", SUE)).headers["set-cookie"]
    token = cookie.partition("=")[2].partition(".")[0]
    assert len(token) == 43
    rows = await api.sql("SELECT s::text AS row, token_hash FROM sessions s")
    assert token_hash(token) in [bytes(row["token_hash"]) for row in rows]
    assert not any(token in row["row"] for row in rows)


@pytest.mark.parametrize(
    "body",
    [
        WRONG,
        {"email": "nobody@example.test", "password": PASSWORD},
        {"email": "not an address", "password": PASSWORD},
        {"email": "sue@example.test", "password": "x" * 10_000},
        {"email": "sue@example.test", "password": PASSWORD + "x" * 300},
    ],
)
async def test_every_failure_gets_the_same_response(api: Api, body: dict[str, str]):
    answer = await api.nobody.post("/auth/login", body)
    assert (answer.status, answer.code) == (401, "INVALID_CREDENTIALS")
    assert answer.json["error"]["message"] == "Wrong email or password."
    assert answer.json["error"]["details"] is None
    assert "set-cookie" not in answer.headers


async def test_an_unknown_account_is_hashed_too(monkeypatch: pytest.MonkeyPatch):
    verified: list[str] = []
    hasher = type("Hasher", (), {"verify": lambda _, stored, __: verified.append(stored) or True})()
    monkeypatch.setattr(admins, "_HASHER", hasher)
    assert await admins.verify_password(None, PASSWORD) is False
    assert verified[0].startswith("$argon2id$v=19$m=19456,t=2,p=1$")


async def test_new_hashes_are_argon2id_with_the_promised_cost():
    stored = await admins.hash_password(PASSWORD)
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await admins.verify_password(stored, PASSWORD)
    assert not await admins.verify_password("no hash at all", PASSWORD)


@pytest.mark.parametrize(
    "body, code, fields",
    [
        ({}, "MISSING_FIELDS", ["email", "password"]),
        ({"email": "", "password": ""}, "MISSING_FIELDS", ["email", "password"]),
        ({"email": None, "password": "x"}, "MISSING_FIELDS", ["email"]),
        ({"email": 1, "password": ["x"]}, "INVALID_FIELD", ["email", "password"]),
        ({"email": "a\x00@b.test", "password": "x"}, "INVALID_FIELD", ["email"]),
        (SUE | {"remember": True}, "INVALID_FIELD", ["remember"]),
    ],
)
async def test_a_login_with_invalid_fields_is_refused(shared_api: Api, body: object, code: str, fields: list[str]):
    answer = await shared_api.nobody.post("/auth/login", body)
    assert (answer.status, answer.code, faults(answer)) == (400, code, fields)


async def test_a_login_replaces_the_session_of_the_cookie(api: Api):
    answer = await api.sue.post("/auth/login", SUE)
    assert answer.status == 200
    assert (await api.sue.get("/auth/me")).code == "SESSION_INVALID"
    assert await api.sql("SELECT id FROM sessions WHERE id = %(id)s", id=SESSION_IDS["sue"]) == []


async def test_a_failed_login_keeps_the_session_of_the_cookie(api: Api):
    assert (await api.sue.post("/auth/login", WRONG)).status == 401
    assert (await api.sue.get("/auth/me")).status == 200


async def test_a_cookie_with_a_bad_signature_is_ignored(api: Api):
    client = api.nobody.with_cookie("svc_session=forged.signature")
    assert (await client.post("/auth/login", SUE)).status == 200


async def test_the_first_login_removes_the_initial_password(api: Api, tmp_path: Path):
    written = tmp_path / "initial-admin"
    written.write_text("secret\n")
    await api.nobody.post("/auth/login", WRONG)
    assert written.exists()
    await api.log_in("sue@example.test")
    assert not written.exists()


async def test_logins_and_failed_logins_are_audited(api: Api):
    await api.nobody.post("/auth/login", WRONG)
    await api.nobody.post("/auth/login", {"email": "hunter2", "password": PASSWORD})
    await api.nobody.post("/auth/login", SUE)
    wrong, odd, right = await api.audit_entries("auth.login")
    assert (wrong["outcome"], wrong["error_code"]) == ("failed", "INVALID_CREDENTIALS")
    assert (wrong["actor_label"], wrong["resource_id"]) == ("sue@example.test", str(ADMIN_IDS["sue"]))
    assert (odd["actor_label"], odd["resource_id"]) == ("(no address)", None)
    assert (right["outcome"], right["admin_id"], right["ip_address"]) == ("success", ADMIN_IDS["sue"], "192.0.2.1")
    assert PASSWORD not in str((wrong, odd, right))
    assert "not this one" not in str((wrong, odd, right))


class TestGuessing:
    async def test_after_ten_failures_an_unknown_source_waits_ever_longer(self, api: Api):
        await fail(api.nobody, 10)
        waits: list[int] = []
        for n in range(6):
            answer = await api.nobody.post("/auth/login", SUE)
            assert (answer.status, answer.code) == (429, "RATE_LIMIT_EXCEEDED")
            waits.append(int(answer.headers["retry-after"]))
            api.clock.advance(seconds=waits[-1])
            await fail(api.nobody.from_address(f"198.51.100.{n}"), 1)
        assert waits == [15, 30, 60, 120, 240, 480]

    async def test_a_login_after_the_wait_succeeds(self, api: Api):
        await fail(api.nobody, 10)
        assert (await api.nobody.post("/auth/login", SUE)).headers["retry-after"] == "15"
        api.clock.advance(seconds=14)
        assert (await api.nobody.post("/auth/login", SUE)).headers["retry-after"] == "1"
        api.clock.advance(seconds=1)
        await api.log_in("sue@example.test")

    async def test_the_same_wrong_password_counts_once(self, api: Api):
        for _ in range(20):
            assert (await api.nobody.post("/auth/login", WRONG)).code == "INVALID_CREDENTIALS"
        await fail(api.nobody, 9)
        assert (await api.nobody.post("/auth/login", WRONG)).status == 429

    async def test_a_known_source_is_never_locked_out(self, api: Api):
        await api.log_in("sue@example.test", address="198.51.100.7")
        await fail(api.nobody, 10)
        assert (await api.nobody.post("/auth/login", SUE)).status == 429
        await api.log_in("sue@example.test", address="198.51.100.7")
        assert (await api.nobody.post("/auth/login", SUE)).status == 429

    async def test_an_ipv6_source_is_known_by_its_network(self, api: Api):
        await api.log_in("sue@example.test", address="2001:db8:1:2::7")
        await fail(api.nobody, 10)
        await api.log_in("sue@example.test", address="2001:db8:1:2:ffff::9")
        answer = await api.nobody.from_address("2001:db8:1:3::7").post("/auth/login", SUE)
        assert answer.status == 429

    async def test_failures_of_one_account_do_not_affect_another(self, api: Api):
        await fail(api.nobody, 10)
        await api.log_in("adam@example.test")

    async def test_an_unknown_account_is_throttled_in_the_same_way(self, api: Api):
        await fail(api.nobody, 10, "nobody@example.test")
        answer = await api.nobody.post("/auth/login", {"email": "NOBODY@example.test", "password": "x"})
        assert (answer.status, answer.headers["retry-after"]) == (429, "15")

    async def test_parallel_attempts_gain_nothing(self, api: Api):
        sources = [api.nobody.from_address(f"198.51.100.{number}") for number in range(40)]
        answers = await asyncio.gather(*(source.post("/auth/login", WRONG) for source in sources))
        assert sorted(answer.status for answer in answers) == [401] * 10 + [429] * 30

    async def test_right_passwords_do_not_count(self, api: Api):
        await asyncio.gather(*(api.log_in("sue@example.test", address=f"198.51.100.{n}") for n in range(20)))
        await fail(api.nobody.from_address("203.0.113.1"), 10)

    async def test_guesses_from_a_known_source_are_limited_too(self, api: Api):
        """Without a limit, an attacker at an administrator's address could guess for ever."""
        await api.log_in("sue@example.test", address="203.0.113.1")
        await api.log_in("sue@example.test", address="203.0.113.2")
        office = api.nobody.from_address("203.0.113.1")
        for n in range(50):
            guess = await office.post("/auth/login", WRONG | {"password": f"not this one {n}"})
            assert guess.code == "INVALID_CREDENTIALS"
            api.clock.advance(seconds=10)
        answers = [await office.post("/auth/login", body) for body in (WRONG, SUE)]
        assert {(answer.status, answer.code) for answer in answers} == {(429, "RATE_LIMIT_EXCEEDED")}
        # Other known sources and other accounts are not affected.
        await api.log_in("sue@example.test", address="203.0.113.2")
        await api.log_in("adam@example.test", address="203.0.113.1")
        # Refused attempts do not prolong the block.
        api.clock.advance(seconds=int(answers[0].headers["retry-after"]) - 1)
        assert (await office.post("/auth/login", SUE)).status == 429
        api.clock.advance(seconds=1)
        assert (await office.post("/auth/login", SUE)).status == 200

    async def test_unknown_sources_do_not_use_up_attempts_of_known_ones(self, api: Api):
        await api.log_in("sue@example.test", address="203.0.113.1")
        for number in range(70):
            await api.nobody.from_address(f"198.51.100.{number}").post("/auth/login", WRONG)
        await api.log_in("sue@example.test", address="203.0.113.1")

    async def test_failures_expire(self, api: Api):
        await fail(api.nobody, 9)
        api.clock.advance(minutes=15)
        await fail(api.nobody, 10)


async def test_a_login_fails_if_the_credentials_change_meanwhile(api: Api, monkeypatch: pytest.MonkeyPatch):
    verify = admins.verify_password

    async def verify_late(stored: str | None, password: str) -> bool:
        right = await verify(stored, password)
        await api.sql(
            "UPDATE admins SET credentials_epoch = credentials_epoch + 1 WHERE email_key = %(key)s",
            key=email_of("sue"),
        )
        return right

    monkeypatch.setattr(admins, "verify_password", verify_late)
    assert (await api.nobody.post("/auth/login", SUE)).code == "INVALID_CREDENTIALS"


async def test_a_cross_site_login_is_refused(shared_api: Api):
    answer = await shared_api.nobody("POST", "/auth/login", SUE, headers={"sec-fetch-site": "cross-site"})
    assert (answer.status, answer.code) == (403, "FORBIDDEN")


@pytest.mark.parametrize("authorization", ["", "Basic c3VlOng=", "bearerish x", "Digest x"])
async def test_a_cross_site_call_with_a_cookie_is_refused_despite_a_header(shared_api: Api, authorization: str):
    headers = {"authorization": authorization, "origin": "https://evil.test", "sec-fetch-site": "cross-site"}
    answer = await shared_api.sue("POST", "/auth/logout-all", headers=headers)
    assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "cross_site")
    answer = await shared_api.nobody("POST", "/auth/login", SUE, headers=headers | {"authorization": "Bearer x"})
    assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "cross_site")


async def test_a_key_calls_from_any_site(shared_api: Api):
    headers = {"origin": "https://other.test", "sec-fetch-site": "cross-site"}
    assert (await shared_api.unscoped("POST", "/api-keys", {}, headers=headers)).code == "MISSING_FIELDS"


async def test_the_test_users_are_logged_in(shared_api: Api):
    assert cookie_of(token_of("sue")) == shared_api.sue.headers["cookie"]
    for name in ADMIN_IDS:
        assert (await shared_api.session(name).get("/auth/me")).data["email"] == email_of(name)
