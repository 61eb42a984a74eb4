"""`auth.confirm_admin_changes`: creating, changing and deleting administrators needs a recent sign-in, and no key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from mailkeep.settings.tree import AuthSettings
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, PASSWORD, Api, Client, email_of, reason

NORA = {"email": "nora@example.test", "password": "seven green bottles"}
Change = Callable[..., Awaitable[Answer]]


async def create(client: Client, **fields: Any) -> Answer:
    return await client.post("/admins", NORA | fields)


def change_dora(**changes: Any) -> Change:
    async def change(client: Client, **fields: Any) -> Answer:
        return await client.patch(f"/admins/{ADMIN_IDS['dora']}", changes | fields)

    return change


async def delete(client: Client, **fields: Any) -> Answer:
    return await client("DELETE", f"/admins/{ADMIN_IDS['dora']}", fields or None)


async def invite(client: Client, **fields: Any) -> Answer:
    return await client.post(f"/admins/{ADMIN_IDS['dora']}/invite", fields)


CHANGES: dict[str, Change] = {
    "invite": invite,
    "delete": delete,
    "create": create,
    "role": change_dora(role="admin"),
    "email": change_dora(email="d@example.test"),
    "password": change_dora(password="seven green bottles"),
    "domains": change_dora(domain_ids=[]),
}


@pytest.fixture(params=CHANGES)
def change(request: pytest.FixtureRequest) -> Change:
    return CHANGES[request.param]


async def old_and_fresh_session(api: Api) -> tuple[Client, Client]:
    old = await api.log_in(email_of("sue"))
    api.clock.advance(minutes=11)
    return old, await api.log_in(email_of("sue"))


async def test_without_the_setting_every_session_and_key_may(api: Api, change: Change):
    old, _ = await old_and_fresh_session(api)
    assert (await change(old)).status in (200, 201)
    # As documented: a key without a scope, too.
    assert (await api.unscoped.patch(f"/admins/{ADMIN_IDS['otto']}", {"role": "admin"})).status == 200


async def test_with_the_setting_it_needs_a_recent_sign_in(api: Api, change: Change):
    api.app.settings = replace(api.app.settings, auth=AuthSettings(confirm_admin_changes=True))
    old, fresh = await old_and_fresh_session(api)
    for refused in [
        await change(api.unscoped), await change(api.unscoped, current_password=PASSWORD), await change(old)
    ]:  # fmt: skip
        assert (refused.status, refused.code, reason(refused)) == (403, "FORBIDDEN", "recent_sign_in_required")
    assert (await change(old, current_password="wrong word here")).code == "INVALID_CREDENTIALS"
    assert (await change(api.adam, current_password=PASSWORD)).code == "FORBIDDEN"
    assert (await change(old, current_password=PASSWORD)).status in (200, 201)
    if change is not create:
        assert (await fresh.patch(f"/admins/{ADMIN_IDS['otto']}", {"role": "admin"})).status == 200


async def test_a_fresh_session_creates_administrators_with_the_setting(api: Api):
    api.app.settings = replace(api.app.settings, auth=AuthSettings(confirm_admin_changes=True))
    _, fresh = await old_and_fresh_session(api)
    assert (await create(fresh)).status == 201


async def test_the_setting_does_not_concern_the_own_account(api: Api):
    api.app.settings = replace(api.app.settings, auth=AuthSettings(confirm_admin_changes=True))
    old, _ = await old_and_fresh_session(api)
    own = await old.patch(f"/admins/{ADMIN_IDS['sue']}", {"domain_ids": [str(DOMAIN_IDS[EXAMPLE])]})
    assert own.status == 200
    await api.sql("UPDATE admins SET role = 'super_admin' WHERE id = %(id)s", id=ADMIN_IDS["adam"])
    with_key = await api.unscoped.delete(f"/admins/{ADMIN_IDS['sue']}")
    assert reason(with_key) == "recent_sign_in_required"
    assert (await old.delete(f"/admins/{ADMIN_IDS['sue']}")).status == 200


async def test_the_setting_can_be_changed_only_with_a_recent_sign_in(api: Api):
    setting = {"changes": {"auth.confirm_admin_changes": False}}
    for client in (api.unscoped, api.sue):
        assert reason(await client.patch("/config", setting)) == "recent_sign_in_required"
