"""Registers passkeys of the test users, and logs in with them, over HTTP."""

from __future__ import annotations

from typing import Any

from tests.support.authenticator import SoftKey
from tests.support.caller import Answer
from tests.support.client import PASSWORD, Api, Client, email_of

PROVEN = {"current_password": PASSWORD}


async def options_for(client: Client, body: Any = PROVEN) -> dict[str, Any]:
    """The options with which a browser creates a passkey."""
    answer = await client.post("/auth/passkeys/register/options", body)
    assert answer.status == 200, answer.body
    return answer.data["options"]


async def offer(client: Client, key: SoftKey, **more: Any) -> Answer:
    """Try to register a passkey."""
    return await verify(client, key.create(await options_for(client)), **more)


async def verify(client: Client, credential: dict[str, Any], **more: Any) -> Answer:
    return await client.post("/auth/passkeys/register/verify", {"credential": credential, **more})


async def register(client: Client, key: SoftKey | None = None, **more: Any) -> tuple[SoftKey, dict[str, Any]]:
    """Register a passkey; returns it and the response."""
    key = key or SoftKey()
    answer = await offer(client, key, **more)
    assert answer.status == 201, answer.body
    return key, answer.data


async def login_options(client: Client, token: str | None = None) -> dict[str, Any]:
    answer = await client.post("/auth/passkeys/login/options", {"totp_session": token} if token else None)
    assert answer.status == 200, answer.body
    return answer.data["options"]


async def log_in(client: Client, key: SoftKey, token: str | None = None) -> Answer:
    """Log in by a passkey: alone, or as the second step with the token of the first."""
    credential = key.get(await login_options(client, token))
    return await show(client, credential, token)


async def show(client: Client, credential: dict[str, Any], token: str | None = None) -> Answer:
    body = {"credential": credential} | ({"totp_session": token} if token else {})
    return await client.post("/auth/passkeys/login/verify", body)


async def by_password(api: Api, name: str, address: str = "192.0.2.1") -> Answer:
    """The first step of a login, by password."""
    client = api.nobody.from_address(address)
    answer = await client.post("/auth/login", {"email": email_of(name), "password": PASSWORD})
    assert answer.status == 200, answer.body
    return answer
