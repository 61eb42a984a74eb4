import asyncio

import pytest

from mailkeep.core.errors import InvalidField, WeakPassword
from mailkeep.features.access.admins import service
from tests.support.client import Api


@pytest.fixture
async def empty(api: Api) -> Api:
    await api.sql("DELETE FROM admins")
    return api


async def test_the_first_account_gets_a_random_password(empty: Api):
    kept: list[str] = []
    made = await service.ensure_first_admin(empty.app, None, None, kept.append)
    assert made is not None
    assert (made.email, made.generated, kept) == ("admin@localhost", True, [made.password])
    assert len(made.password) == 20
    client = await empty.log_in("admin@localhost", made.password)
    assert (await client.get("/auth/me")).data["role"] == "super_admin"
    (entry,) = await empty.audit_entries("admin.create")
    assert (entry["actor_type"], entry["admin_id"]) == ("system", None)


async def test_given_credentials_are_used_and_saved_nowhere(empty: Api):
    kept: list[str] = []
    made = await service.ensure_first_admin(empty.app, "root@example.test", "seven green bottles", kept.append)
    assert made is not None
    assert (made.generated, kept) == (False, [])
    await empty.log_in("root@example.test", "seven green bottles")


async def test_no_account_is_created_if_its_password_can_not_be_saved(empty: Api):
    def full(password: str) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        await service.ensure_first_admin(empty.app, None, None, full)
    assert await empty.sql("SELECT id FROM admins") == []


async def test_invalid_credentials_are_refused(empty: Api):
    with pytest.raises(WeakPassword):
        await service.ensure_first_admin(empty.app, "root@example.test", "password", print)
    with pytest.raises(InvalidField):
        await service.ensure_first_admin(empty.app, "root", None, print)


async def test_only_one_is_created_and_none_if_an_account_exists(empty: Api):
    made = await asyncio.gather(
        *(service.ensure_first_admin(empty.app, f"root{n}@x.test", None, lambda _: None) for n in range(4))
    )
    assert len([admin for admin in made if admin]) == 1
    assert await service.ensure_first_admin(empty.app, None, None, print) is None
