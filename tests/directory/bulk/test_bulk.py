"""Bulk operations over the API: results, authorisation, transactions, dry runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from argon2 import PasswordHasher

from mailkeep.core import failpoint
from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.bulk import jobs, service
from mailkeep.features.directory.bulk.jobs import BulkWorker
from tests.support.builders import DOMAIN_ID
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, KEY_IDS, OTHER, PASSWORD_HASH, Api, Client, faults

OTHER_DOMAIN_ID = str(DOMAIN_IDS[OTHER])
HASH = "{ARGON2ID}" + PASSWORD_HASH


def new(local_part: str, domain: str = EXAMPLE, **more: Any) -> dict[str, Any]:
    return {"address": f"{local_part}@{domain}", "password_hash": HASH, **more}


async def submit(client: Client, path: str, action: str, items: Sequence[Any], **more: Any) -> str:
    answer = await client.post(f"{path}/bulk", {"action": action, "items": items, **more})
    assert answer.status == 202, answer.body
    return answer.data["operation_id"]


async def run(api: Api, client: Client, path: str, action: str, items: Sequence[Any], **more: Any) -> dict[str, Any]:
    """An operation that has been carried out."""
    operation_id = await submit(client, path, action, items, **more)
    await BulkWorker(api.app).drain()
    answer = await client.get(f"/operations/{operation_id}")
    assert answer.status == 200, answer.body
    assert answer.data["state"] == "succeeded"
    return answer.data


def codes(operation: Mapping[str, Any]) -> list[str | None]:
    return [result["error"] and result["error"]["code"] for result in operation["results"]]


async def addresses(api: Api) -> list[str]:
    rows = await api.sql("SELECT address_key FROM mailboxes WHERE deleted_at IS NULL ORDER BY address_key")
    return [row["address_key"] for row in rows]


async def test_each_item_has_its_own_result(api: Api):
    await api.mailbox(f"taken@{EXAMPLE}")
    operation = await run(
        api,
        api.adam,
        "/mailboxes",
        "create",
        [
            {"domain_id": DOMAIN_ID, "local_part": "erin", "password": "correct horse battery", "name": "Erin"},
            new("frank", quota_bytes=5000, active=False),
            new("taken"),
            new("grace", "nowhere.test"),
            new("heidi", colour="blue"),
            new("two words"),
            new("short", password_hash=None, password="short"),
            new("ivan", password="correct horse battery"),
            {"address": f"judy@{EXAMPLE}"},
            {"address": f"kim@{EXAMPLE}", "domain_id": DOMAIN_ID, "password_hash": HASH},
            "a string",
            new("frank"),
        ],
    )
    assert codes(operation) == [
        None, None, "CONFLICT", "DOMAIN_NOT_FOUND", "INVALID_FIELD", "INVALID_FIELD", "WEAK_PASSWORD", "INVALID_FIELD",
        "MISSING_FIELDS", "INVALID_FIELD", "INVALID_FIELD", "CONFLICT",
    ]  # fmt: skip
    assert operation["progress"] == {"done": 12, "total": 12, "failed": 10}
    assert operation["kind"] == "mailbox.create"
    assert operation["finished_at"] is not None
    [erin, frank] = [(await api.adam.get(f"/mailboxes/{each['id']}")).data for each in operation["results"][:2]]
    assert (erin["address"], erin["name"]) == (f"erin@{EXAMPLE}", "Erin")
    assert (frank["address"], frank["quota_bytes"], frank["active"]) == (f"frank@{EXAMPLE}", 5000, False)
    assert await addresses(api) == [f"erin@{EXAMPLE}", f"frank@{EXAMPLE}", f"taken@{EXAMPLE}"]
    [row] = await api.sql("SELECT password_hash FROM mailboxes WHERE local_key = 'erin'")
    assert PasswordHasher().verify(row["password_hash"].removeprefix("{ARGON2ID}"), "correct horse battery")


async def test_mailboxes_are_changed_and_deleted_by_id_or_address(api: Api):
    alice, bob = await api.mailbox(f"alice@{EXAMPLE}"), await api.mailbox(f"bob@{EXAMPLE}")
    await api.mailbox(f"carl@{EXAMPLE}")
    operation = await run(
        api,
        api.dora,
        "/mailboxes",
        "update",
        [
            {"id": alice, "quota_bytes": 7, "protocols": {"pop3": False}},
            {"address": f"BOB@{EXAMPLE}", "name": "Bob", "local_part": "robert"},
            {"address": f"nobody@{EXAMPLE}", "name": "Nobody"},
            {"id": "17", "name": "?"},
            {"name": "?"},
            {"id": alice, "address": f"alice@{EXAMPLE}", "name": "?"},
        ],
    )
    assert codes(operation) == [None, None, "NOT_FOUND", "INVALID_FIELD", "MISSING_FIELDS", "INVALID_FIELD"]
    assert [each["id"] for each in operation["results"]][:3] == [str(alice), str(bob), None]
    assert (await api.dora.get(f"/mailboxes/{alice}")).data["quota_bytes"] == 7
    assert (await api.dora.get(f"/mailboxes/{bob}")).data["address"] == f"robert@{EXAMPLE}"
    operation = await run(
        api,
        api.dora,
        "/mailboxes",
        "delete",
        [{"id": alice, "purge": True}, {"address": f"carl@{EXAMPLE}"}, {"id": alice}],
    )
    assert codes(operation) == [None, None, "NOT_FOUND"]
    rows = await api.sql("SELECT local_key, deleted_at IS NOT NULL AS trashed FROM mailboxes ORDER BY local_key")
    assert [(row["local_key"], row["trashed"]) for row in rows] == [("carl", True), ("robert", False)]


async def test_aliases_are_created_changed_and_deleted(api: Api):
    operation = await run(
        api,
        api.dora,
        "/aliases",
        "create",
        [
            {"domain": EXAMPLE, "source_local_part": "info", "destination": "a@far.test, b@far.test"},
            {"domain_id": DOMAIN_ID, "source_local_part": "", "destination": "c@far.test", "active": False},
            {"domain": EXAMPLE, "source_local_part": "chain", "destination": f"info@{EXAMPLE}"},
            {"domain": EXAMPLE, "source_local_part": "INFO", "destination": "a@far.test"},
            {"domain": EXAMPLE, "source_local_part": "bad", "destination": "nonsense"},
        ],
    )
    assert codes(operation) == [None, None, "CONFLICT", "CONFLICT", "INVALID_FIELD"]
    assert operation["results"][2]["error"]["details"]["reason"] == "alias_chain"
    catch_all = operation["results"][1]["id"]
    operation = await run(
        api,
        api.dora,
        "/aliases",
        "update",
        [
            {"domain": EXAMPLE, "source_local_part": "Info", "destination": "d@far.test"},
            {"id": catch_all, "active": True},
            {"domain": EXAMPLE, "source_local_part": "none", "active": False},
            {"domain": EXAMPLE, "active": False},
        ],
    )
    assert codes(operation) == [None, None, "NOT_FOUND", "MISSING_FIELDS"]
    rows = (await api.dora.get("/aliases", domain_id=DOMAIN_ID)).data
    assert sorted((row["source_local_part"], row["destination"], row["active"]) for row in rows) == [
        ("", "c@far.test", True),
        ("info", "d@far.test", True),
    ]
    operation = await run(
        api, api.dora, "/aliases", "delete", [{"domain": EXAMPLE, "source_local_part": ""}, {"id": catch_all}]
    )
    assert codes(operation) == [None, "NOT_FOUND"]


async def test_a_domain_admin_reaches_only_its_domains(api: Api):
    foreign = await api.mailbox(f"olga@{OTHER}")
    alias = await api.alias(f"sales@{OTHER}", ["x@far.test"])
    items = [
        new("own"),
        new("foreign", OTHER),
        {"domain_id": OTHER_DOMAIN_ID, "local_part": "x", "password_hash": HASH},
    ]
    assert codes(await run(api, api.dora, "/mailboxes", "create", items)) == [None, "FORBIDDEN", "FORBIDDEN"]
    renamed = [{"id": foreign, "name": "Mine"}, {"address": f"olga@{OTHER}", "name": "Mine"}]
    assert codes(await run(api, api.dora, "/mailboxes", "update", renamed)) == ["FORBIDDEN"] * 2
    assert codes(await run(api, api.dora, "/mailboxes", "delete", [{"id": foreign}])) == ["FORBIDDEN"]
    assert codes(await run(api, api.dora, "/aliases", "delete", [{"id": alias}])) == ["FORBIDDEN"]
    assert codes(await run(api, api.scoped, "/mailboxes", "delete", [{"id": foreign}])) == ["API_KEY_DOMAIN_SCOPE"]
    assert await addresses(api) == [f"olga@{OTHER}", f"own@{EXAMPLE}"]
    # Refused items are recorded like refused calls.
    entries = await api.sql(
        "SELECT action, outcome, error_code FROM audit_entries WHERE outcome = 'denied' ORDER BY id"
    )
    assert [entry["action"] for entry in entries] == [
        "mailbox.create", "mailbox.create", "mailbox.update", "mailbox.update", "mailbox.delete", "alias.delete",
        "mailbox.delete",
    ]  # fmt: skip


async def test_names_in_other_domains_are_not_looked_up(api: Api):
    """Neither error, ID nor audit entry differs between an address that exists and one that does not."""
    await api.mailbox(f"olga@{OTHER}")
    await api.alias(f"sales@{OTHER}", ["x@far.test"])
    for client, code in ((api.dora, "FORBIDDEN"), (api.scoped, "API_KEY_DOMAIN_SCOPE")):
        for dry_run in (False, True):
            for path, items in (
                ("/mailboxes", [{"address": f"{name}@{OTHER}"} for name in ("olga", "nobody")]),
                ("/aliases", [{"domain": OTHER, "source_local_part": name} for name in ("sales", "nobody")]),
            ):
                for action in ("update", "delete"):
                    operation = await run(api, client, path, action, items, dry_run=dry_run)
                    known, unknown = ({**result, "index": 0} for result in operation["results"])
                    assert (known, known["id"], known["error"]["code"]) == (unknown, None, code)
    entries = await api.sql("SELECT DISTINCT resource_id, domain_id FROM audit_entries WHERE outcome = 'denied'")
    assert entries == [{"resource_id": None, "domain_id": DOMAIN_IDS[OTHER]}]


async def test_the_mailbox_of_a_higher_rank_is_protected(api: Api):
    sues = await api.mailbox(f"sue@{EXAMPLE}")
    items = [{"id": sues, "password_hash": HASH}, {"id": sues, "active": False}, {"id": sues, "name": "Sue"}]
    operation = await run(api, api.dora, "/mailboxes", "update", items)
    assert codes(operation) == ["FORBIDDEN", "FORBIDDEN", None]
    assert codes(await run(api, api.dora, "/mailboxes", "delete", [{"id": sues}])) == ["FORBIDDEN"]
    assert codes(await run(api, api.dora, "/mailboxes", "create", [new("adam")])) == ["FORBIDDEN"]


@pytest.mark.parametrize(
    "statement, code",
    [
        ("DELETE FROM admin_domains WHERE admin_id = %(dora)s", "FORBIDDEN"),
        ("UPDATE admins SET role = 'admin' WHERE id = %(dora)s", None),
        ("DELETE FROM api_keys", None),  # this is a session's operation
    ],
)
async def test_items_are_authorised_when_they_are_carried_out(
    api: Api, statement: Any, code: str | None, monkeypatch: pytest.MonkeyPatch
):
    """Rights are withdrawn (or given) after the first item."""
    operation_id = await submit(api.dora, "/mailboxes", "create", [new("a"), new("b")])
    original = service.ItemExecution.run

    async def change_rights(execution: Any, content: dict[str, Any]) -> None:
        await original(execution, content)
        await api.sql(statement, dora=ADMIN_IDS["dora"])

    monkeypatch.setattr(service.ItemExecution, "run", change_rights)
    await BulkWorker(api.app).drain()
    operation = (await api.sue.get(f"/operations/{operation_id}")).data
    assert codes(operation) == [None, code]


@pytest.mark.parametrize(
    "statement", ["DELETE FROM admins WHERE id = %(dora)s", "DELETE FROM api_keys WHERE id = %(key)s"]
)
async def test_items_of_a_deleted_account_or_key_are_refused(api: Api, statement: Any):
    client = api.dora if "admins" in statement else api.scoped
    operation_id = await submit(client, "/mailboxes", "create", [new("a")])
    await api.sql(statement, dora=ADMIN_IDS["dora"], key=KEY_IDS["scoped"])
    await BulkWorker(api.app).drain()
    assert codes((await api.sue.get(f"/operations/{operation_id}")).data) == ["FORBIDDEN"]
    assert await addresses(api) == []


async def test_only_the_creator_and_super_admins_follow_an_operation(api: Api):
    path = f"/operations/{await submit(api.dora, '/mailboxes', 'create', [new('a')])}"
    assert [(await client.get(path)).status for client in (api.dora, api.sue, api.unscoped)] == [200] * 3
    assert [(await client.get(path)).code for client in (api.otto, api.adam, api.scoped)] == ["FORBIDDEN"] * 3
    by_key = f"/operations/{await submit(api.scoped, '/mailboxes', 'create', [new('b')])}"
    other_key, _ = await api.key(api.adam, scoped_domain_ids=[OTHER_DOMAIN_ID])
    assert [(await client.get(by_key)).status for client in (api.adam, api.scoped, other_key)] == [200, 200, 403]
    assert (await api.sue.get(f"/operations/{DOMAIN_ID}")).status == 404
    assert (await api.nobody.get(path)).status == 401


async def test_operations_on_services_can_be_followed_too(api: Api):
    states = ["succeeded", "failed", "running"]
    steps = json.dumps([{"name": each, "state": each, "started_at": "2026-03-01T12:00:00Z"} for each in states])
    [row] = await api.sql(
        """
        INSERT INTO orchestrator_operations (id, kind, state, author, created_at, steps)
        VALUES (gen_random_uuid(), 'apply', 'running', 'sue', now(), %(steps)s) RETURNING id
        """,
        steps=steps,
    )
    operation = (await api.sue.get(f"/operations/{row['id']}")).data
    assert (operation["kind"], operation["state"], operation["results"]) == ("apply", "running", [])
    assert operation["progress"] == {"done": 2, "total": 3, "failed": 1}
    assert (await api.adam.get(f"/operations/{row['id']}")).code == "FORBIDDEN"


async def test_changes_are_audited_like_single_calls(api: Api):
    operation = await run(api, api.dora, "/mailboxes", "create", [new("a"), new("b")])
    [call] = await api.audit_entries("mailbox.bulk")
    assert call["details"] == {"action": "create", "items": 2, "dry_run": False}
    assert call["resource_id"] == operation["id"]
    created = await api.audit_entries("mailbox.create")
    assert [entry["resource_id"] for entry in created] == [each["id"] for each in operation["results"]]
    assert {entry["request_id"] for entry in created} == {call["request_id"]}
    assert {(entry["admin_id"], entry["ip_address"], entry["actor_type"]) for entry in created} == {
        (ADMIN_IDS["dora"], "192.0.2.1", "session")
    }
    assert created[0]["details"]["after"]["address"] == f"a@{EXAMPLE}"
    assert HASH not in str(created)


async def test_a_dry_run_finds_the_same_errors_and_changes_nothing(api: Api):
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"max_mailboxes": 3})
    kept = await api.mailbox(f"kept@{EXAMPLE}")
    items = [
        new("a", password_hash=None, password="correct horse battery"),
        new("A"),  # the address of the first item
        new("kept"),
        new("weak", password_hash=None, password="password"),
        new("b"),
        new("c"),  # the fourth mailbox of the domain
    ]
    expected = [None, "CONFLICT", "CONFLICT", "WEAK_PASSWORD", None, "CONFLICT"]
    trial = await run(api, api.dora, "/mailboxes", "create", items, dry_run=True)
    assert codes(trial) == expected
    assert trial["dry_run"] is True
    assert {each["id"] for each in trial["results"]} == {None}
    assert [each["error"]["details"].get("reason") for each in trial["results"] if each["error"]] == [
        "repeated", "address_taken", "common", "limit_reached",
    ]  # fmt: skip
    trial = await run(
        api, api.dora, "/mailboxes", "delete", [{"id": kept}, {"address": f"kept@{EXAMPLE}"}], dry_run=True
    )
    assert (codes(trial), trial["results"][0]["id"]) == ([None, "CONFLICT"], str(kept))
    assert await addresses(api) == [f"kept@{EXAMPLE}"]
    assert await api.audit_entries("mailbox.create") == await api.audit_entries("mailbox.delete") == []
    assert codes(await run(api, api.dora, "/mailboxes", "create", items)) == expected
    alias = {"domain": EXAMPLE, "source_local_part": "x", "destination": "x@far.test"}
    assert codes(await run(api, api.dora, "/aliases", "create", [alias, alias], dry_run=True)) == [None, "CONFLICT"]
    assert (await api.sql("SELECT count(*) AS n FROM aliases"))[0]["n"] == 0


async def test_the_size_of_a_call_is_limited(api: Api):
    body: dict[str, Any] = {"action": "delete", "items": []}
    assert (await api.dora.post("/mailboxes/bulk", body)).code == "EMPTY_BATCH"
    answer = await api.dora.post("/mailboxes/bulk", body | {"items": [{"id": DOMAIN_ID}] * 1001})
    assert (answer.status, answer.code) == (400, "BATCH_TOO_LARGE")
    assert "1,000" in answer.json["error"]["message"]
    answer = await api.dora.post("/mailboxes/bulk", {"action": "merge", "items": [{}], "colour": 1})
    assert faults(answer) == ["action", "colour"]
    large = {"action": "create", "items": [new(f"u{n}", name="x" * 3000) for n in range(1000)]}
    assert (await api.dora.post("/mailboxes/bulk", large)).status == 202  # 3 MB; each name is too long, though
    answer = await api.dora.post("/mailboxes/bulk", b" " * (16 << 20) + b"{}")
    assert answer.code == "PAYLOAD_TOO_LARGE"


async def test_an_account_has_a_limited_number_of_unfinished_operations(api: Api):
    bodies = [{"action": "create", "items": [new(f"u{n}")]} for n in range(30)]
    answers = await asyncio.gather(*(api.dora.post("/mailboxes/bulk", body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [202] * 20 + [429] * 10
    answer = await api.dora.post("/mailboxes/bulk", {"action": "create", "items": [new("more")]})
    assert (answer.status, answer.code) == (429, "RATE_LIMIT_EXCEEDED")
    assert await submit(api.adam, "/mailboxes", "create", [new("others")])
    assert await BulkWorker(api.app).drain() == 21
    assert await submit(api.dora, "/mailboxes", "create", [new("more")])


async def test_an_idempotency_key_repeats_the_answer(api: Api, monkeypatch: pytest.MonkeyPatch):
    body = {"action": "create", "items": [new("a")]}
    first, again = [await api.dora("POST", "/mailboxes/bulk", body, headers={"idempotency-key": "k"}) for _ in range(2)]
    assert first.data == again.data
    assert again.headers["idempotent-replayed"] == "true"
    # The process ends after the operation was stored and before the response was: it is found by its request.
    original = service.submit

    async def lose(*arguments: Any) -> None:
        await original(*arguments)
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(service, "submit", lose)
        assert (await api.dora("POST", "/mailboxes/bulk", body, headers={"idempotency-key": "l"})).status == 503
    repeated = await api.dora("POST", "/mailboxes/bulk", body, headers={"idempotency-key": "l"})
    assert (repeated.status, repeated.headers["idempotent-replayed"]) == (202, "true")
    assert (await api.sql("SELECT count(*) AS n FROM bulk_operations"))[0]["n"] == 2


async def test_passwords_are_sealed_until_their_item_is_done(api: Api):
    items = [new("a", password_hash=None, password="correct horse battery")] * 2
    await submit(api.dora, "/mailboxes", "create", items)
    rows = await api.sql("SELECT sealed FROM bulk_items ORDER BY index")
    assert all(b"correct" not in row["sealed"] for row in rows)
    await BulkWorker(api.app).drain()
    rows = await api.sql("SELECT sealed, convert_from(error, 'UTF8') AS error FROM bulk_items ORDER BY index")
    assert [row["sealed"] for row in rows] == [None, None]
    assert "correct horse" not in str(rows) + str(await api.sql("SELECT * FROM audit_entries"))


async def test_a_hostile_item_gets_a_result_too(api: Api):
    items = b'{"\\u0000": 1, "address": "\\u0000@\\u0000"}, {"address": ["x"]}, {}, [], null'
    answer = await api.dora.post("/mailboxes/bulk", b'{"action": "create", "items": [' + items + b"]}")
    assert answer.status == 202
    await BulkWorker(api.app).drain()
    operation = (await api.dora.get(f"/operations/{answer.data['operation_id']}")).data
    assert operation["state"] == "succeeded"
    assert None not in codes(operation)
    nul = [{"domain": EXAMPLE, "source_local_part": "\0", "active": True}, {"address": f"\0@{EXAMPLE}"}]
    for path in ("/aliases", "/mailboxes"):
        assert not {"INTERNAL_ERROR", None} & set(codes(await run(api, api.dora, path, "update", nul)))


async def test_long_texts_are_texts(api: Api):
    """Texts of more than 32 KiB in bodies of more than 64 KiB are read without decoding the whole body."""
    limits = replace(api.app.settings.limits, alias_destinations=1000)
    api.app.settings = replace(api.app.settings, limits=limits)
    long = ",".join(f"{n:040}@far.test" for n in range(1000))
    items = [{"domain": EXAMPLE, "source_local_part": f"list{n}", "destination": long} for n in range(2)]
    assert codes(await run(api, api.dora, "/aliases", "create", items)) == [None, None]


async def test_an_interrupted_operation_is_continued(api: Api, monkeypatch: pytest.MonkeyPatch):
    """A worker dies after an item was written and before its commit: another one continues when its lease has ended."""
    operation_id = await submit(api.dora, "/mailboxes", "create", [new(f"u{n}") for n in range(3)])
    reached = 0

    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        nonlocal reached
        reached += name == "bulk.item_written"
        if reached == 2:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", die)
        worker = BulkWorker(api.app)
        [operation] = await worker._claim(jobs.ClaimLimits(1, 1, {}, ADMIN_IDS["dora"]))
        with pytest.raises(Killed):
            await worker._work(operation)
    assert await addresses(api) == [f"u0@{EXAMPLE}"]
    progress = (await api.dora.get(f"/operations/{operation_id}")).data
    assert (progress["state"], progress["progress"]["done"]) == ("running", 1)
    assert await BulkWorker(api.app).drain() == 0  # the lease
    api.clock.advance(seconds=31)
    assert await BulkWorker(api.app).drain() == 1
    operation = (await api.dora.get(f"/operations/{operation_id}")).data
    assert (operation["state"], codes(operation)) == ("succeeded", [None] * 3)
    assert len(await addresses(api)) == len(await api.audit_entries("mailbox.create")) == 3


async def test_two_workers_do_nothing_twice(api: Api):
    """The lease of a worker ends while it works: both carry out the operation at the same time."""
    operation_id = await submit(api.dora, "/mailboxes", "create", [new(f"u{n}") for n in range(30)])
    workers = [BulkWorker(api.app), BulkWorker(api.app)]
    [operation] = await workers[0]._claim(jobs.ClaimLimits(1, 1, {}, ADMIN_IDS["dora"]))
    await asyncio.gather(*(worker._work(operation) for worker in workers))
    operation = (await api.dora.get(f"/operations/{operation_id}")).data
    assert codes(operation) == [None] * 30
    assert len(await addresses(api)) == len(await api.audit_entries("mailbox.create")) == 30


async def test_operations_of_an_account_run_in_order_and_those_of_others_beside_them(api: Api):
    first = await submit(api.dora, "/mailboxes", "create", [new("a")])
    api.clock.advance(seconds=1)
    await submit(api.dora, "/mailboxes", "update", [{"address": f"a@{EXAMPLE}", "name": "A"}])
    others = await submit(api.otto, "/mailboxes", "create", [new("o", OTHER)])
    claimed = await BulkWorker(api.app)._claim(jobs.ClaimLimits(10, 10, {}, ADMIN_IDS["dora"]))
    assert [str(each.id) for each in claimed] == [first, others]


async def test_results_are_deleted_after_seven_days(api: Api):
    operation = await run(api, api.dora, "/mailboxes", "create", [new("a")])
    api.clock.advance(days=6)
    await service.prune(api.app)
    assert (await api.dora.get(f"/operations/{operation['id']}")).status == 200
    api.clock.advance(days=2)
    await service.prune(api.app)
    assert (await api.dora.get(f"/operations/{operation['id']}")).status == 404
    assert await api.sql("SELECT FROM bulk_items") == []
