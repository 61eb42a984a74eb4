"""The policy server records which process of Postfix serves the session of an API key."""

from __future__ import annotations

from tests.mailflow.policy.test_policy import ALICE, PostfixClient, client as policy_client
from tests.support.client import Api

client = policy_client  # the fixture


async def test_the_process_of_a_session_is_recorded_until_it_serves_another(api: Api, client: PostfixClient) -> None:
    created = (await api.sue.post("/api-keys", {"name": "shop", "permissions": "sending"})).data["api_key"]
    login, sessions = f"key:{created['id']}", "SELECT key_id::text AS key, client, pid FROM key_sessions"
    mailbox = client.login
    # The first number of the instance is the process, in hexadecimal.
    assert await client.request("RCPT", recipient="a@far.test", instance="1f.1", sasl_username=login) == "OK"
    assert await client.request("RCPT", recipient="b@far.test", instance="1f.1", sasl_username=login) == "OK"
    assert await api.sql(sessions) == [{"key": created["id"], "client": "192.0.2.5", "pid": 31}]
    other = (await api.sue.post("/api-keys", {"name": "other"})).data["api_key"]
    again = f"key:{other['id']}"
    assert await client.request("RCPT", recipient="a@far.test", instance="1f.2", sasl_username=again) == "OK"
    assert await api.sql(sessions) == [{"key": other["id"], "client": "192.0.2.5", "pid": 31}]
    assert await client.request("RCPT", recipient="a@far.test", instance="1f.3", sasl_username=mailbox) == "DUNNO"
    assert await api.sql(sessions) == []
    refused = await client.request(
        "RCPT", recipient="a@far.test", instance="2f.1", sasl_username=login, sender="x@far.test"
    )
    assert refused.startswith("553 5.7.1")
    assert (await api.sue.delete(f"/api-keys/{created['id']}")).status == 200
    ended = await client.request("RCPT", recipient="a@far.test", instance="2f.2", sasl_username=login, sender=ALICE)
    assert ended.startswith("421 4.7.0")
