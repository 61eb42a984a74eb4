"""Second factors over HTTP: enrolling, logging in by two steps, recovery codes, renewing, disabling."""

import asyncio
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, PASSWORD, Api, Authenticator, Client, email_of, faults, reason

SUE = {"email": "sue@example.test", "password": PASSWORD}


async def first_step(client: Client, name: str = "sue") -> str:
    answer = await client.post("/auth/login", {"email": email_of(name), "password": PASSWORD})
    assert answer.status == 200, answer.body
    assert answer.data.keys() == {"requires_totp", "totp_session", "expires_at", "methods"}
    assert answer.data["requires_totp"] is True
    assert answer.data["methods"] == ["totp", "recovery_code"]
    assert "set-cookie" not in answer.headers
    return answer.data["totp_session"]


async def second_step(client: Client, token: str, code: str) -> Answer:
    return await client.post("/auth/login", {"totp_session": token, "totp_code": code})


async def recover(client: Client, token: str, code: str) -> Answer:
    return await client.post("/auth/login", {"totp_session": token, "recovery_code": code})


async def test_enrol_log_in_renew_and_disable_an_authenticator(api: Api):
    """Enrol, log in by two steps, replay the code, use a recovery code, renew, disable."""
    setup = await api.sue.post("/auth/totp/setup")
    assert setup.status == 200
    assert setup.data["expires_at"] == "2026-03-01T12:10:00.000Z"
    uri = urlsplit(setup.data["provisioning_uri"])
    assert (uri.scheme, uri.netloc, uri.path) == ("otpauth", "totp", "/Mailkeep:sue%40example.test")
    query = parse_qs(uri.query)
    assert {name: query[name] for name in ("issuer", "algorithm", "digits", "period")} == {
        "issuer": ["Mailkeep"],
        "algorithm": ["SHA1"],
        "digits": ["6"],
        "period": ["30"],
    }
    await api.log_in("sue@example.test")  # not required yet

    sue = await api.enrol(api.sue)
    assert (await api.sue.get("/auth/me")).data["totp_enabled"] is True
    assert len(sue.recovery_codes) == len(set(sue.recovery_codes)) == 10

    token = await first_step(api.nobody)
    replayed = await second_step(api.nobody, token, sue.code())  # used by the enrolment
    assert (replayed.status, replayed.code) == (401, "TOTP_INVALID")
    opened = await second_step(api.nobody, token, sue.next_code())
    assert opened.status == 200
    assert opened.data.keys() == {"admin", "session_id", "expires_at"}
    assert (opened.data["admin"]["id"], opened.data["admin"]["totp_enabled"]) == (str(ADMIN_IDS["sue"]), True)
    client = api.nobody.with_cookie(opened.headers["set-cookie"])
    assert (await client.get("/auth/me")).status == 200

    again = await second_step(api.nobody, await first_step(api.nobody), sue.code())
    assert (again.status, again.code) == (401, "TOTP_INVALID")
    assert (await second_step(api.nobody, token, sue.next_code())).code == "SESSION_INVALID"  # already used

    lost = await recover(api.nobody, await first_step(api.nobody), sue.recovery_codes[0].upper())
    assert lost.status == 200
    twice = await recover(api.nobody, await first_step(api.nobody), sue.recovery_codes[0])
    assert (twice.status, twice.code) == (401, "TOTP_INVALID")

    renewed = await client.post("/auth/totp/recovery-codes", {"code": sue.next_code()})
    assert renewed.status == 200
    assert not set(renewed.data["recovery_codes"]) & set(sue.recovery_codes)
    old = await recover(api.nobody, await first_step(api.nobody), sue.recovery_codes[1])
    assert old.code == "TOTP_INVALID"
    new = await recover(api.nobody, await first_step(api.nobody), renewed.data["recovery_codes"][9])
    assert new.status == 200

    assert (await client("DELETE", "/auth/totp", {"code": sue.code()})).code == "TOTP_INVALID"
    disabled = await client("DELETE", "/auth/totp", {"code": sue.next_code()})
    assert (disabled.status, disabled.data["totp_enabled"]) == (200, False)
    assert (await client.get("/auth/me")).data["totp_enabled"] is False
    await api.log_in("sue@example.test")


async def test_of_two_concurrent_logins_with_one_code_one_succeeds(api: Api):
    sue = await api.enrol(api.sue)
    for _ in range(8):
        tokens = [await first_step(api.nobody) for _ in range(4)]
        code = sue.next_code()
        answers = await asyncio.gather(*(second_step(api.nobody, token, code) for token in tokens))
        assert sorted((answer.status, answer.code if answer.status > 200 else None) for answer in answers) == [
            (200, None),
            *[(401, "TOTP_INVALID")] * 3,
        ]
        await api.sql("DELETE FROM login_failures")


async def test_the_database_lets_a_time_step_be_used_once(api: Api):
    """Compare and set, without another lock."""
    await api.factor("sue", enabled_at=api.clock())
    statement = """
        UPDATE totp_secrets SET last_step = %(step)s
        WHERE admin_id = %(id)s AND (last_step IS NULL OR last_step < %(step)s) RETURNING last_step
    """
    updated = await asyncio.gather(*(api.sql(statement, step=7, id=ADMIN_IDS["sue"]) for _ in range(8)))
    assert sorted(map(len, updated)) == [0] * 7 + [1]


async def test_one_recovery_code_completes_one_of_two_concurrent_logins(api: Api):
    sue = await api.enrol(api.sue)
    for code in sue.recovery_codes[:4]:
        tokens = [await first_step(api.nobody) for _ in range(2)]
        answers = await asyncio.gather(*(recover(api.nobody, token, code) for token in tokens))
        assert sorted(answer.status for answer in answers) == [200, 401]


async def test_steps_may_drift_by_one_and_never_go_back(api: Api):
    sue = await api.factor("sue", enabled_at=api.clock())
    for drift, opens in (
        (-2, False),
        (2, False),
        (-1, True),
        (-1, False),
        (0, True),
        (1, True),
        (0, False),
        (-1, False),
    ):
        answer = await second_step(api.nobody, await first_step(api.nobody), sue.code(drift))
        assert (answer.status == 200) is opens, drift


class TestTheWaitingLogin:
    async def test_it_lives_five_minutes(self, api: Api):
        sue = await api.enrol(api.sue)
        token = await first_step(api.nobody)
        late = await first_step(api.nobody)
        api.clock.advance(seconds=299)
        assert (await second_step(api.nobody, token, sue.code())).status == 200
        api.clock.advance(seconds=1)
        expired = await second_step(api.nobody, late, sue.next_code())
        assert (expired.status, expired.code) == (401, "SESSION_INVALID")
        # The next setup deletes it.
        await first_step(api.nobody)
        assert len(await api.sql("SELECT attempts FROM pending_logins")) == 1

    async def test_it_has_five_attempts(self, api: Api):
        sue = await api.enrol(api.sue)
        token = await first_step(api.nobody)
        api.clock.advance(seconds=30)
        for _ in range(5):
            assert (await second_step(api.nobody, token, sue.wrong_code())).code == "TOTP_INVALID"
        dead = await second_step(api.nobody, token, sue.code())
        assert (dead.status, dead.code) == (401, "SESSION_INVALID")
        assert (await second_step(api.nobody, await first_step(api.nobody), sue.code())).status == 200

    async def test_parallel_attempts_gain_nothing(self, api: Api):
        sue = await api.enrol(api.sue)
        token = await first_step(api.nobody)
        answers = await asyncio.gather(*(second_step(api.nobody, token, sue.wrong_code()) for _ in range(15)))
        assert sorted(answer.code or "" for answer in answers) == ["SESSION_INVALID"] * 10 + ["TOTP_INVALID"] * 5

    async def test_it_is_stored_as_a_hash_and_is_no_session(self, api: Api):
        await api.enrol(api.sue)
        token = await first_step(api.nobody)
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
        (row,) = await api.sql("SELECT p::text AS text FROM pending_logins p")
        assert token not in row["text"]
        for value in (token, f"{token}."):
            assert (await api.nobody.with_cookie(f"svc_session={value}").get("/auth/me")).code == "SESSION_INVALID"

    @pytest.mark.parametrize("change", ["password", "factor", "deletion"])
    async def test_it_is_invalid_after_a_change_of_credentials(self, api: Api, change: str):
        adam = await api.enrol(api.adam)
        token = await first_step(api.nobody, "adam")
        api.clock.advance(seconds=30)
        if change == "password":
            await api.sue.patch(f"/admins/{ADMIN_IDS['adam']}", {"password": "seven green bottles"})
        elif change == "factor":
            await api.adam.post("/auth/totp/recovery-codes", {"code": adam.code()})
        else:
            await api.sue.delete(f"/admins/{ADMIN_IDS['adam']}")
        assert (await second_step(api.nobody, token, adam.next_code())).code == "SESSION_INVALID"

    async def test_the_second_step_replaces_the_session_of_the_cookie(self, api: Api):
        sue = await api.enrol(api.sue)
        token = await first_step(api.sue)
        assert (await api.sue.get("/auth/me")).status == 200
        assert (await second_step(api.sue, token, sue.next_code())).status == 200
        assert (await api.sue.get("/auth/me")).code == "SESSION_INVALID"


async def test_the_first_step_alone_is_no_login(api: Api):
    """No known source and no login is recorded, and the initial password is kept."""
    await api.enrol(api.sue)
    initial = api.app.data_dir / "initial-admin"
    initial.write_text("secret")
    await first_step(api.nobody)
    assert initial.exists()
    assert await api.sql("SELECT admin_id FROM login_sources") == []
    assert await api.audit_entries("auth.login") == []
    assert (await api.sue.get("/auth/me")).data["last_login_at"] is None


@pytest.mark.parametrize(
    "body, status, code, fields",
    [
        ({"totp_session": "x", "totp_code": "123456"}, 401, "SESSION_INVALID", None),
        ({"totp_session": "x", "recovery_code": "abcd"}, 401, "SESSION_INVALID", None),
        ({"totp_session": "x" * 1001, "totp_code": "123456"}, 400, "INVALID_FIELD", ["totp_session"]),
        ({"totp_session": "x"}, 400, "MISSING_FIELDS", ["totp_code"]),
        ({"totp_code": "123456"}, 400, "MISSING_FIELDS", ["totp_session"]),
        ({"totp_session": "x", "totp_code": ""}, 400, "MISSING_FIELDS", ["totp_code"]),
        ({"recovery_code": "x"}, 400, "MISSING_FIELDS", ["totp_session"]),
        ({"totp_session": "x", "totp_code": 123456}, 400, "INVALID_FIELD", ["totp_code"]),
        ({"totp_session": "x", "totp_code": "1", "recovery_code": "x"}, 400, "INVALID_FIELD", ["recovery_code"]),
        (SUE | {"totp_code": "123456"}, 400, "INVALID_FIELD", ["totp_code"]),
        ({"email": None, "password": None, "totp_session": "x", "totp_code": "1"}, 401, "SESSION_INVALID", None),
        ({"totp_session": "x", "totp_code": None, "recovery_code": "x"}, 401, "SESSION_INVALID", None),
        ({"totp_session": "x", "totp_code": None, "recovery_code": None}, 400, "MISSING_FIELDS", ["totp_code"]),
        (SUE | {"token": None}, 400, "INVALID_FIELD", ["token"]),
    ],
)
async def test_an_invalid_second_step_is_refused(
    shared_api: Api, body: dict[str, object], status: int, code: str, fields: list[str] | None
):
    answer = await shared_api.nobody.post("/auth/login", body)
    assert (answer.status, answer.code) == (status, code)
    if fields:
        assert faults(answer) == fields


@pytest.mark.parametrize(
    "text", ["12345", "1234567", "abcdef", "１２３４５６", "123456\n", " 123456", "\x00", "12 456"]
)
async def test_a_malformed_code_is_a_wrong_code(api: Api, text: str):
    await api.enrol(api.sue)
    answer = await second_step(api.nobody, await first_step(api.nobody), text)
    assert (answer.status, answer.code) == (401, "TOTP_INVALID")


class TestSetup:
    async def test_it_is_pending_for_ten_minutes(self, api: Api):
        sue = await api.set_up(api.sue)
        api.clock.advance(minutes=10)
        late = await api.sue.post("/auth/totp/verify", {"code": sue.code()})
        assert (late.status, late.code, reason(late)) == (409, "CONFLICT", "no_setup")
        sue = await api.set_up(api.sue)
        api.clock.advance(minutes=9, seconds=59)
        assert (await api.sue.post("/auth/totp/verify", {"code": sue.code()})).status == 200

    async def test_a_new_setup_replaces_a_pending_one(self, api: Api):
        old, new = await api.set_up(api.sue), await api.set_up(api.sue)
        assert old.secret != new.secret
        assert (await api.sue.post("/auth/totp/verify", {"code": old.code()})).code == "TOTP_INVALID"
        assert (await api.sue.post("/auth/totp/verify", {"code": new.code()})).status == 200

    async def test_conflicts(self, api: Api):
        for method, path, why in (
            ("POST", "/auth/totp/verify", "no_setup"),
            ("POST", "/auth/totp/recovery-codes", "totp_off"),
            ("DELETE", "/auth/totp", "totp_off"),
        ):
            answer = await api.sue(method, path, {"code": "123456"})
            assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", why)
        sue = await api.enrol(api.sue)
        for path, body in (("setup", None), ("verify", {"code": sue.next_code()})):
            answer = await api.sue.post(f"/auth/totp/{path}", body)
            assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "totp_enabled")

    async def test_fields(self, shared_api: Api):
        for method, path in (("POST", "/auth/totp/verify"), ("DELETE", "/auth/totp")):
            for body, code, names in (
                ({}, "MISSING_FIELDS", ["code"]),
                ({"code": ""}, "MISSING_FIELDS", ["code"]),
                ({"code": 123456}, "INVALID_FIELD", ["code"]),
                ({"code": "123456", "totp": "x"}, "INVALID_FIELD", ["totp"]),
            ):
                answer = await shared_api.sue(method, path, body)
                assert (answer.status, answer.code, faults(answer)) == (400, code, names)
            assert (await shared_api.sue(method, path)).code == "INVALID_JSON"

    async def test_a_secret_is_sealed_to_its_account(self, api: Api):
        sue = await api.enrol(api.sue)
        (row,) = await api.sql("SELECT secret, t::text AS text FROM totp_secrets t")
        assert sue.secret not in bytes(row["secret"])
        assert sue.secret.hex() not in row["text"]
        vault, own, other = api.app.vault, ADMIN_IDS["sue"].bytes, ADMIN_IDS["adam"].bytes
        assert vault.open("totp", bytes(row["secret"]), own) == sue.secret
        assert vault.open("totp", bytes(row["secret"]), other) is None

    async def test_recovery_codes_are_stored_as_hashes(self, api: Api):
        sue = await api.enrol(api.sue)
        rows = await api.sql("SELECT octet_length(code_hash) AS size, r::text AS text FROM recovery_codes r")
        assert [row["size"] for row in rows] == [32] * 10
        assert not any(
            code in row["text"] or code.replace("-", "") in row["text"] for row in rows for code in sue.recovery_codes
        )

    async def test_a_key_can_not_change_its_owners_second_factors(self, api: Api):
        for method, path in (("POST", "/setup"), ("POST", "/verify"), ("POST", "/recovery-codes"), ("DELETE", "")):
            answer = await api.unscoped(method, f"/auth/totp{path}", {"code": "123456"})
            assert (answer.status, answer.code) == (403, "FORBIDDEN")

    async def test_a_recovery_code_disables_a_lost_authenticator(self, api: Api):
        sue = await api.enrol(api.sue)
        wrong = await api.sue("DELETE", "/auth/totp", {"recovery_code": "abcd-abcd-abcd-abcd"})
        assert wrong.code == "TOTP_INVALID"
        assert (await api.sue("DELETE", "/auth/totp", {"recovery_code": sue.recovery_codes[3]})).status == 200
        assert await api.sql("SELECT 1 FROM totp_secrets UNION ALL SELECT 1 FROM recovery_codes") == []
        new = await api.enrol(api.sue)
        assert new.secret != sue.secret


@pytest.mark.parametrize("change", ["verify", "renew", "disable"])
async def test_every_change_ends_the_other_sessions(api: Api, change: str):
    if change == "verify":
        sue = await api.set_up(api.sue)
        other, method, path = await api.log_in("sue@example.test"), "POST", "/auth/totp/verify"
    else:
        sue = await api.enrol(api.sue)
        opened = await second_step(api.nobody, await first_step(api.nobody), sue.next_code())
        other = api.nobody.with_cookie(opened.headers["set-cookie"])
        method, path = ("DELETE", "/auth/totp") if change == "disable" else ("POST", "/auth/totp/recovery-codes")
    assert (await other.get("/auth/me")).status == 200
    assert (await api.sue(method, path, {"code": sue.next_code()})).status == 200
    assert (await other.get("/auth/me")).code == "SESSION_INVALID"
    assert (await api.sue.get("/auth/me")).status == 200
    assert (await api.unscoped.get("/auth/me")).status == 200
    assert (await api.adam.get("/auth/me")).status == 200


class TestGuessing:
    async def guess(self, api: Api, sue: Authenticator, client: Client, times: int) -> None:
        token = ""
        for number in range(times):
            token = token if number % 5 else await first_step(client)
            assert (await second_step(client, token, sue.wrong_code())).code == "TOTP_INVALID"

    async def test_after_ten_wrong_codes_all_logins_of_the_account_wait(self, api: Api):
        sue = await api.enrol(api.sue)
        await self.guess(api, sue, api.nobody, 10)
        elsewhere = api.nobody.from_address("198.51.100.9")
        refused = await second_step(elsewhere, await first_step(elsewhere), sue.code(1))
        assert (refused.status, refused.code) == (429, "RATE_LIMIT_EXCEEDED")
        api.clock.advance(seconds=int(refused.headers["retry-after"]))
        assert (await second_step(api.nobody, await first_step(api.nobody), sue.code())).status == 200

    async def test_wrong_codes_elsewhere_do_not_delay_a_known_source(self, api: Api):
        sue = await api.enrol(api.sue)
        home = api.nobody.from_address("198.51.100.7")
        assert (await second_step(home, await first_step(home), sue.next_code())).status == 200
        await self.guess(api, sue, api.nobody, 10)
        assert (await second_step(api.nobody, await first_step(api.nobody), sue.code(1))).status == 429
        assert (await second_step(home, await first_step(home), sue.code(1))).status == 200

    async def test_attempts_of_a_known_source_are_limited_too(self, api: Api):
        sue = await api.enrol(api.sue)
        assert (await second_step(api.nobody, await first_step(api.nobody), sue.next_code())).status == 200
        await self.guess(api, sue, api.nobody, 10)
        assert (await second_step(api.nobody, await first_step(api.nobody), sue.code(1))).status == 429

    async def test_right_codes_do_not_count(self, api: Api):
        sue = await api.enrol(api.sue)
        for _ in range(15):
            assert (await second_step(api.nobody, await first_step(api.nobody), sue.next_code())).status == 200

    async def test_a_stolen_session_can_not_guess_a_code_to_disable(self, api: Api):
        sue = await api.enrol(api.sue)
        for _ in range(10):
            assert (await api.sue("DELETE", "/auth/totp", {"code": sue.wrong_code()})).code == "TOTP_INVALID"
        answer = await api.sue("DELETE", "/auth/totp", {"code": sue.code(1)})
        assert (answer.status, answer.headers["retry-after"]) == (429, "30")
        assert (await api.sue.get("/auth/me")).data["totp_enabled"] is True


async def test_changes_of_factors_are_audited_without_secrets(api: Api):
    sue = await api.enrol(api.sue)
    await api.sue("DELETE", "/auth/totp", {"code": sue.wrong_code()})
    await second_step(api.nobody, await first_step(api.nobody), sue.wrong_code())
    await api.sue.post("/auth/totp/recovery-codes", {"code": sue.next_code()})
    await api.sue.post("/auth/totp/verify", {"code": sue.code()})
    await api.sue("DELETE", "/auth/totp", {"code": sue.next_code()})
    rows = await api.sql("SELECT * FROM audit_entries ORDER BY id")
    assert [(row["action"], row["outcome"], row["error_code"]) for row in rows] == [
        ("totp.setup", "success", None),
        ("totp.enable", "success", None),
        ("totp.disable", "failed", "TOTP_INVALID"),
        ("auth.login", "failed", "TOTP_INVALID"),
        ("totp.recovery_codes", "success", None),
        ("totp.enable", "failed", "CONFLICT"),
        ("totp.disable", "success", None),
    ]
    assert {row["resource_id"] for row in rows if row["error_code"] != "CONFLICT"} == {str(ADMIN_IDS["sue"])}
    assert rows[1]["details"] == {"before": {"totp_enabled": False}, "after": {"totp_enabled": True}}
    assert rows[3]["actor_label"] == "sue@example.test"
    assert not any(secret in str(rows) for secret in (sue.secret.hex(), sue.code(), *sue.recovery_codes))
