"""Alias domains: `alias_of`, what it excludes, whose rights it needs, and where mail and limits go."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.plugins.post import Post, letter
from tests.support.builders import DOMAIN_ID, NOWHERE, create_domain, create_mailbox
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, Api, reason

ALIAS = "alias.test"
OTHER_ID = str(DOMAIN_IDS[OTHER])


async def alias_domain(api: Api, name: str = ALIAS, target: str = DOMAIN_ID) -> str:
    return await create_domain(api, name, alias_of=target)


async def decision(api: Api, address: str) -> tuple[str, list[str]]:
    found = (await api.sue.get("/routing/explain", address=address)).data
    return found["decision"], [each["address"] for each in found["deliveries"]]


async def test_an_alias_domain_is_shown_and_listed(api: Api):
    made = await alias_domain(api)
    domain = (await api.sue.get(f"/domains/{made}")).data
    assert domain["alias_of"] == DOMAIN_ID
    assert (await api.sue.get(f"/domains/{DOMAIN_ID}")).data["usage"]["alias_domains"] == 1
    assert [row["id"] for row in (await api.sue.get("/domains", alias_of=DOMAIN_ID)).data] == [made]
    keys = (await api.sue.get(f"/domains/{made}/dkim-keys")).data
    assert all(key["dns"]["name"].endswith(f"._domainkey.{ALIAS}") for key in keys)
    (entry,) = await api.audit_entries("domain.create")
    assert entry["details"]["after"]["alias_of"] == DOMAIN_ID
    assert (await api.sue.patch(f"/domains/{made}", {"alias_of": None})).data["alias_of"] is None
    assert (await api.sue.patch(f"/domains/{made}", {"alias_of": OTHER_ID})).data["alias_of"] == OTHER_ID


async def test_its_addresses_are_those_of_the_target(api: Api):
    await alias_domain(api)
    await api.mailbox(f"alice@{EXAMPLE}")
    await api.alias(f"sales@{EXAMPLE}", [f"alice@{EXAMPLE}", "x@else.test"])
    # An alias of another domain, and a forward, lead through the alias domain.
    await api.alias(f"team@{OTHER}", [f"Sales+x@{ALIAS}"])
    await api.mailbox(f"bob@{OTHER}", forward_destinations=[f"alice@{ALIAS}"], forward_keys=[f"alice@{ALIAS}"])
    assert await decision(api, f"Alice+news@{ALIAS}") == ("deliver", [f"Alice+news@{EXAMPLE}"])
    for address in (f"sales@{ALIAS}", f"team@{OTHER}"):
        assert await decision(api, address) == ("deliver", [f"alice@{EXAMPLE}", "x@else.test"])
    assert await decision(api, f"bob@{OTHER}") == ("deliver", [f"bob@{OTHER}", f"alice@{EXAMPLE}"])
    assert await decision(api, f"nobody@{ALIAS}") == ("unknown_user", [])
    await api.alias(f"@{EXAMPLE}", ["all@else.test"])
    assert await decision(api, f"nobody@{ALIAS}") == ("deliver", ["all@else.test"])
    # Postfix's queries.
    routes = await api.sql("SELECT r FROM mta_route('sales', %(name)s) r", name=ALIAS)
    assert routes == [{"r": f"alice@{EXAMPLE},x@else.test"}]
    assert await api.sql("SELECT r FROM mta_recipient('alice', %(name)s) r", name=ALIAS) == []
    assert await api.sql("SELECT 1 FROM mta_domain(%(name)s)", name=ALIAS)
    assert (await api.sue.patch(f"/domains/{DOMAIN_ID}", {"active": False})).status == 200
    assert await decision(api, f"alice@{ALIAS}") == ("domain_inactive", [])
    for function in ("mta_recipient", "mta_domain_inactive"):
        (row,) = await api.sql(f"SELECT r FROM {function}('alice', %(name)s) r", name=ALIAS)
        assert row["r"].startswith("450 4.2.1")


async def test_what_an_alias_domain_can_not_have_or_be(api: Api):
    made = await alias_domain(api)
    body: dict[str, Any] = {"domain_id": made, "local_part": "x", "password_hash": "{SHA}x"}
    alias = {"domain_id": made, "source_local_part": "x", "destination": "x@else.test"}
    box = (await create_mailbox(api, "mover"))["id"]
    trashed = await api.mailbox(f"gone@{OTHER}", deleted_at=api.clock())
    changes = [
        await api.sue.post("/mailboxes", body),
        await api.sue.post("/aliases", alias),
        await api.sue.patch(f"/mailboxes/{box}", {"domain_id": made}),
    ]
    # A mailbox in the trash does not prevent that its domain becomes an alias domain, but stays there.
    assert (await api.sue.patch(f"/domains/{OTHER_ID}", {"alias_of": DOMAIN_ID})).status == 200
    changes.append(await api.sue.post(f"/mailboxes/{trashed}/restore"))
    for answer in changes:
        assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "alias_domain")

    async def refused(answer: Any, why: str) -> None:
        assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", why), answer

    await refused(await api.sue.post("/domains", {"name": "third.test", "alias_of": made}), "alias_chain")
    await refused(await api.sue.patch(f"/domains/{made}", {"alias_of": made}), "alias_chain")
    await refused(await api.sue.patch(f"/domains/{DOMAIN_ID}", {"alias_of": made}), "alias_chain")
    free = await create_domain(api, "free.test")
    assert (await api.sue.patch(f"/domains/{DOMAIN_ID}", {"alias_of": free})).json["error"]["details"] == {
        "reason": "alias_chain",
        "alias_domains": 2,
    }
    # A domain with addresses of its own.
    full = await create_domain(api, "full.test")
    await api.alias("x@full.test", ["x@else.test"])
    answer = await api.sue.patch(f"/domains/{full}", {"alias_of": DOMAIN_ID})
    assert answer.json["error"]["details"] == {
        "reason": "has_dependents", "mailboxes": 0, "aliases": 1, "alias_domains": 0, "scheduled_messages": 0,
    }  # fmt: skip
    # A target stays until its alias domains are deleted.
    await api.sue.delete(f"/mailboxes/{box}", purge="true")
    answer = await api.sue.delete(f"/domains/{DOMAIN_ID}")
    assert answer.json["error"]["details"] == {
        "reason": "has_dependents", "mailboxes": 0, "aliases": 0, "alias_domains": 2, "scheduled_messages": 0,
    }  # fmt: skip
    for each in (made, OTHER_ID, DOMAIN_ID):
        assert (await api.sue.delete(f"/domains/{each}")).status == 200
    unknown = await api.sue.post("/domains", {"name": "third.test", "alias_of": NOWHERE})
    assert (unknown.status, unknown.code) == (404, "DOMAIN_NOT_FOUND")
    assert (await api.sue.post("/domains", {"name": "third.test", "alias_of": "x"})).code == "INVALID_FIELD"


async def test_both_domains_must_be_the_callers(api: Api):
    free = await create_domain(api, "free.test")
    scoped, _ = await api.key(api.adam, scoped_domain_ids=[free])
    assert (await scoped.patch(f"/domains/{free}", {"alias_of": DOMAIN_ID})).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.scoped.patch(f"/domains/{free}", {"alias_of": DOMAIN_ID})).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.dora.patch(f"/domains/{DOMAIN_ID}", {"alias_of": free})).code == "FORBIDDEN"
    both, _ = await api.key(api.adam, scoped_domain_ids=[free, DOMAIN_ID])
    assert (await both.patch(f"/domains/{free}", {"alias_of": DOMAIN_ID})).status == 200


async def test_a_loop_through_an_alias_domain_is_refused(api: Api):
    """Mail for the domain left the server before."""
    await api.alias(f"loop@{EXAMPLE}", [f"Loop+x@{ALIAS}"])
    await api.mailbox(f"fred@{EXAMPLE}", forward_destinations=[f"fred@{ALIAS}"], forward_keys=[f"fred@{ALIAS}"])
    await api.alias(f"fine@{EXAMPLE}", [f"fred@{ALIAS}"])
    answer = await api.sue.post("/domains", {"name": ALIAS, "alias_of": DOMAIN_ID})
    assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "alias_loop")
    assert answer.json["error"]["details"]["addresses"] == [f"fred@{EXAMPLE}", f"loop@{EXAMPLE}"]
    made = await create_domain(api, ALIAS)
    assert reason(await api.sue.patch(f"/domains/{made}", {"alias_of": DOMAIN_ID})) == "alias_loop"
    assert (await api.sue.patch(f"/domains/{made}", {"alias_of": OTHER_ID})).status == 200
    # Later aliases are checked as well, in the domain and from others.
    made = await alias_domain(api, "second.test")
    answers = {
        why: await api.sue.post("/aliases", {"domain_id": DOMAIN_ID, "source_local_part": source, "destination": to})
        for source, to, why in (
            ("me", "me@second.test", "alias_loop"),
            ("new", "fine@second.test", "alias_chain"),
        )
    }
    await api.alias(f"up@{EXAMPLE}", ["down@second.test"])
    body = {"domain_id": DOMAIN_ID, "source_local_part": "down", "destination": "x@else.test"}
    assert reason(await api.sue.post("/aliases", body)) == "alias_chain"
    for why, answer in answers.items():
        assert (answer.status, reason(answer)) == (409, why)


async def test_concurrent_changes_make_no_chain_and_no_orphan(api: Api):
    pairs = [[await create_domain(api, f"{side}{n}.test") for side in "ab"] for n in range(4)]
    changes = [api.sue.patch(f"/domains/{one}", {"alias_of": two}) for a, b in pairs for one, two in ((a, b), (b, a))]
    answers = await asyncio.gather(*changes)
    assert sorted(answer.status for answer in answers) == [200] * 4 + [409] * 4
    targets = [await create_domain(api, f"t{n}.test") for n in range(4)]
    deletions = [api.sue.delete(f"/domains/{target}") for target in targets]
    creations = [
        api.sue.post("/domains", {"name": f"n{n}.test", "alias_of": target}) for n, target in enumerate(targets)
    ]
    answers = await asyncio.gather(*deletions, *creations)
    for deleted, created in zip(answers[:4], answers[4:], strict=True):
        assert (deleted.status, created.status) in ((200, 404), (409, 201))


@pytest.mark.parametrize("owner", ["sue", "adam", "dora"])
async def test_mail_of_an_administrator_goes_to_nobody_of_lower_rank(api: Api, owner: str):
    """The administrator's address is in the alias domain: its target's addresses are protected too."""
    ranks = {"dora": 0, "scoped": 1, "adam": 1, "sue": 2}
    made = await create_domain(api, ALIAS)
    statement = "UPDATE admins SET email = %(email)s, email_key = %(email)s WHERE id = %(id)s"
    await api.sql(statement, email=f"boss@{ALIAS}", id=ADMIN_IDS[owner])
    for name in ("adam", "sue"):
        for value in (DOMAIN_ID, None):
            expected = 200 if ranks[name] >= ranks[owner] else 403
            answer = await api.callers[name].patch(f"/domains/{made}", {"alias_of": value})
            # Without a target there is nothing to change back.
            assert answer.status == (200 if value is None and expected == 403 else expected), (name, value)
    assert (await api.sue.patch(f"/domains/{made}", {"alias_of": DOMAIN_ID})).status == 200
    for name, rank in ranks.items():
        client, expected = api.callers[name], 201 if rank >= ranks[owner] else 403
        for local in ("boss", "BOSS", "boss+tag"):
            alias = {"domain_id": DOMAIN_ID, "source_local_part": local, "destination": "thief@else.test"}
            answer = await client.post("/aliases", alias)
            assert answer.status == expected, (name, local)
            if expected == 201:
                await client.delete(f"/aliases/{answer.data['id']}")
            box = {"domain_id": DOMAIN_ID, "local_part": local, "password_hash": "{SHA}x"}
            answer = await client.post("/mailboxes", box)
            assert answer.status == expected, (name, local)
            if expected == 201:
                await client.delete(f"/mailboxes/{answer.data['id']}", purge="true")
        catch_all = {"domain_id": DOMAIN_ID, "source_local_part": "", "destination": "thief@else.test"}
        made_alias = (await client.post("/aliases", catch_all)).data["id"]
        wanted = "deliver" if rank >= ranks[owner] else "unknown_user"
        for address in (f"boss@{ALIAS}", f"boss+x@{ALIAS}", f"boss@{EXAMPLE}"):
            assert (await decision(api, address))[0] == wanted, (name, address)
        await client.delete(f"/aliases/{made_alias}")
        # Without a mail transfer agent, an allowed sender gets an error of the submission.
        message = letter(**{"from": {"email": f"boss@{EXAMPLE}"}})
        code = "SEND_UNAVAILABLE" if rank >= ranks[owner] else "FORBIDDEN"
        assert (await client.post("/send", message)).code == code, name


async def test_a_delimiter_may_not_capture_an_address_in_an_alias_domain(api: Api):
    await alias_domain(api)
    await api.mailbox(f"big@{EXAMPLE}")
    statement = "UPDATE admins SET email = %(email)s, email_key = %(email)s WHERE id = %(id)s"
    await api.sql(statement, email=f"big-boss@{ALIAS}", id=ADMIN_IDS["sue"])
    answer = await api.adam.patch(f"/domains/{DOMAIN_ID}", {"plus_delimiter": "-"})
    assert (answer.status, reason(answer)) == (403, "higher_rank")


async def test_mail_arrives_and_is_sent_in_the_embedded_profile(post: Post):
    api = post.api
    await alias_domain(api)
    box = str(await api.mailbox(f"alice@{EXAMPLE}"))
    await api.alias(f"sales@{EXAMPLE}", [f"alice@{EXAMPLE}", "far@else.test"])
    result = await post.deliver(f"Alice+x@{ALIAS}", f"sales@{ALIAS}", f"nobody@{ALIAS}")
    assert (result.code, list(result.refused)) == (250, [f"nobody@{ALIAS}"])
    (row,) = await api.sql("SELECT count(*) AS n FROM messages WHERE mailbox_id = %(id)s", id=box)
    assert row["n"] == 1
    assert await api.sql("SELECT recipient FROM forwards") == [{"recipient": "far@else.test"}]
    sent = await post.send(**{"from": {"email": f"alice@{ALIAS}"}, "to": [{"email": f"alice@{ALIAS}"}]})
    assert sent.status == 200, sent.body
    await post.run_queue()
    (row,) = await api.sql(
        "SELECT count(*) AS n FROM messages WHERE mailbox_id = %(id)s AND from_address = %(sender)s",
        id=box, sender=f"alice@{ALIAS}",
    )  # fmt: skip
    assert row["n"] == 1
    (message,) = [
        each for each in (await api.sue.get("/sandbox/messages")).data if each["mail_from"].endswith(f"@{ALIAS}")
    ]
    assert f"d={ALIAS};".encode() in (await api.sue.get(f"/sandbox/messages/{message['id']}/raw")).body


async def test_limits_and_suspensions_are_those_of_the_target(post: Post):
    api = post.api
    await alias_domain(api)
    await api.mailbox(f"alice@{EXAMPLE}")
    await api.alias(f"sales@{EXAMPLE}", ["far@else.test"])
    limits = replace(api.app.settings.abuse, sender_per_hour=3, domain_per_hour=8, forward_per_hour=2)
    api.app.settings = replace(api.app.settings, abuse=limits)

    async def send(local: str, domain: str) -> str:
        sender = {"email": f"{local}@{domain}"}
        answer = await api.sue.post("/send", letter(**{"from": sender, "to": [{"email": "x@else.test"}]}))
        return answer.code or "OK"

    # One mailbox, whichever domain and tag it sends from; an address without a mailbox counts for the target's.
    assert [await send("alice", ALIAS), await send("Alice+x", ALIAS), await send("alice", EXAMPLE)] == ["OK"] * 3
    assert await send("robot", ALIAS) == "OK"
    rows = await api.sql("SELECT subject, sum(recipients)::int AS n FROM send_counts GROUP BY 1 ORDER BY 1")
    assert {row["subject"]: row["n"] for row in rows} == {f"alice@{EXAMPLE}": 3, f"robot@{EXAMPLE}": 1, EXAMPLE: 4}
    for domain in (DOMAIN_ID, (await api.sue.get("/domains", name=ALIAS)).data[0]["id"]):
        shown = (await api.sue.get("/abuse/thresholds", scope="domain", id=domain)).data["values"]
        assert (shown["domain_per_hour"]["used"], shown["forward_per_hour"]["used"]) == (4, 0)
    assert await send("alice", ALIAS) == "RATE_LIMIT_EXCEEDED"
    assert await send("alice", ALIAS) == "MAILBOX_SUSPENDED"
    (suspension,) = (await api.sue.get("/abuse/suspensions")).data
    assert (await api.sue.delete(f"/abuse/suspensions/{suspension['id']}")).status == 200
    assert await send("alice", ALIAS) == "OK"
    await api.suspension(f"alice@{EXAMPLE}")
    assert [await send("alice", ALIAS), await send("alice+x", ALIAS)] == ["MAILBOX_SUSPENDED"] * 2
    # Forwarded copies.
    assert (await post.deliver(f"sales@{ALIAS}")).code == 250
    assert (await post.deliver(f"sales@{EXAMPLE}")).code == 250
    for domain in (ALIAS, EXAMPLE):
        result = await post.deliver(f"sales@{domain}")
        assert [code for code, _ in result.refused.values()] == [450], domain


async def test_sending_by_the_api_ends_with_either_domain(api: Api):
    made = await alias_domain(api)
    message = letter(**{"from": {"email": f"alice@{ALIAS}"}})
    assert (await api.sue.post("/send", message)).code == "SEND_UNAVAILABLE"
    for each in (made, DOMAIN_ID):
        assert (await api.sue.patch(f"/domains/{each}", {"active": False})).status == 200
        assert (await api.sue.post("/send", message)).code == "DOMAIN_INACTIVE"
        assert (await api.sue.patch(f"/domains/{each}", {"active": True})).status == 200
