"""Authentication by cookie or by key."""

import asyncio

import pytest

from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, VAULT, Api, cookie_of, key_of, token_of

UNKNOWN = "svc_sk_" + "x" * 43


@pytest.mark.parametrize(
    "headers, code",
    [
        ({}, "AUTH_REQUIRED"),
        ({"cookie": "other=1"}, "AUTH_REQUIRED"),
        ({"cookie": "svc_session="}, "AUTH_REQUIRED"),
        ({"authorization": ""}, "AUTH_REQUIRED"),
        ({"authorization": "Basic c3VlOnB3"}, "AUTH_REQUIRED"),
        ({"authorization": UNKNOWN}, "AUTH_REQUIRED"),
        ({"cookie": "svc_session=nonsense"}, "SESSION_INVALID"),
        ({"cookie": "svc_session=."}, "SESSION_INVALID"),
        ({"cookie": "svc_session=\xff\xfe.\xff"}, "SESSION_INVALID"),
        ({"cookie": cookie_of("unknown token")}, "SESSION_INVALID"),
        (
            {"cookie": f"svc_session={token_of('sue')}.{VAULT.sign('cursor', token_of('sue').encode())}"},
            "SESSION_INVALID",
        ),
        ({"authorization": "Bearer"}, "API_KEY_INVALID"),
        ({"authorization": "Bearer "}, "API_KEY_INVALID"),
        ({"authorization": "Bearer garbage"}, "API_KEY_INVALID"),
        ({"authorization": f"bearer {UNKNOWN}"}, "API_KEY_INVALID"),
        ({"authorization": f"Bearer {key_of('scoped')} "[:-2]}, "API_KEY_INVALID"),
        ({"authorization": f"Bearer {key_of('scoped')}\xe9"}, "API_KEY_INVALID"),
        ({"authorization": f"Bearer {key_of('scoped').upper()}"}, "API_KEY_INVALID"),
        # A bearer token is used alone, without a fallback to the cookie.
        ({"authorization": "Bearer x", "cookie": cookie_of(token_of("sue"))}, "API_KEY_INVALID"),
    ],
)
async def test_a_call_without_valid_credentials_is_refused(shared_api: Api, headers: dict[str, str], code: str):
    answer = await shared_api.nobody("GET", "/auth/me", headers=headers)
    assert (answer.status, answer.code) == (401, code)
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "headers, name",
    [
        ({"authorization": f"bEARER {key_of('unscoped')}"}, "sue"),
        ({"authorization": f"Bearer   {key_of('scoped')}"}, "adam"),
        ({"authorization": f"Bearer {key_of('scoped')}", "cookie": cookie_of(token_of("sue"))}, "adam"),
        ({"authorization": f"Bearer {key_of('scoped')}", "cookie": "svc_session=nonsense"}, "adam"),
        ({"authorization": "Basic c3VlOnB3", "cookie": cookie_of(token_of("otto"))}, "otto"),
        ({"cookie": f"a=b; {cookie_of(token_of('otto'))}; c=d"}, "otto"),
    ],
)
async def test_a_key_has_precedence_over_a_cookie(shared_api: Api, headers: dict[str, str], name: str):
    assert (await shared_api.nobody("GET", "/auth/me", headers=headers)).data["id"] == str(ADMIN_IDS[name])


class TestRates:
    async def test_a_key_has_its_requests_in_any_60_seconds(self, api: Api):
        client, _ = await api.key(api.sue, rate_limit=3)
        for left in (2, 1, 0):
            answer = await client.get("/auth/me")
            assert answer.status == 200
            assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("3", str(left))
            api.clock.advance(seconds=10)
        answer = await client.get("/auth/me")
        assert (answer.status, answer.code) == (429, "RATE_LIMIT_EXCEEDED")
        assert (answer.headers["retry-after"], answer.headers["ratelimit-remaining"]) == ("31", "0")
        assert answer.headers["ratelimit-reset"] == "31"
        api.clock.advance(seconds=30.5)
        assert (await client.get("/auth/me")).headers["retry-after"] == "1"
        api.clock.advance(seconds=0.5)
        answer = await client.get("/auth/me")
        # The second request leaves the window ten seconds after the first.
        assert (answer.status, answer.headers["ratelimit-remaining"], answer.headers["ratelimit-reset"]) == (
            200,
            "0",
            "10",
        )

    async def test_a_window_boundary_does_not_double_the_rate(self, api: Api):
        """Earlier, a key with 60 calls a minute could make 119 calls in 3.8 s."""
        client, _ = await api.key(api.sue, rate_limit=6)
        accepted: list[float] = []
        for tenth in range(1300):
            called = tenth == 0 or 590 <= tenth < 660 or tenth > 1190
            if called and (await client.get("/auth/me")).status == 200:
                accepted.append(tenth / 10)
            api.clock.advance(seconds=0.1)
        assert max(sum(at <= other < at + 60 for other in accepted) for at in accepted) == 6
        assert len(accepted) >= 12

    async def test_the_rate_comes_before_the_body_and_the_rights(self, api: Api):
        client, _ = await api.key(api.dora, rate_limit=1)
        await client.get("/auth/me")
        assert (await client.post("/admins", b"{")).status == 429

    async def test_concurrent_requests_get_no_more(self, api: Api):
        client, _ = await api.key(api.sue, rate_limit=5)
        answers = await asyncio.gather(*(client.get("/auth/me") for _ in range(20)))
        assert sorted(answer.status for answer in answers) == [200] * 5 + [429] * 15

    async def test_zero_is_no_limit(self, api: Api):
        answers = [await api.unscoped.get("/auth/me") for _ in range(70)]
        assert {answer.status for answer in answers} == {200}
        assert "ratelimit-limit" not in answers[-1].headers
        assert await api.sql("SELECT key_id FROM api_key_rates") == []

    async def test_setting_the_clock_back_does_not_block_a_key(self, api: Api):
        client, _ = await api.key(api.sue, rate_limit=1)
        await client.get("/auth/me")
        api.clock.advance(hours=-1)
        assert (await client.get("/auth/me")).status == 200

    async def test_a_refused_key_is_not_counted(self, api: Api):
        client, key_id = await api.key(api.sue, rate_limit=1, expires_in_days=1)
        api.clock.advance(days=1)
        assert (await client.get("/auth/me")).code == "API_KEY_INVALID"
        assert await api.sql("SELECT key_id FROM api_key_rates WHERE key_id = %(id)s", id=key_id) == []


async def test_the_last_use_is_stored_once_a_minute(api: Api):
    async def noted() -> str | None:
        (row,) = (await api.scoped.get("/api-keys")).data
        return row["last_used_at"]

    await api.scoped.get("/auth/me")
    assert await noted() == "2026-03-01T12:00:00.000Z"
    api.clock.advance(seconds=59)
    assert await noted() == "2026-03-01T12:00:00.000Z"
    api.clock.advance(seconds=1)
    await api.scoped.get("/auth/me")
    assert await noted() == "2026-03-01T12:01:00.000Z"


class TestRightsAreThoseOfNow:
    async def test_a_demotion_applies_to_session_and_key(self, api: Api):
        key, _ = await api.key(api.adam)
        assert len((await key.get("/admins")).data) == 4
        await api.sql("UPDATE admins SET role = 'domain_admin' WHERE id = %(id)s", id=ADMIN_IDS["adam"])
        for client in (key, api.adam):
            assert [row["email"] for row in (await client.get("/admins")).data] == ["adam@example.test"]

    async def test_a_deleted_owner_ends_session_and_key(self, api: Api):
        key, _ = await api.key(api.adam)
        assert (await api.sue.delete(f"/admins/{ADMIN_IDS['adam']}")).status == 200
        assert (await key.get("/auth/me")).code == "API_KEY_INVALID"
        assert (await api.adam.get("/auth/me")).code == "SESSION_INVALID"

    async def test_removing_the_assignment_removes_access(self, api: Api):
        key, _ = await api.key(api.dora, scoped_domain_ids=[DOMAIN_IDS[EXAMPLE]])
        await api.sue.patch(f"/admins/{ADMIN_IDS['dora']}", {"domain_ids": []})
        assert (await api.dora.get("/auth/me")).data["domain_ids"] == []
        answer = await api.dora.post("/api-keys", {"name": "x", "scoped_domain_ids": [DOMAIN_IDS[EXAMPLE]]})
        assert (answer.status, answer.code) == (403, "FORBIDDEN")
        assert (await key.get("/audit")).data == []

    async def test_a_key_whose_domains_are_deleted_has_no_access(self, api: Api):
        domain_id = await api.domain("gone.test")
        key, key_id = await api.key(api.sue, scoped_domain_ids=[domain_id])
        await api.sql("DELETE FROM domains WHERE id = %(id)s", id=domain_id)
        (row,) = (await key.get("/api-keys")).data
        assert (row["id"], row["scoped_domain_ids"], row["is_scoped"]) == (str(key_id), [], True)
        assert (await key.get("/audit")).data == []
        assert (await key.get("/audit", domain_id=DOMAIN_IDS[EXAMPLE])).code == "API_KEY_DOMAIN_SCOPE"
        assert (await key.post("/api-keys", {"name": "x"})).code == "API_KEY_DOMAIN_SCOPE"
