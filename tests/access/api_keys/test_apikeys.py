"""API keys over HTTP."""

import re
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.ids import uuid7
from mailkeep.core.secret import token_hash
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, KEY_IDS, OTHER, START, Api, faults, reason

UNKNOWN = uuid7(START)
EXAMPLE_ID, OTHER_ID = str(DOMAIN_IDS[EXAMPLE]), str(DOMAIN_IDS[OTHER])


async def test_a_key_is_shown_once_and_stored_as_a_hash(api: Api):
    answer = await api.adam.post("/api-keys", {"name": "  newsletter "})
    assert answer.status == 201
    raw, record = answer.data["key"], answer.data["api_key"]
    assert re.fullmatch(r"svc_sk_[A-Za-z0-9_-]{43}", raw)
    assert record == {
        "id": record["id"],
        "admin_id": str(ADMIN_IDS["adam"]),
        "parent_id": None,
        "name": "newsletter",
        "key_prefix": raw[:12],
        "is_scoped": False,
        "scoped_domain_ids": [],
        "rate_limit": 60,
        "allowed_networks": [],
        "permissions": "full",
        "disabled": False,
        "last_used_at": None,
        "expires_at": None,
        "created_at": "2026-03-01T12:00:00.000Z",
    }
    listed = await api.adam.get("/api-keys")
    assert listed.data[0] == record
    assert raw[12:] not in listed.body.decode()
    rows = await api.sql("SELECT k::text AS row, token_hash FROM api_keys k WHERE id = %(id)s", id=record["id"])
    assert bytes(rows[0]["token_hash"]) == token_hash(raw)
    (entry,) = await api.audit_entries("api_key.create")
    assert raw[12:] not in str(rows) + str(entry)
    assert (entry["admin_id"], entry["details"]["after"]["name"]) == (ADMIN_IDS["adam"], "newsletter")


async def test_a_key_that_may_send_comes_with_the_settings_of_smtp(api: Api):
    app = api.app
    app.smtp_address = "127.0.0.1:40025"  # the listener may have another port than the setting
    listener = {"host": "127.0.0.1", "starttls_port": 40025, "tls_port": None, "user": "apikey"}
    for permissions, expected in (("full", listener), ("sending", listener), ("read", None)):
        answer = await api.adam.post("/api-keys", {"name": "shop", "permissions": permissions})
        assert answer.data["smtp"] == expected
    mta = replace(app.settings.mta, mode="postfix")
    for starttls, tls in ((587, 465), (0, 465), (0, 0)):
        ports = replace(app.settings.ports, submission=starttls, submissions=tls)
        app.settings = replace(app.settings, mta=mta, ports=ports)
        smtp = (await api.adam.post("/api-keys", {"name": "shop"})).data["smtp"]
        assert (smtp and (smtp["starttls_port"], smtp["tls_port"])) == (
            (starttls or None, tls or None) if starttls or tls else None
        )


async def test_a_key_expires_after_its_days(api: Api):
    client, _ = await api.key(api.adam, expires_in_days=7)
    (record, *_) = (await api.adam.get("/api-keys")).data
    assert record["expires_at"] == "2026-03-08T12:00:00.000Z"
    api.clock.advance(days=6, hours=23)
    assert (await client.get("/auth/me")).status == 200
    api.clock.advance(hours=1)
    answer = await client.get("/auth/me")
    assert (answer.status, answer.code) == (401, "API_KEY_INVALID")


async def test_zero_days_means_no_expiry(api: Api):
    answer = await api.adam.post("/api-keys", {"name": "x", "expires_in_days": 0, "rate_limit": 0})
    assert (answer.data["api_key"]["expires_at"], answer.data["api_key"]["rate_limit"]) == (None, 0)


async def test_lists_show_the_visible_keys(api: Api):
    _, own = await api.key(api.dora)
    everything = {str(own), *map(str, KEY_IDS.values())}

    async def listed(name: str) -> set[str]:
        answer = await api.callers[name].get("/api-keys")
        assert "pagination" not in answer.json["meta"]
        return {row["id"] for row in answer.data}

    assert await listed("sue") == await listed("unscoped") == everything
    assert await listed("adam") == await listed("scoped") == {str(KEY_IDS["scoped"])}
    assert await listed("dora") == {str(own)}
    assert await listed("otto") == set()


async def test_a_scoped_key_of_a_super_admin_sees_itself_only(api: Api):
    scoped, key_id = await api.key(api.sue, scoped_domain_ids=[EXAMPLE_ID])
    (shown,) = (await scoped.get("/api-keys")).data
    assert (shown["id"], shown["is_scoped"], shown["scoped_domain_ids"]) == (str(key_id), True, [EXAMPLE_ID])


@pytest.mark.parametrize(
    "body, code, fields",
    [
        ({}, "MISSING_FIELDS", ["name"]),
        ({"name": ""}, "MISSING_FIELDS", ["name"]),
        ({"name": "  "}, "INVALID_FIELD", ["name"]),
        ({"name": "x" * 201}, "INVALID_FIELD", ["name"]),
        ({"name": "x", "rate_limit": -1}, "INVALID_FIELD", ["rate_limit"]),
        ({"name": "x", "rate_limit": 1_000_001}, "INVALID_FIELD", ["rate_limit"]),
        ({"name": "x", "rate_limit": True}, "INVALID_FIELD", ["rate_limit"]),
        ({"name": "x", "rate_limit": 1.0}, "INVALID_FIELD", ["rate_limit"]),
        ({"name": "x", "expires_in_days": -1}, "INVALID_FIELD", ["expires_in_days"]),
        ({"name": "x", "expires_in_days": 10**12}, "INVALID_FIELD", ["expires_in_days"]),
        ({"name": "x", "expires_in_days": "7"}, "INVALID_FIELD", ["expires_in_days"]),
        ({"name": "x", "scoped_domain_ids": ["no-id"]}, "INVALID_FIELD", ["scoped_domain_ids[0]"]),
        ({"name": "x", "scoped_domains": [EXAMPLE_ID]}, "INVALID_FIELD", ["scoped_domains"]),
    ],
)
async def test_an_invalid_key_is_refused(shared_api: Api, body: Any, code: str, fields: list[str]):
    answer = await shared_api.adam.post("/api-keys", body)
    assert (answer.status, answer.code, faults(answer)) == (400, code, fields)


async def test_the_longest_lifetime_is_still_a_valid_date(api: Api):
    answer = await api.adam.post("/api-keys", {"name": "x", "expires_in_days": 36_500})
    assert answer.data["api_key"]["expires_at"] == "2126-02-05T12:00:00.000Z"


async def test_the_scope_must_name_accessible_domains(api: Api):
    unknown = {"name": "x", "scoped_domain_ids": [OTHER_ID, str(UNKNOWN)]}
    answer = await api.dora.post("/api-keys", unknown)
    assert (answer.status, answer.code) == (404, "DOMAIN_NOT_FOUND")
    answer = await api.dora.post("/api-keys", {"name": "x", "scoped_domain_ids": [EXAMPLE_ID, OTHER_ID]})
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    twice = {"name": "x", "scoped_domain_ids": [EXAMPLE_ID, EXAMPLE_ID]}
    assert (await api.dora.post("/api-keys", twice)).data["api_key"]["scoped_domain_ids"] == [EXAMPLE_ID]


async def test_a_key_of_a_domain_admin_has_the_access_of_its_owner(api: Api):
    key, _ = await api.key(api.dora)
    assert (await key.get("/audit", domain_id=EXAMPLE_ID)).status == 200
    assert (await key.get("/audit", domain_id=OTHER_ID)).code == "FORBIDDEN"
    assert (await key.post("/admins", {})).code == "FORBIDDEN"


class TestKeysThatKeysMake:
    async def test_only_unscoped_keys_create_keys(self, api: Api):
        for body in ({"name": "x"}, {"name": "x", "scoped_domain_ids": [EXAMPLE_ID]}):
            assert (await api.scoped.post("/api-keys", body)).code == "API_KEY_DOMAIN_SCOPE"

    async def test_a_child_has_at_most_the_rights_of_its_parent(self, api: Api):
        key, key_id = await api.key(api.sue, rate_limit=10, expires_in_days=5)
        for body, why in (({"rate_limit": 0}, "faster"), ({"expires_in_days": 6}, "longer_lived")):
            answer = await key.post("/api-keys", {"name": "x", **body})
            assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", why)
        child = (await key.post("/api-keys", {"name": "child"})).data["api_key"]
        assert (child["parent_id"], child["admin_id"]) == (str(key_id), str(ADMIN_IDS["sue"]))
        assert (child["rate_limit"], child["expires_at"]) == (10, "2026-03-06T12:00:00.000Z")

    async def test_a_child_is_revoked_with_its_parent(self, api: Api):
        parent, parent_id = await api.key(api.sue)
        child, _ = await api.key(parent)
        grandchild, _ = await api.key(child, scoped_domain_ids=[EXAMPLE_ID])
        assert (await api.sue.delete(f"/api-keys/{parent_id}")).status == 200
        for client in (parent, child, grandchild):
            assert (await client.get("/auth/me")).code == "API_KEY_INVALID"


class TestRevoke:
    async def test_revocation_is_immediate_and_only_once(self, api: Api):
        client, key_id = await api.key(api.dora)
        answer = await api.dora.delete(f"/api-keys/{key_id}")
        assert (answer.status, answer.data["id"]) == (200, str(key_id))
        assert (await client.get("/auth/me")).code == "API_KEY_INVALID"
        assert (await api.dora.delete(f"/api-keys/{key_id}")).code == "NOT_FOUND"
        (entry, again) = await api.audit_entries("api_key.delete")
        assert (entry["outcome"], entry["resource_id"]) == ("success", str(key_id))
        assert (again["outcome"], again["error_code"]) == ("failed", "NOT_FOUND")

    async def test_the_audit_log_lists_the_keys_revoked_with_it(self, api: Api):
        parent, parent_id = await api.key(api.adam)
        child, child_id = await api.key(parent)
        grandchild, grandchild_id = await api.key(child)
        _, other_id = await api.key(parent)
        assert (await api.adam.delete(f"/api-keys/{parent_id}")).status == 200
        assert (await grandchild.get("/auth/me")).code == "API_KEY_INVALID"
        (entry,) = await api.audit_entries("api_key.delete")
        assert entry["resource_id"] == str(parent_id)
        gone = [*sorted([child_id, other_id]), grandchild_id]
        assert entry["details"]["revoked_with_it"] == [str(key_id) for key_id in gone]

    async def test_only_a_super_admin_revokes_keys_of_others(self, api: Api):
        path = f"/api-keys/{KEY_IDS['scoped']}"
        for name in ("dora", "otto"):
            assert (await api.callers[name].delete(path)).code == "FORBIDDEN"
        assert (await api.adam.delete(f"/api-keys/{KEY_IDS['unscoped']}")).code == "FORBIDDEN"
        assert (await api.scoped.delete(path)).code == "API_KEY_DOMAIN_SCOPE"
        assert (await api.sue.delete(path)).status == 200

    async def test_an_unknown_key_is_not_found(self, api: Api):
        for unknown in (UNKNOWN, "nonsense"):
            answer = await api.otto.delete(f"/api-keys/{unknown}")
            assert (answer.status, answer.code) == (404, "NOT_FOUND")

    async def test_rates_of_deleted_keys_are_deleted_later(self, api: Api):
        async def counted() -> list[UUID]:
            return [row["key_id"] for row in await api.sql("SELECT key_id FROM api_key_rates")]

        client, gone = await api.key(api.dora)
        await client.get("/auth/me")
        await api.dora.delete(f"/api-keys/{gone}")
        assert await counted() == [gone]
        api.clock.advance(hours=2)
        _, other = await api.key(api.dora)
        await api.dora.delete(f"/api-keys/{other}")
        assert await counted() == []


class TestNetworks:
    async def test_a_key_works_from_its_networks_only(self, api: Api):
        key, _ = await api.key(api.adam, allowed_networks=["198.51.100.0/24", "2001:db8::/32"])
        assert (await key.from_address("198.51.100.7").get("/domains")).status == 200
        assert (await key.from_address("2001:db8::7").get("/domains")).status == 200
        answer = await key.from_address("192.0.2.1").get("/domains")
        assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "network")
        (shown, _) = (await api.adam.get("/api-keys")).data
        assert shown["allowed_networks"] == ["198.51.100.0/24", "2001:db8::/32"]

    @pytest.mark.parametrize("elsewhere", ["203.0.113.9", "2001:db9::1", "fe80::1%eth0", "no address"])
    async def test_calls_from_other_networks_are_not_counted(self, api: Api, elsewhere: str):
        key, _ = await api.key(api.adam, rate_limit=3, allowed_networks=["198.51.100.7", "2001:db8::/32"])
        refused = [await key.from_address(elsewhere).get("/domains") for _ in range(5)]
        assert [reason(answer) for answer in refused] == ["network"] * 5
        owners = [await key.from_address(at).get("/domains") for at in ("198.51.100.7", "2001:db8::7") * 2]
        assert [answer.status for answer in owners] == [200, 200, 200, 429]

    async def test_a_refused_change_from_another_network_is_audited(self, api: Api):
        key, key_id = await api.key(api.adam, allowed_networks=["198.51.100.7"])
        assert reason(await key.post("/domains", {"name": "new.test"})) == "network"
        (entry,) = await api.audit_entries("domain.create")
        assert (entry["outcome"], entry["key_id"], entry["details"]) == ("denied", key_id, {"reason": "network"})

    async def test_the_zone_of_an_address_is_ignored(self, api: Api):
        key, _ = await api.key(api.adam, rate_limit=1, allowed_networks=["fe80::/64"])
        answers = [await key.from_address("fe80::1%eth0").get("/domains") for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 429]

    async def test_a_child_works_only_from_the_networks_of_its_parent(self, api: Api):
        parent, _ = await api.key(api.sue, allowed_networks=["198.51.100.0/24"])
        parent = parent.from_address("198.51.100.7")
        wider = await parent.post("/api-keys", {"name": "x", "allowed_networks": ["0.0.0.0/0"]})
        assert (wider.status, reason(wider)) == (403, "more_networks")
        child, _ = await api.key(parent)
        assert reason(await child.get("/auth/me")) == "network"
        assert (await child.from_address("198.51.100.8").get("/auth/me")).status == 200

    async def test_invalid_networks_are_refused(self, shared_api: Api):
        for networks, names in (
            (["10.0.0.1/8", "10.0.0.0/8", "lan"], ["allowed_networks[0]", "allowed_networks[2]"]),
            ("10.0.0.0/8", ["allowed_networks"]),
            ([1], ["allowed_networks[0]"]),
            (["10.0.0.0/8"] * 101, ["allowed_networks"]),
        ):
            answer = await shared_api.sue.post("/api-keys", {"name": "x", "allowed_networks": networks})
            assert (answer.status, answer.code, faults(answer)) == (400, "INVALID_FIELD", names)


async def test_expired_and_revoked_keys_have_their_own_reason(api: Api):
    expired, _ = await api.key(api.sue, expires_in_days=1)
    revoked, revoked_id = await api.key(api.sue)
    child, _ = await api.key(revoked)
    orphan, _ = await api.key(api.adam)
    api.clock.advance(days=1)
    assert (await api.sue.delete(f"/api-keys/{revoked_id}")).status == 200
    assert (await api.sue.delete(f"/admins/{ADMIN_IDS['adam']}")).status == 200
    for client, why in [(expired, "expired"), (revoked, "revoked"), (child, "revoked"), (orphan, "revoked")]:
        answer = await client.get("/auth/me")
        assert (answer.status, answer.code, reason(answer)) == (401, "API_KEY_INVALID", why)
        # A part of a key reveals nothing.
        key = client.headers["authorization"].removeprefix("Bearer ")
        for other in (key[:-1] + ("A" if key[-1] != "A" else "B"), key[:12], key[:-1]):
            answer = await api.nobody.with_key(other).get("/auth/me")
            assert (answer.status, answer.code, reason(answer)) == (401, "API_KEY_INVALID", None)
