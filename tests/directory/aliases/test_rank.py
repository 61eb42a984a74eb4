"""The address of a higher-ranked administrator is not captured: by alias, catch-all, tag, forward or as a sender."""

from typing import Any

import pytest

from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, Api, reason

EXAMPLE_ID = str(DOMAIN_IDS[EXAMPLE])
RANKS = {"dora": 0, "adam": 1, "scoped": 1, "sue": 2, "unscoped": 2}
OWNERS = {"dora": 0, "adam": 1, "sue": 2}


def alias(source: str, destination: str = "thief@remote.test") -> dict[str, Any]:
    return {"domain_id": EXAMPLE_ID, "source_local_part": source, "destination": destination}


async def decision(api: Api, local_part: str) -> str:
    return (await api.sue.get("/routing/explain", address=f"{local_part}@{EXAMPLE}")).data["decision"]


@pytest.mark.parametrize("caller", RANKS)
@pytest.mark.parametrize("owner", OWNERS)
async def test_rank_is_the_order_of_roles(api: Api, caller: str, owner: str):
    """Each caller with the address of each rank: alias, +tag, letter case, mailbox, sender."""
    client, may = api.callers[caller], RANKS[caller] >= OWNERS[owner]
    expected = 201 if may else 403
    await api.sql("DELETE FROM aliases")
    for source in (owner, owner.upper(), f"{owner}+tag"):
        answer = await client.post("/aliases", alias(source))
        assert (answer.status, reason(answer) if not may else None) == (expected, None if may else "higher_rank"), (
            source
        )
        if may:
            made = answer.data["id"]
            assert (await client.patch(f"/aliases/{made}", {"destination": "b@remote.test"})).status == 200
            assert (await client.delete(f"/aliases/{made}")).status == 200
    body = {"domain_id": EXAMPLE_ID, "local_part": f"{owner}+tag", "password_hash": "{SHA}x"}
    assert (await client.post("/mailboxes", body)).status == expected
    # Without a mail transfer agent, an allowed sender gets an error of the submission.
    message = {"to": [{"email": "x@remote.test"}], "subject": "x", "text_body": "x"}
    for sender in (owner, owner.upper(), f"{owner}+tag"):
        answer = await client.post("/send", message | {"from": {"email": f"{sender}@{EXAMPLE}"}})
        assert answer.code == ("SEND_UNAVAILABLE" if may else "FORBIDDEN"), sender


@pytest.mark.parametrize("maker,rank", [("dora", 0), ("adam", 1), ("sue", 2)])
async def test_a_catch_all_does_not_capture_the_address_of_a_higher_rank(api: Api, maker: str, rank: int):
    made = (await api.callers[maker].post("/aliases", alias(""))).data["id"]
    for owner, owner_rank in OWNERS.items():
        for local_part in (owner, owner.upper(), f"{owner}+tag"):
            expected = "deliver" if rank >= owner_rank else "unknown_user"
            assert await decision(api, local_part) == expected, (maker, local_part)
    for local_part in ("anybody", "postmaster", "abuse"):
        assert await decision(api, local_part) == "deliver"
    # The rank of the last editor counts.
    assert (await api.sue.patch(f"/aliases/{made}", {"destination": "c@remote.test"})).status == 200
    assert await decision(api, "sue") == "deliver"
    assert (await api.dora.patch(f"/aliases/{made}", {"destination": "d@remote.test"})).status == 200
    assert await decision(api, "sue") == "unknown_user"


async def test_an_alias_to_the_address_does_not_reach_the_catch_all(api: Api):
    """A forward, and an alias to it: the address is unknown there too."""
    await api.dora.post("/aliases", alias(""))
    other = {"domain_id": str(DOMAIN_IDS["other.test"]), "source_local_part": "x", "destination": f"sue@{EXAMPLE}"}
    assert (await api.otto.post("/aliases", other)).status == 201
    answer = await api.sue.get("/routing/explain", address="x@other.test")
    assert (answer.data["decision"], answer.data["deliveries"]) == ("unknown_user", [])
    await api.mailbox("fred@other.test", forward_destinations=[f"sue@{EXAMPLE}"], forward_keys=[f"sue@{EXAMPLE}"])
    answer = await api.sue.get("/routing/explain", address="fred@other.test")
    assert [each["address"] for each in answer.data["deliveries"]] == ["fred@other.test"]


async def test_an_address_with_a_tag_protects_its_base(api: Api):
    statement = "UPDATE admins SET email = %(email)s, email_key = %(email)s WHERE id = %(id)s"
    await api.sql(statement, email=f"boss+sue@{EXAMPLE}", id=ADMIN_IDS["sue"])
    for client, status in ((api.dora, 403), (api.adam, 403), (api.sue, 201)):
        assert (await client.post("/aliases", alias("boss"))).status == status


async def test_a_later_promotion_keeps_aliases_but_protects_them(api: Api):
    await api.mailbox(f"alice@{EXAMPLE}")
    made = (await api.dora.post("/aliases", alias("nora", f"alice@{EXAMPLE}"))).data["id"]
    nora = {"email": f"nora@{EXAMPLE}", "password": "seven green bottles", "role": "super_admin"}
    assert (await api.sue.post("/admins", nora)).status == 201
    assert await decision(api, "nora") == "deliver"
    for answer in (
        await api.dora.patch(f"/aliases/{made}", {"destination": "thief@remote.test"}),
        await api.dora.patch(f"/aliases/{made}", {"active": False}),
        await api.adam.delete(f"/aliases/{made}"),
    ):
        assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "higher_rank")

    async def senders() -> list[Any]:
        rows = await api.sql("SELECT s AS login FROM sender_logins('nora', 'example.test') s")
        return [row["login"] for row in rows]

    # The alias's mailboxes may not send as the promoted administrator until somebody of that rank allows it.
    assert await senders() == []
    assert (await api.sue.patch(f"/aliases/{made}", {"destination": f"alice@{EXAMPLE},b@remote.test"})).status == 200
    assert await senders() == [f"alice@{EXAMPLE}"]


async def test_a_delimiter_may_not_capture_the_address_of_a_higher_rank(api: Api):
    """With `-` in place of `+`, mail for big-boss@ went to the mailbox big@, and sue+tag@ could become an alias."""
    for delimiter in ("_", None):
        answer = await api.adam.patch(f"/domains/{EXAMPLE_ID}", {"plus_delimiter": delimiter})
        assert (answer.code, reason(answer)) == ("FORBIDDEN", "higher_rank")
    await api.mailbox(f"big@{EXAMPLE}")
    await api.sql("UPDATE admins SET email = %(email)s, email_key = %(email)s WHERE role = 'super_admin'"
                  " AND id = %(id)s", email=f"big-boss@{EXAMPLE}", id=ADMIN_IDS["sue"])  # fmt: skip
    answer = await api.adam.patch(f"/domains/{EXAMPLE_ID}", {"plus_delimiter": "-"})
    assert (answer.status, answer.code, reason(answer)) == (403, "FORBIDDEN", "higher_rank")
    assert await decision(api, "big-boss") == "unknown_user"
    assert (await api.sue.patch(f"/domains/{EXAMPLE_ID}", {"plus_delimiter": "-"})).status == 200
    assert (await api.adam.patch(f"/domains/{DOMAIN_IDS[OTHER]}", {"plus_delimiter": "_"})).status == 200
