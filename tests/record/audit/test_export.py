"""The export in three formats, and its verification without the server."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.record.audit import service
from mailkeep.features.record.audit.model import (
    SEAL_KEY_PURPOSE,
    AuditAction,
    AuditFilter,
    AuditTarget,
    AuditVerification,
)
from mailkeep.web.endpoint import PREFIX
from tests.record.audit.conftest import CLERK, Book, named
from tests.support.builders import create_domain, create_mailbox
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, VAULT, Api, Client, cookie_of, token_of

KEY = VAULT.public_key(SEAL_KEY_PURPOSE)
HOSTILE = [
    '=HYPERLINK("http://evil.test","x")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", 'a"b,c;=1',
    "line\nbreak", "\x1b[31mred", "\u2028", "'=1", "🐘", "{}", "x" * 300,
]  # fmt: skip


async def export(client: Client, **query: Any) -> bytes:
    answer = await client.get("/audit/export", **query)
    assert answer.status == 200, answer.body
    return answer.body


def lines_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def verdict_of(data: bytes, key: bytes | None = KEY) -> AuditVerification:
    return service.verify_export(io.BytesIO(data), key)


async def hostile_entries(api: Api) -> None:
    for text in HOSTILE:
        async with api.app.db.tx() as conn:
            audit_action = AuditAction(
                "thing.change", AuditTarget("thing", text), before={"name": text}, after={"password": "1", text: 1}
            )
            await service.record(conn, CLERK, api.clock(), audit_action)


async def test_each_format_has_all_entries_and_the_export_itself(book: Book):
    await hostile_entries(book.api)
    await create_domain(book.api, "new.test")
    forms = {form: await book.api.sue.get("/audit/export", format=form) for form in ("json", "ndjson", "csv")}
    types = {form: answer.headers["content-type"] for form, answer in forms.items()}
    assert types == {"json": "application/json", "ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
    assert forms["csv"].headers["content-disposition"] == 'attachment; filename="audit-2026-03-01.csv"'
    envelope = forms["json"].json
    assert (envelope["error"], envelope["meta"]["request_id"]) == (None, forms["json"].headers["x-request-id"])
    rows = list(csv.DictReader(io.StringIO(forms["csv"].body.decode(), newline="")))
    lines = lines_of(forms["ndjson"].body)
    actions = ["thing.change"] * len(HOSTILE) + ["domain.create", "audit.export"]
    assert [one["action"] for one in envelope["data"]] == actions
    assert [one["action"] for one in lines] == [*actions, "audit.export"]
    assert [one["action"] for one in rows] == [*actions, "audit.export", "audit.export"]
    assert [one["details"]["format"] for one in lines if one["action"] == "audit.export"] == ["json", "ndjson"]
    for mine, other in zip(envelope["data"], lines, strict=False):
        assert {**other, "seals": None} == {**mine, "seals": None}
    assert [one["resource_id"] for one in lines[: len(HOSTILE)]] == HOSTILE
    assert lines[0]["details"]["after"]["password"] == "(secret)"


async def test_no_cell_of_the_table_is_a_formula(book: Book):
    await hostile_entries(book.api)
    rows = list(csv.DictReader(io.StringIO((await export(book.api.sue, format="csv")).decode(), newline="")))
    texts = [row["resource_id"] for row in rows[: len(HOSTILE)]]
    assert texts[:4] == ["'" + text for text in HOSTILE[:4]]
    assert texts[4:7] == ["'\\u0009=1", "'\\u000d=1", "'\\u000a=1"]
    assert texts[8:11] == ['a"b,c;=1', "line\\u000abreak", "\\u001b[31mred"]
    for cell in (cell for row in rows for cell in row.values()):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝"))
        assert all(character >= " " for character in cell)


async def test_the_filters_are_those_of_the_list(book: Book):
    api = book.api
    mailbox = await create_mailbox(api, "alice")
    api.clock.advance(hours=1)
    await create_domain(api, "later.test")
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"action": "mailbox.create"}, {"mailbox.create"}),
        ({"domain_id": DOMAIN_IDS[EXAMPLE]}, {"mailbox.create"}),
        ({"resource_type": "mailbox", "resource_id": mailbox["id"]}, {"mailbox.create"}),
        ({"admin_id": ADMIN_IDS["adam"]}, set()),
        ({"admin_id": ADMIN_IDS["sue"], "until": "2026-03-01T12:30:00Z"}, {"mailbox.create"}),
        ({"since": "2026-03-01T12:30:00Z", "resource_type": "domain"}, {"domain.create"}),
        ({"since": "2026-03-01T13:30:00+01:00", "until": "2026-03-01T13:31:00+01:00"}, set()),
    ]
    for query, actions in cases:
        listed = {one["action"] for one in (await api.sue.get("/audit", **query)).data}
        exported = {one["action"] for one in json.loads(await export(api.sue, **query))["data"]}
        assert (listed - {"audit.export"}, exported - {"audit.export"}) == (actions, actions), query
    for query, code in [
        ({"domain_id": "01890000-0000-7000-8000-000000000000"}, "DOMAIN_NOT_FOUND"),
        ({"format": "xml"}, "INVALID_FIELD"),
        ({"limit": 3}, "INVALID_FIELD"),
        ({"since": "yesterday"}, "INVALID_FIELD"),
    ]:
        assert (await api.sue.get("/audit/export", **query)).code == code


async def test_exports_and_refused_exports_are_recorded(book: Book):
    await export(book.api.sue, format="csv", action="domain.create")
    assert (await book.api.adam.get("/audit/export")).code == "FORBIDDEN"
    assert (await book.api.scoped.get("/audit/export")).code == "FORBIDDEN"
    outcomes = [
        (row["outcome"], row["actor_label"], row["details"]) for row in await book.api.audit_entries("audit.export")
    ]
    assert outcomes[0] == ("success", f"sue@{EXAMPLE}", {"format": "csv", "action": "domain.create"})
    assert [outcome for outcome, _, _ in outcomes] == ["success", "denied", "denied"]


async def test_a_deleted_administrator_stays_in_the_export(book: Book):
    await create_mailbox(book.api, "alice")
    [entry] = await book.api.audit_entries("mailbox.create")
    await book.seal()
    answer = await book.api.unscoped.delete(f"/admins/{ADMIN_IDS['adam']}")
    assert answer.status == 200
    data = await export(book.api.sue, format="ndjson")
    assert lines_of(data)[0]["admin_id"] == str(entry["admin_id"])
    assert verdict_of(data).ok


async def test_an_export_is_verified_without_the_server(book: Book):
    ids = await book.write(2500)
    await hostile_entries(book.api)
    await book.seal()
    await book.write(20)
    data = await export(book.api.sue, format="ndjson")
    verdict = verdict_of(data)
    assert (verdict.ok, verdict.checked + verdict.unsealed, verdict.partial) == (True, 2500 + len(HOSTILE) + 21, False)
    assert verdict.head
    # The key in the export verifies it, another one does not.
    assert verdict_of(data, None).public_key == KEY
    assert not verdict_of(data, bytes(32)).ok
    lines = data.splitlines(keepends=True)
    assert [json.loads(line)["id"] for line in lines[:2500]] == [str(each) for each in ids]


FORGERIES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], dict[int, str]]] = {
    "altered": (lambda lines: [*lines[:3], lines[3].replace(b"clerk", b"clark"), *lines[4:]], {3: "altered"}),
    "removed": (lambda lines: [*lines[:3], *lines[4:]], {3: "removed"}),
    "twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], {2: "inserted"}),
    "moved within its seal": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], {}),
    "moved to another": (lambda lines: [*lines[:3], *lines[4:8], lines[3], *lines[8:]], {3: "altered"}),
}


@pytest.mark.parametrize("kind", FORGERIES)
async def test_a_forged_line_is_named(book: Book, kind: str):
    ids: list[UUID] = []
    for _ in range(3):
        ids += await book.write(5)
        await book.seal()
    lines = (await export(book.api.sue, format="ndjson")).splitlines(keepends=True)
    forge, faults = FORGERIES[kind]
    verdict = verdict_of(b"".join(forge(lines)))
    assert named(verdict) == {ids[number]: problem for number, problem in faults.items()}
    assert verdict.ok == (not faults)


async def test_seals_of_an_export_are_verified(book: Book):
    for _ in range(4):
        await book.write(2)
        await book.seal()
    lines = lines_of(await export(book.api.sue, format="ndjson"))

    def verdict(change: Callable[[list[dict[str, Any]]], object]) -> dict[Any, str]:
        copy = json.loads(json.dumps(lines))
        change(copy)
        return named(verdict_of(b"".join(json.dumps(line).encode() + b"\n" for line in copy)))

    def forge(name: str, value: Any) -> Callable[[list[dict[str, Any]]], object]:
        return lambda copy: copy[3]["seals"][0].update({name: value})

    assert verdict(lambda copy: None) == {}
    assert verdict(lambda copy: copy[3].update(seals=[])) == {2: "seal_removed"}
    assert verdict(lambda copy: copy[1].update(seals=[])) == {1: "seal_removed"}
    changes = {
        "sealed_at": "2020-01-01T00:00:00Z", "entries": 3, "previous": "", "dropped_before": "2026-04-01T00:00:00Z",
        "first_sequence": 2, "signature": b64encode(bytes(64)).decode(), "last_transaction": "1",
    }  # fmt: skip
    for name, value in changes.items():
        assert verdict(forge(name, value)) == {2: "seal_altered"}, name
    leaves = b64decode(lines[3]["seals"][0]["leaves"])
    assert 2 in verdict(forge("leaves", b64encode(leaves[:48]).decode()))


async def test_a_filtered_export_is_verified_except_for_removed_entries(book: Book):
    for number in range(3):
        await book.write(3)
        await book.write(1, action="thing.rare")
        if number != 1:
            await book.seal()
    data = await export(book.api.sue, format="ndjson", action="thing.rare")
    lines = data.splitlines(keepends=True)
    assert [len(line["seals"]) for line in lines_of(data)] == [1, 0, 1]
    verdict = verdict_of(data)
    assert (verdict.ok, verdict.partial, verdict.checked, verdict.unsealed) == (True, True, 3, 0)
    assert verdict_of(b"".join([lines[0], lines[2]])).ok
    forged = verdict_of(b"".join([lines[0].replace(b"clerk", b"clark"), *lines[1:]]))
    assert [fault.problem for fault in forged.faults] == ["altered"]


@pytest.mark.parametrize("data", [b"", b"{}\n", b"[1]\n", b"hello\n", b'{"id":"x"}\n', b"\xff\xfe\n"])
def test_other_files_than_exports_can_not_be_verified(data: bytes):
    with pytest.raises(ValueError, match=r"line 1|no seal"):
        verdict_of(data)


async def test_an_export_is_a_snapshot(book: Book):
    """It has all entries from before its start exactly once, and none that is written meanwhile."""
    ids = await book.write(1200)
    export = await service.start_export(book.api.app, AuditFilter(None))
    met: list[UUID] = []
    async for page in export.pages():
        await book.write(3)
        met += [row.entry.id for row in page]
    assert met[:1200] == ids
    assert len(met) == 1200


async def test_a_client_that_disconnects_leaves_no_connection_open(book: Book):
    """However many clients disconnect during an export, all database connections are available."""
    await book.write(3000)
    path = f"{PREFIX}/audit/export"
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": b"format=ndjson", "client": ("192.0.2.1", 50000),
        "server": ("127.0.0.1", 8080),
        "headers": [(b"host", b"mail.example.test"), (b"cookie", cookie_of(token_of("sue")).encode())],
    }  # fmt: skip

    async def leave() -> None:
        started, asked = asyncio.Event(), asyncio.Event()

        async def receive() -> Any:
            if not asked.is_set():
                asked.set()
                return {"type": "http.request", "body": b"", "more_body": False}
            await started.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message.get("body"):
                started.set()
                await asyncio.sleep(110)

        await asyncio.wait_for(book.api.pipeline(scope, receive, send), 55)

    await asyncio.gather(*(leave() for _ in range(12)))
    answers = await asyncio.wait_for(asyncio.gather(*(book.api.sue.get("/audit", limit=1) for _ in range(10))), 30)
    assert {answer.status for answer in answers} == {200}
    async with asyncio.timeout(30):  # a closed connection's server process takes a moment to go; one kept has 60 s
        while await book.api.sql(
            """
            SELECT 1 AS held FROM pg_stat_activity
            WHERE datname = current_database() AND state LIKE 'idle in transaction%%'
            """
        ):
            await asyncio.sleep(0.02)
