"""Chains and loops of aliases are refused, in any order of creation and with concurrent writers."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, reason

HERE, THERE = EXAMPLE, OTHER


async def make(api: Api, source: str, *destinations: str, active: bool = True) -> Answer:
    local_part, _, domain = source.rpartition("@")
    body = {
        "domain_id": str(DOMAIN_IDS[domain]),
        "source_local_part": local_part,
        "destination": ",".join(destinations),
        "active": active,
    }
    return await api.sue.post("/aliases", body)


Pair = tuple[str, list[str]]

CHAINS: list[tuple[Pair, Pair]] = [
    ((f"a@{HERE}", [f"x@{THERE}"]), (f"b@{HERE}", [f"a@{HERE}"])),
    ((f"a@{HERE}", [f"x@{THERE}"]), (f"b@{HERE}", [f"y@{THERE}", f"A@{HERE.upper()}"])),
    ((f"straße@{HERE}", [f"x@{THERE}"]), (f"b@{HERE}", [f"STRASSE@{HERE}"])),
    ((f"a@{HERE}", [f"x@{THERE}"]), (f"b@{HERE}", [f"a+tag@{HERE}"])),
    ((f"@{HERE}", [f"x@{THERE}"]), (f"b@{HERE}", [f"anybody@{HERE}"])),
    # The mailbox of this address may be deleted: the alias has the same source.
    ((f"alice@{HERE}", [f"x@{THERE}"]), (f"@{HERE}", [f"alice@{HERE}"])),
    ((f"alice@{HERE}", [f"x@{THERE}"]), (f"b@{HERE}", [f"alice@{HERE}"])),
]


@pytest.mark.parametrize("first, second", [*CHAINS, *((second, first) for first, second in CHAINS)])
async def test_a_chain_is_refused_in_both_directions_and_at_activation(api: Api, first: Pair, second: Pair) -> None:
    await api.mailbox(f"alice@{HERE}")
    assert (await make(api, first[0], *first[1])).status == 201
    answer = await make(api, second[0], *second[1])
    assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "alias_chain")
    assert answer.json["error"]["details"]["aliases"] == [first[0].rpartition("@")[0]]
    asleep = await make(api, second[0], *second[1], active=False)
    assert asleep.status == 201
    assert reason(await api.sue.patch(f"/aliases/{asleep.data['id']}", {"active": True})) == "alias_chain"
    assert (await api.sue.get(f"/aliases/{asleep.data['id']}")).data["active"] is False


async def test_a_chain_is_refused_when_destinations_change(api: Api) -> None:
    await make(api, f"a@{HERE}", f"x@{THERE}")
    second = (await make(api, f"b@{HERE}", f"y@{THERE}")).data["id"]
    assert reason(await api.sue.patch(f"/aliases/{second}", {"destination": f"a@{HERE}"})) == "alias_chain"
    assert (await api.sue.get(f"/aliases/{second}")).data["destination"] == f"y@{THERE}"


FINE: list[tuple[list[Pair], Pair]] = [
    ([], (f"a@{HERE}", [f"x@{THERE}"])),
    ([(f"a@{HERE}", [f"x@{THERE}"])], (f"b@{HERE}", [f"x@{THERE}"])),
    ([(f"@{HERE}", [f"alice@{HERE}"])], (f"b@{HERE}", [f"alice@{HERE}"])),
    ([(f"@{HERE}", [f"alice@{HERE}"])], (f"b@{HERE}", [f"alice+tag@{HERE}"])),
    ([(f"b@{HERE}", [f"alice@{HERE}"])], (f"@{HERE}", [f"alice@{HERE}"])),
    ([(f"b@{HERE}", [f"alice+b@{HERE}"])], (f"@{HERE}", [f"alice@{HERE}"])),
    ([(f"a@{THERE}", ["x@else.test"])], (f"a@{HERE}", [f"a@{THERE}"])),
    ([(f"a@{THERE}", [f"alice@{HERE}"])], (f"a@{HERE}", [f"a@{THERE}"])),
    ([], (f"alice@{HERE}", ["x@else.test"])),
    ([], (f"b@{HERE}", [f"nobody@{HERE}"])),
]


async def test_an_alias_without_chain_or_loop_is_created(api: Api) -> None:
    await api.mailbox(f"alice@{HERE}")
    for existing, alias in FINE:
        answers = [await make(api, source, *destinations) for source, destinations in [*existing, alias]]
        assert [answer.status for answer in answers] == [201] * len(answers), alias
        await api.sql("DELETE FROM aliases")


async def test_an_inactive_alias_is_no_link(api: Api) -> None:
    await make(api, f"a@{HERE}", f"x@{THERE}", active=False)
    assert (await make(api, f"b@{HERE}", f"a@{HERE}")).status == 201


LOOPS: list[list[Pair]] = [
    [(f"a@{HERE}", [f"a@{HERE}"])],
    [(f"a@{HERE}", ["x@else.test", f"A+tag@{HERE}"])],
    [(f"alice@{HERE}", [f"alice@{HERE}"])],
    [(f"@{HERE}", [f"nobody@{HERE}"])],
    [(f"a@{HERE}", [f"b@{THERE}"]), (f"b@{THERE}", [f"a@{HERE}"])],
    [(f"a@{HERE}", [f"b@{THERE}"]), (f"b@{THERE}", [f"a+tag@{HERE}"])],
    [(f"a@{HERE}", [f"b@{THERE}"]), (f"@{THERE}", [f"a@{HERE}"])],
    [(f"@{HERE}", [f"b@{THERE}"]), (f"@{THERE}", [f"a@{HERE}"])],
    [(f"a@{HERE}", [f"b@{THERE}"]), (f"b@{THERE}", [f"c@{HERE}"]), (f"c@{HERE}", [f"d@{THERE}"]),
     (f"d@{THERE}", [f"a@{HERE}"])],
    # Through the forward of a mailbox.
    [(f"a@{HERE}", [f"forward@{HERE}"])],
    [(f"b@{HERE}", [f"forward+tag@{HERE}"]), (f"a@{HERE}", [f"c@{THERE}"]), (f"c@{THERE}", [f"b@{HERE}"])],
]  # fmt: skip


@pytest.mark.parametrize("turned", [ring[turn:] + ring[:turn] for ring in LOOPS for turn in range(len(ring))])
async def test_a_loop_is_refused_at_its_last_link(api: Api, turned: list[Pair]) -> None:
    await api.mailbox(f"alice@{HERE}")
    columns: dict[str, Any] = {"forward_destinations": [f"a@{HERE}"], "forward_keys": [f"a@{HERE}"]}
    await api.mailbox(f"forward@{HERE}", **columns)
    for source, destinations in turned[:-1]:
        assert (await make(api, source, *destinations)).status == 201
    source, destinations = turned[-1]
    answer = await make(api, source, *destinations)
    assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "alias_loop")
    asleep = await make(api, source, *destinations, active=False)
    assert reason(await api.sue.patch(f"/aliases/{asleep.data['id']}", {"active": True})) == "alias_loop"


async def test_a_forward_that_closes_a_loop_is_refused(api: Api) -> None:
    mailbox = await api.mailbox(f"alice@{HERE}")
    await make(api, f"a@{THERE}", f"alice@{HERE}")
    path, forward = f"/mailboxes/{mailbox}", {"forward": {"destinations": [f"a@{THERE}"], "keep_copy": True}}
    assert reason(await api.sue.patch(path, forward)) == "alias_loop"
    assert reason(await api.sue.patch(path, {"forward": {"destinations": [f"alice@{HERE}"]}})) == "alias_loop"


async def test_two_hundred_concurrent_writes_create_no_chain_or_loop(api: Api) -> None:
    """Writers of aliases and forwards in two domains, whose links would close loops with those of others."""
    api.app.db._pool.timeout = 60  # writers wait for each other
    chance = random.Random(20260301)
    names = [f"{local}@{domain}" for local in ("a", "b", "c", "d", "") for domain in (HERE, THERE)]
    boxes = {name: await api.mailbox(name) for name in (f"m@{HERE}", f"n@{THERE}")}
    targets = [*names[:-2], *boxes, f"a+t@{HERE}", f"m+t@{HERE}", f"nobody@{THERE}"]

    async def attempt(number: int) -> Answer:
        if number % 5 == 0:
            box = chance.choice(list(boxes.values()))
            forward = {"destinations": [chance.choice(targets)], "keep_copy": True}
            return await api.sue.patch(f"/mailboxes/{box}", {"forward": forward})
        source, to = chance.choice(names), chance.sample(targets, 2)
        answer = await make(api, source, *to, active=number % 3 > 0)
        if answer.status == 201 and number % 3 == 0:
            return await api.sue.patch(f"/aliases/{answer.data['id']}", {"active": True})
        return answer

    reasons: Counter[Any] = Counter()
    for _ in range(5):  # the order, and so the reasons of refusals, differ each time
        answers = await asyncio.wait_for(asyncio.gather(*map(attempt, range(200))), 100)
        reasons.update(reason(answer) if answer.json["error"] else "done" for answer in answers)
        assert set(reasons) <= {"done", "source_taken", "alias_chain", "alias_loop"}
        assert await chained_or_looped(api) == []
        if min(reasons["done"], reasons["alias_chain"], reasons["alias_loop"]) > 0:
            return
        await api.sql("DELETE FROM aliases")
    raise AssertionError(reasons)


async def chained_or_looped(api: Api) -> list[dict[str, Any]]:
    left = await api.sql(
        """
        SELECT a.source_local_part, ARRAY(SELECT route_loop(a.id)) AS loops,
               ARRAY(SELECT route_chain_ahead(a.id)) || ARRAY(SELECT route_chain_behind(a.id))
                   || ARRAY(SELECT route_chain_behind_catch_all(a.id)) AS chains
        FROM aliases a WHERE a.active
        UNION ALL
        SELECT m.local_part, ARRAY(SELECT route_loop(m.id)), '{}' FROM mailboxes m
        """
    )
    return [row for row in left if row["loops"] or row["chains"]]
