"""A domain that is deleted and added again for another tenant: nothing of the first is left, in lists and rights."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from mailkeep.run.runtime.router import ENDPOINTS
from tests.plugins.post import Post, letter
from tests.support.builders import DOMAIN_ID, create_domain, create_mailbox
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, Api, Client

NAME = "tenant.test"
# Arrays without pages; all other lists are paginated.
ARRAYS = {"/admins", "/api-keys", "/webhooks"}
LISTS = [
    each
    for each in ENDPOINTS
    if each.method == "GET" and "{" not in each.path and (each.listing or each.path in ARRAYS)
]
NEWS = {"domain.create", "admin.update"}  # audit entries of the second life


async def assign(api: Api, name: str, *domains: str) -> None:
    assert (await api.sue.patch(f"/admins/{ADMIN_IDS[name]}", {"domain_ids": list(domains)})).status == 200


async def read_lists(client: Client, domain_id: str | None) -> dict[str, Any]:
    """The lists that the caller may see: all of them, or only those that can be filtered by a domain."""
    found: dict[str, Any] = {}
    for each in LISTS:
        has_filter = each.query is not None and "domain_id" in each.query.__struct_fields__
        if domain_id is not None and not has_filter:
            continue
        answer = await client.get(each.path, domain_id=domain_id)
        if answer.status == 200:
            found[each.path] = answer.data
        else:
            # Lists of owners of mailboxes are for other credentials.
            expected = ("AUTH_REQUIRED",) if each.path.startswith("/me/") else ("FORBIDDEN", "MISSING_FIELDS")
            assert answer.code in expected, (each.path, answer)
    return found


async def first_life(post: Post) -> str:
    """A domain of Dora's with one of everything, deleted; returns its ID."""
    api = post.api
    first = await create_domain(api, NAME)
    await assign(api, "dora", DOMAIN_ID, first)
    box = await create_mailbox(api, "alice", domain_id=first)
    alias = {"domain_id": first, "source_local_part": "sales", "destination": f"alice@{NAME}, far@else.test"}
    alias_id = (await api.dora.post("/aliases", alias)).data["id"]
    await create_mailbox(api, "friend", send_as=[NAME, f"sales@{NAME}"])
    assert (await api.dora.post(f"/mailboxes/{box['id']}/app-passwords", {"name": "Phone"})).status == 201
    sent = await post.send(**{"from": {"email": f"alice@{NAME}"}, "to": [{"email": f"sales@{NAME}"}]})
    assert sent.status == 200
    await post.run_queue()
    received = await post.deliver(f"sales@{NAME}", f"unknown@{NAME}")
    assert (received.code, list(received.refused)) == (250, [f"unknown@{NAME}"])
    assert (await api.sue.post(f"/mailboxes/{box['id']}/suspend", {"reason": "spam"})).status == 200
    await api.webhook(NAME)
    await api.sign_in_block(f"mailbox:alice@{NAME}")
    await api.sql(
        "INSERT INTO sign_in_failures (account, source, tag, known_source, id, at)"
        " VALUES (%(account)s, '192.0.2.9', %(tag)s, false, %(id)s, %(at)s)",
        account=f"mailbox:alice@{NAME}", tag=1, id=UUID(int=1), at=api.clock(),
    )  # fmt: skip
    operation = {"action": "update", "items": [{"id": box["id"], "name": "Alice"}]}
    assert (await api.dora.post("/mailboxes/bulk", operation)).status == 202
    lists = await read_lists(api.sue, first)
    assert {path for path, rows in lists.items() if rows} >= {
        "/aliases", "/mailboxes", "/messages", "/events", "/audit", "/abuse/suspensions",
    }  # fmt: skip
    assert (await api.sue.delete(f"/mailboxes/{box['id']}")).status == 200
    assert (await api.sue.delete(f"/aliases/{alias_id}")).status == 200
    assert (await api.sue.delete(f"/domains/{first}")).status == 200
    return first


async def test_nothing_is_left(post: Post):
    api = post.api
    otto = await read_lists(api.otto, None)
    friend = f"friend@{EXAMPLE}"
    first = await first_life(post)
    scoped, _ = await api.key(api.sue, scoped_domain_ids=[DOMAIN_IDS[EXAMPLE]])
    second = await create_domain(api, NAME)
    assert second != first
    await assign(api, "otto", str(DOMAIN_IDS[OTHER]), second)

    # Lists: of the domain, and all that its new administrator sees.
    lists = await read_lists(api.sue, second)
    assert set(lists) >= {"/aliases", "/mailboxes", "/messages", "/events", "/audit", "/abuse/suspensions"}
    assert {row["action"] for row in lists.pop("/audit")} <= NEWS
    assert {path: rows for path, rows in lists.items() if rows} == {}
    assert (await api.otto.get("/mailboxes", domain_id=second, trashed="true")).data == []
    for path, rows in (await read_lists(api.otto, None)).items():
        ids = {row.get("id") for row in otto[path]}
        new = [row for row in rows if row.get("id") not in ids]
        if path == "/domains":
            assert [row["id"] for row in new] == [second]
        elif path == "/audit":
            assert {row["action"] for row in new} <= NEWS
        else:
            assert new == [], path
    shown = (await api.otto.get("/abuse/thresholds", scope="domain", id=second)).data["values"]
    assert (shown["domain_per_hour"]["used"], shown["forward_per_hour"]["used"]) == (0, 0)
    domain = (await api.otto.get(f"/domains/{second}")).data
    assert domain["usage"] == {"mailboxes": 0, "aliases": 0, "bytes": 0, "alias_domains": 0}
    assert domain["dns"] == {"status": "unchecked", "checked_at": None}
    assert await api.sql("SELECT FROM sign_in_failures UNION ALL SELECT FROM sign_in_blocks") == []
    assert await api.sql("SELECT FROM send_as UNION ALL SELECT FROM webhooks") == []
    keys = [row["domain_id"] for row in await api.sql("SELECT domain_id FROM dkim_keys")]
    assert keys.count(UUID(second)) == 2
    assert UUID(first) not in keys

    # Rights: of the first administrator, of keys, senders and logins.
    for client, code in ((api.dora, "FORBIDDEN"), (scoped, "API_KEY_DOMAIN_SCOPE")):
        assert (await client.get(f"/domains/{second}")).code == code
        assert (await client.get("/aliases", domain_id=second)).code == code
        assert (await client.get("/routing/explain", address=f"sales@{NAME}")).code == code
        assert (await client.post("/send", letter(**{"from": {"email": f"alice@{NAME}"}}))).code == code
    assert str(first) not in str((await api.sue.get("/admins")).data)
    assert await api.sql("SELECT s FROM sender_logins('sales', %(name)s) s", name=NAME) == []
    for name in ("alice", "sales"):
        route = (await api.otto.get("/routing/explain", address=f"{name}@{NAME}")).data
        assert (route["decision"], route["deliveries"]) == ("unknown_user", [])
    alice = await create_mailbox(api, "alice", domain_id=second)
    assert (alice["suspended"], alice["message_count"], alice["last_login"]["at"]) == (None, 0, None)
    assert (await api.otto.get(f"/mailboxes/{alice['id']}/app-passwords")).data == []
    assert await api.sql("SELECT s FROM sender_logins('alice', %(name)s) s", name=NAME) == [{"s": f"alice@{NAME}"}]
    assert friend in [row["address"] for row in (await api.dora.get("/mailboxes", domain_id=DOMAIN_ID)).data]
    sent = await post.send(**{"from": {"email": f"alice@{NAME}"}})
    assert sent.status == 200
    assert await api.sql("SELECT FROM webhook_deliveries WHERE kind = 'mail.sent' AND created_at = %(at)s"
                         " AND webhook_id NOT IN (SELECT id FROM webhooks) AND event_id IN (SELECT id FROM events"
                         " WHERE domain_id = %(id)s)", at=api.clock(), id=UUID(second)) == []  # fmt: skip
