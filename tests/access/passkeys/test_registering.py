"""Registering, listing, renaming and deleting passkeys over HTTP."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from mailkeep.features.access.accounts.model import AccountRef
from mailkeep.features.access.admins.model import NO_PASSWORD
from mailkeep.features.access.passkeys import service as passkeys
from mailkeep.features.access.passkeys.model import MAX_PASSKEYS
from mailkeep.run.cli.accounts import cli_principal
from mailkeep.settings.http import HttpSettings
from mailkeep.settings.tree import AuthSettings
from tests.access.passkeys.registering import (
    PROVEN,
    by_password,
    log_in,
    login_options,
    offer,
    options_for,
    register,
    verify,
)
from tests.support.authenticator import AT, BE, BS, UP, UV, SoftKey, b64, unb64
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, PASSWORD, Api, Client, email_of, faults, reason


def outcome(answer: Answer) -> tuple[int, str | None, str | None]:
    return answer.status, answer.code, reason(answer)


def ask(api: Api, **settings: Any) -> None:
    """Change settings of the running application."""
    api.app.settings = replace(api.app.settings, **settings)


async def test_register_rename_use_and_delete_passkeys(api: Api):
    begun = await api.sue.post("/auth/passkeys/register/options", PROVEN)
    assert begun.data["expires_at"] == "2026-03-01T12:05:00.000Z"
    options = begun.data["options"]
    assert len(unb64(options.pop("challenge"))) == 32
    assert options == {
        "rp": {"id": "localhost", "name": "Mailkeep"},
        "user": {
            "id": b64(ADMIN_IDS["sue"].bytes),
            "name": "sue@example.test",
            "displayName": "sue@example.test",
        },
        "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in (-7, -8, -257)],
        "timeout": 300_000,
        "excludeCredentials": [],
        "authenticatorSelection": {
            "residentKey": "preferred",
            "requireResidentKey": False,
            "userVerification": "preferred",
        },
        "attestation": "none",
    }

    laptop, created = await register(api.sue, SoftKey(flags=UP | UV | BE | BS), name="My laptop")
    assert len(set(created["recovery_codes"])) == 10
    api.clock.advance(seconds=1)
    ring, second = await register(api.sue)
    assert second["recovery_codes"] is None

    listed = (await api.sue.get("/auth/passkeys")).data
    assert listed == [second["passkey"], created["passkey"]]
    assert listed[1] == {
        "id": created["passkey"]["id"],
        "name": "My laptop",
        "transports": ["hybrid", "internal"],
        "backup_eligible": True,
        "backed_up": True,
        "aaguid": "00000000-0000-0000-0000-000000000000",
        "created_at": "2026-03-01T12:00:00.000Z",
        "last_used_at": None,
    }
    assert (listed[0]["name"], listed[0]["backed_up"]) == ("Passkey", False)
    excluded = (await options_for(api.sue))["excludeCredentials"]
    assert [unb64(one["id"]) for one in excluded] == [ring.credential_id, laptop.credential_id]
    me = (await api.sue.get("/auth/me")).data
    assert (me["passkeys"], me["totp_enabled"]) == (2, False)

    path = f"/auth/passkeys/{second['passkey']['id']}"
    renamed = await api.sue.patch(path, {"name": "The key on my ring"})
    assert renamed.data == second["passkey"] | {"name": "The key on my ring"}
    deleted = await api.sue("DELETE", path, PROVEN)
    assert (deleted.status, deleted.data["id"]) == (200, second["passkey"]["id"])
    assert (await api.sue.get("/auth/passkeys")).data == [created["passkey"]]
    assert (await log_in(api.nobody, ring)).code == "INVALID_CREDENTIALS"
    assert (await log_in(api.nobody, laptop)).status == 200


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
async def test_other_key_algorithms_work_too(api: Api, kind: str):
    private = ed25519.Ed25519PrivateKey.generate() if kind == "ed25519" else rsa.generate_private_key(65537, 2048)
    key, _ = await register(api.sue, SoftKey(key=private))
    assert (await log_in(api.nobody, key)).status == 200


class TestWhoMay:
    async def test_a_recent_session_needs_no_password(self, api: Api):
        fresh = await api.log_in(email_of("sue"))
        api.clock.advance(minutes=15)
        assert (await fresh.post("/auth/passkeys/register/options")).status == 200
        api.clock.advance(seconds=1)
        refused = await fresh.post("/auth/passkeys/register/options")
        assert outcome(refused) == (403, "FORBIDDEN", "login_again")
        assert (await fresh.post("/auth/passkeys/register/options", PROVEN)).status == 200

    async def test_an_old_session_without_the_password_changes_nothing(self, api: Api):
        _, passkey_id = await api.passkey("sue")
        for method, path in (("DELETE", f"/auth/passkeys/{passkey_id}"), ("POST", "/auth/passkeys/recovery-codes")):
            assert outcome(await api.sue(method, path)) == (403, "FORBIDDEN", "login_again")
            wrong = await api.sue(method, path, {"current_password": "not the one"})
            assert (wrong.status, wrong.code) == (401, "INVALID_CREDENTIALS")
        assert (await api.sue.patch(f"/auth/passkeys/{passkey_id}", {"name": "x"})).status == 200
        rows = await api.sql("SELECT action, outcome, error_code FROM audit_entries ORDER BY id")
        assert [tuple(row.values()) for row in rows[:4]] == [
            ("passkey.delete", "denied", "FORBIDDEN"),
            ("passkey.delete", "failed", "INVALID_CREDENTIALS"),
            ("passkey.recovery_codes", "denied", "FORBIDDEN"),
            ("passkey.recovery_codes", "failed", "INVALID_CREDENTIALS"),
        ]

    async def test_a_stolen_session_can_not_guess_the_password(self, api: Api):
        for _ in range(10):
            wrong = await api.sue.post("/auth/passkeys/register/options", {"current_password": "wrong"})
            assert wrong.code == "INVALID_CREDENTIALS"
        assert (await api.sue.post("/auth/passkeys/register/options", PROVEN)).code == "RATE_LIMIT_EXCEEDED"

    async def test_an_api_key_can_not_change_passkeys(self, api: Api):
        _, passkey_id = await api.passkey("sue")
        assert [row["id"] for row in (await api.unscoped.get("/auth/passkeys")).data] == [str(passkey_id)]
        for method, path in (
            ("POST", "/register/options"),
            ("POST", "/register/verify"),
            ("POST", "/recovery-codes"),
            ("PATCH", f"/{passkey_id}"),
            ("DELETE", f"/{passkey_id}"),
        ):
            assert (await api.unscoped(method, f"/auth/passkeys{path}", {})).code == "FORBIDDEN"

    async def test_passkeys_of_others_are_not_found(self, api: Api):
        _, passkey_id = await api.passkey("adam")
        for path_id in (passkey_id, UUID(int=7 << 76 | 2 << 62), "no-id"):
            assert (await api.sue.patch(f"/auth/passkeys/{path_id}", {"name": "x"})).code == "NOT_FOUND"
            assert (await api.sue("DELETE", f"/auth/passkeys/{path_id}", PROVEN)).code == "NOT_FOUND"
        assert (await api.sue.get("/auth/passkeys")).data == []


Wrong = Callable[[SoftKey, dict[str, Any]], dict[str, Any]]


def with_data(change: Callable[[bytes], bytes]) -> Wrong:
    """Changed authenticator data; attestation `none` has no signature."""

    def make(key: SoftKey, options: dict[str, Any]) -> dict[str, Any]:
        credential = key.create(options)
        attestation = {"fmt": "none", "attStmt": {}, "authData": change(key.made_data())}
        credential["response"]["attestationObject"] = b64(cbor2.dumps(attestation))
        return credential

    return make


def with_key(**changes: Any) -> Wrong:
    """Another browser, or another authenticator."""
    return lambda key, options: dataclasses.replace(key, **changes).create(options)


def with_public_key(public_key: Any) -> Wrong:
    def change(data: bytes) -> bytes:
        return data[: 37 + 18 + 32] + cbor2.dumps(public_key)

    return with_data(change)


def of_another_id(key: SoftKey, options: dict[str, Any]) -> dict[str, Any]:
    return key.create(options) | {"id": b64(b"another")}


_POINT = {1: 2, 3: -7, -1: 1, -2: bytes(31) + b"\x05", -3: bytes(31) + b"\x07"}
REFUSED: list[tuple[str, Wrong]] = [
    ("another origin", with_key(origin="https://evil.test")),
    ("another port", with_key(origin="http://localhost:8081")),
    ("https in place of http", with_key(origin="https://localhost:8080")),
    ("another site", with_key(rp_id="evil.test")),
    ("nobody there", with_key(flags=UV)),
    ("backed up without being eligible", with_key(flags=UP | BS)),
    ("a use, not a registration", with_key(client_data={"type": "webauthn.get"})),
    ("another id", of_another_id),
    ("an algorithm that was not requested", with_public_key(_POINT | {3: -35})),
    ("a point that is on no curve", with_public_key(_POINT)),
    ("a key that is no map", with_public_key([1, 2])),
    ("a key without its parts", with_public_key({1: 2, 3: -7})),
    ("a key with a declared length of 1 MB", with_data(lambda data: data[:87] + b"\x5a\x00\x10\x00\x00")),
    ("a long key", with_public_key({1: 3, 3: -257, -1: b"\xff" * 1025, -2: b"\x01\x00\x01"})),
    ("a tag", with_public_key(cbor2.CBORTag(28, _POINT))),
    ("an indefinite length", with_data(lambda data: data[:87] + b"\xbf\x01\x02\xff")),
    ("deep nesting", with_public_key([[[[[[1]]]]]])),
    ("something behind", with_data(lambda data: data + b"\x00")),
    ("cut short", with_data(lambda data: data[:-1])),
    ("only the head", with_data(lambda data: data[:37])),
    ("no credential", with_data(lambda data: data[:32] + bytes([data[32] & ~AT]) + data[33:37])),
]


async def test_credentials_of_other_sites_or_damaged_ones_are_refused(api: Api):
    for name, make in REFUSED:
        credential = make(SoftKey(), await options_for(api.sue))
        answer = await verify(api.sue, credential)
        assert (answer.status, answer.code) == (400, "INVALID_FIELD"), (name, answer.body)
        assert faults(answer)[0].startswith("credential"), name
        assert (await verify(api.sue, credential)).code == "CONFLICT", name  # the challenge is used up
    entries = await api.audit_entries("passkey.register")
    assert {entry["outcome"] for entry in entries} == {"failed"}
    assert [entry["error_code"] for entry in entries] == ["INVALID_FIELD", "CONFLICT"] * len(REFUSED)
    assert await api.sql("SELECT id FROM passkeys") == []


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"id": None}, "credential.id"),
    ({"id": "A==="}, "credential.id"),
    ({"id": b64(bytes(1024))}, "credential.id"),
    ({"type": "password"}, "credential.type"),
    ({"response": None}, "credential.response"),
    ({"response": []}, "credential.response"),
]
MALFORMED_RESPONSES: list[tuple[dict[str, Any], str]] = [
    ({"clientDataJSON": None}, "clientDataJSON"),
    ({"clientDataJSON": 7}, "clientDataJSON"),
    ({"clientDataJSON": "é"}, "clientDataJSON"),
    ({"clientDataJSON": b64(b"{" * 5000)}, "clientDataJSON"),
    ({"clientDataJSON": b64(b"[" * 8000)}, "clientDataJSON"),
    ({"clientDataJSON": b64(bytes(8193))}, "clientDataJSON"),
    ({"clientDataJSON": b64(b"[]")}, "clientDataJSON"),
    ({"clientDataJSON": b64(b'{"challenge": 1, "origin": "x"}')}, "clientDataJSON"),
    ({"clientDataJSON": b64(b'{"challenge": "a+/=", "origin": "x"}')}, "clientDataJSON"),
    ({"clientDataJSON": b64(b'{"challenge": "AAAA", "origin": "x", "crossOrigin": true}')}, "clientDataJSON"),
    ({"clientDataJSON": b64('{"challenge": "AAAA"}'.encode("utf-16"))}, "clientDataJSON"),
    ({"attestationObject": None}, "attestationObject"),
    ({"attestationObject": b64(bytes(65537))}, "attestationObject"),
]


async def test_malformed_credentials(shared_api: Api):
    credential = SoftKey().create(await options_for(shared_api.sue))
    cases = [(credential | change, field) for change, field in MALFORMED] + [
        (credential | {"response": credential["response"] | change}, f"credential.response.{field}")
        for change, field in MALFORMED_RESPONSES
    ]
    for body, field in cases:
        answer = await verify(shared_api.sue, body)
        assert (answer.status, answer.code, faults(answer)) == (400, "INVALID_FIELD", [field]), body
    for body, code, names in (
        ({}, "MISSING_FIELDS", ["credential"]),
        ({"credential": "x"}, "INVALID_FIELD", ["credential"]),
        ({"credential": credential, "name": "x" * 101}, "INVALID_FIELD", ["name"]),
        ({"credential": credential, "name": "a\nb"}, "INVALID_FIELD", ["name"]),
        ({"credential": credential, "label": "x"}, "INVALID_FIELD", ["label"]),
    ):
        answer = await shared_api.sue.post("/auth/passkeys/register/verify", body)
        assert (answer.status, answer.code, faults(answer)) == (400, code, names), body
    assert (await verify(shared_api.sue, credential)).status == 201  # the challenge is still valid


class TestChallenges:
    async def test_each_challenge_takes_one_response(self, api: Api):
        credential = SoftKey().create(await options_for(api.sue))
        assert (await verify(api.sue, credential)).status == 201
        assert outcome(await verify(api.sue, credential)) == (409, "CONFLICT", "no_challenge")

    async def test_two_concurrent_responses_to_one_challenge(self, api: Api):
        options = await options_for(api.sue)
        answers = await asyncio.gather(*(verify(api.sue, SoftKey().create(options)) for _ in range(4)))
        assert sorted(answer.status for answer in answers) == [201, 409, 409, 409]

    async def test_challenges_expire_after_five_minutes(self, api: Api):
        in_time, late = [SoftKey().create(await options_for(api.sue)) for _ in range(2)]
        api.clock.advance(seconds=299)
        assert (await verify(api.sue, in_time)).status == 201
        api.clock.advance(seconds=1)
        assert outcome(await verify(api.sue, late)) == (409, "CONFLICT", "no_challenge")
        await options_for(api.sue)  # deletes expired challenges
        assert len(await api.sql("SELECT purpose FROM passkey_challenges")) == 1

    async def test_challenges_are_bound_to_their_session(self, api: Api):
        other = await api.log_in(email_of("sue"))
        credential = SoftKey().create(await options_for(api.sue))
        assert outcome(await verify(other, credential)) == (409, "CONFLICT", "no_challenge")
        assert outcome(await verify(api.adam, credential)) == (409, "CONFLICT", "no_challenge")
        assert (await verify(api.sue, credential)).status == 201

    async def test_a_login_challenge_registers_nothing(self, api: Api):
        options = await options_for(api.sue)
        stray = options | {"challenge": (await login_options(api.nobody))["challenge"]}
        assert outcome(await verify(api.sue, SoftKey().create(stray))) == (409, "CONFLICT", "no_challenge")

    async def test_only_the_hash_of_a_challenge_is_stored(self, api: Api):
        options = await options_for(api.sue)
        (row,) = await api.sql("SELECT c::text AS text FROM passkey_challenges c")
        assert unb64(options["challenge"]).hex() not in row["text"]


class TestOneCredential:
    async def test_a_credential_belongs_to_one_account(self, api: Api):
        key, _ = await register(api.sue)
        for client in (api.sue, api.adam):
            assert outcome(await offer(client, key)) == (409, "CONFLICT", "credential_taken")
        assert len(await api.sql("SELECT id FROM passkeys")) == 1

    async def test_a_credential_registered_twice_concurrently(self, api: Api):
        for _ in range(4):
            key = SoftKey()
            created = [(who, key.create(await options_for(who))) for who in (api.sue, api.adam)]
            answers = await asyncio.gather(*(verify(who, credential) for who, credential in created))
            assert sorted(answer.status for answer in answers) == [201, 409]
            assert {reason(answer) for answer in answers if answer.status == 409} == {"credential_taken"}


async def test_there_are_at_most_twenty(api: Api):
    for _ in range(MAX_PASSKEYS - 1):
        await api.passkey("sue")
    created = [SoftKey().create(await options_for(api.sue)) for _ in range(3)]
    answers = await asyncio.gather(*(verify(api.sue, credential) for credential in created))
    assert sorted(answer.status for answer in answers) == [201, 409, 409]
    assert {reason(answer) for answer in answers if answer.status == 409} == {"limit_reached"}
    refused = await api.sue.post("/auth/passkeys/register/options", PROVEN)
    assert outcome(refused) == (409, "CONFLICT", "limit_reached")
    assert len(await api.sql("SELECT id FROM passkeys")) == MAX_PASSKEYS


@pytest.mark.parametrize("change", ["register", "delete", "recovery codes"])
async def test_every_change_ends_other_sessions_and_pending_logins(api: Api, change: str):
    _, passkey_id = await api.passkey("sue")
    key, _ = await api.passkey("sue")
    opened = await log_in(api.nobody, key)
    other = api.nobody.with_cookie(opened.headers["set-cookie"])
    token = (await by_password(api, "sue")).data["totp_session"]
    waiting = key.get(await login_options(api.nobody, token))
    if change == "register":
        await register(api.sue)
    elif change == "delete":
        assert (await api.sue("DELETE", f"/auth/passkeys/{passkey_id}", PROVEN)).status == 200
    else:
        assert (await api.sue.post("/auth/passkeys/recovery-codes", PROVEN)).status == 200
    assert (await other.get("/auth/me")).code == "SESSION_INVALID"
    body = {"credential": waiting, "totp_session": token}
    assert (await api.nobody.post("/auth/passkeys/login/verify", body)).code == "SESSION_INVALID"
    assert (await api.sue.get("/auth/me")).status == 200
    assert (await api.adam.get("/auth/me")).status == 200


class TestRecoveryCodes:
    async def recover(self, api: Api, code: str) -> Answer:
        token = (await by_password(api, "sue")).data["totp_session"]
        return await api.nobody.post("/auth/login", {"totp_session": token, "recovery_code": code})

    async def test_recovery_codes_come_with_the_first_factor(self, api: Api):
        _, created = await register(api.sue)
        first, second, *_ = created["recovery_codes"]
        assert (await self.recover(api, first)).status == 200
        assert (await self.recover(api, first)).code == "TOTP_INVALID"
        renewed = await api.sue.post("/auth/passkeys/recovery-codes", PROVEN)
        assert not set(renewed.data["recovery_codes"]) & set(created["recovery_codes"])
        assert (await self.recover(api, second)).code == "TOTP_INVALID"
        assert (await self.recover(api, renewed.data["recovery_codes"][0])).status == 200

    async def test_recovery_codes_of_an_authenticator_are_kept(self, api: Api):
        await api.enrol(api.sue)
        _, created = await register(api.sue)
        assert created["recovery_codes"] is None

    async def test_recovery_codes_stay_while_there_is_a_passkey(self, api: Api):
        sue = await api.enrol(api.sue)
        _, created = await register(api.sue)
        assert (await api.sue("DELETE", "/auth/totp", {"code": sue.next_code()})).status == 200
        assert (await self.recover(api, sue.recovery_codes[0])).status == 200
        await api.sue("DELETE", f"/auth/passkeys/{created['passkey']['id']}", PROVEN)
        assert await api.sql("SELECT 1 FROM recovery_codes") == []

    async def test_recovery_codes_stay_while_there_is_an_authenticator(self, api: Api):
        await api.enrol(api.sue)
        _, created = await register(api.sue)
        await api.sue("DELETE", f"/auth/passkeys/{created['passkey']['id']}", PROVEN)
        assert len(await api.sql("SELECT 1 FROM recovery_codes")) == 10

    async def test_recovery_codes_are_not_renewed_without_a_passkey(self, api: Api):
        answer = await api.sue.post("/auth/passkeys/recovery-codes", PROVEN)
        assert outcome(answer) == (409, "CONFLICT", "no_passkey")


class TestAskedForByTheInstallation:
    async def test_a_passkey_is_a_second_factor(self, api: Api):
        ask(api, auth=AuthSettings(require_second_factor=("super_admin",)))
        assert outcome(await api.sue.get("/domains")) == (403, "FORBIDDEN", "second_factor_required")
        assert (await api.unscoped.get("/domains")).code == "FORBIDDEN"
        assert (await api.sue.get("/auth/me")).data["second_factor_required"] is True
        _, created = await register(api.sue)
        assert (await api.sue.get("/auth/me")).data["second_factor_required"] is False
        for caller in (api.sue, api.unscoped):
            assert (await caller.get("/domains")).status == 200
        last = await api.sue("DELETE", f"/auth/passkeys/{created['passkey']['id']}", PROVEN)
        assert outcome(last) == (409, "CONFLICT", "last_factor")

    @pytest.mark.parametrize("another", ["passkey", "totp"])
    async def test_a_passkey_can_be_deleted_if_another_factor_remains(self, api: Api, another: str):
        ask(api, auth=AuthSettings(require_second_factor=("super_admin",)))
        _, created = await register(api.sue)
        if another == "passkey":
            await register(api.sue)
        else:
            await api.enrol(api.sue)
        assert (await api.sue("DELETE", f"/auth/passkeys/{created['passkey']['id']}", PROVEN)).status == 200
        assert (await api.sue.get("/domains")).status == 200

    async def test_of_the_last_two_deleted_concurrently_one_is_kept(self, api: Api):
        ask(api, auth=AuthSettings(require_second_factor=("super_admin",)))
        ids = [(await api.passkey("sue"))[1] for _ in range(2)]
        answers = await asyncio.gather(*(api.sue("DELETE", f"/auth/passkeys/{one}", PROVEN) for one in ids))
        assert sorted(answer.status for answer in answers) == [200, 409]


async def test_the_last_way_to_log_in_is_kept(api: Api):
    _, passkey_id = await api.passkey("sue")
    path = f"/auth/passkeys/{passkey_id}"
    fresh = await log_in(api.nobody, (await api.passkey("sue"))[0])
    sue = api.nobody.with_cookie(fresh.headers["set-cookie"])
    await api.sql("UPDATE admins SET password_hash = %(none)s WHERE id = %(id)s", none=NO_PASSWORD, id=ADMIN_IDS["sue"])
    assert (await sue.post("/auth/passkeys/register/options", PROVEN)).code == "INVALID_CREDENTIALS"
    assert (await sue("DELETE", path)).status == 200
    (remaining,) = (await sue.get("/auth/passkeys")).data
    path = f"/auth/passkeys/{remaining['id']}"
    assert outcome(await sue("DELETE", path)) == (409, "CONFLICT", "last_way_in")
    await api.sql("UPDATE admins SET oidc_provider = 'one' WHERE id = %(id)s", id=ADMIN_IDS["sue"])
    assert (await sue("DELETE", path)).status == 200


@pytest.mark.parametrize("url", ["http://mail.example.test", "https://192.0.2.1", "http://127.0.0.1:8080"])
async def test_an_unsuitable_public_url_is_reported(api: Api, url: str):
    ask(api, http=HttpSettings(public_url=url))
    for client, path, body in (
        (api.sue, "/register/options", PROVEN),
        (api.sue, "/register/verify", {"credential": {"id": "x"}}),
        (api.nobody, "/login/options", None),
        (api.nobody, "/login/verify", {"credential": {"id": "x"}}),
    ):
        answer = await client.post(f"/auth/passkeys{path}", body)
        assert outcome(answer) == (503, "UNAVAILABLE", "public_url")
    assert (await api.sue.get("/auth/passkeys")).status == 200


async def test_passkeys_are_created_for_the_public_url(api: Api):
    ask(api, http=HttpSettings(public_url="https://mail.example.test/"))
    options = await options_for(api.sue)
    assert options["rp"]["id"] == "mail.example.test"
    key, _ = await register(api.sue, SoftKey(origin="https://mail.example.test", rp_id="mail.example.test"))
    assert (await login_options(api.nobody))["rpId"] == "mail.example.test"
    assert (await log_in(api.nobody, key)).status == 200


async def test_everything_is_audited(api: Api):
    _, created = await register(api.sue, name="One")
    path = f"/auth/passkeys/{created['passkey']['id']}"
    await api.sue.patch(path, {"name": "Two"})
    await api.sue.post("/auth/passkeys/recovery-codes", PROVEN)
    await api.sue("DELETE", path, PROVEN)
    rows = await api.sql("SELECT * FROM audit_entries ORDER BY id")
    assert [(row["action"], row["outcome"], row["resource_id"]) for row in rows] == [
        ("passkey.setup", "success", str(ADMIN_IDS["sue"])),
        ("passkey.register", "success", created["passkey"]["id"]),
        ("passkey.rename", "success", created["passkey"]["id"]),
        ("passkey.recovery_codes", "success", str(ADMIN_IDS["sue"])),
        ("passkey.delete", "success", created["passkey"]["id"]),
    ]
    assert rows[1]["details"]["after"]["name"] == "One"
    assert rows[2]["details"] == {"before": {"name": "One"}, "after": {"name": "Two"}}
    assert not any(code in str(rows) for code in [*created["recovery_codes"], PASSWORD])


async def test_the_operator_deletes_all_factors(api: Api):
    key, _ = await register(api.sue)
    other: Client = await api.log_in(email_of("adam"))
    who = cli_principal()
    async with api.app.db.tx() as conn:
        assert await passkeys.delete_all(conn, who, api.clock(), AccountRef("admin", ADMIN_IDS["sue"])) == 1
        assert await passkeys.delete_all(conn, who, api.clock(), AccountRef("admin", ADMIN_IDS["adam"])) == 0
    assert (await api.sue.get("/auth/me")).code == "SESSION_INVALID"
    assert (await other.get("/auth/me")).status == 200
    assert (await log_in(api.nobody, key)).code == "INVALID_CREDENTIALS"
    (entry,) = await api.audit_entries("passkey.reset")
    assert (entry["actor_type"], entry["details"]) == ("cli", {"before": {"passkeys": 1}, "after": {"passkeys": 0}})
