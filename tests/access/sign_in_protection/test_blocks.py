"""Blocks in the API and the command line: listed, removed, ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mailkeep.core.clock import iso
from mailkeep.features.access.sign_in_protection import service
from tests.support.client import START, Api

SUE = "sue@example.test"


async def guess(api: Api, times: int, email: str = SUE, address: str = "198.51.100.1") -> list[int]:
    client = api.nobody.from_address(address)
    return [(await client.post("/auth/login", {"email": email, "password": f"guess {n}"})).status for n in range(times)]


async def blocks(api: Api) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in each.items() if name != "id"}
        for each in (await api.sue.get("/sign-in-blocks")).data
    ]


async def test_a_blocked_account_is_listed_and_can_be_unblocked(api: Api):
    assert await guess(api, 11) == [401] * 10 + [429]
    (block,) = (await api.adam.get("/sign-in-blocks")).data
    assert block | {"id": None} == {
        "id": None,
        "address": None,
        "account": SUE,
        "account_kind": "admin",
        "failures": 10,
        "created_at": iso(START),
        "until": iso(START + timedelta(seconds=15)),
    }
    answer = await api.adam.delete(f"/sign-in-blocks/{block['id']}")
    assert answer.data["message"] == f"Sign-ins to the administrator {SUE} from unknown addresses are possible again."
    assert await blocks(api) == []
    assert (await api.adam.delete(f"/sign-in-blocks/{block['id']}")).code == "NOT_FOUND"
    entry, missing = await api.audit_entries("sign_in_block.remove")
    assert (entry["outcome"], missing["error_code"]) == ("success", "NOT_FOUND")
    assert (entry["resource_type"], entry["resource_id"]) == ("sign_in_block", block["id"])
    assert entry["details"]["before"]["account"] == SUE
    # The failures are forgotten.
    assert await guess(api, 10) == [401] * 10


async def test_an_address_is_blocked_for_all_accounts_but_those_that_know_it(api: Api):
    await api.log_in(SUE, address="198.51.100.1")
    for number in range(4):
        expected = [401] * 8 if number < 3 else [401] * 6 + [429] * 2
        assert await guess(api, 8, f"nobody{number}@example.test") == expected
    (block,) = await blocks(api)
    assert (block["address"], block["account"], block["account_kind"], block["failures"]) == (
        "198.51.100.1", None, None, 30,
    )  # fmt: skip
    await api.log_in(SUE, address="198.51.100.1")
    await api.log_in("adam@example.test", address="198.51.100.2")
    assert await guess(api, 1, "adam@example.test") == [429]
    api.clock.advance(minutes=59, seconds=59)
    assert await guess(api, 1, "adam@example.test") == [429]
    api.clock.advance(seconds=1)
    assert await blocks(api) == []
    await api.log_in("adam@example.test", address="198.51.100.1")


async def test_a_block_that_began_with_the_right_password_ends_with_it(api: Api):
    """The attempt is counted before its password is verified."""
    await guess(api, 9)
    await api.log_in(SUE, address="198.51.100.2")
    assert await blocks(api) == []
    assert await guess(api, 1, address="198.51.100.3") == [401]


async def test_what_has_no_effect_is_deleted(api: Api):
    await api.log_in(SUE, address="198.51.100.7")
    mailbox = await api.mailbox()
    async with api.app.db.tx() as conn:
        await service.record_mailbox_source(conn, mailbox, "198.51.100.7", api.clock())
    await guess(api, 10)
    for delta, left in (
        (timedelta(minutes=14), (0, 10, 1)),
        (timedelta(minutes=2), (0, 10, 1)),
        (timedelta(minutes=45), (0, 0, 1)),
        (timedelta(days=180), (0, 0, 0)),
    ):
        api.clock.now += delta
        async with api.app.db.autocommit() as conn:
            await service.prune(conn, api.clock())
        (row,) = await api.sql(
            """
            SELECT (SELECT count(*) FROM sign_in_blocks) AS blocks, (SELECT count(*) FROM sign_in_failures) AS failures,
                   (SELECT count(*) FROM mailbox_sources) AS sources
            """
        )
        assert (row["blocks"], row["failures"], row["sources"]) == left
